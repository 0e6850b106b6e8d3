//! The world poses of entities as the models compute them.

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};

/// The pose of an entity with a uniform scale.
#[derive(Clone, Copy, PartialEq)]
pub struct WorldPose {
    pub translation: DVec3,
    pub rotation: DQuat,
    pub scale: f64,
}

impl WorldPose {
    pub fn of(world: &World, entity: Entity) -> Self {
        let transform = world
            .get::<Transform>(entity)
            .expect("all entities have a transform");
        let local = Self {
            translation: transform.translation.as_dvec3(),
            rotation: transform.rotation.as_dquat().normalize(),
            scale: transform.scale.x.into(),
        };
        match world.get::<ChildOf>(entity) {
            Some(child_of) => Self::of(world, child_of.parent()).after(local),
            None => local,
        }
    }

    fn after(self, inner: Self) -> Self {
        Self {
            translation: self.translation + self.rotation * (inner.translation * self.scale),
            rotation: self.rotation * inner.rotation,
            scale: self.scale * inner.scale,
        }
    }
}

/// Returns `true` if the first entity equals the second entity or is its ancestor.
pub fn is_ancestor(world: &World, entity: Entity, of: Entity) -> bool {
    let parent = || world.get::<ChildOf>(of).map(ChildOf::parent);
    entity == of || parent().is_some_and(|parent| is_ancestor(world, entity, parent))
}
