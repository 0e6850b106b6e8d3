//! The arguments of the functions of `query`: two shapes, two colliders, or a shape and a collider.
//! The functions of `functions.rs` call [`QueryPartner::pair`], and then a method of [`QueryPair`].

use crate::{
    query::{
        CastHit, CastOptions, Contact, Distance, Manifold, Motion, Pair,
        analytic::TwoBalls,
        cast::{cast_in_world, cast_moving},
    },
    shape::{DVecOf, Support},
    space::{PoseKind, QueryPose, Space, Translation},
};

pub mod sealed {
    pub trait Sealed {}
}

/// A shape or a [`Collider`](crate::Collider).
///
/// The trait is sealed. To query a shape of your own, implement [`Support`].
#[diagnostic::on_unimplemented(
    message = "`query` does not take `{Self}`",
    label = "neither a convex shape nor a `Collider`",
    note = "a concave shape (a torus, annulus, ring, arc, polygon or polyline) is a `Collider`: \
        write `Collider::compound`, `Collider::trimesh` or `Collider::polyline`",
    note = "pass a reference to the collider itself: `&*collider` for a `Ref`, `Mut` or `Box`",
    note = "implement `Support` for a shape of your own"
)]
pub trait QueryShape: sealed::Sealed {
    /// The kind of the pose: `Vec2`, `Vec3`, or `Collider` for a collider.
    type Kind: PoseKind;
}

/// The pose of a shape or a collider.
pub type PoseOf<S> = QueryPose<<S as QueryShape>::Kind>;

/// The motion of a shape or a collider in a cast.
pub type MotionOf<S> = Motion<<S as QueryShape>::Kind>;

/// A shape or a collider that the functions of [`query`](crate::query) take together with `B`.
///
/// | first | second | vector of the results |
/// |---|---|---|
/// | a shape | a shape of the same dimension | `Vec2` or `Vec3`, as the shapes |
/// | [`Collider`](crate::Collider) | [`Collider`](crate::Collider) | `Vec3`, in 2D with z = 0 |
/// | a shape | [`Collider`](crate::Collider) | `Vec2` or `Vec3`, as the shape |
/// | [`Collider`](crate::Collider) | a shape | `Vec2` or `Vec3`, as the shape |
///
/// A shape is any type that implements [`Support`].
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
pub trait QueryPartner<B: QueryShape + ?Sized>: QueryShape {
    /// The vector type of the results.
    type Vector: Translation<Self::Kind> + Translation<B::Kind>;

    /// The type that computes the results.
    #[doc(hidden)]
    type Pair<'a>: QueryPair<Self::Vector>
    where
        Self: 'a,
        B: 'a;

    /// Returns both shapes with their motions, or `None` if a shape or a motion is invalid.
    #[doc(hidden)]
    fn pair<'a>(
        &'a self,
        motion: MotionOf<Self>,
        other: &'a B,
        other_motion: MotionOf<B>,
    ) -> Option<Self::Pair<'a>>;
}

/// Two shapes or colliders with their motions. Only casts use the motions. All other queries use
/// the poses at the start.
pub trait QueryPair<V: Space> {
    /// See [`query::intersects`](crate::query::intersects).
    fn intersects(self) -> bool;

    /// See [`query::contact`](crate::query::contact()).
    fn contact(self) -> Option<Contact<V>>;

    /// See [`query::manifold`](crate::query::manifold()).
    fn manifold(self) -> Option<Manifold<V>>;

    /// See [`query::distance`](crate::query::distance()).
    fn distance(self) -> Distance<V>;

    /// See [`query::cast_motion`](crate::query::cast_motion).
    fn cast(self, options: CastOptions) -> Option<CastHit<V>>;
}

impl<S: Support + ?Sized> sealed::Sealed for S {}

impl<S: Support + ?Sized> QueryShape for S {
    type Kind = S::Vector;
}

/// Two convex shapes with their motions.
pub struct ShapePair<'a, A: Support + ?Sized, B: ?Sized> {
    a: &'a A,
    motion_a: Motion<A::Vector>,
    b: &'a B,
    motion_b: Motion<A::Vector>,
}

// The functions are always inlined, so that a query on two primitives contains only the code for
// these primitives.
impl<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> QueryPartner<B> for A {
    type Vector = A::Vector;
    type Pair<'a>
        = ShapePair<'a, A, B>
    where
        A: 'a,
        B: 'a;

    #[inline(always)]
    fn pair<'a>(
        &'a self,
        motion_a: Motion<A::Vector>,
        b: &'a B,
        motion_b: Motion<A::Vector>,
    ) -> Option<ShapePair<'a, A, B>> {
        Some(ShapePair {
            a: self,
            motion_a,
            b,
            motion_b,
        })
    }
}

impl<'a, A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> ShapePair<'a, A, B> {
    /// Returns the result for the pair at the start, or `None` if a pose is invalid. The functions
    /// compute the result for two balls and for all other pairs: see [`TwoBalls::new`].
    #[inline(always)]
    fn solve<R>(
        self,
        of_balls: impl FnOnce(TwoBalls<DVecOf<A>>) -> Option<R>,
        of_pair: impl FnOnce(Pair<'a, A, B>) -> Option<R>,
    ) -> Option<R> {
        let [start_a, start_b] = [self.motion_a.start, self.motion_b.start];
        match TwoBalls::new(self.a, start_a.0.as_ref()?, self.b, start_b.0.as_ref()?) {
            Some(balls) => of_balls(balls),
            None => of_pair(pair(self.a, start_a, self.b, start_b)?),
        }
    }

    /// Returns the translations of the two shapes at the start.
    #[inline(always)]
    fn origins(&self) -> Option<[DVecOf<A>; 2]> {
        let [a, b] = [self.motion_a.start.0?, self.motion_b.start.0?];
        Some([a.translation, b.translation])
    }
}

impl<A, B> QueryPair<A::Vector> for ShapePair<'_, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    #[inline(always)]
    fn intersects(self) -> bool {
        self.solve(|balls| Some(balls.hit()), |pair| Some(pair.touches()))
            .unwrap_or(false)
    }

    #[inline(always)]
    fn contact(self) -> Option<Contact<A::Vector>> {
        let origins = self.origins()?;
        let contact = self.solve(|balls| balls.contact(), Pair::find_contact)?;
        Some(Contact::in_world(&contact, origins))
    }

    #[inline(always)]
    fn manifold(self) -> Option<Manifold<A::Vector>> {
        let origins = self.origins()?;
        let of_balls = |balls: TwoBalls<_>| Some(Manifold::new([balls.contact()?], origins));
        self.solve(of_balls, Pair::find_manifold)
    }

    #[inline(always)]
    fn distance(self) -> Distance<A::Vector> {
        let Some(origins) = self.origins() else {
            return Distance::infinite();
        };
        let nearest = self.solve(|balls| Some(balls.nearest()), Pair::find_distance);
        Distance::in_world(nearest, origins)
    }

    #[inline(always)]
    fn cast(self, options: CastOptions) -> Option<CastHit<A::Vector>> {
        let Self { a, b, .. } = self;
        cast_in_world(&self.motion_a, &self.motion_b, |[moving_a, moving_b]| {
            cast_moving(a, moving_a, b, moving_b, None, options)
        })
    }
}

/// Returns the pair of two shapes in the world, or `None` if a pose is invalid.
#[inline(always)]
pub(super) fn pair<'a, A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &'a A,
    pose_a: QueryPose<A::Vector>,
    b: &'a B,
    pose_b: QueryPose<A::Vector>,
) -> Option<Pair<'a, A, B>> {
    Some(Pair::new(a, pose_a.0?, b, pose_b.0?))
}
