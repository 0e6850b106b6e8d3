//! The first touches of swept colliders: sent after all other events, sorted by time.

use crate::{
    buffer::{Buffer, Reclaim},
    collision::{CollisionEvent, CollisionPhase, EndReason},
    pipeline::contacts::SweptContact,
};

/// The contacts on the paths of this tick.
#[derive(Default)]
pub struct SweptEvents {
    /// Sorted by pair.
    entries: Buffer<Entry>,
}

struct Entry {
    contact: SweptContact,
    /// The contact in the previous tick.
    old: Option<CollisionEvent>,
    /// `true` if the two touch in the poses of this tick.
    touches: bool,
}

impl SweptEvents {
    /// Begins a tick with these contacts, sorted by pair.
    pub fn begin_tick(&mut self, contacts: &[SweptContact]) {
        self.entries.clear();
        self.entries.extend(contacts.iter().map(|contact| Entry {
            contact: *contact,
            old: None,
            touches: false,
        }));
    }

    /// Returns `true` if the pair of an event touches on a path. Then the event must not be sent.
    pub fn defer(&mut self, event: &CollisionEvent, old: Option<&CollisionEvent>) -> bool {
        let pair = event.pair();
        let key = |entry: &Entry| entry.contact.event.pair();
        let index = self.entries.binary_search_by_key(&pair, key).ok();
        let entry = index.and_then(|index| self.entries.get_mut(index));
        entry.is_some_and(|entry| {
            entry.old = old.copied();
            entry.touches = event.touching();
            true
        })
    }

    /// Calls `send` with all events of the contacts, sorted by time.
    pub fn send(&mut self, mut send: impl FnMut(CollisionEvent)) {
        self.entries.sort_unstable_by(|a, b| {
            let (a, b) = (&a.contact, &b.contact);
            let times = a.time.total_cmp(&b.time);
            times.then_with(|| a.event.pair().cmp(&b.event.pair()))
        });
        let separated = CollisionPhase::Ended(EndReason::Separated);
        for entry in self.entries.iter() {
            let SweptContact {
                event,
                is_apart_at_start,
                ..
            } = entry.contact;
            let is_ongoing = entry.old.is_some() && !is_apart_at_start;
            if let Some(old) = entry.old.filter(|_| !is_ongoing) {
                send(old.with_phase(separated));
            }
            send(event.with_phase(if is_ongoing {
                CollisionPhase::Ongoing
            } else {
                CollisionPhase::Started
            }));
            if !entry.touches {
                send(event.with_phase(separated));
            }
        }
    }

    /// Frees unused memory.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.entries.reclaim(reclaim);
    }
}
