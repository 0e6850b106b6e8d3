//! Colliders as arguments of [`query`](crate::query).

use crate::{
    Collider,
    collider_query::{
        ColliderMotion, ColliderPose,
        cast::cast_in_world,
        pair::{contact_in_world, distance_in_world, intersects, manifold_in_world},
        place::{AnyPlaced, place},
        ray::ray_at_collider,
    },
    math::{Vec2, Vec3},
    placed::{DynPart, Placed, PlacedCollider},
    query::{
        CastHit, CastOptions, Contact, Distance, LinearMotion, Manifold, Motion, QueryPair,
        QueryPartner, Ray, RayHit, RayTarget, sealed,
    },
    shape::{ColliderShape, DVecOf, Dimension, Support},
    space::{Pose, ShapePose, Space},
};

impl sealed::Sealed for Collider {}

impl<V: Dimension> LinearMotion<ColliderPose, V> for ColliderMotion {
    fn from_pose(pose: ColliderPose, translation: V) -> Self {
        Self::linear(pose, translation)
    }
}

impl QueryPartner<Collider> for Collider {
    type Vector = Vec3;
    type Pose = ColliderPose;
    type OtherPose = ColliderPose;
    type Motion = ColliderMotion;
    type OtherMotion = ColliderMotion;
    type Pair<'a> = ColliderPair;

    fn pair(
        &self,
        motion: ColliderMotion,
        other: &Self,
        other_motion: ColliderMotion,
    ) -> Option<ColliderPair> {
        Some(ColliderPair {
            colliders: [
                AnyPlaced::new(self, *motion.start())?,
                AnyPlaced::new(other, *other_motion.start())?,
            ],
            motions: [motion, other_motion],
        })
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> QueryPartner<Collider> for S {
    type Vector = S::Vector;
    type Pose = ShapePose<S::Vector>;
    type OtherPose = ColliderPose;
    type Motion = Motion<S::Vector>;
    type OtherMotion = ColliderMotion;
    type Pair<'a>
        = MixedPair<'a, S>
    where
        S: 'a;

    fn pair<'a>(
        &'a self,
        motion: Self::Motion,
        other: &Collider,
        other_motion: ColliderMotion,
    ) -> Option<MixedPair<'a, S>> {
        MixedPair::new((self, motion), (other, other_motion), true)
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> QueryPartner<S> for Collider {
    type Vector = S::Vector;
    type Pose = ColliderPose;
    type OtherPose = ShapePose<S::Vector>;
    type Motion = ColliderMotion;
    type OtherMotion = Motion<S::Vector>;
    type Pair<'a>
        = MixedPair<'a, S>
    where
        S: 'a;

    fn pair<'a>(
        &'a self,
        motion: ColliderMotion,
        other: &'a S,
        other_motion: Self::OtherMotion,
    ) -> Option<MixedPair<'a, S>> {
        MixedPair::new((other, other_motion), (self, motion), false)
    }
}

/// Two colliders and their motions.
pub struct ColliderPair {
    colliders: [AnyPlaced; 2],
    motions: [ColliderMotion; 2],
}

impl ColliderPair {
    /// Calls one of two queries, or returns `None` if the colliders are of different dimensions.
    fn ask<R>(
        &self,
        in_2d: impl FnOnce(Placed<Vec2>, Placed<Vec2>) -> R,
        in_3d: impl FnOnce(Placed<Vec3>, Placed<Vec3>) -> R,
    ) -> Option<R> {
        match &self.colliders {
            [AnyPlaced::D2(a, _), AnyPlaced::D2(b, _)] => Some(in_2d(a.into(), b.into())),
            [AnyPlaced::D3(a, _), AnyPlaced::D3(b, _)] => Some(in_3d(a.into(), b.into())),
            _ => None,
        }
    }

    fn cast_in<V: Space>(
        &self,
        a: Placed<V>,
        b: Placed<V>,
        options: CastOptions,
    ) -> Option<CastHit<Vec3>> {
        let [motion_a, motion_b] = self.motions.map(|motion| motion.local::<V>());
        Some(cast_in_world((a, motion_a?), (b, motion_b?), options)?.to_vec3())
    }
}

impl QueryPair<Vec3> for ColliderPair {
    fn intersects(self) -> bool {
        self.ask(intersects, intersects).unwrap_or(false)
    }

    fn contact(self) -> Option<Contact<Vec3>> {
        let in_2d = |a: Placed<Vec2>, b: Placed<Vec2>| Some(contact_in_world(a, b)?.to_vec3());
        self.ask(in_2d, contact_in_world)?
    }

    fn manifold(self) -> Option<Manifold<Vec3>> {
        let in_2d = |a: Placed<Vec2>, b: Placed<Vec2>| Some(manifold_in_world(a, b)?.to_vec3());
        self.ask(in_2d, manifold_in_world)?
    }

    fn distance(self) -> Distance<Vec3> {
        let in_2d = |a: Placed<Vec2>, b: Placed<Vec2>| distance_in_world(a, b).to_vec3();
        self.ask(in_2d, distance_in_world)
            .unwrap_or_else(Distance::infinite)
    }

    fn cast(self, options: CastOptions) -> Option<CastHit<Vec3>> {
        let in_2d = |a: Placed<Vec2>, b: Placed<Vec2>| self.cast_in(a, b, options);
        self.ask(in_2d, |a, b| self.cast_in(a, b, options))?
    }
}

/// A shape and a collider of the same dimension, and their motions.
pub struct MixedPair<'a, S: Support + ?Sized> {
    shape: &'a S,
    pose: Pose<DVecOf<S>>,
    motion: Motion<S::Vector>,
    collider: PlacedCollider<S::Vector>,
    collider_motion: ColliderMotion,
    shape_is_first: bool,
}

impl<'a, S: Support<Vector: Dimension> + ?Sized> MixedPair<'a, S> {
    fn new(
        (shape, motion): (&'a S, Motion<S::Vector>),
        (collider, collider_motion): (&Collider, ColliderMotion),
        shape_is_first: bool,
    ) -> Option<Self> {
        Some(Self {
            shape,
            pose: motion.start().valid()?,
            motion,
            collider: place(collider, collider_motion.start())?.0,
            collider_motion,
            shape_is_first,
        })
    }

    /// Returns the values of the first and of the second item of the pair.
    fn in_order<T>(&self, shape: T, collider: T) -> [T; 2] {
        if self.shape_is_first {
            [shape, collider]
        } else {
            [collider, shape]
        }
    }

    /// Calls a query, or returns `None` if the shape is invalid.
    fn ask<R>(&self, query: impl FnOnce(Placed<S::Vector>, Placed<S::Vector>) -> R) -> Option<R> {
        let part = DynPart::new(&self.shape, self.pose)?;
        // The contacts of surfaces are defined for colliders.
        let shape = part.to_shape().filter(|_| self.collider.is_surface());
        let as_collider = match shape {
            Some(shape) => {
                let shape = ColliderShape::Convex(shape);
                Some(PlacedCollider::new(&shape, part.world_pose).ok()?.0)
            }
            None => None,
        };
        let shape = as_collider
            .as_ref()
            .map_or_else(|| (&part).into(), Placed::from);
        let [a, b] = self.in_order(shape, (&self.collider).into());
        Some(query(a, b))
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> QueryPair<S::Vector> for MixedPair<'_, S> {
    fn intersects(self) -> bool {
        self.ask(intersects).unwrap_or(false)
    }

    fn contact(self) -> Option<Contact<S::Vector>> {
        self.ask(contact_in_world)?
    }

    fn manifold(self) -> Option<Manifold<S::Vector>> {
        self.ask(manifold_in_world)?
    }

    fn distance(self) -> Distance<S::Vector> {
        self.ask(distance_in_world)
            .unwrap_or_else(Distance::infinite)
    }

    fn cast(self, options: CastOptions) -> Option<CastHit<S::Vector>> {
        let [motion_a, motion_b] = self.in_order(
            self.motion.local()?,
            self.collider_motion.local::<S::Vector>()?,
        );
        self.ask(|a, b| cast_in_world((a, motion_a), (b, motion_b), options))?
    }
}

impl<V: Dimension> RayTarget<V> for Collider {
    type Pose = ColliderPose;

    fn cast_ray(&self, pose: ColliderPose, ray: Ray<V>) -> Option<RayHit<V>> {
        let ((placed, _), ray) = (place::<V>(self, &pose)?, ray.local()?);
        Some(ray.hit_in_world(&ray_at_collider(&placed, &ray)?))
    }
}
