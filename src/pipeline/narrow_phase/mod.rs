//! Third stage: computes the contacts of the candidate pairs.
//!
//! Each pair is solved from scratch. A search direction kept from the previous tick would save one
//! or two of three support points on average, and only for separated cores without a closed form.
//! Looking up the direction would cost as much, and the last bit of a contact could depend on
//! earlier ticks.

mod event;
pub mod found_contacts;

pub use event::event;

use core::hint::black_box;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Buffer, reserve_amortized},
    collider_query::part_contacts::{Scratch, deepest_of_parts},
    collision::CollisionEvent,
    diagnostics::CollisionDiagnostics,
    math::{Vec2, Vec3},
    parallel::share,
    pipeline::{
        broad_phase::{
            candidates::{Candidates, SlotPair},
            pair_order::PairOrder,
        },
        narrow_phase::found_contacts::FoundContacts,
        progress::{Completed, Progress},
        proxies::{Proxies, ProxySlot, arena::ProxyArena},
        proxy::Proxy,
    },
    placed::{BoundingRegion, PartContact},
    query::{Pair, Solver},
    settings::{BroadPhase, CandidatePairs},
    space::Space,
};

/// The stage's buffers.
#[derive(Default)]
pub struct NarrowPhaseState {
    d2: Workspace<Vec2>,
    d3: Workspace<Vec3>,
}

/// Tests the candidate pairs.
pub fn narrow_phase(
    proxies: Res<Proxies>,
    candidates: Res<Candidates>,
    mut supplied: ResMut<CandidatePairs>,
    mut found: ResMut<FoundContacts>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
    mut progress: ResMut<Progress>,
    mut state: Local<NarrowPhaseState>,
) {
    let start = Instant::now();
    if progress.completed != Completed::Sync {
        return;
    }
    if progress.is_restart {
        *state = NarrowPhaseState::default();
        *found = FoundContacts::default();
    }
    let is_custom = proxies.source == BroadPhase::Custom;
    found.is_changed = found.custom_pairs.update(&supplied, is_custom)
        || proxies.is_restored
        || proxies.has_changes();
    state.find_contacts(&proxies, &candidates, &mut found);
    // Only the capacity of the list may change, which users must not see as a change.
    supplied.bypass_change_detection().pairs.end_tick();
    diagnostics.candidates = if is_custom {
        found.custom_pairs.iter().len()
    } else {
        candidates.d2.all.len() + candidates.d3.all.len()
    };
    diagnostics.supports = state.d2.take_count() + state.d3.take_count();
    diagnostics.casts = 0;
    diagnostics.narrow_phase = start.elapsed();
    progress.completed = Completed::NarrowPhase;
}

impl NarrowPhaseState {
    fn find_contacts(
        &mut self,
        proxies: &Proxies,
        candidates: &Candidates,
        found: &mut FoundContacts,
    ) {
        found.pairs_2d.clear();
        found.pairs_3d.clear();
        found.swept.clear();
        let Self { d2, d3 } = self;
        d2.order
            .sort(&proxies.d2, &candidates.d2.all, &mut found.pairs_2d);
        d3.order
            .sort(&proxies.d3, &candidates.d3.all, &mut found.pairs_3d);
        if found.is_changed && proxies.source == BroadPhase::Custom {
            list_custom_pairs(proxies, found);
        }
        let parts = &mut found.parts;
        parts.clear();
        d2.test_all(&proxies.d2, &found.pairs_2d, &mut found.d2, parts);
        d3.test_all(&proxies.d3, &found.pairs_3d, &mut found.d3, parts);
        parts
            .sort_unstable_by_key(|contact| (contact.pair(), contact.part(), contact.other_part()));
    }
}

/// Lists the supplied pairs whose boxes may touch and that are new or have a changed collider.
fn list_custom_pairs(proxies: &Proxies, found: &mut FoundContacts) {
    fn needs_test<V: Space>(
        arena: &ProxyArena<V>,
        (a, b): SlotPair,
        is_new: impl Fn() -> bool,
    ) -> bool {
        let is_changed = || arena.is_changed(a) || arena.is_changed(b) || is_new();
        arena.may_meet((a, b)) && is_changed()
    }
    let Proxies { d2, d3, .. } = proxies;
    let custom = &found.custom_pairs;
    for (entity, other) in custom.iter().filter(|(entity, other)| entity != other) {
        let is_new = || custom.is_new((entity, other));
        match (proxies.slot_of(entity), proxies.slot_of(other)) {
            (Some(ProxySlot::D2(a)), Some(ProxySlot::D2(b))) if needs_test(d2, (a, b), is_new) => {
                found.pairs_2d.push((a, b));
            }
            (Some(ProxySlot::D3(a)), Some(ProxySlot::D3(b))) if needs_test(d3, (a, b), is_new) => {
                found.pairs_3d.push((a, b));
            }
            _ => {}
        }
    }
}

/// The buffers to test the pairs of one dimension.
#[derive(Default)]
struct Workspace<V: Space> {
    order: PairOrder,
    tasks: Vec<Task<V>>,
}

/// The buffers of a task.
#[derive(Default)]
struct Task<V: Space> {
    parts: Buffer<CollisionEvent>,
    scratch: Scratch<V>,
}

/// Number of pairs whose proxies are fetched together. Proxies are scattered in memory, and the
/// processor loads the proxies of a batch in parallel.
const BATCH: usize = 16;

type ProxyPair<'a, V> = (&'a Proxy<V>, &'a Proxy<V>);

/// Returns the proxies of a pair whose layers interact, and loads them into the cache.
#[inline]
fn fetch<V: Space>(arena: &ProxyArena<V>, (a, b): SlotPair) -> Option<ProxyPair<'_, V>> {
    let (first, second) = (arena.get(a)?, arena.get(b)?);
    for proxy in [first, second] {
        // Reads one word of each cache line that the test needs. Without `black_box` the compiler
        // would remove these reads, because nothing uses their result.
        black_box(
            proxy.world_pose.factor().is_some()
                & proxy.scaled_shape().is_some()
                & proxy.is_half_space(),
        );
    }
    let interact = first.layers.interacts_with(second.layers);
    interact.then_some((first, second))
}

/// Minimum number of pairs in a task.
const MIN_PAIRS: usize = 64;

impl<V: Space> Workspace<V> {
    /// Tests all pairs, in parallel if there are many. The contacts are in the order of the pairs,
    /// for any number of threads.
    fn test_all(
        &mut self,
        arena: &ProxyArena<V>,
        pairs: &[SlotPair],
        found: &mut Vec<Buffer<CollisionEvent>>,
        parts: &mut Vec<CollisionEvent>,
    ) {
        found.iter_mut().for_each(Buffer::clear);
        let shared = share(pairs.len(), MIN_PAIRS);
        let size = shared.map_or(pairs.len().max(1), |(_, size)| size);
        let chunks = pairs.chunks(size);
        let count = chunks.len().max(self.tasks.len());
        self.tasks.resize_with(count, Task::default);
        found.resize_with(count, Buffer::default);
        let chunks = chunks.zip(self.tasks.iter_mut().zip(found));
        match shared {
            Some((pool, _)) => {
                pool.scope(|scope| {
                    for (pairs, (task, found)) in chunks {
                        scope.spawn(async move { task.test(arena, pairs, found) });
                    }
                });
            }
            None => chunks.for_each(|(pairs, (task, found))| task.test(arena, pairs, found)),
        }
        for task in &mut self.tasks {
            parts.extend_from_slice(&task.parts);
            task.parts.clear();
            task.scratch.end_tick();
        }
    }

    /// Returns the number of support points computed in this tick.
    fn take_count(&mut self) -> usize {
        let counters = self
            .tasks
            .iter_mut()
            .map(|task| task.scratch.counter.take());
        counters.sum()
    }
}

impl<V: Space> Task<V> {
    /// Adds the contacts of pairs to `found`.
    fn test(&mut self, arena: &ProxyArena<V>, pairs: &[SlotPair], found: &mut Vec<CollisionEvent>) {
        let has_paths = arena.sweeps().boxes().is_some();
        for pairs in pairs.chunks(BATCH) {
            let mut batch = [None; BATCH];
            for (proxies, pair) in batch.iter_mut().zip(pairs) {
                // Of most pairs that may meet on the way, the poses are far apart.
                if !has_paths || arena.may_touch(*pair) {
                    *proxies = fetch(arena, *pair);
                }
            }
            for (proxies, pair) in batch.into_iter().zip(pairs) {
                if let Some(proxies) = proxies {
                    self.test_pair(arena, *pair, proxies, found);
                }
            }
        }
    }

    fn test_pair(
        &mut self,
        arena: &ProxyArena<V>,
        (a, b): SlotPair,
        (first, second): ProxyPair<V>,
        found: &mut Vec<CollisionEvent>,
    ) {
        reserve_amortized(found, 1);
        if let Some(first_shape) = first.scaled_shape()
            && let Some(second_shape) = second.scaled_shape()
        {
            let (first_pose, second_pose) = (first.world_pose.pose(), second.world_pose.pose());
            let pair = Pair::new(&first_shape, first_pose, &second_shape, second_pose);
            if let Some(contact) =
                Solver::new(pair.counted_by(&self.scratch.counter)).find_contact()
            {
                let parts = (0, 0);
                found.push(event(first, second, &PartContact { parts, contact }));
            }
            return;
        }
        let Self { parts, scratch } = self;
        // The order of the arguments must depend on the colliders, not on the entities.
        if first.compare(second).is_le() {
            let region = arena.region(b);
            let contact = region
                .and_then(|region| contact_of_parts((first, second), &region, scratch, parts));
            found.extend(contact);
            return;
        }
        let start = parts.len();
        let region = arena.region(a);
        let contact =
            region.and_then(|region| contact_of_parts((second, first), &region, scratch, parts));
        let added = parts.get_mut(start..).unwrap_or_default();
        for contact in added {
            *contact = contact.flipped();
        }
        found.extend(contact.map(|contact| contact.flipped()));
    }
}

/// Returns the deepest contact of two proxies, at least one of which has several parts. Adds the
/// contacts of all parts to `parts` if more than one part touches.
fn contact_of_parts<V: Space>(
    (a, b): ProxyPair<V>,
    region_of_b: &BoundingRegion<V::DVec>,
    scratch: &mut Scratch<V>,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    let start = parts.len();
    let deepest = deepest_of_parts((a, b), region_of_b, scratch, |contact| {
        parts.push(event(a, b, &contact));
    })?;
    if parts.len() == start + 1 {
        parts.truncate(start);
    }
    Some(event(a, b, &deepest))
}
