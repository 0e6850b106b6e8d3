//! Contacts of colliders with several parts.

use crate::{
    buffer::Peak,
    collision::CollisionEvent,
    pipeline::{
        narrow_phase::event::{PartContact, event},
        proxy::{BoundingRegion, Proxy},
    },
    query::{Counter, Pair, Solver, length_to_f32},
    space::Space,
    surface::{FacetContact, Lists, SurfacePair},
};

/// Buffers for one pair.
#[derive(Default)]
pub struct Scratch<V: Space> {
    /// The pairs of parts that may touch.
    near: Vec<(u32, u32)>,
    contacts: Vec<FacetContact<V::DVec>>,
    lists: Lists<V>,
    /// Counts the support points of all pairs.
    pub counter: Counter,
    /// The numbers of pairs of parts, of near facets and of contacts. The lengths of all lists are
    /// at most proportional to them.
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

/// Returns the deepest contact of two proxies, at least one of which has several parts. Adds the
/// contacts of all parts to `parts` if more than one part touches.
pub fn contact_of_parts<V: Space>(
    (a, b): (&Proxy<V>, &Proxy<V>),
    region_of_b: &BoundingRegion<V::DVec>,
    scratch: &mut Scratch<V>,
    parts: &mut Vec<CollisionEvent>,
) -> Option<CollisionEvent> {
    let start = parts.len();
    let deepest = deepest_of_parts((a, b), region_of_b, scratch, |contact| {
        parts.push(event(a, b, &contact));
    })?;
    if parts.len() == start + 1 {
        parts.truncate(start);
    }
    Some(event(a, b, &deepest))
}

/// Returns the deepest contact of two proxies, at least one of which has several parts, and calls
/// `visit` with the contacts of all parts.
pub fn deepest_of_parts<V: Space>(
    (a, b): (&Proxy<V>, &Proxy<V>),
    region_of_b: &BoundingRegion<V::DVec>,
    scratch: &mut Scratch<V>,
    mut visit: impl FnMut(PartContact<V::DVec>),
) -> Option<PartContact<V::DVec>> {
    let Scratch {
        near,
        contacts,
        lists,
        counter,
        peak,
    } = scratch;
    near.clear();
    let surface_pair = SurfacePair::new(a, b, counter);
    let is_listed = surface_pair
        .as_ref()
        .is_some_and(|surface_pair| surface_pair.add_near_ball(near));
    if !is_listed {
        a.parts_near(region_of_b, b.world_pose.translation, |index| {
            if let Some(part) = a.part(index) {
                b.parts_near(&part.region, part.world_pose.translation, |other| {
                    near.push((index, other));
                });
            }
        });
        near.sort_unstable();
    }
    peak.note(near.len());
    if let Some(surface_pair) = surface_pair {
        let found = surface_pair.find(near, contacts, lists, visit);
        peak.note(near.len() + lists.near.len() + lists.contacts.len());
        return found;
    }
    let found = near
        .iter()
        .filter_map(|indices| contact((a, b), *indices, counter));
    // The first of several contacts that are equally deep in f32.
    found.inspect(|found| visit(*found)).reduce(|best, next| {
        let [deepest, depth] = [best, next].map(|found| length_to_f32(found.contact.depth));
        if depth > deepest { next } else { best }
    })
}

/// Returns the contact of two parts, regardless of the other parts.
fn contact<V: Space>(
    (a, b): (&Proxy<V>, &Proxy<V>),
    indices: (u32, u32),
    counter: &Counter,
) -> Option<PartContact<V::DVec>> {
    let (part_a, part_b) = (a.part(indices.0)?, b.part(indices.1)?);
    if part_a.region.is_apart_from(&part_b.region) {
        return None;
    }
    let (pose_a, pose_b) = (part_a.world_pose.pose(), part_b.world_pose.pose());
    let (shape_a, shape_b) = (part_a.scaled_shape(), part_b.scaled_shape());
    let pair = Pair::new(&shape_a, pose_a, &shape_b, pose_b).counted_by(counter);
    let contact = Solver::new(pair).find_contact()?;
    Some(PartContact::of_parts((a, &part_a), (b, &part_b), &contact))
}
