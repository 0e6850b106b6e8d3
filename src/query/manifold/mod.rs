//! The contact points of two faces or edges that touch. A physics response needs these points for
//! bodies at rest.
//!
//! `solver.rs` calls [`manifold_points`] for two shapes that touch.
//!
//! A box on a floor touches the floor with a whole face. On a single contact point, the box would
//! tip over. So a manifold is the intersection of the two *supporting features*, as seen along the
//! normal. A feature is a face, an edge or a vertex. The points are up to four corners of a polygon
//! in 3D, and up to two ends of a segment in 2D.
//!
//! Other engines take faces from their shapes, and clip one face by the other (Ericson, "Real-Time
//! Collision Detection" (2005), chapter 8.3). The departures from that method are:
//!
//! * **Features come from the support function,** which every shape has (`feature.rs`, in the frame
//!   of `frame.rs`). The corners of a feature are the support points in directions on a narrow cone
//!   around the normal. These points must lie in a plane perpendicular to the normal. A surface
//!   that is curved in both directions has no such corners, and its feature is a point. The feature
//!   of a box or a segment comes from the axes of the shape instead, with the same tolerance.
//! * **Ridges.** A surface that is curved in one direction only, such as the side of a lying
//!   cylinder, does have such corners. Far along the line of contact, the surface is hardly lower
//!   than at the contact. So each apparent face is tested on both sides of that line. If the
//!   surface falls away on both sides, the feature is the line.
//! * **Common points** (`outline.rs`) are the corners of each feature inside the other feature, and
//!   the intersections of the features' edges. The feature of a half-space is its whole plane. This
//!   feature has no corners and, as seen along the normal, contains every point.
//! * **One point.** If a feature is a vertex at the contact, or if two edges cross there, the
//!   manifold is the contact. In 2D, the common part of two edges is an interval.
//! * **Refinement.** A face begins with at most eight support points, but may have more corners, or
//!   a round rim. An edge between two support points *hides* the part of the face beyond it. So
//!   edges on the boundary of the intersection are split at the support point beyond them, as in
//!   Quickhull, until they hide little.
//! * **At most four corners.** If there are more corners, the four that span the largest area are
//!   chosen. For each diagonal, the other two corners are the corners farthest from it, one on each
//!   side. When the diagonal rotates, these corners only move forward around the outline.

mod feature;
mod frame;
mod outline;

use core::f64::consts::FRAC_2_PI;

use smallvec::smallvec;

use crate::{
    math::DVec2,
    query::{gjk::Penetration, minkowski::MinkowskiDifference},
    space::DVector,
    tolerance::{OFF_CORE, SAME_MANIFOLD_POINT, TOUCHING},
};
use feature::{Feature, fill_feature};
pub use frame::ContactFrame;
use frame::{FeatureCorner, distance_to_edge};
use outline::{
    CommonPoint, HIDDEN, HullCandidates, MAX_FEATURE_REFINEMENTS, ManifoldPoints, choose_points,
    common_ends, common_points, convex_hull, cross_at, edge_margin, width,
};

/// The solver's contact, and the tolerances of its pair.
struct KnownContact {
    /// The contact, which is a point of the manifold unless a common point of the features is as
    /// deep.
    point: CommonPoint,
    /// The depth of the cores below which the shapes do not touch.
    min_depth: f64,
    /// The difference up to which depths count as equal.
    depth_tolerance: f64,
    /// The distance up to which points count as equal.
    near: f64,
}

impl KnownContact {
    /// Returns `true` if the contact is deeper than all points of a list.
    fn is_deeper_than(&self, points: &[CommonPoint]) -> bool {
        let deep = self.point.depth() - self.depth_tolerance;
        points.iter().all(|point| point.depth() < deep)
    }

    /// Returns the points of the manifold of two edges in 2D: the ends of their common part. If the
    /// contact is deeper, it comes first, and replaces an end that is equal or one end too many.
    fn choose_ends(&self, [a, b]: [[FeatureCorner; 2]; 2]) -> ManifoldPoints {
        let mut ends = common_ends(a, b, self.near);
        ends.retain(|point| point.depth() >= self.min_depth);
        if self.is_deeper_than(&ends) {
            let distance = |end: &CommonPoint| end.position.distance(self.point.position);
            ends.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
            let is_full = ends.len() > 1;
            match ends.first_mut() {
                Some(nearest) if is_full || distance(nearest) <= self.near => *nearest = self.point,
                _ => ends.insert(0, self.point),
            }
        } else if let [first, second] = &mut *ends
            && second.depth() > first.depth()
        {
            core::mem::swap(first, second);
        }
        ends
    }
}

/// Returns the points of the manifold of a contact. `core_distances` returns the distance from one
/// point to the first core, and from another point to the second core.
pub fn manifold_points<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    frame: &ContactFrame<D>,
    cores: &Penetration<D>,
    core_distances: impl Fn([D; 2]) -> [f64; 2],
) -> ManifoldPoints {
    let depth_tolerance = TOUCHING * cores.scale;
    let contact = KnownContact {
        point: CommonPoint {
            position: frame.corner(cores.first).position,
            heights: [cores.first, cores.second].map(|point| point.dot(frame.normal)),
        },
        min_depth: -pair.radius_sum() - depth_tolerance,
        depth_tolerance,
        near: SAME_MANIFOLD_POINT * cores.scale,
    };
    let (mut first, mut second) = (Feature::empty(), Feature::empty());
    // If a feature is a vertex at the contact, or if two edges cross there, the contact is the only
    // common point.
    let (near, known) = (contact.near, contact.point);
    fill_feature(&mut first, 0, pair, frame, near);
    if first.is_vertex_at(known.position, near) {
        return smallvec![known];
    }
    fill_feature(&mut second, 1, pair, frame, near);
    let are_complete = !(first.may_hide(near) || second.may_hide(near));
    let are_crossing = || are_complete && cross_at(&first, &second, known.position, near);
    if second.is_vertex_at(known.position, near) || are_crossing() {
        return smallvec![known];
    }
    if let (2, &[a, b], &[c, d]) = (D::DIMENSION, &*first.corners, &*second.corners) {
        return contact.choose_ends([[a, b], [c, d]]);
    }
    let support = |shape, tilt| frame.support(pair, shape, tilt);
    // Beside a contact line, the surface may be lower than the line, as beside the tip of a cone.
    // So a common point is kept only if it is on both cores.
    let is_on_cores = |point: &CommonPoint| {
        let distances = core_distances(point.on_cores(frame));
        distances
            .iter()
            .all(|distance| *distance <= OFF_CORE * cores.scale)
    };
    points_of_features::<D>(
        [&mut first, &mut second],
        &contact,
        cores.scale,
        is_on_cores,
        support,
    )
}

/// Returns the points of the manifold for any two features.
// This function is not inlined, because the lists would take up stack space in every manifold.
#[inline(never)]
fn points_of_features<D: DVector>(
    [feature_a, feature_b]: [&mut Feature; 2],
    contact: &KnownContact,
    scale: f64,
    is_on_cores: impl Fn(&CommonPoint) -> bool,
    support: impl Fn(usize, DVec2) -> FeatureCorner,
) -> ManifoldPoints {
    let KnownContact {
        point: known,
        near,
        depth_tolerance,
        min_depth,
    } = *contact;
    let mut refinements = 0;
    let (mut points, mut hull) = (HullCandidates::new(), HullCandidates::new());
    loop {
        let edge_margin = edge_margin(feature_a, feature_b, scale, near);
        common_points([feature_a, feature_b], near, edge_margin, &mut points);
        points.retain(|point| point.depth() >= min_depth);
        if edge_margin > near {
            points.retain(|point| is_on_cores(point));
        }
        let is_empty = points.is_empty();
        if contact.is_deeper_than(&points) {
            points.push(known);
        }
        convex_hull(&points, edge_margin, &mut hull);
        // If no edge hides more, no edge is split.
        if !(feature_a.may_hide(near) || feature_b.may_hide(near)) {
            return choose_points(&points, &hull, D::DIMENSION, edge_margin, depth_tolerance);
        }
        // The four best corners of a convex region span at least 2 / π of the region's area.
        let hidden = (HIDDEN * FRAC_2_PI * width(&hull)).max(near);
        let is_on_boundary = |feature: &Feature| {
            // Without common points, only the edges nearest to the contact count as the boundary.
            let limit = if is_empty {
                feature
                    .outline()
                    .map(|edge| distance_to_edge(known.position, edge))
                    .fold(f64::INFINITY, f64::min)
            } else {
                0.0
            };
            let hull = &hull;
            move |edge: [FeatureCorner; 2]| {
                hull.iter().any(|vertex| {
                    edge.iter().any(|end| end.position == vertex.position)
                        || distance_to_edge(vertex.position, edge) <= limit + near
                })
            }
        };
        refinements += 1;
        let is_refined = refinements <= MAX_FEATURE_REFINEMENTS && {
            let (on_a, on_b) = (is_on_boundary(feature_a), is_on_boundary(feature_b));
            let is_a_refined = feature_a.refine(near, hidden, on_a, |tilt| support(0, tilt));
            let is_b_refined = feature_b.refine(near, hidden, on_b, |tilt| support(1, tilt));
            is_a_refined || is_b_refined
        };
        if !is_refined {
            return choose_points(&points, &hull, D::DIMENSION, edge_margin, depth_tolerance);
        }
    }
}
