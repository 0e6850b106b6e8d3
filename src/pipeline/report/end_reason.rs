//! The reason why a contact ended.

use bevy::prelude::*;

use crate::{
    collider::{Collider, CollisionLayers},
    collision::EndReason,
    pipeline::{
        broad_phase::candidates::Candidates, proxies::Proxies, unfiltered::disabling_components,
    },
};

/// Returns why two entities that touched in the previous tick no longer touch.
pub fn end_reason(world: &World, entity: Entity, other: Entity) -> EndReason {
    let of_entities = [entity, other].into_iter();
    let reason = of_entities
        .filter_map(|entity| reason_of_entity(world, entity))
        .min();
    reason.unwrap_or_else(|| reason_of_pair(world, entity, other))
}

/// Returns why an entity can no longer touch anything, or `None` if it can.
fn reason_of_entity(world: &World, entity: Entity) -> Option<EndReason> {
    let Ok(found) = world.get_entity(entity) else {
        return Some(EndReason::Despawned);
    };
    if disabling_components(world).any(|id| found.contains_id(id)) {
        Some(EndReason::Disabled)
    } else if !found.contains::<Collider>() {
        Some(EndReason::ColliderRemoved)
    } else if !world.resource::<Proxies>().contains(entity) {
        Some(EndReason::Invalid)
    } else {
        None
    }
}

fn reason_of_pair(world: &World, entity: Entity, other: Entity) -> EndReason {
    let [layers, other_layers] = [entity, other].map(|entity| {
        let layers = world.get::<CollisionLayers>(entity);
        layers.copied().unwrap_or_default()
    });
    let custom = &world.resource::<Candidates>().custom;
    if !layers.interacts_with(other_layers) {
        EndReason::Filtered
    } else if !custom.allows((entity, other)) {
        EndReason::NotCandidate
    } else {
        EndReason::Separated
    }
}
