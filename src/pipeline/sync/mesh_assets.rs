//! Before the first stage: colliders of the meshes that have come or changed.
//!
//! Nothing is done where nothing has changed. Meshes that are not there yet are asked for each tick, rather than waited for
//! by Bevy's messages, which are told only in `PostUpdate`: so what is added and spawned collides in the next tick, and what
//! runs a schedule by hand needs no messages at all. That a mesh has changed only the messages tell. They are read each
//! frame, because a schedule that runs now and then would lose some.

use std::collections::{HashMap, HashSet};

use bevy::{asset::AssetEventSystems, ecs::schedule::InternedScheduleLabel, prelude::*};

use crate::{
    Collider,
    collider::{ColliderFromMesh, Recipe},
    pipeline::{HeadbuttSystems, sync::sync, unfiltered::Unfiltered},
    shape::MeshError,
};

/// Adds the making of colliders to the first stage of a schedule.
pub fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.register_type::<ColliderFromMesh>()
        .init_resource::<MeshColliders>()
        .add_systems(
            PostUpdate,
            forget_changed
                .after(AssetEventSystems)
                .run_if(resource_exists::<Messages<AssetEvent<Mesh>>>),
        )
        .add_systems(
            schedule,
            resolve
                .in_set(HeadbuttSystems::Sync)
                .after(forget_changed)
                .before(sync),
        );
}

/// The colliders of meshes, for all entities that share them.
#[derive(Resource, Default)]
pub struct MeshColliders {
    made: HashMap<Recipe, Collider>,
    /// Those of which a collider was made that has been forgotten since.
    changed: HashSet<AssetId<Mesh>>,
}

impl MeshColliders {
    /// The collider of a mesh, or `None` as long as there is none.
    fn get(&mut self, recipe: Recipe, meshes: &Assets<Mesh>) -> Option<Collider> {
        let mesh = meshes.get(recipe.mesh)?;
        let make = || recipe.make(mesh).unwrap_or_else(Collider::rejected);
        Some(self.made.entry(recipe).or_insert_with(make).clone())
    }

    fn forget(&mut self, meshes: &HashSet<AssetId<Mesh>>) {
        let changed = &mut self.changed;
        self.made.retain(|recipe, _| {
            let is_forgotten = meshes.contains(&recipe.mesh);
            if is_forgotten {
                changed.insert(recipe.mesh);
            }
            !is_forgotten
        });
    }
}

/// Forgets the colliders of meshes that have changed. (Of one that was added there is none yet, unless what it replaces was
/// removed before.)
fn forget_changed(
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
        colliders.forget(&meshes);
    }
}

/// An entity whose recipe may have changed.
type Touched = (
    With<ColliderFromMesh>,
    Or<(Changed<ColliderFromMesh>, Changed<Mesh2d>, Changed<Mesh3d>)>,
);

/// Gives the entities whose mesh or wish has changed their colliders. In the world itself, not by commands, which an app may
/// have put off until the end of the schedule.
pub fn resolve(
    world: &mut World,
    mut touched: Local<Unfiltered<Entity, Touched>>,
    mut all: Local<Unfiltered<Entity, With<ColliderFromMesh>>>,
    mut waiting: Local<Vec<Entity>>,
    mut has_warned: Local<bool>,
) {
    // Disabled entities as well: what changes while disabled would not be seen as changed later.
    waiting.extend(touched.0.iter(world));
    world.resource_scope(|world, mut colliders: Mut<MeshColliders>| {
        if !colliders.changed.is_empty() {
            let changed = core::mem::take(&mut colliders.changed);
            waiting.extend(all.0.iter(world).filter(|entity| {
                let recipe = recipe_of(world, *entity).and_then(Result::ok);
                recipe.is_some_and(|recipe| changed.contains(&recipe.mesh))
            }));
        }
        if waiting.is_empty() {
            return;
        }
        waiting.sort_unstable();
        waiting.dedup();
        let mut ready = Vec::new();
        if let Some(meshes) = world.get_resource::<Assets<Mesh>>() {
            *has_warned = false;
            waiting.retain(|entity| {
                let collider = match recipe_of(world, *entity) {
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
            log::warn!("entity {first} gets no collider of a mesh: there is no Assets<Mesh>, which Bevy's MeshPlugin adds");
        }
        for (entity, collider) in ready {
            // An observer of the one before may have despawned it.
            if let Ok(mut entity) = world.get_entity_mut(entity) {
                entity.insert(collider);
            }
        }
    });
}

/// That of an entity, if it is there and asks for one.
fn recipe_of(world: &World, entity: Entity) -> Option<Result<Recipe, MeshError>> {
    world.get_entity(entity).ok().and_then(Recipe::of)
}
