//! Candidate pairs in the order of their entities, so that contacts are found in the order in which they are told.
//!
//! Entities are numbered in order: their ranks stay what they are for as long as none comes or goes. Pairs are counted out by
//! rank, to their greater entities first and then to their lesser ones, which leaves those of each in order (Knuth, "The Art of
//! Computer Programming", volume 3 (1998), chapter 5.2.5, radix sorting, with the rank as a digit).

use bevy::prelude::*;

use crate::{
    buffer::{Buffer, Reclaim},
    pipeline::proxies::Slots,
    sorted::merge,
    space::Space,
};

/// Where there are so many times more entities than pairs, these are sorted by comparing them: to count for all that rest would
/// take longer.
const SPARSE: usize = 8;

/// The order of the pairs of a space, and what it takes to find it.
#[derive(Default)]
pub struct PairOrder {
    ranks: Ranks,
    counts: Buffer<u32>,
    pairs: Buffer<(u32, u32)>,
    spare: Buffer<(u32, u32)>,
}

impl PairOrder {
    /// The pairs of slots in order, each with the lesser entity first.
    pub fn sort<V: Space>(&mut self, proxies: &Slots<V>, pairs: &[(u32, u32)]) -> &[(u32, u32)] {
        if pairs.is_empty() {
            self.clear();
            return &self.pairs;
        }
        let Self {
            ranks,
            counts,
            pairs: sorted,
            spare,
        } = self;
        sorted.clear();
        ranks.update(proxies);
        sorted.extend(pairs.iter().filter_map(|(a, b)| {
            let (a, b) = (ranks.of(*a)?, ranks.of(*b)?);
            Some((a.min(b), a.max(b)))
        }));
        let count = ranks.keys.len();
        if SPARSE * sorted.len() < count {
            sorted.sort_unstable();
            spare.clear();
            counts.clear();
        } else {
            spare.note();
            spare.resize(sorted.len(), (0, 0));
            count_out(sorted, spare, |(_, greater)| *greater, counts, count);
            count_out(spare, sorted, |(lesser, _)| *lesser, counts, count);
        }
        for (a, b) in sorted.iter_mut() {
            (*a, *b) = (ranks.slot(*a), ranks.slot(*b));
        }
        sorted
    }

    /// Forgets the pairs.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.pairs.clear();
        self.spare.clear();
    }

    /// Shrinks the buffers.
    pub fn reclaim<V: Space>(&mut self, proxies: &Slots<V>, reclaim: &mut Reclaim) {
        let Ranks {
            turns,
            keys,
            ranks,
            newcomers,
        } = &mut self.ranks;
        let (first, turned) = proxies.turned();
        if *turns != first.wrapping_add(turned.len() as u32) {
            // All of them will be made anew.
            keys.clear();
            ranks.clear();
        }
        // Beyond are slots that were free, and have been dropped.
        ranks.truncate(proxies.len());
        newcomers.clear();
        keys.reclaim(reclaim);
        ranks.reclaim(reclaim);
        newcomers.reclaim(reclaim);
        self.counts.reclaim(reclaim);
        self.pairs.reclaim(reclaim);
        self.spare.reclaim(reclaim);
    }
}

/// Puts pairs in order of a number less than `end`; those that have the same one stay in order.
fn count_out(
    pairs: &[(u32, u32)],
    sorted: &mut [(u32, u32)],
    number: impl Fn(&(u32, u32)) -> u32,
    counts: &mut Buffer<u32>,
    end: usize,
) {
    counts.clear();
    counts.resize(end, 0);
    for pair in pairs {
        if let Some(count) = counts.get_mut(number(pair) as usize) {
            *count += 1;
        }
    }
    // From how many each has to where the first of them comes, and then to where the next one does.
    let mut end = 0;
    for count in counts.iter_mut() {
        end += core::mem::replace(count, end);
    }
    for pair in pairs {
        if let Some(next) = counts.get_mut(number(pair) as usize)
            && let Some(place) = sorted.get_mut(*next as usize)
        {
            *place = *pair;
            *next += 1;
        }
    }
}

/// All entities of a space in order.
#[derive(Default)]
struct Ranks {
    /// Up to which [`Slots::turns`] all are known.
    turns: u32,
    /// By rank, see [`key_of`].
    keys: Buffer<u128>,
    /// By slot.
    ranks: Buffer<u32>,
    newcomers: Buffer<u128>,
}

/// What an entity is in order by, with its slot.
fn key_of(entity: Entity, slot: u32) -> u128 {
    u128::from(entity.to_bits()) << 32 | u128::from(slot)
}

/// Of a slot without an entity.
const NO_RANK: u32 = u32::MAX;

/// The key of what has gone.
const GONE: u128 = u128::MAX;

impl Ranks {
    /// The rank of what has a slot.
    #[inline]
    fn of(&self, slot: u32) -> Option<u32> {
        let rank = self.ranks.get(slot as usize).copied();
        rank.filter(|rank| *rank != NO_RANK)
    }

    /// The slot of what has a rank.
    #[inline]
    fn slot(&self, rank: u32) -> u32 {
        self.keys.get(rank as usize).map_or(0, |key| *key as u32)
    }

    /// Takes over who has come, and forgets who has gone.
    fn update<V: Space>(&mut self, proxies: &Slots<V>) {
        let Self {
            turns,
            keys,
            ranks,
            newcomers,
        } = self;
        let (first, turned) = proxies.turned();
        let are_known = *turns == first;
        if are_known && turned.is_empty() {
            return;
        }
        *turns = first.wrapping_add(turned.len() as u32);
        newcomers.clear();
        let key = |slot: u32| Some(key_of(proxies.get(slot)?.entity, slot));
        if are_known {
            ranks.resize(proxies.len(), NO_RANK);
            for slot in turned {
                if let Some(rank) = ranks.get_mut(*slot as usize)
                    && let Some(old) = keys.get_mut(core::mem::replace(rank, NO_RANK) as usize)
                {
                    *old = GONE;
                }
            }
            keys.retain(|key| *key != GONE);
            newcomers.extend(turned.iter().filter_map(|slot| key(*slot)));
        } else {
            ranks.clear();
            ranks.resize(proxies.len(), NO_RANK);
            keys.clear();
            newcomers.extend((0..proxies.len() as u32).filter_map(key));
        }
        newcomers.sort_unstable();
        newcomers.dedup();
        let kept = keys.len();
        merge(keys, kept, newcomers, |key| *key);
        for (key, number) in keys.iter().zip(0..) {
            if let Some(rank) = ranks.get_mut(*key as u32 as usize) {
                *rank = number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        collider::Collider,
        collider::CollisionLayers,
        math::Vec2,
        pipeline::{proxy::Proxy, world_pose::Placement},
        shape::AnyColliderShape,
    };
    use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

    fn insert(proxies: &mut Slots<Vec2>, entity: Entity) -> Option<u32> {
        let collider = Collider::from(Circle::new(1.0));
        let Ok(Some(AnyColliderShape::D2(body))) = collider.body() else {
            return None;
        };
        let layers = CollisionLayers::default();
        let place = Placement::alone::<Vec2>(&Transform::default()).ok()?;
        let (proxy, aabb) = Proxy::new(entity, body, layers, place).ok()?;
        Some(proxies.insert(proxy, aabb))
    }

    #[test]
    fn pairs_are_in_the_order_of_their_entities() {
        let mut random = StdRng::seed_from_u64(1);
        let mut order = PairOrder::default();
        let mut proxies = Slots::default();
        let mut world = World::new();
        let mut all: Vec<(Entity, u32)> = Vec::new();
        let mut tested = 0;
        let mut reclaim = Reclaim::default();
        for tick in 0..300 {
            proxies.begin_tick();
            reclaim.begin_tick();
            // Of other generations each time, and in slots where others were.
            for _ in 0..random.random_range(0..8) {
                let entity = world.spawn_empty().id();
                let slot = insert(&mut proxies, entity);
                all.extend(slot.map(|slot| (entity, slot)));
            }
            all.shuffle(&mut random);
            for _ in 0..random.random_range(0..8) {
                if let Some((entity, slot)) = all.pop() {
                    proxies.remove(slot);
                    world.despawn(entity);
                }
            }
            // Now and then all go, and their slots with them.
            if tick % 50 == 49 {
                for (entity, slot) in all.drain(..) {
                    proxies.remove(slot);
                    world.despawn(entity);
                }
                proxies.begin_tick();
                assert_eq!(proxies.len(), 0);
            }
            let mut slots: Vec<u32> = all.iter().map(|(_, slot)| *slot).collect();
            slots.sort_unstable();
            slots.dedup();
            assert_eq!((slots.len(), proxies.count()), (all.len(), all.len()));
            // Some ticks are missed.
            if random.random_bool(0.3) {
                order.reclaim(&proxies, &mut reclaim);
                continue;
            }
            let mut pairs = Vec::new();
            let density = if random.random() { 0.3 } else { 0.01 };
            for (number, one) in all.iter().enumerate() {
                let others = all.iter().skip(number + 1);
                let others = others.filter(|_| random.random_bool(density));
                pairs.extend(others.map(|other| (*one, *other)));
            }
            let slots: Vec<_> = pairs.iter().map(|(a, b)| (a.1, b.1)).collect();
            let mut sorted: Vec<_> = pairs.iter().map(|(a, b)| (*a.min(b), *a.max(b))).collect();
            sorted.sort_unstable();
            let sorted: Vec<_> = sorted.iter().map(|(a, b)| (a.1, b.1)).collect();
            assert_eq!(order.sort(&proxies, &slots), sorted);
            order.reclaim(&proxies, &mut reclaim);
            tested += sorted.len();
        }
        assert!(tested > 1000);
    }
}
