//! Second stage: finds the pairs whose bounding boxes overlap, if at least one collider changed.
//! The contacts of all other pairs are the same as in the previous tick.
//!
//! Moving boxes are sorted in every tick: see [`grid`]. They query a separate, cached structure of
//! resting boxes.
//!
//! Bounding volume hierarchies of `obvhs` were slower in the scenes of `benches/`, both rebuilt
//! each tick and refitted with enlarged boxes. Compounds and surfaces use them, because there the
//! hierarchies rarely change.
//!
//! While any collider is swept, the boxes are those around the paths of this tick: see
//! [`sweeps`](super::sweeps).
//!
//! Half-spaces have no box. Scenes have few of them, so each is tested against all changed boxes,
//! or against all boxes if the half-space changed. Pairs of two half-spaces are not tested.

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
    /// The boxes that move or moved recently.
    moving: Grids,
    /// The boxes at rest. May include boxes that have since moved or been removed.
    resting: Grids,
    /// The peak number of boxes at rest.
    rest_peak: Peak,
}

/// The boxes at rest in `moving` are moved to `resting` once they outnumber the changed boxes by
/// `resting.len()` divided by this number. So the cost of the update is bounded by the cost of this
/// tick or of earlier moves.
const RESTING_FRACTION: usize = 8;

impl Overlaps {
    /// Finds the pairs of proxies that may touch, if at least one of the two changed.
    fn find<V: Space>(&mut self, arena: &ProxyArena<V>, pairs: &mut PairList) {
        let Self {
            moving, resting, ..
        } = self;
        pairs.all.clear();
        let changed = arena.changed();
        if changed.is_empty() {
            return;
        }
        let boxes = arena.path_boxes();
        let has_box = |slot: u32| arena.box_of(slot).is_some();
        let woken = changed.iter().filter(|slot| !moving.contains(**slot));
        let unchanged = (moving.len() + woken.count()).saturating_sub(changed.len());
        let settles = unchanged > changed.len() + resting.len() / RESTING_FRACTION;
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
        if arena.sweeps().boxes().is_some() {
            // Most boxes around paths are far larger than the paths.
            pairs.all.retain(|pair| arena.may_meet(*pair));
        }
    }

    /// Frees unused memory.
    fn reclaim<V: Space>(&mut self, arena: &ProxyArena<V>, reclaim: &mut Reclaim) {
        let Self {
            moving,
            resting,
            rest_peak,
        } = self;
        let boxes = arena.path_boxes();
        rest_peak.note(arena.count().saturating_sub(moving.len()));
        if reclaim.ends_window() {
            // Removed boxes leave `resting` only when other boxes come to rest, which may never
            // happen again.
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

/// Adds the pairs of a half-space and a box that overlaps it, or its path.
fn find_half_space_pairs<V: Space>(arena: &ProxyArena<V>, pairs: &mut Vec<SlotPair>) {
    let boxes = arena.path_boxes();
    for slot in arena.half_spaces() {
        let Some(proxy) = arena.get(*slot) else {
            continue;
        };
        let Some(mut half_space) = proxy.half_space() else {
            continue;
        };
        let origin = proxy.world_pose.translation;
        let path = arena.sweeps().path_of(*slot);
        let is_turning = path.is_some_and(|path| path.max_angle > 0.0);
        if let Some(path) = path {
            // It was higher in the previous tick if it moved down.
            half_space = half_space.raised((-half_space.normal.dot(path.translation)).max(0.0));
        }
        let overlaps = |other: &u32| {
            let aabb = boxes.get(*other as usize).filter(|aabb| !aabb.is_empty());
            let bounds: Option<Bounds<V::DVec>> = aabb.map(Aabb::bounds);
            bounds
                .is_some_and(|bounds| is_turning || bounds.overlaps_half_space(&half_space, origin))
        };
        let pair = |other: u32| (*slot, other);
        if arena.is_changed(*slot) {
            pairs.extend(arena.slots().filter(overlaps).map(pair));
        } else {
            pairs.extend(arena.changed().iter().copied().filter(overlaps).map(pair));
        }
    }
}
