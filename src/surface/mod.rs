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
//! * `surface_pair.rs` holds the surface and the body.
//! * `obstacle_search.rs` finds the shortest push-out of bodies of boxes and polygons.
//! * `proven.rs` finds the shortest push-out of other convex bodies, and out of surfaces with many
//!   facets in one plane, where it can be proved without a search. The other files do the rest.
//! * `facet_contact.rs` computes the contact of one facet and one part of the body.
//! * `internal_edges.rs` removes contacts on boundaries that are no local minima.
//! * `shortest_push_out.rs` finds the shortest push-out, with the search in
//!   [`translation_search`](crate::space::translation_search).
//! * `exit_candidates.rs` collects the candidates of a push-out, from `body_part.rs` (the facets
//!   near a part) and `fan.rs` (edges and corners).
//! * `gap.rs` finds the push-out of a body in a gap that is too small for it.
//! * `lists.rs` holds the working lists.

mod body_part;
mod exit_candidates;
mod facet_contact;
mod fan;
mod gap;
mod internal_edges;
mod lists;
mod obstacle_search;
mod proven;
mod shortest_push_out;
mod surface_pair;

use crate::{placed::PartContact, space::Space};
pub use facet_contact::FacetContact;
pub use lists::PushOutLists;
use obstacle_search::Searched;
pub use surface_pair::SurfacePair;

/// The deepest contacts count as equally deep if they differ by at most this fraction. Then the
/// event reports the first facet's contact.
const SAME_DEEPEST: f64 = 1e-12;

impl<V: Space> SurfacePair<'_, V> {
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
        let is_finely_cut = self.is_finely_cut(near, &mut lists.proof);
        if is_finely_cut {
            self.add_proven_push_out(contacts, &mut lists.proof);
        }
        let mut are_polytopes = false;
        if contacts.is_empty() {
            let searched = self.add_searched_push_out(near, contacts, &mut lists.obstacles);
            are_polytopes = searched != Searched::NotFound;
        }
        if !is_finely_cut && !are_polytopes {
            self.add_proven_push_out(contacts, &mut lists.proof);
        }
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
