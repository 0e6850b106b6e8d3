//! The pose argument of queries.

use bevy::transform::components::Transform;

use crate::{
    math::{Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3},
    space::{Pose, Space},
};

/// The position and rotation of a shape in a query.
///
/// All functions of [`query`](crate::query) take `impl Into<ShapePose<V>>`, where V is `Vec2` or
/// `Vec3`. These types convert to it:
///
/// | 2D | 3D | |
/// |---|---|---|
/// | `Vec2` | `Vec3` | a translation |
/// | `Rot2` | `Quat` | a rotation |
/// | `Isometry2d` | `Isometry3d` | both |
/// | `Transform` | `Transform` | both, without its scale; by value or by reference |
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let player = Transform::from_xyz(1.5, 0.0, 0.0);
/// let (a, b) = (Circle::new(1.0), Circle::new(1.0));
/// assert_eq!(query::contact(&a, player, &b, Vec2::ZERO).unwrap().depth, 0.5);
/// ```
///
/// # Transforms
///
/// The scale of a `Transform` is ignored, as in Bevy's `Transform::to_isometry`: scale the shape
/// instead. In 2D, z is ignored. A `Transform` is relative to its parent, so both transforms of a
/// query need the same parent, or no parent.
///
/// A half turn about x, y or any other axis in the xy plane maps that plane to itself: it mirrors a
/// 2D shape, as a sprite that `Quat::from_rotation_y(PI)` flips.
///
/// # Invalid poses
///
/// A pose with a NaN or an infinity, or with a rotation of length 0, touches nothing. In 2D, the
/// same holds for a `Transform` that tilts the xy plane, by more than 3.5e-4 radians: seen along z,
/// it scales the shape. (A [`Collider`](crate::Collider) in such a pose is scaled accordingly.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapePose<V: Space>(Option<Pose<V::DVec>>);

impl<V: Space> ShapePose<V> {
    /// Returns the pose in f64, or `None` if it is invalid.
    #[inline(always)]
    pub(crate) fn valid(self) -> Option<Pose<V::DVec>> {
        self.0
    }
}

macro_rules! isometries {
    ($($source:ident in $space:ident: $isometry:ident),*) => { $(
        impl From<$source> for ShapePose<$space> {
            #[inline(always)]
            fn from(source: $source) -> Self {
                Self($space::pose($isometry::from(source)))
            }
        }
    )* };
}

isometries! {
    Isometry2d in Vec2: Isometry2d,
    Vec2 in Vec2: Isometry2d,
    Rot2 in Vec2: Isometry2d,
    Isometry3d in Vec3: Isometry3d,
    Vec3 in Vec3: Isometry3d,
    Quat in Vec3: Isometry3d
}

impl<V: Space> From<Transform> for ShapePose<V> {
    fn from(transform: Transform) -> Self {
        let translation = V::projected(transform.translation);
        let rotation = V::rotation_of(transform.rotation.as_dquat());
        let rotation = rotation.filter(|_| translation.is_finite());
        Self(rotation.map(|rotation| Pose {
            rotation,
            translation: translation.to_f64(),
        }))
    }
}

impl<V: Space> From<&Transform> for ShapePose<V> {
    fn from(transform: &Transform) -> Self {
        Self::from(*transform)
    }
}
