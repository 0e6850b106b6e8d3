//! Third stage: which candidate pairs touch, and how.

use bevy::{platform::time::Instant, prelude::*};

use super::{
    broad_phase::{BroadPhase, CandidatePairs, Candidates},
    pair_order::PairOrder,
    parts::{Scratch, deepest_of_parts, event},
    proxy::Proxy,
    room::make_room,
    slots::Slots,
    sync::{Place, Proxies},
    tasks::share,
};
use crate::{
    diagnostics::CollisionDiagnostics,
    event::CollisionEvent,
    query::{Pair, local_contact},
    space::Space,
};

/// The contacts of the pairs that were tested in this tick.
#[derive(Resource, Default)]
pub struct FoundContacts {
    contacts: Contacts,
    order: PairOrder,
    /// Whether anything was, or has to be held to be, other than in the last tick.
    pub is_changed: bool,
    /// The pairs that the app has supplied, in order, each once, with the lesser entity first.
    supplied: Vec<(Entity, Entity)>,
    slots: SuppliedSlots,
    /// Of each task.
    of_tasks: Vec<Contacts>,
}

/// The slots of the pairs that the app has supplied, as far as their boxes meet.
#[derive(Default)]
struct SuppliedSlots {
    plane: Vec<(u32, u32)>,
    solid: Vec<(u32, u32)>,
}

/// Contacts, each with the lesser entity first. The phase of all of them is `Started`, until the report stage finds out.
#[derive(Default)]
struct Contacts {
    /// The deepest contact of each pair.
    pairs: Vec<CollisionEvent>,
    /// All contacts of the pairs of which more than one part touches.
    parts: Vec<CollisionEvent>,
    scratch: Scratch,
}

/// A task tests no fewer pairs than this: to hand it over takes as long as some.
const PAIRS_OF_A_TASK: usize = 64;

impl Contacts {
    /// Tests a pair.
    #[inline]
    fn test<V: Space>(&mut self, proxies: &Slots<V>, (a, b): (u32, u32)) {
        if let (Some(one), Some(other)) = (proxies.get(a), proxies.get(b)) {
            let (a, b) = if one.entity < other.entity {
                ((a, one), (b, other))
            } else {
                ((b, other), (a, one))
            };
            make_room(&mut self.pairs);
            let contact = deepest(proxies, [a, b], &mut self.scratch, &mut self.parts);
            self.pairs.extend(contact);
        }
    }
}

impl FoundContacts {
    /// The deepest contact of each pair that touches, in the order of the pairs.
    pub fn pairs(&self) -> impl Iterator<Item = &CollisionEvent> {
        let pairs = &self.contacts.pairs;
        let places = self.order.places().iter();
        places.filter_map(|place| pairs.get(*place as usize))
    }

    /// All contacts of the pairs of which more than one part touches, in the same order, then in that of the parts.
    pub fn parts(&self) -> impl Iterator<Item = &CollisionEvent> {
        self.contacts.parts.iter()
    }

    /// Whether the app has supplied the pair, with the lesser entity first.
    pub fn was_supplied(&self, pair: (Entity, Entity)) -> bool {
        self.supplied.binary_search(&pair).is_ok()
    }

    fn clear(&mut self) {
        self.contacts.pairs.clear();
        self.contacts.parts.clear();
        self.supplied.clear();
    }
}

/// Runs the solver on every candidate pair.
pub fn narrow_phase(
    proxies: Res<Proxies>,
    candidates: Res<Candidates>,
    supply: Res<CandidatePairs>,
    mut found: ResMut<FoundContacts>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
) {
    let start = Instant::now();
    find_contacts(&proxies, &candidates, &supply, &mut found);
    let candidates = candidates.plane.pairs().len() + candidates.solid.pairs().len();
    diagnostics.candidates = match proxies.source {
        BroadPhase::Automatic => candidates,
        BroadPhase::Custom => found.supplied.len(),
    };
    diagnostics.narrow_phase = start.elapsed();
}

fn find_contacts(
    proxies: &Proxies,
    candidates: &Candidates,
    supply: &CandidatePairs,
    found: &mut FoundContacts,
) {
    found.clear();
    let FoundContacts {
        contacts,
        order,
        is_changed,
        supplied,
        slots,
        of_tasks,
    } = found;
    let Proxies { plane, solid, .. } = proxies;
    let is_supplied = proxies.source == BroadPhase::Custom;
    *is_changed = is_supplied
        || proxies.is_restored
        || !plane.changed().is_empty()
        || !solid.changed().is_empty();
    if is_supplied {
        supplied.extend(supply.iter().map(|(a, b)| (a.min(b), a.max(b))));
        supplied.sort_unstable();
        supplied.dedup();
        slots.plane.clear();
        slots.solid.clear();
        for (entity, other) in supplied.iter().filter(|(entity, other)| entity != other) {
            match (proxies.place(*entity), proxies.place(*other)) {
                (Some(Place::Plane(a)), Some(Place::Plane(b))) if plane.may_meet((a, b)) => {
                    slots.plane.push((a, b));
                }
                (Some(Place::Solid(a)), Some(Place::Solid(b))) if solid.may_meet((a, b)) => {
                    slots.solid.push((a, b));
                }
                _ => {}
            }
        }
    }
    if *is_changed {
        let (of_plane, of_solid) = if is_supplied {
            (slots.plane.as_slice(), slots.solid.as_slice())
        } else {
            (candidates.plane.pairs(), candidates.solid.pairs())
        };
        test_all(plane, of_plane, of_tasks, contacts);
        test_all(solid, of_solid, of_tasks, contacts);
    }
    order.sort(&contacts.pairs);
    contacts.parts.sort_unstable_by_key(|contact| {
        let parts = (contact.part(), contact.other_part());
        (contact.pair(), parts)
    });
}

/// Tests the pairs, on all threads of the pool that Bevy has for this. The contacts found come in the order of the pairs,
/// however many threads there are.
fn test_all<V: Space>(
    proxies: &Slots<V>,
    pairs: &[(u32, u32)],
    found: &mut Vec<Contacts>,
    all: &mut Contacts,
) {
    let Some((pool, size)) = share(pairs.len(), PAIRS_OF_A_TASK) else {
        pairs.iter().for_each(|pair| all.test(proxies, *pair));
        return;
    };
    let tasks = pairs.chunks(size);
    found.resize_with(tasks.len().max(found.len()), Contacts::default);
    pool.scope(|scope| {
        for (pairs, found) in tasks.clone().zip(&mut *found) {
            scope.spawn(async move {
                pairs.iter().for_each(|pair| found.test(proxies, *pair));
            });
        }
    });
    for found in found {
        all.pairs.append(&mut found.pairs);
        all.parts.append(&mut found.parts);
    }
}

/// The deepest contact of two proxies, which are given with their slots. Where more than one part touches, all are added to
/// `parts`.
fn deepest<V: Space>(
    proxies: &Slots<V>,
    [(slot_a, a), (slot_b, b)]: [(u32, &Proxy<V>); 2],
    scratch: &mut Scratch,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    if !a.layers.interacts_with(b.layers) {
        return None;
    }
    if let (Some(shape_a), Some(shape_b)) = (a.image(), b.image()) {
        let (pose_a, pose_b) = (a.place.pose(), b.place.pose());
        let contact = local_contact(Pair::new(&shape_a, pose_a, &shape_b, pose_b))?;
        return Some(event((a, 0, pose_a), (b, 0, pose_b), &contact));
    }
    // In an order that does not ask which entity is the lesser.
    if a.compare(b).is_gt() {
        let first = parts.len();
        let deepest = deepest_of_parts((b, a), &proxies.extent(slot_a)?, scratch, parts)?;
        let added = parts.get_mut(first..).unwrap_or_default();
        added.iter_mut().for_each(|it| *it = it.flipped());
        Some(deepest.flipped())
    } else {
        deepest_of_parts((a, b), &proxies.extent(slot_b)?, scratch, parts)
    }
}
