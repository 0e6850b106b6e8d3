//! The contact points of two faces or edges that touch, which a physics response needs for stable
//! rest.
//!
//! A box on a floor touches it with a whole face, and tips over a single contact point. So a
//! manifold is the intersection of both *supporting features*, as seen along the normal. A feature
//! is a face, an edge or a vertex. The points are up to four corners of a polygon in 3D, and up to
//! two ends of a segment in 2D.
//!
//! Other engines take faces from their shapes, and clip one by the other (Ericson, "Real-Time
//! Collision Detection" (2005), chapter 8.3). The departures are:
//!
//! * **A feature comes from the support function,** so that it works for every shape. Its corners
//!   are the support points in directions on a narrow cone around the normal, if they lie in a
//!   plane at right angles to it. A curved surface has no such corners, and its feature is a point.
//!   (The feature of a box or a segment comes from its axes, with the same tolerance.)
//! * **Ridges.** A surface that is curved in one direction only, such as the side of a lying
//!   cylinder, does have such corners: far along the line of contact, the surface is hardly lower.
//!   So each apparent face is tested on both sides of that line. If the surface falls away on both
//!   sides, the feature is the line.
//! * **The features are intersected** (`clip.rs`). A face or an edge is clipped by a face. Two
//!   edges share a part, or cross at a point. A vertex is an edge without length. The feature of a
//!   half-space is its whole plane. This plane has no corners and, as seen along the normal,
//!   contains every point.
//! * **Refinement.** A face starts with at most eight support points, but it may have more corners,
//!   or a round rim. An edge between two support points *hides* the part of the face beyond it. So
//!   edges on the boundary of the intersection are split at the support point beyond them, as in
//!   Quickhull, until they hide little (`refine.rs`).
//! * **At most four corners** (`choose.rs`). If there are more, the four that span the largest area
//!   are chosen. For each diagonal, the other two corners are the farthest from it on each side. As
//!   the diagonal rotates, both only advance.

mod choose;
mod clip;
mod feature;
mod frame;
mod refine;

use crate::{
    query::{minkowski::MinkowskiDifference, penetration::Penetration},
    space::DVector,
    tolerance::{OFF_CORE, SAME_MANIFOLD_POINT, TOUCHING},
};
use choose::{ManifoldPoints, choose_points};
use clip::{intersection, line_margin};
use feature::features;
pub use frame::ContactFrame;
use frame::{CommonPoint, KnownContact};
use refine::{MAX_REFINEMENTS, refine};

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
            position: frame.project(cores.first).position,
            heights: [cores.first, cores.second].map(|point| point.dot(frame.normal)),
        },
        min_depth: -pair.radius_sum() - depth_tolerance,
        depth_tolerance,
        near: SAME_MANIFOLD_POINT * cores.scale,
    };
    let mut features = features(pair, frame, contact.near);
    let margin = line_margin(&features, cores.scale, contact.near);
    let is_common = |point: &CommonPoint| {
        // Beside a contact line, the surface may be lower than the line, as beside the tip of a
        // cone.
        let are_on_cores = || {
            let distances = core_distances(point.on_cores(frame));
            let mut distances = distances.iter();
            distances.all(|distance| *distance <= OFF_CORE * cores.scale)
        };
        point.depth() >= contact.min_depth && (margin == contact.near || are_on_cores())
    };
    let support = |shape, tilt| frame.support(pair, shape, tilt);
    let mut polygon = intersection(&features, contact.near, margin, is_common);
    for _ in 0..MAX_REFINEMENTS {
        if !refine(&polygon, &mut features, &contact, support) {
            break;
        }
        polygon = intersection(&features, contact.near, margin, is_common);
    }
    choose_points::<D>(polygon, &contact, margin)
}
