//! Forecasts: will two shapes hit each other, and which translation prevents the hit?
//!
//! An app calls [`forecast()`], which no other module calls.
//!
//! **The set of touching positions.** Shape A moves by v relative to shape B, along a straight
//! path. Let O be the set of all x such that A, moved by x, touches B. O is convex. In the space of
//! O, A is a point that moves from the origin to v. If A starts outside of B, the origin is outside
//! of O, and O casts a shadow S:
//!
//! ```text
//! S = { λ x : x in O, λ >= 1 }
//! ```
//!
//! A straight path from the origin meets O exactly when the end of the path is in S. So the minimum
//! translation is the shortest vector p such that v + p is on the boundary of S.
//!
//! **S is convex.** Let h(n) be the support function of O: the greatest height of O along a unit
//! vector n. If h(n) <= 0, S has the same greatest height h(n) along n. Otherwise S is unbounded
//! along n, because λ has no limit. So
//!
//! ```text
//! |p| = min { h(n) - n·v : h(n) <= 0 },    p = n (h(n) - n·v)
//! ```
//!
//! The minimum is taken only over axes that separate the shapes *at the start*. These axes are the
//! normals of faces of O that face the origin, and the normals of tangent planes through the
//! origin. Each axis gives an upper bound on |p|. Even if the search ends early, the translation p
//! of the best axis n frees the path. The reason is that, for s in 0..=1, the height of the point s
//! (v + p) along n is s h(n) >= h(n). So this point is not inside O.
//!
//! | file | contents |
//! |---|---|
//! | `shadow.rs` | EPA for S, which gives lower bounds that meet the upper bounds above |
//! | `unbounded.rs` | a polytope with unbounded edges, the inner approximation of S |
//!
//! **Shapes that touch at the start.** For such shapes, the origin is on the boundary of O, or
//! inside O by at most the touching tolerance. So O is moved along the contact normal until the
//! origin is outside. Otherwise a body that rests on a thin floor could leave the floor on the
//! opposite side.
//!
//! **A half-space** is its own shadow, so the contact at the end gives the translation.

mod shadow;
mod unbounded;

use crate::{
    query::{
        CastHit, CastOptions, CastStatus, Contact64, Motion, Pair, cast_moving,
        minkowski::MinkowskiDifference,
    },
    shape::{Core, DVecOf, Support},
    space::{DVector, Pose, QueryPose, Space},
    tolerance::TOUCHING,
};
use shadow::shortest_exit;

/// The result of [`forecast`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast<V> {
    /// `true` if the shapes touch at the start: see [`intersects`](super::intersects).
    pub intersects: bool,
    /// `true` if the shapes hit each other during the motion: see
    /// [`cast_shape`](super::cast_shape). Shapes that overlap at the start count as a hit. Shapes
    /// that only slide along each other are not a hit.
    pub will_intersect: bool,
    /// The shortest vector that, added to the translation of the first shape, prevents the hit. The
    /// vector is zero if the shapes will not hit each other. If the shapes overlap at the start,
    /// the vector resolves the contact at the end of the motion. If there is no contact at the end,
    /// the vector is zero.
    pub minimum_translation: V,
    /// The time and the contact of the first touch, or `None` if the shapes will not hit each
    /// other.
    pub cast: Option<CastHit<V>>,
}

/// Predicts the next step of two shapes: whether they touch, whether they will hit each other, and
/// the shortest correction of the motion that prevents the hit. `translation` is the motion of the
/// first shape relative to the second during the step.
///
#[cfg_attr(
    doc,
    doc = "![The minimum translation leads to the near side of a wall][forecast]\n\n"
)]
#[cfg_attr(doc, doc = include_str!("../../../docs/pictures.md"))]
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let (tile, wall) = (Rectangle::new(1.0, 1.0), Rectangle::new(0.1, 20.0));
/// let translation = Vec2::new(10.0, 1.0);
/// let forecast = query::forecast(&tile, Vec2::ZERO, &wall, Vec2::X * 3.0, translation);
/// assert!(!forecast.intersects && forecast.will_intersect);
/// // The tile ends at the near side of the wall, not behind it, and still moves along the wall.
/// let allowed = translation + forecast.minimum_translation;
/// assert!(allowed.distance(Vec2::new(2.45, 1.0)) < 1e-5);
/// ```
///
/// * The straight path of the corrected motion does not enter the second shape, and ends where the
///   shapes just touch.
/// * The translation is the shortest to within a millionth of the sum of the pair's size and the
///   length of the motion. There is one exception: if both shapes are round about the direction of
///   the motion, nearly all corrections are equally short. In this case, the precision is measured
///   (`tests/it/queries/forecast.rs`), not proved.
/// * Shapes that touch at the start count as separated, so that a body at rest on a thin floor does
///   not pass through the floor.
/// * A translation beyond the range of `f32` is shortened to that range, and keeps its direction.
/// * For invalid shapes, poses and translations, the fields are `false`, zero and `None`.
/// * Swapping the shapes and negating the translation gives the mirror image.
///
/// This function takes only convex shapes and half-spaces. A [`Collider`](crate::Collider) may be
/// concave, so its shortest correction may go around any of its parts. For colliders, use
/// [`cast_shape`](super::cast_shape), and slide along the contact.
pub fn forecast<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &A,
    pose_a: impl Into<QueryPose<A::Vector>>,
    b: &B,
    pose_b: impl Into<QueryPose<A::Vector>>,
    translation: A::Vector,
) -> Forecast<A::Vector> {
    forecast_of_shapes(a, pose_a.into(), b, pose_b.into(), translation).unwrap_or_default()
}

/// Returns the forecast, or `None` for invalid poses and translations.
fn forecast_of_shapes<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &A,
    pose_a: QueryPose<A::Vector>,
    b: &B,
    pose_b: QueryPose<A::Vector>,
    translation: A::Vector,
) -> Option<Forecast<A::Vector>> {
    let (motion_a, motion_b) = (Motion::linear(pose_a, translation), Motion::still(pose_b));
    let (moving_a, moving_b) = (motion_a.valid()?, motion_b.valid()?);
    let (pose_a, pose_b) = (*moving_a.0, *moving_b.0);
    let translation = translation.to_f64();
    let start = Pair::new(a, pose_a, b, pose_b).find_contact();
    let hit = cast_moving(a, moving_a, b, moving_b, None, CastOptions::default());
    let has_half_space = [a.core(), b.core()]
        .iter()
        .any(|core| matches!(core, Core::HalfSpace(_)));
    let correction = match &hit {
        None => DVector::ZERO,
        Some(hit) if hit.status != CastStatus::Overlapping && !has_half_space => {
            let pair = Pair::new(a, pose_a, b, pose_b);
            out_of_shadow(&pair, translation, hit.contact.normal, start.as_ref())
        }
        Some(_) => {
            let end = Pose {
                translation: pose_a.translation + translation,
                ..pose_a
            };
            let contact = Pair::new(a, end, b, pose_b).find_contact();
            contact.map_or(DVector::ZERO, |contact| contact.normal * -contact.depth)
        }
    };
    let origins_at = |time| [pose_a.translation + translation * time, pose_b.translation];
    Some(Forecast {
        intersects: start.is_some(),
        will_intersect: hit.is_some(),
        minimum_translation: A::Vector::from_f64(correction.in_f32_range()),
        cast: hit.map(|hit| hit.in_world((0, 0), origins_at)),
    })
}

/// Returns the shortest translation that moves the end of A's path out of the shadow. `normal` is
/// the normal of the first touch, and `start` is the contact at the start.
fn out_of_shadow<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    pair: &Pair<A, B>,
    translation: DVecOf<A>,
    normal: DVecOf<A>,
    start: Option<&Contact64<DVecOf<A>>>,
) -> DVecOf<A> {
    // In the frame of the pair, the second shape moves. So the set O (see the file head) is the
    // pair's Minkowski difference.
    let inverse = DVecOf::<A>::transpose(pair.frame.rotation);
    let sign = if pair.frame.swapped { -1.0 } else { 1.0 };
    let to_pair = |vector: DVecOf<A>| inverse * vector * sign;
    let shift = start.map_or(DVecOf::<A>::ZERO, |start| {
        let normal = to_pair(start.normal);
        let size = pair.vertex(normal).scale() + pair.radius_sum();
        normal * (start.depth + TOUCHING * size)
    });
    let exit = shortest_exit(pair, to_pair(-translation), to_pair(normal), shift);
    pair.frame.rotation * exit * -sign
}
