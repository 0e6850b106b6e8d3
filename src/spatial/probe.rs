//! The collider of a query, in its pose.

use crate::{
    Collider,
    math::{DVec2, DVec3, Vec2, Vec3},
    pipeline::{
        aabb::Aabb,
        proxy::{BoundingRegion, Proxy},
        world_pose::WorldPose,
    },
    space::Space,
    spatial::{
        ColliderPose,
        collider_queries::{proxy_at, proxy_in_box},
    },
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
