//! The corners of the convex hull of points in a plane.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use quickhull::ConvexHull2d;

use crate::{
    math::{DVec2, DVec3, Vec2, Vec3},
    shape::hull::candidates::key,
};

/// A point that may be a corner of the hull.
#[derive(Clone, Copy)]
struct PlanarCorner {
    index: usize,
    /// Projected to a coordinate plane, and scaled.
    projected: DVec2,
    position: DVec3,
}

/// Returns the indices of the corners of the convex hull of points in a plane. The outline may
/// shrink by `tolerance`.
///
/// A projection along an axis keeps the corners of a polygon. The axis of the largest component of
/// the normal distorts it least. The two coordinates that remain are scaled by a power of two to
/// about 1, because `quickhull` squares them in `f32`.
pub fn corners(points: &[Vec3], normal: DVec3, tolerance: f64) -> Vec<usize> {
    // `quickhull` requires three points.
    if points.len() < 3 {
        return (0..points.len()).collect();
    }
    let slope = normal.abs();
    let project = |point: &Vec3| {
        if slope.z >= slope.x && slope.z >= slope.y {
            [point.x, point.y]
        } else if slope.x >= slope.y {
            [point.y, point.z]
        } else {
            [point.z, point.x]
        }
    };
    let coordinates = points.iter().flat_map(project);
    let size = f64::from(coordinates.fold(0.0, |size: f32, coordinate| size.max(coordinate.abs())));
    // The power of two at or below the size: an f64 without its mantissa.
    let unit = f64::from_bits(size.to_bits() & f64::INFINITY.to_bits());
    let mut corners = HashMap::with_capacity(points.len());
    let mut scaled = Vec::with_capacity(points.len());
    for (index, point) in points.iter().enumerate() {
        let projected = project(point).map(|coordinate| (f64::from(coordinate) / unit) as f32);
        scaled.push(projected.into());
        let projected = Vec2::from_array(projected);
        corners.entry(key(projected)).or_insert(PlanarCorner {
            index,
            projected: projected.as_dvec2(),
            position: point.as_dvec3(),
        });
    }
    let hull = ConvexHull2d::from_mut_points(&mut scaled);
    let keys = hull
        .vertices()
        .iter()
        .map(|vertex| key(Vec2::from_array(vertex.to_array())));
    let found = keys.filter_map(|key| corners.get(&key).copied());
    without_flat_corners(&outline(found.collect()), tolerance)
}

/// Returns the corners of a convex polygon in order, each once (Andrew's monotone chain).
///
/// Rounding moves some points of a side outward. `quickhull` returns the moved points in any order,
/// and some of them more than once.
fn outline(mut corners: Vec<PlanarCorner>) -> Vec<PlanarCorner> {
    corners.sort_by(|a, b| {
        let by_x = a.projected.x.total_cmp(&b.projected.x);
        by_x.then(a.projected.y.total_cmp(&b.projected.y))
    });
    corners.dedup_by_key(|corner| corner.index);
    let mut outline: Vec<PlanarCorner> = Vec::with_capacity(corners.len());
    for _ in 0..2 {
        let start = outline.len();
        for corner in &corners {
            while let Some([.., a, b]) = outline.get(start..)
                && (b.projected - a.projected).perp_dot(corner.projected - b.projected) <= 0.0
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

/// Returns the indices of the corners of a convex polygon that are needed.
///
/// Each step drops the corner that changes the polygon least. The change is the greatest distance
/// from the new side to a corner that it replaces, including those dropped earlier. So errors do
/// not add up.
fn without_flat_corners(outline: &[PlanarCorner], tolerance: f64) -> Vec<usize> {
    let count = outline.len();
    // The errors are stored as bits, which can be keys. The numbers are not negative, so their bits
    // have the same order.
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
