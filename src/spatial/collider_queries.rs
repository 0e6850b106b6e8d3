//! Colliders as arguments of [`query`](crate::query).

use bevy::prelude::*;

use crate::{
    Collider, CollisionLayers,
    math::{Vec2, Vec3},
    pipeline::{aabb::Aabb, proxy::Proxy},
    query::{Against, Contact, Distance, Manifold, sealed},
    shape::{ColliderShape, Dimension, Support},
    space::ShapePose,
    spatial::{
        ColliderPose,
        pair::{contact_in_world, distance_in_world, intersects_of, manifold_in_world_of},
        side::{LoneShape, Side},
    },
};

impl sealed::Sealed for Collider {}

impl Against<Collider> for Collider {
    type Vector = Vec3;
    type Pose = ColliderPose;
    type OtherPose = ColliderPose;

    fn intersects(&self, pose: ColliderPose, other: &Self, other_pose: ColliderPose) -> bool {
        let sides = [(self, pose), (other, other_pose)];
        compare(sides, intersects_of, intersects_of).unwrap_or(false)
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
            |a, b| Some(manifold_in_world_of::<Vec2>(a, b)?.to_vec3()),
            manifold_in_world_of,
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
            |a, b| distance_in_world::<Vec2>(a, b).to_vec3(),
            distance_in_world,
        )
        .unwrap_or_else(Distance::infinite)
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> Against<Collider> for S {
    type Vector = S::Vector;
    type Pose = ShapePose<S::Vector>;
    type OtherPose = ColliderPose;

    fn intersects(&self, pose: Self::Pose, other: &Collider, other_pose: ColliderPose) -> bool {
        compare_mixed((&self, pose), (other, other_pose), intersects_of).unwrap_or(false)
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
        compare_mixed((&self, pose), (other, other_pose), manifold_in_world_of)?
    }

    fn distance(
        &self,
        pose: Self::Pose,
        other: &Collider,
        other_pose: ColliderPose,
    ) -> Distance<S::Vector> {
        let distance = compare_mixed((&self, pose), (other, other_pose), distance_in_world);
        distance.unwrap_or_else(Distance::infinite)
    }
}

impl<S: Support<Vector: Dimension> + ?Sized> Against<S> for Collider {
    type Vector = S::Vector;
    type Pose = ColliderPose;
    type OtherPose = ShapePose<S::Vector>;

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
            manifold_in_world_of(collider, shape)
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
        distance.unwrap_or_else(Distance::infinite)
    }
}

/// Returns the proxy of a collider, or `None` if it touches nothing or is of the other dimension.
pub fn proxy_of<V: Dimension>(collider: &Collider, pose: &ColliderPose) -> Option<Proxy<V>> {
    proxy_in_box(collider, pose).map(|(proxy, _)| proxy)
}

/// Returns the same proxy with its bounding box, which is empty for a half-space.
pub fn proxy_in_box<V: Dimension>(
    collider: &Collider,
    pose: &ColliderPose,
) -> Option<(Proxy<V>, Aabb)> {
    let shape = V::body_of(collider.body().ok()??)?;
    let world_pose = pose.world_pose::<V>()?;
    let layers = CollisionLayers::default();
    Proxy::new(Entity::PLACEHOLDER, shape, layers, world_pose).ok()
}

/// Calls one of two queries with two colliders, or returns `None` if one of them touches nothing or
/// they are of different dimensions.
fn compare<R>(
    [(a, pose_a), (b, pose_b)]: [(&Collider, ColliderPose); 2],
    in_2d: impl FnOnce(Side<Vec2>, Side<Vec2>) -> R,
    in_3d: impl FnOnce(Side<Vec3>, Side<Vec3>) -> R,
) -> Option<R> {
    if let Some(a) = proxy_of::<Vec2>(a, &pose_a) {
        let b = proxy_of::<Vec2>(b, &pose_b)?;
        return Some(in_2d((&a).into(), (&b).into()));
    }
    let a = proxy_of::<Vec3>(a, &pose_a)?;
    let b = proxy_of::<Vec3>(b, &pose_b)?;
    Some(in_3d((&a).into(), (&b).into()))
}

/// Calls a query with a shape and a collider, or returns `None` if one of them touches nothing or
/// they are of different dimensions.
fn compare_mixed<V: Dimension, R>(
    (shape, pose): (&dyn Support<Vector = V>, ShapePose<V>),
    (collider, collider_pose): (&Collider, ColliderPose),
    query: impl FnOnce(Side<V>, Side<V>) -> R,
) -> Option<R> {
    let proxy = proxy_of::<V>(collider, &collider_pose)?;
    let lone = LoneShape::new(shape, pose.valid()?)?;
    // The contacts of surfaces are defined for colliders.
    if proxy.is_surface()
        && let Some(shape) = lone.to_shape()
    {
        let (entity, layers) = (proxy.entity, proxy.layers);
        let shape = ColliderShape::Convex(shape);
        let (shape, _) = Proxy::new(entity, &shape, layers, lone.world_pose()).ok()?;
        return Some(query((&shape).into(), (&proxy).into()));
    }
    Some(query((&lone).into(), (&proxy).into()))
}
