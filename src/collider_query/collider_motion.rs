//! The motion argument of colliders in casts.

use crate::{
    collider_query::ColliderPose,
    math::{DVec3, Vec3},
    query::{Motion, Motion64},
    shape::Dimension,
    space::{DVector, Space},
};
use bevy::transform::components::Transform;

/// A motion of a [`Collider`](crate::Collider) over the time from 0 to 1: a translation and a
/// rotation, both at constant velocity. The rotation is about the collider's origin.
///
/// Any [`ColliderPose`] converts to a motion that stays there. Other motions:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// let thrown = ColliderMotion::linear(Vec3::ZERO, Vec3::X * 3.0).rotated(Vec3::Z * 8.0);
/// let pushed = ColliderMotion::linear(Transform::from_xyz(0.0, 1.0, 0.0), Vec2::X);
/// let door = Transform::from_xyz(2.0, 0.0, 0.0);
/// let swung = ColliderMotion::between(door, door.with_rotation(Quat::from_rotation_y(1.5)));
/// # let _ = (thrown, pushed, swung);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ColliderMotion {
    start: ColliderPose,
    pub(crate) translation: Vec3,
    pub(crate) rotation: Vec3,
}

impl ColliderMotion {
    /// A collider that stays in its pose.
    pub fn still(pose: impl Into<ColliderPose>) -> Self {
        Self::linear(pose, Vec3::ZERO)
    }

    /// A translation without a rotation. The translation is a `Vec2` or a `Vec3`.
    pub fn linear<V: Dimension>(pose: impl Into<ColliderPose>, translation: V) -> Self {
        Self {
            start: pose.into(),
            translation: translation.to_vec3(),
            rotation: Vec3::ZERO,
        }
    }

    /// Returns the motion from one pose to another, with a rotation of at most half a turn. The
    /// scale is the scale of the start. In 2D, the start also determines the mirroring by a half
    /// turn about x or y.
    pub fn between(start: Transform, end: Transform) -> Self {
        let [from, to] = [start, end].map(|pose| Vec3::rotation_of(pose.rotation.as_dquat()));
        // An invalid rotation makes the motion invalid.
        let rotation = from.zip(to).map_or(Vec3::NAN, |(from, to)| {
            Vec3::from_f64(<DVec3 as DVector>::angle_between(from, to))
        });
        Self::linear(start, end.translation - start.translation).rotated(rotation)
    }

    /// Replaces the rotation over the whole motion, in the axes of the world: the axis times the
    /// angle in radians. The angle may exceed a full turn. In 2D, z is the angle.
    #[must_use]
    pub fn rotated(self, rotation: Vec3) -> Self {
        Self { rotation, ..self }
    }

    /// Returns the pose at the start.
    pub(crate) fn start(&self) -> &ColliderPose {
        &self.start
    }

    /// Returns the motion without its start in a space, or `None` if it is invalid.
    pub(crate) fn local<V: Space>(&self) -> Option<Motion64<V::DVec>> {
        Motion::<V>::linear(Transform::IDENTITY, V::projected(self.translation))
            .rotated(V::angle_of(self.rotation))
            .local()
    }
}

impl<P: Into<ColliderPose>> From<P> for ColliderMotion {
    fn from(pose: P) -> Self {
        Self::still(pose)
    }
}
