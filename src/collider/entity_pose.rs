//! The pose of an entity, composed from its `Transform` and its ancestors' `Transform`s.
//!
//! `Sync` calls [`entity_pose`] for new colliders, and for moved colliders with parents. The
//! systems of the casters call [`compose_pose`] in each tick.
//!
//! Bevy updates `GlobalTransform` once per frame, after the fixed steps. Within a fixed step,
//! `GlobalTransform` is therefore out of date. So this file composes the `Transform`s in every
//! tick, in f64.

use bevy::prelude::*;

use crate::{
    collider::ColliderError,
    collision::MAX_ANCESTORS,
    shape::{Affine, WorldPose},
    space::Space,
};

/// Computes the pose of an entity. Ancestors without a `Transform` count as the identity.
///
/// The `Transform` of a disabled parent is still part of the pose. So this function reads the world
/// directly, because queries exclude disabled entities.
pub(crate) fn entity_pose<V: Space>(
    world: &World,
    entity: Entity,
) -> Result<WorldPose<V::DVec>, ColliderError> {
    compose_pose::<V>(
        entity,
        |entity| world.get::<Transform>(entity),
        |entity| world.get::<ChildOf>(entity).map(ChildOf::parent),
    )
}

/// Computes the pose of an entity, given functions that return the transform and the parent of an
/// entity.
pub(crate) fn compose_pose<'a, V: Space>(
    entity: Entity,
    transform_of: impl Fn(Entity) -> Option<&'a Transform>,
    parent_of: impl Fn(Entity) -> Option<Entity>,
) -> Result<WorldPose<V::DVec>, ColliderError> {
    let transform = transform_of(entity).ok_or(ColliderError::NoPose)?;
    let mut parent = parent_of(entity);
    if parent.is_none() {
        return WorldPose::from_transform(transform).ok_or(ColliderError::NotFinite);
    }
    let mut affine = Affine::from_transform(transform);
    for _ in 0..MAX_ANCESTORS {
        let Some(ancestor) = parent else {
            return WorldPose::from_affine(&affine).ok_or(ColliderError::NotFinite);
        };
        if let Some(transform) = transform_of(ancestor) {
            affine = Affine::from_transform(transform).after(&affine);
        }
        parent = parent_of(ancestor);
    }
    Err(ColliderError::NoPose)
}
