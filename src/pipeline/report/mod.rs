//! Last stage: reports which contacts started, continue or ended. The system [`report`] runs once
//! per tick.
//!
//! The contacts of the previous tick are merged with the contacts found in this tick. Both lists of
//! contacts are sorted by pair. If a pair of the previous tick was not found, one of two cases
//! applies:
//!
//! * If neither collider changed and the pair is still a candidate, the pair was not retested, and
//!   its contact continues.
//! * Otherwise, the contact of the pair has ended.
//!
//! So no end of a contact is missed, whatever its cause. The reason for the end is read from the
//! world afterwards (`end_reason.rs`). `observers.rs` triggers the observers.

mod end_reason;
mod observers;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Peak, WINDOW, reserve_amortized},
    collision::{
        Changes, CollidingEntities, CollisionEvent, CollisionPhase, Collisions, EndReason,
    },
    diagnostics::CollisionDiagnostics,
    pipeline::{
        broad_phase::candidates::Candidates,
        narrow_phase::found_contacts::FoundContacts,
        progress::{Completed, Progress},
        proxies::Proxies,
        report::{
            end_reason::end_reason,
            observers::{has_observers, trigger_observers},
        },
        swept::{events::SweptEvents, store_poses},
        unfiltered::Unfiltered,
    },
    settings::OngoingEvents,
};

/// The events of a tick, and the stage's buffers.
#[derive(Default)]
pub struct EventBatch {
    /// The contacts that the narrow phase found in this tick. Between ticks, [`FoundContacts`] has
    /// this list.
    found: Vec<CollisionEvent>,
    /// All `Ended` events, and also all `Started` events if there are observers.
    transitions: Vec<CollisionEvent>,
    changes: Changes,
    swept: SweptEvents,
    /// `true` if no contact started or ended in the latest tick.
    is_settled: bool,
    /// The peak number of contacts, rejected contacts included, poses and teleported entities.
    state_peak: Peak,
    /// The peak number of events.
    event_peak: Peak,
}

/// Writes the messages, then updates [`CollidingEntities`], then triggers the observers. So
/// observers see the new state. Observers may mutate the world freely.
pub fn report(
    world: &mut World,
    mut colliding: Local<Unfiltered<(Entity, &mut CollidingEntities)>>,
    mut batch: Local<EventBatch>,
) {
    let start = Instant::now();
    if world.resource::<Progress>().completed != Completed::NarrowPhase {
        return;
    }
    let proxies = world.resource::<Proxies>();
    let is_changed = proxies.is_restored
        || proxies.has_changes()
        || world.resource::<Candidates>().custom.is_changed;
    let is_current = Progress::has_own_contacts(world);
    let is_at_rest = !is_changed && batch.is_settled && is_current;
    // The state is taken out without a `resource_scope`, which would mark `Collisions` as changed.
    let mut resource = world.resource_mut::<Collisions>();
    let mut state = core::mem::take(resource.bypass_change_detection());
    batch.swap_found(world);
    batch.write_messages(world, &mut state, is_at_rest);
    // `store_poses` forgets the teleported entities.
    batch.state_peak.record_len(state.item_count());
    // A filter may have rejected most contacts.
    let tested = world.resource::<FoundContacts>().tested;
    batch.state_peak.record_len(tested);
    store_poses(&mut state, world.resource(), is_current);
    let tick = world.resource::<Progress>().begun as u32;
    // Disabled entities are included: a disabled entity that was cloned or restored may have an
    // outdated `CollidingEntities`.
    for (entity, mut entities) in colliding.0.iter_mut(world) {
        if !is_at_rest || entities.is_changed() {
            CollidingEntities::update(&mut entities, &state, entity);
        }
        // Each tick of the window frees the unused memory of some of the components.
        if tick.wrapping_add(entity.index_u32()) % WINDOW == 0 {
            entities.bypass_change_detection().end_window();
        }
    }
    world.resource_mut::<CollisionDiagnostics>().contacts = state.len();
    // Only capacities change, so the messages are not marked as changed.
    let mut messages = world.resource_mut::<Messages<CollisionEvent>>();
    batch.end_tick(&mut state, messages.bypass_change_detection());
    batch.swap_found(world);
    let mut resource = world.resource_mut::<Collisions>();
    *resource.bypass_change_detection() = state;
    if !is_at_rest {
        resource.set_changed();
    }
    // If the app restored other contacts during this tick, nothing is recorded, so the next tick
    // tests all pairs again.
    if is_current {
        Progress::record_own_contacts(world);
    }
    world.resource_mut::<Progress>().completed = Completed::Report;
    // Changes by the observers get a later change tick, so that the next tick detects these
    // changes.
    world.increment_change_tick();
    trigger_observers(world, &batch.transitions);
    world.resource_mut::<CollisionDiagnostics>().report = start.elapsed();
}

impl EventBatch {
    fn swap_found(&mut self, world: &mut World) {
        let mut found = world.resource_mut::<FoundContacts>();
        core::mem::swap(&mut self.found, &mut found.pairs);
    }

    /// Updates the contacts, and writes the messages.
    fn write_messages(&mut self, world: &mut World, state: &mut Collisions, is_at_rest: bool) {
        self.transitions.clear();
        let ongoing = *world.resource::<OngoingEvents>();
        if !is_at_rest {
            let mut messages = core::mem::take(&mut *world.resource_mut::<Messages<_>>());
            self.merge(world, state, ongoing, &mut messages);
            *world.resource_mut::<Messages<_>>() = messages;
        } else if ongoing == OngoingEvents::EveryTick {
            world.write_message_batch(state.iter());
        }
    }

    /// Merges the contacts of the previous tick with the contacts found in this tick, and writes
    /// the messages.
    fn merge(
        &mut self,
        world: &World,
        state: &mut Collisions,
        ongoing: OngoingEvents,
        messages: &mut Messages<CollisionEvent>,
    ) {
        let Self {
            found: pairs,
            transitions,
            changes,
            swept,
            is_settled,
            ..
        } = self;
        let found = world.resource::<FoundContacts>();
        let proxies = world.resource::<Proxies>();
        let custom = &world.resource::<Candidates>().custom;
        let is_kept = |old: &CollisionEvent| {
            let are_unchanged = proxies.is_unchanged(old.entity) && proxies.is_unchanged(old.other);
            are_unchanged && custom.allows(old.pair())
        };
        let phase_if_not_found = |old: &CollisionEvent| {
            if is_kept(old) {
                CollisionPhase::Ongoing
            } else {
                CollisionPhase::Ended(end_reason(world, old.entity, old.other))
            }
        };
        let is_observed = has_observers(world);
        let count = state.len();
        let mut send = |event: &CollisionEvent, old: Option<&CollisionEvent>| {
            if !event.ongoing() && (is_observed || event.ended()) {
                reserve_amortized(transitions, 1);
                transitions.push(*event);
            }
            let is_sent = match ongoing {
                OngoingEvents::EveryTick => true,
                OngoingEvents::OnChange => {
                    !event.ongoing() || old.is_none_or(|old| !event.equals_except_phase(old))
                }
                OngoingEvents::Never => !event.ongoing(),
            };
            if is_sent {
                messages.write(*event);
            }
        };
        swept.begin_tick(&found.swept);
        state.update(pairs, changes, phase_if_not_found, |event, old| {
            swept.defer(event, old).unwrap_or_else(|| {
                send(event, old);
                event.phase
            })
        });
        let end_of_touch = |event: &CollisionEvent| {
            let rejections = &proxies.rules.rejections;
            if rejections.rejects_contact_at_end(event.entity, event.other) {
                EndReason::Rejected
            } else {
                EndReason::Separated
            }
        };
        swept.send(end_of_touch, |event| send(&event, None));
        // If no contact ended and the number of contacts did not change, no contact started.
        *is_settled = transitions.is_empty() && state.len() == count;
        state.update_parts(found.parts.as_slice(), is_kept);
    }

    /// Ends a tick, and frees unused memory.
    fn end_tick(&mut self, state: &mut Collisions, messages: &mut Messages<CollisionEvent>) {
        if self.state_peak.end_tick(state.item_count()) {
            state.shrink_to_fit();
            self.found.shrink_to_fit();
            self.changes = Changes::default();
        }
        let events = self.transitions.len() + messages.len() + self.swept.len();
        if !self.event_peak.end_tick(events) {
            return;
        }
        self.transitions.shrink_to_fit();
        self.swept = SweptEvents::default();
        // Bevy never shrinks its two lists of messages, and gives no access to them. A copy has no
        // unused memory. Messages keep their ids in the copy, so readers continue at the same
        // message.
        if let Ok(copy) = messages.reflect_clone_and_take() {
            *messages = copy;
        }
    }
}
