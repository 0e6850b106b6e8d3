//! The shortest push-out of a body whose core overlaps facets of a surface.
//!
//! A translation pushes the body out if the body no longer overlaps the facets that it touches, and
//! if its center passes through no facet. The shortest such translation depends only on the surface
//! as a set of points. So it does not depend on how the surface is cut into facets, and its length
//! changes no faster than the body moves.
//!
//! *First translation.* A facet can be cleared along its own normal, past its plane. From the
//! shallowest plane to the deepest, each plane is added if the body still overlaps its facet after
//! the shortest translation that clears the planes added before. For a body on a floor or in a
//! corner this translation is the shortest push-out. The proof is cheap: a facet is under the
//! body's lowest point, and its boundary is farther away than the translation is long.
//!
//! *Shorter translations.* Without this proof, edges and corners are tried as well. Over a ridge or
//! a peak, a body leaves along a normal between the normals of the slopes. To find it, the facets
//! around a point of the ridge are extended past the body. Their convex hull, a wedge or a cone,
//! contains the surface if that is convex. Then the contact with the hull is at least as deep as
//! the contact with the surface, and each hull's contact is at least as deep as the surface's, and
//! the shallowest of them equals it.
//!
//! Planes, wedges and cones are the candidates. Translations that clear one candidate are tried
//! from the shortest on, and then translations that clear several. The result is the shortest one
//! that pushes the body out.
//!
//! *Gaps.* If no candidate pushes the body out, or if the push-out of a convex body is more than
//! twice as long as the depth in any single facet, the search in [`gap`](super::gap) looks for a
//! way past the boundaries of the facets.

use smallvec::SmallVec;

use crate::{
    placed::BoundingRegion,
    shape::Bounds,
    space::{
        DVector, Space,
        shortest_translation::{Clearance, translation_out_of_all},
        translation_search::{Node, SameNodes},
    },
    surface::{
        facet_contact::{
            FacetContact, SAME_DEPTH, clears_plane, ends_at_plane, foot, is_tight, slop,
        },
        lists::PushOutLists,
        surface_pair::SurfacePair,
    },
    tolerance::SAME_NORMAL,
};

/// With more contacts than this, translations that clear several candidates are not tried.
const MAX_CONTACTS: usize = 256;

/// If nothing else pushes the body out, the normals of this many candidates are tried.
const MAX_SINGLE_NORMALS: usize = 16;

/// Maximum number of candidates that one translation combines.
pub const MAX_PLANES: usize = 4;

/// Maximum number of translations over several candidates that are tried.
const MAX_COMBINATIONS: usize = 24;

/// Maximum number of passes over all contacts. A plane that is added last may turn the translation
/// back into a facet that was clear.
const MAX_PASSES: usize = 16;

/// Planes that a translation clears, none of which is the plane of a contact.
type Planes<D> = SmallVec<[FacetContact<D>; 3]>;

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Finds the shortest push-out, if a core overlaps a facet. Keeps the contacts on whose planes
    /// the push-out ends, and adds contacts for the edges and corners that it clears. `contacts`
    /// must be sorted by depth.
    pub fn keep_push_out(
        &self,
        contacts: &mut Vec<FacetContact<V::DVec>>,
        lists: &mut PushOutLists<V>,
    ) {
        if !contacts.iter().any(FacetContact::is_plane) {
            return;
        }
        let first = self.first_translation(contacts);
        if let Some(translation) = first
            && self.is_proven_shortest(contacts, translation)
            && self.lets_center_pass(translation)
        {
            contacts.retain(|contact| is_tight(contact, translation));
            return;
        }
        let (translation, others) = self.shortest_push_out(contacts, first, lists);
        let Some(translation) = translation else {
            return;
        };
        let mut added = Planes::new();
        for candidate in others {
            let find = |contacts: &[FacetContact<_>]| {
                self.reporting_facet(contacts, translation, &candidate, &added)
            };
            let indices = if candidate.is_plane() {
                candidate.indices
            } else {
                find(contacts)
                    .or_else(|| find(&lists.contacts))
                    .unwrap_or(candidate.indices)
            };
            if added.iter().all(|contact| contact.indices != indices) {
                added.push(FacetContact {
                    indices,
                    ..candidate
                });
            }
        }
        contacts.retain(|contact| {
            let mut others = added.iter();
            is_tight(contact, translation) && others.all(|other| other.indices != contact.indices)
        });
        contacts.extend(added);
    }

    /// Returns the shortest translation that clears all contacts along their own normals, except
    /// contacts that the planes added before have cleared. Returns `None` if the planes contradict
    /// each other.
    fn first_translation(&self, contacts: &[FacetContact<V::DVec>]) -> Option<V::DVec> {
        let mut shortest = Clearance::default();
        for _ in 0..MAX_PASSES {
            let mut is_out = true;
            for contact in contacts {
                let (translation, bounding) = (shortest.translation, &shortest.bounding);
                if clears_plane(contact, translation)
                    || !bounding.is_empty() && self.is_cleared(contact, translation)
                {
                    continue;
                }
                is_out = false;
                let planes = bounding.iter().copied().chain([contact.plane()]);
                shortest = translation_out_of_all(planes, f64::INFINITY)?;
            }
            if is_out {
                break;
            }
        }
        Some(shortest.translation)
    }

    /// Returns `true` if a translation clears the facet of a contact.
    fn is_cleared(&self, contact: &FacetContact<V::DVec>, translation: V::DVec) -> bool {
        self.is_apart_after(contact.indices, contact.weld, translation)
    }

    /// Returns `true` if two parts do not overlap after a translation of the body.
    pub(super) fn is_apart_after(
        &self,
        indices: (u32, u32),
        weld: f64,
        translation: V::DVec,
    ) -> bool {
        let overlap = self.parts(indices).and_then(|parts| {
            self.solve(&parts, translation, |solver| {
                let is_deep = solver.hit()
                    && solver.contact().depth > slop(weld, translation) + 4.0 * solver.depth_gap();
                is_deep.then_some(())
            })
        });
        overlap.is_none()
    }

    /// Returns `true` if no shorter translation can push the body out: each plane on which
    /// `translation` ends has a facet under the body that is too wide to leave by a shorter
    /// translation.
    fn is_proven_shortest(&self, contacts: &[FacetContact<V::DVec>], translation: V::DVec) -> bool {
        let Some(center) = self.center else {
            return false;
        };
        let is_wide = |contact: &FacetContact<V::DVec>| {
            let facet = self.surface.facet(contact.indices.0)?;
            let [on_surface, _] = self.parts(contact.indices)?;
            // The body's lowest point is under the foot. The segment from it to the center crosses
            // the plane. Both points have to be farther inside the facet than the translation.
            let foot = foot(&on_surface, &contact.contact);
            let (under, over) = (contact.depth(), facet.height(center).abs());
            let lowest = foot - contact.normal * under;
            let segment = center - lowest;
            let crossing = lowest + segment * (under / (under + over));
            let inset = facet.inset(foot).min(facet.inset(crossing));
            // A slanted segment crosses the plane farther away.
            let slant = segment.length() / (under + over);
            Some(inset > translation.length() * slant)
        };
        let tight = contacts
            .iter()
            .filter(|contact| contact.is_plane() && ends_at_plane(contact, translation));
        // Of several facets in one plane, one wide facet is enough.
        let mut last: Option<&FacetContact<V::DVec>> = None;
        let mut is_found = true;
        for contact in tight {
            let is_same = last.is_some_and(|last| {
                (last.normal - contact.normal).length() <= SAME_NORMAL
                    && contact.depth() - last.depth() <= slop(contact.weld, translation)
            });
            if !is_same {
                if !is_found {
                    return false;
                }
                last = Some(contact);
                is_found = false;
            }
            is_found = is_found || is_wide(contact).unwrap_or(false);
        }
        is_found
    }

    /// Returns `true` if a translation takes the center through no facet of the surface.
    pub(super) fn lets_center_pass(&self, translation: V::DVec) -> bool {
        let Some(center) = self.center else {
            return true;
        };
        let ends = [center, center + translation];
        let [from, to] = ends.map(|end| end + self.surface.world_pose.translation);
        let (min, max) = (from.min(to), from.max(to));
        let mut passes = true;
        let region = BoundingRegion::Box(Bounds { min, max });
        self.surface.parts_near(&region, V::DVec::ZERO, |index| {
            let facet = self.surface.facet(index);
            let facet = facet.filter(|facet| !self.is_hidden(facet));
            passes &= facet.is_none_or(|facet| !facet.is_crossed_by(ends));
        });
        passes
    }

    /// Returns the shortest push-out, and those of its planes that are not planes of `contacts`.
    fn shortest_push_out(
        &self,
        contacts: &[FacetContact<V::DVec>],
        first: Option<V::DVec>,
        lists: &mut PushOutLists<V>,
    ) -> (Option<V::DVec>, Planes<V::DVec>) {
        // The deepest contact is the most likely to block a translation.
        lists.contacts.sort_unstable_by(|a, b| {
            let depths = b.depth().total_cmp(&a.depth());
            depths.then_with(|| self.order(a, b))
        });
        let deepest = contacts.last().map_or(0.0, FacetContact::depth);
        let farthest = first.map_or(deepest, DVector::length);
        let bodies = self.collect_near_facets(contacts, farthest, &mut lists.near);
        let first_free = first.filter(|translation| self.is_free(lists, *translation));
        let limit = first_free.map_or(f64::INFINITY, DVector::length);
        self.find_candidates(contacts, &bodies, limit, lists);
        let mut found = self.search(limit * (1.0 - SAME_DEPTH), lists);
        if found.is_none() && first.is_none() {
            found = self.shortest_along_one_normal(lists);
        }
        let limit = found.as_ref().map_or(limit, |node| node.length);
        if first_free.is_none() || self.may_be_too_long(limit, lists) {
            let limit = limit * (1.0 - SAME_DEPTH);
            let is_end = |lists: &PushOutLists<V>, translation| {
                first_free.is_none() || self.is_clear_of_near(lists, translation)
            };
            found = self.shortest_out_of_gap(limit, lists, is_end).or(found);
        }
        let Some(node) = found else {
            return (first, Planes::new());
        };
        let is_other = |candidate: &FacetContact<V::DVec>| {
            let is_same = |contact: &FacetContact<V::DVec>| {
                contact.indices.1 == candidate.indices.1 && contact.is_same_plane(candidate)
            };
            !contacts.iter().any(is_same)
        };
        let planes = node.bounding.iter();
        let planes = planes.filter_map(|(_, index)| lists.candidates.get(*index).copied());
        (Some(node.translation), planes.filter(is_other).collect())
    }

    /// Returns `true` if a convex body may have a push-out that is less than half as long as this
    /// length.
    ///
    /// Each push-out is at least as long as the depth in any single facet, a thin plate. The same
    /// holds for the step that led in, because the step back clears each facet.
    fn may_be_too_long(&self, length: f64, lists: &PushOutLists<V>) -> bool {
        let enough = 0.5 * length;
        let depth_in_plate = |contact: &FacetContact<V::DVec>| {
            let plate = self.plate_contact(contact);
            plate.as_ref().unwrap_or(contact).depth()
        };
        let is_convex = self.body.scaled_shape().is_some();
        is_convex
            && lists
                .contacts
                .iter()
                .all(|contact| depth_in_plate(contact) < enough)
    }

    /// Returns the greatest depth of a contact that pushes the body past the boundary of a facet,
    /// or along a single normal: the diameter of the body's bounding box.
    pub(super) fn max_depth(&self) -> f64 {
        let region = self.body.region().ok();
        let bounds = region.as_ref().and_then(BoundingRegion::bounds);
        bounds.map_or(f64::INFINITY, |bounds| (bounds.max - bounds.min).length())
    }

    /// Returns the shortest push-out that clears one or several candidates, if it is shorter than
    /// `limit`.
    fn search(&self, mut limit: f64, lists: &mut PushOutLists<V>) -> Option<Node<V::DVec, usize>> {
        let mut best = None;
        for index in 0..lists.candidates.len() {
            let plane = lists.candidates.get(index).map(FacetContact::plane);
            let node = plane.and_then(|plane| Node::default().with(plane, index, limit));
            let Some(node) = node else {
                break;
            };
            if self.is_free(lists, node.translation) {
                limit = node.length * (1.0 - SAME_DEPTH);
                best = Some(node);
                break;
            }
        }
        if lists.contacts.len() > MAX_CONTACTS {
            return best;
        }
        lists
            .search
            .begin(MAX_COMBINATIONS, limit, SameNodes::Translation);
        while let Some(node) = lists.search.take_shortest() {
            if node.chosen > 1 && self.is_free(lists, node.translation) {
                return Some(node);
            }
            if node.chosen == MAX_PLANES {
                continue;
            }
            // The candidates are sorted by depth.
            for (index, candidate) in lists.candidates.iter().enumerate() {
                if candidate.depth() >= limit {
                    break;
                }
                if !clears_plane(candidate, node.translation) {
                    lists.search.open(&node, candidate.plane(), index);
                }
            }
        }
        best
    }

    /// Returns the shortest push-out along the normal of one of the shallowest candidates.
    fn shortest_along_one_normal(
        &self,
        lists: &mut PushOutLists<V>,
    ) -> Option<Node<V::DVec, usize>> {
        let (mut shortest, mut limit) = (None, self.max_depth());
        for index in 0..lists.candidates.len().min(MAX_SINGLE_NORMALS) {
            let candidate = lists.candidates.get(index).copied();
            if let Some(found) =
                candidate.and_then(|candidate| self.push_along_one_normal(candidate, limit, lists))
            {
                limit = found.depth() * (1.0 - SAME_DEPTH);
                shortest = Some(found);
            }
        }
        let (shortest, index) = (shortest?, lists.candidates.len());
        lists.candidates.push(shortest);
        Node::default().with(shortest.plane(), index, f64::INFINITY)
    }

    /// Returns the push-out along the normal of a candidate. It clears the candidate's plane and
    /// each facet that still blocks the body. Returns `None` if there is no such push-out shorter
    /// than `limit`.
    fn push_along_one_normal(
        &self,
        candidate: FacetContact<V::DVec>,
        limit: f64,
        lists: &mut PushOutLists<V>,
    ) -> Option<FacetContact<V::DVec>> {
        let mut contact = candidate;
        for _ in 0..MAX_CONTACTS {
            let (normal, depth) = (contact.normal, contact.depth());
            if depth >= limit {
                return None;
            }
            let Some(indices) = self.blocking(lists, normal * depth) else {
                return self.is_passable(lists, normal * depth).then_some(contact);
            };
            // A body must not pass through a facet from behind.
            let mut blocking = lists
                .contacts
                .iter()
                .filter(|contact| contact.indices == indices);
            if blocking.any(|contact| contact.normal.dot(normal) < -SAME_NORMAL) {
                return None;
            }
            contact = self.contact_along(indices, normal)?;
            if contact.depth() <= depth {
                return None;
            }
        }
        None
    }

    /// Returns the facet with which the contact over an edge or a corner is reported. It is one of
    /// the facets that the same part of the body touches and that no plane in `taken` uses. Facets
    /// whose own planes the translation does not clear come first, then the facet whose normal is
    /// closest to the contact's.
    fn reporting_facet(
        &self,
        contacts: &[FacetContact<V::DVec>],
        translation: V::DVec,
        over: &FacetContact<V::DVec>,
        taken: &[FacetContact<V::DVec>],
    ) -> Option<(u32, u32)> {
        let rank = |contact: &FacetContact<V::DVec>| {
            let is_open = !clears_plane(contact, translation);
            (is_open, contact.normal.dot(over.normal))
        };
        let mut best = (None, (false, f64::NEG_INFINITY));
        for contact in contacts {
            let is_free = taken.iter().all(|other| other.indices != contact.indices);
            if is_free && contact.indices.1 == over.indices.1 && rank(contact) > best.1 {
                best = (Some(contact.indices), rank(contact));
            }
        }
        best.0
    }

    /// Returns `true` if a translation pushes the body out: it clears all touched facets, and takes
    /// the center through no facet.
    fn is_free(&self, lists: &mut PushOutLists<V>, translation: V::DVec) -> bool {
        self.blocking(lists, translation).is_none() && self.is_passable(lists, translation)
    }

    /// Returns a touched facet, with the part of the body, that a translation does not clear.
    pub(super) fn blocking(
        &self,
        lists: &mut PushOutLists<V>,
        translation: V::DVec,
    ) -> Option<(u32, u32)> {
        let is_clear = |contact: &FacetContact<V::DVec>| {
            clears_plane(contact, translation) || self.is_cleared(contact, translation)
        };
        let mut contacts = lists.contacts.iter();
        let index = contacts.position(|contact| !is_clear(contact))?;
        // A facet that blocks one translation often blocks the next.
        let ahead = lists.contacts.get_mut(..=index)?;
        ahead.rotate_right(1);
        ahead.first().map(|contact| contact.indices)
    }

    /// Returns `true` if a convex body overlaps no near facet after a translation.
    fn is_clear_of_near(&self, lists: &PushOutLists<V>, translation: V::DVec) -> bool {
        lists.near.iter().all(|near| {
            let weld = near.facet.weld;
            near.is_hidden || self.is_apart_after((near.index, 0), weld, translation)
        })
    }

    /// Returns `true` if a translation takes the body's center through no facet.
    pub(super) fn is_passable(&self, lists: &PushOutLists<V>, translation: V::DVec) -> bool {
        lists.near.iter().all(|near| {
            let is_crossed = |center| near.facet.is_crossed_by([center, center + translation]);
            near.is_hidden || !self.center.is_some_and(is_crossed)
        })
    }
}
