//! The operations that differ between 2D and 3D.
//!
//! **The vector type selects the dimension.** [`Vec2`](crate::math::Vec2) and
//! [`Vec3`](crate::math::Vec3) implement [`Space`]. Code that holds in both dimensions (the
//! Minkowski difference, GJK, the loop of EPA, the pipeline) is generic over [`Space`]. Only this
//! folder has a file for each dimension: the vector arithmetic (`dim2.rs`, `dim3.rs`) and the
//! polytope that EPA grows (`polytope2.rs`, `polytope3.rs`).
//!
//! | file | contents |
//! |---|---|
//! | `vector.rs` | [`DVector`], the `f64` vector |
//! | `pose.rs`, `query_pose.rs` | poses in `f64`, and the pose argument of queries |
//! | `simplex.rs` | the point of a simplex nearest to the origin |
//! | `polytope.rs` | [`Polytope`], which EPA grows |
//! | `shortest_translation.rs`, `translation_search.rs` | translations that clear planes |
//!
//! **The solver computes in `f64`.** Shapes, poses and results are `f32`. [`Space::DVec`] is the
//! `f64` vector for all computations in between. In `f32`, the squares and triple products of GJK
//! and EPA would lose all digits if the shapes nearly touch. `f64` has 29 bits more than the input.

mod dim2;
mod dim3;
mod polytope;
mod polytope2;
mod polytope3;
mod pose;
mod query_pose;
pub mod shortest_translation;
pub mod simplex;
pub mod translation_search;
mod vector;

use core::fmt::Debug;

use crate::math::Vec3;
pub use polytope::{EpaEnd, Polytope, PolytopeFacet};
pub use pose::Pose;
pub use query_pose::{PoseKind, QueryPose, Translation, sealed as pose_sealed};
pub use vector::DVector;

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::math::Vec2 {}
    impl Sealed for crate::math::Vec3 {}
}

/// A space of two or three dimensions: [`Vec2`](crate::math::Vec2) or [`Vec3`].
///
/// The trait is sealed. A [`Support`](crate::Support) names its space, so the compiler ensures that
/// both shapes of a query have the same dimension. A custom shape uses `Vec2` with `DVec2`, or
/// `Vec3` with `DVec3`.
pub trait Space:
    sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static
{
    /// The `f64` vector of queries: [`DVec2`](crate::math::DVec2) or [`DVec3`](crate::math::DVec3).
    type DVec: DVector;

    /// The pose of a shape: [`Isometry2d`](crate::math::Isometry2d) or
    /// [`Isometry3d`](crate::math::Isometry3d).
    type Isometry: Copy + Debug + Send + Sync + Into<QueryPose<Self>> + 'static;

    /// A rotation about the origin, of any number of turns: the angle in radians in 2D, and the
    /// axis times the angle in 3D.
    type Angle: Copy + Debug + Default + PartialEq + Send + Sync + 'static;

    /// Converts the vector to `f64`, exactly.
    fn to_f64(self) -> Self::DVec;

    /// Converts a rotation to `f64`, exactly.
    #[doc(hidden)]
    fn angle_to_f64(angle: Self::Angle) -> <Self::DVec as DVector>::Angle;

    /// Returns the nearest `f32` vector. Negative zeros become positive, so that users never see
    /// -0.
    #[doc(hidden)]
    fn from_f64(vector: Self::DVec) -> Self;

    /// Returns `true` if no component is NaN or infinite.
    #[inline]
    fn is_finite(self) -> bool {
        self.to_f64().is_finite()
    }

    /// Returns the vector in 3D. In 2D, its z is 0.
    #[doc(hidden)]
    #[inline]
    fn to_vec3(self) -> Vec3 {
        self.to_f64()
            .components()
            .map(|component| component as f32)
            .into()
    }

    /// Projects a vector to this space. In 2D, z is ignored.
    /// Every zero is positive: see [`pose`](Self::pose).
    #[doc(hidden)]
    #[inline]
    fn projected(vector: Vec3) -> Self {
        Self::from_f64(DVector::of(vector.to_f64().into()))
    }

    /// Returns the pose in `f64` with an orthonormal rotation. Returns `None` if a component is not
    /// finite or the rotation is zero.
    ///
    /// Every zero in the pose is positive (-0 + 0 is 0). So poses that compare as equal are equal
    /// bit for bit. They give the same order of a pair and the same choice among equals.
    #[doc(hidden)]
    fn pose(isometry: Self::Isometry) -> Option<Pose<Self::DVec>>;

    /// Returns the nearest pose in `f32`.
    #[doc(hidden)]
    fn nearest_isometry(pose: &Pose<Self::DVec>) -> Self::Isometry;
}
