//! The reason why a contact ended. The report calls [`end_reason`] for each contact that has ended.

use bevy::prelude::*;

use crate::{
    collider::Collider,
    collision::EndReason,
    pipeline::{
        broad_phase::candidates::Candidates, proxies::Proxies, unfiltered::disabling_components,
    },
};

/// Returns the reason why two entities that touched in the previous tick no longer touch.
pub fn end_reason(world: &World, entity: Entity, other: Entity) -> EndReason {
    let entities = [entity, other].into_iter();
    let reason = entities
        .filter_map(|entity| entity_end_reason(world, entity))
        .min();
    reason.unwrap_or_else(|| pair_end_reason(world, entity, other))
}

/// Returns the reason why an entity can no longer touch anything, or `None` if the entity can still
/// touch others.
fn entity_end_reason(world: &World, entity: Entity) -> Option<EndReason> {
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

fn pair_end_reason(world: &World, entity: Entity, other: Entity) -> EndReason {
    let proxies = world.resource::<Proxies>();
    let custom = &world.resource::<Candidates>().custom;
    let [a, b] = [entity, other].map(|entity| proxies.party(entity));
    if let Some(exclusion) = proxies.rules.exclusion(a, b) {
        exclusion.into()
    } else if proxies
        .rules
        .rejections
        .rejects_contact_at_end(entity, other)
    {
        EndReason::Rejected
    } else if !custom.allows((entity, other)) {
        EndReason::NotCandidate
    } else {
        EndReason::Separated
    }
}
