//! The contact, the distance and the manifold of two sides, by their parts.
//!
//! The contact is the one that a tick reports. So that swapped arguments give the mirror image to
//! the bit, two colliders with several parts are compared in the order of their poses and shapes,
//! as in a tick.
//!
//! If the center of the other collider is behind a facet of a one-sided surface, that facet is
//! ignored in contacts and in distances. If two surfaces are of similar size, facets that overlap
//! without a contact are ignored too. So all queries agree on which pairs touch.

use bevy::prelude::Entity;

use crate::{
    pipeline::{
        narrow_phase::{PartContact, Scratch, deepest_of_parts},
        proxy::Proxy,
    },
    query::{Contact, Contact64, Counter, Distance, Manifold, Pair, Solver, length_to_f32},
    space::Space,
    spatial::side::{Side, SidePart, with_pair},
    surface::SurfacePair,
};

/// Returns `true` if two sides touch.
pub fn intersects_of<V: Space>(a: Side<V>, b: Side<V>) -> bool {
    if let (Some((shape_a, pose_a)), Some((shape_b, pose_b))) = (a.convex(), b.convex()) {
        return Solver::new(Pair::new(&shape_a, pose_a, &shape_b, pose_b)).hit();
    }
    let (a, b, _) = in_order(a, b);
    let counter = Counter::default();
    let surface_pair = surface_pair(a, b, &counter);
    let mut touches = false;
    search(&a, &b, 0.0, |parts, indices| {
        touches = match &surface_pair {
            Some(surface_pair) => surface_pair.touches(indices),
            None => with_pair(parts, |pair| Solver::new(pair).hit()),
        };
        if touches { DONE } else { 0.0 }
    });
    touches
}

/// Returns the contact of two sides. If several parts touch, the deepest contact is returned.
/// Allocates only for surfaces.
pub fn contact_of<V: Space>(a: Side<V>, b: Side<V>) -> Option<PartContact<V::DVec>> {
    if let (Some((shape_a, pose_a)), Some((shape_b, pose_b))) = (a.convex(), b.convex()) {
        let pair = Pair::new(&shape_a, pose_a, &shape_b, pose_b);
        let contact = Solver::new(pair).find_contact()?;
        let parts = (0, 0);
        return Some(PartContact { parts, contact });
    }
    let (a, b, is_swapped) = in_order(a, b);
    let contact = match (a, b) {
        (Side::Collider(a), Side::Collider(b)) if is_with_surface(a, b) => {
            let (region, mut scratch) = (b.region().ok()?, Scratch::default());
            deepest_of_parts((a, b), &region, &mut scratch, |_| {})
        }
        _ => deepest_of_convex_parts(&a, &b),
    }?;
    Some(if is_swapped {
        contact.flipped()
    } else {
        contact
    })
}

/// Calls `visit` with the contacts of all parts of two colliders, as in a tick. Allocates unless
/// both are convex.
pub fn visit_contacts<V: Space>(
    first: &Proxy<V>,
    second: &Proxy<V>,
    mut visit: impl FnMut(PartContact<V::DVec>),
) {
    if first.scaled_shape().is_some() && second.scaled_shape().is_some() {
        contact_of(first.into(), second.into())
            .into_iter()
            .for_each(visit);
        return;
    }
    let is_swapped = first.compare(second).is_gt();
    let (a, b) = if is_swapped {
        (second, first)
    } else {
        (first, second)
    };
    if let Ok(region) = b.region() {
        deepest_of_parts((a, b), &region, &mut Scratch::default(), |contact| {
            visit(if is_swapped {
                contact.flipped()
            } else {
                contact
            });
        });
    }
}

/// Returns the contact of two sides in the world.
pub fn contact_in_world<V: Space>(a: Side<V>, b: Side<V>) -> Option<Contact<V>> {
    let contact = contact_of(a, b)?.contact;
    Some(Contact::in_world(&contact, origins(&a, &b)))
}

/// Returns the distance between two sides, 0 if they touch, and their nearest parts and points.
/// Returns `None` if the distance is infinite.
pub fn distance_of<V: Space>(a: Side<V>, b: Side<V>) -> Option<(f64, PartContact<V::DVec>)> {
    if let (Some((shape_a, pose_a)), Some((shape_b, pose_b))) = (a.convex(), b.convex()) {
        let pair = Pair::new(&shape_a, pose_a, &shape_b, pose_b);
        let (distance, contact) = Solver::new(pair).distance()?;
        let parts = (0, 0);
        return Some((distance, PartContact { parts, contact }));
    }
    let (a, b, is_swapped) = in_order(a, b);
    let counter = Counter::default();
    let surface_pair = surface_pair(a, b, &counter);
    let mut nearest: Option<(f64, PartContact<V::DVec>)> = None;
    let mut limit = f64::INFINITY;
    search(&a, &b, limit, |parts, indices| {
        if surface_pair
            .as_ref()
            .is_some_and(|pair| pair.ignores(indices))
        {
            return limit;
        }
        let solved = with_pair(parts, |pair| Solver::new(pair).distance());
        let Some((distance, points)) = solved else {
            return limit;
        };
        let is_nearer = nearest.is_none_or(|(least, _)| distance < least);
        let touches = distance <= 0.0;
        if !is_nearer
            || touches
                && surface_pair
                    .as_ref()
                    .is_some_and(|pair| !pair.touches(indices))
        {
            return limit;
        }
        let contact = points.moved(offsets([&a, &b], parts));
        let parts = indices;
        nearest = Some((distance, PartContact { parts, contact }));
        limit = if touches { DONE } else { distance };
        limit
    });
    let (distance, points) = nearest?;
    let points = if is_swapped { points.flipped() } else { points };
    Some((distance, points))
}

/// Returns the distance between two sides, and their nearest points in the world.
pub fn distance_in_world<V: Space>(a: Side<V>, b: Side<V>) -> Distance<V> {
    let found = distance_of(a, b).map(|(distance, points)| {
        Distance::new(distance, points.contact.points_in_world(origins(&a, &b)))
    });
    found.unwrap_or_else(Distance::infinite)
}

/// Returns the manifold of the deepest pair of parts.
pub fn manifold_in_world_of<V: Space>(a: Side<V>, b: Side<V>) -> Option<Manifold<V>> {
    let PartContact { parts, contact } = contact_of(a, b)?;
    let parts = [&a.part(parts.0)?, &b.part(parts.1)?];
    let is_surface = matches!(
        (a, b),
        (Side::Collider(a), Side::Collider(b)) if is_with_surface(a, b)
    );
    if !is_surface {
        return with_pair(parts, |pair| {
            let mut solver = Solver::new(pair);
            solver.hit().then(|| solver.manifold_in_world())
        });
    }
    // The normal of a contact with a surface need not be that of the facet alone.
    let contact: Contact64<_> = contact.moved(offsets([&a, &b], parts).map(|offset| -offset));
    with_pair(parts, |pair| {
        let mut solver = Solver::new(pair);
        let points = solver.hit().then(|| solver.manifold_along(&contact))?;
        let is_deeper = |deepest: &Contact64<_>| {
            deepest.depth > contact.depth * (1.0 + SAME_DEPTH) + solver.depth_gap()
        };
        // The contact leads over an edge or a corner, and does not clear the whole facet.
        let leads_over_edge = points.first().is_some_and(is_deeper);
        let points = if leads_over_edge {
            &[contact]
        } else {
            &*points
        };
        Some(Manifold::new(points, solver.pair.origins))
    })
}

/// Returns the one-sided surface of a pair if it ignores the other side, of which it has a part
/// within a distance.
pub fn one_sided_surface<V: Space>(a: Side<V>, b: Side<V>, distance: f64) -> Option<Entity> {
    let (a, b, _) = in_order(a, b);
    let counter = Counter::default();
    let surface_pair = surface_pair(a, b, &counter)?;
    let surface = surface_pair.surface();
    let mut is_ignored = false;
    search(&a, &b, distance, |parts, indices| {
        let solved = with_pair(parts, |pair| Solver::new(pair).distance());
        is_ignored =
            solved.is_some_and(|(found, _)| found <= distance) && !surface_pair.touches(indices);
        if is_ignored { DONE } else { distance }
    });
    (is_ignored && surface.is_one_sided()).then_some(surface.entity)
}

/// Depths count as the same if one exceeds the other by at most this fraction.
const SAME_DEPTH: f64 = 1e-6;

/// Below all gaps: ends a search.
const DONE: f64 = -1.0;

/// Calls `visit` with each pair of parts whose distance may be at most the current limit, and with
/// their indices, near ones first. The limit starts at `limit`, and each result of `visit` replaces
/// it.
fn search<V: Space>(
    a: &Side<V>,
    b: &Side<V>,
    mut limit: f64,
    mut visit: impl FnMut([&SidePart<V>; 2], (u32, u32)) -> f64,
) {
    let Some(region) = b.region() else {
        return;
    };
    a.search_nearest(&region, b.translation(), limit, |index| {
        let Some(part) = a.part(index) else {
            return limit;
        };
        let origin = part.pose().translation;
        b.search_nearest(part.region(), origin, limit, |other_index| {
            if let Some(other) = b.part(other_index)
                && gap([&part, &other]) <= limit
            {
                limit = visit([&part, &other], (index, other_index));
            }
            limit
        });
        limit
    });
}

/// Returns a lower bound on the distance between two parts, 0 if they may touch.
fn gap<V: Space>([a, b]: [&SidePart<V>; 2]) -> f64 {
    match (a.region().bounds(), b.region().bounds()) {
        (_, Some(bounds)) => a.region().gap(bounds, a.pose().translation),
        (Some(bounds), None) => b.region().gap(bounds, b.pose().translation),
        (None, None) => 0.0,
    }
}

/// Returns the deepest contact of pairs of parts, none of which is the facet of a surface.
fn deepest_of_convex_parts<V: Space>(a: &Side<V>, b: &Side<V>) -> Option<PartContact<V::DVec>> {
    let mut deepest: Option<PartContact<V::DVec>> = None;
    search(a, b, 0.0, |pair, parts| {
        if let Some(contact) = with_pair(pair, |pair| Solver::new(pair).find_contact()) {
            // The first of several contacts that are equally deep in f32, as in a tick.
            let is_deeper = |best: PartContact<_>| {
                let [depth, best_depth] =
                    [&contact, &best.contact].map(|contact| length_to_f32(contact.depth));
                depth > best_depth || depth == best_depth && parts < best.parts
            };
            if deepest.is_none_or(is_deeper) {
                let contact = contact.moved(offsets([a, b], pair));
                deepest = Some(PartContact { parts, contact });
            }
        }
        0.0
    });
    deepest
}

/// Returns the sides in an order that does not depend on the caller, and `true` if it is reversed.
pub fn in_order<'a, V: Space>(a: Side<'a, V>, b: Side<'a, V>) -> (Side<'a, V>, Side<'a, V>, bool) {
    let is_swapped = match (a, b) {
        (Side::Collider(a), Side::Collider(b)) => a.compare(b).is_gt(),
        (Side::Collider(_), Side::Shape(_)) => true,
        (Side::Shape(_), _) => false,
    };
    if is_swapped {
        (b, a, true)
    } else {
        (a, b, false)
    }
}

/// Returns `true` if the contacts of two colliders are those with a surface.
fn is_with_surface<V: Space>(a: &Proxy<V>, b: &Proxy<V>) -> bool {
    (a.is_surface() || b.is_surface()) && !a.is_half_space() && !b.is_half_space()
}

/// Returns the pair of a surface and another side, or `None` if neither is a surface.
pub fn surface_pair<'a, V: Space>(
    a: Side<'a, V>,
    b: Side<'a, V>,
    counter: &'a Counter,
) -> Option<SurfacePair<'a, V>> {
    match (a, b) {
        (Side::Collider(a), Side::Collider(b)) => SurfacePair::new(a, b, counter),
        _ => None,
    }
}

fn origins<V: Space>(a: &Side<V>, b: &Side<V>) -> [V::DVec; 2] {
    [a.translation(), b.translation()]
}

/// Returns the translations of parts relative to their sides.
pub fn offsets<V: Space>(sides: [&Side<V>; 2], parts: [&SidePart<V>; 2]) -> [V::DVec; 2] {
    let [of_a, of_b] = sides.map(Side::translation);
    let [part_a, part_b] = parts.map(|part| part.pose().translation);
    [part_a - of_a, part_b - of_b]
}
