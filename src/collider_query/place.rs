//! Places the collider of a query in the world. Queries of the world need its bounding box, so they
//! call [`AnyPlaced::new`]. All other queries call [`place`].

use crate::{
    Collider,
    math::{DVec2, DVec3, Vec2, Vec3},
    placed::PlacedCollider,
    shape::{Aabb, AnyColliderShape, Dimension, WorldPose},
    space::QueryPose,
};

/// A collider of either dimension in its pose, with its bounding box.
pub enum AnyPlaced {
    D2((PlacedCollider<Vec2>, Aabb)),
    D3((PlacedCollider<Vec3>, Aabb)),
}

/// Evaluates an expression with a placed collider and its box, in the collider's own dimension.
macro_rules! in_own_dimension {
    ($placed:expr, |$collider:pat_param, $aabb:pat_param| $result:expr) => {
        match $placed {
            $crate::collider_query::place::AnyPlaced::D2(($collider, $aabb)) => $result,
            $crate::collider_query::place::AnyPlaced::D3(($collider, $aabb)) => $result,
        }
    };
}
pub(crate) use in_own_dimension;

impl AnyPlaced {
    /// Places a collider. Returns `None` if the collider touches nothing.
    pub fn new(collider: &Collider, pose: impl Into<QueryPose<Collider>>) -> Option<Self> {
        let pose = pose.into();
        Self::at(
            collider,
            || pose.world_pose::<Vec2>(),
            || pose.world_pose::<Vec3>(),
        )
    }

    /// Places a collider in the pose of the collider's own dimension.
    pub fn at(
        collider: &Collider,
        pose_2d: impl FnOnce() -> Option<WorldPose<DVec2>>,
        pose_3d: impl FnOnce() -> Option<WorldPose<DVec3>>,
    ) -> Option<Self> {
        Some(match collider.shape() {
            AnyColliderShape::D2(shape) => Self::D2(PlacedCollider::new(shape, pose_2d()?).ok()?),
            AnyColliderShape::D3(shape) => Self::D3(PlacedCollider::new(shape, pose_3d()?).ok()?),
            AnyColliderShape::Inert
            | AnyColliderShape::NoCells(_)
            | AnyColliderShape::Rejected(_) => return None,
        })
    }
}

/// Places a collider. Returns `None` if the collider touches nothing or is of the other dimension.
pub fn place<V: Dimension>(
    collider: &Collider,
    pose: &QueryPose<Collider>,
) -> Option<PlacedCollider<V>> {
    let shape = V::body_of(collider.shape())?;
    PlacedCollider::touching(shape, pose.world_pose::<V>()?)
}
