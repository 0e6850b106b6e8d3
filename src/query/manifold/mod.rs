//! The contact points of two faces or edges that touch. A physics response needs them for stable
//! rest.
//!
//! A box on a floor touches it all over a face, and a single contact point lets it tip over. The
//! manifold of a contact is the intersection of the two *supporting features* (a face, an edge or a
//! vertex each) as seen along the normal: at most four corners of that polygon in 3D, at most both
//! ends of a segment in 2D.
//!
//! Engines ask their shapes for faces and clip one by the other (Ericson, "Real-Time Collision
//! Detection" (2005), chapter 8.3, has the clipping). This module departs from that as follows:
//!
//! * A feature comes from the support function, so that it works for every shape. Its corners are
//!   the support points in directions on a narrow cone around the normal, if they lie in a plane
//!   across it. A curved surface has none there, and its feature is a point. (The feature of a box
//!   or a segment is computed from its axes, with the same tolerance.)
//! * A surface that is curved in one direction only, such as the side of a lying cylinder, has such
//!   corners too: far along the line of contact, they are little lower than the top. So each
//!   apparent face is tested on both sides of that line. If the surface falls away on both, the
//!   feature is the line.
//! * Two faces are clipped (`clip.rs`). If a feature is an edge or a vertex, or if two faces only
//!   touch, the corners of each within the other and the crossings of their edges are listed
//!   (`outline.rs`). The feature of a half-space is its whole plane: it has no corner and contains
//!   every point.
//! * The first support points of a face are eight, but the face may have more corners, or a round
//!   rim. Edges on the boundary of the intersection are therefore refined as in Quickhull: the
//!   support point across the edge becomes a corner, until what an edge can still hide is small for
//!   the intersection.
//! * Of more than four corners of the intersection, those four are kept that span the largest area.
//!   For each two opposite corners, the other two are the farthest from the diagonal on each side,
//!   and as the diagonal turns, both only advance.

use core::f64::consts::FRAC_2_PI;

use smallvec::SmallVec;

use crate::{
    query::{minkowski::MinkowskiDifference, solver::Contact},
    space::{DVector, Space},
    tolerance::{OFF_SURFACE, SAME_POINT, TOUCHING},
};
use clip::{intersection, refine};
use feature::{Feature, features};
pub use frame::ContactFrame;
use frame::{Across, Corner, distance_to_edge};
use outline::{
    Candidates, HIDDEN, Meeting, Meetings, REFINEMENTS, beside, common, convex_hull, outline, width,
};

mod clip;
mod feature;
mod frame;
mod outline;

/// Where two shapes touch: one normal, and up to four points that hold them apart.
///
/// If two faces or edges touch, these are corners of their intersection. In the world's frame and
/// units.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold<V: Space> {
    /// That of the [`Contact`](super::Contact).
    pub normal: V,
    pub(super) points: SmallVec<[ManifoldPoint<V>; 4]>,
}

impl<V: Space> Manifold<V> {
    /// One of no points yet.
    #[inline]
    pub(super) fn empty() -> Self {
        Self {
            normal: V::default(),
            points: SmallVec::new(),
        }
    }

    /// One of one point.
    #[inline]
    pub(super) fn of(contact: Contact<V>) -> Self {
        let mut manifold = Self::empty();
        manifold.normal = contact.normal;
        manifold.points.push(ManifoldPoint {
            depth: contact.depth,
            point_a: contact.point_a,
            point_b: contact.point_b,
        });
        manifold
    }

    /// One to four points (in 2D one or two): the deepest one first, and the others in order around
    /// the outline, in either sense.
    pub fn points(&self) -> &[ManifoldPoint<V>] {
        &self.points
    }
}

/// A point of a [`Manifold`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManifoldPoint<V> {
    /// How deep the shapes are in each other here, along the normal; 0 or more.
    pub depth: f32,
    /// On the first shape's surface, or a little beneath it: see [`manifold`](super::manifold).
    pub point_a: V,
    /// On the second shape's surface, likewise: `point_a - normal * depth`.
    pub point_b: V,
}

/// The points of the manifold of a contact, of which a point on each core is known.
pub fn meetings<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    frame: &ContactFrame<D>,
    scale: f64,
    first: D,
    second: D,
    off_cores: impl Fn(D, D) -> [f64; 2],
) -> Meetings {
    let slack = TOUCHING * scale;
    let near = SAME_POINT * scale;
    let mut features = features(pair, frame, near);
    // What the solver knows of the contact stands, if the features do not say the same.
    let known = Meeting {
        at: frame.corner(first).at,
        first: first.dot(frame.normal),
        second: second.dot(frame.normal),
    };
    let least = -pair.radius_sum() - slack;
    let look = |feature: usize, tilt: Across| match feature {
        0 => frame.look_first(pair, tilt),
        _ => frame.look_second(pair, tilt),
    };
    for refinements in 0.. {
        let polygon = intersection(&features, near, least);
        if polygon.is_empty() {
            break;
        }
        if refinements < REFINEMENTS && refine(&polygon, &mut features, near, slack, look) {
            continue;
        }
        let mut meetings: Candidates = polygon.iter().map(|vertex| vertex.meeting).collect();
        let deep = known.depth() - slack;
        if meetings.iter().any(|meeting| meeting.depth() >= deep) {
            return outline(&meetings, &meetings, D::DIMENSION, near, slack);
        }
        meetings.push(known);
        let hull = convex_hull(&meetings, near);
        return outline(&meetings, &hull, D::DIMENSION, near, slack);
    }
    // The features are not two faces, or have no area in common.
    let [mut feature_a, mut feature_b] = features;
    let mut refinements = 0;
    loop {
        let beside = beside(&feature_a, &feature_b, scale, near);
        let mut meetings = common(&feature_a, &feature_b, near, beside);
        meetings.retain(|meeting| meeting.depth() >= least);
        if beside > near {
            // Beside the one line or the other, its surface may have fallen away, as from the tip
            // of a cone: it is asked for.
            meetings.retain(|meeting| {
                let [first, second] = meeting.points(frame);
                off_cores(first, second)
                    .iter()
                    .all(|off| *off <= OFF_SURFACE * scale)
            });
        }
        let is_empty = meetings.is_empty();
        if meetings
            .iter()
            .all(|meeting| meeting.depth() < known.depth() - slack)
        {
            meetings.push(known);
        }
        let hull = convex_hull(&meetings, beside);
        // Four corners span at least 2 / π of a convex area.
        let hidden = (HIDDEN * FRAC_2_PI * width(&hull)).max(near);
        let is_on_boundary = |feature: &Feature| {
            // If all that the features have in common lies beyond one edge, that edge is the
            // nearest one to the contact.
            let away = |edge| distance_to_edge(known.at, edge);
            let reach = if is_empty {
                feature.sides().map(away).fold(f64::INFINITY, f64::min)
            } else {
                0.0
            };
            let hull = &hull;
            move |edge: [Corner; 2]| {
                hull.iter()
                    .any(|corner| edge.iter().any(|end| end.at == corner.at))
                    || hull
                        .iter()
                        .any(|corner| distance_to_edge(corner.at, edge) <= reach + near)
            }
        };
        refinements += 1;
        let is_refined = refinements <= REFINEMENTS && {
            let (first, second) = (is_on_boundary(&feature_a), is_on_boundary(&feature_b));
            let first = feature_a.refine(near, hidden, first, |tilt| frame.look_first(pair, tilt));
            let second =
                feature_b.refine(near, hidden, second, |tilt| frame.look_second(pair, tilt));
            first || second
        };
        if !is_refined {
            return outline(&meetings, &hull, D::DIMENSION, beside, slack);
        }
    }
}
