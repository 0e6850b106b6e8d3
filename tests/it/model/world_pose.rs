//! The world poses of entities as the models compute them.

use bevy::{
    math::{DQuat, DVec3},
    prelude::*,
};

/// The pose of an entity with a uniform scale.
#[derive(Clone, Copy)]
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

    /// Returns the 2D pose. The rotation must be about z.
    pub fn in_2d(self) -> Isometry2d {
        let angle = 2.0 * f64::atan2(self.rotation.z, self.rotation.w);
        let rotation = Rot2::from_sin_cos(angle.sin() as f32, angle.cos() as f32);
        Isometry2d::new(self.translation.as_vec3().truncate(), rotation)
    }

    pub fn in_3d(self) -> Isometry3d {
        Isometry3d::new(self.translation.as_vec3(), self.rotation.as_quat())
    }
}

/// Returns `true` if the first entity equals the second or is an ancestor of it.
pub fn is_ancestor(world: &World, entity: Entity, of: Entity) -> bool {
    let parent = || world.get::<ChildOf>(of).map(ChildOf::parent);
    entity == of || parent().is_some_and(|parent| is_ancestor(world, entity, parent))
}
