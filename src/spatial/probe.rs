//! The collider of a query, in its pose.

use bevy::ecs::entity::Entity;

use crate::{
    Collider, CollisionLayers,
    math::{DVec2, DVec3, Vec2, Vec3},
    pipeline::proxy::{BoundingRegion, Proxy},
    shape::{Aabb, Dimension, WorldPose},
    space::Space,
    spatial::ColliderPose,
};

/// A collider in a pose.
pub enum Probe {
    D2(BoxedProxy<Vec2>),
    D3(BoxedProxy<Vec3>),
}

/// A proxy with its bounding box, which is empty for a half-space.
pub struct BoxedProxy<V: Space> {
    pub proxy: Proxy<V>,
    pub aabb: Aabb,
}

impl<V: Space> BoxedProxy<V> {
    /// Returns the region of the world that contains the proxy.
    pub fn region(&self) -> Option<BoundingRegion<V::DVec>> {
        if self.aabb.is_empty() {
            return self.proxy.region().ok();
        }
        Some(BoundingRegion::Box(self.aabb.bounds()))
    }
}

impl Probe {
    /// Returns `None` if the collider touches nothing.
    #[inline]
    pub fn new(collider: &Collider, pose: impl Into<ColliderPose>) -> Option<Self> {
        let pose = pose.into();
        let in_3d = || proxy_in_box(collider, &pose).map(Self::D3);
        proxy_in_box(collider, &pose).map(Self::D2).or_else(in_3d)
    }

    /// Returns a 2D collider in a pose, or `None` if it is of the other dimension.
    pub fn in_2d(collider: &Collider, pose: WorldPose<DVec2>) -> Option<Self> {
        proxy_at(collider, || Some(pose)).map(Self::D2)
    }

    /// Returns a 3D collider in a pose, or `None` if it is of the other dimension.
    pub fn in_3d(collider: &Collider, pose: WorldPose<DVec3>) -> Option<Self> {
        proxy_at(collider, || Some(pose)).map(Self::D3)
    }
}

/// Returns the proxy of a collider, or `None` if it touches nothing or is of the other dimension.
#[inline]
pub fn proxy_of<V: Dimension>(collider: &Collider, pose: &ColliderPose) -> Option<Proxy<V>> {
    proxy_in_box(collider, pose).map(|boxed| boxed.proxy)
}

/// Returns the same proxy with its bounding box.
#[inline]
pub fn proxy_in_box<V: Dimension>(
    collider: &Collider,
    pose: &ColliderPose,
) -> Option<BoxedProxy<V>> {
    proxy_at(collider, || pose.world_pose::<V>())
}

/// Returns the same proxy with its bounding box, from a pose in the world.
#[inline]
pub fn proxy_at<V: Dimension>(
    collider: &Collider,
    world_pose: impl FnOnce() -> Option<WorldPose<V::DVec>>,
) -> Option<BoxedProxy<V>> {
    let shape = V::body_of(collider.shape().ok()??)?;
    let layers = CollisionLayers::default();
    let (proxy, aabb) = Proxy::new(Entity::PLACEHOLDER, shape, layers, world_pose()?).ok()?;
    Some(BoxedProxy { proxy, aabb })
}
