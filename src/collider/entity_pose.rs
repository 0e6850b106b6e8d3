//! The pose of an entity, composed from its `Transform` and those of its ancestors.
//!
//! Bevy propagates `GlobalTransform` once per frame, after the fixed steps, so it is out of date
//! within a fixed step. This file composes the `Transform`s itself, in every tick, in f64.

use bevy::prelude::*;

use crate::{
    collider::ColliderError,
    collision::MAX_ANCESTORS,
    shape::{Affine, WorldPose},
    space::Space,
};

/// Computes the pose of an entity. Ancestors without a `Transform` count as the identity.
///
/// This reads the world rather than a query, because queries exclude disabled entities, and the
/// `Transform` of a disabled parent still counts.
pub(crate) fn entity_pose<V: Space>(
    world: &World,
    entity: Entity,
) -> Result<WorldPose<V::DVec>, ColliderError> {
    let transform = world
        .get::<Transform>(entity)
        .ok_or(ColliderError::NoPose)?;
    let mut child_of = world.get::<ChildOf>(entity);
    if child_of.is_none() {
        return WorldPose::from_transform::<V>(transform).ok_or(ColliderError::NotFinite);
    }
    let mut affine = Affine::from_transform(transform);
    for _ in 0..MAX_ANCESTORS {
        let Some(parent) = child_of.map(ChildOf::parent) else {
            return WorldPose::from_affine::<V>(&affine).ok_or(ColliderError::NotFinite);
        };
        if let Some(transform) = world.get::<Transform>(parent) {
            affine = Affine::from_transform(transform).after(&affine);
        }
        child_of = world.get::<ChildOf>(parent);
    }
    Err(ColliderError::NoPose)
}
