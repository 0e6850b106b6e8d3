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

/// When a contact that goes on is told again, by a message with the phase `Ongoing`: a resource, which may be changed between
/// ticks. What began and what ended is told always; what touches can be read at any time in
/// [`Collisions`](crate::Collisions).
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OngoingEvents {
    /// In every tick, also at rest.
    #[default]
    EveryTick,
    /// In every tick in which the contact is not what it was: neither a depth, a normal nor a point.
    OnChange,
    /// Never.
    Never,
}

/// What a tick has to tell.
#[derive(Default)]
pub struct News {
    /// All contacts of this tick, with their phases.
    contacts: Vec<CollisionEvent>,
    /// What began and what ended.
    turns: Vec<CollisionEvent>,
    messages: Vec<CollisionEvent>,
    /// Of each contact of the last tick, its number among those of this one.
    numbers: Vec<u32>,
    newcomers: Vec<(Entity, u32)>,
    /// Whether all contacts of the last tick went on.
    is_settled: bool,
}

/// Writes the messages, updates what can be read, and triggers the observers, in this order: an observer sees the new
/// state, and may do to the world what it likes.
pub fn report(
    world: &mut World,
    colliding: &mut QueryState<(Entity, &mut CollidingEntities)>,
    mut news: Local<News>,
) {
    let start = Instant::now();
    let ongoing = *world.resource::<OngoingEvents>();
    world.resource_scope(|world, mut state: Mut<CollisionState>| {
        let News {
            contacts,
            turns,
            messages,
            numbers,
            newcomers,
            is_settled,
        } = &mut *news;
        turns.clear();
        let touching = world.resource::<TouchingPairs>();
        // Then all contacts are what they were, and go on; unless the app has restored others.
        let rests = !touching.is_changed && *is_settled && !state.is_changed();
        if rests {
            if ongoing == OngoingEvents::EveryTick {
                world.write_message_batch(state.contacts().iter().copied());
            }
        } else {
            contacts.clear();
            let end = |last: &CollisionEvent| end_reason(world, last.entity, last.other);
            merge(
                state.contacts(),
                &touching.contacts,
                end,
                numbers,
                |event, old| {
                    if !event.ended() {
                        contacts.push(event);
                    }
                    if !event.ongoing() {
                        turns.push(event);
                    }
                    let is_told = match ongoing {
                        OngoingEvents::EveryTick => true,
                        OngoingEvents::OnChange => !old.is_some_and(|old| event.is_as(old)),
                        OngoingEvents::Never => !event.ongoing(),
                    };
                    if is_told {
                        messages.push(event);
                    }
                },
            );
            *is_settled = turns.is_empty();
            state.replace(contacts, &touching.parts, numbers, newcomers);
            world.write_message_batch(messages.drain(..));
        }
        for (entity, mut entities) in colliding.iter_mut(world) {
            if !rests || entities.is_changed() {
                CollidingEntities::update(&mut entities, &state, entity);
            }
        }
        // The query leaves out disabled entities; what they touched has ended.
        let ended = turns.iter().filter(|event| event.ended());
        for entity in ended.flat_map(|event| [event.entity, event.other]) {
            if let Some(mut entities) = world.get_mut::<CollidingEntities>(entity) {
                CollidingEntities::update(&mut entities, &state, entity);
            }
        }
    });
    trigger_observers(world, &news.turns);
    world.resource_mut::<CollisionDiagnostics>().report = start.elapsed();
}

/// Merges two lists in order of their pairs, the contacts of the last tick and those of this one, and tells of each what has
/// become of it, with what it was if it goes on. Also the number that each contact of the last tick has in this one: too large
/// a number if it has ended.
fn merge(
    last: &[CollisionEvent],
    now: &[CollisionEvent],
    end_reason: impl Fn(&CollisionEvent) -> EndReason,
    numbers: &mut Vec<u32>,
    mut tell: impl FnMut(CollisionEvent, Option<&CollisionEvent>),
) {
    let pair = |contact: &CollisionEvent| (contact.entity, contact.other);
    let end = |contact: &CollisionEvent| CollisionEvent {
        phase: CollisionPhase::Ended(end_reason(contact)),
        ..*contact
    };
    let mut last = last.iter().peekable();
    numbers.clear();
    for (number, contact) in (0..).zip(now) {
        while let Some(gone) = last.next_if(|old| pair(old) < pair(contact)) {
            tell(end(gone), None);
            numbers.push(u32::MAX);
        }
        let old = last.next_if(|old| pair(old) == pair(contact));
        numbers.extend(old.map(|_| number));
        let phase = match old {
            Some(_) => CollisionPhase::Ongoing,
            None => CollisionPhase::Started,
        };
        tell(CollisionEvent { phase, ..*contact }, old);
    }
    for gone in last {
        tell(end(gone), None);
    }
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
fn trigger_observers(world: &mut World, turns: &[CollisionEvent]) {
    for event in turns {
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
