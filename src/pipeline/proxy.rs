//! Proxies: colliders in their poses, with the data of their entities that the tick needs.

use core::ops::Deref;

use bevy::prelude::*;

use crate::{
    collider::{ColliderError, CollisionLayers},
    placed::PlacedCollider,
    shape::{Aabb, ColliderShape, WorldPose},
    space::Space,
};

/// A placed collider with its entity. A proxy dereferences to the placed collider.
#[derive(Clone, Debug)]
pub struct Proxy<V: Space> {
    pub entity: Entity,
    pub layers: CollisionLayers,
    pub markers: Markers,
    pub placed: PlacedCollider<V>,
}

/// The marker components of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    /// `true` if the entity has a [`Sensor`](crate::Sensor).
    pub is_sensor: bool,
    /// `true` if the entity is [`Swept`](crate::Swept).
    pub is_swept: bool,
}

impl<V: Space> Deref for Proxy<V> {
    type Target = PlacedCollider<V>;

    #[inline]
    fn deref(&self) -> &PlacedCollider<V> {
        &self.placed
    }
}

impl<V: Space> Proxy<V> {
    /// Creates a proxy, and computes its bounding box.
    pub fn new(
        entity: Entity,
        shape: &ColliderShape<V>,
        layers: CollisionLayers,
        world_pose: WorldPose<V::DVec>,
    ) -> Result<(Self, Aabb), ColliderError> {
        let (placed, aabb) = PlacedCollider::new(shape, world_pose)?;
        Ok((Self::of(entity, layers, placed), aabb))
    }

    /// Creates the proxy of a placed collider.
    pub fn of(entity: Entity, layers: CollisionLayers, placed: PlacedCollider<V>) -> Self {
        Self {
            entity,
            layers,
            markers: Markers::default(),
            placed,
        }
    }

    /// Returns this proxy with other markers.
    pub fn with_markers(self, markers: Markers) -> Self {
        Self { markers, ..self }
    }

    /// Sets the pose, the layers and the markers. Returns `true` if any of these values changed.
    #[inline(always)]
    pub fn update(
        &mut self,
        world_pose: WorldPose<V::DVec>,
        layers: CollisionLayers,
        markers: Markers,
    ) -> bool {
        let has_same_traits = self.layers == layers && self.markers == markers;
        if self.world_pose.has_same_bits(&world_pose) && has_same_traits {
            return false;
        }
        self.placed.set_pose(world_pose);
        (self.layers, self.markers) = (layers, markers);
        true
    }
}
