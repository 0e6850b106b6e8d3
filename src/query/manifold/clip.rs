//! The intersection of two features, as seen along the normal.
//!
//! A face is clipped by each edge of another face (Sutherland and Hodgman), which needs no convex
//! hull. Each edge of the result remembers the edge of the face that it is a part of.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::{
    math::DVec2,
    query::manifold::{
        feature::{Feature, MAX_CORNERS, edges, fan_height},
        frame::{CommonPoint, FeatureCorner, edge_at, farthest},
    },
    tolerance::{LINE_OVERLAP, SAME_MANIFOLD_POINT},
};

/// An edge of the first (0) or the second (1) feature, by the index of the corner where it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceEdge {
    pub feature: usize,
    pub index: usize,
}

/// A vertex of the intersection.
#[derive(Clone, Copy, Debug)]
pub struct ClipVertex {
    pub point: CommonPoint,
    /// The edge that the outline follows from here.
    pub edge: SourceEdge,
}

/// The vertices of the intersection: counter-clockwise if it has an area, or the ends of a segment,
/// or a point.
pub type ClipPolygon = SmallVec<[ClipVertex; 2 * MAX_CORNERS]>;

/// Returns the vertices without their edges.
pub fn points(polygon: &ClipPolygon) -> SmallVec<[CommonPoint; 2 * MAX_CORNERS]> {
    polygon.iter().map(|vertex| vertex.point).collect()
}

/// Returns the maximum distance from an edge at which the end of another edge counts as on it.
pub fn line_margin(features: &[Feature; 2], scale: f64, near: f64) -> f64 {
    match features {
        [Feature::Ridge(a), Feature::Ridge(b)] if a.len() == 2 && b.len() == 2 => {
            let edges = edges(a).chain(edges(b));
            let lengths = edges.map(|[start, end]| start.position.distance(end.position));
            // At most 2 % of an edge, for edges that are much shorter than the pair.
            LINE_OVERLAP * lengths.fold(scale, |min, length| min.min(200.0 * length))
        }
        _ => near,
    }
}

/// Returns the intersection of two features. Leaves out points for which `is_common` returns
/// `false`, and vertices within `near` of each other or of the line through their neighbors. An end
/// of an edge counts as on another edge within `margin`.
pub fn intersection(
    features: &[Feature; 2],
    near: f64,
    margin: f64,
    is_common: impl Fn(&CommonPoint) -> bool,
) -> ClipPolygon {
    let [first, second] = features;
    let mut polygon = match [first, second] {
        [Feature::Plane { height }, other] => outline(other.corners(), 1, *height),
        [other, Feature::Plane { height }] => outline(other.corners(), 0, *height),
        _ => match [first, second].map(Feature::ends) {
            [Some(first), Some(second)] => {
                return common_line([first, second], near, margin, is_common);
            }
            [Some(ends), None] => line_in_face(ends, 0, second.corners(), near),
            [None, Some(ends)] => line_in_face(ends, 1, first.corners(), near),
            [None, None] => {
                let clipped = |near| {
                    let mut polygon = outline(first.corners(), 0, f64::NAN);
                    clip(&mut polygon, second.corners(), near);
                    polygon
                };
                let polygon = clipped(0.0);
                // Faces that only touch share an edge or a vertex.
                if polygon.is_empty() {
                    clipped(near)
                } else {
                    polygon
                }
            }
        },
    };
    polygon.retain(|vertex| is_common(&vertex.point));
    straighten(&mut polygon, near);
    polygon
}

/// Returns the outline of a feature at the same height of the other feature.
fn outline(corners: &[FeatureCorner], feature: usize, other_height: f64) -> ClipPolygon {
    let vertex = |(index, corner): (usize, &FeatureCorner)| ClipVertex {
        point: CommonPoint::new(corner.position, feature, corner.height, other_height),
        edge: SourceEdge { feature, index },
    };
    corners.iter().enumerate().map(vertex).collect()
}

/// Returns the part that two edges share, or their intersection.
fn common_line(
    edges: [[FeatureCorner; 2]; 2],
    near: f64,
    margin: f64,
    is_common: impl Fn(&CommonPoint) -> bool,
) -> ClipPolygon {
    let [first, second] = edges;
    let mut points: ArrayVec<CommonPoint, 5> = ArrayVec::new();
    for (feature, [edge, other]) in [[first, second], [second, first]].into_iter().enumerate() {
        points.extend(edge.iter().filter_map(|end| {
            let other_height = height_on_edge(other, end.position, near, margin)?;
            let point = CommonPoint::new(end.position, feature, end.height, other_height);
            Some(point)
        }));
    }
    // If two ends are on the other edge, the edges lie side by side.
    if points.len() < 2 {
        points.extend(crossing(first, second));
    }
    points.retain(|point| is_common(point));
    let far_from =
        |from: CommonPoint| farthest(&points, |point| point.position.distance(from.position));
    let start = points.first().and_then(|any| far_from(*any));
    let end = start.and_then(|(_, start)| far_from(start));
    let ends = start
        .into_iter()
        .chain(end.filter(|(length, _)| *length > margin));
    let edge = SourceEdge::default();
    ends.map(|(_, point)| ClipVertex { point, edge }).collect()
}

/// Returns the height of an edge at a position, or `None` if the position is beyond its ends by
/// more than `near`, or beside it by more than `margin`.
fn height_on_edge(
    [start, end]: [FeatureCorner; 2],
    position: DVec2,
    near: f64,
    margin: f64,
) -> Option<f64> {
    let line = end.position - start.position;
    let length = line.length();
    let offset = position - start.position;
    let t = if length > 0.0 {
        offset.dot(line) / (length * length)
    } else {
        0.0
    };
    let beyond = (t - t.clamp(0.0, 1.0)).abs() * length;
    let is_on_edge = beyond <= near && (offset - line * t).length() <= margin;
    is_on_edge.then_some(start.height + t.clamp(0.0, 1.0) * (end.height - start.height))
}

/// Returns the part of an edge inside of a face. `feature` is the index of the edge's feature.
fn line_in_face(
    [start, end]: [FeatureCorner; 2],
    feature: usize,
    face: &[FeatureCorner],
    near: f64,
) -> ClipPolygon {
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for [corner, next] in edges(face) {
        let line = next.position - corner.position;
        let [a, b] = [start, end].map(|end| line.perp_dot(end.position - corner.position));
        let min_side = -near * line.length();
        let crossing = (a / (a - b)).clamp(0.0, 1.0);
        match (a < min_side, b < min_side) {
            (true, true) => return ClipPolygon::new(),
            (true, false) => from = from.max(crossing),
            (false, true) => to = to.min(crossing),
            (false, false) => {}
        }
    }
    let line = end.position - start.position;
    if (from - to) * line.length() > near {
        return ClipPolygon::new();
    }
    let vertex = |t: f64| {
        let position = start.position + line * t;
        let height = start.height + t * (end.height - start.height);
        Some(ClipVertex {
            point: CommonPoint::new(position, feature, height, fan_height(face, position)?),
            edge: SourceEdge { feature, index: 0 },
        })
    };
    [from, to].into_iter().filter_map(vertex).collect()
}

/// Returns the intersection of two edges, as seen along the normal. Parallel edges have none: if
/// they overlap, an end of one is on the other.
fn crossing([a, b]: [FeatureCorner; 2], [c, d]: [FeatureCorner; 2]) -> Option<CommonPoint> {
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

/// Removes the part beyond the edges of the second face, and computes the heights of that face.
fn clip(polygon: &mut ClipPolygon, second: &[FeatureCorner], near: f64) {
    for (index, edge) in edges(second).enumerate() {
        clip_by_edge(polygon, edge, SourceEdge { feature: 1, index }, near);
    }
    // Original vertices that remain are inside the second face, and have no second height yet.
    for CommonPoint { position, heights } in polygon.iter_mut().map(|vertex| &mut vertex.point) {
        if heights[1].is_nan()
            && let Some(height) = fan_height(second, *position)
        {
            heights[1] = height;
        }
    }
}

/// Removes the part that is more than `near` beyond one edge of the second face.
fn clip_by_edge(
    polygon: &mut ClipPolygon,
    [start, end]: [FeatureCorner; 2],
    edge: SourceEdge,
    near: f64,
) {
    let line = end.position - start.position;
    let min_side = -near * line.length();
    let side = |vertex: &ClipVertex| line.perp_dot(vertex.point.position - start.position);
    if polygon.iter().all(|vertex| side(vertex) >= min_side) {
        return;
    }
    // Rounding can leave several runs of vertices inside. Only the run that contains the innermost
    // vertex remains.
    let innermost = polygon.iter().map(side).enumerate();
    let innermost = innermost.reduce(|best, other| if other.1 > best.1 { other } else { best });
    let Some((innermost, _)) = innermost.filter(|(_, side)| *side >= min_side) else {
        polygon.clear();
        return;
    };
    polygon.rotate_left(innermost);
    let is_outside = |vertex: &ClipVertex| side(vertex) < min_side;
    let exit = polygon.iter().position(is_outside);
    let Some((exit, entry)) = exit.zip(polygon.iter().rposition(is_outside)) else {
        return;
    };
    let crossing = |inside: &ClipVertex, outside: &ClipVertex| {
        let t = (side(inside) / (side(inside) - side(outside))).max(0.0);
        let [a, b] = [inside.point, outside.point];
        let position = a.position + (b.position - a.position) * t;
        let part = ((position - start.position).dot(line) / line.dot(line)).clamp(0.0, 1.0);
        CommonPoint {
            position,
            heights: [
                a.heights[0] + t * (b.heights[0] - a.heights[0]),
                start.height + part * (end.height - start.height),
            ],
        }
    };
    let (Some([before, out]), Some([outside, after])) =
        (edge_at(polygon, exit - 1), edge_at(polygon, entry))
    else {
        return;
    };
    let leaving = ClipVertex {
        point: crossing(&before, &out),
        edge,
    };
    let entering = ClipVertex {
        point: crossing(&after, &outside),
        ..outside
    };
    polygon.drain(exit..=entry);
    polygon.insert(exit, leaving);
    polygon.insert(exit + 1, entering);
}

/// Removes vertices that are within `near` of the next one or of the line through their neighbors.
pub fn straighten(polygon: &mut ClipPolygon, near: f64) {
    let mut index = 0;
    while polygon.len() > 1
        && let Some([start, end]) = edge_at(polygon, index)
    {
        if start.point.position.distance(end.point.position) > near {
            index += 1;
        } else {
            polygon.remove(index);
        }
    }
    let mut index = 0;
    while polygon.len() > 2
        && let Some([start, middle]) = edge_at(polygon, index)
        && let Some([_, end]) = edge_at(polygon, (index + 1) % polygon.len())
    {
        let [from, via, to] = [start, middle, end].map(|vertex| vertex.point.position);
        let line = to - from;
        let bend = (via - from).perp_dot(line);
        if bend > 0.0 && bend * bend > near * near * line.dot(line) {
            index += 1;
            continue;
        }
        // The longer of the two edges remains.
        if via.distance(to) > from.distance(via)
            && let Some(start) = polygon.get_mut(index)
        {
            start.edge = middle.edge;
        }
        polygon.remove((index + 1) % polygon.len());
    }
}
