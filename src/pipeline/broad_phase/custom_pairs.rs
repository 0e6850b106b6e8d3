//! The pairs that the app supplies, sorted, and compared with the pairs of the previous tick.

use bevy::prelude::*;

use crate::{
    buffer::Buffer,
    pipeline::{
        proxies::{Proxies, ProxyArena, ProxySlot, SlotPair},
        swept::{PathTable, SweptPaths},
    },
    settings::CandidatePairs,
    space::Space,
};

/// The pairs that the app supplies with `BroadPhase::Custom`. With `Automatic`, the list is empty.
#[derive(Default)]
pub struct CustomPairs {
    /// `true` if the app supplies the pairs in this tick.
    is_enabled: bool,
    /// The pairs of this tick, sorted and without duplicates, each with the smaller entity first.
    pairs: Buffer<(Entity, Entity)>,
    /// The pairs of the previous tick, if the app has written or enabled the pairs since. Otherwise
    /// the list is empty.
    previous: Buffer<(Entity, Entity)>,
    /// `true` if the pairs differ from the pairs of the previous tick.
    pub is_changed: bool,
}

impl CustomPairs {
    /// Copies the supplied pairs, and compares them with the pairs of the previous tick.
    pub fn update(&mut self, supplied: &ResMut<CandidatePairs>, is_enabled: bool) {
        let was_enabled = core::mem::replace(&mut self.is_enabled, is_enabled);
        let Self {
            pairs, previous, ..
        } = self;
        previous.clear();
        pairs.end_tick();
        if !is_enabled {
            Vec::clear(pairs);
        }
        let is_written = is_enabled && (supplied.is_changed() || !was_enabled);
        if is_written {
            core::mem::swap(pairs, previous);
            pairs.extend(supplied.iter().map(|(a, b)| (a.min(b), a.max(b))));
            pairs.sort_unstable();
            pairs.dedup();
        }
        self.is_changed = is_written && **pairs != **previous;
    }

    /// Returns all pairs, sorted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Entity, Entity)> {
        self.pairs.iter().copied()
    }

    /// Returns `true` if `pair` was supplied, or if the app does not supply the pairs. The smaller
    /// entity of `pair` must come first.
    pub fn allows(&self, pair: (Entity, Entity)) -> bool {
        !self.is_enabled || self.pairs.binary_search(&pair).is_ok()
    }

    /// Adds supplied pairs to the lists of their dimensions. A pair is added if its boxes may
    /// touch, and if either the pair is new or one of its colliders changed.
    pub fn list(&self, proxies: &Proxies, paths: &SweptPaths, [d2, d3]: [&mut Vec<SlotPair>; 2]) {
        fn needs_test<V: Space>(
            arena: &ProxyArena<V>,
            paths: &PathTable<V>,
            (a, b): SlotPair,
            is_new: impl Fn() -> bool,
        ) -> bool {
            let is_changed = || arena.is_changed(a) || arena.is_changed(b) || is_new();
            paths.may_meet(arena, (a, b)) && is_changed()
        }
        for (entity, other) in self.iter().filter(|(entity, other)| entity != other) {
            let is_new =
                || self.is_changed && self.previous.binary_search(&(entity, other)).is_err();
            match (proxies.slot(entity), proxies.slot(other)) {
                (Some(ProxySlot::D2(a)), Some(ProxySlot::D2(b))) => {
                    d2.extend(needs_test(&proxies.d2, &paths.d2, (a, b), is_new).then_some((a, b)));
                }
                (Some(ProxySlot::D3(a)), Some(ProxySlot::D3(b))) => {
                    d3.extend(needs_test(&proxies.d3, &paths.d3, (a, b), is_new).then_some((a, b)));
                }
                _ => {}
            }
        }
    }
}
