//! The choice of a manifold's points: the four corners of the intersection that span the largest
//! area, and the deepest point.

use smallvec::SmallVec;

use crate::{
    query::manifold::{
        clip::{ClipPolygon, ClipVertex, SourceEdge, points, straighten},
        frame::{CommonPoint, KnownContact, edge_at, farthest},
    },
    space::DVector,
};

/// The points of a manifold, the deepest one first.
pub type ManifoldPoints = SmallVec<[CommonPoint; 4]>;

/// Chooses the points of a manifold: the vertices of the intersection, or the four with the largest
/// area if there are more. The deepest point comes first. The others follow in order around the
/// polygon.
///
/// If the contact is deeper than all vertices, and outside of the polygon by more than `margin`,
/// the contact becomes a vertex. Otherwise it replaces the nearest of the chosen points, or is
/// added to fewer than four that are not within `margin`.
pub fn choose_points<D: DVector>(
    mut polygon: ClipPolygon,
    contact: &KnownContact,
    margin: f64,
) -> ManifoldPoints {
    let KnownContact {
        point: known,
        depth_tolerance,
        ..
    } = *contact;
    let min_depth = known.depth() - depth_tolerance;
    if max_depth(&points(&polygon)) < min_depth {
        insert_outside(&mut polygon, known, margin);
    }
    let points = points(&polygon);
    let mut chosen: ManifoldPoints = best_four(&points, depth_tolerance)
        .into_iter()
        .filter_map(|index| points.get(index).copied())
        .collect();
    if max_depth(&chosen) < min_depth {
        // No vertex is the deepest point, because the surfaces are not flat.
        let max_count = if D::DIMENSION == 2 { 2 } else { 4 };
        let nearest = farthest(&chosen, |point| -point.position.distance(known.position));
        let is_full = chosen.len() >= max_count;
        let replaced = nearest.filter(|(distance, _)| is_full || -distance <= margin);
        chosen.retain(|point| replaced.is_none_or(|(_, old)| old.position != point.position));
        insert_around(&mut chosen, known);
    }
    let start = farthest(&chosen, CommonPoint::depth).map(|(_, first)| first.position);
    let before = chosen
        .iter()
        .take_while(|point| Some(point.position) != start);
    let before = before.count() % chosen.len().max(1);
    chosen.rotate_left(before);
    chosen
}

/// Inserts a point that is outside of a convex polygon, which remains convex.
fn insert_outside(polygon: &mut ClipPolygon, point: CommonPoint, margin: f64) {
    let beyond = |index: usize| {
        let [start, end] = edge_at(polygon, index)?.map(|vertex| vertex.point.position);
        Some((index, (point.position - start).perp_dot(end - start)))
    };
    let edges = (0..polygon.len()).filter_map(beyond);
    let farthest = edges.reduce(|best, other| if other.1 > best.1 { other } else { best });
    if let Some((index, _)) = farthest.filter(|(_, beyond)| *beyond > 0.0) {
        let edge = SourceEdge::default();
        polygon.insert(index + 1, ClipVertex { point, edge });
        // The last edge is the longest, so that the middle one of three vertices in a line is
        // dropped.
        let length = |index: &usize| {
            let ends = edge_at(polygon, *index).map(|ends| ends.map(|end| end.point.position));
            ends.map_or(0.0, |[start, end]| start.distance(end))
        };
        let count = polygon.len();
        let longest = (0..count).max_by(|a, b| length(a).total_cmp(&length(b)));
        polygon.rotate_left(longest.map_or(0, |longest| (longest + 1) % count));
        straighten(polygon, margin);
    }
}

/// Returns the depth of the deepest point.
fn max_depth(points: &[CommonPoint]) -> f64 {
    let depths = points.iter().map(CommonPoint::depth);
    depths.fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the indices, in order, of the vertices of a convex polygon that span the largest area:
/// all of them, or four if there are more. At least one of the four is as deep as the deepest
/// vertex, to within `tolerance`.
pub fn best_four(polygon: &[CommonPoint], tolerance: f64) -> SmallVec<[usize; 4]> {
    let count = polygon.len();
    if count <= 4 {
        return (0..count).collect();
    }
    let deep = max_depth(polygon) - tolerance;
    let is_deep = |index: usize| {
        let vertex = polygon.get(index % count);
        vertex.is_some_and(|vertex| vertex.depth() >= deep)
    };
    let best = |is_deep_only: bool| {
        (0..count)
            .filter(|start| !is_deep_only || is_deep(*start))
            .filter_map(|start| {
                // One of the two ends of a diagonal is enough.
                let end = if is_deep_only { start + count } else { count };
                largest_from(polygon, start, end.min(start + count - 1))
            })
            .reduce(|best, other| if other.0 > best.0 { other } else { best })
            .map(|(_, vertices)| vertices)
    };
    best(false)
        .filter(|vertices| vertices.iter().any(|index| is_deep(*index)))
        .or_else(|| best(true))
        .map(|vertices| vertices.into_iter().map(|index| index % count).collect())
        .unwrap_or_default()
}

/// Returns four vertices of a convex polygon that span the largest area, and twice that area. The
/// vertex at `start` is one of them, and the opposite one comes before `end`. Indices past the last
/// vertex wrap around: `count + i` is vertex i.
fn largest_from(polygon: &[CommonPoint], start: usize, end: usize) -> Option<(f64, [usize; 4])> {
    let count = polygon.len();
    let at = |index: usize| {
        let vertex = polygon.get(index).or_else(|| polygon.get(index - count));
        vertex.map(|vertex| vertex.position)
    };
    let origin = at(start)?;
    let mut best: Option<(f64, [usize; 4])> = None;
    let [mut before, mut after] = [start + 1, start + 3];
    for opposite in start + 2..end {
        let diagonal = at(opposite)? - origin;
        let side = |index: usize| Some(diagonal.perp_dot(at(index)? - origin));
        // The farthest vertex on each side of the diagonal.
        let mut min = side(before)?;
        while before + 1 < opposite
            && let Some(next) = side(before + 1)
            && next < min
        {
            before += 1;
            min = next;
        }
        after = after.max(opposite + 1);
        let mut max = side(after)?;
        while after + 1 < start + count
            && let Some(next) = side(after + 1)
            && next > max
        {
            after += 1;
            max = next;
        }
        if best.is_none_or(|best| max - min > best.0) {
            best = Some((max - min, [start, before, opposite, after]));
        }
    }
    best
}

/// Inserts a point at the index that gives the polygon the largest area, so that no edges cross.
fn insert_around(polygon: &mut ManifoldPoints, point: CommonPoint) {
    let area_with = |index: usize| {
        let mut all = polygon.clone();
        all.insert(index, point);
        let ends = all.iter().skip(1).chain(all.first());
        let areas = all.iter().zip(ends);
        let sum: f64 = areas.map(|(a, b)| a.position.perp_dot(b.position)).sum();
        sum.abs()
    };
    let areas = (0..=polygon.len()).map(|index| (index, area_with(index)));
    let best = areas.reduce(|best, other| if other.1 > best.1 { other } else { best });
    polygon.insert(best.map_or(0, |(index, _)| index), point);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{DVec2, DVec3};

    fn point(x: f64, y: f64, depth: f64) -> CommonPoint {
        CommonPoint {
            position: DVec2::new(x, y),
            heights: [depth, 0.0],
        }
    }

    #[test]
    fn a_contact_deeper_than_all_vertices_replaces_the_vertex_beside_it() {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let edge = SourceEdge::default();
        let vertices = corners.map(|(x, y)| point(x, y, 0.0));
        let vertices = vertices.into_iter().map(|point| ClipVertex { point, edge });
        let polygon: ClipPolygon = vertices.collect();
        for (x, y) in [(0.9, 0.2), (0.8, 0.9), (0.1, 0.7), (0.2, 0.1), (0.5, 0.4)] {
            let contact = KnownContact {
                point: point(x, y, 1.0),
                min_depth: 0.0,
                depth_tolerance: 1e-6,
                near: 1e-6,
            };
            let found = choose_points::<DVec3>(polygon.clone(), &contact, 1e-6);
            assert_eq!(found.len(), 4);
            let ends = found.iter().skip(1).chain(found.first());
            let areas = found.iter().zip(ends);
            let area: f64 = areas.map(|(a, b)| a.position.perp_dot(b.position)).sum();
            // Twice the area of half of the square and of the triangle on its diagonal.
            let sums = [x + y, 2.0 - x - y, 1.0 + x - y, 1.0 + y - x];
            let expected = sums.into_iter().fold(0.0, f64::max);
            assert!(
                (area.abs() - expected).abs() < 1e-12,
                "{area}, not {expected}"
            );
            let first = found.first().map(|first| first.position);
            assert_eq!(first, Some(DVec2::new(x, y)));
        }
    }
}
