//! Hashes that are the same on every platform and in every build.
//!
//! The hash of a set of contacts is the sum of the hashes of its contacts. So the hash does not
//! depend on the order of the contacts.

use bevy::prelude::*;

use crate::collision::{CollisionEvent, CollisionPhase, Collisions, EndReason, SurfacePoint};

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// The FNV-1a hash. Each step is a bijection, so a change of one byte always changes the result.
#[derive(Clone, Copy)]
pub struct Hasher(u64);

impl Hasher {
    pub const fn new() -> Self {
        Self(OFFSET)
    }

    /// Adds bytes, one by one.
    pub fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(u64::from(*byte)));
    }

    fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(PRIME);
    }

    fn float(&mut self, value: f32) {
        self.add(u64::from(value.to_bits()));
    }

    fn vector(&mut self, vector: Vec3) {
        let values = vector.to_array();
        values.into_iter().for_each(|value| self.float(value));
    }

    fn surface(&mut self, point: &SurfacePoint) {
        self.add(u64::from(point.part));
        self.vector(point.translation);
        self.vector(point.offset);
    }

    pub fn finish(self) -> u64 {
        self.0
    }

    /// Returns the hash after the finalizer of MurmurHash3. Hashes that are added up need this
    /// step, because every bit of each hash has to depend on the whole input.
    fn finish_mixed(self) -> u64 {
        let hash = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ (hash >> 33)
    }
}

/// The list to which a hashed contact belongs. The same contact has a different hash in each list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContactList {
    Pairs,
    Parts,
    /// The events, whose hashes include the phase.
    Events,
}

/// The sum of the hashes of several contacts, and their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactSet {
    pub hash: u64,
    pub count: u32,
}

impl ContactSet {
    /// Returns the hash and the number of all contacts of a tick, including contacts of parts,
    /// without phases.
    pub fn of_contacts(collisions: &Collisions, id_of: impl Fn(Entity) -> Option<u32>) -> Self {
        let mut contacts = Self::default();
        for hit in collisions.iter() {
            contacts.add(ContactList::Pairs, &hit, &id_of);
            let parts: Vec<_> = collisions.parts(hit.entity, hit.other).collect();
            // If only one part touches, its contact is the contact of the pair, so it is not added
            // again.
            for part in parts.iter().filter(|_| parts.len() > 1) {
                contacts.add(ContactList::Parts, part, &id_of);
            }
        }
        contacts
    }

    /// Returns the hash and the number of the `Started` and `Ended` events of a tick. Other events
    /// depend on the settings of the app.
    pub fn of_events<'a>(
        events: impl Iterator<Item = &'a CollisionEvent>,
        id_of: impl Fn(Entity) -> Option<u32>,
    ) -> Self {
        let mut set = Self::default();
        for event in events.filter(|event| !event.ongoing()) {
            set.add(ContactList::Events, event, &id_of);
        }
        set
    }

    /// Adds a contact of two entities that have ids in the recording. Other contacts are ignored.
    fn add(
        &mut self,
        list: ContactList,
        hit: &CollisionEvent,
        id_of: impl Fn(Entity) -> Option<u32>,
    ) {
        let (Some(id), Some(other)) = (id_of(hit.entity), id_of(hit.other)) else {
            return;
        };
        let mut hasher = Hasher::new();
        for value in [list as u32, id, other] {
            hasher.add(u64::from(value));
        }
        if list == ContactList::Events {
            hasher.add(phase_code(hit.phase));
        }
        hasher.vector(hit.normal);
        hasher.float(hit.depth);
        hasher.surface(&hit.surface);
        hasher.surface(&hit.other_surface);
        for is_sensor in hit.are_sensors {
            hasher.add(u64::from(is_sensor));
        }
        hasher.float(hit.time);
        self.hash = self.hash.wrapping_add(hasher.finish_mixed());
        self.count += 1;
    }
}

fn phase_code(phase: CollisionPhase) -> u64 {
    match phase {
        CollisionPhase::Started => 0,
        CollisionPhase::Ongoing => 1,
        // In a replay, an entity is never despawned, but only loses its collider. So these reasons
        // have the same code.
        CollisionPhase::Ended(
            EndReason::Despawned | EndReason::Disabled | EndReason::ColliderRemoved,
        ) => 2,
        CollisionPhase::Ended(EndReason::Invalid) => 3,
        CollisionPhase::Ended(EndReason::Filtered) => 4,
        CollisionPhase::Ended(EndReason::NotCandidate) => 5,
        CollisionPhase::Ended(EndReason::Separated) => 6,
        CollisionPhase::Ended(EndReason::SameOwner) => 7,
        CollisionPhase::Ended(EndReason::Ignored) => 8,
        CollisionPhase::Ended(EndReason::Rejected) => 9,
        CollisionPhase::Ended(EndReason::PassThrough) => 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published test vectors of the 64-bit FNV-1a hash.
    #[test]
    fn the_hash_of_bytes_is_fnv_1a() {
        for (text, expected) in [
            ("", 0xcbf2_9ce4_8422_2325_u64),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            let mut hasher = Hasher::new();
            hasher.bytes(text.as_bytes());
            assert_eq!(hasher.finish(), expected, "{text:?}");
        }
    }

    #[test]
    fn each_value_of_a_contact_changes_the_hash() {
        let mut world = World::new();
        let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
        let hash = |hit: CollisionEvent| {
            let mut set = ContactSet::default();
            set.add(ContactList::Events, &hit, |entity| match entity {
                it if it == a => Some(0),
                it if it == b => Some(1),
                _ => None,
            });
            (set.hash, set.count)
        };
        let hit = CollisionEvent::new(a, b, Dir3::X, 0.5).with_parts(3, 4);
        let deeper = CollisionEvent::new(a, b, Dir3::X, 0.5_f32.next_up()).with_parts(3, 4);
        let others = [
            hit.flipped(),
            deeper,
            hit.with_parts(4, 3),
            hit.with_time(0.5),
            hit.with_sensors(true, false),
            hit.with_phase(CollisionPhase::Ended(EndReason::Separated)),
            hit.with_point(Vec3::Y),
        ];
        for other in others {
            assert_ne!(hash(hit), hash(other), "{other:?}");
        }
        // Contacts of an entity without an id are ignored.
        assert_eq!(hash(CollisionEvent::new(a, c, Dir3::X, 0.5)), (0, 0));
    }
}
