//! What lasts from tick to tick.

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};

use crate::{
    buffer::{Buffer, Peak, Reclaim, reserve_amortized},
    collision::{CollisionEvent, CollisionPhase},
    sorted::merge,
};

/// What touches what, as of the last tick: all of the state that lasts from one tick to the next.
///
/// A contact is a function of this tick's shapes and poses alone; only `Started` and `Ended` depend on the tick before.
/// So a rollback that restores this resource, together with the transforms, plays the same events again.
///
/// Two things are derived from it and are brought up to date by the next tick: [`CollidingEntities`](crate::CollidingEntities),
/// and what observers and readers of messages have made of the ticks that were undone, which
/// is theirs to undo. Candidate pairs that the app supplies are the app's as well.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::CollisionState;
///
/// #[derive(Resource)]
/// struct Saved(CollisionState);
///
/// fn save(state: Res<CollisionState>, mut saved: ResMut<Saved>) {
///     saved.0 = state.clone();
/// }
///
/// fn restore(mut state: ResMut<CollisionState>, saved: Res<Saved>) {
///     *state = saved.0.clone();
/// }
/// ```
///
/// Systems read it through [`Collisions`](crate::Collisions), in which it is the same.
///
/// A scene of a whole world leaves it out, because the contacts of one world mean nothing in
/// another. In the tick after loading, the contacts of loaded entities are `Started`, and those of
/// the entities that were there go on. A rollback that spawns its entities anew maps a copy to
/// them:
///
/// ```
/// use bevy::{ecs::entity::{EntityHashMap, MapEntities}, prelude::*};
/// use headbutt::CollisionState;
///
/// /// `spawned` has the new entity of each old one.
/// fn restore(saved: &CollisionState, spawned: &mut EntityHashMap<Entity>) -> CollisionState {
///     let mut state = saved.clone();
///     state.map_entities(spawned);
///     state
/// }
/// ```
#[derive(Resource, Clone, Debug, Default, PartialEq, Reflect)]
// Opaque, so that a value applied by reflection replaces the old one: Bevy merges lists element by
// element.
#[reflect(opaque, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct CollisionState {
    /// In order of (entity, other), and each pair once, with the lesser entity first.
    contacts: Vec<CollisionEvent>,
    /// The `other`s with the numbers of their contacts, in order.
    by_other: Vec<(Entity, u32)>,
    /// All contacts of the pairs of which more than one part touches, in the same order, then in that of the parts.
    parts: Vec<CollisionEvent>,
}

impl<'a> IntoIterator for &'a CollisionState {
    type Item = CollisionEvent;
    type IntoIter = core::iter::Copied<core::slice::Iter<'a, CollisionEvent>>;

    fn into_iter(self) -> Self::IntoIter {
        self.contacts.iter().copied()
    }
}

impl MapEntities for CollisionState {
    fn map_entities<E: EntityMapper>(&mut self, mapper: &mut E) {
        for list in [&mut self.contacts, &mut self.parts] {
            for contact in &mut *list {
                contact.entity = mapper.get_mapped(contact.entity);
                contact.other = mapper.get_mapped(contact.other);
                if contact.other < contact.entity {
                    *contact = contact.flipped();
                }
            }
            // Two entities may have been mapped to one.
            list.retain(|contact| contact.entity != contact.other);
            let key = |it: &CollisionEvent| (it.pair(), it.part(), it.other_part());
            list.sort_unstable_by_key(key);
            list.dedup_by_key(|it| key(it));
        }
        self.contacts.dedup_by_key(|it| it.pair());
        let others = self.contacts.iter().map(|contact| contact.other);
        self.by_other = others.zip(0..).collect();
        self.by_other.sort_unstable();
    }
}

impl CollisionState {
    /// Takes over the contacts of a tick, of which those `found` are in order. Of an old one that is not among them, `unfound`
    /// tells whether it goes on or has ended. `tell` is called in order with each contact, also with each that has ended, and
    /// with what it was.
    pub(crate) fn update<'a>(
        &mut self,
        found: impl Iterator<Item = &'a CollisionEvent>,
        changes: &mut Changes,
        unfound: impl Fn(&CollisionEvent) -> CollisionPhase,
        tell: impl FnMut(&CollisionEvent, Option<&CollisionEvent>),
    ) {
        let Self {
            contacts, by_other, ..
        } = self;
        follow(contacts, found, changes, unfound, tell);
        let Changes { numbers, begun, .. } = &mut *changes;
        // Contacts that go on keep their order. No `retain_mut`: it copies what was written a moment ago, for which the processor
        // waits.
        let mut kept = 0;
        for index in 0..by_other.len() {
            let Some((other, number)) = by_other.get(index).copied() else {
                break;
            };
            let number = numbers.get(number as usize).copied().unwrap_or(GONE);
            if number != GONE
                && let Some(place) = by_other.get_mut(kept)
            {
                *place = (other, number);
                kept += 1;
            }
        }
        begun.sort_unstable();
        merge(by_other, kept, begun, |it| *it);
        changes.clear();
    }

    /// Shrinks the buffers.
    pub(crate) fn reclaim(&mut self, changes: &mut Changes, reclaim: &mut Reclaim) {
        let Changes {
            numbers,
            begun,
            between,
            peaks: [contacts, by_other, parts],
        } = changes;
        reclaim.shrink(&mut self.contacts, contacts);
        reclaim.shrink(&mut self.by_other, by_other);
        reclaim.shrink(&mut self.parts, parts);
        numbers.reclaim(reclaim);
        begun.reclaim(reclaim);
        between.reclaim(reclaim);
    }

    /// Takes over the contacts of parts: those found, which are in order, and the old ones that stand.
    pub(crate) fn update_parts(
        &mut self,
        found: &[CollisionEvent],
        stands: impl Fn(&CollisionEvent) -> bool,
    ) {
        let parts = &mut self.parts;
        parts.retain(|old| {
            let is_found = found.binary_search_by_key(&old.pair(), CollisionEvent::pair);
            is_found.is_err() && stands(old)
        });
        let kept = parts.len();
        merge(parts, kept, found, CollisionEvent::pair);
    }

    /// Each touching pair once, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = CollisionEvent> {
        self.contacts.iter().copied()
    }

    /// The contacts of one entity, each turned so that it is their `entity`, in a fixed order.
    pub fn of(&self, entity: Entity) -> impl Iterator<Item = CollisionEvent> {
        let start = self
            .contacts
            .partition_point(|contact| contact.entity < entity);
        let as_entity = self.contacts.iter().skip(start);
        let start = self.by_other.partition_point(|(other, _)| *other < entity);
        let as_other = self
            .by_other
            .iter()
            .skip(start)
            .filter_map(|(_, number)| self.contacts.get(*number as usize));
        as_entity
            .take_while(move |contact| contact.entity == entity)
            .copied()
            .chain(
                as_other
                    .take_while(move |contact| contact.other == entity)
                    .map(CollisionEvent::flipped),
            )
    }

    /// The contact of two entities, turned so that the first one is its `entity`, or `None` if they do not touch.
    pub fn between(&self, entity: Entity, other: Entity) -> Option<CollisionEvent> {
        let pair = (entity.min(other), entity.max(other));
        self.contacts
            .binary_search_by_key(&pair, |contact| (contact.entity, contact.other))
            .ok()
            .and_then(|number| self.contacts.get(number))
            .and_then(|contact| contact.seen_from(entity))
    }

    /// The contacts of all parts of two entities that touch, turned so that the first one is their `entity`, in the order of
    /// their [`part`](CollisionEvent::part)s in the lesser of the two entities. Colliders of one shape have one at most.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn touched_parts(collisions: Collisions, robot: Single<Entity, With<Name>>) {
    ///     for hit in collisions.of(*robot) {
    ///         for part in collisions.parts(hit.entity, hit.other) {
    ///             println!("part {} is {} deep in part {}", part.part(), part.depth, part.other_part());
    ///         }
    ///     }
    /// }
    /// ```
    pub fn parts(&self, entity: Entity, other: Entity) -> impl Iterator<Item = CollisionEvent> {
        let pair = (entity.min(other), entity.max(other));
        let of = |contact: &CollisionEvent| (contact.entity, contact.other);
        let start = self.parts.partition_point(|contact| of(contact) < pair);
        let several = self.parts.iter().skip(start);
        let several = several.take_while(move |contact| of(contact) == pair);
        let only = self.between(entity, other);
        let has_several = several.clone().next().is_some();
        let phase = only.map(|contact| contact.phase);
        several
            .filter_map(move |contact| {
                let phase = phase?;
                CollisionEvent { phase, ..*contact }.seen_from(entity)
            })
            .chain(only.filter(|_| !has_several))
    }

    /// The contacts of all parts of one entity that touch, and of all parts of what it touches, each turned so that it is their
    /// `entity`: of a level that is one mesh, the floor as well as the wall. [`of`](Self::of) has the deepest of each pair alone.
    pub fn parts_of(&self, entity: Entity) -> impl Iterator<Item = CollisionEvent> {
        self.of(entity)
            .flat_map(move |hit| self.parts(entity, hit.other))
    }

    /// Whether two entities touch.
    pub fn contains(&self, entity: Entity, other: Entity) -> bool {
        self.between(entity, other).is_some()
    }

    /// How many pairs touch.
    pub fn len(&self) -> usize {
        self.contacts.len()
    }

    /// Whether nothing touches.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }
}

/// What it takes to bring contacts up to date in their place.
#[derive(Default)]
pub(crate) struct Changes {
    /// Of each of the old ones, the number that it has now, or [`GONE`].
    numbers: Buffer<u32>,
    /// The `other` of each that has begun, with its number.
    begun: Buffer<(Entity, u32)>,
    /// Those of them that come before the last of the old ones.
    between: Buffer<CollisionEvent>,
    /// Of the lists of [`CollisionState`], which the app may save and restore.
    peaks: [Peak; 3],
}

impl Changes {
    fn clear(&mut self) {
        self.numbers.clear();
        self.begun.clear();
        self.between.clear();
    }
}

/// No number of a contact.
const GONE: u32 = u32::MAX;

/// Brings contacts up to date with those found: see [`CollisionState::update`]. Both are in order of their pairs.
///
/// What goes on is written over what was, and what has begun between is merged with it then: so there is one list.
fn follow<'a>(
    contacts: &mut Vec<CollisionEvent>,
    found: impl Iterator<Item = &'a CollisionEvent>,
    Changes {
        numbers,
        begun,
        between,
        ..
    }: &mut Changes,
    unfound: impl Fn(&CollisionEvent) -> CollisionPhase,
    mut tell: impl FnMut(&CollisionEvent, Option<&CollisionEvent>),
) {
    let started = |new: &CollisionEvent| CollisionEvent {
        phase: CollisionPhase::Started,
        ..*new
    };
    let mut found = found.peekable();
    let (mut next, mut kept) = (0, 0);
    while let Some(old) = contacts.get(next) {
        let number = (kept + between.len()) as u32;
        if let Some(new) = found.next_if(|new| new.pair() < old.pair()) {
            let contact = started(new);
            tell(&contact, None);
            reserve_amortized(begun, 1);
            begun.push((contact.other, number));
            reserve_amortized(between, 1);
            between.push(contact);
            continue;
        }
        let unfound_contact;
        let contact = match found.next_if(|new| new.pair() == old.pair()) {
            Some(new) => new,
            None => {
                let phase = unfound(old);
                unfound_contact = CollisionEvent { phase, ..*old };
                &unfound_contact
            }
        };
        tell(contact, Some(old));
        next += 1;
        let goes_on = contact.touching();
        reserve_amortized(numbers, 1);
        numbers.push(if goes_on { number } else { GONE });
        if goes_on && let Some(place) = contacts.get_mut(kept) {
            *place = *contact;
            kept += 1;
        }
    }
    merge(contacts, kept, between, CollisionEvent::pair);
    for new in found {
        let contact = started(new);
        tell(&contact, None);
        reserve_amortized(begun, 1);
        begun.push((contact.other, contacts.len() as u32));
        reserve_amortized(contacts, 1);
        contacts.push(contact);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        collision::{EndReason, Surface},
        math::Vec3,
    };
    use bevy::ecs::entity::EntityHashMap;
    use rand::{
        Rng, SeedableRng,
        rngs::StdRng,
        seq::{IndexedRandom, SliceRandom},
    };
    use std::collections::BTreeMap;

    fn contact(entity: Entity, other: Entity, depth: f32) -> CollisionEvent {
        let surface = Surface {
            part: 0,
            translation: Vec3::ZERO,
            offset: Vec3::ZERO,
        };
        CollisionEvent {
            entity,
            other,
            phase: CollisionPhase::Ongoing,
            normal: Vec3::X,
            depth,
            surface,
            other_surface: surface,
        }
    }

    /// Against a map, and the lists of each entity looked for in it.
    #[test]
    fn contacts_are_those_found_and_those_that_stand() {
        let mut random = StdRng::seed_from_u64(1);
        let mut world = World::new();
        let entities: Vec<Entity> = (0..12).map(|_| world.spawn_empty().id()).collect();
        let mut state = CollisionState::default();
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
            // A third of them moves: their contacts stand only where they are found.
            let moves = |entity: Entity| entity.index_u32() as usize % 3 == tick % 3;
            let unfound = |old: &CollisionEvent| {
                if moves(old.entity) || moves(old.other) {
                    CollisionPhase::Ended(EndReason::Separated)
                } else {
                    CollisionPhase::Ongoing
                }
            };
            let list = found.iter().map(|(it, depth)| contact(it.0, it.1, *depth));
            let list: Vec<CollisionEvent> = list.collect();
            let mut told = Vec::new();
            state.update(list.iter(), &mut changes, unfound, |contact, old| {
                let pair = contact.pair();
                assert_eq!(old.map(|it| it.depth), model.get(&pair).copied());
                assert_eq!(contact.started(), old.is_none());
                told.push((pair, contact.ended()));
            });
            assert!(told.is_sorted());
            for (pair, has_ended) in told {
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
                let of = state.of(*entity).map(|contact| contact.other);
                let as_entity = model.keys().filter(|pair| pair.0 == *entity).map(|it| it.1);
                let as_other = model.keys().filter(|pair| pair.1 == *entity).map(|it| it.0);
                assert!(of.eq(as_entity.chain(as_other)));
            }
        }
        assert!(ended > 1000);
    }

    /// The entities of another world, in another order: contacts are those of the same pairs, seen
    /// from their lesser entity.
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
            let mut state = CollisionState::default();
            let mut pairs = Vec::new();
            for (number, a) in old.iter().enumerate() {
                for b in old.iter().skip(number + 1) {
                    if random.random_bool(0.3) {
                        pairs.push((*a, *b));
                    }
                }
            }
            let found: Vec<_> = pairs.iter().map(|(a, b)| part(*a, *b, 3)).collect();
            let going_on = |_: &CollisionEvent| CollisionPhase::Ongoing;
            state.update(found.iter(), &mut Changes::default(), going_on, |_, _| {});
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
                let [now_a, now_b] = [a, b].map(|it| map.get_mapped(it));
                let expected = |hit: CollisionEvent| CollisionEvent {
                    entity: now_a,
                    other: now_b,
                    ..hit
                };
                let before = state.between(a, b).map(expected);
                assert!(before.is_some());
                assert_eq!(mapped.between(now_a, now_b), before);
                let of = |one, other| mapped.of(one).find(|hit| hit.other == other);
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

    /// Each pair of different entities has one contact, and each pair of their parts.
    #[test]
    fn entities_that_are_mapped_to_one_have_its_contacts_once() {
        let mut world = World::new();
        let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
        let mut found: Vec<CollisionEvent> = [(a, b), (a, c), (b, c)]
            .map(|(a, b)| contact(a.min(b), a.max(b), 1.0))
            .to_vec();
        found.sort_unstable_by_key(CollisionEvent::pair);
        let mut state = CollisionState::default();
        let going_on = |_: &CollisionEvent| CollisionPhase::Ongoing;
        state.update(found.iter(), &mut Changes::default(), going_on, |_, _| {});
        let mut map: EntityHashMap<Entity> = [(a, a), (b, b), (c, b)].into_iter().collect();
        state.map_entities(&mut map);
        assert_eq!(state.len(), 1);
        assert!(state.contains(a, b));
        for entity in [a, b] {
            assert_eq!(state.of(entity).count(), 1);
        }
    }
}
