//! The pairs and contacts that the app's filters reject in a tick. `pipeline/filters.rs` fills
//! [`Rejections`] in each tick.

use bevy::ecs::entity::Entity;

use crate::{buffer::Buffer, collision::CollisionEvent};

/// The rejected pairs and contacts of a tick. Each list is sorted, and each pair has the lower
/// entity first.
#[derive(Debug, Default)]
pub struct Rejections {
    pub pairs: Buffer<(Entity, Entity)>,
    pub contacts: Buffer<ContactKey>,
}

/// Identifies a contact among the contacts of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContactKey {
    pub pair: (Entity, Entity),
    /// `true` if the contact is a touch on a path, before the end of the tick.
    pub is_on_path: bool,
    pub parts: (u32, u32),
}

impl From<&CollisionEvent> for ContactKey {
    fn from(contact: &CollisionEvent) -> Self {
        Self {
            pair: contact.pair(),
            is_on_path: contact.time() < 1.0,
            parts: (contact.part(), contact.other_part()),
        }
    }
}

impl Rejections {
    /// Removes all pairs and contacts. Call this function once per tick.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.contacts.clear();
    }

    /// Returns all entities of rejected pairs and contacts.
    pub fn entities(&self) -> impl Iterator<Item = Entity> {
        let contacts = self.contacts.iter().map(|contact| contact.pair);
        let pairs = self.pairs.iter().copied().chain(contacts);
        pairs.flat_map(|(entity, other)| [entity, other])
    }

    #[inline]
    pub fn rejects_pair(&self, a: Entity, b: Entity) -> bool {
        self.pairs.binary_search(&(a.min(b), a.max(b))).is_ok()
    }

    pub fn rejects_contact(&self, contact: &CollisionEvent) -> bool {
        self.contacts.binary_search(&contact.into()).is_ok()
    }

    /// Returns the rejected contacts of two entities.
    pub fn contacts_between(&self, a: Entity, b: Entity) -> impl Iterator<Item = &ContactKey> {
        let pair = (a.min(b), a.max(b));
        let start = self.contacts.partition_point(|contact| contact.pair < pair);
        let contacts = self.contacts.iter().skip(start);
        contacts.take_while(move |contact| contact.pair == pair)
    }

    /// Returns `true` if a contact in the poses of this tick is rejected.
    pub fn rejects_contact_at_end(&self, a: Entity, b: Entity) -> bool {
        self.contacts_between(a, b)
            .any(|contact| !contact.is_on_path)
    }
}
