//! Colliders as arguments of [`query`](crate::query).

use crate::{
    Collider,
    collider_query::{
        ColliderMotion, ColliderPose,
        cast::cast_in_world,
        pair::{contact_in_world, distance_in_world, intersects, manifold_in_world},
        place::place,
        ray::ray_at_collider,
    },
    math::{Vec2, Vec3},
    placed::{DynPart, Placed, PlacedCollider},
    query::{
        CastHit, CastOptions, Contact, Distance, Manifold, Motion, QueryPartner, Ray, RayHit,
        RayTarget, sealed,
    },
    shape::{ColliderShape, Dimension, Support},
    space::{ShapePose, Space},
};

impl sealed::Sealed for Collider {}

impl QueryPartner<Collider> for Collider {
    type Vector = Vec3;
    type Pose = ColliderPose;
    type OtherPose = ColliderPose;
    type Motion = ColliderMotion;
    type OtherMotion = ColliderMotion;

    fn motion(pose: Self::Pose, translation: Self::Vector) -> Self::Motion {
        ColliderMotion::linear(pose, translation)
    }

    fn other_motion(pose: Self::OtherPose, translation: Self::Vector) -> Self::OtherMotion {
        ColliderMotion::linear(pose, translation)
    }

    fn cast_motion(
        &self,
        motion: Self::Motion,
        other: &Self,
        other_motion: Self::OtherMotion,
        options: CastOptions,
    ) -> Option<CastHit<Self::Vector>> {
        let sides = [(self, *motion.start()), (other, *other_motion.start())];
        let motions = [motion, other_motion];
        compare(
            sides,
            |a, b| Some(cast_sides::<Vec2>([a, b], motions, options)?.to_vec3()),
            |a, b| cast_sides::<Vec3>([a, b], motions, options),
        )?
    }

    fn intersects(&self, pose: ColliderPose, other: &Self, other_pose: ColliderPose) -> bool {
        let sides = [(self, pose), (other, other_pose)];
        compare(sides, intersects, intersects).unwrap_or(false)
    }

    fn contact(
        &self,
        pose: ColliderPose,
        other: &Self,
        other_pose: ColliderPose,
    ) -> Option<Contact<Vec3>> {
        let sides = [(self, pose), (other, other_pose)];
        compare(
            sides,
            |a, b| contact_in_world(a, b).map(Contact::<Vec2>::to_vec3),
            contact_in_world,
        )?
    }

    fn manifold(
        &self,
        pose: ColliderPose,
        other: &Self,
        other_pose: ColliderPose,
    ) -> Option<Manifold<Vec3>> {
        let sides = [(self, pose), (other, other_pose)];
        compare(
            sides,
            |a, b| Some(manifold_in_world::<Vec2>(a, b)?.to_vec3()),
            manifold_in_world,
        )?
    }

    fn distance(
        &self,
        pose: ColliderPose,
        other: &Self,
        other_pose: ColliderPose,
    ) -> Distance<Vec3> {
        let sides = [(self, pose), (other, other_pose)];
        compare(
            sides,
            |a, b| Some(distance_in_world::<Vec2>(a, b)?.to_vec3()),
            distance_in_world,
        )
        .flatten()
        .unwrap_or_else(Distance::infinite)
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> QueryPartner<Collider> for S {
    type Vector = S::Vector;
    type Pose = ShapePose<S::Vector>;
    type OtherPose = ColliderPose;
    type Motion = Motion<S::Vector>;
    type OtherMotion = ColliderMotion;

    fn motion(pose: Self::Pose, translation: Self::Vector) -> Self::Motion {
        Motion::linear(pose, translation)
    }

    fn other_motion(pose: Self::OtherPose, translation: Self::Vector) -> Self::OtherMotion {
        ColliderMotion::linear(pose, translation)
    }

    fn cast_motion(
        &self,
        motion: Self::Motion,
        other: &Collider,
        other_motion: Self::OtherMotion,
        options: CastOptions,
    ) -> Option<CastHit<Self::Vector>> {
        let (start, other_start) = (motion.start(), *other_motion.start());
        compare_mixed((&self, start), (other, other_start), |shape, collider| {
            let motions = (motion.local()?, other_motion.local::<S::Vector>()?);
            cast_in_world((shape, motions.0), (collider, motions.1), options)
        })?
    }

    fn intersects(&self, pose: Self::Pose, other: &Collider, other_pose: ColliderPose) -> bool {
        compare_mixed((&self, pose), (other, other_pose), intersects).unwrap_or(false)
    }

    fn contact(
        &self,
        pose: Self::Pose,
        other: &Collider,
        other_pose: ColliderPose,
    ) -> Option<Contact<S::Vector>> {
        compare_mixed((&self, pose), (other, other_pose), contact_in_world)?
    }

    fn manifold(
        &self,
        pose: Self::Pose,
        other: &Collider,
        other_pose: ColliderPose,
    ) -> Option<Manifold<S::Vector>> {
        compare_mixed((&self, pose), (other, other_pose), manifold_in_world)?
    }

    fn distance(
        &self,
        pose: Self::Pose,
        other: &Collider,
        other_pose: ColliderPose,
    ) -> Distance<S::Vector> {
        let distance = compare_mixed((&self, pose), (other, other_pose), distance_in_world);
        distance.flatten().unwrap_or_else(Distance::infinite)
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> QueryPartner<S> for Collider {
    type Vector = S::Vector;
    type Pose = ColliderPose;
    type OtherPose = ShapePose<S::Vector>;
    type Motion = ColliderMotion;
    type OtherMotion = Motion<S::Vector>;

    fn motion(pose: Self::Pose, translation: Self::Vector) -> Self::Motion {
        ColliderMotion::linear(pose, translation)
    }

    fn other_motion(pose: Self::OtherPose, translation: Self::Vector) -> Self::OtherMotion {
        Motion::linear(pose, translation)
    }

    fn cast_motion(
        &self,
        motion: Self::Motion,
        other: &S,
        other_motion: Self::OtherMotion,
        options: CastOptions,
    ) -> Option<CastHit<Self::Vector>> {
        let (start, other_start) = (*motion.start(), other_motion.start());
        compare_mixed((&other, other_start), (self, start), |shape, collider| {
            let motions = (motion.local::<S::Vector>()?, other_motion.local()?);
            cast_in_world((collider, motions.0), (shape, motions.1), options)
        })?
    }

    fn intersects(&self, pose: ColliderPose, other: &S, other_pose: Self::OtherPose) -> bool {
        other.intersects(other_pose, self, pose)
    }

    fn contact(
        &self,
        pose: ColliderPose,
        other: &S,
        other_pose: Self::OtherPose,
    ) -> Option<Contact<S::Vector>> {
        compare_mixed((&other, other_pose), (self, pose), |shape, collider| {
            contact_in_world(collider, shape)
        })?
    }

    fn manifold(
        &self,
        pose: ColliderPose,
        other: &S,
        other_pose: Self::OtherPose,
    ) -> Option<Manifold<S::Vector>> {
        compare_mixed((&other, other_pose), (self, pose), |shape, collider| {
            manifold_in_world(collider, shape)
        })?
    }

    fn distance(
        &self,
        pose: ColliderPose,
        other: &S,
        other_pose: Self::OtherPose,
    ) -> Distance<S::Vector> {
        let distance = compare_mixed((&other, other_pose), (self, pose), |shape, collider| {
            distance_in_world(collider, shape)
        });
        distance.flatten().unwrap_or_else(Distance::infinite)
    }
}

/// Returns the first touch of two moving sides.
fn cast_sides<V: Space>(
    [a, b]: [Placed<V>; 2],
    [motion_a, motion_b]: [ColliderMotion; 2],
    options: CastOptions,
) -> Option<CastHit<V>> {
    let (motion_a, motion_b) = (motion_a.local::<V>()?, motion_b.local::<V>()?);
    cast_in_world((a, motion_a), (b, motion_b), options)
}

impl<V: Dimension> RayTarget<V> for Collider {
    type Pose = ColliderPose;

    fn cast_ray(&self, pose: ColliderPose, ray: Ray<V>) -> Option<RayHit<V>> {
        let ((placed, _), ray) = (place::<V>(self, &pose)?, ray.local()?);
        Some(ray.hit_in_world(&ray_at_collider(&placed, &ray)?))
    }
}

/// Calls one of two queries with two colliders, or returns `None` if one of them touches nothing or
/// they are of different dimensions.
fn compare<R>(
    [(a, pose_a), (b, pose_b)]: [(&Collider, ColliderPose); 2],
    in_2d: impl FnOnce(Placed<Vec2>, Placed<Vec2>) -> R,
    in_3d: impl FnOnce(Placed<Vec3>, Placed<Vec3>) -> R,
) -> Option<R> {
    if let Some((a, _)) = place::<Vec2>(a, &pose_a) {
        let (b, _) = place::<Vec2>(b, &pose_b)?;
        return Some(in_2d((&a).into(), (&b).into()));
    }
    let (a, b) = (place::<Vec3>(a, &pose_a)?.0, place::<Vec3>(b, &pose_b)?.0);
    Some(in_3d((&a).into(), (&b).into()))
}

/// Calls a query with a shape and a collider, or returns `None` if one of them touches nothing or
/// they are of different dimensions.
fn compare_mixed<V: Dimension, R>(
    (shape, pose): (&dyn Support<Vector = V>, ShapePose<V>),
    (collider, collider_pose): (&Collider, ColliderPose),
    query: impl FnOnce(Placed<V>, Placed<V>) -> R,
) -> Option<R> {
    let (collider, _) = place::<V>(collider, &collider_pose)?;
    let part = DynPart::new(shape, pose.valid()?)?;
    // The contacts of surfaces are defined for colliders.
    if collider.is_surface()
        && let Some(shape) = part.to_shape()
    {
        let shape = ColliderShape::Convex(shape);
        let (shape, _) = PlacedCollider::new(&shape, part.world_pose).ok()?;
        return Some(query((&shape).into(), (&collider).into()));
    }
    Some(query((&part).into(), (&collider).into()))
}
