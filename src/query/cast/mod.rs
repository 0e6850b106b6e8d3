//! Casts: the first touch of two moving shapes.
//!
//! | file | contents |
//! |---|---|
//! | `motion.rs` | [`Motion`], the argument of a cast |
//! | `direct.rs` | casts that need no certificates, by the files below |
//! | `distance.rs` | a box and a ball, and two segments, whose distance has a closed form |
//! | `sweep.rs` | linear casts of boxes and polygons, by separating axes over time |
//! | `linear.rs` | linear casts of any two convex shapes, by GJK along a ray |
//! | `solve.rs` | all other casts: the first touch as a certified interval of time |
//! | `moving_pair.rs`, `body.rs` | a pair and a shape, with the separation, as functions of time |
//! | `separating_axis.rs` | the axes of a separation, and bounds of its rates |
//! | `scale.rs` | the size of a pair, and the lengths that decide its cast |
//! | `touch.rs` | a pair at the start, and its first touch |
//! | `face_normal.rs` | the face at the touch that opposes the motion most |

mod body;
mod direct;
mod distance;
mod face_normal;
mod linear;
mod motion;
mod moving_pair;
mod scale;
mod separating_axis;
mod solve;
mod sweep;
mod touch;

use bevy::reflect::{Reflect, prelude::ReflectDefault};

use crate::{
    math::Vec3,
    query::{
        results::{Contact, Contact64},
        trace::Trace,
    },
    shape::{DVecOf, Support},
    space::{DVector, Space},
};
pub use motion::Motion;
pub(crate) use motion::Motion64;
use motion::Moving64;
use moving_pair::MovingPair;
use touch::StartingPair;

/// The first touch of two moving shapes, as [`cast_shape`](super::cast_shape) and
/// [`cast_motion`](super::cast_motion) return it.
///
/// Times are fractions of the motion, from 0 to 1. All normals point from the first shape to the
/// second.
///
#[cfg_attr(
    doc,
    doc = "![At `safe` a gap is left, and at `touching` none][cast]\n\n"
)]
#[cfg_attr(doc, doc = include_str!("../../../docs/pictures.md"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastHit<V> {
    /// The state at the start: the shapes are apart, touch or overlap.
    pub status: CastStatus,
    /// A time at which the shapes do not overlap. Before this time, they overlap by no more than
    /// the grazing tolerance, or than the overlap at the start that the options allow. The time is
    /// 0 for shapes that touch or overlap at the start.
    pub safe: f64,
    /// A time at which the shapes touch, within the tolerance of [`intersects`](super::intersects).
    /// The time is 0 for shapes that touch or overlap at the start.
    pub touching: f64,
    /// The contact at the time `touching`. For shapes that overlap at the start, this is the
    /// contact that [`contact`](super::contact()) returns.
    pub contact: Contact<V>,
    /// The unit normal of a face of the second shape, from the first shape to the second. Of all
    /// faces at the contact point, this face opposes the motion most. For shapes that overlap at
    /// the start, this is the contact normal.
    ///
    /// At an edge or a corner, many contact normals are correct. A floor test needs the normal of a
    /// face. Inside a face, on a round shape, and on a half-space, the face normal equals the
    /// contact normal. If several parts of a collider meet at the contact, the faces of all these
    /// parts are considered.
    pub face_normal: V,
}

/// The state of two shapes at the start of a cast that hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastStatus {
    /// The shapes are apart at the start, and touch later.
    Hit,
    /// The shapes touch at the start, and the motion makes them overlap. An overlap counts as
    /// touching if the rounding of positions to f32 can cause it: up to 1.2e-7 of the coordinates,
    /// and at most a thousandth of the size of the pair.
    Touching,
    /// The shapes overlap at the start.
    Overlapping,
}

impl<V: Space> CastHit<V> {
    /// Returns the same touch in 3D. In 2D, z is 0.
    pub(crate) fn to_vec3(self) -> CastHit<Vec3> {
        CastHit {
            status: self.status,
            safe: self.safe,
            touching: self.touching,
            contact: self.contact.to_vec3(),
            face_normal: self.face_normal.to_vec3(),
        }
    }
}

/// The first touch of two moving shapes in f64: a [`CastHit`] whose points are relative to the
/// translations of the shapes at the time `touching`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CastHit64<D> {
    pub status: CastStatus,
    pub safe: f64,
    pub touching: f64,
    pub contact: Contact64<D>,
    pub face_normal: D,
}

impl<D: DVector> CastHit64<D> {
    /// Returns the contact of shapes that touch or overlap at the start.
    pub fn at_start(status: CastStatus, contact: Contact64<D>, face_normal: D) -> Self {
        Self {
            status,
            safe: 0.0,
            touching: 0.0,
            contact,
            face_normal,
        }
    }

    /// Returns the same touch in the world. `origins_at` returns the translations of both shapes at
    /// a time.
    pub fn in_world<V: Space<DVec = D>>(
        &self,
        origins_at: impl FnOnce(f64) -> [D; 2],
    ) -> CastHit<V> {
        CastHit {
            status: self.status,
            safe: self.safe,
            touching: self.touching,
            contact: Contact::in_world(&self.contact, origins_at(self.touching)),
            face_normal: V::from_f64(self.face_normal),
        }
    }
}

/// Options of [`cast_shape`](super::cast_shape) and [`cast_motion`](super::cast_motion).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct CastOptions {
    /// If `true`, shapes that overlap at the start may separate: they are a hit only if the motion
    /// increases the penetration depth, or if they touch again later. `false` by default.
    pub leave_overlaps: bool,
}

/// Returns the first touch of two shapes in the world. `solve` returns the touch in f64. If a pose
/// at the start or a motion is invalid, the cast is a miss.
pub(super) fn cast_in_world<A, B>(
    a: &A,
    motion_a: &Motion<A::Vector>,
    b: &B,
    motion_b: &Motion<A::Vector>,
    solve: impl FnOnce(&StartingPair<A, B>) -> Option<CastHit64<DVecOf<A>>>,
) -> Option<CastHit<A::Vector>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let start = StartingPair::new(a, motion_a.valid()?, b, motion_b.valid()?);
    Some(solve(&start)?.in_world(|time| start.origins_at(time)))
}

/// Returns the first touch of two moving shapes in f64, given their poses at the start and their
/// motions.
pub(crate) fn cast_moving<A, B>(
    a: &A,
    moving_a: Moving64<DVecOf<A>>,
    b: &B,
    moving_b: Moving64<DVecOf<A>>,
    options: CastOptions,
) -> Option<CastHit64<DVecOf<A>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    StartingPair::new(a, moving_a, b, moving_b).cast(options)
}

impl<A, B> StartingPair<'_, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    /// Returns the first touch.
    pub fn cast(&self, options: CastOptions) -> Option<CastHit64<DVecOf<A>>> {
        self.cast_directly()
            .unwrap_or_else(|| MovingPair::new(self)?.solve(options))
    }

    /// Returns the first touch of a linear cast, and records the steps of GJK in `trace`. If GJK
    /// does not solve the cast, the result comes from another method, without steps.
    pub fn trace(&self, trace: &mut impl Trace<DVecOf<A>>) -> Option<CastHit64<DVecOf<A>>> {
        self.cast_traced(trace)
            .unwrap_or_else(|| self.cast(CastOptions::default()))
    }
}
