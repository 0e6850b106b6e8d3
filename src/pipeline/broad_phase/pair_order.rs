//! Sorts the candidate pairs by their entities. So the narrow phase finds contacts in the order in
//! which their events are sent.
//!
//! The rank of an entity is its position among all entities with proxies. Ranks stay valid while no
//! proxy is added or removed. A radix sort (Knuth, "The Art of Computer Programming", volume 3
//! (1998), chapter 5.2.5) uses the ranks as digits. The first pass sorts the pairs by the rank of
//! the greater entity, the second pass by the rank of the smaller entity.

use bevy::prelude::*;

use crate::{
    buffer::Peak,
    pipeline::proxies::{ProxyArena, SlotPair},
    sorted::restore,
    space::Space,
};

/// If the number of entities is greater than this multiple of the number of pairs, a comparison
/// sort is faster than a radix sort.
const SPARSE: usize = 8;

/// The ranks of the entities, and the buffers for sorting the pairs of one dimension.
#[derive(Default)]
pub struct PairOrder {
    ranks: Ranks,
    counts: Vec<u32>,
    /// The peak number of slots and candidates.
    peak: Peak,
}

impl PairOrder {
    /// Appends `candidates` to the empty list `pairs`, sorted by entity. Each pair has the smaller
    /// entity first. Replaces the slots in `candidates` by ranks. Call this function once per tick,
    /// because it also frees memory that is no longer needed.
    pub fn sort<V: Space>(
        &mut self,
        arena: &ProxyArena<V>,
        candidates: &mut [SlotPair],
        pairs: &mut Vec<SlotPair>,
    ) {
        if self.peak.end_tick(arena.slots().len() + candidates.len()) {
            *self = Self::default();
        }
        if candidates.is_empty() {
            return;
        }
        self.ranks.update(arena);
        let (ranks, counts) = (&self.ranks, &mut self.counts);
        for pair in &mut *candidates {
            let (a, b) = (ranks.rank(pair.0), ranks.rank(pair.1));
            *pair = (a.min(b), a.max(b));
        }
        let count = ranks.keys.len();
        if SPARSE * candidates.len() < count {
            candidates.sort_unstable();
        } else {
            pairs.resize(candidates.len(), (0, 0));
            sort_by_digit(candidates, pairs, |pair| pair.1, counts, count);
            sort_by_digit(pairs, candidates, |pair| pair.0, counts, count);
            pairs.clear();
        }
        let slots = |(a, b): &SlotPair| (ranks.slot(*a), ranks.slot(*b));
        pairs.extend(candidates.iter().map(slots));
    }
}

/// Sorts pairs by a digit that is less than `end`. Pairs with equal digits keep their order.
fn sort_by_digit(
    pairs: &[SlotPair],
    sorted: &mut [SlotPair],
    digit: impl Fn(&SlotPair) -> u32,
    counts: &mut Vec<u32>,
    end: usize,
) {
    counts.clear();
    counts.resize(end, 0);
    for pair in pairs {
        if let Some(count) = counts.get_mut(digit(pair) as usize) {
            *count += 1;
        }
    }
    // This loop replaces the count of each digit with the digit's first index. The next loop
    // increments that index.
    let mut start = 0;
    for count in counts.iter_mut() {
        start += core::mem::replace(count, start);
    }
    for pair in pairs {
        if let Some(next) = counts.get_mut(digit(pair) as usize)
            && let Some(target) = sorted.get_mut(*next as usize)
        {
            *target = *pair;
            *next += 1;
        }
    }
}

/// The ranks of all entities of one dimension.
#[derive(Default)]
struct Ranks {
    /// The revision of the arena for which the ranks are valid.
    revision: u64,
    /// The key of each rank: the entity in the high bits, and its slot in the low 32 bits.
    keys: Vec<u128>,
    /// The rank of each slot.
    ranks: Vec<u32>,
    /// A reused list of the keys that are out of order.
    out_of_order: Vec<u128>,
}

/// The rank of a free slot.
const NO_RANK: u32 = u32::MAX;

fn slot_of(key: u128) -> u32 {
    key as u32
}

impl Ranks {
    #[inline]
    fn rank(&self, slot: u32) -> u32 {
        self.ranks.get(slot as usize).copied().unwrap_or(NO_RANK)
    }

    #[inline]
    fn slot(&self, rank: u32) -> u32 {
        let key = self.keys.get(rank as usize);
        key.map_or(u32::MAX, |key| slot_of(*key))
    }

    /// Updates the ranks if proxies were added or removed.
    fn update<V: Space>(&mut self, arena: &ProxyArena<V>) {
        if self.revision == arena.revision() {
            return;
        }
        self.revision = arena.revision();
        let key = |slot| {
            let entity: Entity = arena.get(slot)?.entity;
            Some(u128::from(entity.to_bits()) << 32 | u128::from(slot))
        };
        self.keys.clear();
        let count = arena.count();
        if self.keys.capacity() < count {
            self.keys.reserve_exact(count + count / 4);
        }
        // Bevy orders entities by falling index, so most slots are in the reverse order of their
        // entities.
        self.keys.extend(arena.slots().rev().filter_map(key));
        restore(&mut self.keys, &mut self.out_of_order);
        self.out_of_order.clear();
        self.ranks.clear();
        self.ranks.resize(arena.slots().len(), NO_RANK);
        for (key, new) in self.keys.iter().zip(0..) {
            if let Some(rank) = self.ranks.get_mut(slot_of(*key) as usize) {
                *rank = new;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        collider::Collider,
        math::Vec2,
        meeting::PairTraits,
        pipeline::proxy::Proxy,
        shape::{AnyColliderShape, WorldPose},
    };
    use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

    fn insert(arena: &mut ProxyArena<Vec2>, entity: Entity) -> Option<u32> {
        let collider = Collider::from(Circle::new(1.0));
        let AnyColliderShape::D2(shape) = collider.shape() else {
            return None;
        };
        let traits = PairTraits::default();
        let pose = WorldPose::from_transform(&Transform::default())?;
        let (proxy, aabb) = Proxy::new(entity, traits, shape, pose).ok()?;
        Some(arena.insert(proxy, aabb))
    }

    #[test]
    fn pairs_are_sorted_by_their_entities() {
        let mut random = StdRng::seed_from_u64(1);
        let mut order = PairOrder::default();
        let mut arena = ProxyArena::default();
        let mut world = World::new();
        let mut all: Vec<(Entity, u32)> = Vec::new();
        let mut tested = 0;
        for tick in 0..300 {
            arena.begin_tick();
            // New entities reuse the indices of despawned entities, with other generations, and the
            // slots of removed proxies.
            for _ in 0..random.random_range(0..8) {
                let entity = world.spawn_empty().id();
                let slot = insert(&mut arena, entity);
                all.extend(slot.map(|slot| (entity, slot)));
            }
            all.shuffle(&mut random);
            for _ in 0..random.random_range(0..8) {
                if let Some((entity, slot)) = all.pop() {
                    arena.remove(slot);
                    world.despawn(entity);
                }
            }
            // Every 50 ticks, all entities are removed, and their slots are dropped.
            if tick % 50 == 49 {
                for (entity, slot) in all.drain(..) {
                    arena.remove(slot);
                    world.despawn(entity);
                }
                arena.begin_tick();
                assert_eq!(arena.slots().len(), 0);
            }
            let mut slots: Vec<u32> = all.iter().map(|(_, slot)| *slot).collect();
            slots.sort_unstable();
            slots.dedup();
            assert_eq!((slots.len(), arena.count()), (all.len(), all.len()));
            // Some ticks skip the sort.
            if random.random_bool(0.3) {
                continue;
            }
            let mut pairs = Vec::new();
            let density = if random.random() { 0.3 } else { 0.01 };
            for (index, one) in all.iter().enumerate() {
                let others = all.iter().skip(index + 1);
                let others = others.filter(|_| random.random_bool(density));
                pairs.extend(others.map(|other| (*one, *other)));
            }
            let mut slots: Vec<_> = pairs.iter().map(|(a, b)| (a.1, b.1)).collect();
            let mut sorted: Vec<_> = pairs.iter().map(|(a, b)| (*a.min(b), *a.max(b))).collect();
            sorted.sort_unstable();
            let sorted: Vec<_> = sorted.iter().map(|(a, b)| (a.1, b.1)).collect();
            let mut found = Vec::new();
            order.sort(&arena, &mut slots, &mut found);
            assert_eq!(found, sorted);
            tested += sorted.len();
        }
        assert!(tested > 1000);
    }
}
