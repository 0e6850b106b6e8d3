//! The collider of a query, in its pose.

use crate::{
    Collider,
    math::{DVec2, DVec3, Vec2, Vec3},
    pipeline::{proxy::Proxy, world_pose::WorldPose},
    spatial::{
        ColliderPose,
        collider_queries::{proxy_at, proxy_of},
    },
};

/// A collider in a pose.
pub enum Probe {
    D2(Proxy<Vec2>),
    D3(Proxy<Vec3>),
}

impl Probe {
    /// Returns `None` if the collider touches nothing.
    pub fn new(collider: &Collider, pose: impl Into<ColliderPose>) -> Option<Self> {
        let pose = pose.into();
        let in_3d = || proxy_of(collider, &pose).map(Self::D3);
        proxy_of(collider, &pose).map(Self::D2).or_else(in_3d)
    }

    /// Returns a 2D collider in a pose, or `None` if it is of the other dimension.
    pub fn in_2d(collider: &Collider, pose: WorldPose<DVec2>) -> Option<Self> {
        proxy_at(collider, pose).map(|(proxy, _)| Self::D2(proxy))
    }

    /// Returns a 3D collider in a pose, or `None` if it is of the other dimension.
    pub fn in_3d(collider: &Collider, pose: WorldPose<DVec3>) -> Option<Self> {
        proxy_at(collider, pose).map(|(proxy, _)| Self::D3(proxy))
    }
}
