//! Last stage: what began, what goes on, what ended.
//!
//! The touching pairs of the last tick and of this one, both in order, are merged: a pair on one side only has ended or
//! begun. Nothing that ends a contact has to be watched for, so nothing can be missed: whatever happened, the pair is no
//! longer among those that touch, and the world tells the reason.

use bevy::{
    ecs::{entity_disabling::DefaultQueryFilters, event::EntityEvent},
    platform::time::Instant,
    prelude::*,
};

use super::{broad_phase::BroadPhase, narrow_phase::TouchingPairs, sync::Proxies};
use crate::{
    collider::Collider,
    collisions::CollidingEntities,
    diagnostics::CollisionDiagnostics,
    event::{CollisionEnded, CollisionEvent, CollisionPhase, CollisionStarted, EndReason},
    layers::CollisionLayers,
    state::CollisionState,
};

/// Writes the messages, updates what can be read, and triggers the observers, in this order: an observer sees the new
/// state, and may do to the world what it likes.
pub fn report(
    world: &mut World,
    colliding: &mut QueryState<(Entity, &mut CollidingEntities)>,
    mut events: Local<Vec<CollisionEvent>>,
) {
    let start = Instant::now();
    events.clear();
    world.resource_scope(|world, mut state: Mut<CollisionState>| {
        let touching = world.resource::<TouchingPairs>();
        merge(state.contacts(), &touching.contacts, &mut events, |last| {
            end_reason(world, last.entity, last.other)
        });
        let contacts = events.iter().filter(|event| !event.ended()).copied();
        state.replace(contacts, &touching.parts);
        world.write_message_batch(events.iter().copied());

        for (entity, mut entities) in colliding.iter_mut(world) {
            CollidingEntities::update(&mut entities, &state, entity);
        }
        // The query leaves out disabled entities; what they touched has ended.
        let ended = events.iter().filter(|event| event.ended());
        for entity in ended.flat_map(|event| [event.entity, event.other]) {
            if let Some(mut entities) = world.get_mut::<CollidingEntities>(entity) {
                CollidingEntities::update(&mut entities, &state, entity);
            }
        }
    });
    trigger_observers(world, &events);
    world.resource_mut::<CollisionDiagnostics>().report = start.elapsed();
}

/// Merges two lists in order of their pairs: the contacts of the last tick and those of this one.
fn merge(
    last: &[CollisionEvent],
    now: &[CollisionEvent],
    events: &mut Vec<CollisionEvent>,
    end_reason: impl Fn(&CollisionEvent) -> EndReason,
) {
    let pair = |contact: &CollisionEvent| (contact.entity, contact.other);
    let end = |contact: &CollisionEvent| CollisionEvent {
        phase: CollisionPhase::Ended(end_reason(contact)),
        ..*contact
    };
    let mut last = last.iter().peekable();
    for contact in now {
        while let Some(gone) = last.next_if(|old| pair(old) < pair(contact)) {
            events.push(end(gone));
        }
        let phase = match last.next_if(|old| pair(old) == pair(contact)) {
            Some(_) => CollisionPhase::Ongoing,
            None => CollisionPhase::Started,
        };
        events.push(CollisionEvent { phase, ..*contact });
    }
    events.extend(last.map(end));
}

/// Why two entities that touched in the last tick do so no longer.
fn end_reason(world: &World, entity: Entity, other: Entity) -> EndReason {
    let of_one = |entity: Entity| {
        let Ok(found) = world.get_entity(entity) else {
            return Some(EndReason::Despawned);
        };
        let filters = world.get_resource::<DefaultQueryFilters>();
        if filters.is_some_and(|it| it.disabling_ids().any(|id| found.contains_id(id))) {
            Some(EndReason::Disabled)
        } else if !found.contains::<Collider>() {
            Some(EndReason::ColliderRemoved)
        } else if !world.resource::<Proxies>().contains(entity) {
            Some(EndReason::Invalid)
        } else {
            None
        }
    };
    let of_pair = || {
        let layers = |entity| {
            let layers = world.get::<CollisionLayers>(entity);
            layers.copied().unwrap_or_default()
        };
        if !layers(entity).interacts_with(layers(other)) {
            EndReason::Filtered
        } else if *world.resource::<BroadPhase>() == BroadPhase::Custom
            && !world
                .resource::<TouchingPairs>()
                .was_supplied((entity, other))
        {
            EndReason::NotCandidate
        } else {
            EndReason::Separated
        }
    };
    let of_either = [entity, other].into_iter().filter_map(of_one).min();
    of_either.unwrap_or_else(of_pair)
}

/// Triggers the entity events on both sides of each pair, as far as they still exist and anybody observes.
fn trigger_observers(world: &mut World, events: &[CollisionEvent]) {
    for event in events.iter().filter(|event| !event.ongoing()) {
        for side in [*event, event.flipped()] {
            // Asked each time: the observer before may have despawned the entity, or added an observer.
            if world.get_entity(side.entity).is_err() {
                continue;
            }
            if side.ended() && is_observed::<CollisionEnded>(world) {
                world.trigger(CollisionEnded::new(side));
            } else if side.started() && is_observed::<CollisionStarted>(world) {
                world.trigger(CollisionStarted::new(side));
            } else {
                continue;
            }
            // What the observers ask for with commands happens before the next one runs.
            world.flush();
        }
    }
}

/// Whether there is any observer of the event.
fn is_observed<E: EntityEvent>(world: &World) -> bool {
    let observers = world
        .event_key::<E>()
        .and_then(|key| world.observers().try_get_observers(key));
    observers.is_some_and(|observers| {
        !observers.global_observers().is_empty() || !observers.entity_observers().is_empty()
    })
}
