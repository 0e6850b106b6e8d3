//! The corners of the convex hull of points in a plane.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    math::DVec3,
    shape::hull::grid::{GridPoints, area},
};

/// A point that may be a corner of the hull.
#[derive(Clone, Copy)]
struct PlanarCorner {
    index: usize,
    /// The position, projected onto a coordinate plane.
    projected: [i64; 2],
    position: DVec3,
}

/// Returns the indices of the corners of the convex hull of points in a plane. The outline may
/// shrink by `tolerance`.
///
/// A projection along an axis keeps the corners of a polygon. The projection along the axis of the
/// normal's largest component distorts the polygon least.
pub fn corners(grid: &GridPoints, normal: DVec3, tolerance: f64) -> Vec<usize> {
    let slope = normal.abs();
    let project = |point: DVec3| {
        let [x, y, z] = point.to_array().map(|component| component as i64);
        if slope.z >= slope.x && slope.z >= slope.y {
            [x, y]
        } else if slope.x >= slope.y {
            [y, z]
        } else {
            [z, x]
        }
    };
    let points = grid.points.iter().enumerate();
    let corners = points.map(|(index, point)| PlanarCorner {
        index,
        projected: project(*point),
        position: *point,
    });
    without_flat_corners(&outline(corners.collect()), tolerance)
}

/// Returns the corners of the convex hull of points, in order around the hull (Andrew's monotone
/// chain). Of several equal points, only the first point is returned.
fn outline(mut corners: Vec<PlanarCorner>) -> Vec<PlanarCorner> {
    corners.sort_by_key(|corner| corner.projected);
    corners.dedup_by_key(|corner| corner.projected);
    let mut outline: Vec<PlanarCorner> = Vec::with_capacity(corners.len());
    for _ in 0..2 {
        let start = outline.len();
        for corner in &corners {
            while let Some([.., a, b]) = outline.get(start..)
                && area([a.projected, b.projected, corner.projected]) <= 0
            {
                outline.pop();
            }
            outline.push(*corner);
        }
        // The last corner is also the first corner of the other half.
        outline.pop();
        corners.reverse();
    }
    outline
}

/// Returns the indices of the corners of a convex polygon, without corners that may be dropped
/// within the tolerance.
///
/// Each step drops the corner whose removal changes the polygon least. The change is the greatest
/// distance from the new side to a corner that the side replaces, including corners dropped
/// earlier. So errors do not add up.
fn without_flat_corners(outline: &[PlanarCorner], tolerance: f64) -> Vec<usize> {
    let count = outline.len();
    // The errors are stored as bits, because `f64` cannot be a key. The bits have the same order as
    // the errors, because no error is negative.
    let change = |start, end| side_error(outline, start, end).to_bits();
    let changes = (0..count).map(|index| change((index + count - 1) % count, (index + 1) % count));
    let mut kept: BTreeMap<usize, u64> = (0..).zip(changes).collect();
    let queue = kept.iter().map(|(index, change)| (*change, *index));
    let mut queue: BTreeSet<(u64, usize)> = queue.collect();
    // All corners of a triangle are needed.
    while kept.len() > 3
        && let Some((least, dropped)) = queue.pop_first()
        && f64::from_bits(least) <= tolerance
    {
        kept.remove(&dropped);
        for neighbor in neighbors(&kept, dropped) {
            let [start, end] = neighbors(&kept, neighbor);
            let new = change(start, end);
            if let Some(old) = kept.insert(neighbor, new) {
                queue.remove(&(old, neighbor));
            }
            queue.insert((new, neighbor));
        }
    }
    let kept = kept.into_keys().filter_map(|index| outline.get(index));
    kept.map(|corner| corner.index).collect()
}

/// Returns the keys before and after `key` in a ring of at least two keys.
fn neighbors(ring: &BTreeMap<usize, u64>, key: usize) -> [usize; 2] {
    let before = ring.range(..key).next_back().or(ring.last_key_value());
    let after = ring.range(key + 1..).next().or(ring.first_key_value());
    [before, after].map(|entry| entry.map_or(key, |(neighbor, _)| *neighbor))
}

/// Returns the maximum distance from the corners between `start` and `end` to the side that
/// replaces them.
fn side_error(outline: &[PlanarCorner], start: usize, end: usize) -> f64 {
    let count = outline.len();
    let end = if start < end { end } else { end + count };
    let corners = (start..=end).filter_map(|index| outline.get(index % count));
    let positions: Vec<DVec3> = corners.map(|corner| corner.position).collect();
    let [from, between @ .., to] = positions.as_slice() else {
        return 0.0;
    };
    let side = *to - *from;
    let distances = between.iter().map(|corner| {
        let along = (*corner - *from).dot(side) / side.length_squared();
        corner.distance(*from + side * along.clamp(0.0, 1.0))
    });
    distances.fold(0.0, f64::max)
}
