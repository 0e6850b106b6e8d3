//! Casts: the first touch of two moving shapes.
//!
//! `query_partner.rs` calls [`cast_in_world`] for two shapes. `collider_query/cast.rs` calls
//! [`cast_moving`] for each pair of convex colliders or parts.
//!
//! | file | contents |
//! |---|---|
//! | `motion.rs` | [`Motion`], the argument of a cast |
//! | `hit.rs` | [`CastHit`], the result, and [`CastOptions`] |
//! | `direct/` | most casts: closed forms, and GJK along a ray |
//! | `certified/` | all other casts: steps that are proved to be free of touches |
//! | `separating_axis.rs` | the axes of a separation, and bounds on its rates |
//! | `scale.rs` | the size of a pair, and the lengths that decide its cast |
//! | `touch.rs` | a pair at the start, and its first touch |
//! | `face_normal.rs` | the face at the touch that opposes the motion most |

mod certified;
mod direct;
mod face_normal;
mod hit;
mod motion;
mod scale;
mod separating_axis;
mod touch;

use crate::{
    shape::{DVecOf, Support},
    space::Space,
};
use certified::moving_pair::MovingPair;
use direct::balls::cast_balls;
pub(crate) use hit::CastHit64;
pub use hit::{CastHit, CastOptions, CastStatus};
pub use motion::Motion;
pub(crate) use motion::Motion64;
pub(super) use motion::Moving64;
use scale::{CastScale, CoreBox};
use separating_axis::{RateBounds, SeparatingAxis, Separation, rates_along_turning_axis};
use touch::{CertifiedTouch, FastCast};
pub(super) use touch::{StartingPair, Uncertain};

/// Returns the first touch of two shapes in the world. `solve` returns the touch in f64, given the
/// poses and the motions. If a pose at the start or a motion is invalid, the cast is a miss.
#[inline(always)]
pub(super) fn cast_in_world<'a, V: Space>(
    motion_a: &'a Motion<V>,
    motion_b: &'a Motion<V>,
    solve: impl FnOnce([Moving64<'a, V::DVec>; 2]) -> Option<CastHit64<V::DVec>>,
) -> Option<CastHit<V>> {
    let moving = [motion_a.valid()?, motion_b.valid()?];
    let origins_at =
        |time| moving.map(|(pose, motion)| pose.translation + motion.translation * time);
    Some(solve(moving)?.in_world((0, 0), origins_at))
}

/// Returns the first touch of two moving shapes in f64, given their poses at the start and their
/// motions. If the second shape is a facet without a margin, and neither shape rotates,
/// `facet_normal` may be the facet's unit normal, on either side. With this normal, the function is
/// faster. If the shapes then overlap at the start, and the options do not allow the overlap, the
/// contact may be deeper than necessary.
#[inline(always)]
pub(crate) fn cast_moving<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &A,
    moving_a: Moving64<DVecOf<A>>,
    b: &B,
    moving_b: Moving64<DVecOf<A>>,
    facet_normal: Option<DVecOf<A>>,
    options: CastOptions,
) -> Option<CastHit64<DVecOf<A>>> {
    cast_balls(a, moving_a, b, moving_b).unwrap_or_else(|Uncertain| {
        let start = StartingPair {
            facet_normal,
            ..StartingPair::new(a, moving_a, b, moving_b)
        };
        start.cast(options)
    })
}

impl<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> StartingPair<'_, A, B> {
    /// Returns the first touch of the pair.
    pub fn cast(&self, options: CastOptions) -> Option<CastHit64<DVecOf<A>>> {
        self.cast_directly()
            .unwrap_or_else(|Uncertain| MovingPair::new(self)?.solve(options))
    }
}
