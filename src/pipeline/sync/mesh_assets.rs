//! Colliders from mesh assets, built before the first stage. The system [`resolve`] runs before
//! `sync` in each tick, and the system [`drop_changed`] runs once per frame.
//!
//! Colliders are built only after one of two changes:
//!
//! * A mesh is loaded: every tick looks up the meshes that were missing before. Bevy's asset
//!   messages arrive only in `PostUpdate`, and never if the app runs schedules by hand.
//! * A loaded mesh changes: only Bevy's messages report the change. The messages are read in every
//!   frame, because a schedule that runs less often would miss some messages.

use std::collections::{HashMap, HashSet};

use bevy::prelude::*;

use crate::{
    collider::{Collider, ColliderFromMesh, Recipe},
    pipeline::unfiltered::Unfiltered,
    shape::MeshError,
};

/// The colliders of meshes. All entities with the same mesh and the same kind of collider share a
/// collider.
#[derive(Resource, Default)]
pub struct MeshColliders {
    built: HashMap<Recipe, Collider>,
    /// The meshes whose colliders were dropped since the last [`resolve`].
    changed: HashSet<AssetId<Mesh>>,
}

impl MeshColliders {
    /// Returns the collider of a mesh, or `None` if the mesh is not loaded.
    fn get(&mut self, recipe: Recipe, meshes: &Assets<Mesh>) -> Option<Collider> {
        let mesh = meshes.get(recipe.mesh)?;
        let build = || recipe.make(mesh).unwrap_or_else(Collider::rejected);
        Some(self.built.entry(recipe).or_insert_with(build).clone())
    }

    fn drop_colliders_of(&mut self, meshes: &HashSet<AssetId<Mesh>>) {
        let dropped = self
            .built
            .extract_if(|recipe, _| meshes.contains(&recipe.mesh));
        self.changed.extend(dropped.map(|(recipe, _)| recipe.mesh));
    }
}

/// Drops the colliders of changed meshes. An added mesh needs no action: if it replaces another
/// mesh, the removal of that mesh was reported before.
pub fn drop_changed(
    mut events: MessageReader<AssetEvent<Mesh>>,
    mut colliders: ResMut<MeshColliders>,
) {
    let meshes: HashSet<_> = events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Modified { id } | AssetEvent::Removed { id } => Some(*id),
            _ => None,
        })
        .collect();
    if !meshes.is_empty() {
        colliders.drop_colliders_of(&meshes);
    }
}

type HasChangedRecipe = (
    With<ColliderFromMesh>,
    Or<(Changed<ColliderFromMesh>, Changed<Mesh2d>, Changed<Mesh3d>)>,
);

/// Inserts the colliders of entities whose mesh or [`ColliderFromMesh`] changed. The function
/// writes to the world directly, because an app may delay commands until the end of the schedule.
pub fn resolve(
    world: &mut World,
    mut touched: Local<Unfiltered<Entity, HasChangedRecipe>>,
    mut all: Local<Unfiltered<Entity, With<ColliderFromMesh>>>,
    mut waiting: Local<Vec<Entity>>,
    mut has_warned: Local<bool>,
) {
    // Disabled entities are included, because otherwise their changes would be lost.
    waiting.extend(touched.0.iter(world));
    let mut ready = Vec::new();
    world.resource_scope(|world, mut colliders: Mut<MeshColliders>| {
        if !colliders.changed.is_empty() {
            let changed = core::mem::take(&mut colliders.changed);
            waiting.extend(all.0.iter(world).filter(|entity| {
                let recipe = read_recipe(world, *entity).and_then(Result::ok);
                recipe.is_some_and(|recipe| changed.contains(&recipe.mesh))
            }));
        }
        if waiting.is_empty() {
            return;
        }
        waiting.sort_unstable();
        waiting.dedup();
        if let Some(meshes) = world.get_resource::<Assets<Mesh>>() {
            *has_warned = false;
            waiting.retain(|entity| {
                let collider = match read_recipe(world, *entity) {
                    None => return false,
                    Some(Err(error)) => Some(Collider::rejected(error.into())),
                    Some(Ok(recipe)) => colliders.get(recipe, meshes),
                };
                let still_waits = collider.is_none();
                ready.extend(collider.map(|collider| (*entity, collider)));
                still_waits
            });
        } else if let (Some(first), false) = (waiting.first(), *has_warned) {
            *has_warned = true;
            log::warn!(
                "entity {first} cannot get a collider from its mesh: there is no `Assets<Mesh>` \
                 (Bevy's `MeshPlugin` adds it)"
            );
        }
    });
    // An observer of an earlier insertion may have despawned the entity.
    for (entity, collider) in ready {
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.insert(collider);
        }
    }
}

/// Returns the recipe of an entity, or `None` if the entity does not exist or has no recipe.
fn read_recipe(world: &World, entity: Entity) -> Option<Result<Recipe, MeshError>> {
    world.get_entity(entity).ok().and_then(Recipe::of)
}
