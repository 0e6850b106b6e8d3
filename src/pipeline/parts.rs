//! Contacts of colliders of several parts: those of all parts that touch, and the deepest, which stands for the pair.
//!
//! The parts of a surface know each other: what a contact with one of them is worth, see [`surface`](crate::query::facing). A
//! facet whose contact is only that of a seam may count with its own normal, which is found out in a second round, when it is
//! known what counts anyhow.

use smallvec::SmallVec;

use super::proxy::{Extent, Part, Proxy};
use crate::{
    event::{CollisionEvent, CollisionPhase, Surface},
    math::Vec3,
    query::{
        Counter, LocalContact, Opposite, Pair, Solver, Worth, facing, narrow_length,
        tolerance::SAME_NORMAL,
    },
    room::{Buffer, Reclaim},
    shape::Support,
    space::{Pose, Space},
};

/// Lists that are of use for one pair only.
#[derive(Default)]
pub struct Scratch {
    /// The numbers of the parts that may touch.
    near: Buffer<(u32, u32)>,
    counted: Counted,
    /// Of support points.
    pub counter: Counter,
}

impl Scratch {
    /// Shrinks the buffers.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.near.clear();
        self.near.reclaim(reclaim);
        self.counted.0.clear();
        self.counted.0.reclaim(reclaim);
    }
}

/// The deepest contact of two proxies, one of which has several parts. Where more than one part touches, all are added to `parts`.
pub fn deepest_of_parts<V: Space>(
    (a, b): (&Proxy<V>, &Proxy<V>),
    extent_of_b: &Extent<V::Wide>,
    Scratch {
        near,
        counted,
        counter,
    }: &mut Scratch,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    let pair = Pairing::new(a, b, counter);
    near.clear();
    a.parts_near(extent_of_b, b.place.translation, |number| {
        if let Some(part) = a.part(number) {
            b.parts_near(&part.extent, part.place.translation, |other| {
                near.push((number, other));
            });
        }
    });
    near.note();
    near.sort_unstable();
    let first = parts.len();
    // What stays are the seams.
    near.retain(|numbers| match pair.meet(*numbers, Seams::Told) {
        Some(Meeting::Contact(hit)) => {
            parts.push(hit);
            false
        }
        Some(Meeting::Seam) => true,
        None => false,
    });
    if !near.is_empty() {
        counted.fill(parts.get(first..).unwrap_or_default());
    }
    for numbers in near.iter() {
        if let Some(Meeting::Contact(hit)) = pair.meet(*numbers, Seams::Levelled(counted)) {
            parts.push(hit);
        }
    }
    // Of equals the first.
    let number = |hit: &CollisionEvent| (hit.part(), hit.other_part());
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
    if parts.len() == first + 1 {
        parts.truncate(first);
    }
    Some(deepest)
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
    Levelled(&'a Counted),
}

/// A depth that exceeds another one by no more than this part of it does not: the rounding of f32, some times.
const SAME_DEPTH: f64 = 1e-6;

/// Whether a depth is greater than another one.
fn exceeds(depth: f64, other: f32) -> bool {
    depth > f64::from(other) * (1.0 + SAME_DEPTH)
}

/// The normals of the contacts that count, each with the greatest depth that it comes with, in order of their x. (There may be
/// as many as facets, and each seam asks.)
#[derive(Default)]
struct Counted(Buffer<(Vec3, f32)>);

impl Counted {
    /// Takes those of some contacts.
    fn fill(&mut self, contacts: &[CollisionEvent]) {
        let Self(list) = self;
        list.clear();
        list.extend(contacts.iter().map(|hit| (hit.normal, hit.depth)));
        list.sort_unstable_by(|(a, depth), (b, other)| {
            let [a, b] = [a, b].map(|it| it.to_array());
            let order = |(a, b): (f32, f32)| a.total_cmp(&b);
            let normals = a.into_iter().zip(b).map(order).find(|it| it.is_ne());
            normals.unwrap_or_else(|| other.total_cmp(depth))
        });
        list.note();
        list.dedup_by_key(|(normal, _)| *normal);
    }

    /// Whether a facet is to be levelled, whose normal this is, with a depth that is no more than `most`.
    fn let_level(&self, normal: Vec3, most: f64) -> bool {
        let Self(list) = self;
        let same = SAME_NORMAL as f32;
        let start = list.partition_point(|(it, _)| it.x < normal.x - same);
        let near = list.iter().skip(start);
        let alike = near
            .take_while(|(it, _)| it.x <= normal.x + same)
            .filter(|(it, _)| it.distance(normal) <= same);
        match alike.map(|(_, depth)| *depth).reduce(f32::max) {
            Some(depth) => exceeds(most, depth),
            None => list.is_empty(),
        }
    }
}

/// A surface no larger than this part of another one is a body to it, with a middle.
const SMALL: f64 = 0.5;

/// Two proxies whose parts are tested.
struct Pairing<'a, V: Space> {
    a: &'a Proxy<V>,
    b: &'a Proxy<V>,
    /// What each is for the other, if that is a surface.
    opposites: [Opposite<V::Wide>; 2],
    counter: &'a Counter,
}

impl<'a, V: Space> Pairing<'a, V> {
    fn new(a: &'a Proxy<V>, b: &'a Proxy<V>, counter: &'a Counter) -> Self {
        let [size_a, size_b] = [a, b].map(Proxy::surface_size);
        // Of two surfaces the smaller is a body, if it is much smaller: a crate on a level, as meshes.
        let is_body = |own: Option<f64>, others: Option<f64>| {
            own.is_none_or(|own| others.is_some_and(|others| own <= SMALL * others))
        };
        let seen = |one: &Proxy<V>, from: &Proxy<V>, is_body: bool| {
            if is_body {
                Opposite::Body(one.centre() + (one.place.translation - from.place.translation))
            } else {
                Opposite::Surface
            }
        };
        let opposites = [
            seen(a, b, is_body(size_a, size_b)),
            seen(b, a, is_body(size_b, size_a)),
        ];
        Self {
            a,
            b,
            opposites,
            counter,
        }
    }

    /// Whether each is a body for the other one.
    fn are_bodies(&self) -> [bool; 2] {
        self.opposites.map(|it| matches!(it, Opposite::Body(_)))
    }

    /// What comes of a part of each; `None` if they are apart, or one is behind the other, which has one side.
    fn meet(&self, numbers: (u32, u32), seams: Seams) -> Option<Meeting> {
        let Self {
            a, b, opposites, ..
        } = self;
        let (part_a, part_b) = (a.part(numbers.0)?, b.part(numbers.1)?);
        if part_a.extent.is_apart_from(&part_b.extent) {
            return None;
        }
        let (shape_a, shape_b) = (part_a.image(), part_b.image());
        let pair = Pair::new(&shape_a, part_a.place.pose(), &shape_b, part_b.place.pose());
        let mut solver = Solver::new(pair.counted_by(self.counter));
        if !solver.hit() {
            return None;
        }
        let mut contact = solver.contact();
        let [is_body_a, is_body_b] = self.are_bodies();
        let judge =
            |proxy: &Proxy<V>, part: &Part<V>, contact: LocalContact<_>, opposite, is_body| {
                let mut surroundings = proxy.surroundings(part.number)?;
                if is_body {
                    // Its sides are for what is smaller.
                    surroundings = surroundings.two_sided();
                }
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
                judge(a, &part_a, contact, opposites[1], is_body_a),
                judge(b, &part_b, contact.flipped(), opposites[0], is_body_b)
                    .map(|(worth, outward)| (worth, -outward)),
            ]
        };
        let is = |worth| judged.iter().flatten().any(|it| it.0 == worth);
        if is(Worth::Nothing) {
            return None;
        }
        if is(Worth::Seam) {
            let Seams::Levelled(counted) = seams else {
                return Some(Meeting::Seam);
            };
            // With the normal of what has no such one there; but a body is pushed by the surface, and not by what it is made of,
            // whichever of the two does not have the contact's.
            let meets_body = [is_body_b, is_body_a];
            let seams = judged.into_iter().zip(meets_body);
            let seams = seams.filter_map(|(judged, meets_body)| {
                let (worth, outward) = judged?;
                (worth == Worth::Seam || meets_body).then_some((meets_body, outward))
            });
            let seams: SmallVec<[_; 2]> = seams.collect();
            let any_body = seams.iter().any(|(meets_body, _)| *meets_body);
            let least = seams
                .iter()
                .filter(|(meets_body, _)| *meets_body == any_body)
                .map(|(_, outward)| solver.contact_over(*outward, true))
                .reduce(|a, b| if b.depth < a.depth { b } else { a })?;
            if !counted.let_level(V::narrow(least.normal).to_vec3(), least.depth) {
                return None;
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
        let [is_body_a, is_body_b] = self.are_bodies();
        let is_first = a.body.is_surface() && is_body_b;
        let (surface, part) = match (is_first, b.body.is_surface() && is_body_a) {
            (true, _) => (a, &part_a),
            (_, true) => (b, &part_b),
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
        let pair = Pair::new(&shape_a, part_a.place.pose(), &shape_b, part_b.place.pose());
        let solver = Solver::new(pair.counted_by(self.counter));
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
            (self.a, a.number, a.place.pose()),
            (self.b, b.number, b.place.pose()),
            contact,
        )
    }
}

/// A contact of parts, of which the numbers and poses are given, as an event.
#[inline]
pub fn event<V: Space>(
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
        phase: CollisionPhase::Ongoing,
        normal: V::narrow(contact.normal).to_vec3(),
        depth: narrow_length(contact.depth),
        surface: surface(a, part_a, pose_a, contact.offset_a),
        other_surface: surface(b, part_b, pose_b, contact.offset_b),
    }
}
