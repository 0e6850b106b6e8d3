//! The refinement of faces that have more corners than were found.
//!
//! Each edge of the intersection remembers the edge of the face that it is a part of. The
//! refinement then has three steps:
//!
//! 1. Edges that may hide much are split at the support point beyond them.
//! 2. If edges of both faces meet in one of the four chosen corners, both edges are split until
//!    they hide little.
//! 3. If there was nothing to split, a corner of one face among the four moves if the support point
//!    across the line through its neighbors gives a larger area.
//!
//! If the intersection has no area, the edges nearest to it are split.

use smallvec::SmallVec;

use crate::{
    math::DVec2,
    query::manifold::{
        choose::best_four,
        clip::{ClipPolygon, SourceEdge, points},
        feature::{Feature, MAX_CORNERS, edges},
        frame::{CommonPoint, FeatureCorner, KnownContact, distance_to_edge},
    },
};

/// The maximum number of refinements. Each one divides the distance that a chord of an arc hides by
/// four.
pub const MAX_REFINEMENTS: usize = 6;

/// An edge is refined if it may hide more than this fraction of the four chosen corners' area over
/// their diameter. On an arc, each of the two new chords hides a quarter of that distance. Each
/// corner can lose this quarter times half of a diagonal. All four corners together can lose 1 % of
/// the area.
const HIDDEN: f64 = 0.02;

/// The support point of a corner is ignored if it adds less than this fraction of the area.
const MIN_GAIN: f64 = 0.002;

/// On a round outline, an edge that is not beside one of the four corners may hide this many times
/// as much as an edge that is. The factor decreases to 1 as the outline becomes thin. (On a disc,
/// the four corners span half of the square of the diameter.)
const FAR_FACTOR: f64 = 4.0;

/// Refines the features where this can enlarge the area that the four best corners span. `support`
/// returns the support point of a feature's shape along the normal, tilted by a vector. Returns
/// `true` if there are new corners.
pub fn refine(
    polygon: &ClipPolygon,
    features: &mut [Feature; 2],
    contact: &KnownContact,
    support: impl Fn(usize, DVec2) -> FeatureCorner,
) -> bool {
    let mut refinement = Refinement {
        features,
        found: SmallVec::new(),
        near: contact.near,
        support,
    };
    let points = points(polygon);
    if polygon.len() > 2 {
        refinement.search_outline(polygon, &points, contact.depth_tolerance);
    } else {
        refinement.search_beside(&points, contact.point.position);
    }
    refinement.apply()
}

/// The search for new corners of two features.
struct Refinement<'a, F> {
    features: &'a mut [Feature; 2],
    /// New corners, each with the edge that it splits.
    found: SmallVec<[(SourceEdge, FeatureCorner); 2 * MAX_CORNERS]>,
    near: f64,
    support: F,
}

impl<F: Fn(usize, DVec2) -> FeatureCorner> Refinement<'_, F> {
    /// Searches the edges around an intersection that has an area. One of the four best corners is
    /// as deep as the deepest one, to within `tolerance`.
    fn search_outline(&mut self, polygon: &ClipPolygon, points: &[CommonPoint], tolerance: f64) {
        let chosen = best_four(points, tolerance);
        let corners: SmallVec<[CommonPoint; 4]> = chosen
            .iter()
            .filter_map(|index| points.get(*index).copied())
            .collect();
        let (twice_area, diameter) = area_and_diameter(&corners);
        let hidden = (HIDDEN * 0.5 * twice_area / diameter).max(self.near);
        let far = if polygon.len() <= 4 {
            1.0
        } else {
            (FAR_FACTOR * twice_area / (diameter * diameter)).max(1.0)
        };
        for vertex in polygon {
            self.search_edge(vertex.edge, far * hidden);
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
                    self.search_edge(edge, hidden);
                }
            }
        }
        if !self.found.is_empty() {
            return;
        }
        let count = corners.len();
        for (number, edges) in unchanged {
            let corners = [count - 1, 0, 1].map(|step| corners.get((number + step) % count));
            if let [Some(before), Some(corner), Some(after)] = corners {
                let base = before.position.distance(after.position);
                let min_gain = (MIN_GAIN * twice_area / base).max(self.near);
                self.search_corner([before, corner, after], edges, min_gain);
            }
        }
    }

    /// Searches the edges beside an intersection that has no area: the edges through its points, or
    /// those nearest to the contact if it has none.
    fn search_beside(&mut self, points: &[CommonPoint], contact: DVec2) {
        let distance = |edge: [FeatureCorner; 2]| {
            let positions = points.iter().map(|point| point.position);
            let distances = positions.map(|position| distance_to_edge(position, edge));
            distances
                .reduce(f64::min)
                .unwrap_or_else(|| distance_to_edge(contact, edge))
        };
        for feature in [0, 1] {
            let corners = self.features.get(feature).map(Feature::corners);
            let edges = corners.into_iter().flat_map(edges).map(distance);
            let distances: SmallVec<[f64; MAX_CORNERS]> = edges.collect();
            let limit = if points.is_empty() {
                distances.iter().copied().fold(f64::INFINITY, f64::min)
            } else {
                0.0
            };
            for (index, distance) in distances.into_iter().enumerate() {
                if distance <= limit + self.near {
                    self.search_edge(SourceEdge { feature, index }, self.near);
                }
            }
        }
    }

    /// Searches beyond an edge that may hide more than `hidden`.
    fn search_edge(&mut self, edge: SourceEdge, hidden: f64) {
        let found = self.features.get_mut(edge.feature).and_then(|face| {
            let support = |tilt| (self.support)(edge.feature, tilt);
            face.corner_beyond_edge(edge.index, self.near, hidden, support)
        });
        self.found.extend(found.map(|corner| (edge, corner)));
    }

    /// Searches beyond a corner between two edges of the same feature.
    fn search_corner(&mut self, corners: [&CommonPoint; 3], edges: [SourceEdge; 2], min_gain: f64) {
        let [SourceEdge { feature, .. }, _] = edges;
        let found = self.features.get(feature).and_then(|face| {
            let edges = edges.map(|edge| edge.index);
            let corners = corners.map(|corner| corner.corner(feature));
            let support = |tilt| (self.support)(feature, tilt);
            face.corner_beyond_corner(edges, corners, min_gain, self.near, support)
        });
        let found = found.map(|(index, corner)| (SourceEdge { feature, index }, corner));
        self.found.extend(found);
    }

    /// Inserts the new corners. Returns `true` if a corner was inserted.
    fn apply(mut self) -> bool {
        // From the last edge to the first, so that the indices remain valid.
        self.found
            .sort_by_key(|(edge, _)| core::cmp::Reverse(*edge));
        self.found.dedup_by_key(|(edge, _)| *edge);
        let mut is_refined = false;
        for (edge, corner) in &self.found {
            let feature = self.features.get_mut(edge.feature);
            is_refined |= feature.is_some_and(|face| face.split_edge(edge.index, *corner));
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
