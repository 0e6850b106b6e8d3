//! Third stage: which candidate pairs touch, and how.

use bevy::{platform::time::Instant, prelude::*};
use smallvec::SmallVec;

use super::{
    broad_phase::{BroadPhase, CandidatePairs, Candidates},
    pair_order::PairOrder,
    proxy::{Part, Proxy},
    slots::Slots,
    sync::{Place, Proxies},
    tasks::share,
};
use crate::{
    diagnostics::CollisionDiagnostics,
    event::{CollisionEvent, CollisionPhase, Surface},
    query::{
        LocalContact, Opposite, Pair, Solver, Worth, facing, local_contact, narrow_length,
        tolerance::SAME_NORMAL,
    },
    shape::Support,
    space::{Pose, Space},
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
    /// Of each task.
    of_tasks: Vec<Contacts>,
}

/// Contacts, each with the lesser entity first. The phase of all of them is `Started`, until the report stage finds out.
#[derive(Default)]
struct Contacts {
    /// The deepest contact of each pair.
    pairs: Vec<CollisionEvent>,
    /// All contacts of the pairs of which more than one part touches.
    parts: Vec<CollisionEvent>,
    /// The numbers of the parts of one pair that may touch.
    near: Vec<(u32, u32)>,
}

/// A task tests no fewer pairs than this: to hand it over takes as long as some.
const PAIRS_OF_A_TASK: usize = 64;

impl Contacts {
    fn test<V: Space>(&mut self, a: &Proxy<V>, b: &Proxy<V>) {
        let (a, b) = if a.entity < b.entity { (a, b) } else { (b, a) };
        let contact = deepest(a, b, &mut self.near, &mut self.parts);
        self.pairs.extend(contact);
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
        of_tasks,
    } = found;
    let Proxies { plane, solid, .. } = proxies;
    let is_supplied = proxies.source == BroadPhase::Custom;
    *is_changed = is_supplied || !plane.changed().is_empty() || !solid.changed().is_empty();
    if is_supplied {
        supplied.extend(supply.iter().map(|(a, b)| (a.min(b), a.max(b))));
        supplied.sort_unstable();
        supplied.dedup();
        for (entity, other) in supplied.iter().filter(|(entity, other)| entity != other) {
            match (proxies.place(*entity), proxies.place(*other)) {
                (Some(Place::Plane(a)), Some(Place::Plane(b))) => test(plane, (a, b), contacts),
                (Some(Place::Solid(a)), Some(Place::Solid(b))) => test(solid, (a, b), contacts),
                _ => {}
            }
        }
    } else if *is_changed {
        test_all(plane, candidates.plane.pairs(), of_tasks, contacts);
        test_all(solid, candidates.solid.pairs(), of_tasks, contacts);
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
        pairs.iter().for_each(|pair| test(proxies, *pair, all));
        return;
    };
    let tasks = pairs.chunks(size);
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

/// What has come of two parts that meet.
enum Meeting {
    /// They touch, but only a seam of a surface has their normal.
    Seam,
    /// The contact.
    Contact(CollisionEvent),
}

/// What to make of a seam.
#[derive(Clone, Copy)]
enum Seams<'a> {
    /// It is told as such.
    Told,
    /// The facet is levelled, if that makes it deeper than those that count and have its normal, or if none counts at all.
    Levelled(&'a [CollisionEvent]),
}

/// A depth that exceeds another one by no more than this part of it does not: the rounding of f32, some times.
const SAME_DEPTH: f64 = 1e-6;

/// Whether a depth is greater than another one.
fn exceeds(depth: f64, other: f32) -> bool {
    depth > f64::from(other) * (1.0 + SAME_DEPTH)
}

impl Seams<'_> {
    /// Whether a facet is to be levelled, whose normal this is, with a depth that is no more than `most`.
    fn levels(self, normal: Vec3, most: f64) -> bool {
        let Self::Levelled(counted) = self else {
            return false;
        };
        let alike = counted
            .iter()
            .filter(|it| f64::from(it.normal.distance(normal)) <= SAME_NORMAL);
        match alike.map(|it| it.depth).reduce(f32::max) {
            Some(depth) => exceeds(most, depth),
            None => counted.is_empty(),
        }
    }
}

/// The deepest contact of two proxies. Where more than one part touches, all are added to `parts`.
fn deepest<V: Space>(
    a: &Proxy<V>,
    b: &Proxy<V>,
    near: &mut Vec<(u32, u32)>,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    if !a.layers.interacts_with(b.layers) || a.is_out_of_reach_of(b) {
        return None;
    }
    if let (Some(shape_a), Some(shape_b)) = (a.image(), b.image()) {
        let (pose_a, pose_b) = (a.place.pose(), b.place.pose());
        let contact = local_contact(Pair::new(&shape_a, pose_a, &shape_b, pose_b))?;
        return Some(event((a, 0, pose_a), (b, 0, pose_b), &contact));
    }
    let pair = Pairing::new(a, b);
    near.clear();
    a.parts_near(&b.extent().ok()?, b.place.translation, |number| {
        if let Some(part) = a.part(number) {
            b.parts_near(&part.extent, part.pose.translation, |other| {
                near.push((number, other));
            });
        }
    });
    near.sort_unstable();
    let first = parts.len();
    // What stays are the seams.
    near.retain(|numbers| match pair.contact(*numbers, Seams::Told) {
        Some(Meeting::Contact(hit)) => {
            parts.push(hit);
            false
        }
        Some(Meeting::Seam) => true,
        None => false,
    });
    let last = parts.len();
    for numbers in near.iter() {
        let counted = parts.get(first..last).unwrap_or_default();
        if let Some(Meeting::Contact(hit)) = pair.contact(*numbers, Seams::Levelled(counted)) {
            parts.push(hit);
        }
    }
    // Of equals the first, in an order that does not ask which entity is which.
    let is_swapped = a.place.pose().total_cmp(&b.place.pose()).is_gt();
    let number = |hit: &CollisionEvent| {
        let (part, other) = (hit.part(), hit.other_part());
        if is_swapped {
            (other, part)
        } else {
            (part, other)
        }
    };
    let deeper = |best: CollisionEvent, it: CollisionEvent| {
        let is_deeper = it.depth > best.depth;
        let is_equal = it.depth >= best.depth;
        if is_deeper || (is_equal && number(&it) < number(&best)) {
            it
        } else {
            best
        }
    };
    let found = parts.get_mut(first..).unwrap_or_default();
    let mut deepest = found.iter().copied().reduce(deeper)?;
    if let Some(lowest) = pair.beneath(&deepest) {
        deepest = lowest;
        let known = found.iter_mut().find(|it| number(it) == number(&lowest));
        match known {
            Some(known) => *known = lowest,
            None => parts.push(lowest),
        }
    }
    let found = parts.get_mut(first..).unwrap_or_default();
    found.sort_unstable_by_key(|hit| (hit.part(), hit.other_part()));
    if found.len() == 1 {
        parts.truncate(first);
    }
    Some(deepest)
}

/// Two proxies whose parts are tested.
struct Pairing<'a, V: Space> {
    a: &'a Proxy<V>,
    b: &'a Proxy<V>,
    /// What each is for the other, if that is a surface.
    opposites: [Opposite<V::Wide>; 2],
}

impl<'a, V: Space> Pairing<'a, V> {
    fn new(a: &'a Proxy<V>, b: &'a Proxy<V>) -> Self {
        let seen = |one: &Proxy<V>, from: &Proxy<V>| {
            if from.body.is_surface() && !one.body.is_surface() {
                Opposite::Body(one.centre() + (one.place.translation - from.place.translation))
            } else {
                Opposite::Surface
            }
        };
        let opposites = [seen(a, b), seen(b, a)];
        Self { a, b, opposites }
    }

    /// What comes of a part of each; `None` if they are apart, or one is behind the other, which has one side.
    fn contact(&self, numbers: (u32, u32), seams: Seams) -> Option<Meeting> {
        let Self { a, b, opposites } = self;
        let (part_a, part_b) = (a.part(numbers.0)?, b.part(numbers.1)?);
        if part_a.extent.is_apart_from(&part_b.extent) {
            return None;
        }
        let (shape_a, shape_b) = (part_a.image(), part_b.image());
        let mut solver = Solver::new(Pair::new(&shape_a, part_a.pose, &shape_b, part_b.pose));
        if !solver.hit() {
            return None;
        }
        let mut contact = solver.contact();
        let judge = |proxy: &Proxy<V>, part: &Part<V>, contact: LocalContact<_>, opposite| {
            let surroundings = proxy.surroundings(part.number)?;
            let margin = contact.normal * part.image().radius();
            let around = |weights, visit: &mut dyn FnMut(&[V::Wide])| {
                proxy.facets_around(part.number, weights, visit);
            };
            let point = contact.offset_a - margin;
            Some(facing(
                contact.normal,
                point,
                &surroundings,
                opposite,
                around,
            ))
        };
        // Against a half-space, its normal is the only way out, and it has no centre.
        let is_endless = [&part_a, &part_b].map(|it| it.extent.half_space().is_some());
        let judged = if is_endless.contains(&true) {
            [None, None]
        } else {
            [
                judge(a, &part_a, contact, opposites[1]),
                judge(b, &part_b, contact.flipped(), opposites[0])
                    .map(|(worth, outward)| (worth, -outward)),
            ]
        };
        let is = |worth| judged.iter().flatten().any(|it| it.0 == worth);
        if is(Worth::Nothing) {
            return None;
        }
        if is(Worth::Seam) {
            // The shallower one of two; of equals that of the first in the pair's own order.
            let normals = judged.iter().flatten().map(|it| it.1);
            let mut over: SmallVec<[_; 2]> =
                normals.map(|it| solver.contact_over(it, true)).collect();
            if solver.is_swapped() {
                over.reverse();
            }
            let least = over
                .into_iter()
                .reduce(|a, b| if b.depth < a.depth { b } else { a })?;
            if !seams.levels(V::narrow(least.normal).to_vec3(), least.depth) {
                return Some(Meeting::Seam);
            }
            contact = solver.contact_along(least.normal)?;
        }
        Some(Meeting::Contact(self.event(&part_a, &part_b, &contact)))
    }

    /// The contact with the surface beneath the lowest point of a body, if there it goes on as level as the facet of a contact,
    /// and lies deeper: what undercuts a facet may be pointed, and not touch the one under its tip.
    fn beneath(&self, hit: &CollisionEvent) -> Option<CollisionEvent> {
        let Self { a, b, .. } = self;
        let (part_a, part_b) = (a.part(hit.part())?, b.part(hit.other_part())?);
        let (surface, part, is_first) = match [a, b].map(|it| it.body.is_surface()) {
            [true, false] => (a, &part_a, true),
            [false, true] => (b, &part_b, false),
            _ => return None,
        };
        let normal = surface.surroundings(part.number)?.normal;
        let told = V::narrow(normal).to_vec3();
        let sign = if told.dot(hit.normal) < 0.0 {
            -1.0
        } else {
            1.0
        };
        if f64::from(hit.normal.distance(told * sign as f32)) > SAME_NORMAL {
            return None;
        }
        let normal = normal * sign;
        let (shape_a, shape_b) = (part_a.image(), part_b.image());
        let solver = Solver::new(Pair::new(&shape_a, part_a.pose, &shape_b, part_b.pose));
        let over = solver.contact_over(normal, is_first);
        if !exceeds(over.depth, hit.depth) {
            return None;
        }
        let (offset, outward) = if is_first {
            (over.offset_a, normal)
        } else {
            (over.offset_b, -normal)
        };
        let foot = offset - outward * part.image().radius();
        let number = surface.level_facet_at(foot, normal)?;
        let beneath = surface.part(number)?;
        Some(if is_first {
            self.event(&beneath, &part_b, &over)
        } else {
            self.event(&part_a, &beneath, &over)
        })
    }

    fn event(&self, a: &Part<V>, b: &Part<V>, contact: &LocalContact<V::Wide>) -> CollisionEvent {
        event(
            (self.a, a.number, a.pose),
            (self.b, b.number, b.pose),
            contact,
        )
    }
}

/// A contact of parts, of which the numbers and poses are given, as an event.
#[inline]
fn event<V: Space>(
    (a, part_a, pose_a): (&Proxy<V>, u32, Pose<V::Wide>),
    (b, part_b, pose_b): (&Proxy<V>, u32, Pose<V::Wide>),
    contact: &LocalContact<V::Wide>,
) -> CollisionEvent {
    let surface = |proxy: &Proxy<V>, part: u32, pose: Pose<V::Wide>, offset: V::Wide| Surface {
        part,
        translation: V::narrow(proxy.place.translation).to_vec3(),
        offset: V::narrow(offset + (pose.translation - proxy.place.translation)).to_vec3(),
    };
    CollisionEvent {
        entity: a.entity,
        other: b.entity,
        phase: CollisionPhase::Started,
        normal: V::narrow(contact.normal).to_vec3(),
        depth: narrow_length(contact.depth),
        surface: surface(a, part_a, pose_a, contact.offset_a),
        other_surface: surface(b, part_b, pose_b, contact.offset_b),
    }
}
