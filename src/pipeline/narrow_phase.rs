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

/// The pairs that touch in this tick, in order and each once, with the lesser entity first. The report stage finds out
/// which of them are new.
#[derive(Resource, Default)]
pub struct TouchingPairs {
    pub contacts: Vec<CollisionEvent>,
}

/// Runs the solver on every candidate pair.
pub fn narrow_phase(
    proxies: Res<Proxies>,
    candidates: Res<CandidatePairs>,
    mut touching: ResMut<TouchingPairs>,
    mut pairs: Local<Vec<(Entity, Entity)>>,
) {
    pairs.clear();
    pairs.extend(candidates.iter().map(|(a, b)| (a.min(b), a.max(b))));
    pairs.sort_unstable();
    pairs.dedup();

    touching.contacts.clear();
    let apart = pairs.iter().filter(|(entity, other)| entity != other);
    let contacts = apart.filter_map(|(entity, other)| match proxies.pair(*entity, *other)? {
        ProxyPair::Plane(a, b) => contact(a, b),
        ProxyPair::Solid(a, b) => contact(a, b),
    });
    touching.contacts.extend(contacts);
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
