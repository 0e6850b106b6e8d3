//! Proxies: colliders in their poses, with the data of their entities that the tick needs.
//! `sync/scan.rs` calls [`Proxy::new`] for a new or changed collider, and `sync/moves.rs` calls
//! [`Proxy::update`] for a moved collider.

use core::ops::Deref;

use bevy::prelude::*;

use crate::{
    collider::ColliderError,
    meeting::{PairTraits, Party},
    placed::PlacedCollider,
    shape::{Aabb, ColliderShape, WorldPose},
    space::Space,
};

/// A placed collider with its entity. A proxy dereferences to the placed collider.
#[derive(Clone, Debug)]
pub struct Proxy<V: Space> {
    pub entity: Entity,
    pub traits: PairTraits,
    pub placed: PlacedCollider<V>,
}

impl<V: Space> Deref for Proxy<V> {
    type Target = PlacedCollider<V>;

    fn deref(&self) -> &PlacedCollider<V> {
        &self.placed
    }
}

impl<V: Space> Proxy<V> {
    /// Creates a proxy, and computes its bounding box.
    pub fn new(
        entity: Entity,
        traits: PairTraits,
        shape: &ColliderShape<V>,
        world_pose: WorldPose<V::DVec>,
    ) -> Result<(Self, Aabb), ColliderError> {
        let (placed, aabb) = PlacedCollider::new(shape, world_pose)?;
        let proxy = Self {
            entity,
            traits,
            placed,
        };
        Ok((proxy, aabb))
    }

    /// Returns the data that decides which colliders this collider may touch.
    pub fn party(&self) -> Party<'_> {
        Party {
            entity: self.entity,
            traits: &self.traits,
        }
    }

    /// Sets the pose and the traits. Returns `true` if any of these values changed.
    #[inline(always)]
    pub fn update(&mut self, world_pose: WorldPose<V::DVec>, traits: PairTraits) -> bool {
        if self.world_pose.has_same_bits(&world_pose) && self.traits == traits {
            return false;
        }
        self.placed.set_pose(world_pose);
        self.traits = traits;
        true
    }
}
