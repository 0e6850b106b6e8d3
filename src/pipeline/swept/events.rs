//! The events of swept colliders' first touches, which are sent after all other events, sorted by
//! time.

use crate::{
    collision::{CollisionEvent, CollisionPhase, EndReason},
    pipeline::narrow_phase::found_contacts::SweptContact,
};

/// The events of the first touches on the paths of this tick.
#[derive(Default)]
pub struct SweptEvents {
    /// The events to send. [`begin_tick`](Self::begin_tick) adds the events in the order of their
    /// pairs.
    entries: Vec<PathEvent>,
    /// The index of the first entry whose pair may still be passed to [`defer`](Self::defer).
    next: usize,
}

struct PathEvent {
    contact: SweptContact,
    /// The contact in the previous tick.
    old: Option<CollisionEvent>,
    /// `true` if the pair touches in the poses of this tick.
    touches: bool,
}

impl PathEvent {
    /// Returns the phase of the first touch.
    fn phase(&self) -> CollisionPhase {
        if self.old.is_some() && !self.contact.is_apart_at_start {
            CollisionPhase::Ongoing
        } else {
            CollisionPhase::Started
        }
    }
}

impl SweptEvents {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Begins a tick with the given contacts, which are sorted by pair.
    pub fn begin_tick(&mut self, contacts: &[SweptContact]) {
        self.next = 0;
        self.entries.clear();
        self.entries
            .extend(contacts.iter().map(|contact| PathEvent {
                contact: *contact,
                old: None,
                touches: false,
            }));
    }

    /// If the pair of an event touches on a path, returns the phase of the contact. In this case,
    /// [`send`](Self::send) sends the events of the pair, and the caller must not send `event`.
    /// Calls must be in the order of the pairs.
    pub fn defer(
        &mut self,
        event: &CollisionEvent,
        old: Option<&CollisionEvent>,
    ) -> Option<CollisionPhase> {
        let pair = event.pair();
        while let Some(entry) = self.entries.get_mut(self.next) {
            let entry_pair = entry.contact.event.pair();
            if entry_pair > pair {
                return None;
            }
            self.next += 1;
            if entry_pair == pair {
                entry.old = old.copied();
                entry.touches = event.touching();
                return Some(entry.phase());
            }
        }
        None
    }

    /// Calls `send` with all events of the contacts, sorted by time. `end_of_touch` returns the
    /// reason why a touch on a path ended before the end of the tick.
    pub fn send(
        &mut self,
        end_of_touch: impl Fn(&CollisionEvent) -> EndReason,
        mut send: impl FnMut(CollisionEvent),
    ) {
        self.entries.sort_unstable_by(|a, b| {
            let (a, b) = (&a.contact, &b.contact);
            let times = a.time.total_cmp(&b.time);
            times.then_with(|| a.event.pair().cmp(&b.event.pair()))
        });
        for entry in self.entries.iter() {
            let event = entry.contact.event.with_phase(entry.phase());
            if let Some(old) = entry.old.filter(|_| event.started()) {
                send(old.with_phase(CollisionPhase::Ended(EndReason::Separated)));
            }
            send(event);
            if !entry.touches {
                send(event.with_phase(CollisionPhase::Ended(end_of_touch(&event))));
            }
        }
    }
}
