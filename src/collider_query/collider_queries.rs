//! Colliders as arguments of [`query`](crate::query). The functions of `query` call the methods of
//! [`ColliderPair`] for two colliders, and of [`MixedPair`] for a shape and a collider.

use crate::{
    Collider,
    collider_query::{
        cast::cast_in_world,
        pair::{contact_in_world, distance_in_world, intersects, manifold_in_world},
        place::place,
        ray::ray_at_shape_in_pose,
    },
    math::{Vec2, Vec3},
    placed::{DynPart, Placed, PlacedCollider},
    query::{
        CastHit, CastOptions, Contact, Distance, Manifold, Motion, Motion64, QueryPair,
        QueryPartner, QueryShape, Ray, RayHit, RayTarget, sealed,
    },
    shape::{ColliderShape, DVecOf, Dimension, Support, swap_if},
    space::{Pose, QueryPose},
};

impl sealed::Sealed for Collider {}

impl QueryShape for Collider {
    type Kind = Self;
}

impl QueryPartner<Self> for Collider {
    type Vector = Vec3;
    type Pair<'a> = ColliderPair<'a>;

    fn pair<'a>(
        &'a self,
        motion: Motion<Self>,
        other: &'a Self,
        other_motion: Motion<Self>,
    ) -> Option<ColliderPair<'a>> {
        Some(ColliderPair {
            colliders: [self, other],
            motions: [motion, other_motion],
        })
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> QueryPartner<Collider> for S {
    type Vector = S::Vector;
    type Pair<'a>
        = MixedPair<'a, S>
    where
        S: 'a;

    fn pair<'a>(
        &'a self,
        motion: Motion<S::Vector>,
        other: &Collider,
        other_motion: Motion<Collider>,
    ) -> Option<MixedPair<'a, S>> {
        MixedPair::new((self, motion), (other, other_motion), true)
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> QueryPartner<S> for Collider {
    type Vector = S::Vector;
    type Pair<'a>
        = MixedPair<'a, S>
    where
        S: 'a;

    fn pair<'a>(
        &'a self,
        motion: Motion<Self>,
        other: &'a S,
        other_motion: Motion<S::Vector>,
    ) -> Option<MixedPair<'a, S>> {
        MixedPair::new((other, other_motion), (self, motion), false)
    }
}

/// Two colliders and their motions.
pub struct ColliderPair<'a> {
    colliders: [&'a Collider; 2],
    motions: [Motion<Collider>; 2],
}

/// Evaluates a query with two placed colliders in their dimension. The result is `None` unless both
/// colliders are valid and of the same dimension.
macro_rules! in_common_dimension {
    ($pair:expr, |$a:ident, $b:ident| $result:expr) => {
        in_common_dimension!($pair, Vec2, |$a, $b| $result)
            .or_else(|| in_common_dimension!($pair, Vec3, |$a, $b| $result))
    };
    ($pair:expr, $space:ty, |$a:ident, $b:ident| $result:expr) => {{
        let ([a, b], [motion_a, motion_b]) = ($pair.colliders, &$pair.motions);
        // The placed colliders are large, so they are not moved.
        place::<$space>(a, &motion_a.start).as_ref().and_then(|a| {
            let b = place::<$space>(b, &motion_b.start);
            b.as_ref().and_then(|b| {
                let ($a, $b): (Placed<$space>, Placed<$space>) = (a.into(), b.into());
                $result
            })
        })
    }};
}

impl QueryPair<Vec3> for ColliderPair<'_> {
    fn intersects(self) -> bool {
        in_common_dimension!(self, |a, b| Some(intersects(a, b))) == Some(true)
    }

    fn contact(self) -> Option<Contact<Vec3>> {
        in_common_dimension!(self, |a, b| Some(contact_in_world(a, b)?.to_vec3()))
    }

    fn manifold(self) -> Option<Manifold<Vec3>> {
        in_common_dimension!(self, |a, b| Some(manifold_in_world(a, b)?.to_vec3()))
    }

    fn distance(self) -> Distance<Vec3> {
        in_common_dimension!(self, |a, b| Some(distance_in_world(a, b).to_vec3()))
            .unwrap_or_else(Distance::infinite)
    }

    fn cast(self, options: CastOptions) -> Option<CastHit<Vec3>> {
        in_common_dimension!(self, |a, b| {
            let [motion_a, motion_b] = &self.motions;
            let moving_a = (a, motion_a.change.in_dimension()?);
            let moving_b = (b, motion_b.change.in_dimension()?);
            Some(cast_in_world(moving_a, moving_b, options)?.to_vec3())
        })
    }
}

/// A shape and a collider of the same dimension, and their motions.
pub struct MixedPair<'a, S: Support + ?Sized> {
    shape: &'a S,
    pose: Pose<DVecOf<S>>,
    motion: Option<Motion64<DVecOf<S>>>,
    collider: PlacedCollider<S::Vector>,
    collider_motion: Option<Motion64<DVecOf<S>>>,
    shape_is_first: bool,
}

impl<'a, S: Support<Vector: Dimension> + ?Sized> MixedPair<'a, S> {
    fn new(
        (shape, motion): (&'a S, Motion<S::Vector>),
        (collider, collider_motion): (&Collider, Motion<Collider>),
        shape_is_first: bool,
    ) -> Option<Self> {
        Some(Self {
            shape,
            pose: motion.start.0?,
            motion: motion.change.valid().copied(),
            collider: place(collider, &collider_motion.start)?,
            collider_motion: collider_motion.change.in_dimension(),
            shape_is_first,
        })
    }

    /// Returns the values of the shape and of the collider in the order of the pair.
    fn in_order<T>(&self, shape: T, collider: T) -> [T; 2] {
        swap_if(!self.shape_is_first, [shape, collider])
    }

    /// Calls a query, or returns `None` if the shape is invalid.
    fn ask<R>(&self, query: impl FnOnce(Placed<S::Vector>, Placed<S::Vector>) -> R) -> Option<R> {
        let part = DynPart::new(&self.shape, self.pose)?;
        // The contacts with a surface are computed only for colliders, so the shape becomes a
        // collider.
        let shape = part.to_shape().filter(|_| self.collider.is_surface());
        let placed;
        let shape: Placed<S::Vector> = match shape.map(ColliderShape::Convex) {
            Some(shape) => {
                placed = PlacedCollider::new(&shape, part.world_pose).ok()?.0;
                (&placed).into()
            }
            None => (&part).into(),
        };
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
        let [motion_a, motion_b] = self.in_order(self.motion?, self.collider_motion?);
        self.ask(|a, b| cast_in_world((a, motion_a), (b, motion_b), options))?
    }
}

impl<V: Dimension> RayTarget<V> for Collider {
    fn cast_ray(&self, pose: QueryPose<Self>, ray: Ray<V>) -> Option<RayHit<V>> {
        // Moving these values takes longer than some parts of a query.
        let (pose, ray) = (pose.world_pose::<V>(), ray.in_f64());
        let (pose, ray) = (pose.as_ref()?, ray.as_ref()?);
        let hit = ray_at_shape_in_pose(V::body_of(self.shape())?, pose, ray)?;
        Some(ray.hit_in_world(&hit))
    }
}
