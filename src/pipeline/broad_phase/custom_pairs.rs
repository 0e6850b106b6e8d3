//! The pairs that the app supplies, sorted, and compared with the pairs of the previous tick.

use bevy::prelude::*;

use crate::{buffer::Buffer, settings::CandidatePairs};

/// The pairs that the app supplies with `BroadPhase::Custom`.
#[derive(Default)]
pub struct CustomPairs {
    /// `true` if the app supplies the pairs in this tick.
    is_enabled: bool,
    /// Sorted, without duplicates, each with the smaller entity first.
    pairs: Buffer<(Entity, Entity)>,
    /// `true` if the app has written or enabled the pairs since the previous tick.
    is_written: bool,
    /// The pairs of the previous tick, if `is_written`.
    previous: Buffer<(Entity, Entity)>,
}

impl CustomPairs {
    /// Copies the supplied pairs. Returns `true` if they differ from those of the previous tick.
    pub fn update(&mut self, supplied: &ResMut<CandidatePairs>, is_enabled: bool) -> bool {
        let was_enabled = core::mem::replace(&mut self.is_enabled, is_enabled);
        let Self {
            pairs, previous, ..
        } = self;
        previous.clear();
        pairs.end_tick();
        if !is_enabled {
            Vec::clear(pairs);
        }
        self.is_written = is_enabled && (supplied.is_changed() || !was_enabled);
        if !self.is_written {
            return false;
        }
        core::mem::swap(pairs, previous);
        pairs.extend(supplied.iter().map(|(a, b)| (a.min(b), a.max(b))));
        pairs.sort_unstable();
        pairs.dedup();
        **pairs != **previous
    }

    /// Returns all pairs, sorted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Entity, Entity)> {
        self.pairs.iter().copied()
    }

    /// Returns `true` if a pair was supplied. The smaller entity must come first.
    pub fn contains(&self, pair: (Entity, Entity)) -> bool {
        self.pairs.binary_search(&pair).is_ok()
    }

    /// Returns `true` if a supplied pair was not supplied in the previous tick.
    pub fn is_new(&self, pair: (Entity, Entity)) -> bool {
        self.is_written && self.previous.binary_search(&pair).is_err()
    }
}
