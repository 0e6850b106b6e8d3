//! Second stage: finds the pairs with overlapping bounding boxes and at least one changed collider.
//! The contacts of all other pairs are the same as in the previous tick. The system
//! [`find_candidates`] runs once per tick.
//!
//! Moving boxes are sorted in every tick: see [`grid`]. Moving boxes also query separate grids of
//! resting boxes, which are kept from tick to tick.
//!
//! Bounding volume hierarchies of `obvhs` were slower in the scenes of `benches/`, both when
//! rebuilt each tick and when refitted with enlarged boxes. Compounds and surfaces use such
//! hierarchies, because their boxes rarely change.
//!
//! While any collider is swept, the broad phase uses boxes around the paths of this tick: see
//! [`swept`](super::swept). The boxes around pieces of long paths have grids of their own, because
//! their sizes do not suit the cells of the other boxes. Also, all pieces are new in each tick. The
//! tick is divided into spans of time, and these grids hold the pieces of one span after the other.
//!
//! Half-spaces have no box. Scenes have few half-spaces, so each half-space is tested against all
//! changed boxes, or against all boxes if the half-space changed. Pairs of two half-spaces are not
//! tested.
//!
//! | file | contents |
//! |---|---|
//! | `grids.rs` | boxes of any size |
//! | `grid.rs`, `row_key.rs`, `cell_size.rs` | boxes of similar size, in cells |
//! | `row_scan.rs` | the overlaps in a grid |
//! | `custom_pairs.rs` | the pairs that the app supplies instead |
//! | `candidates.rs`, `pair_order.rs` | all pairs to test, sorted by entity |

pub mod candidates;
mod cell_size;
pub mod custom_pairs;
mod grid;
mod grids;
pub mod pair_order;
mod row_key;
mod row_scan;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Buffer, Peak},
    diagnostics::CollisionDiagnostics,
    pipeline::{
        broad_phase::{
            candidates::{Candidates, PairList},
            grids::Grids,
        },
        progress::{Completed, Progress},
        proxies::{Proxies, ProxyArena, SlotPair},
        swept::{PathTable, SweptPaths},
    },
    settings::BroadPhase,
    shape::{Aabb, Bounds},
    space::{DVector, Space},
};

/// The boxes of all colliders, in 2D and in 3D.
#[derive(Default)]
pub struct BroadPhaseState {
    d2: Overlaps,
    d3: Overlaps,
}

/// Fills [`Candidates`], unless the app supplies the pairs.
pub fn find_candidates(
    proxies: Res<Proxies>,
    paths: Res<SweptPaths>,
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
    candidates.d2.clear();
    candidates.d3.clear();
    match proxies.source {
        BroadPhase::Automatic => {
            let BroadPhaseState { d2, d3 } = &mut *state;
            d2.find(&proxies.d2, &paths.d2, &mut candidates.d2);
            d3.find(&proxies.d3, &paths.d3, &mut candidates.d3);
            d2.end_tick(&proxies.d2, &paths.d2);
            d3.end_tick(&proxies.d3, &paths.d3);
        }
        BroadPhase::Custom => {}
    }
    diagnostics.broad_phase = start.elapsed();
}

/// The boxes of all 2D or all 3D colliders.
#[derive(Default)]
struct Overlaps {
    /// The boxes that move or moved recently.
    moving: Grids,
    /// The boxes at rest. Some of these boxes may have moved or been removed since the last update.
    resting: Grids,
    /// The boxes around the pieces of paths in one span of the tick.
    pieces: Grids,
    /// The pairs of slots whose cut paths may meet.
    piece_pairs: Buffer<SlotPair>,
    /// The peak number of boxes at rest.
    rest_peak: Peak,
    /// The peak number of slots and of boxes around pieces of paths.
    slot_peak: Peak,
}

/// Let m be the number of boxes at rest in `moving`, c the number of changed boxes, and r the
/// number of boxes in `resting`. If m > c + r / `SETTLING_FRACTION`, the m boxes are moved to
/// `resting`. So the cost of this update is bounded by the cost of this tick or of earlier moves.
const SETTLING_FRACTION: usize = 8;

impl Overlaps {
    /// Fills the empty list `pairs` with all pairs of proxies that may touch, if at least one proxy
    /// of the pair changed.
    fn find<V: Space>(
        &mut self,
        arena: &ProxyArena<V>,
        paths: &PathTable<V>,
        pairs: &mut PairList,
    ) {
        let Self {
            moving,
            resting,
            pieces,
            piece_pairs,
            ..
        } = self;
        let changed = arena.changed();
        if changed.is_empty() {
            return;
        }
        let boxes = paths.boxes(arena);
        let has_box = |slot: u32| arena.box_of(slot).is_some() && !paths.is_cut(slot);
        let woken = changed.iter().filter(|slot| !moving.contains(**slot));
        let unchanged = (moving.len() + woken.count()).saturating_sub(changed.len());
        let settles = unchanged > changed.len() + resting.len() / SETTLING_FRACTION;
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
        find_half_space_pairs(arena, paths, &mut pairs.all);
        if paths.is_empty() {
            *pieces = Grids::default();
            piece_pairs.clear();
            return;
        }
        // Pieces of two paths touch only if they are at the same place at the same time. Without
        // the division into spans, each piece would visit all pieces at its place, whose number
        // grows with the length of the paths. Without pieces, there is one span, in which the grids
        // of the pieces become empty.
        let spans = paths.span_count().max(1);
        for span in 0..spans {
            let overlaps_span = |number| paths.spans_of(number, spans).contains(&span);
            let begins_in_span = |number| paths.spans_of(number, spans).start == span;
            pieces.update(boxes, paths.pieces_in(span, spans), overlaps_span);
            pieces.overlaps_within(V::DVec::DIMENSION, pairs, |a, b| {
                paths.are_simultaneous((a, b)) && paths.may_meet(arena, paths.slots((a, b)))
            });
            pieces.overlaps_with(moving, pairs, begins_in_span, |_| true);
            pieces.overlaps_with(resting, pairs, begins_in_span, rests);
        }
        // Several pairs of pieces may belong to the same pair of paths, so duplicates are removed.
        // Most boxes around paths are far larger than the paths, so `may_meet` also tests the paths
        // themselves.
        let numbers = paths.pieces();
        piece_pairs.clear();
        pairs.all.retain_mut(|pair| {
            let are_pieces = numbers.contains(&pair.0) && numbers.contains(&pair.1);
            let is_repeated = paths.is_repeated(*pair);
            *pair = paths.slots(*pair);
            if are_pieces {
                piece_pairs.push((pair.0.min(pair.1), pair.0.max(pair.1)));
            }
            !are_pieces && !is_repeated && paths.may_meet(arena, *pair)
        });
        piece_pairs.sort_unstable();
        piece_pairs.dedup();
        pairs.all.extend_from_slice(piece_pairs);
    }

    /// Ends a tick. After a temporary peak of the number of boxes, removes outdated boxes and frees
    /// unused memory.
    fn end_tick<V: Space>(&mut self, arena: &ProxyArena<V>, paths: &PathTable<V>) {
        let boxes = paths.boxes(arena);
        let at_rest = arena.count().saturating_sub(self.moving.len());
        // Uses `|`, which does not short-circuit, because both peaks must count the tick.
        if self.rest_peak.end_tick(at_rest) | self.slot_peak.end_tick(boxes.len()) {
            // Without this update, removed boxes would stay until other boxes move or come to rest,
            // which may never happen again.
            let has_box = |slot: u32| arena.box_of(slot).is_some();
            self.moving.update(boxes, [], has_box);
            let rests = |slot: u32| has_box(slot) && !self.moving.contains(slot);
            self.resting.update(boxes, [], rests);
            // Cloning the grids drops their unused capacity. The next tick adds all pieces again.
            self.moving = self.moving.clone();
            self.resting = self.resting.clone();
            self.pieces = Grids::default();
        }
        self.moving.end_tick();
        self.resting.end_tick();
        self.pieces.end_tick();
    }
}

/// Adds each pair of a half-space and a box that overlaps the half-space or its path, if either of
/// the two changed.
fn find_half_space_pairs<V: Space>(
    arena: &ProxyArena<V>,
    paths: &PathTable<V>,
    pairs: &mut Vec<SlotPair>,
) {
    let boxes = paths.boxes(arena);
    for slot in arena.half_spaces() {
        let Some(proxy) = arena.get(*slot) else {
            continue;
        };
        let Some(mut half_space) = proxy.half_space() else {
            continue;
        };
        let origin = proxy.world_pose.translation;
        let path = paths.path(*slot);
        let is_turning = path.is_some_and(|path| path.max_angle > 0.0);
        if let Some(path) = path {
            // If the half-space moved against its normal, the half-space was higher in the previous
            // tick. So the test uses the higher position.
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

#[cfg(test)]
mod tests;
