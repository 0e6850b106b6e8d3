//! Contacts of colliders with several parts. [`deepest_of_parts`] is called for a pair of colliders
//! by the tick and by queries. The function finds the near parts with the trees of the colliders.
//! If a collider is a surface, [`SurfacePair::find`] selects the contacts. On solid cells,
//! [`SurfacePair::find_on_cells`] finds the contacts of simple bodies without the near parts.

use crate::{
    buffer::Peak,
    placed::{BoundingRegion, Part, PartContact, PlacedCollider, with_pair},
    query::Counter,
    space::Space,
    surface::{FacetContact, PushOutLists, SurfacePair},
};

/// Buffers for one pair.
#[derive(Default)]
pub struct Scratch<V: Space> {
    /// The pairs of a facet and a part of the body that may touch.
    near: Vec<(u32, u32)>,
    contacts: Vec<FacetContact<V::DVec>>,
    lists: PushOutLists<V>,
    /// Counts the support points of all pairs.
    pub counter: Counter,
    /// The peak number of near pairs, near facets, near cells and contacts of a pair. The lengths
    /// of all lists are at most proportional to this number.
    peak: Peak,
}

impl<V: Space> Scratch<V> {
    /// Ends a tick, and frees unused memory.
    pub fn end_tick(&mut self) {
        if self.peak.end_tick(0) {
            *self = Self {
                counter: core::mem::take(&mut self.counter),
                ..Self::default()
            };
        }
    }
}

/// Returns the deepest contact of two colliders, at least one of which has several parts. Calls
/// `visit` with the contacts of all parts, in any order. Unless `needs_all`, contacts that repeat
/// the plane of another contact may be left out. `region_of_b` is called only if it is needed.
/// Allocates only for surfaces.
pub fn deepest_of_parts<V: Space>(
    (a, b): (&PlacedCollider<V>, &PlacedCollider<V>),
    region_of_b: impl FnOnce() -> Option<BoundingRegion<V::DVec>>,
    scratch: &mut Scratch<V>,
    needs_all: bool,
    mut visit: impl FnMut(PartContact<V::DVec>),
) -> Option<PartContact<V::DVec>> {
    let Scratch {
        near,
        contacts,
        lists,
        counter,
        peak,
    } = scratch;
    let mut surface_pair = SurfacePair::unplaced(a, b, counter);
    if let Some(pair) = &surface_pair {
        let found = pair.find_on_cells(lists, needs_all, &mut visit);
        peak.record_len(lists.cells.exposed.len() + lists.cell_contacts.len());
        if let Ok(found) = found {
            return found;
        }
    }
    // The contacts of a ground depend on all of its members.
    let region_of_b = &b.ground_region().or_else(region_of_b)?;
    let Some(surface_pair) = &mut surface_pair else {
        let mut deepest: Option<PartContact<V::DVec>> = None;
        let origins = [a, b].map(|placed| placed.world_pose.translation);
        visit_near((a, b), region_of_b, |part_a, index_b| {
            if let Some(part_b) = b.part(index_b)
                && !part_a.region.is_apart_from(&part_b.region)
                && a.owns(part_a.index)
                && b.owns(index_b)
                && let parts = [part_a, &part_b]
                && let Some(contact) = with_pair(parts, |it| it.counted_by(counter).find_contact())
            {
                let found = PartContact::of_parts(origins, parts, &contact);
                visit(found);
                deepest = Some(deepest.map_or(found, |best| found.deeper(best)));
            }
        });
        return deepest;
    };
    surface_pair.place_body();
    near.clear();
    if !surface_pair.add_near_convex(near) {
        visit_near((a, b), region_of_b, |part_a, index_b| {
            near.push(surface_pair.surface_first((part_a.index, index_b)));
        });
        near.sort_unstable();
    }
    peak.record_len(near.len());
    let found = surface_pair.find(near, contacts, lists, visit);
    peak.record_len(near.len() + lists.near.len() + lists.contacts.len());
    found
}

/// Returns `true` if parts of two colliders touch, even if these parts have no contact, or if one
/// collider is inside a union of cells.
pub fn parts_touch<V: Space>(
    (a, b): (&PlacedCollider<V>, &PlacedCollider<V>),
    region_of_b: &BoundingRegion<V::DVec>,
) -> bool {
    let counter = Counter::default();
    let pair = SurfacePair::new(a, b, &counter);
    if pair.and_then(|pair| pair.inside()) == Some(true) {
        return true;
    }
    let mut touches = false;
    visit_near((a, b), region_of_b, |part_a, index_b| {
        if touches || !a.owns(part_a.index) || !b.owns(index_b) {
            return;
        }
        touches = b.part(index_b).is_some_and(|part_b| {
            !part_a.region.is_apart_from(&part_b.region)
                && with_pair([part_a, &part_b], |pair| pair.touches())
        });
    });
    touches
}

/// Calls `visit` with each part of `a` and the index of each part of `b` that is near this part.
fn visit_near<V: Space>(
    (a, b): (&PlacedCollider<V>, &PlacedCollider<V>),
    region_of_b: &BoundingRegion<V::DVec>,
    mut visit: impl FnMut(&Part<V>, u32),
) {
    a.parts_near(region_of_b, b.world_pose.translation, |index| {
        if let Some(part) = a.part(index) {
            let origin = part.world_pose.translation;
            b.parts_near(&part.region, origin, |other| visit(&part, other));
        }
    });
}
