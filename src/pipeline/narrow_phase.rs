//! Third stage: which candidate pairs touch, and how.

use bevy::{platform::time::Instant, prelude::*, tasks::ComputeTaskPool};

use super::{
    broad_phase::{BroadPhase, CandidatePairs, Candidates},
    proxy::{Part, Proxy},
    sync::{Place, Proxies, Slots},
};
use crate::{
    diagnostics::CollisionDiagnostics,
    event::{CollisionEvent, CollisionPhase, Surface},
    query::{Pair, Seams, Solver, narrow_length, surface_contact},
    shape::Body,
    space::Space,
};

/// The pairs that touch in this tick, in order and each once, with the lesser entity first.
#[derive(Resource, Default)]
pub struct TouchingPairs {
    /// The deepest contact of each pair. The phase of all of them is `Started`, until the report stage finds out.
    pub contacts: Vec<CollisionEvent>,
    /// All contacts of the pairs of which more than one part touches, in the same order, then in that of the parts.
    pub parts: Vec<CollisionEvent>,
    /// Whether they are not what they were in the last tick.
    pub is_changed: bool,
    /// The pairs that the app has supplied, likewise in order, each once, with the lesser entity first.
    supplied: Vec<(Entity, Entity)>,
    /// Of each task.
    found: Vec<Contacts>,
    unsorted: Contacts,
    new: Contacts,
    last: Contacts,
    order: Vec<(Entity, Entity, u32)>,
}

/// Contacts, and those of the parts.
#[derive(Default)]
struct Contacts {
    pairs: Vec<CollisionEvent>,
    parts: Vec<CollisionEvent>,
    /// The numbers of the parts of one pair that may touch.
    near: Vec<(u32, u32)>,
}

/// A task tests no fewer pairs than this: to hand it over takes as long as some.
const PAIRS_OF_A_TASK: usize = 64;

/// So many tasks there are for each thread, so that one with hard pairs does not keep the others waiting.
const TASKS_OF_A_THREAD: usize = 4;

impl Contacts {
    fn test<V: Space>(&mut self, a: &Proxy<V>, b: &Proxy<V>) {
        let (a, b) = if a.entity < b.entity { (a, b) } else { (b, a) };
        let contact = deepest(a, b, &mut self.near, &mut self.parts);
        self.pairs.extend(contact);
    }
}

impl TouchingPairs {
    /// Whether the app has supplied the pair, with the lesser entity first.
    pub fn was_supplied(&self, pair: (Entity, Entity)) -> bool {
        self.supplied.binary_search(&pair).is_ok()
    }
}

fn pair_of(contact: &CollisionEvent) -> (Entity, Entity) {
    (contact.entity, contact.other)
}

/// Runs the solver on every candidate pair. The contacts of what has not changed stand.
pub fn narrow_phase(
    proxies: Res<Proxies>,
    candidates: Res<Candidates>,
    supply: Res<CandidatePairs>,
    mut touching: ResMut<TouchingPairs>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
) {
    let start = Instant::now();
    find_contacts(&proxies, &candidates, &supply, &mut touching);
    let candidates = candidates.plane.pairs.len() + candidates.solid.pairs.len();
    diagnostics.candidates = match proxies.source {
        BroadPhase::Automatic => candidates,
        BroadPhase::Custom => touching.supplied.len(),
    };
    diagnostics.contacts = touching.contacts.len();
    diagnostics.narrow_phase = start.elapsed();
}

fn find_contacts(
    proxies: &Proxies,
    candidates: &Candidates,
    supply: &CandidatePairs,
    touching: &mut TouchingPairs,
) {
    let TouchingPairs {
        contacts,
        parts,
        is_changed,
        supplied,
        found,
        unsorted,
        new,
        last,
        order,
    } = touching;
    new.pairs.clear();
    new.parts.clear();
    let is_supplied = proxies.source == BroadPhase::Custom;
    *is_changed =
        is_supplied || !proxies.plane.changed().is_empty() || !proxies.solid.changed().is_empty();
    supplied.clear();
    if !*is_changed {
        return;
    }
    if is_supplied {
        supplied.extend(supply.iter().map(|(a, b)| (a.min(b), a.max(b))));
        supplied.sort_unstable();
        supplied.dedup();
        for (entity, other) in supplied.iter().filter(|(entity, other)| entity != other) {
            match (proxies.place(*entity), proxies.place(*other)) {
                (Some(Place::Plane(a)), Some(Place::Plane(b))) => test(&proxies.plane, (a, b), new),
                (Some(Place::Solid(a)), Some(Place::Solid(b))) => test(&proxies.solid, (a, b), new),
                _ => {}
            }
        }
    } else {
        unsorted.pairs.clear();
        unsorted.parts.clear();
        test_all(&proxies.plane, &candidates.plane.pairs, found, unsorted);
        test_all(&proxies.solid, &candidates.solid.pairs, found, unsorted);
        // Contacts are large: their places are put in order first.
        order.clear();
        let places = unsorted.pairs.iter().zip(0..);
        order.extend(places.map(|(contact, place)| (contact.entity, contact.other, place)));
        order.sort_unstable();
        let sorted = order.iter();
        let sorted = sorted.filter_map(|(.., place)| unsorted.pairs.get(*place as usize));
        new.pairs.extend(sorted);
        new.parts.extend(&unsorted.parts);
        let parts_of = |contact: &CollisionEvent| (contact.part(), contact.other_part());
        new.parts
            .sort_unstable_by_key(|contact| (pair_of(contact), parts_of(contact)));
    }

    let stands = |contact: &CollisionEvent| {
        let as_was = |entity: Entity| match proxies.place(entity) {
            Some(Place::Plane(slot)) => !proxies.plane.is_changed(slot),
            Some(Place::Solid(slot)) => !proxies.solid.is_changed(slot),
            _ => false,
        };
        !is_supplied && as_was(contact.entity) && as_was(contact.other)
    };
    core::mem::swap(contacts, &mut last.pairs);
    core::mem::swap(parts, &mut last.parts);
    merge(
        last.pairs.iter().filter(|it| stands(it)),
        &new.pairs,
        contacts,
    );
    merge(last.parts.iter().filter(|it| stands(it)), &new.parts, parts);
}

/// Tests the pairs, on all threads of the pool that Bevy has for this. The contacts found come in the order of the pairs,
/// however many threads there are.
fn test_all<V: Space>(
    proxies: &Slots<V>,
    pairs: &[(u32, u32)],
    found: &mut Vec<Contacts>,
    all: &mut Contacts,
) {
    let pool = ComputeTaskPool::try_get();
    let threads = pool.map_or(1, |pool| pool.thread_num());
    let (Some(pool), true) = (pool, threads > 1 && pairs.len() > PAIRS_OF_A_TASK) else {
        pairs.iter().for_each(|pair| test(proxies, *pair, all));
        return;
    };
    let size = pairs.len().div_ceil(threads * TASKS_OF_A_THREAD);
    let tasks = pairs.chunks(size.max(PAIRS_OF_A_TASK));
    found.resize_with(tasks.len().max(found.len()), Contacts::default);
    pool.scope(|scope| {
        for (pairs, found) in tasks.clone().zip(&mut *found) {
            scope.spawn(async move {
                pairs.iter().for_each(|pair| test(proxies, *pair, found));
            });
        }
    });
    for found in found {
        all.pairs.append(&mut found.pairs);
        all.parts.append(&mut found.parts);
    }
}

fn test<V: Space>(proxies: &Slots<V>, (a, b): (u32, u32), contacts: &mut Contacts) {
    if let (Some(a), Some(b)) = (proxies.get(a), proxies.get(b)) {
        contacts.test(a, b);
    }
}

/// Merges contacts that stand with those found anew, both in order, and of different pairs.
fn merge<'a>(
    standing: impl Iterator<Item = &'a CollisionEvent>,
    new: &[CollisionEvent],
    merged: &mut Vec<CollisionEvent>,
) {
    merged.clear();
    let mut new = new.iter().copied().peekable();
    for contact in standing {
        while let Some(before) = new.next_if(|it| pair_of(it) < pair_of(contact)) {
            merged.push(before);
        }
        merged.push(*contact);
    }
    merged.extend(new);
}

/// The deepest contact of two proxies. Where more than one part touches, all are added to `parts`.
fn deepest<V: Space>(
    a: &Proxy<V>,
    b: &Proxy<V>,
    near: &mut Vec<(u32, u32)>,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    if !a.layers.interacts_with(b.layers) {
        return None;
    }
    if let (Body::Convex(_), Body::Convex(_)) = (&a.body, &b.body) {
        return contact(a, &a.part(0)?, b, &b.part(0)?, Seams::Ignored);
    }
    near.clear();
    a.parts_near(&b.extent, |number| {
        if let Some(part) = a.part(number) {
            b.parts_near(&part.extent, |other| near.push((number, other)));
        }
    });
    near.sort_unstable();
    let first = parts.len();
    for seams in [Seams::Ignored, Seams::Level] {
        parts.extend(near.iter().filter_map(|(number, other)| {
            let (part, other) = (a.part(*number)?, b.part(*other)?);
            let contact = || contact(a, &part, b, &other, seams);
            (!part.extent.is_apart_from(&other.extent))
                .then(contact)
                .flatten()
        }));
        let has_seams = a.body.is_surface() || b.body.is_surface();
        if parts.len() > first || !has_seams {
            break;
        }
    }
    let found = parts.get(first..).unwrap_or_default();
    // Of equals the first.
    let deeper = |best: CollisionEvent, it: CollisionEvent| {
        if it.depth > best.depth { it } else { best }
    };
    let deepest = found.iter().copied().reduce(deeper);
    if found.len() == 1 {
        parts.truncate(first);
    }
    deepest
}

/// The contact of a part of each of two proxies.
fn contact<V: Space>(
    a: &Proxy<V>,
    part_a: &Part<V>,
    b: &Proxy<V>,
    part_b: &Part<V>,
    seams: Seams,
) -> Option<CollisionEvent> {
    let (shape_a, shape_b) = (part_a.image(), part_b.image());
    let mut solver = Solver::new(Pair::new(&shape_a, part_a.pose, &shape_b, part_b.pose));
    if !solver.hit() {
        return None;
    }
    let mut contact = solver.contact();
    let centre = |part: &Part<V>, proxy: &Proxy<V>| {
        part.extent.centre(part.pose.translation) - proxy.pose.translation
    };
    if let Some((surroundings, one_sided)) = a.surroundings(part_a.number) {
        contact = surface_contact(
            contact,
            &surroundings,
            one_sided,
            centre(part_b, a),
            seams,
            |normal, corner| a.leans(part_a.number, corner, normal),
            |normal| solver.contact_along(normal),
        )?;
    } else if let Some((surroundings, one_sided)) = b.surroundings(part_b.number) {
        let seen = surface_contact(
            contact.flipped(),
            &surroundings,
            one_sided,
            centre(part_a, b),
            seams,
            |normal, corner| b.leans(part_b.number, corner, normal),
            |normal| Some(solver.contact_along(-normal)?.flipped()),
        )?;
        contact = seen.flipped();
    }
    let surface = |proxy: &Proxy<V>, part: &Part<V>, offset: V::Wide| Surface {
        part: part.number,
        translation: V::narrow(proxy.pose.translation).to_vec3(),
        offset: V::narrow(offset + (part.pose.translation - proxy.pose.translation)).to_vec3(),
    };
    Some(CollisionEvent {
        entity: a.entity,
        other: b.entity,
        phase: CollisionPhase::Started,
        normal: V::narrow(contact.normal).to_vec3(),
        depth: narrow_length(contact.depth),
        surface: surface(a, part_a, contact.offset_a),
        other_surface: surface(b, part_b, contact.offset_b),
    })
}
