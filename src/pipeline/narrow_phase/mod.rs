//! Third stage: computes the contacts of the candidate pairs. The system [`list_pairs`] lists the
//! pairs, and the system [`narrow_phase`] tests the pairs, once per tick.
//!
//! Each pair is solved from scratch. A search direction kept from the previous tick would save GJK
//! a few support points, but looking up the direction would cost as much. Also, the last bits of a
//! contact could then depend on earlier ticks.
//!
//! `event.rs` converts a contact to an event. `found_contacts.rs` defines the results of the stage.

mod event;
pub mod found_contacts;

pub use event::event;

use core::hint::black_box;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Buffer, reserve_amortized},
    collider_query::part_contacts::{Scratch, deepest_of_parts},
    collision::{CollisionEvent, Collisions},
    diagnostics::CollisionDiagnostics,
    math::{Vec2, Vec3},
    meeting::PairRules,
    parallel::share,
    pipeline::{
        broad_phase::candidates::Candidates,
        narrow_phase::found_contacts::FoundContacts,
        one_way::{Meetings, OneWayTick},
        progress::{Completed, Progress},
        proxies::{Proxies, ProxyArena, SlotPair},
        proxy::Proxy,
        swept::SweptPaths,
    },
    placed::{BoundingRegion, PartContact},
    query::Pair,
    settings::{BroadPhase, CandidatePairs},
    sorted::merge,
    space::Space,
};

/// The stage's buffers.
#[derive(Default)]
pub struct NarrowPhaseState {
    d2: Vec<PairTester<Vec2>>,
    d3: Vec<PairTester<Vec3>>,
    /// The 3D contacts, if there are 2D contacts as well.
    pairs_3d: Buffer<CollisionEvent>,
}

/// Lists the candidate pairs in the order of their entities.
pub fn list_pairs(
    (proxies, paths, mut candidates): (Res<Proxies>, Res<SweptPaths>, ResMut<Candidates>),
    mut supplied: ResMut<CandidatePairs>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
    progress: Res<Progress>,
) {
    let start = Instant::now();
    if progress.completed != Completed::Sync {
        return;
    }
    let is_custom = proxies.source == BroadPhase::Custom;
    candidates.custom.update(&supplied, is_custom);
    // Only the capacity of the list may change, which must not count as a change for users.
    supplied.bypass_change_detection().pairs.end_tick();
    candidates.sort(&proxies, &paths);
    diagnostics.candidates = candidates.count();
    diagnostics.narrow_phase = start.elapsed();
}

/// Tests the candidate pairs.
pub fn narrow_phase(
    (proxies, candidates, collisions): (Res<Proxies>, Res<Candidates>, Res<Collisions>),
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
    let (state, found, rules) = (&mut *state, &mut *found, &proxies.rules);
    found.pairs.clear();
    found.parts.clear();
    found.swept.clear();
    state.pairs_3d.clear();
    let tick = PairTick {
        arena: &proxies.d2,
        rules,
        one_way: OneWayTick::new(&collisions, &collisions.poses_2d, rules),
        has_paths: proxies.has_swept,
    };
    let tick_3d = PairTick {
        arena: &proxies.d3,
        rules,
        one_way: OneWayTick::new(&collisions, &collisions.poses_3d, rules),
        has_paths: proxies.has_swept,
    };
    let (pairs, pairs_3d) = (&candidates.d2.sorted, &candidates.d3.sorted);
    let (all, parts) = (&mut found.pairs, &mut found.parts);
    diagnostics.supports = test_all(&mut state.d2, tick, pairs, all, parts);
    let count = all.len();
    let list = if count == 0 {
        &mut *all
    } else {
        &mut *state.pairs_3d
    };
    diagnostics.supports += test_all(&mut state.d3, tick_3d, pairs_3d, list, parts);
    if count > 0 {
        merge(all, count, &state.pairs_3d, CollisionEvent::pair);
    }
    found.tested = found.pairs.len();
    found.parts.sort_unstable_by(CollisionEvent::cmp_parts);
    diagnostics.casts = 0;
    diagnostics.narrow_phase += start.elapsed();
    progress.completed = Completed::NarrowPhase;
}

/// The data that the tests of a tick read.
#[derive(Clone, Copy)]
struct PairTick<'a, V: Space> {
    arena: &'a ProxyArena<V>,
    rules: &'a PairRules,
    one_way: OneWayTick<'a, V>,
    /// `true` if some pairs may touch only on the paths of swept colliders.
    has_paths: bool,
}

/// The buffers of a task that tests pairs.
#[derive(Default)]
struct PairTester<V: Space> {
    /// The contacts of the task, if several tasks share the pairs.
    found: Buffer<CollisionEvent>,
    parts: Buffer<CollisionEvent>,
    scratch: Scratch<V>,
}

/// Number of pairs whose proxies are fetched together. Proxies are scattered in memory, and the
/// processor loads the proxies of a batch in parallel.
const FETCHED_PAIRS: usize = 16;

type ProxyPair<'a, V> = (&'a Proxy<V>, &'a Proxy<V>);

/// Loads the proxies of a pair into the processor's cache. Returns the proxies, or `None` if a rule
/// excludes the pair.
fn fetch<'a, V: Space>(
    arena: &'a ProxyArena<V>,
    rules: &PairRules,
    (a, b): SlotPair,
) -> Option<ProxyPair<'a, V>> {
    let (first, second) = (arena.get(a)?, arena.get(b)?);
    for proxy in [first, second] {
        // These expressions read fields of the proxy that the test needs, and the edges of a
        // polygon, so that the processor loads their cache lines. Without `black_box`, the compiler
        // would remove these reads, because nothing uses their results.
        black_box(
            proxy.world_pose.factor().is_some()
                & proxy.scaled_shape().is_some()
                & proxy.is_half_space(),
        );
        black_box(proxy.prefetch());
    }
    let exclusion = rules.exclusion(first.party(), second.party());
    exclusion.is_none().then_some((first, second))
}

/// Minimum number of pairs in a task.
const MIN_PAIRS: usize = 64;

/// Tests all pairs of one dimension, in parallel if there are many, and adds the contacts to
/// `found`. The contacts are in the order of the pairs, for any number of threads. Returns the
/// number of support points computed.
fn test_all<V: Space>(
    testers: &mut Vec<PairTester<V>>,
    tick: PairTick<V>,
    pairs: &[SlotPair],
    found: &mut Vec<CollisionEvent>,
    parts: &mut Vec<CollisionEvent>,
) -> usize {
    let shared = share(pairs.len(), MIN_PAIRS);
    let size = shared.map_or(pairs.len().max(1), |(_, size)| size);
    let chunks = pairs.chunks(size);
    let count = chunks.len().max(testers.len());
    testers.resize_with(count, PairTester::default);
    let tasks = chunks.zip(testers.iter_mut());
    match shared {
        Some((pool, _)) => {
            pool.scope(|scope| {
                for (pairs, tester) in tasks {
                    scope.spawn(async move {
                        let mut found = core::mem::take(&mut tester.found);
                        tester.test(tick, pairs, &mut found);
                        tester.found = found;
                    });
                }
            });
        }
        None => tasks.for_each(|(pairs, tester)| tester.test(tick, pairs, found)),
    }
    let mut supports = 0;
    for PairTester {
        found: of_task,
        parts: parts_of_task,
        scratch,
    } in testers
    {
        reserve_amortized(found, of_task.len());
        found.extend_from_slice(of_task);
        of_task.clear();
        parts.extend_from_slice(parts_of_task);
        parts_of_task.clear();
        supports += scratch.counter.take();
        scratch.end_tick();
    }
    supports
}

impl<V: Space> PairTester<V> {
    /// Adds the contacts of pairs to `found`.
    fn test(&mut self, tick: PairTick<V>, pairs: &[SlotPair], found: &mut Vec<CollisionEvent>) {
        for pairs in pairs.chunks(FETCHED_PAIRS) {
            let mut batch = [None; FETCHED_PAIRS];
            for (proxies, pair) in batch.iter_mut().zip(pairs) {
                // Most pairs that may touch on a path are far apart at the end of the path. So a
                // test of their boxes comes first.
                if !tick.has_paths || tick.arena.may_touch(*pair) {
                    *proxies = fetch(tick.arena, tick.rules, *pair);
                }
            }
            for (proxies, pair) in batch.into_iter().zip(pairs) {
                if let Some(proxies) = proxies {
                    self.test_pair(tick, *pair, proxies, found);
                }
            }
        }
    }

    fn test_pair(
        &mut self,
        PairTick { arena, one_way, .. }: PairTick<V>,
        (a, b): SlotPair,
        (first, second): ProxyPair<V>,
        found: &mut Vec<CollisionEvent>,
    ) {
        reserve_amortized(found, 1);
        if let Some(meetings) = one_way.meetings(first, second) {
            let Self { parts, scratch, .. } = self;
            let contact = one_way_contact(&meetings, (first, second), scratch, parts);
            found.extend(contact);
            return;
        }
        if let Some(first_shape) = first.scaled_shape()
            && let Some(second_shape) = second.scaled_shape()
        {
            let (first_pose, second_pose) = (first.world_pose.pose(), second.world_pose.pose());
            let pair = Pair::new(&first_shape, first_pose, &second_shape, second_pose);
            if let Some(contact) = pair.counted_by(&self.scratch.counter).find_contact() {
                let parts = (0, 0);
                found.push(event(first, second, &PartContact { parts, contact }));
            }
            return;
        }
        if first.has_same_ground(second) {
            return;
        }
        let Self { parts, scratch, .. } = self;
        // The order of the arguments must depend on the colliders, not on the entities, so that
        // entity ids do not change the contact.
        let is_swapped = first.compare(second).is_gt();
        let (pair, region) = if is_swapped {
            ((second, first), arena.region(a))
        } else {
            ((first, second), arena.region(b))
        };
        let start = parts.len();
        let contact = region.and_then(|region| contact_of_parts(pair, &region, scratch, parts));
        if is_swapped {
            for part in parts.get_mut(start..).unwrap_or_default() {
                *part = part.flipped();
            }
            found.extend(contact.map(|contact| contact.flipped()));
        } else {
            found.extend(contact);
        }
    }
}

/// Returns the deepest contact of two proxies, of which at least one has several parts. If more
/// than one part touches, adds the contacts of all parts to `parts`.
fn contact_of_parts<V: Space>(
    (a, b): ProxyPair<V>,
    region_of_b: &BoundingRegion<V::DVec>,
    scratch: &mut Scratch<V>,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    let start = parts.len();
    let deepest = deepest_of_parts(
        (a, b),
        || Some(*region_of_b),
        scratch,
        true,
        |contact| parts.push(event(a, b, &contact)),
    )?;
    // If the pair has only one contact, the contact of the pair is enough.
    if parts.len() == start + 1 {
        parts.truncate(start);
    }
    Some(event(a, b, &deepest))
}

/// Returns the deepest contact of two proxies, of which at least one is one-way. If more than one
/// part touches, adds the contacts of all parts to `parts`.
#[cold]
fn one_way_contact<V: Space>(
    meetings: &Meetings<V>,
    (a, b): ProxyPair<V>,
    scratch: &mut Scratch<V>,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    let contacts = meetings.contacts(scratch, |meeting, landing| meeting.is_met(landing));
    if contacts.len() > 1 {
        parts.extend(contacts.iter().map(|found| event(a, b, found)));
    }
    Some(event(a, b, contacts.first()?))
}
