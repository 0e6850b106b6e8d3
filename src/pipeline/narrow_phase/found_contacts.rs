//! The contacts that the narrow phase hands to the report stage. The systems `narrow_phase` and
//! `find_swept_contacts` fill [`FoundContacts`], and `filter_contacts` removes the rejected
//! contacts.

use bevy::prelude::*;

use crate::{buffer::Buffer, collision::CollisionEvent};

/// The contacts of the pairs that were tested in this tick.
///
/// Each contact has the smaller entity first. The narrow phase sets all phases to `Ongoing`, and
/// the report stage corrects them.
#[derive(Resource, Default)]
pub struct FoundContacts {
    /// The deepest contact of each touching pair, sorted by pair. The report may swap this list
    /// with the list of the previous tick, and frees the unused memory of both lists.
    pub pairs: Vec<CollisionEvent>,
    /// The number of touching pairs, rejected pairs included.
    pub tested: usize,
    /// All contacts of the pairs with more than one touching part, sorted by pair, then by part. If
    /// a filter of the app rejects contacts, the list may keep a single contact of a pair.
    pub parts: Buffer<CollisionEvent>,
    /// The first touches on the paths of swept colliders, sorted by pair.
    pub swept: Buffer<SweptContact>,
}

/// The first touch of two colliders, of which at least one is swept.
#[derive(Clone, Copy, Debug)]
pub struct SweptContact {
    /// The time of the event, by which events are sorted. In f32, more events would have equal
    /// times.
    pub time: f64,
    /// `true` if the two colliders do not touch where their paths begin.
    pub is_apart_at_start: bool,
    pub event: CollisionEvent,
}

impl FoundContacts {
    /// Returns all contacts of the selected pairs: the contacts of all parts, and the touches on
    /// paths.
    pub fn contacts_of(
        &self,
        is_selected: impl Fn((Entity, Entity)) -> bool + Copy,
    ) -> impl Iterator<Item = CollisionEvent> {
        let is_single = |contact: &&CollisionEvent| deepest_part(&self.parts, contact).is_none();
        let single = self
            .pairs
            .iter()
            .filter(move |contact| is_selected(contact.pair()) && is_single(contact));
        let on_paths = self.swept.iter().map(|contact| &contact.event);
        let others = self.parts.iter().chain(on_paths);
        let others = others.filter(move |contact| is_selected(contact.pair()));
        single.chain(others).copied()
    }

    /// Removes the contacts for which `is_removed` returns `true`. If the deepest contact of a pair
    /// is removed, the deepest remaining contact of its parts replaces it.
    pub fn remove(&mut self, is_removed: impl Fn(&CollisionEvent) -> bool) {
        self.parts.retain(|contact| !is_removed(contact));
        self.swept.retain(|contact| !is_removed(&contact.event));
        self.pairs.retain_mut(|contact| {
            if !is_removed(contact) {
                return true;
            }
            let deepest = deepest_part(&self.parts, contact);
            deepest.inspect(|deepest| *contact = **deepest).is_some()
        });
    }
}

/// Returns the deepest contact in `parts` of the same pair as `contact`, or `None` if `parts` has
/// no contact of this pair.
fn deepest_part<'a>(
    parts: &'a [CollisionEvent],
    contact: &CollisionEvent,
) -> Option<&'a CollisionEvent> {
    let start = parts.partition_point(|part| part.pair() < contact.pair());
    let parts = parts.iter().skip(start);
    let parts = parts.take_while(|part| part.pair() == contact.pair());
    parts.reduce(|best, part| if part.depth > best.depth { part } else { best })
}
