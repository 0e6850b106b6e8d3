//! Second stage: finds the pairs whose bounding boxes overlap and of which one collider changed.
//! The contact of any other pair is what it was.
//!
//! Moving boxes are sorted every tick, see [`grid`]. They query a separate, cached structure of
//! resting boxes.
//!
//! Bounding volume hierarchies of `obvhs` were slower in the scenes of `benches/`, both rebuilt
//! each tick and refitted with enlarged boxes. They pay where they last: inside compounds and
//! surfaces.
//!
//! Half-spaces have no box. There are few of them, so each is tested against all changed boxes, and
//! never against another half-space.

mod cell_size;
mod grid;
mod grids;
mod row_key;
mod sweep;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Peak, Reclaim, is_excessive},
    diagnostics::CollisionDiagnostics,
    pipeline::{
        aabb::Aabb,
        broad_phase::grids::Grids,
        candidates::{Candidates, PairList, SlotPair},
        progress::{Completed, Progress},
        proxies::Proxies,
        proxy_arena::ProxyArena,
    },
    settings::BroadPhase,
    shape::Bounds,
    space::{DVector, Space},
};

/// The boxes of both spaces.
#[derive(Default)]
pub struct BroadPhaseState {
    d2: Overlaps,
    d3: Overlaps,
    reclaim: Reclaim,
}

/// Fills [`Candidates`], unless the app supplies the pairs.
pub fn find_candidates(
    proxies: Res<Proxies>,
    progress: Res<Progress>,
    mut candidates: ResMut<Candidates>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
    mut state: Local<BroadPhaseState>,
) {
    let start = Instant::now();
    if progress.completed != Completed::Sync {
        return;
    }
    if progress.is_restart {
        *state = BroadPhaseState::default();
        *candidates = Candidates::default();
    }
    if proxies.source == BroadPhase::Custom {
        diagnostics.broad_phase = start.elapsed();
        return;
    }
    let BroadPhaseState { d2, d3, reclaim } = &mut *state;
    d2.find(&proxies.d2, &mut candidates.d2);
    d3.find(&proxies.d3, &mut candidates.d3);
    reclaim.begin_tick();
    candidates.d2.reclaim(reclaim);
    candidates.d3.reclaim(reclaim);
    d2.reclaim(&proxies.d2, reclaim);
    d3.reclaim(&proxies.d3, reclaim);
    diagnostics.broad_phase = start.elapsed();
}

/// The boxes of one space.
#[derive(Default)]
struct Overlaps {
    /// The boxes that move, or moved not long ago.
    moving: Grids,
    /// The boxes at rest. May include boxes that have moved or gone since.
    resting: Grids,
    /// The number of boxes at rest.
    rest_peak: Peak,
}

/// Boxes at rest are moved from `moving` to `resting` when they outnumber the moving ones by this
/// fraction of `resting`. So the cost of the update is bounded by that of the tick or of earlier
/// moves.
const RESTING_FRACTION: usize = 8;

impl Overlaps {
    /// Finds the pairs of proxies that may touch and of which one changed.
    fn find<V: Space>(&mut self, arena: &ProxyArena<V>, pairs: &mut PairList) {
        let Self {
            moving, resting, ..
        } = self;
        pairs.all.clear();
        let changed = arena.changed();
        if changed.is_empty() {
            return;
        }
        let boxes = arena.boxes();
        let has_box = |slot: u32| arena.box_of(slot).is_some();
        let woken = changed.iter().filter(|slot| !moving.contains(**slot));
        let still = (moving.len() + woken.count()).saturating_sub(changed.len());
        let settles = still > changed.len() + resting.len() / RESTING_FRACTION;
        moving.update(boxes, changed.iter().copied(), |slot| {
            has_box(slot) && (!settles || arena.is_changed(slot))
        });
        let rests = |slot: u32| has_box(slot) && !moving.contains(slot);
        if settles {
            resting.update(boxes, arena.slots(), rests);
        }
        moving.overlaps_within(V::DVec::DIMENSION, pairs, |a, b| {
            arena.is_changed(a) || arena.is_changed(b)
        });
        moving.overlaps_with(resting, pairs, |slot| arena.is_changed(slot), rests);
        find_half_space_pairs(arena, &mut pairs.all);
    }

    /// Frees unused memory.
    fn reclaim<V: Space>(&mut self, arena: &ProxyArena<V>, reclaim: &mut Reclaim) {
        let Self {
            moving,
            resting,
            rest_peak,
        } = self;
        let boxes = arena.boxes();
        rest_peak.note(arena.count().saturating_sub(moving.len()));
        if reclaim.ends_window() {
            // Removed boxes leave only when others come to rest, which may never happen again.
            let has_box = |slot: u32| arena.box_of(slot).is_some();
            if moving.has_stale_slots(boxes.len()) {
                moving.update(boxes, [], has_box);
            }
            if is_excessive(resting.len(), rest_peak.get()) || resting.has_stale_slots(boxes.len())
            {
                resting.update(boxes, [], |slot| has_box(slot) && !moving.contains(slot));
            }
            rest_peak.end_window();
        }
        moving.reclaim(reclaim);
        resting.reclaim(reclaim);
    }
}

/// Adds the pairs of a half-space and a box that reaches into it.
fn find_half_space_pairs<V: Space>(arena: &ProxyArena<V>, pairs: &mut Vec<SlotPair>) {
    for slot in arena.half_spaces() {
        let Some(proxy) = arena.get(*slot) else {
            continue;
        };
        let Some(half_space) = proxy.half_space() else {
            continue;
        };
        let origin = proxy.world_pose.translation;
        let reaches = |other: &u32| {
            let bounds: Option<Bounds<V::DVec>> = arena.box_of(*other).map(Aabb::bounds);
            bounds.is_some_and(|bounds| bounds.overlaps_half_space(&half_space, origin))
        };
        let pair = |other: u32| (*slot, other);
        if arena.is_changed(*slot) {
            pairs.extend(arena.slots().filter(reaches).map(pair));
        } else {
            pairs.extend(arena.changed().iter().copied().filter(reaches).map(pair));
        }
    }
}
