//! Motions of shapes, the arguments of casts.

use crate::{
    math::{DMat3, DVec3},
    shape::Support,
    space::{DVector, Pose, PoseKind, QueryPose, Space, Translation},
};

/// The largest rotation of a motion, in radians: about 1,600 turns. The work of a cast grows with
/// the number of turns, so an unbounded rotation would take unbounded time.
const MAX_ROTATION: f64 = 1e4;

type VectorOf<K> = <<K as PoseKind>::Vector as Space>::DVec;

/// A motion of a shape or a [`Collider`] over the time from 0 to 1: a translation and a rotation,
/// both at constant velocity. The shape rotates about its own origin.
///
/// `K` is `Vec2` for a 2D shape, `Vec3` for a 3D shape, and `Collider` for a collider. Any
/// [`QueryPose`] converts to a motion that stays in this pose. Examples of other motions:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// let thrown: Motion<Vec3> = Motion::linear(Vec3::ZERO, Vec3::X * 3.0).rotated(Vec3::Z * 8.0);
/// let pushed: Motion<Collider> = Motion::linear(Transform::from_xyz(0.0, 1.0, 0.0), Vec2::X);
/// let door = Transform::from_xyz(2.0, 0.0, 0.0);
/// let swung: Motion<Collider> =
///     Motion::between(door, door.with_rotation(Quat::from_rotation_y(1.5)));
/// ```
///
/// [`Collider`]: crate::Collider
#[derive(Debug)]
pub struct Motion<K: PoseKind> {
    pub(crate) start: QueryPose<K>,
    pub(crate) change: Motion64<VectorOf<K>>,
}

// `#[derive(Copy)]` would require that `K` is `Copy`.
impl<K: PoseKind> Copy for Motion<K> {}

impl<K: PoseKind> Clone for Motion<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: PoseKind> Motion<K> {
    /// Returns a motion that stays in a pose.
    #[inline(always)]
    pub fn still(pose: impl Into<QueryPose<K>>) -> Self {
        Self {
            start: pose.into(),
            change: Motion64::still(),
        }
    }

    /// Returns a motion that translates without a rotation, beginning at a pose. The translation of
    /// a collider is a `Vec2` or a `Vec3`.
    #[inline(always)]
    pub fn linear(pose: impl Into<QueryPose<K>>, translation: impl Translation<K>) -> Self {
        Self {
            start: pose.into(),
            change: Motion64::linear(translation.to_vector().to_f64()),
        }
    }

    /// Returns the motion from one pose to another, with a rotation of at most half a turn.
    ///
    /// A collider keeps the scale of the pose at the start. In 2D, a shape that is mirrored at the
    /// start stays mirrored. If only one of the poses mirrors the shape, the shape does not rotate.
    pub fn between(start: impl Into<QueryPose<K>>, end: impl Into<QueryPose<K>>) -> Self {
        let (start, end) = (start.into(), end.into());
        let change = match (K::unscaled(&start.0), K::unscaled(&end.0)) {
            (Some(from), Some(to)) => Motion64 {
                rotation: VectorOf::<K>::angle_between(from.rotation, to.rotation),
                ..Motion64::linear(to.translation - from.translation)
            },
            // An invalid end makes the motion invalid.
            _ => Motion64::linear(VectorOf::<K>::ONE * f64::NAN),
        };
        Self { start, change }
    }

    /// Sets the rotation over the whole motion, in world axes. The rotation of a 2D shape is the
    /// angle in radians. For 3D shapes and colliders, the rotation is the axis times the angle. The
    /// axis of a 2D collider is `Vec3::Z`. The angle may exceed a full turn.
    #[must_use]
    pub fn rotated(mut self, rotation: <K::Vector as Space>::Angle) -> Self {
        self.change.rotation = K::Vector::angle_to_f64(rotation);
        self
    }
}

impl<V: Space> Motion<V> {
    /// Returns the pose at the start and the motion from this pose, or `None` if the pose or the
    /// motion is invalid.
    pub(crate) fn valid(&self) -> Option<Moving64<'_, V::DVec>> {
        Some((self.start.0.as_ref()?, self.change.valid()?))
    }
}

impl<K: PoseKind, P: Into<QueryPose<K>>> From<P> for Motion<K> {
    fn from(pose: P) -> Self {
        Self::still(pose)
    }
}

/// A motion over the time from 0 to 1, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion64<D: DVector> {
    pub translation: D,
    pub rotation: D::Angle,
    /// The center of rotation at the start, relative to the shape's own translation. The center
    /// moves by the translation only. The vector is zero except for a part of a compound.
    pub pivot: D,
}

/// The pose of a shape at the start, and the motion from this pose.
pub type Moving64<'a, D> = (&'a Pose<D>, &'a Motion64<D>);

impl Motion64<DVec3> {
    /// Returns the motion of a collider in 2D or 3D, or `None` if the motion is invalid.
    pub fn in_dimension<D: DVector>(self) -> Option<Motion64<D>> {
        let (_, translation) = D::restrict(DMat3::IDENTITY, self.translation);
        let rotation = D::angle_of(self.rotation);
        let motion = Motion64 {
            rotation,
            ..Motion64::linear(translation)
        };
        motion.valid().copied()
    }
}

impl<D: DVector> Motion64<D> {
    /// Returns a motion that changes nothing.
    #[inline(always)]
    pub fn still() -> Self {
        Self::linear(D::ZERO)
    }

    /// Returns a translation without a rotation.
    #[inline(always)]
    pub fn linear(translation: D) -> Self {
        Self {
            translation,
            rotation: Default::default(),
            pivot: D::ZERO,
        }
    }

    /// Returns this motion, or `None` if it is not finite or rotates by more than [`MAX_ROTATION`].
    pub fn valid(&self) -> Option<&Self> {
        let is_short = D::angle_size(self.rotation) <= MAX_ROTATION;
        (self.translation.is_finite() && is_short).then_some(self)
    }

    /// Returns `true` if this motion rotates a shape. Returns `false` for a point that rotates
    /// about itself.
    pub fn rotates(&self, shape: &(impl Support<Vector: Space<DVec = D>> + ?Sized)) -> bool {
        let is_round = || self.pivot == D::ZERO && shape.core().is_point();
        D::angle_size(self.rotation) != 0.0 && !is_round()
    }

    /// Returns the velocity of a point of the shape. `offset` is the point relative to the shape's
    /// translation at the same time.
    pub fn velocity_at(&self, time: f64, offset: D) -> D {
        let center = D::rotation(self.rotation * time) * self.pivot;
        self.translation + (offset - center).rotated_by(self.rotation)
    }
}
