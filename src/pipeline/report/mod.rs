//! Last stage: what began, what goes on, what ended.
//!
//! The contacts of the last tick and those found in this one, both in order, are merged: a pair that is found and was none
//! before has begun. One that was, and is not found, stands if nothing of it has changed and it is still a candidate, so that it
//! was not tested; or else it has ended. Nothing that ends a contact has to be watched for, so nothing can be missed: whatever
//! happened, the pair is no longer among those that touch, and the world tells the reason.

mod message_memory;

use bevy::{
    ecs::{change_detection::Tick, event::EntityEvent},
    platform::time::Instant,
    prelude::*,
};

use crate::{
    buffer::{Buffer, Reclaim, reserve_amortized},
    collider::{Collider, CollisionLayers},
    collision::{
        Changes, CollidingEntities, CollisionEnded, CollisionEvent, CollisionPhase,
        CollisionStarted, Collisions, EndReason,
    },
    diagnostics::CollisionDiagnostics,
    pipeline::{
        broad_phase::BroadPhase,
        narrow_phase::FoundContacts,
        progress::Progress,
        report::message_memory::MessageRoom,
        sync::{Place, Proxies},
        unfiltered::{Unfiltered, disabling_components},
    },
};

/// When a contact that goes on is told again, by a message with the phase `Ongoing`: a resource, which may be changed between
/// ticks. [`HeadbuttPlugin::with_ongoing`](crate::HeadbuttPlugin::with_ongoing) inserts it. What began and what ended is told
/// always; what touches can be read at any time in [`Collisions`](crate::Collisions).
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OngoingEvents {
    /// In every tick, also at rest.
    #[default]
    EveryTick,
    /// In every tick in which a depth, a normal or a point of the contact is not what it was.
    OnChange,
    /// Never.
    Never,
}

/// When [`Collisions`] was last written that the tick knows of. If it has been since, then by the app.
#[derive(Resource, Default)]
pub struct Written(Option<Tick>);

impl Written {
    /// Whether the contacts are those that the tick knows of.
    pub fn are_own(world: &World) -> bool {
        world.resource::<Self>().0 == last_written(world)
    }

    /// From now on the tick knows of those that are there.
    pub fn accept(world: &mut World) {
        world.resource_mut::<Self>().0 = last_written(world);
    }
}

fn last_written(world: &World) -> Option<Tick> {
    let state = world.get_resource_ref::<Collisions>();
    state.map(|state| state.last_changed())
}

/// What a tick has to tell.
#[derive(Default)]
pub struct News {
    /// What ended; and what began, if anybody observes.
    turns: Buffer<CollisionEvent>,
    changes: Changes,
    /// Whether all contacts of the last tick went on.
    is_settled: bool,
    reclaim: Reclaim,
    messages: MessageRoom,
}

/// Writes the messages, updates what can be read, and triggers the observers, in this order: an observer sees the new
/// state, and may do to the world what it likes.
pub fn report(
    world: &mut World,
    mut colliding: Local<Unfiltered<(Entity, &mut CollidingEntities)>>,
    mut news: Local<News>,
) {
    let start = Instant::now();
    if *world.resource::<Progress>() != Progress::NarrowPhase {
        return;
    }
    let ongoing = *world.resource::<OngoingEvents>();
    // Then all contacts are what they were, and go on.
    let is_changed = world.resource::<FoundContacts>().is_changed;
    let are_own = Written::are_own(world);
    let rests = !is_changed && news.is_settled && are_own;
    // Not by a `resource_scope`, which notes a change in any case.
    let mut place = world.resource_mut::<Collisions>();
    let mut state = core::mem::take(place.bypass_change_detection());
    news.turns.clear();
    if !rests {
        let mut messages = core::mem::take(&mut *world.resource_mut::<Messages<CollisionEvent>>());
        news.collect(world, &mut state, ongoing, &mut messages);
        *world.resource_mut::<Messages<CollisionEvent>>() = messages;
    } else if ongoing == OngoingEvents::EveryTick {
        world.write_message_batch(state.iter());
    }
    news.reclaim.begin_tick();
    // Those of disabled entities too, which touch nothing: a cloned or restored entity can bring an
    // old list.
    for (entity, mut entities) in colliding.0.iter_mut(world) {
        if !rests || entities.is_changed() {
            CollidingEntities::update(&mut entities, &state, entity);
        }
        if news.reclaim.is_turn_of(entity.index_u32()) {
            entities.bypass_change_detection().reclaim();
        }
    }
    world.resource_mut::<CollisionDiagnostics>().contacts = state.len();
    news.reclaim(
        &mut state,
        &mut world.resource_mut::<Messages<CollisionEvent>>(),
    );
    let mut place = world.resource_mut::<Collisions>();
    *place.bypass_change_detection() = state;
    if !rests {
        place.set_changed();
    }
    // What was restored in the midst of this tick is what the next one begins with anew.
    if are_own {
        Written::accept(world);
    }
    *world.resource_mut::<Progress>() = Progress::Report;
    // So that what an observer writes comes later.
    world.increment_change_tick();
    trigger_observers(world, &news.turns);
    world.resource_mut::<CollisionDiagnostics>().report = start.elapsed();
}

impl News {
    /// Shrinks the buffers.
    fn reclaim(&mut self, state: &mut Collisions, messages: &mut Mut<Messages<CollisionEvent>>) {
        let Self {
            turns,
            changes,
            reclaim,
            messages: room,
            ..
        } = self;
        // Only the capacity changes. The largest lists come first.
        room.reclaim(messages.bypass_change_detection(), reclaim);
        turns.reclaim(reclaim);
        state.reclaim(changes, reclaim);
    }

    /// Merges what touched in the last tick with what was found in this one.
    fn collect(
        &mut self,
        world: &World,
        state: &mut Collisions,
        ongoing: OngoingEvents,
        messages: &mut Messages<CollisionEvent>,
    ) {
        let Self {
            turns,
            changes,
            is_settled,
            ..
        } = self;
        let found = world.resource::<FoundContacts>();
        let stands = stands(world);
        let is_observed = is_anything_observed(world);
        let count = state.len();
        let unfound = |old: &CollisionEvent| {
            if stands(old) {
                CollisionPhase::Ongoing
            } else {
                CollisionPhase::Ended(end_reason(world, old.entity, old.other))
            }
        };
        state.update(found.pairs(), changes, unfound, |event, old| {
            if !event.ongoing() && (is_observed || event.ended()) {
                reserve_amortized(turns, 1);
                turns.push(*event);
            }
            let is_told = match ongoing {
                OngoingEvents::EveryTick => true,
                OngoingEvents::OnChange => {
                    !(event.ongoing() && old.is_some_and(|it| event.is_as(it)))
                }
                OngoingEvents::Never => !event.ongoing(),
            };
            if is_told {
                messages.write(*event);
            }
        });
        // None ended, and as many touch as did: so none began.
        *is_settled = turns.is_empty() && state.len() == count;
        state.update_parts(found.parts(), stands);
    }
}

/// Whether a contact of the last tick is as it was without having been found: neither of the two has changed, and the pair is
/// still a candidate.
fn stands(world: &World) -> impl Fn(&CollisionEvent) -> bool {
    let proxies = world.resource::<Proxies>();
    let found = world.resource::<FoundContacts>();
    let as_was = |entity: Entity| match proxies.place(entity) {
        Some(Place::Plane(slot)) => !proxies.plane.is_changed(slot),
        Some(Place::Solid(slot)) => !proxies.solid.is_changed(slot),
        _ => false,
    };
    let is_candidate = |contact: &CollisionEvent| {
        proxies.source == BroadPhase::Automatic || found.was_supplied(contact.pair())
    };
    move |contact| as_was(contact.entity) && as_was(contact.other) && is_candidate(contact)
}

/// Why two entities that touched in the last tick do so no longer.
fn end_reason(world: &World, entity: Entity, other: Entity) -> EndReason {
    let of_one = |entity: Entity| {
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
    };
    let of_pair = || {
        let layers = |entity| {
            let layers = world.get::<CollisionLayers>(entity);
            layers.copied().unwrap_or_default()
        };
        if !layers(entity).interacts_with(layers(other)) {
            EndReason::Filtered
        } else if world.resource::<Proxies>().source == BroadPhase::Custom
            && !world
                .resource::<FoundContacts>()
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
    if !is_anything_observed(world) {
        return;
    }
    for event in turns {
        for side in [*event, event.flipped()] {
            // Asked each time: the observer before may have despawned the entity, or added an observer.
            if world.get_entity(side.entity).is_err() {
                continue;
            }
            if let Some(reason) = side.end_reason()
                && is_observed::<CollisionEnded>(world)
            {
                world.trigger(CollisionEnded::new(side, reason));
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

/// Whether there is any observer of what began or ended.
fn is_anything_observed(world: &World) -> bool {
    is_observed::<CollisionStarted>(world) || is_observed::<CollisionEnded>(world)
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
