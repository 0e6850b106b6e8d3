//! Third stage: which candidate pairs touch, and how.

use bevy::prelude::*;

use super::{
    broad_phase::CandidatePairs,
    sync::{Part, Proxies, Proxy, ProxyPair},
};
use crate::{
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
    /// The pairs that were candidates, likewise in order, each once, with the lesser entity first.
    candidates: Vec<(Entity, Entity)>,
    /// The numbers of the parts of one pair that may touch.
    near: Vec<(u32, u32)>,
}

impl TouchingPairs {
    /// Whether the pair, with the lesser entity first, was a candidate.
    pub fn was_candidate(&self, pair: (Entity, Entity)) -> bool {
        self.candidates.binary_search(&pair).is_ok()
    }
}

/// Runs the solver on every candidate pair.
pub fn narrow_phase(
    proxies: Res<Proxies>,
    candidates: Res<CandidatePairs>,
    mut touching: ResMut<TouchingPairs>,
) {
    let TouchingPairs {
        contacts,
        parts,
        candidates: pairs,
        near,
    } = &mut *touching;
    pairs.clear();
    pairs.extend(candidates.iter().map(|(a, b)| (a.min(b), a.max(b))));
    pairs.sort_unstable();
    pairs.dedup();

    contacts.clear();
    parts.clear();
    let apart = pairs.iter().filter(|(entity, other)| entity != other);
    contacts.extend(
        apart.filter_map(|(entity, other)| match proxies.pair(*entity, *other)? {
            ProxyPair::Plane(a, b) => deepest(a, b, near, parts),
            ProxyPair::Solid(a, b) => deepest(a, b, near, parts),
        }),
    );
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
