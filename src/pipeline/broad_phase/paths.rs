//! The pairs of swept colliders: with the boxes in the grids that they may meet on their paths, and
//! with other long paths.

use crate::{
    buffer::Reclaim,
    pipeline::{
        aabb::Aabb,
        broad_phase::{grids::Grids, path::MovingBox},
        candidates::PairList,
        proxy_arena::ProxyArena,
        sweeps::TurningRegion,
    },
    space::{DVector, Space},
};

/// The buffers of this search.
#[derive(Default)]
pub struct Paths {
    /// The boxes around all long paths.
    grids: Grids,
    /// Pairs of long paths.
    pairs: PairList,
}

/// Some grids, and the condition on a slot to be in them.
type GridsOf<'a> = (&'a Grids, &'a (dyn Fn(u32) -> bool + Send + Sync));

impl Paths {
    /// Adds all pairs of a swept collider and a collider that it may meet on the way, if either
    /// changed.
    pub fn find<V: Space>(
        &mut self,
        arena: &ProxyArena<V>,
        sets: [GridsOf; 2],
        pairs: &mut PairList,
    ) {
        let sweeps = arena.sweeps();
        let slots = sweeps.long().slots.as_slice();
        let region_of = |slot: u32| sweeps.region_of(slot, arena.box_of(slot));
        for (grids, contains) in sets {
            pairs.collect(slots.len(), slots.len(), |range, found| {
                let slots = slots.get(range).unwrap_or_default().iter().copied();
                for slot in slots.filter(|slot| sweeps.is_swept(*slot)) {
                    let Some(region) = region_of(slot) else {
                        continue;
                    };
                    let moving = MovingBox::new(region.bounds(), -region.translation());
                    grids.for_each_along(&moving, sweeps.growth(), |other, aabb: &Aabb| {
                        let is_changed = arena.is_changed(slot) || arena.is_changed(other);
                        let of_other = match sweeps.path_of(other) {
                            Some(path) => path.region,
                            None => Some(TurningRegion::at_rest(aabb)),
                        };
                        let may_meet = of_other.is_some_and(|other| region.may_meet(&other));
                        if is_changed && may_meet && !sweeps.is_long(other) && contains(other) {
                            found.push((slot, other));
                        }
                    });
                }
            });
        }
        self.find_among(arena, pairs);
    }

    /// Adds all pairs of two long paths, of which at least one is that of a swept collider.
    fn find_among<V: Space>(&mut self, arena: &ProxyArena<V>, pairs: &mut PairList) {
        let sweeps = arena.sweeps();
        let long = sweeps.long();
        let count = long.boxes.len() as u32;
        self.grids
            .update(&long.boxes, 0..count, |index| index < count);
        let slots_of = |(a, b): (u32, u32)| {
            let slot = |index: u32| long.slots.get(index as usize).copied();
            slot(a).zip(slot(b))
        };
        let is_wanted = |a: u32, b: u32| {
            slots_of((a, b)).is_some_and(|(a, b)| {
                let is_changed = arena.is_changed(a) || arena.is_changed(b);
                let is_swept = sweeps.is_swept(a) || sweeps.is_swept(b);
                is_changed && is_swept && arena.may_meet((a, b))
            })
        };
        self.pairs.all.clear();
        self.grids
            .overlaps_within(V::DVec::DIMENSION, &mut self.pairs, is_wanted);
        pairs
            .all
            .extend(self.pairs.all.iter().filter_map(|pair| slots_of(*pair)));
    }

    /// Frees unused memory.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.grids.reclaim(reclaim);
        self.pairs.reclaim(reclaim);
    }
}
