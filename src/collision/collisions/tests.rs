//! Tests of [`Collisions`]: comparison with a model, and mapping to other entities.

use super::*;
use crate::collision::EndReason;
use bevy::ecs::entity::EntityHashMap;
use rand::{
    Rng, SeedableRng,
    rngs::StdRng,
    seq::{IndexedRandom, SliceRandom},
};
use std::collections::BTreeMap;

fn contact(entity: Entity, other: Entity, depth: f32) -> CollisionEvent {
    CollisionEvent::new(entity, other, Dir3::X, depth).with_phase(CollisionPhase::Ongoing)
}

/// Compares `Collisions` with a model: a map of pairs that is searched linearly for each
/// entity.
#[test]
fn contacts_are_those_found_and_those_that_still_hold() {
    let mut random = StdRng::seed_from_u64(1);
    let mut world = World::new();
    let entities: Vec<Entity> = (0..12).map(|_| world.spawn_empty().id()).collect();
    let mut state = Collisions::default();
    let mut changes = Changes::default();
    let mut model: BTreeMap<(Entity, Entity), f32> = BTreeMap::new();
    let mut ended = 0;
    for tick in 0..1000 {
        let count = random.random_range(0..if tick % 3 == 0 { 4 } else { 30 });
        let found: BTreeMap<(Entity, Entity), f32> = (0..count)
            .filter_map(|_| {
                let mut pair = entities.choose_multiple(&mut random, 2).copied();
                let (a, b) = pair.next().zip(pair.next())?;
                Some(((a.min(b), a.max(b)), random.random_range(0.0..1.0)))
            })
            .collect();
        // A third of the entities move. If a tick does not find the contact of a moving entity, the
        // contact ends.
        let moves = |entity: Entity| entity.index_u32() as usize % 3 == tick % 3;
        let unfound = |old: &CollisionEvent| {
            if moves(old.entity) || moves(old.other) {
                CollisionPhase::Ended(EndReason::Separated)
            } else {
                CollisionPhase::Ongoing
            }
        };
        let list = found.iter().map(|((a, b), depth)| contact(*a, *b, *depth));
        let mut list: Vec<CollisionEvent> = list.collect();
        let mut reported = Vec::new();
        state.update(&mut list, &mut changes, unfound, |contact, old| {
            let pair = contact.pair();
            assert_eq!(old.map(|hit| hit.depth), model.get(&pair).copied());
            assert_eq!(contact.started(), old.is_none());
            reported.push((pair, contact.ended()));
            contact.phase
        });
        assert!(reported.is_sorted());
        for (pair, has_ended) in reported {
            if has_ended {
                model.remove(&pair);
                ended += 1;
            }
        }
        model.extend(found);
        let kept = |contact: CollisionEvent| (contact.pair(), contact.depth);
        assert!(
            state
                .iter()
                .map(kept)
                .eq(model.iter().map(|(a, b)| (*a, *b)))
        );
        for entity in &entities {
            let of = state.deepest_of(*entity).map(|contact| contact.other);
            let as_entity = model
                .keys()
                .filter(|pair| pair.0 == *entity)
                .map(|pair| pair.1);
            let as_other = model
                .keys()
                .filter(|pair| pair.1 == *entity)
                .map(|pair| pair.0);
            assert!(of.eq(as_entity.chain(as_other)));
        }
    }
    assert!(ended > 1000);
}

/// The new entities are sorted differently from the old entities, so some contacts are flipped.
#[test]
fn mapped_contacts_are_found_by_their_new_entities() {
    let mut random = StdRng::seed_from_u64(2);
    let mut world = World::new();
    let mut old: Vec<Entity> = (0..12).map(|_| world.spawn_empty().id()).collect();
    old.sort_unstable();
    let mut new: Vec<Entity> = (0..12).map(|_| world.spawn_empty().id()).collect();
    let part = |a: Entity, b: Entity, part: u32| {
        let mut contact = contact(a, b, part as f32);
        contact.surface.part = part;
        contact.other_surface.part = 7 - part;
        contact
    };
    for _ in 0..100 {
        new.shuffle(&mut random);
        let mut state = Collisions::default();
        let mut pairs = Vec::new();
        for (number, a) in old.iter().enumerate() {
            for b in old.iter().skip(number + 1) {
                if random.random_bool(0.3) {
                    pairs.push((*a, *b));
                }
            }
        }
        let mut found: Vec<_> = pairs.iter().map(|(a, b)| part(*a, *b, 3)).collect();
        let ongoing = |_: &CollisionEvent| CollisionPhase::Ongoing;
        state.update(&mut found, &mut Changes::default(), ongoing, |new, _| {
            new.phase
        });
        let parts: Vec<_> = pairs
            .iter()
            .flat_map(|(a, b)| [2, 3].map(|number| part(*a, *b, number)))
            .collect();
        state.update_parts(&parts, |_| true);

        let mut map: EntityHashMap<Entity> = old.iter().copied().zip(new.clone()).collect();
        let mut mapped = state.clone();
        mapped.map_entities(&mut map);
        assert_eq!(mapped.len(), pairs.len());
        let ordered = |hit: &CollisionEvent| (hit.entity < hit.other).then_some(hit.pair());
        assert!(mapped.iter().map(|hit| ordered(&hit)).is_sorted());
        for (a, b) in pairs {
            let [now_a, now_b] = [a, b].map(|entity| map.get_mapped(entity));
            let expected = |hit: CollisionEvent| CollisionEvent {
                entity: now_a,
                other: now_b,
                owners: [now_a, now_b],
                ..hit
            };
            let before = state.between(a, b).map(expected);
            assert!(before.is_some());
            assert_eq!(mapped.between(now_a, now_b), before);
            let of = |one, other| mapped.deepest_of(one).find(|hit| hit.other == other);
            assert_eq!(of(now_a, now_b), before);
            assert_eq!(of(now_b, now_a), before.map(|hit| hit.flipped()));
            let by_part = |hits: Vec<CollisionEvent>| {
                let mut hits = hits;
                hits.sort_unstable_by_key(CollisionEvent::part);
                hits
            };
            let parts = by_part(state.parts(a, b).map(expected).collect());
            assert_eq!(parts.len(), 2);
            assert_eq!(by_part(mapped.parts(now_a, now_b).collect()), parts);
        }
    }
}

#[test]
fn entities_mapped_to_the_same_entity_share_one_contact() {
    let mut world = World::new();
    let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
    let mut found: Vec<CollisionEvent> = [(a, b), (a, c), (b, c)]
        .map(|(a, b)| contact(a.min(b), a.max(b), 1.0))
        .to_vec();
    found.sort_unstable_by_key(CollisionEvent::pair);
    let mut state = Collisions::default();
    let ongoing = |_: &CollisionEvent| CollisionPhase::Ongoing;
    state.update(&mut found, &mut Changes::default(), ongoing, |new, _| {
        new.phase
    });
    let mut map: EntityHashMap<Entity> = [(a, a), (b, b), (c, b)].into_iter().collect();
    state.map_entities(&mut map);
    assert_eq!(state.len(), 1);
    assert!(state.contains(a, b));
    for entity in [a, b] {
        assert_eq!(state.deepest_of(entity).count(), 1);
    }
}
