//! The poses of all colliders in the last tick. The swept paths of the next tick begin in these
//! poses, and the rules of one-way colliders read them. The poses are part of
//! [`Collisions`](crate::Collisions), so that a rollback restores them.

use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet, EntityMapper},
    prelude::*,
};

use crate::{shape::Affine, space::DVector};

/// The poses of all 2D or all 3D colliders. The map is empty unless a collider is
/// [`Swept`](crate::Swept) or [`OneWay`](crate::OneWay).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviousPoses<D: DVector> {
    pub poses: EntityHashMap<Affine<D>>,
    /// The entities whose next path begins in a pose that [`begin`](Self::begin) stored, instead of
    /// the pose of the last tick.
    pub begun: EntityHashSet,
    /// The entities whose paths in this tick do not begin in the pose of the last tick. The set is
    /// empty between ticks, unless the tick was aborted.
    pub teleported: EntityHashSet,
    /// `true` if no collider's pose is missing.
    pub is_complete: bool,
}

impl<D: DVector> PreviousPoses<D> {
    pub fn get(&self, entity: Entity) -> Option<&Affine<D>> {
        self.poses.get(&entity)
    }

    /// Stores the pose of this tick, unless [`begin`](Self::begin) has stored a pose for the
    /// entity.
    pub fn insert(&mut self, entity: Entity, pose: Affine<D>) {
        if !self.begun.contains(&entity) {
            self.poses.insert(entity, pose);
        }
    }

    /// Begins the next path of an entity at `pose`. Until the next tick, [`insert`](Self::insert)
    /// does not replace this pose.
    pub fn begin(&mut self, entity: Entity, pose: Affine<D>) {
        self.begun.insert(entity);
        self.poses.insert(entity, pose);
    }

    /// Begins a tick: moves the entities in [`begun`](Self::begun) to
    /// [`teleported`](Self::teleported).
    pub fn begin_tick(&mut self) {
        self.teleported.extend(self.begun.drain());
    }

    /// Returns `true` if an entity was teleported after the last tick found its contacts.
    pub fn is_teleported(&self, entity: Entity) -> bool {
        self.begun.contains(&entity) || self.teleported.contains(&entity)
    }

    /// Removes the poses of all entities for which `predicate` returns `false`, except poses that
    /// [`begin`](Self::begin) stored.
    pub fn retain(&mut self, predicate: impl Fn(Entity) -> bool) {
        let Self { poses, begun, .. } = self;
        poses.retain(|entity, _| predicate(*entity) || begun.contains(entity));
    }

    /// Removes all poses. The caller then stores the poses of all colliders.
    pub fn clear(&mut self) {
        self.poses.clear();
        self.begun.clear();
        self.is_complete = false;
    }

    /// Removes all poses except the poses that [`begin`](Self::begin) stored. The caller then
    /// stores the poses of all other colliders.
    pub fn clear_stored(&mut self) {
        self.retain(|_| false);
        self.is_complete = false;
    }

    /// Returns the total number of poses and of entities in the two sets.
    pub fn item_count(&self) -> usize {
        self.poses.len() + self.begun.len() + self.teleported.len()
    }

    /// See [`MapEntities`](bevy::ecs::entity::MapEntities).
    pub fn map_entities<E: EntityMapper>(&mut self, mapper: &mut E) {
        let poses = self.poses.drain();
        self.poses = poses
            .map(|(entity, pose)| (mapper.get_mapped(entity), pose))
            .collect();
        for entities in [&mut self.begun, &mut self.teleported] {
            let old = core::mem::take(entities).into_iter();
            *entities = old.map(|entity| mapper.get_mapped(entity)).collect();
        }
    }

    /// Frees unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.poses.shrink_to_fit();
        self.begun.shrink_to_fit();
        self.teleported.shrink_to_fit();
    }
}
