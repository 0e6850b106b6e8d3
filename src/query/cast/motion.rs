//! Motions of shapes, the arguments of casts.

use bevy::transform::components::Transform;

use crate::{
    math::{Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3},
    shape::Support,
    space::{DVector, Pose, ShapePose, Space},
};

/// The largest rotation of a motion, in radians: about 1,600 turns. The work of a cast grows with
/// the number of turns, so an unbounded rotation would take unbounded time.
const MAX_ROTATION: f64 = 1e4;

/// A motion of a shape over the time from 0 to 1: a translation and a rotation, both at constant
/// velocity. The rotation is about the shape's own origin.
///
/// Any pose converts to a motion that stays there. Other motions:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query::Motion;
///
/// let thrown = Motion::linear(Vec3::ZERO, Vec3::X * 3.0).rotated(Vec3::Z * 8.0);
/// let swung = Motion::between(Quat::IDENTITY, Quat::from_rotation_y(1.0));
/// # let _ = (thrown, swung);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<V: Space> {
    start: ShapePose<V>,
    translation: V::DVec,
    rotation: <V::DVec as DVector>::Angle,
}

impl<V: Space> Motion<V> {
    /// A shape that stays in its pose.
    pub fn still(pose: impl Into<ShapePose<V>>) -> Self {
        Self {
            start: pose.into(),
            translation: V::DVec::ZERO,
            rotation: Default::default(),
        }
    }

    /// A translation without a rotation.
    pub fn linear(pose: impl Into<ShapePose<V>>, translation: V) -> Self {
        let translation = translation.to_f64();
        Self {
            translation,
            ..Self::still(pose)
        }
    }

    /// The motion from one pose to another, with a rotation of at most half a turn. In 2D, a shape
    /// that is mirrored at the start stays so. If only one of the poses mirrors it, it does not
    /// rotate.
    pub fn between(start: impl Into<ShapePose<V>>, end: impl Into<ShapePose<V>>) -> Self {
        let (start, end) = (start.into(), end.into());
        let (translation, rotation) = match (start.valid(), end.valid()) {
            (Some(from), Some(to)) => (
                to.translation - from.translation,
                V::DVec::angle_between(from.rotation, to.rotation),
            ),
            // An invalid end makes the motion invalid.
            _ => (V::DVec::ONE * f64::NAN, Default::default()),
        };
        Self {
            start,
            translation,
            rotation,
        }
    }

    /// Replaces the rotation over the whole motion, in the axes of the world: an angle in radians
    /// in 2D, and the axis times the angle in 3D. It may be more than a turn.
    #[must_use]
    pub fn rotated(self, angle: V::Angle) -> Self {
        let rotation = V::angle_to_f64(angle);
        Self { rotation, ..self }
    }

    /// Returns the pose at the start.
    pub(crate) fn start(&self) -> ShapePose<V> {
        self.start
    }

    /// Returns the pose at the start and the motion from it, or `None` if one of them is invalid.
    pub(crate) fn valid(&self) -> Option<Moving64<V::DVec>> {
        self.start.valid().zip(self.local())
    }

    /// Returns the motion without its start, or `None` if it is invalid.
    pub(crate) fn local(&self) -> Option<Motion64<V::DVec>> {
        let size = V::DVec::angle_size(self.rotation);
        let is_valid = self.translation.is_finite() && size <= MAX_ROTATION;
        is_valid.then_some(Motion64 {
            translation: self.translation,
            rotation: self.rotation,
            pivot: V::DVec::ZERO,
        })
    }
}

macro_rules! still {
    ($($pose:ident in $space:ident),*) => { $(
        impl From<$pose> for Motion<$space> {
            fn from(pose: $pose) -> Self {
                Self::still(pose)
            }
        }
    )* };
}

still! {
    Vec2 in Vec2, Rot2 in Vec2, Isometry2d in Vec2,
    Vec3 in Vec3, Quat in Vec3, Isometry3d in Vec3
}

impl<V: Space> From<Transform> for Motion<V> {
    fn from(pose: Transform) -> Self {
        Self::still(pose)
    }
}

impl<V: Space> From<&Transform> for Motion<V> {
    fn from(pose: &Transform) -> Self {
        Self::still(pose)
    }
}

impl<V: Space> From<ShapePose<V>> for Motion<V> {
    fn from(pose: ShapePose<V>) -> Self {
        Self::still(pose)
    }
}

/// A motion over the time from 0 to 1, in the axes of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion64<D: DVector> {
    pub translation: D,
    pub rotation: D::Angle,
    /// The center of the rotation at the start, relative to the shape's own translation. It moves
    /// along with the shape. Zero except for a part of a compound.
    pub pivot: D,
}

/// The pose of a shape at the start, and the motion from it.
pub type Moving64<D> = (Pose<D>, Motion64<D>);

impl<D: DVector> Motion64<D> {
    /// No motion.
    pub fn still() -> Self {
        Self::linear(D::ZERO)
    }

    /// A translation without a rotation.
    pub fn linear(translation: D) -> Self {
        Self {
            translation,
            rotation: Default::default(),
            pivot: D::ZERO,
        }
    }

    /// Returns `true` if a shape rotates. A point that rotates about itself does not.
    pub fn rotates<S>(&self, shape: &S) -> bool
    where
        S: Support<Vector: Space<DVec = D>> + ?Sized,
    {
        let is_round = || self.pivot == D::ZERO && shape.core().is_point();
        D::angle_size(self.rotation) != 0.0 && !is_round()
    }

    /// Returns the velocity of a point of the shape, given relative to the shape's translation at
    /// the same time.
    pub fn velocity_at(&self, time: f64, offset: D) -> D {
        let center = D::rotation(self.rotation * time) * self.pivot;
        self.translation + (offset - center).rotated_by(self.rotation)
    }
}
