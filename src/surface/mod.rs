//! Contacts of a body with a surface of facets.
//!
//! `collider_query/` creates a [`SurfacePair`] for a pair of colliders, then calls
//! [`SurfacePair::find_on_cells`] or [`SurfacePair::find`] for the contacts. Queries that need no
//! contact, such as `intersects`, call [`SurfacePair::touches`] for one facet and one part.
//!
//! The contacts are defined by the set of all points of the surface. So the contacts do not depend
//! on how the surface is divided into facets. If the contact with each facet were computed
//! separately, the contacts would depend on the division. For example, the shortest translation out
//! of a triangle may move the body into the next triangle.
//!
//! **Sides.** A facet pushes a body to the side on which the body's center lies. If the surface is
//! one-sided, a facet is ignored while the center is behind the facet's plane.
//!
//! **Separated cores.** Let x be the point of a facet that is nearest to the body's core. Let n be
//! the unit vector from x to the core. A facet *rises along n* at x if some direction from x into
//! the facet has a positive component along n. If a facet rises, some of its points are closer to
//! the core than x. So x is not a local minimum of the distance, and has no contact. If no facet
//! rises, there is a contact at x with the normal n. So the contact of a ball has the exact normal
//! and depth, and seams cause no contacts.
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
//! **Overlapping cores.** A *push-out* is a translation after which the body no longer overlaps the
//! facets that it touched. During the translation, the body's center passes through no facet. A
//! translation *clears* a facet if the body does not overlap the facet afterwards. A translation
//! *clears* a plane if the body is then wholly above the plane. A translation *ends on* a plane if
//! the body then just touches the plane from above. The contacts are the planes, edges and corners
//! on which the shortest push-out ends. So a crate that overlaps a kerb is pushed back past the
//! front or up onto the top, whichever is shorter. A crate in a corner is pushed out of both walls.
//!
//! The files, in the order in which they are called for a pair:
//!
//! * `surface_pair.rs` defines [`SurfacePair`], a surface and a body that may touch.
//! * `cells/` computes the contacts of simple bodies outside a union of cells, from the solid cells
//!   near the body. In this case, no facet is searched.
//! * `solid_exit.rs` finds the shortest way out of a union, if the body is inside. In this
//!   case, of the files below only `facet_contact.rs`, `sure_touch.rs`, `cells_in_plane.rs` and
//!   `facet_lookup.rs` are used.
//! * `obstacle_search.rs` finds the shortest push-out of a body that consists of boxes and
//!   polygons.
//! * `proven.rs` finds the shortest push-out of a convex body, if a proof without a search
//!   succeeds. The proof comes before the search of `obstacle_search.rs` if the near facets lie in
//!   few planes, or if many near facets lie in each plane. If neither search nor proof finds a
//!   push-out, the functions in the files below compute the contacts.
//! * `facet_contact.rs` computes the contact of one facet with one part of the body.
//! * `sure_touch.rs` decides without a solver whether a body touches a facet.
//! * `internal_edges.rs` removes the contacts at edges and corners that are not local minima of the
//!   distance.
//! * `shortest_push_out.rs` finds the shortest push-out of any body, with the search in
//!   [`translation_search`](crate::space::translation_search).
//! * `exit_candidates.rs` collects the planes, edges and corners that a push-out may clear.
//!   `body_part.rs` finds the facets near a part of the body, and `fan.rs` joins the facets at an
//!   edge or a corner.
//! * `gap.rs` finds the push-out of a body from a gap that is too small for the body.
//! * `cells_in_plane.rs` adds a contact for each other cell that a body touches in the plane of a
//!   contact.
//! * `facet_lookup.rs` finds facets by index, or at a point. `near_facets.rs` keeps the facets near
//!   the body for this.
//! * `limits.rs` holds the limits that several files share, and `lists.rs` the reused lists.

mod body_part;
mod cells;
mod cells_in_plane;
mod exit_candidates;
mod facet_contact;
mod facet_lookup;
mod fan;
mod gap;
mod internal_edges;
mod limits;
mod lists;
mod near_facets;
mod obstacle_search;
mod proven;
mod shortest_push_out;
mod solid_exit;
mod sure_touch;
mod surface_pair;

use crate::{
    placed::PartContact,
    space::{DVector, Space},
};
pub use facet_contact::FacetContact;
pub use lists::PushOutLists;
use obstacle_search::Searched;
pub use surface_pair::SurfacePair;

/// Two depths count as equal if their relative difference is at most this value. Of equally deep
/// contacts, the contact with the lowest indices counts as the deepest.
const SAME_DEEPEST: f64 = 1e-12;

/// The contacts of a pair must be computed from the facets of the surface.
pub struct NeedsFacets;

impl<V: Space> SurfacePair<'_, V> {
    /// Computes the contacts of the body with the surface. `near` lists the pairs that may touch:
    /// the index of a facet, and the index of a part of the body. Calls `visit` with each contact,
    /// and returns the deepest contact.
    pub fn find(
        &mut self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
        lists: &mut PushOutLists<V>,
        visit: impl FnMut(PartContact<V::DVec>),
    ) -> Option<PartContact<V::DVec>> {
        self.near = core::mem::take(&mut lists.near_facets);
        self.near.set(near);
        let deepest = self.find_near(near, contacts, lists, visit);
        lists.near_facets = core::mem::take(&mut self.near);
        deepest
    }

    /// Does the same as [`find`](Self::find), from the cells near the body. Returns an error if the
    /// contacts must be computed from the facets. The body need not be placed. Unless `needs_all`,
    /// contacts that repeat the plane of another contact may be left out.
    pub fn find_on_cells(
        &self,
        lists: &mut PushOutLists<V>,
        needs_all: bool,
        visit: impl FnMut(PartContact<V::DVec>),
    ) -> Result<Option<PartContact<V::DVec>>, NeedsFacets> {
        let PushOutLists {
            cells,
            cell_contacts: contacts,
            search,
            ..
        } = lists;
        cells.exposed.clear();
        contacts.clear();
        // Another member of a ground may have all contacts but those that repeat a plane.
        let with_repeated = needs_all || self.surface.member().is_some();
        let planes = self.add_cell_contacts(contacts, with_repeated, cells, search);
        let planes = planes.ok_or(NeedsFacets)?;
        let is_own = |it: &&PartContact<V::DVec>| self.surface.owns(it.parts.0);
        let kept = contacts.iter().take(planes).filter(is_own).count();
        let planes = if kept == 0 { contacts.len() } else { kept };
        // The body is a single part, so no contact is relative to another origin.
        let own = contacts.iter().filter(is_own);
        let own = own.map(|it| self.in_order(it, [V::DVec::ZERO; 2]));
        Ok(report(own, planes, visit))
    }

    /// Does the same as [`find`](Self::find) after the near facets have been set.
    fn find_near(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
        lists: &mut PushOutLists<V>,
        visit: impl FnMut(PartContact<V::DVec>),
    ) -> Option<PartContact<V::DVec>> {
        contacts.clear();
        let mut planes = self.add_solid_exit(near, contacts);
        if contacts.is_empty() {
            self.add_surface_contacts(near, contacts, lists);
            planes = contacts.len();
            self.add_cells_in_planes(near, contacts, |indices, (normal, _)| {
                self.contact_along(indices, normal)
            });
        }
        let planes = self.keep_own(near, contacts, planes);
        let contacts = contacts.iter().filter_map(|it| self.part_contact(it));
        report(contacts, planes, visit)
    }

    /// If a collider is a member of a ground, removes the contacts of the other members. Returns
    /// the number of the contacts that are left of the first `planes` contacts, or of all contacts
    /// if none of the first is left.
    ///
    /// A pair is tested only if its boxes overlap. So if a part of the body is not near the facet
    /// of its contact, the member with the part's first near facet keeps the contact. If no facet
    /// is near the part, the first facet near the body decides.
    fn keep_own(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
        planes: usize,
    ) -> usize {
        if self.surface.member().is_none() && self.body.member().is_none() {
            return planes;
        }
        let is_inside_own = self.inside();
        let (mut index, mut kept) = (0, 0);
        contacts.retain(|contact| {
            let (facet, part) = contact.indices;
            let is_own = is_inside_own.unwrap_or_else(|| {
                let mut others = near.iter().filter(|_| !near.contains(&contact.indices));
                let of_part = others.clone().find(|(_, other)| *other == part);
                let first = of_part.or_else(|| others.next());
                let reporting = first.map_or(facet, |(first, _)| *first);
                self.surface.owns(reporting) && self.body.owns(part)
            });
            kept += usize::from(is_own && index < planes);
            index += 1;
            is_own
        });
        if kept == 0 { contacts.len() } else { kept }
    }

    /// Adds the contacts with the facets of the surface to an empty list.
    fn add_surface_contacts(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
        lists: &mut PushOutLists<V>,
    ) {
        let is_proof_first = self.is_proof_first(near, &mut lists.proof);
        if is_proof_first {
            self.add_proven_push_out(contacts, &mut lists.proof);
        }
        let mut are_polytopes = false;
        if contacts.is_empty() {
            let searched = self.add_searched_push_out(near, contacts, &mut lists.obstacles);
            are_polytopes = searched != Searched::NotFound;
        }
        if !is_proof_first && !are_polytopes {
            self.add_proven_push_out(contacts, &mut lists.proof);
        }
        if contacts.is_empty() {
            self.add_contacts(near, contacts);
            lists.begin(contacts);
            self.remove_internal_contacts(contacts);
            contacts.sort_unstable_by(|a, b| self.by_depth(a, b));
            self.keep_push_out(contacts, lists);
        }
    }

    /// Returns `true` if a facet and a part of the body have a contact. The two indices are in the
    /// order of the caller's colliders.
    pub fn touches(&self, indices: (u32, u32)) -> bool {
        let indices = self.surface_first(indices);
        self.facet_contact(indices).is_some() || self.touches_hidden(indices)
    }

    /// Converts a contact to the order of the caller's colliders.
    fn part_contact(&self, contact: &FacetContact<V::DVec>) -> Option<PartContact<V::DVec>> {
        let (_, part) = contact.indices;
        let origin = self.body.world_pose.translation;
        let offset = self.with_body_part(part, |part| Some(part.world_pose.translation - origin));
        let found = PartContact {
            parts: contact.indices,
            contact: contact.contact,
        };
        // A facet has the translation of its surface.
        Some(self.in_order(&found, [V::DVec::ZERO, offset?]))
    }

    /// Converts a contact of a facet and a part of the body to the order of the caller's colliders.
    /// `offsets` are the translations of the two parts relative to their colliders.
    fn in_order(
        &self,
        found: &PartContact<V::DVec>,
        offsets: [V::DVec; 2],
    ) -> PartContact<V::DVec> {
        let contact = found.contact.moved(offsets);
        PartContact { contact, ..*found }.flipped_if(self.is_swapped)
    }
}

/// Calls `visit` with all contacts, and returns the deepest of the first `planes` contacts. The
/// contacts after them repeat the planes of these contacts.
fn report<D: DVector>(
    contacts: impl Iterator<Item = PartContact<D>>,
    planes: usize,
    mut visit: impl FnMut(PartContact<D>),
) -> Option<PartContact<D>> {
    let mut deepest: Option<PartContact<D>> = None;
    for (index, found) in contacts.enumerate() {
        visit(found);
        // The depths are compared in `f64`, because two depths may round to the same `f32`.
        let is_deeper = |best: PartContact<D>| {
            let (own, others) = (found.contact.depth, best.contact.depth);
            own > others * (1.0 + SAME_DEEPEST)
                || own >= others * (1.0 - SAME_DEEPEST) && found.parts < best.parts
        };
        if index < planes && deepest.is_none_or(is_deeper) {
            deepest = Some(found);
        }
    }
    deepest
}
