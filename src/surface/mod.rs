//! Contacts of a body with a surface of facets.
//!
//! A single facet is a thin plate: a body leaves it through the front or past the boundary,
//! whichever is nearer. A facet of a surface is different. So contacts are defined by the surface
//! as a set of points, and do not depend on how the surface is cut into facets.
//!
//! **Sides.** A facet pushes a body to the side on which the body's center is. A facet of a
//! one-sided surface is ignored while the center is behind its plane.
//!
//! **Separated cores.** Let x be the point of a facet that is nearest to the body's core, and n the
//! unit vector from x to the core. The facet has a contact at x if x is a local minimum of the
//! distance on the whole surface: no facet at x rises along n. A facet that rises there comes
//! closer to the core than x, and leads to a local minimum of its own. So a ball gets the true
//! normal and depth of the closest point, and no contact at a seam.
//!
//! ```text
//!        core                      core
//!         o                         o
//!         |n                      n/ \
//!   ______x______ T          _____x   \          T' rises along n:
//!                              T   \   \         T has no contact at x,
//!   n is T's own                 T' \___x'       T' has one at x'
//! ```
//!
//! **Overlapping cores.** The body gets the shortest push-out: the shortest translation after which
//! it no longer overlaps the facets that it touches, and during which its center passes through no
//! facet. Each plane, edge and corner on which the push-out ends is a contact. So a crate that has
//! sunk into a kerb leaves it through the front or over the top, whichever is nearer. A crate in a
//! corner leaves both walls.
//!
//! The files, in the order in which a pair goes through them:
//!
//! * `proven.rs` finds the shortest push-out where it can be proved without a search. The other
//!   files do the rest.
//! * `facet_contact.rs` computes the contact of one facet and one part of the body.
//! * `internal_edges.rs` removes contacts on boundaries that are no local minima.
//! * `shortest_push_out.rs` finds the shortest push-out, with the search in
//!   [`translation_search`](crate::space::translation_search).
//! * `exit_candidates.rs` collects the candidates of a push-out, from `body_part.rs` (the facets
//!   near a part) and `fan.rs` (edges and corners).
//! * `gap.rs` finds the push-out of a body in a gap that is too small for it.

mod body_part;
mod exit_candidates;
mod facet_contact;
mod fan;
mod gap;
mod internal_edges;
mod lists;
mod proven;
mod shortest_push_out;

use core::cmp::Ordering;

use crate::{
    placed::{Part, PartContact, PlacedCollider},
    query::Counter,
    shape::Facet,
    space::Space,
};
use facet_contact::BallPart;
pub use facet_contact::FacetContact;
pub use lists::PushOutLists;

/// If both colliders are surfaces, the smaller one counts as a body if its size is at most this
/// fraction of the other's.
const MAX_BODY_SIZE: f64 = 0.5;

/// The deepest contacts count as equally deep if they differ by at most this fraction. Then the
/// event reports the first facet's contact.
const SAME_DEEPEST: f64 = 1e-12;

/// A surface, and a body that may touch it.
pub struct SurfacePair<'a, V: Space> {
    pub surface: &'a PlacedCollider<V>,
    body: &'a PlacedCollider<V>,
    /// `true` if the caller's first collider is the body.
    is_swapped: bool,
    /// The body's center, relative to the translation of the surface. `None` if the body is another
    /// surface, which may have parts on all sides.
    center: Option<V::DVec>,
    /// The body, if it is a single ball.
    ball: Option<BallPart<V::DVec>>,
    counter: &'a Counter,
}

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Returns `None` if neither collider is a surface, or if one is a half-space. A body leaves a
    /// half-space only along its normal.
    pub fn new(
        a: &'a PlacedCollider<V>,
        b: &'a PlacedCollider<V>,
        counter: &'a Counter,
    ) -> Option<Self> {
        if a.is_half_space() || b.is_half_space() {
            return None;
        }
        let (is_swapped, is_body) = match (a.surface_size(), b.surface_size()) {
            (None, None) => return None,
            (Some(_), None) => (false, true),
            (None, Some(_)) => (true, true),
            // For example the mesh of a crate and the mesh of a level.
            (Some(a), Some(b)) => (a < b, a.min(b) <= MAX_BODY_SIZE * a.max(b)),
        };
        let (surface, body) = if is_swapped { (b, a) } else { (a, b) };
        let center = body.center() + (body.world_pose.translation - surface.world_pose.translation);
        let mut pair = Self {
            surface,
            body,
            is_swapped,
            center: is_body.then_some(center),
            ball: None,
            counter,
        };
        if body.scaled_shape().is_some() {
            pair.ball = pair.ball_part(&body.part(0)?);
        }
        Some(pair)
    }

    /// Converts the indices of parts from the caller's order to those of a facet and of a part of
    /// the body, or back.
    pub fn surface_first(&self, (first, second): (u32, u32)) -> (u32, u32) {
        if self.is_swapped {
            (second, first)
        } else {
            (first, second)
        }
    }

    /// Compares the parts of two contacts, in the caller's order.
    fn order(&self, a: &FacetContact<V::DVec>, b: &FacetContact<V::DVec>) -> Ordering {
        let [a, b] = [a, b].map(|contact| self.surface_first(contact.indices));
        a.cmp(&b)
    }

    /// Returns a facet and a part of the body, given their indices.
    fn parts(&self, indices: (u32, u32)) -> Option<[Part<'a, V>; 2]> {
        Some([self.surface.part(indices.0)?, self.body.part(indices.1)?])
    }

    /// Returns `true` if the surface is one-sided and the center is behind the facet.
    fn is_hidden(&self, facet: &Facet<V::DVec>) -> bool {
        let is_behind = |center| facet.height(center) < 0.0;
        self.surface.is_one_sided() && self.center.is_some_and(is_behind)
    }

    /// Computes the contacts of the surface from `near`, the indices of facets and of parts of the
    /// body that may touch. Calls `visit` with each contact, and returns the deepest.
    pub fn find(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
        lists: &mut PushOutLists<V>,
        visit: impl FnMut(PartContact<V::DVec>),
    ) -> Option<PartContact<V::DVec>> {
        contacts.clear();
        self.add_proven_push_out(near, contacts, lists);
        if contacts.is_empty() {
            self.add_contacts(near, contacts);
            lists.begin(contacts);
            self.remove_internal_contacts(contacts);
            contacts.sort_unstable_by(|a, b| {
                let depths = a.depth().total_cmp(&b.depth());
                depths.then_with(|| self.order(a, b))
            });
            self.keep_push_out(contacts, lists);
        }
        let found = contacts
            .iter()
            .filter_map(|contact| self.part_contact(contact));
        found.for_each(visit);
        let mut deepest: Option<FacetContact<V::DVec>> = None;
        for contact in contacts.iter() {
            // Compared in f64, because another contact may have the same depth in f32.
            let is_deeper = |best: FacetContact<V::DVec>| {
                let (own, others) = (contact.depth(), best.depth());
                own > others * (1.0 + SAME_DEEPEST)
                    || own >= others * (1.0 - SAME_DEEPEST) && self.order(contact, &best).is_lt()
            };
            if deepest.is_none_or(is_deeper) {
                deepest = Some(*contact);
            }
        }
        self.part_contact(&deepest?)
    }

    /// Returns `true` if a pair of parts, in the caller's order, has a contact.
    pub fn touches(&self, indices: (u32, u32)) -> bool {
        self.facet_contact(self.surface_first(indices)).is_some()
    }

    /// Returns `true` if the facet of a pair of parts, in the caller's order, is ignored: it is
    /// one-sided, and the center of the body is behind it.
    pub fn ignores(&self, indices: (u32, u32)) -> bool {
        let (index, _) = self.surface_first(indices);
        let facet = self.surface.facet(index);
        facet.is_some_and(|facet| self.is_hidden(&facet))
    }

    /// Returns a contact in the caller's order.
    fn part_contact(&self, contact: &FacetContact<V::DVec>) -> Option<PartContact<V::DVec>> {
        let [facet, part] = &self.parts(contact.indices)?;
        let (facet, part) = ((self.surface, facet), (self.body, part));
        Some(if self.is_swapped {
            PartContact::of_parts(part, facet, &contact.contact.flipped())
        } else {
            PartContact::of_parts(facet, part, &contact.contact)
        })
    }
}
