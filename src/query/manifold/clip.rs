//! The intersection of two faces, and the refinement of faces that have more corners than were
//! found at first.
//!
//! The first face is clipped by each edge of the second face (the algorithm of Sutherland and
//! Hodgman), so that no convex hull is needed. Each edge of the result stores the edge of the face
//! from which it comes. The refinement then has three steps:
//!
//! 1. An edge that may hide much of its face is split at the support point beyond this edge.
//! 2. Let four corners span the largest area. If edges of both faces meet in one of these corners,
//!    both edges are split until they hide little.
//! 3. If no edge was split, the search continues beyond each corner whose two edges belong to the
//!    same face. A support point found there is added if this point enlarges the area.

use smallvec::SmallVec;

use crate::{
    math::DVec2,
    query::manifold::{
        feature::{Feature, FeatureKind, MAX_CORNERS, edges, fan_height},
        frame::{FeatureCorner, edge_at},
        outline::{CommonPoint, HIDDEN, best_four},
    },
};

/// A support point beyond a corner is ignored if it adds less than this fraction of the area.
const MIN_AREA_GAIN: f64 = 0.002;

/// On a round outline, an edge away from the four corners may hide this many times as much as an
/// edge at a corner. The actual factor decreases to 1 as the outline becomes thin. (On a disc, the
/// area of the four corners is half of the squared diameter.)
const FAR_FACTOR: f64 = 4.0;

/// An edge of the first (0) or the second (1) feature, given by the index of the corner at which
/// the edge starts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SourceEdge {
    feature: usize,
    index: usize,
}

/// A vertex of the intersection.
#[derive(Clone, Copy, Debug)]
pub struct ClipVertex {
    pub point: CommonPoint,
    /// The edge of a feature that contains the polygon's edge from this vertex to the next.
    edge: SourceEdge,
    /// `true` for a corner of the first face whose height on the second face is not yet computed.
    is_pending: bool,
}

/// The vertices of the intersection, counter-clockwise.
pub type ClipPolygon = SmallVec<[ClipVertex; 2 * MAX_CORNERS]>;

/// New corners of a feature, each with the index of the edge that it splits.
type NewCorners = SmallVec<[(usize, FeatureCorner); MAX_CORNERS]>;

/// Fills a polygon with the intersection of two features. If a feature is not a face, the
/// intersection is empty. The result has no vertices less deep than `min_depth`, and no vertices
/// within `near` of the line through their neighbors.
pub fn intersection(
    [first, second]: &[&mut Feature; 2],
    near: f64,
    min_depth: f64,
    polygon: &mut ClipPolygon,
) {
    polygon.clear();
    match [first.kind, second.kind] {
        [FeatureKind::Plane { height }, _] => {
            add_outline(polygon, second, 1, |corner| [height, corner.height]);
        }
        [_, FeatureKind::Plane { height }] => {
            add_outline(polygon, first, 0, |corner| [corner.height, height]);
        }
        _ if second.corners.len() > 2 => {
            add_outline(polygon, first, 0, |corner| [corner.height, 0.0]);
            clip(polygon, &second.corners);
        }
        _ => {}
    }
    polygon.retain(|vertex| vertex.point.depth() >= min_depth);
    straighten(polygon, near);
}

/// Adds the outline of a face. Adds nothing if the feature is not a face.
fn add_outline(
    polygon: &mut ClipPolygon,
    face: &Feature,
    feature: usize,
    heights: impl Fn(&FeatureCorner) -> [f64; 2],
) {
    let vertex = |(index, corner): (usize, &FeatureCorner)| ClipVertex {
        point: CommonPoint {
            position: corner.position,
            heights: heights(corner),
        },
        edge: SourceEdge { feature, index },
        is_pending: false,
    };
    let is_face = face.corners.len() > 2;
    let corners = face.corners.iter().enumerate();
    polygon.extend(corners.filter(|_| is_face).map(vertex));
}

/// Removes the part of a polygon outside the second face, and computes the heights of the second
/// face at the vertices. The second face has no height at a vertex that rounding places outside.
/// Such a vertex is removed, too.
fn clip(polygon: &mut ClipPolygon, second: &[FeatureCorner]) {
    for vertex in polygon.iter_mut() {
        vertex.is_pending = true;
    }
    for (index, edge) in edges(second).enumerate() {
        clip_by_edge(polygon, edge, SourceEdge { feature: 1, index });
    }
    polygon.retain(|vertex| {
        if !vertex.is_pending {
            return true;
        }
        let height = fan_height(second, vertex.point.position);
        vertex.point.heights[1] = height.unwrap_or_default();
        height.is_some()
    });
}

/// Removes the part of a polygon beyond one edge of the second face.
fn clip_by_edge(polygon: &mut ClipPolygon, [start, end]: [FeatureCorner; 2], edge: SourceEdge) {
    let line = end.position - start.position;
    let side = |vertex: &ClipVertex| line.perp_dot(vertex.point.position - start.position);
    if polygon.iter().all(|vertex| side(vertex) >= 0.0) {
        return;
    }
    // Rounding can leave several runs of vertices on the inner side. Only the run that contains the
    // innermost vertex remains.
    let innermost = polygon.iter().map(side).enumerate();
    let innermost = innermost.reduce(|best, other| if other.1 > best.1 { other } else { best });
    let Some((innermost, _)) = innermost.filter(|(_, side)| *side >= 0.0) else {
        polygon.clear();
        return;
    };
    polygon.rotate_left(innermost);
    let is_outside = |vertex: &ClipVertex| side(vertex) < 0.0;
    let exit = polygon.iter().position(is_outside);
    let Some((exit, entry)) = exit.zip(polygon.iter().rposition(is_outside)) else {
        return;
    };
    let crossing = |inside: &ClipVertex, outside: &ClipVertex| {
        let t = side(inside) / (side(inside) - side(outside));
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
        is_pending: false,
    };
    let entering = ClipVertex {
        point: crossing(&after, &outside),
        is_pending: false,
        ..outside
    };
    polygon.drain(exit..=entry);
    polygon.insert(exit, leaving);
    polygon.insert(exit + 1, entering);
}

/// Removes vertices that are within `near` of the line through their neighbors.
fn straighten(polygon: &mut ClipPolygon, near: f64) {
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
        // The merged edge keeps the source of the longer edge.
        if via.distance(to) > from.distance(via)
            && let Some(start) = polygon.get_mut(index)
        {
            start.edge = middle.edge;
        }
        polygon.remove((index + 1) % polygon.len());
    }
    if polygon.len() < 3 {
        polygon.clear();
    }
}

/// Adds corners to the features where they can enlarge the area that the four best corners span.
/// One of these four corners is as deep as the deepest point, to within `tolerance`. `support`
/// returns the support point of a feature's shape along the normal, tilted by a vector. Returns
/// `true` if there are new corners.
pub fn refine(
    polygon: &ClipPolygon,
    features: &mut [&mut Feature; 2],
    near: f64,
    tolerance: f64,
    support: impl Fn(usize, DVec2) -> FeatureCorner,
) -> bool {
    let points: SmallVec<[CommonPoint; 2 * MAX_CORNERS]> =
        polygon.iter().map(|vertex| vertex.point).collect();
    let depths = points.iter().map(CommonPoint::depth);
    let deepest = depths.fold(f64::NEG_INFINITY, f64::max);
    let chosen = best_four(&points, deepest - tolerance);
    let corners: SmallVec<[CommonPoint; 4]> = chosen
        .iter()
        .filter_map(|index| points.get(*index).copied())
        .collect();
    let (twice_area, diameter) = area_and_diameter(&corners);
    let hidden = (HIDDEN * 0.5 * twice_area / diameter).max(near);
    let far = if polygon.len() <= 4 {
        1.0
    } else {
        (FAR_FACTOR * twice_area / (diameter * diameter)).max(1.0)
    };
    let mut refinement = Refinement {
        features,
        found: [NewCorners::new(), NewCorners::new()],
        near,
        support,
    };
    for vertex in polygon {
        refinement.search_edge(vertex.edge, far * hidden);
    }
    let mut unchanged = SmallVec::<[_; 4]>::new();
    for (number, index) in chosen.iter().enumerate() {
        let count = polygon.len();
        let incoming = polygon.get((index + count - 1) % count);
        let Some((incoming, outgoing)) = incoming.zip(polygon.get(*index)) else {
            continue;
        };
        let edges = [incoming.edge, outgoing.edge];
        if incoming.edge.feature == outgoing.edge.feature {
            unchanged.push((number, edges));
        } else {
            for edge in edges {
                refinement.search_edge(edge, hidden);
            }
        }
    }
    if refinement.found.iter().all(|found| found.is_empty()) {
        for (number, edges) in unchanged {
            refinement.search_corner(&corners, number, edges, twice_area);
        }
    }
    refinement.apply()
}

/// The search for new corners of two features.
struct Refinement<'a, 'b, F> {
    features: &'a mut [&'b mut Feature; 2],
    found: [NewCorners; 2],
    near: f64,
    support: F,
}

impl<F: Fn(usize, DVec2) -> FeatureCorner> Refinement<'_, '_, F> {
    /// Searches for a new corner beyond an edge that may hide more than `hidden`.
    fn search_edge(&mut self, SourceEdge { feature, index }: SourceEdge, hidden: f64) {
        let found = self.features.get_mut(feature).and_then(|face| {
            face.corner_beyond_edge(index, self.near, hidden, |tilt| {
                (self.support)(feature, tilt)
            })
        });
        self.add(feature, found.map(|corner| (index, corner)));
    }

    /// Searches for a new corner beyond a corner between two edges of the same feature. `number` is
    /// the corner's index in `corners`, and `twice_area` is twice the area that the corners span.
    fn search_corner(
        &mut self,
        corners: &[CommonPoint],
        number: usize,
        [incoming, outgoing]: [SourceEdge; 2],
        twice_area: f64,
    ) {
        let count = corners.len();
        let [before, corner, after] =
            [count - 1, 0, 1].map(|step| corners.get((number + step) % count).copied());
        let (Some(before), Some(corner), Some(after)) = (before, corner, after) else {
            return;
        };
        let feature = incoming.feature;
        let min_gain = MIN_AREA_GAIN * twice_area / before.position.distance(after.position);
        let on_feature = |CommonPoint { position, heights }| {
            let [first, second] = heights;
            FeatureCorner {
                position,
                height: if feature == 0 { first } else { second },
                hidden: 0.0,
            }
        };
        let found = self.features.get(feature).and_then(|face| {
            face.corner_beyond_corner(
                [incoming.index, outgoing.index],
                [before, corner, after].map(on_feature),
                [min_gain.max(self.near), self.near],
                |tilt| (self.support)(feature, tilt),
            )
        });
        self.add(feature, found);
    }

    fn add(&mut self, feature: usize, corner: Option<(usize, FeatureCorner)>) {
        if let (Some(corner), Some(found)) = (corner, self.found.get_mut(feature))
            && found.len() < MAX_CORNERS
        {
            found.push(corner);
        }
    }

    /// Inserts the new corners. Returns `true` if a feature has changed.
    fn apply(mut self) -> bool {
        let mut is_refined = false;
        for (feature, found) in self.features.iter_mut().zip(&mut self.found) {
            // Edges are split from the last to the first, so that the indices remain valid.
            found.sort_unstable_by_key(|(index, _)| core::cmp::Reverse(*index));
            found.dedup_by_key(|(index, _)| *index);
            for (index, corner) in found.iter().copied() {
                is_refined |= feature.split_edge(index, corner);
            }
        }
        is_refined
    }
}

/// Returns twice the area of a convex polygon, and its diameter.
fn area_and_diameter(vertices: &[CommonPoint]) -> (f64, f64) {
    let (mut twice_area, mut diameter) = (0.0, f64::MIN_POSITIVE);
    let ends = vertices.iter().cycle().skip(1);
    for (vertex, end) in vertices.iter().zip(ends) {
        twice_area += vertex.position.perp_dot(end.position);
        for other in vertices {
            diameter = vertex.position.distance(other.position).max(diameter);
        }
    }
    (twice_area, diameter)
}
