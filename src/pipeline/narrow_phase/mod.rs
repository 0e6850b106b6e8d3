//! Third stage: which candidate pairs touch, and how.
//!
//! Each pair is solved from nothing. A direction that was kept from the last tick could save work only where the cores are apart and
//! no closed form answers: one or two support points of the three that it takes in the mean. To find it by its pair would cost about
//! as much, and an answer that it has led to may depend on it to the last bit.

mod compound;
mod pair_sort;
mod surface;

use core::hint::black_box;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Buffer, Reclaim, reserve_amortized},
    collision::CollisionEvent,
    diagnostics::CollisionDiagnostics,
    math::{Vec2, Vec3},
    pipeline::{
        broad_phase::{BroadPhase, CandidatePairs, Candidates},
        narrow_phase::{
            compound::{Scratch, deepest_of_parts, event},
            pair_sort::PairOrder,
        },
        parallel::share,
        progress::Progress,
        proxies::Slots,
        proxy::Proxy,
        sync::{Place, Proxies},
    },
    query::{Pair, local_contact},
    shape::ColliderShape,
    space::Space,
};

/// The contacts of the pairs that were tested in this tick.
#[derive(Resource, Default)]
pub struct FoundContacts {
    plane: OfSpace<Vec2>,
    solid: OfSpace<Vec3>,
    /// All contacts of the pairs of which more than one part touches, of either space, in order.
    parts: Buffer<CollisionEvent>,
    /// Whether anything was, or has to be held to be, other than in the last tick.
    pub is_changed: bool,
    supply: Supply,
}

/// The contacts of a space.
struct OfSpace<V: Space> {
    order: PairOrder,
    /// In the order of the pairs, of which each task has some that follow one another.
    of_tasks: Vec<OfTask<V>>,
}

impl<V: Space> Default for OfSpace<V> {
    fn default() -> Self {
        Self {
            order: PairOrder::default(),
            of_tasks: Vec::new(),
        }
    }
}

/// The pairs that the app supplies.
#[derive(Default)]
struct Supply {
    /// Whether the app is asked for them.
    is_asked: bool,
    /// In order, each once, with the lesser entity first.
    pairs: Buffer<(Entity, Entity)>,
    /// Whether the app has written them since the last tick; and if so, what they were in that.
    is_written: bool,
    earlier: Buffer<(Entity, Entity)>,
    /// The slots of those to test: whose boxes meet, and of which one side has changed, or that were not supplied before.
    plane: Buffer<(u32, u32)>,
    solid: Buffer<(u32, u32)>,
}

impl Supply {
    /// Takes the pairs over, or forgets them if the app is not asked for any. Whether they are others than in the last tick.
    fn update(&mut self, supplied: &ResMut<CandidatePairs>, is_asked: bool) -> bool {
        let Self { pairs, earlier, .. } = self;
        let was_asked = core::mem::replace(&mut self.is_asked, is_asked);
        if !is_asked {
            pairs.clear();
        }
        self.is_written = is_asked && (supplied.is_changed() || !was_asked);
        if !self.is_written {
            return false;
        }
        core::mem::swap(pairs, earlier);
        pairs.clear();
        pairs.extend(supplied.iter().map(|(a, b)| (a.min(b), a.max(b))));
        pairs.sort_unstable();
        pairs.dedup();
        **pairs != **earlier
    }

    /// Lists the slots of those to test.
    fn list(&mut self, proxies: &Proxies) {
        let Proxies { plane, solid, .. } = proxies;
        let different = self.pairs.iter().filter(|(entity, other)| entity != other);
        for pair in different {
            let is_new = || self.is_written && self.earlier.binary_search(pair).is_err();
            match (proxies.place(pair.0), proxies.place(pair.1)) {
                (Some(Place::Plane(a)), Some(Place::Plane(b))) => {
                    let is_listed = is_to_test(plane, (a, b), is_new);
                    self.plane.extend(is_listed.then_some((a, b)));
                }
                (Some(Place::Solid(a)), Some(Place::Solid(b))) => {
                    let is_listed = is_to_test(solid, (a, b), is_new);
                    self.solid.extend(is_listed.then_some((a, b)));
                }
                _ => {}
            }
        }
    }
}

/// Whether the boxes of a supplied pair meet, and anything about it is new.
fn is_to_test<V: Space>(slots: &Slots<V>, (a, b): (u32, u32), is_new: impl Fn() -> bool) -> bool {
    slots.may_meet((a, b)) && (slots.is_changed(a) || slots.is_changed(b) || is_new())
}

/// Contacts, each with the lesser entity first. The phase of all of them is `Ongoing`, until the report stage finds out.
struct OfTask<V: Space> {
    /// The deepest contact of each pair.
    pairs: Buffer<CollisionEvent>,
    /// All contacts of the pairs of which more than one part touches, until they are handed over to [`FoundContacts::parts`].
    parts: Buffer<CollisionEvent>,
    scratch: Scratch<V>,
}

impl<V: Space> Default for OfTask<V> {
    fn default() -> Self {
        Self {
            pairs: Buffer::default(),
            parts: Buffer::default(),
            scratch: Scratch::default(),
        }
    }
}

/// A task tests no fewer pairs than this: to hand it over takes as long as some.
const PAIRS_OF_A_TASK: usize = 64;

/// So many pairs are looked up before they are tested: proxies lie anywhere in memory, which is asked for all of them at once
/// then, and not for one after the other.
const PAIRS_AT_ONCE: usize = 16;

/// Two proxies with their slots, the lesser entity first.
type Sides<'a, V> = [(u32, &'a Proxy<V>); 2];

impl<V: Space> OfTask<V> {
    /// Tests pairs of slots, each with the lesser entity first.
    fn test(&mut self, proxies: &Slots<V>, pairs: &[(u32, u32)]) {
        for pairs in pairs.chunks(PAIRS_AT_ONCE) {
            let mut found = [None; PAIRS_AT_ONCE];
            for (found, pair) in found.iter_mut().zip(pairs) {
                *found = sides(proxies, *pair);
            }
            for sides in found.into_iter().flatten() {
                self.test_one(proxies, sides);
            }
        }
    }

    /// Tests a pair of proxies, which are given with their slots.
    // Within the loop that calls it, it has fewer registers.
    #[inline(never)]
    fn test_one(&mut self, proxies: &Slots<V>, [(slot_a, a), (slot_b, b)]: Sides<V>) {
        let Self {
            pairs,
            parts,
            scratch,
        } = self;
        reserve_amortized(pairs, 1);
        if let (Some(shape_a), Some(shape_b)) = (a.image(), b.image()) {
            let (pose_a, pose_b) = (a.place.pose(), b.place.pose());
            let pair = Pair::new(&shape_a, pose_a, &shape_b, pose_b).counted_by(&scratch.counter);
            if let Some(contact) = local_contact(pair) {
                pairs.push(event((a, 0, pose_a), (b, 0, pose_b), &contact));
            }
            return;
        }
        // In an order that does not ask which entity is the lesser.
        let turns = a.compare(b).is_gt();
        let (one, other, slot) = if turns {
            (b, a, slot_a)
        } else {
            (a, b, slot_b)
        };
        let first = parts.len();
        let Some(extent) = proxies.extent(slot) else {
            return;
        };
        let Some(mut contact) = deepest_of_parts((one, other), &extent, scratch, parts) else {
            return;
        };
        if turns {
            let added = parts.get_mut(first..).unwrap_or_default();
            added.iter_mut().for_each(|it| *it = it.flipped());
            contact = contact.flipped();
        }
        pairs.push(contact);
    }
}

/// The proxies of a pair, if their layers let them meet.
#[inline]
fn sides<V: Space>(proxies: &Slots<V>, (a, b): (u32, u32)) -> Option<Sides<'_, V>> {
    let (one, other) = (proxies.get(a)?, proxies.get(b)?);
    // Reads a word of about each cache line that is looked at later; by `black_box`, as the compiler would leave out what nobody
    // uses.
    for proxy in [one, other] {
        black_box(
            proxy.place.factor().is_some()
                & matches!(proxy.body, ColliderShape::Convex(_))
                & proxy.is_half_space(),
        );
    }
    if !one.layers.interacts_with(other.layers) {
        return None;
    }
    Some([(a, one), (b, other)])
}

impl FoundContacts {
    /// The deepest contact of each pair that touches, in the order of the pairs.
    pub fn pairs(&self) -> impl Iterator<Item = &CollisionEvent> {
        let (mut plane, mut solid) = (self.plane.pairs().peekable(), self.solid.pairs().peekable());
        core::iter::from_fn(move || match (plane.peek(), solid.peek()) {
            (Some(a), Some(b)) if b.pair() < a.pair() => solid.next(),
            (None, _) => solid.next(),
            _ => plane.next(),
        })
    }

    /// All contacts of the pairs of which more than one part touches, in the same order, then in that of the parts.
    pub fn parts(&self) -> &[CollisionEvent] {
        &self.parts
    }

    fn reclaim(&mut self, proxies: &Proxies, reclaim: &mut Reclaim) {
        self.plane.reclaim(&proxies.plane, reclaim);
        self.solid.reclaim(&proxies.solid, reclaim);
        self.parts.reclaim(reclaim);
        let supply = &mut self.supply;
        supply.pairs.reclaim(reclaim);
        supply.earlier.reclaim(reclaim);
        supply.plane.reclaim(reclaim);
        supply.solid.reclaim(reclaim);
    }

    /// Whether the app has supplied the pair, with the lesser entity first.
    pub fn was_supplied(&self, pair: (Entity, Entity)) -> bool {
        self.supply.pairs.binary_search(&pair).is_ok()
    }
}

/// Tests the candidate pairs.
pub fn narrow_phase(
    proxies: Res<Proxies>,
    candidates: Res<Candidates>,
    mut supplied: ResMut<CandidatePairs>,
    mut found: ResMut<FoundContacts>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
    mut progress: ResMut<Progress>,
    mut reclaim: Local<Reclaim>,
) {
    let start = Instant::now();
    if *progress != Progress::Sync {
        return;
    }
    find_contacts(&proxies, &candidates, &supplied, &mut found);
    reclaim.begin_tick();
    found.reclaim(&proxies, &mut reclaim);
    // Only the capacity changes.
    supplied.bypass_change_detection().reclaim(&mut reclaim);
    let candidates = candidates.plane.pairs().len() + candidates.solid.pairs().len();
    diagnostics.candidates = match proxies.source {
        BroadPhase::Automatic => candidates,
        BroadPhase::Custom => found.supply.pairs.len(),
    };
    diagnostics.supports = found.plane.take_count() + found.solid.take_count();
    diagnostics.narrow_phase = start.elapsed();
    *progress = Progress::NarrowPhase;
}

fn find_contacts(
    proxies: &Proxies,
    candidates: &Candidates,
    supplied: &ResMut<CandidatePairs>,
    found: &mut FoundContacts,
) {
    let FoundContacts {
        plane: in_plane,
        solid: in_space,
        parts,
        is_changed,
        supply,
    } = found;
    let Proxies { plane, solid, .. } = proxies;
    let is_supplied = proxies.source == BroadPhase::Custom;
    *is_changed = supply.update(supplied, is_supplied)
        || proxies.is_restored
        || !plane.changed().is_empty()
        || !solid.changed().is_empty();
    parts.clear();
    in_plane.clear();
    in_space.clear();
    supply.plane.clear();
    supply.solid.clear();
    if !*is_changed || is_supplied {
        in_plane.order.clear();
        in_space.order.clear();
    }
    if !*is_changed {
        return;
    }
    let (of_plane, of_solid) = if is_supplied {
        supply.list(proxies);
        supply.earlier.clear();
        (supply.plane.as_slice(), supply.solid.as_slice())
    } else {
        (
            in_plane.order.sort(plane, candidates.plane.pairs()),
            in_space.order.sort(solid, candidates.solid.pairs()),
        )
    };
    test_all(plane, of_plane, &mut in_plane.of_tasks, parts);
    test_all(solid, of_solid, &mut in_space.of_tasks, parts);
    parts.sort_unstable_by_key(|contact| {
        let parts = (contact.part(), contact.other_part());
        (contact.pair(), parts)
    });
}

impl<V: Space> OfSpace<V> {
    fn clear(&mut self) {
        self.of_tasks.iter_mut().for_each(|it| it.pairs.clear());
    }

    fn reclaim(&mut self, proxies: &Slots<V>, reclaim: &mut Reclaim) {
        self.order.reclaim(proxies, reclaim);
        for task in &mut self.of_tasks {
            task.pairs.reclaim(reclaim);
            task.parts.reclaim(reclaim);
            task.scratch.reclaim(reclaim);
        }
    }

    /// How many support points it took in this tick.
    fn take_count(&mut self) -> usize {
        let counters = self.of_tasks.iter_mut().map(|it| it.scratch.counter.take());
        counters.sum()
    }

    fn pairs(&self) -> impl Iterator<Item = &CollisionEvent> {
        self.of_tasks.iter().flat_map(|it| it.pairs.iter())
    }
}

/// Tests pairs in order, on all threads of the pool that Bevy has for this. The contacts found come in the order of the pairs,
/// however many threads there are.
fn test_all<V: Space>(
    proxies: &Slots<V>,
    pairs: &[(u32, u32)],
    of_tasks: &mut Vec<OfTask<V>>,
    parts: &mut Vec<CollisionEvent>,
) {
    let shared = share(pairs.len(), PAIRS_OF_A_TASK);
    let size = shared.map_or(pairs.len().max(1), |(_, size)| size);
    let tasks = pairs.chunks(size);
    of_tasks.resize_with(tasks.len().max(of_tasks.len()), OfTask::default);
    let tasks = tasks.zip(&mut *of_tasks);
    match shared {
        Some((pool, _)) => {
            pool.scope(|scope| {
                for (pairs, found) in tasks {
                    scope.spawn(async move { found.test(proxies, pairs) });
                }
            });
        }
        None => tasks.for_each(|(pairs, found)| found.test(proxies, pairs)),
    }
    for found in of_tasks {
        found.parts.note();
        parts.append(&mut found.parts);
    }
}
