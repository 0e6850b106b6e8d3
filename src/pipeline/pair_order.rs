//! Contacts in the order of their pairs.
//!
//! Most entities have several contacts, and all of them are found in another order. So they are counted out to their lesser
//! entities (Knuth, "The Art of Computer Programming", volume 3 (1998), chapter 5.2, distribution counting), and only those
//! entities are sorted, and the few contacts of each.

use bevy::prelude::*;

use crate::event::CollisionEvent;

/// The order of contacts, and what it takes to find it.
#[derive(Default)]
pub struct PairOrder {
    /// By the index of an entity; 0 between two sorts.
    counts: Vec<u32>,
    /// The bits of all lesser entities: no two that exist at a time have one index.
    lesser: Vec<u64>,
    places: Vec<u32>,
}

impl PairOrder {
    /// The places of the contacts, in the order of their pairs.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Takes the order of these.
    pub fn sort(&mut self, contacts: &[CollisionEvent]) {
        let Self {
            counts,
            lesser,
            places,
        } = self;
        lesser.clear();
        places.clear();
        places.resize(contacts.len(), 0);
        for contact in contacts {
            let index = contact.entity.index_u32() as usize;
            if counts.len() <= index {
                counts.resize(index + 1, 0);
            }
            if let Some(count) = counts.get_mut(index) {
                if *count == 0 {
                    lesser.push(contact.entity.to_bits());
                }
                *count += 1;
            }
        }
        lesser.sort_unstable();
        // From how many each has to where the first of them comes, and then to where the next one does.
        let mut end = 0;
        for entity in lesser.iter() {
            if let Some(count) = counts.get_mut(index_of(*entity)) {
                let first = end;
                end += *count;
                *count = first;
            }
        }
        for (place, contact) in (0..).zip(contacts) {
            if let Some(next) = counts.get_mut(contact.entity.index_u32() as usize)
                && let Some(entry) = places.get_mut(*next as usize)
            {
                *entry = place;
                *next += 1;
            }
        }
        let other_of = |place: &u32| contacts.get(*place as usize).map(|it| it.other);
        let mut first = 0;
        for entity in lesser.iter() {
            if let Some(next) = counts.get_mut(index_of(*entity)) {
                let end = core::mem::take(next) as usize;
                let own = places.get_mut(first..end).unwrap_or_default();
                own.sort_unstable_by_key(other_of);
                first = end;
            }
        }
    }
}

fn index_of(bits: u64) -> usize {
    Entity::from_bits(bits).index_u32() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CollisionPhase, Surface};
    use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

    fn contact(entity: Entity, other: Entity) -> CollisionEvent {
        let surface = Surface {
            part: 0,
            translation: Vec3::ZERO,
            offset: Vec3::ZERO,
        };
        CollisionEvent {
            entity,
            other,
            phase: CollisionPhase::Started,
            normal: Vec3::X,
            depth: 0.0,
            surface,
            other_surface: surface,
        }
    }

    #[test]
    fn contacts_are_in_the_order_of_their_pairs() {
        let mut random = StdRng::seed_from_u64(1);
        let mut order = PairOrder::default();
        let mut world = World::new();
        for _ in 0..300 {
            // Of other generations each time.
            let entities: Vec<_> = (0..20).map(|_| world.spawn_empty().id()).collect();
            let mut pairs = Vec::new();
            for (number, entity) in entities.iter().enumerate() {
                let others = entities.iter().skip(number + 1);
                let others = others.filter(|_| random.random_bool(0.3));
                pairs.extend(others.map(|other| (*entity.min(other), *entity.max(other))));
            }
            pairs.shuffle(&mut random);
            let contacts: Vec<_> = pairs.iter().map(|(a, b)| contact(*a, *b)).collect();
            order.sort(&contacts);
            let found: Vec<_> = order
                .places()
                .iter()
                .filter_map(|place| pairs.get(*place as usize).copied())
                .collect();
            pairs.sort_unstable();
            assert_eq!(found, pairs);
            for entity in entities.iter().filter(|_| random.random()) {
                world.despawn(*entity);
            }
        }
    }
}
