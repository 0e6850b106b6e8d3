//! The pose argument of colliders.

use bevy::transform::components::{GlobalTransform, Transform};

use crate::{
    math::{DMat3, DVec3, Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3},
    shape::{Affine, WorldPose},
    space::{DVector, ShapePose, Space},
};

/// The pose of a [`Collider`](crate::Collider) in a query: made from whatever holds one.
///
/// | | |
/// |---|---|
/// | `Vec2`, `Vec3` | a translation |
/// | `Rot2`, `Quat` | a rotation |
/// | `Isometry2d`, `Isometry3d` | both |
/// | `Transform` | both, with scale; by value or by reference |
/// | `GlobalTransform` | the same, after all ancestors; by value or by reference |
///
/// A collider in a pose is the collider of an entity with that `Transform`: the scale counts, and a
/// 2D collider ignores z. A 3D collider with a 2D pose is in the plane z = 0.
///
/// A 2D collider that is rotated about x or y is seen along z: a half turn mirrors it, and any
/// other tilt shortens it.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// let (ball, wall) = (Collider::sphere(1.0), Collider::half_space(Vec3::X));
/// let pose = Transform::from_xyz(2.5, 0.0, 0.0).with_scale(Vec3::splat(3.0));
/// assert_eq!(query::contact(&wall, Vec3::ZERO, &ball, pose).unwrap().depth, 0.5);
/// ```
///
/// # Children
///
/// A `Transform` is relative to the parent of its entity. For entities with parents, use the
/// `GlobalTransform`. Bevy updates it once a frame in `PostUpdate`, in f32, so that it may be a
/// frame old. The plugin itself composes the `Transform`s in f64.
///
/// # Invalid poses
///
/// A collider touches nothing if its pose has a NaN or an infinity, or a rotation of length 0.
#[derive(Clone, Copy, Debug)]
pub struct ColliderPose(Source);

#[derive(Clone, Copy, Debug)]
enum Source {
    Transform(Transform),
    /// A rotation about z and a translation.
    Planar(Affine<DVec3>),
    /// A map that was computed in f32.
    Global(Affine<DVec3>),
}

impl ColliderPose {
    /// Returns the pose in a space, or `None` if it is invalid.
    pub(crate) fn world_pose<V: Space>(&self) -> Option<WorldPose<V::DVec>> {
        match &self.0 {
            Source::Transform(transform) => WorldPose::from_transform::<V>(transform),
            Source::Planar(affine) => {
                let (rotation, translation) = V::restrict(affine.linear, affine.translation);
                let pose = crate::space::Pose {
                    rotation,
                    translation,
                };
                translation.is_finite().then(|| WorldPose::from_pose(&pose))
            }
            Source::Global(affine) => WorldPose::from_affine_f32::<V>(affine),
        }
    }
}

impl From<Transform> for ColliderPose {
    fn from(transform: Transform) -> Self {
        Self(Source::Transform(transform))
    }
}

impl From<Vec3> for ColliderPose {
    fn from(translation: Vec3) -> Self {
        Transform::from_translation(translation).into()
    }
}

impl From<Quat> for ColliderPose {
    fn from(rotation: Quat) -> Self {
        Transform::from_rotation(rotation).into()
    }
}

impl From<Isometry3d> for ColliderPose {
    fn from(isometry: Isometry3d) -> Self {
        let translation = Vec3::from(isometry.translation);
        Transform::from_translation(translation)
            .with_rotation(isometry.rotation)
            .into()
    }
}

impl From<Isometry2d> for ColliderPose {
    fn from(isometry: Isometry2d) -> Self {
        let pose = ShapePose::<Vec2>::from(isometry).valid();
        let affine = pose.map(|pose| Affine {
            linear: DMat3::from_cols(
                pose.rotation.x_axis.extend(0.0),
                pose.rotation.y_axis.extend(0.0),
                DVec3::Z,
            ),
            translation: pose.translation.extend(0.0),
        });
        Self(Source::Planar(affine.unwrap_or(Affine {
            linear: DMat3::NAN,
            translation: DVec3::NAN,
        })))
    }
}

impl From<GlobalTransform> for ColliderPose {
    fn from(transform: GlobalTransform) -> Self {
        let affine = transform.affine();
        let [x, y, z] = [0, 1, 2].map(|index| affine.matrix3.col(index).as_dvec3());
        Self(Source::Global(Affine {
            linear: DMat3::from_cols(x, y, z),
            translation: affine.translation.as_dvec3(),
        }))
    }
}

macro_rules! by_conversion {
    ($($source:ty => |$it:ident| $conversion:expr),*) => { $(
        impl From<$source> for ColliderPose {
            fn from($it: $source) -> Self {
                Self::from($conversion)
            }
        }
    )* };
}

by_conversion! {
    &Transform => |transform| *transform,
    &GlobalTransform => |transform| *transform,
    Vec2 => |translation| Isometry2d::from(translation),
    Rot2 => |rotation| Isometry2d::from(rotation)
}
