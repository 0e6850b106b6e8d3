//! Contacts and casts in closed form, for pairs of simple cores.
//!
//! For each pair, `solver.rs` calls [`solve`] first, and for the distance of cores that overlap
//! also [`common_point`].
//!
//! | file | contents |
//! |---|---|
//! | `balls.rs` | two balls in the world |
//! | `boxes.rs` | boxes, segments and points |
//! | `separated_boxes.rs` | the nearest points of a box and a segment, and in 2D of two boxes |
//! | `polygons.rs` | 2D polygons of few edges |
//! | `half_space.rs` | a half-space and any other shape |
//! | `closed_form.rs` | [`ClosedForm`], the result of `boxes.rs` and `polygons.rs` |
//! | `swept_boxes.rs`, `swept_polygons.rs` | boxes, segments and polygons in linear motion |
//! | `swept_overlap.rs` | [`SweptOverlap`], the interval in which moving projections overlap |

mod balls;
mod boxes;
mod closed_form;
mod half_space;
mod polygons;
mod separated_boxes;
mod swept_boxes;
mod swept_overlap;
mod swept_polygons;

use crate::{
    query::{
        gjk::{Goal, Penetration},
        minkowski::MinkowskiDifference,
    },
    shape::Core,
    space::DVector,
};
pub use balls::TwoBalls;
pub use boxes::{BoxPair, has_face};
pub use closed_form::ClosedForm;
pub use half_space::HalfSpaceSolver;
pub use separated_boxes::nearest_on_segment;
pub use swept_boxes::SweptBoxes;
pub use swept_overlap::SweptOverlap;
pub use swept_polygons::SweptPolygons;

/// Solves a pair of boxes, segments or points. In 2D, the function also solves two polygons, or a
/// polygon and a rectangle or a point. Returns `None` for other pairs, and for pairs that the
/// closed forms leave to GJK and EPA.
///
/// Points that the goal does not need may be missing. If the goal is [`Goal::Distance`] and the
/// result has no points, GJK has to find them.
#[inline(always)]
pub fn solve<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    goal: Goal,
) -> Option<ClosedForm<D>> {
    match pair.boxes() {
        Some(half_extents) => boxes::solve(pair, half_extents, goal),
        None if D::DIMENSION == 2 => polygons::solve(pair, goal),
        None => None,
    }
}

/// Returns `true` only if the cores touch in one point at most: if one core is a point, or if both
/// are segments in 3D at an angle of more than 8 degrees.
#[inline(always)]
pub fn touch_in_point<D: DVector>(pair: &impl MinkowskiDifference<Vector = D>) -> bool {
    let boxes = || BoxPair::new(pair, pair.boxes()?);
    pair.has_point() || boxes().is_some_and(|boxes| boxes.has_skew_segments())
}

/// Returns a common point of overlapping cores, as both points of a contact with the normal of
/// `contact`. The common point is a point of `contact`, or the center of a core. Returns `None` if
/// none of these points is in both cores.
#[inline(always)]
pub fn common_point<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    contact: &Penetration<D>,
) -> Option<Penetration<D>> {
    let [first, second] = pair.cores();
    let pose = pair.relative();
    let is_in_first = |point: &D| contains(first, *point);
    let is_in_second = |point: &D| {
        contains(
            second,
            D::transpose(pose.rotation) * (*point - pose.translation),
        )
    };
    let center_of_second = pose.rotation * center(second) + pose.translation;
    let of_second = [contact.second, center_of_second];
    let of_first = [contact.first, center(first)];
    let of_second = of_second.into_iter().find(is_in_first);
    let point = of_second.or_else(|| of_first.into_iter().find(is_in_second))?;
    Some(Penetration {
        depth: 0.0,
        first: point,
        second: point,
        ..*contact
    })
}

/// Returns `true` if a box or a polygon contains a point, which is in the frame of the core.
/// Returns `false` for other cores.
fn contains<D: DVector>(core: Core<'_, D>, point: D) -> bool {
    match core {
        Core::Box { half_extents } => point.clamped(half_extents) == point,
        Core::Polygon(polygon) => polygon
            .edges()
            .all(|edge| (point - edge.start).dot(edge.normal) <= 0.0),
        Core::HalfSpace(_) | Core::Opaque => false,
    }
}

/// Returns a point inside a box or a polygon, in the frame of the core. Returns 0 for other cores.
fn center<D: DVector>(core: Core<'_, D>) -> D {
    match core {
        Core::Polygon(polygon) => polygon.center(),
        Core::Box { .. } | Core::HalfSpace(_) | Core::Opaque => D::ZERO,
    }
}
