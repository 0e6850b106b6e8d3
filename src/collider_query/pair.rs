//! The contact, the distance and the manifold of two placed colliders or shapes, computed from
//! their parts.
//!
//! The functions of `query` and spatial queries call [`intersects`], [`contact_in_world`],
//! [`distance_in_world`] and [`manifold_in_world`]. `explain` calls [`nearest_points`], and
//! `spatial/mover/` calls [`visit_contacts`].
//!
//! The contact is the same contact that a tick reports. If the arguments are swapped, the result
//! must be the exact mirror image. So if a collider has several parts, the two colliders are sorted
//! by their poses and shapes, as in a tick.
//!
//! If the center of the other collider is behind a facet of a one-sided surface, that facet is
//! ignored in contacts and in distances. If two surfaces are of similar size, facets that overlap
//! without a contact are ignored too. So all queries agree on which pairs touch.

use crate::{
    collider_query::part_contacts::{Scratch, deepest_of_parts},
    placed::{DynPart, NearestFacet, PartContact, Placed, PlacedCollider, offsets, with_pair},
    query::{Contact, Contact64, Counter, Distance, Manifold, Pair, Solver},
    shape::swap_if,
    space::Space,
    surface::SurfacePair,
};

/// Returns `true` if two colliders or shapes touch.
pub fn intersects<V: Space>(a: Placed<V>, b: Placed<V>) -> bool {
    if let (Some((shape_a, pose_a)), Some((shape_b, pose_b))) = (a.convex(), b.convex()) {
        return Pair::new(&shape_a, pose_a, &shape_b, pose_b).touches();
    }
    let (a, b, _) = in_order(a, b);
    let counter = Counter::default();
    let facets = FacetFilter::new(a, b, &counter);
    if let Some(is_inside) = facets.inside(a, b) {
        return is_inside;
    }
    let mut touches = false;
    search(&a, &b, 0.0, |parts, indices| {
        touches = match &facets.0 {
            Some(surface_pair) => surface_pair.touches(indices),
            None => with_pair(parts, |pair| pair.touches()),
        };
        if touches { END_SEARCH } else { 0.0 }
    });
    touches
}

/// Returns the contact of two colliders or shapes, or the deepest contact if several parts touch.
/// Allocates only for surfaces.
pub fn deepest_contact<V: Space>(a: Placed<V>, b: Placed<V>) -> Option<PartContact<V::DVec>> {
    deepest_contact_in(a, b, &mut Scratch::default())
}

/// Returns the same contact as [`deepest_contact`], with the buffers of the caller.
pub fn deepest_contact_in<V: Space>(
    a: Placed<V>,
    b: Placed<V>,
    scratch: &mut Scratch<V>,
) -> Option<PartContact<V::DVec>> {
    if let (Some((shape_a, pose_a)), Some((shape_b, pose_b))) = (a.convex(), b.convex()) {
        let pair = Pair::new(&shape_a, pose_a, &shape_b, pose_b);
        let contact = pair.find_contact()?;
        let parts = (0, 0);
        return Some(PartContact { parts, contact });
    }
    if let (Placed::Collider(a), Placed::Collider(b)) = (a, b) {
        return contact_of_colliders(a, b, scratch, false, |_| {});
    }
    let (a, b, is_swapped) = in_order(a, b);
    let mut deepest: Option<PartContact<V::DVec>> = None;
    search(&a, &b, 0.0, |parts, _| {
        if let Some(contact) = with_pair(parts, |pair| pair.find_contact()) {
            let found = PartContact::of_parts(origins(&a, &b), parts, &contact);
            deepest = Some(deepest.map_or(found, |best| found.deeper(best)));
        }
        0.0
    });
    let found = deepest.or_else(|| contact_inside(a, b))?;
    Some(found.flipped_if(is_swapped))
}

/// Returns the contact of a single shape whose center is inside a solid surface, although the
/// shape touches no face of the union. The contact is with the nearest face. In a sorted pair, the
/// shape comes first.
fn contact_inside<V: Space>(shape: Placed<V>, solid: Placed<V>) -> Option<PartContact<V::DVec>> {
    let (Placed::Shape(shape_part), Placed::Collider(placed)) = (shape, solid) else {
        return None;
    };
    if shape.shape_inside(&solid) != Some(true) {
        return None;
    }
    let center = shape_part.center() + shape.translation() - solid.translation();
    let NearestFacet { index, facet, .. } = placed.nearest_facet(center)?;
    let part = placed.part(index)?;
    let facet_part = part.as_dyn();
    let parts = [shape_part, &facet_part];
    let contact = with_pair(parts, |pair| {
        Solver::new(pair).contact_over(-facet.normal, false)
    });
    let origins = origins(&shape, &solid);
    Some(PartContact::of_parts(origins, parts, &contact))
}

/// Calls `visit` with the contacts of all parts of two colliders, as in a tick. Returns the deepest
/// contact.
pub fn visit_contacts<V: Space>(
    first: &PlacedCollider<V>,
    second: &PlacedCollider<V>,
    scratch: &mut Scratch<V>,
    visit: impl FnMut(PartContact<V::DVec>),
) -> Option<PartContact<V::DVec>> {
    if first.scaled_shape().is_some() && second.scaled_shape().is_some() {
        let contact = deepest_contact(first.into(), second.into());
        contact.into_iter().for_each(visit);
        return contact;
    }
    contact_of_colliders(first, second, scratch, true, visit)
}

/// Returns the deepest contact of two colliders, at least one of which has several parts: see
/// [`deepest_of_parts`].
fn contact_of_colliders<V: Space>(
    first: &PlacedCollider<V>,
    second: &PlacedCollider<V>,
    scratch: &mut Scratch<V>,
    needs_all: bool,
    mut visit: impl FnMut(PartContact<V::DVec>),
) -> Option<PartContact<V::DVec>> {
    let is_swapped = first.compare(second).is_gt();
    let [a, b] = swap_if(is_swapped, [first, second]);
    let region_of_b = || b.region().ok();
    let deepest = deepest_of_parts((a, b), region_of_b, scratch, needs_all, |contact| {
        visit(contact.flipped_if(is_swapped));
    });
    deepest.map(|found| found.flipped_if(is_swapped))
}

/// Returns the contact of two colliders or shapes in the world.
pub fn contact_in_world<V: Space>(a: Placed<V>, b: Placed<V>) -> Option<Contact<V>> {
    let contact = deepest_contact(a, b)?.contact;
    Some(Contact::in_world(&contact, origins(&a, &b)))
}

/// Returns the distance between two colliders or shapes, and their nearest parts and points. If the
/// colliders touch, the distance is 0. Returns `None` if all parts are ignored or invalid.
pub fn nearest_points<V: Space>(a: Placed<V>, b: Placed<V>) -> Option<(f64, PartContact<V::DVec>)> {
    if let (Some((shape_a, pose_a)), Some((shape_b, pose_b))) = (a.convex(), b.convex()) {
        let pair = Pair::new(&shape_a, pose_a, &shape_b, pose_b);
        let (distance, contact) = pair.find_distance()?;
        let parts = (0, 0);
        return Some((distance, PartContact { parts, contact }));
    }
    let (a, b, is_swapped) = in_order(a, b);
    let counter = Counter::default();
    let facets = FacetFilter::new(a, b, &counter);
    if let Some(is_inside) = facets.inside(a, b) {
        let mut touch = deepest_contact(a, b).filter(|_| is_inside)?;
        // The deepest point of the body is the common point.
        let offset = a.translation() - b.translation();
        if facets.is_body_first() {
            touch.contact.offset_b = touch.contact.offset_a + offset;
        } else {
            touch.contact.offset_a = touch.contact.offset_b - offset;
        }
        return Some((0.0, touch.flipped_if(is_swapped)));
    }
    let mut nearest: Option<(f64, PartContact<V::DVec>)> = None;
    let mut limit = f64::INFINITY;
    search(&a, &b, limit, |parts, indices| {
        if !facets.ignores(indices)
            && let Some((distance, points)) = with_pair(parts, |pair| pair.find_distance())
            && nearest.is_none_or(|(least, best)| (distance, indices) < (least, best.parts))
            && (distance > 0.0 || !facets.ignores_touch(indices))
        {
            let points = PartContact::of_parts(origins(&a, &b), parts, &points);
            nearest = Some((distance, points));
            limit = if distance <= 0.0 {
                END_SEARCH
            } else {
                distance
            };
        }
        limit
    });
    nearest.map(|(distance, points)| (distance, points.flipped_if(is_swapped)))
}

/// Returns the distance between two colliders or shapes, and their nearest points in the world.
pub fn distance_in_world<V: Space>(a: Placed<V>, b: Placed<V>) -> Distance<V> {
    let nearest = nearest_points(a, b).map(|(distance, points)| (distance, points.contact));
    Distance::in_world(nearest, origins(&a, &b))
}

/// Returns the manifold of the deepest pair of parts.
pub fn manifold_in_world<V: Space>(a: Placed<V>, b: Placed<V>) -> Option<Manifold<V>> {
    let PartContact { parts, contact } = deepest_contact(a, b)?;
    let counter = Counter::default();
    let is_surface = FacetFilter::new(a, b, &counter).0.is_some();
    let manifold = |pair: [&DynPart<V>; 2]| {
        if !is_surface {
            return with_pair(pair, |pair| pair.find_manifold());
        }
        // The normal of a contact with a surface may differ from the normal of the contact with the
        // single facet. So the manifold is computed along the normal of `contact`.
        let contact = contact.moved(offsets(origins(&a, &b), pair).map(|offset| -offset));
        with_pair(pair, |pair| {
            let mut solver = Solver::new(pair);
            // A body inside a solid surface need not touch the face to which it leaves.
            if !solver.hit() {
                return Some(Manifold::new([contact], solver.pair.frame.origins));
            }
            let points = solver.manifold_along(&contact);
            let is_deeper = |deepest: &Contact64<_>| {
                deepest.depth > contact.depth * (1.0 + SAME_PART_DEPTH) + solver.depth_gap()
            };
            // A point that is deeper than `contact` shows that the push-out passes over an edge or
            // a corner, and does not clear the whole facet. So `contact` is the only point of the
            // manifold.
            let leads_over_edge = points.first().is_some_and(is_deeper);
            Some(if leads_over_edge {
                Manifold::new([contact], solver.pair.frame.origins)
            } else {
                Manifold::new(points, solver.pair.frame.origins)
            })
        })
    };
    a.with_part(parts.0, |part_a| {
        b.with_part(parts.1, |part_b| manifold([part_a, part_b]))
    })??
}

/// If one collider is a one-sided surface that ignores the other collider, although a part of the
/// other collider is at most `distance` away, returns the surface.
#[cfg(feature = "explain")]
pub fn one_sided_surface<'a, V: Space>(
    first: &'a PlacedCollider<V>,
    second: &'a PlacedCollider<V>,
    distance: f64,
) -> Option<&'a PlacedCollider<V>> {
    let (a, b, _) = in_order(first.into(), second.into());
    let counter = Counter::default();
    let facets = FacetFilter::new(a, b, &counter);
    let surface = facets.0.as_ref()?.surface;
    let mut is_ignored = false;
    search(&a, &b, distance, |pair, parts| {
        let solved = with_pair(pair, |pair| pair.find_distance());
        is_ignored = solved.is_some_and(|(gap, _)| gap <= distance) && facets.ignores_touch(parts);
        if is_ignored { END_SEARCH } else { distance }
    });
    let is_found = |placed: &&PlacedCollider<V>| core::ptr::eq(*placed, surface);
    let found = [first, second].into_iter().find(is_found);
    found.filter(|_| is_ignored && surface.is_one_sided())
}

/// Two depths count as the same if the greater depth exceeds the other depth by at most this
/// fraction.
const SAME_PART_DEPTH: f64 = 1e-6;

/// A limit below all distances, which ends a search.
pub const END_SEARCH: f64 = -1.0;

/// Calls `visit` with each pair of parts whose distance may be at most the current limit, and with
/// the indices of the parts. Near pairs come first. The limit starts at `limit`, and each result of
/// `visit` replaces the limit.
fn search<V: Space>(
    a: &Placed<V>,
    b: &Placed<V>,
    mut limit: f64,
    mut visit: impl FnMut([&DynPart<V>; 2], (u32, u32)) -> f64,
) {
    let Some(region) = b.region() else {
        return;
    };
    let gap_to_b = |bounds: &_| region.gap(bounds, b.translation());
    a.search(limit, gap_to_b, |index_a| {
        if !a.owns(index_a) {
            return limit;
        }
        a.with_part(index_a, |part_a| {
            let origin = part_a.world_pose.translation;
            let gap_to_part = |bounds: &_| part_a.region.gap(bounds, origin);
            b.search(limit, gap_to_part, |index_b| {
                b.with_part(index_b, |part_b| {
                    if gap([part_a, part_b]) <= limit && b.owns(index_b) {
                        limit = visit([part_a, part_b], (index_a, index_b));
                    }
                });
                limit
            });
        });
        limit
    });
}

/// Returns a lower bound on the distance between two parts. If the parts may touch, the bound is 0.
fn gap<V: Space>([a, b]: [&DynPart<V>; 2]) -> f64 {
    match (a.region.bounds(), b.region.bounds()) {
        (_, Some(bounds)) => a.region.gap(bounds, a.world_pose.translation),
        (Some(bounds), None) => b.region.gap(bounds, b.world_pose.translation),
        (None, None) => 0.0,
    }
}

/// Sorts a pair, so that the order does not depend on the caller. Also returns `true` if the
/// arguments were swapped.
pub fn in_order<'a, V: Space>(
    a: Placed<'a, V>,
    b: Placed<'a, V>,
) -> (Placed<'a, V>, Placed<'a, V>, bool) {
    let is_swapped = match (a, b) {
        (Placed::Collider(a), Placed::Collider(b)) => a.compare(b).is_gt(),
        (Placed::Collider(_), _) => true,
        _ => false,
    };
    let [a, b] = swap_if(is_swapped, [a, b]);
    (a, b, is_swapped)
}

/// The facets that the queries of a pair ignore. The filter is empty if neither collider is a
/// surface.
pub struct FacetFilter<'a, V: Space>(Option<SurfacePair<'a, V>>);

impl<'a, V: Space> FacetFilter<'a, V> {
    pub fn new(a: Placed<'a, V>, b: Placed<'a, V>, counter: &'a Counter) -> Self {
        Self(match (a, b) {
            (Placed::Collider(a), Placed::Collider(b)) => SurfacePair::new(a, b, counter),
            _ => None,
        })
    }

    /// Returns `Some` if one of the operands, which are those of [`new`](Self::new), is inside a
    /// union. The value is `false` if another member of the ground reports the touch.
    pub fn inside(&self, a: Placed<V>, b: Placed<V>) -> Option<bool> {
        match &self.0 {
            Some(pair) => pair.inside(),
            None => a.shape_inside(&b).or_else(|| b.shape_inside(&a)),
        }
    }

    /// Returns `true` if the first operand is the body, and the second operand is the surface. If
    /// the filter is empty, the first operand may be a single shape, but the second is none.
    fn is_body_first(&self) -> bool {
        self.0.as_ref().is_none_or(SurfacePair::is_body_first)
    }

    /// Returns `true` if the facet of a pair of parts is ignored.
    pub fn ignores(&self, parts: (u32, u32)) -> bool {
        self.0.as_ref().is_some_and(|pair| pair.ignores(parts))
    }

    /// Returns `true` if the facet of a pair of parts has no contact, although the parts may
    /// overlap.
    pub fn ignores_touch(&self, parts: (u32, u32)) -> bool {
        self.0.as_ref().is_some_and(|pair| !pair.touches(parts))
    }
}

pub fn origins<V: Space>(a: &Placed<V>, b: &Placed<V>) -> [V::DVec; 2] {
    [a.translation(), b.translation()]
}
