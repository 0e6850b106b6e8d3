//! The operations that differ between 2D and 3D.
//!
//! **The vector type selects the dimension.** [`Vec2`] and [`Vec3`] implement [`Space`]. Code that
//! works in both dimensions (the Minkowski difference, GJK, the loop of EPA, the pipeline) is
//! generic over [`Space`]. Only this folder has a file for each dimension: the vector arithmetic
//! (`dim2.rs`, `dim3.rs`) and the polytope that EPA grows (`polytope2.rs`, `polytope3.rs`).
//!
//! | file | contents |
//! |---|---|
//! | `vector.rs` | [`DVector`], the `f64` vector |
//! | `mod.rs` | [`Space`], and [`QueryPose`], the pose argument of queries |
//! | `pose.rs` | poses in `f64` |
//! | `simplex.rs` | the point of a simplex nearest to the origin |
//! | `polytope.rs` | [`Polytope`], which EPA grows |
//! | `shortest_translation.rs`, `translation_search.rs` | translations that clear planes |
//!
//! **The solver computes in `f64`.** Shapes, poses and results are `f32`. [`Space::DVec`] is the
//! `f64` vector for all computations of the results. In `f32`, the squares and triple products of
//! GJK and EPA would lose all digits if the shapes nearly touch. `f64` has 29 more bits of
//! precision than the input.

mod dim2;
mod dim3;
mod polytope;
mod polytope2;
mod polytope3;
mod pose;
pub mod shortest_translation;
pub mod simplex;
pub mod translation_search;
mod vector;

use core::fmt::Debug;

use bevy::transform::components::Transform;

use crate::math::{Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3};
pub use polytope::{EpaEnd, Polytope, PolytopeFacet};
pub use pose::Pose;
pub use vector::DVector;

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::math::Vec2 {}
    impl Sealed for crate::math::Vec3 {}
}

/// A space of two or three dimensions: [`Vec2`] or [`Vec3`].
///
/// The trait is sealed. A [`Support`](crate::Support) names its space, so the compiler ensures that
/// both shapes of a query have the same dimension. The support function of a custom shape computes
/// with `DVec2` in 2D, and with `DVec3` in 3D.
pub trait Space:
    sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static
{
    /// The `f64` vector of queries: [`DVec2`](crate::math::DVec2) or [`DVec3`](crate::math::DVec3).
    type DVec: DVector;

    /// The pose of a shape: [`Isometry2d`] or [`Isometry3d`].
    type Isometry: Copy + Debug + Send + Sync + Into<QueryPose<Self>> + 'static;

    /// A rotation about the origin, of any number of turns: the angle in radians in 2D, and the
    /// axis times the angle in 3D.
    type Angle: Copy + Debug + Default + PartialEq + Send + Sync + 'static;

    /// The position of a cell in a [`CellGrid`](crate::CellGrid): `IVec2` or `IVec3`.
    type CellPosition: Copy + Debug + PartialEq + Eq + Send + Sync + 'static;

    /// Converts the vector exactly to `f64`.
    fn to_f64(self) -> Self::DVec;

    /// Returns the coordinates of a cell. In 2D, the third coordinate is 0.
    #[doc(hidden)]
    fn position_to_array(position: Self::CellPosition) -> [i32; 3];

    /// Returns the position with these coordinates. In 2D, the third coordinate is ignored.
    #[doc(hidden)]
    fn position_of(coordinates: [i32; 3]) -> Self::CellPosition;

    /// Converts a rotation exactly to `f64`.
    #[doc(hidden)]
    fn angle_to_f64(angle: Self::Angle) -> <Self::DVec as DVector>::Angle;

    /// Returns the nearest `f32` vector. Negative zeros become positive, so that users never see
    /// -0.
    #[doc(hidden)]
    fn from_f64(vector: Self::DVec) -> Self;

    /// Returns `true` if no component is NaN or infinite.
    fn is_finite(self) -> bool {
        self.to_f64().is_finite()
    }

    /// Returns the vector as a `Vec3`. In 2D, z is 0.
    #[doc(hidden)]
    fn to_vec3(self) -> Vec3 {
        self.to_f64()
            .components()
            .map(|component| component as f32)
            .into()
    }

    /// Projects a vector to this space. In 2D, z is ignored. Every zero in the result is positive:
    /// see [`pose`](Self::pose).
    #[doc(hidden)]
    fn projected(vector: Vec3) -> Self {
        Self::from_f64(DVector::of(vector.to_f64().into()))
    }

    /// Returns the pose in `f64` with an orthonormal rotation. Returns `None` if a component is not
    /// finite or the rotation is zero.
    ///
    /// Every zero in the pose is positive (-0 + 0 is 0). So poses that compare as equal are equal
    /// bit for bit. Equal poses then lead to the same order of a pair and the same choice among
    /// equal candidates.
    #[doc(hidden)]
    fn pose(isometry: Self::Isometry) -> Option<Pose<Self::DVec>>;

    /// Returns the nearest pose in `f32`.
    #[doc(hidden)]
    fn nearest_isometry(pose: &Pose<Self::DVec>) -> Self::Isometry;
}

/// The position and rotation of a shape or a [`Collider`](crate::Collider) in a query.
///
/// `K` is `Vec2` for a 2D shape, `Vec3` for a 3D shape, and `Collider` for a collider. All queries
/// take `impl Into<QueryPose<K>>`. These types convert to `QueryPose`:
///
/// | 2D shape | 3D shape | collider | |
/// |---|---|---|---|
/// | `Vec2` | `Vec3` | both | a translation |
/// | `Rot2` | `Quat` | both | a rotation |
/// | `Isometry2d` | `Isometry3d` | both | a translation and a rotation |
/// | `Transform` | `Transform` | `Transform` | also a collider's scale; by value or reference |
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
/// * **Scale** applies to a collider, as for an entity with this `Transform`. A shape ignores the
///   scale of its pose, as Bevy's `Transform::to_isometry` does: scale the shape instead.
/// * **2D shapes and colliders** ignore z. A half turn about x, y or any other axis in the xy plane
///   maps that plane to itself. Such a turn mirrors a 2D shape, like a sprite that
///   `Quat::from_rotation_y(PI)` flips.
/// * **Other rotations about x or y** tilt the xy plane, and shorten a 2D collider, as seen along
///   z. If the tilt exceeds 3.5e-4 radians, a 2D shape touches nothing.
/// * **A 2D pose** places a 3D collider in the plane z = 0.
/// * **Children:** A `Transform` is relative to the parent of its entity. For entities with
///   parents, use the `GlobalTransform`. Bevy updates `GlobalTransform` once a frame in
///   `PostUpdate`, in f32, so the pose may be a frame old. The plugin itself composes the
///   `Transform`s in f64.
///
/// # Invalid poses
///
/// A pose with a NaN or an infinity, or with a rotation of length 0, touches nothing.
#[derive(Debug)]
pub struct QueryPose<K: PoseKind>(pub(crate) K::Source);

// A derived implementation would require `K` to be `Copy`.
impl<K: PoseKind> Copy for QueryPose<K> {}

impl<K: PoseKind> Clone for QueryPose<K> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The kind of a [`QueryPose`]. `Vec2` stands for 2D shapes, `Vec3` for 3D shapes, and
/// [`Collider`](crate::Collider) for colliders.
///
/// The trait is sealed.
pub trait PoseKind: pose_sealed::Sealed + Debug {
    /// The vector type of motions: the shape's own vector type, and `Vec3` for colliders.
    type Vector: Space;

    /// The stored form of the pose.
    #[doc(hidden)]
    type Source: Copy + Debug;

    /// Returns the pose without scale, or `None` if it is invalid.
    #[doc(hidden)]
    fn unscaled(source: &Self::Source) -> Option<Pose<<Self::Vector as Space>::DVec>>;
}

pub mod pose_sealed {
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

/// A type for the translation in a [`Motion`](crate::query::Motion). A 2D shape takes a `Vec2`, a
/// 3D shape a `Vec3`, and a collider takes either type.
pub trait Translation<K: PoseKind>: Space {
    /// Converts the translation to the vector type of the motion. For a collider, the z of a `Vec2`
    /// becomes 0.
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
    ($space:ident: $($source:ident),*) => { $(
        impl From<$source> for QueryPose<$space> {
            #[inline(always)]
            fn from(source: $source) -> Self {
                Self($space::pose(source.into()))
            }
        }
    )* };
}

isometries!(Vec2: Isometry2d, Vec2, Rot2);
isometries!(Vec3: Isometry3d, Vec3, Quat);

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
