//! What the functions of `query` take: two shapes, or colliders.

use crate::{
    query::{
        CastHit, CastOptions, Contact, Distance, Manifold, Motion, Pair, Solver,
        cast::cast_motion_of_shapes,
    },
    shape::{DVecOf, Support},
    space::{Pose, ShapePose, Space},
};

pub mod sealed {
    pub trait Sealed {}
}

/// A shape or a collider that [`query`](crate::query) can compare with `B`.
///
/// | first | second | vector of the results |
/// |---|---|---|
/// | a shape | a shape of the same dimension | `Vec2` or `Vec3`, as the shapes |
/// | [`Collider`](crate::Collider) | [`Collider`](crate::Collider) | `Vec3`, in 2D with z = 0 |
/// | a shape | [`Collider`](crate::Collider) | `Vec2` or `Vec3`, as the shape |
/// | [`Collider`](crate::Collider) | a shape | `Vec2` or `Vec3`, as the shape |
///
/// A shape is a [`Support`]. Its pose is a [`ShapePose`]. The pose of a collider is a
/// [`ColliderPose`](crate::ColliderPose). In casts, a [`Motion`] and a
/// [`ColliderMotion`](crate::ColliderMotion) take their place.
///
/// The trait is sealed. To query a shape of your own, implement [`Support`].
#[diagnostic::on_unimplemented(
    message = "`query` cannot compare `{Self}` with `{B}`",
    label = "each must be a convex shape or a `Collider`, both of the same dimension",
    note = "2D shapes are compared with 2D shapes, and 3D shapes with 3D shapes",
    note = "a concave shape (a torus, annulus, ring, arc, polygon or polyline) is a `Collider`: \
        write `Collider::compound`, `Collider::trimesh` or `Collider::polyline`",
    note = "pass a reference to the collider itself: `&*collider` for a `Ref`, `Mut` or `Box`",
    note = "implement `Support` for a shape of your own"
)]
pub trait QueryPartner<B: ?Sized>: sealed::Sealed {
    /// The vector of the results.
    type Vector: Space;

    /// The pose of this shape: [`ShapePose`] or [`ColliderPose`](crate::ColliderPose).
    type Pose;

    /// The pose of the other shape.
    type OtherPose;

    /// The motion of this shape in a cast: [`Motion`] or
    /// [`ColliderMotion`](crate::ColliderMotion).
    type Motion;

    /// The motion of the other shape.
    type OtherMotion;

    /// Returns a motion of this shape without a rotation.
    #[doc(hidden)]
    fn motion(pose: Self::Pose, translation: Self::Vector) -> Self::Motion;

    /// Returns a motion of the other shape without a rotation.
    #[doc(hidden)]
    fn other_motion(pose: Self::OtherPose, translation: Self::Vector) -> Self::OtherMotion;

    /// See [`query::cast_motion`](crate::query::cast_motion).
    #[doc(hidden)]
    fn cast_motion(
        &self,
        motion: Self::Motion,
        other: &B,
        other_motion: Self::OtherMotion,
        options: CastOptions,
    ) -> Option<CastHit<Self::Vector>>;

    /// See [`query::intersects`](crate::query::intersects).
    #[doc(hidden)]
    fn intersects(&self, pose: Self::Pose, other: &B, other_pose: Self::OtherPose) -> bool;

    /// See [`query::contact`](crate::query::contact).
    #[doc(hidden)]
    fn contact(
        &self,
        pose: Self::Pose,
        other: &B,
        other_pose: Self::OtherPose,
    ) -> Option<Contact<Self::Vector>>;

    /// See [`query::manifold`](crate::query::manifold()).
    #[doc(hidden)]
    fn manifold(
        &self,
        pose: Self::Pose,
        other: &B,
        other_pose: Self::OtherPose,
    ) -> Option<Manifold<Self::Vector>>;

    /// See [`query::distance`](crate::query::distance).
    #[doc(hidden)]
    fn distance(
        &self,
        pose: Self::Pose,
        other: &B,
        other_pose: Self::OtherPose,
    ) -> Distance<Self::Vector>;
}

impl<S: Support + ?Sized> sealed::Sealed for S {}

// Always inlined, so that a query on two primitives contains only the code for these primitives.
impl<A, B> QueryPartner<B> for A
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    type Vector = A::Vector;
    type Pose = ShapePose<A::Vector>;
    type OtherPose = ShapePose<A::Vector>;
    type Motion = Motion<A::Vector>;
    type OtherMotion = Motion<A::Vector>;

    fn motion(pose: Self::Pose, translation: A::Vector) -> Self::Motion {
        Motion::linear(pose, translation)
    }

    fn other_motion(pose: Self::OtherPose, translation: A::Vector) -> Self::OtherMotion {
        Motion::linear(pose, translation)
    }

    fn cast_motion(
        &self,
        motion: Self::Motion,
        other: &B,
        other_motion: Self::OtherMotion,
        options: CastOptions,
    ) -> Option<CastHit<A::Vector>> {
        cast_motion_of_shapes(self, motion, other, other_motion, options)
    }

    #[inline(always)]
    fn intersects(&self, pose: Self::Pose, other: &B, other_pose: Self::OtherPose) -> bool {
        pair(self, pose, other, other_pose).is_some_and(|pair| Solver::new(pair).hit())
    }

    #[inline(always)]
    fn contact(
        &self,
        pose: Self::Pose,
        other: &B,
        other_pose: Self::OtherPose,
    ) -> Option<Contact<A::Vector>> {
        let mut solver = Solver::new(pair(self, pose, other, other_pose)?);
        solver.hit().then(|| solver.contact_in_world())
    }

    #[inline(always)]
    fn manifold(
        &self,
        pose: Self::Pose,
        other: &B,
        other_pose: Self::OtherPose,
    ) -> Option<Manifold<A::Vector>> {
        let mut solver = Solver::new(pair(self, pose, other, other_pose)?);
        solver.hit().then(|| solver.manifold_in_world())
    }

    #[inline(always)]
    fn distance(
        &self,
        pose: Self::Pose,
        other: &B,
        other_pose: Self::OtherPose,
    ) -> Distance<A::Vector> {
        match pair(self, pose, other, other_pose) {
            Some(pair) => Solver::new(pair).distance_in_world(),
            None => Distance::infinite(),
        }
    }
}

/// Returns the pair of two shapes in the world, or `None` if a pose is invalid.
#[inline(always)]
pub(super) fn pair<'a, A, B>(
    a: &'a A,
    pose_a: ShapePose<A::Vector>,
    b: &'a B,
    pose_b: ShapePose<A::Vector>,
) -> Option<Pair<'a, A, B>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let pose_a: Pose<DVecOf<A>> = pose_a.valid()?;
    Some(Pair::new(a, pose_a, b, pose_b.valid()?))
}
