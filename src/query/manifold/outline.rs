//! The common points of two features as seen along the normal, their convex hull, and the four
//! points that span the largest area.

use smallvec::{SmallVec, smallvec};

use crate::{
    math::DVec2,
    query::manifold::{
        feature::{Feature, FeatureKind, MAX_CORNERS, edges},
        frame::{ContactFrame, FeatureCorner, edge_at},
    },
    shape::swap_if,
    space::DVector,
    tolerance::{LINE_OVERLAP, SAME_MANIFOLD_POINT},
};

/// The maximum number of refinements. Each refinement divides by four the distance that a chord of
/// an arc hides.
pub const MAX_FEATURE_REFINEMENTS: usize = 6;

/// Let A be the area of the four chosen corners, and d their diameter. An edge is refined if it may
/// hide more than this fraction of A / d. On an arc, each of the two new chords hides a quarter of
/// that distance. At each of the four corners, the area loses at most this quarter times half of a
/// diagonal: 1 % in all.
pub const HIDDEN: f64 = 0.02;

/// The maximum number of common points of two convex polygons. These points are the corners of both
/// polygons, two intersections for each edge of one polygon with the boundary of the other, and the
/// contact itself.
const MAX_HULL_CANDIDATES: usize = 4 * MAX_CORNERS + 1;

/// Two edges have only one common point if the sine of their angle, as seen along the normal,
/// exceeds this value. The value is far more than the tolerance of parallel edges.
const CROSSING_SINE: f64 = 0.1;

/// A point that lies in both features when they are projected along the normal.
#[derive(Clone, Copy, Debug)]
pub struct CommonPoint {
    pub position: DVec2,
    /// The heights of the two cores at this position.
    pub heights: [f64; 2],
}

/// The points of a manifold, the deepest point first.
pub type ManifoldPoints = SmallVec<[CommonPoint; 4]>;

/// The points from which the points of a manifold are chosen.
pub type HullCandidates = SmallVec<[CommonPoint; MAX_HULL_CANDIDATES]>;

impl CommonPoint {
    /// Returns the points of the two cores at this position.
    pub fn on_cores<D: DVector>(&self, frame: &ContactFrame<D>) -> [D; 2] {
        frame.points(self.position, self.heights)
    }

    /// Returns the depth of the cores at this point, negative if the cores are separated.
    pub fn depth(&self) -> f64 {
        self.heights[0] - self.heights[1]
    }
}

/// Returns the maximum distance from an edge at which a point of the other feature counts as lying
/// on the edge.
pub fn edge_margin(feature_a: &Feature, feature_b: &Feature, scale: f64, near: f64) -> f64 {
    let (a, b) = (&feature_a.corners, &feature_b.corners);
    match (feature_a.kind, feature_b.kind) {
        (FeatureKind::Ridge, FeatureKind::Ridge) if are_edges(a, b) => {
            let lengths = edges(a)
                .chain(edges(b))
                .map(|[start, end]| start.position.distance(end.position));
            // For an edge much shorter than the pair, the margin is 200 `LINE_OVERLAP` = 2 % of the
            // edge's length.
            LINE_OVERLAP * lengths.fold(scale, |min, length| min.min(200.0 * length))
        }
        _ => near,
    }
}

fn are_edges(corners_a: &[FeatureCorner], corners_b: &[FeatureCorner]) -> bool {
    corners_a.len() == 2 && corners_b.len() == 2
}

/// Returns `true` if both features are edges that cross at a position, up to `near`, as seen along
/// the normal.
pub fn cross_at(feature_a: &Feature, feature_b: &Feature, position: DVec2, near: f64) -> bool {
    let (&[a, b], &[c, d]) = (&*feature_a.corners, &*feature_b.corners) else {
        return false;
    };
    let (ab, cd) = (b.position - a.position, d.position - c.position);
    let area = ab.perp_dot(cd);
    area * area > CROSSING_SINE * CROSSING_SINE * ab.dot(ab) * cd.dot(cd)
        && intersection([a, b], [c, d])
            .is_some_and(|point| point.position.distance(position) <= near)
}

/// Returns the ends of the common part of two edges in 2D. Returns one point if the part is at most
/// `near` long, and no point if the edges have no common part.
pub fn common_ends(
    edge_a: [FeatureCorner; 2],
    edge_b: [FeatureCorner; 2],
    near: f64,
) -> ManifoldPoints {
    let range = |[start, end]: [FeatureCorner; 2]| {
        let (start, end) = (start.position.x, end.position.x);
        [start.min(end), start.max(end)]
    };
    let ([min_a, max_a], [min_b, max_b]) = (range(edge_a), range(edge_b));
    let (min, max) = (min_a.max(min_b), max_a.min(max_b));
    let length = max - min;
    let point = |x: f64| CommonPoint {
        position: DVec2::new(x, 0.0),
        heights: [edge_a, edge_b].map(|[start, end]| {
            let part = (x - start.position.x) / (end.position.x - start.position.x);
            start.height + part.clamp(0.0, 1.0) * (end.height - start.height)
        }),
    };
    match length {
        length if length > near => smallvec![point(min), point(max)],
        length if length >= -near => smallvec![point(0.5 * (min + max))],
        _ => ManifoldPoints::new(),
    }
}

/// Fills a list with the corners of each feature inside the other, and the intersections of their
/// edges.
pub fn common_points(
    [feature_a, feature_b]: [&Feature; 2],
    near: f64,
    edge_margin: f64,
    points: &mut HullCandidates,
) {
    let (corners_a, corners_b) = (&feature_a.corners, &feature_b.corners);
    points.clear();
    let (a, b) = ((feature_a, feature_b, false), (feature_b, feature_a, true));
    for (feature, other, is_swapped) in [a, b] {
        points.extend(feature.corners.iter().filter_map(|corner| {
            let (position, height) = (corner.position, corner.height);
            let opposite = other.height_at(position, near, edge_margin)?;
            let heights = swap_if(is_swapped, [height, opposite]);
            Some(CommonPoint { position, heights })
        }));
    }
    // If both features are edges, and two of their ends lie on the opposite edge, the edges overlap
    // lengthwise. They can then intersect only between these two ends, so no intersection is
    // computed.
    if !are_edges(corners_a, corners_b) || points.len() < 2 {
        let capacity = (MAX_HULL_CANDIDATES - 1).saturating_sub(points.len());
        let intersections =
            edges(corners_a).flat_map(|a| edges(corners_b).filter_map(move |b| intersection(a, b)));
        points.extend(intersections.take(capacity));
    }
}

/// Returns the intersection of two edges, as seen along the normal. Parallel edges have no
/// intersection: if they overlap, an end of one edge is on the other edge.
fn intersection([a, b]: [FeatureCorner; 2], [c, d]: [FeatureCorner; 2]) -> Option<CommonPoint> {
    let (ab, cd, ac) = (
        b.position - a.position,
        d.position - c.position,
        c.position - a.position,
    );
    let area = ab.perp_dot(cd);
    let are_parallel =
        area * area <= SAME_MANIFOLD_POINT * SAME_MANIFOLD_POINT * ab.dot(ab) * cd.dot(cd);
    let (s, t) = (ac.perp_dot(cd), ac.perp_dot(ab));
    let is_on_edge = |part: f64| (0.0..=area.abs()).contains(&(part * area.signum()));
    (!are_parallel && is_on_edge(s) && is_on_edge(t)).then(|| {
        let (s, t) = (s / area, t / area);
        CommonPoint {
            position: a.position + ab * s,
            heights: [
                a.height + s * (b.height - a.height),
                c.height + t * (d.height - c.height),
            ],
        }
    })
}

/// Returns the maximum of a measure over the points, and the first point with this maximum.
fn farthest(
    points: &[CommonPoint],
    measure: impl Fn(&CommonPoint) -> f64,
) -> Option<(f64, CommonPoint)> {
    points
        .iter()
        .map(|point| (measure(point), *point))
        .reduce(|best, other| if other.0 > best.0 { other } else { best })
}

/// Fills a list with the vertices of the convex hull of the points as seen along the normal,
/// counter-clockwise. Each vertex is farther than `near` from every other vertex, and from the line
/// through its neighbors.
pub fn convex_hull(points: &[CommonPoint], near: f64, hull: &mut HullCandidates) {
    hull.clear();
    // The point that is farthest from an arbitrary point is a vertex of the hull, even if many
    // points are nearly equal or collinear.
    let Some((_, start)) = points
        .first()
        .and_then(|any| farthest(points, |point| point.position.distance(any.position)))
    else {
        return;
    };
    hull.push(start);
    match farthest(points, |point| point.position.distance(start.position)) {
        Some((length, end)) if length > near => hull.push(end),
        _ => return,
    }
    // Each edge is split as long as a point lies beyond it.
    let mut index = 0;
    while let Some([start, end]) = edge_at(hull, index) {
        let line = end.position - start.position;
        index += 1;
        if let Some((beyond, point)) = farthest(points, |point| {
            (point.position - start.position).perp_dot(line)
        }) && beyond > near * line.length()
            && hull.len() < points.len()
        {
            hull.insert(index, point);
            index -= 1;
        }
    }
    // If several points are equally far beyond an edge, the first of these points need not be a
    // vertex. So points that are not vertices are removed.
    let mut index = 0;
    while hull.len() > 2
        && let Some([start, middle]) = edge_at(hull, index)
        && let Some([_, end]) = edge_at(hull, (index + 1) % hull.len())
    {
        let line = end.position - start.position;
        if (middle.position - start.position).perp_dot(line) > near * line.length() {
            index += 1;
        } else {
            hull.remove((index + 1) % hull.len());
        }
    }
}

/// Returns the area of a convex polygon, divided by the maximum distance of a vertex from the first
/// vertex.
pub fn width(polygon: &[CommonPoint]) -> f64 {
    let Some((apex, others)) = polygon.split_first() else {
        return 0.0;
    };
    let offsets = || others.iter().map(|other| other.position - apex.position);
    let pairs = offsets().zip(offsets().skip(1));
    let area: f64 = pairs.map(|(b, c)| 0.5 * b.perp_dot(c)).sum();
    let lengths = offsets().map(DVec2::length);
    area / lengths.fold(f64::MIN_POSITIVE, f64::max)
}

/// Returns the indices, in order, of the vertices of a convex polygon that span the largest area:
/// all vertices, or four if there are more. If any vertex has a depth of at least `deep`, at least
/// one such vertex is among the four.
fn best_four(polygon: &[CommonPoint], deep: f64) -> SmallVec<[usize; 4]> {
    let count = polygon.len();
    if count <= 4 {
        return (0..count).collect();
    }
    let is_deep = |index: usize| {
        let vertex = polygon.get(index % count);
        vertex.is_some_and(|vertex| vertex.depth() >= deep)
    };
    let best = |is_deep_only: bool| {
        (0..count)
            .filter(|start| !is_deep_only || is_deep(*start))
            .filter_map(|start| {
                // Each diagonal has two ends, and a search from one end is enough.
                let end = if is_deep_only { start + count } else { count };
                largest_from(polygon, start, end.min(start + count - 1))
            })
            .reduce(|best, other| if other.0 > best.0 { other } else { best })
            .map(|(_, vertices)| vertices)
    };
    best(false)
        .filter(|vertices| vertices.iter().any(|index| is_deep(*index)) || !(0..count).any(is_deep))
        .or_else(|| best(true))
        .map(|vertices| vertices.into_iter().map(|index| index % count).collect())
        .unwrap_or_default()
}

/// Returns four vertices of a convex polygon that span the largest area, and twice that area. The
/// vertex at `start` is one of the four, and the opposite vertex comes before `end`. Indices past
/// the last vertex wrap around: `count + i` stands for vertex i.
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
        // The loops find the farthest vertex on each side of the diagonal.
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

/// Inserts a point into a polygon at the index that gives the largest area, so that no edges cross.
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

/// Returns the points of a manifold: the vertices of the convex hull of the common points. If there
/// are more than four vertices, the four vertices that span the largest area are chosen. The
/// deepest point is always chosen, and comes first. The other points follow in order around the
/// polygon.
pub fn choose_points(
    points: &[CommonPoint],
    hull: &[CommonPoint],
    dimension: usize,
    near: f64,
    tolerance: f64,
) -> ManifoldPoints {
    let Some((depth, deepest)) = farthest(points, CommonPoint::depth) else {
        return ManifoldPoints::new();
    };
    let deep = depth - tolerance;
    let mut chosen: ManifoldPoints = best_four(hull, deep)
        .into_iter()
        .filter_map(|index| hull.get(index).copied())
        .collect();
    if chosen.iter().all(|point| point.depth() < deep) {
        // If the surfaces are not flat, the deepest point may not be a vertex of the hull, so it is
        // added. If there are too many points, or if the deepest point is close to a chosen vertex,
        // it replaces the nearest chosen vertex.
        let max_count = if dimension == 2 { 2 } else { 4 };
        let nearest = farthest(&chosen, |point| -point.position.distance(deepest.position));
        let is_full = chosen.len() >= max_count;
        let replaced = nearest.filter(|(distance, _)| is_full || -distance <= near);
        chosen.retain(|point| replaced.is_none_or(|(_, old)| old.position != point.position));
        insert_around(&mut chosen, deepest);
    }
    let start = farthest(&chosen, CommonPoint::depth).map(|(_, first)| first.position);
    let before = chosen
        .iter()
        .take_while(|point| Some(point.position) != start);
    let before = before.count() % chosen.len().max(1);
    chosen.rotate_left(before);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64, depth: f64) -> CommonPoint {
        CommonPoint {
            position: DVec2::new(x, y),
            heights: [depth, 0.0],
        }
    }

    #[test]
    fn a_deepest_point_that_is_no_vertex_replaces_the_vertex_beside_it() {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let hull = corners.map(|(x, y)| point(x, y, 0.0));
        for (x, y) in [(0.9, 0.2), (0.8, 0.9), (0.1, 0.7), (0.2, 0.1), (0.5, 0.4)] {
            let mut points = hull.to_vec();
            points.push(point(x, y, 1.0));
            let found = choose_points(&points, &hull, 3, 1e-6, 1e-6);
            assert_eq!(found.len(), 4);
            let ends = found.iter().skip(1).chain(found.first());
            let areas = found.iter().zip(ends);
            let area: f64 = areas.map(|(a, b)| a.position.perp_dot(b.position)).sum();
            // Both values are twice the area: half of the square, plus the triangle from the
            // diagonal to the deepest point.
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
