//! The poses of all colliders in the last tick, from which the paths of the next tick begin. They
//! are part of [`Collisions`](crate::Collisions), so that a rollback restores them.

use bevy::{
    ecs::entity::{EntityHashMap, EntityMapper},
    prelude::*,
};

use crate::{
    buffer::{Peak, Reclaim, is_excessive},
    space::DVector,
};

/// The poses of one dimension. Empty unless a collider is [`Swept`](crate::Swept).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PreviousPoses<D: DVector> {
    poses: EntityHashMap<PreviousPose<D>>,
    /// `true` if no collider's pose is missing.
    pub is_complete: bool,
}

/// An affine map from a shape to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreviousPose<D: DVector> {
    pub linear: D::Matrix,
    pub translation: D,
}

impl<D: DVector> PreviousPoses<D> {
    pub fn get(&self, entity: Entity) -> Option<&PreviousPose<D>> {
        self.poses.get(&entity)
    }

    pub fn insert(&mut self, entity: Entity, pose: PreviousPose<D>) {
        self.poses.insert(entity, pose);
    }

    #[cfg(feature = "record")]
    pub fn remove(&mut self, entity: Entity) {
        self.poses.remove(&entity);
    }

    #[cfg(feature = "record")]
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &PreviousPose<D>)> {
        self.poses.iter().map(|(entity, pose)| (*entity, pose))
    }

    /// Removes the poses of all entities for which `predicate` returns `false`.
    pub fn retain(&mut self, predicate: impl Fn(Entity) -> bool) {
        self.poses.retain(|entity, _| predicate(*entity));
    }

    pub fn clear(&mut self) {
        self.clear_except(|_| false);
    }

    /// Removes the poses of all entities for which `predicate` returns `false`. The next tick
    /// stores those of all colliders.
    pub fn clear_except(&mut self, predicate: impl Fn(Entity) -> bool) {
        self.retain(predicate);
        self.is_complete = false;
    }

    pub fn len(&self) -> usize {
        self.poses.len()
    }

    /// See [`MapEntities`](bevy::ecs::entity::MapEntities).
    pub fn map_entities<E: EntityMapper>(&mut self, mapper: &mut E) {
        let poses = self.poses.drain();
        self.poses = poses
            .map(|(entity, pose)| (mapper.get_mapped(entity), pose))
            .collect();
    }

    /// Frees unused memory.
    pub fn reclaim(&mut self, peak: &mut Peak, reclaim: &Reclaim) {
        peak.note(self.poses.len());
        if is_excessive(self.poses.capacity(), peak.get()) {
            self.poses.shrink_to(2 * peak.get());
        }
        if reclaim.ends_window() {
            peak.end_window();
        }
    }
}
