//! Third stage: which candidate pairs touch, and how.

use bevy::prelude::*;

use super::{
    broad_phase::CandidatePairs,
    sync::{Proxies, Proxy, ProxyPair},
};
use crate::{
    event::{CollisionEvent, CollisionPhase, Surface},
    query::{Pair, Solver, narrow_length},
    space::Space,
};

/// The pairs that touch in this tick, in order and each once, with the lesser entity first.
#[derive(Resource, Default)]
pub struct TouchingPairs {
    /// The phase of all of them is `Started`, until the report stage finds out.
    pub contacts: Vec<CollisionEvent>,
    /// The pairs that were candidates, likewise in order, each once, with the lesser entity first.
    candidates: Vec<(Entity, Entity)>,
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
        candidates: pairs,
    } = &mut *touching;
    pairs.clear();
    pairs.extend(candidates.iter().map(|(a, b)| (a.min(b), a.max(b))));
    pairs.sort_unstable();
    pairs.dedup();

    contacts.clear();
    let apart = pairs.iter().filter(|(entity, other)| entity != other);
    contacts.extend(
        apart.filter_map(|(entity, other)| match proxies.pair(*entity, *other)? {
            ProxyPair::Plane(a, b) => contact(a, b),
            ProxyPair::Solid(a, b) => contact(a, b),
        }),
    );
}

fn contact<V: Space>(a: &Proxy<V>, b: &Proxy<V>) -> Option<CollisionEvent> {
    if !a.layers.interacts_with(b.layers) {
        return None;
    }
    let (shape_a, shape_b) = (a.image(), b.image());
    let mut solver = Solver::new(Pair::new(&shape_a, a.pose, &shape_b, b.pose));
    if !solver.hit() {
        return None;
    }
    let contact = solver.contact();
    let surface = |proxy: &Proxy<V>, offset: V::Wide| Surface {
        translation: V::narrow(proxy.pose.translation).to_vec3(),
        offset: V::narrow(offset).to_vec3(),
    };
    Some(CollisionEvent {
        entity: a.entity,
        other: b.entity,
        phase: CollisionPhase::Started,
        normal: V::narrow(contact.normal).to_vec3(),
        depth: narrow_length(contact.depth),
        surface: surface(a, contact.offset_a),
        other_surface: surface(b, contact.offset_b),
    })
}
