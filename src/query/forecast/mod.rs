//! Forecasts: will two shapes hit, and which translation prevents it?
//!
//! **The question in one set.** A moves by v relative to B, along a straight path. Let O be the set
//! of all x such that A, moved by x, touches B. O is convex. In O's space, A is a point that starts
//! at the origin and ends at v. If A starts outside of B, the origin is outside of O, and O throws
//! a shadow:
//!
//! ```text
//! S = { λ x : x in O, λ >= 1 }
//! ```
//!
//! The path to an end meets O exactly if the end is in S. So the minimum translation is the
//! shortest vector p such that v + p is on the boundary of S.
//!
//! **S is convex.** Let h(n) be the support function of O, its greatest height along a unit vector
//! n. Along n, S has the same height if h(n) <= 0, and otherwise none, because λ has no limit. So
//!
//! ```text
//! |p| = min { h(n) - n·v : h(n) <= 0 },    p = n (h(n) - n·v)
//! ```
//!
//! Only the axes that separate the shapes *at the start* count: faces of O that face the origin,
//! and tangent planes through the origin. Each of them is an upper bound of |p|, and after its
//! translation the path is free, even if the search ends early: for s in 0..=1, the point
//! s (v + p) has the height s h(n) >= h(n).
//!
//! | file | contents |
//! |---|---|
//! | `shadow.rs` | EPA for S, whose lower bounds meet the upper bounds above |
//! | `unbounded.rs` | a polytope with unbounded edges, the inner approximation of S |
//!
//! **Shapes that touch at the start.** The origin is on the boundary of O, or below it by the
//! tolerance of touching. Then S is that of O moved along the contact normal until the origin is
//! outside. Without that, a body that rests on a thin floor would leave it on the other side.
//!
//! **Half-spaces** are their own shadow, so the contact at the end gives the translation.

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

/// The outcome of [`forecast`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast<V> {
    /// `true` if the shapes touch at the start, as by [`intersects`](super::intersects).
    pub intersects: bool,
    /// `true` if the shapes hit each other during the motion, as by
    /// [`cast_shape`](super::cast_shape): also if they overlap at the start, but not if they only
    /// pass along each other.
    pub will_intersect: bool,
    /// The shortest vector that, added to the translation of the first shape, prevents the hit.
    /// Zero if they will not hit. If they overlap at the start, it resolves the contact at the end,
    /// and is zero if they are separated there.
    pub minimum_translation: V,
    /// The first touch: its time and its contact. `None` if they will not hit.
    pub cast: Option<CastHit<V>>,
}

/// Returns whether two shapes touch, whether they will hit in the next step, and the shortest
/// correction of the motion that prevents it. `translation` is the motion of the first shape
/// relative to the second during the step.
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
/// * With the corrected motion, the straight path of the first shape does not enter the second. It
///   ends where the shapes just touch.
/// * The translation is the shortest, to a millionth of the size of the pair plus the length of the
///   motion. There is one exception: if the shapes are round about the motion, nearly all
///   directions are equally good. Then this precision is measured
///   (`tests/it/queries/forecast.rs`), and not proved.
/// * Shapes that touch at the start count as separated, so that a body at rest on a thin floor does
///   not pass through it.
/// * A translation beyond the range of `f32` is shortened to that range, in the same direction.
/// * Invalid shapes, poses and translations: `false`, zero and `None`.
/// * Swapping the shapes and negating the translation gives the mirror image.
///
/// It takes convex shapes and half-spaces only. For a [`Collider`](crate::Collider), which may be
/// concave, the shortest correction may lead around any of its parts: use
/// [`cast_shape`](super::cast_shape) and slide along the contact instead.
pub fn forecast<A, B>(
    a: &A,
    pose_a: impl Into<QueryPose<A::Vector>>,
    b: &B,
    pose_b: impl Into<QueryPose<A::Vector>>,
    translation: A::Vector,
) -> Forecast<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    forecast_of_shapes(a, pose_a.into(), b, pose_b.into(), translation).unwrap_or_default()
}

/// Returns the forecast, or `None` for invalid poses and translations.
fn forecast_of_shapes<A, B>(
    a: &A,
    pose_a: QueryPose<A::Vector>,
    b: &B,
    pose_b: QueryPose<A::Vector>,
    translation: A::Vector,
) -> Option<Forecast<A::Vector>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let (pose_a, motion_a) = Motion::linear(pose_a, translation).valid()?;
    let (pose_b, motion_b) = Motion::still(pose_b).valid()?;
    let translation = translation.to_f64();
    let start = Pair::new(a, pose_a, b, pose_b).find_contact();
    let options = CastOptions::default();
    let hit = cast_moving(a, (pose_a, motion_a), b, (pose_b, motion_b), options);
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
        cast: hit.map(|hit| hit.in_world(origins_at)),
    })
}

/// Returns the shortest translation of the end of A's path out of the shadow. `normal` is that of
/// the first touch, and `start` the contact at the start.
fn out_of_shadow<A, B>(
    pair: &Pair<A, B>,
    translation: DVecOf<A>,
    normal: DVecOf<A>,
    start: Option<&Contact64<DVecOf<A>>>,
) -> DVecOf<A>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    // The second shape of the pair moves, and the Minkowski difference of the pair is O.
    let inverse = DVecOf::<A>::transpose(pair.frame);
    let sign = if pair.swapped { -1.0 } else { 1.0 };
    let to_pair = |vector: DVecOf<A>| inverse * vector * sign;
    let shift = start.map_or(DVecOf::<A>::ZERO, |start| {
        let normal = to_pair(start.normal);
        let size = pair.vertex(normal).scale() + pair.radius_sum();
        normal * (start.depth + TOUCHING * size)
    });
    let exit = shortest_exit(pair, to_pair(-translation), to_pair(normal), shift);
    pair.frame * exit * -sign
}
