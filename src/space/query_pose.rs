//! The pose argument of queries.

use core::fmt::Debug;

use bevy::transform::components::Transform;

use crate::{
    math::{Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3},
    space::{DVector, Pose, Space},
};

/// The position and rotation of a shape or a [`Collider`](crate::Collider) in a query.
///
/// `K` is `Vec2` or `Vec3` for a shape of this dimension, and `Collider` for a collider. All
/// queries take `impl Into<QueryPose<K>>`. These types convert to it:
///
/// | 2D shape | 3D shape | collider | |
/// |---|---|---|---|
/// | `Vec2` | `Vec3` | both | a translation |
/// | `Rot2` | `Quat` | both | a rotation |
/// | `Isometry2d` | `Isometry3d` | both | a translation and a rotation |
/// | `Transform` | `Transform` | `Transform` | the same; by value or by reference |
/// | | | `GlobalTransform` | after all ancestors; by value or by reference |
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// let player = Transform::from_xyz(1.5, 0.0, 0.0).with_scale(Vec3::splat(3.0));
/// let (a, b) = (Circle::new(1.0), Circle::new(1.0));
/// assert_eq!(query::contact(&a, player, &b, Vec2::ZERO).unwrap().depth, 0.5);
/// // Only the collider is scaled.
/// assert_eq!(query::contact(&Collider::from(a), player, &b, Vec2::ZERO).unwrap().depth, 2.5);
/// ```
///
/// # Transforms
///
/// * **Scale** counts for a collider, as for an entity with this `Transform`. A shape ignores it,
///   as Bevy's `Transform::to_isometry` does: scale the shape instead.
/// * **2D** ignores z. A half turn about x, y or any other axis in the xy plane maps that plane to
///   itself: it mirrors a 2D shape, as a sprite that `Quat::from_rotation_y(PI)` flips.
/// * **Other rotations about x or y** tilt the xy plane, and shorten a 2D collider, as seen along
///   z. A 2D shape in such a pose touches nothing, if the tilt exceeds 3.5e-4 radians.
/// * **A 2D pose** of a 3D collider is in the plane z = 0.
/// * **Children:** A `Transform` is relative to the parent of its entity. For entities with
///   parents, use the `GlobalTransform`. Bevy updates it once a frame in `PostUpdate`, in f32, so
///   that it may be a frame old. The plugin itself composes the `Transform`s in f64.
///
/// # Invalid poses
///
/// A pose with a NaN or an infinity, or with a rotation of length 0, touches nothing.
#[derive(Debug)]
pub struct QueryPose<K: PoseKind>(pub(crate) K::Source);

// A derive would require a `K` that is `Copy`.
impl<K: PoseKind> Copy for QueryPose<K> {}

impl<K: PoseKind> Clone for QueryPose<K> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The kind of a [`QueryPose`]. `Vec2` and `Vec3` stand for shapes of this dimension, and
/// [`Collider`](crate::Collider) stands for colliders.
///
/// The trait is sealed.
pub trait PoseKind: sealed::Sealed + Debug {
    /// The vector of motions: `Vec3` for colliders.
    type Vector: Space;

    /// The pose as it is stored.
    #[doc(hidden)]
    type Source: Copy + Debug;

    /// Returns the pose without scale, or `None` if it is invalid.
    #[doc(hidden)]
    fn unscaled(source: &Self::Source) -> Option<Pose<<Self::Vector as Space>::DVec>>;
}

pub mod sealed {
    pub trait Sealed {}
    impl<V: super::Space> Sealed for V {}
}

impl<V: Space> PoseKind for V {
    type Vector = V;
    type Source = Option<Pose<V::DVec>>;

    #[inline(always)]
    fn unscaled(source: &Self::Source) -> Option<Pose<V::DVec>> {
        *source
    }
}

/// The translation in a [`Motion`](crate::query::Motion): the vector of a shape, and `Vec2` or
/// `Vec3` for a collider.
pub trait Translation<K: PoseKind>: Space {
    /// Converts the translation to the vector of the motion.
    #[doc(hidden)]
    fn to_vector(self) -> K::Vector;
}

impl<V: Space> Translation<V> for V {
    #[inline(always)]
    fn to_vector(self) -> V {
        self
    }
}

macro_rules! isometries {
    ($($source:ident in $space:ident: $isometry:ident),*) => { $(
        impl From<$source> for QueryPose<$space> {
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

impl<V: Space> From<Transform> for QueryPose<V> {
    fn from(transform: Transform) -> Self {
        let translation = V::projected(transform.translation).to_f64();
        let rotation = V::DVec::rotation_of(transform.rotation.as_dquat());
        Self(Pose::new(rotation, translation))
    }
}

impl<K: PoseKind> From<&Transform> for QueryPose<K>
where
    Self: From<Transform>,
{
    fn from(transform: &Transform) -> Self {
        Self::from(*transform)
    }
}
