//! Finds the shortest push-out of any body whose core overlaps facets of a surface.
//!
//! The head of [`surface`](super) defines a push-out. The shortest push-out depends only on the set
//! of all points of the surface, and not on how the surface is divided into facets. If the body
//! moves, the length of the shortest push-out changes by at most the distance of the motion.
//!
//! *First translation.* The first translation clears facets along their own normals. A loop visits
//! the facets from the shallowest to the deepest. If the translation so far does not clear a facet,
//! the loop adds the facet's plane. Then the loop computes the shortest translation that clears all
//! added planes. For a body on a floor or in a corner, the result is the shortest push-out. The
//! proof is cheap: the body's lowest point is under a facet whose boundary is farther away than the
//! translation is long.
//!
//! *Shorter translations.* If the proof fails, edges and corners are tried as well. On a ridge or a
//! peak, the normal of the shortest push-out is between the normals of the slopes. To find this
//! normal, the facets around a point of the ridge are extended past the body. The convex hull of
//! these facets is a wedge or a cone. If the surface is convex, each of these hulls contains the
//! surface. Then the contact with each hull is at least as deep as the contact with the surface.
//! The shallowest of these contacts equals the contact with the surface.
//!
//! The planes, wedges and cones are the candidates. Translations that clear one candidate are tried
//! first, in the order of their lengths, and then translations that clear several candidates. The
//! result is the shortest push-out among these translations.
//!
//! *Gaps.* If no candidate pushes the body out, [`gap`](super::gap) searches for a push-out past
//! the boundaries of the facets. The same search follows if a convex body's push-out is more than
//! twice as long as the depth in any single facet.

use smallvec::SmallVec;

use crate::{
    placed::BoundingRegion,
    shape::{Bounds, Facet, Support},
    space::{
        DVector, Space,
        shortest_translation::Clearance,
        translation_search::{Node, SameNodes},
    },
    surface::{
        facet_contact::{FacetContact, SAME_DEPTH, clears_plane, ends_at_plane, is_tight, slop},
        limits::{MAX_DIRECTIONS, MAX_STEPS},
        lists::PushOutLists,
        surface_pair::{CenterSegment, SurfacePair},
    },
    tolerance::SAME_NORMAL,
};

/// If a body has more contacts than this number, translations that clear several candidates are not
/// tried.
const MAX_CONTACTS: usize = 256;

/// Maximum number of candidates that one translation combines.
pub const MAX_PLANES: usize = 4;

/// Maximum number of combinations of candidates that are tried.
const MAX_COMBINATIONS: usize = 24;

/// Planes on which a translation ends, except the planes of the contacts.
type Planes<D> = SmallVec<[FacetContact<D>; 3]>;

impl<'a, V: Space> SurfacePair<'a, V> {
    /// If a core overlaps a facet, finds the shortest push-out. Keeps the contacts on whose planes
    /// the push-out ends, and adds contacts for the edges and corners on which the push-out ends.
    /// `contacts` must be sorted by depth.
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

    /// Returns the shortest translation that clears the planes of the contacts. Leaves out the
    /// plane of a contact if the translation out of the other planes already clears the facet of
    /// this contact. Returns `None` if no translation clears all these planes.
    fn first_translation(&self, contacts: &[FacetContact<V::DVec>]) -> Option<V::DVec> {
        let mut shortest = Clearance::default();
        for _ in 0..MAX_STEPS {
            let mut is_out = true;
            for contact in contacts {
                let (translation, bounding) = (shortest.translation, &shortest.bounding);
                if clears_plane(contact, translation)
                    || !bounding.is_empty()
                        && self.is_apart_after(contact.indices, contact.weld, translation)
                {
                    continue;
                }
                is_out = false;
                shortest = shortest.with(contact.plane(), f64::INFINITY)?;
            }
            if is_out {
                break;
            }
        }
        Some(shortest.translation)
    }

    /// Returns `true` if two parts do not overlap after a translation of the body.
    pub(super) fn is_apart_after(
        &self,
        indices: (u32, u32),
        weld: f64,
        translation: V::DVec,
    ) -> bool {
        let slop = slop(weld, translation);
        // Most of these facets are below the body along the translation, or their own planes
        // separate them from the body. These tests take far less time than GJK.
        let facet = self.facet(indices.0);
        let is_below = facet
            .zip(self.surface.facet_radius())
            .is_some_and(|(facet, radius)| {
                let own = self
                    .center
                    .map(|center| facet.normal_toward(center + translation));
                let mut normals = translation.unit().into_iter().chain(own);
                normals.any(|normal| {
                    let depth = self.depth_along(indices.1, &facet, radius, normal);
                    depth.is_some_and(|depth| depth - translation.dot(normal) <= slop)
                })
            });
        let overlaps = || {
            self.solve_indices(indices, translation, |solver| {
                (solver.hit() && solver.is_deeper(slop)).then_some(())
            })
        };
        is_below || overlaps().is_none()
    }

    /// Returns the depth of a part of the body in a facet along a unit vector. `radius` is the
    /// radius of the facets.
    fn depth_along(
        &self,
        part: u32,
        facet: &Facet<V::DVec>,
        radius: f64,
        normal: V::DVec,
    ) -> Option<f64> {
        self.with_body_part(part, |part| {
            let radius = radius + part.scaled_shape().radius();
            Some(radius + facet.top(normal) - self.lowest(part, normal).dot(normal))
        })
    }

    /// Returns `true` if no shorter translation can push the body out. For this proof, each plane
    /// on which `translation` ends needs a facet under the body. No shorter translation may take
    /// the body past the boundary of this facet.
    fn is_proven_shortest(&self, contacts: &[FacetContact<V::DVec>], translation: V::DVec) -> bool {
        if self.center.is_none() {
            return false;
        }
        let tight = contacts
            .iter()
            .filter(|contact| contact.is_plane() && ends_at_plane(contact, translation));
        // In the sorted list, the contacts of facets in one plane are adjacent. For each plane, one
        // wide facet is enough.
        let mut last: Option<&FacetContact<V::DVec>> = None;
        let mut is_found = true;
        for contact in tight {
            let is_same = last.is_some_and(|last| {
                (last.normal() - contact.normal()).length() <= SAME_NORMAL
                    && contact.depth() - last.depth() <= slop(contact.weld, translation)
            });
            if !is_same {
                if !is_found {
                    return false;
                }
                last = Some(contact);
                is_found = false;
            }
            is_found = is_found || self.is_wide(contact, translation.length());
        }
        is_found
    }

    /// Returns `true` if no translation shorter than `length` takes the body past the boundary of a
    /// facet. `contact` is the contact with the plane of this facet. Always returns `false` for a
    /// body without a center.
    pub(super) fn is_wide(&self, contact: &FacetContact<V::DVec>, length: f64) -> bool {
        let facet = self.facet(contact.indices.0);
        let (Some(center), Some(facet)) = (self.center, facet) else {
            return false;
        };
        // The body's lowest point is below `foot`, the contact point on the facet. The segment from
        // the lowest point to the center crosses the plane. `foot` and the crossing must be farther
        // from the facet's boundary than the translation is long.
        let radius = self.surface.facet_radius().unwrap_or(0.0);
        let foot = contact.contact.offset_a - contact.normal() * radius;
        let lowest = foot - contact.normal() * contact.depth();
        let segment = CenterSegment::new(lowest, center, contact.plane());
        let inset = facet.inset(foot).min(facet.inset(segment.crossing));
        // The smaller the angle between segment and plane, the farther a translation moves the
        // crossing.
        inset > length * segment.slant
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
            let facet = self.facet(index);
            let facet = facet.filter(|facet| !self.is_hidden(facet));
            passes &= facet.is_none_or(|facet| !facet.is_crossed_by(ends));
        });
        passes
    }

    /// Returns the shortest push-out, and the planes on which it ends, except the planes of
    /// `contacts`.
    fn shortest_push_out(
        &self,
        contacts: &[FacetContact<V::DVec>],
        first: Option<V::DVec>,
        lists: &mut PushOutLists<V>,
    ) -> (Option<V::DVec>, Planes<V::DVec>) {
        // The deepest contacts come first, because they probably block a translation.
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

    /// Returns `true` if a convex body may have a push-out that is less than half as long as
    /// `length`.
    ///
    /// Each push-out is at least as long as the depth in any single facet. The step that moved the
    /// body into the facets is also at least as long as this depth, because the opposite step
    /// clears each facet. So if one of the depths is at least half of `length`, then `length` is at
    /// most twice the shortest push-out, and at most twice this step.
    fn may_be_too_long(&self, length: f64, lists: &PushOutLists<V>) -> bool {
        let enough = 0.5 * length;
        // Only a contact with a facet's plane may be deeper than the contact with the facet alone
        // (the plate).
        let is_shallow = |contact: &FacetContact<V::DVec>| {
            contact.depth() < enough
                || contact.is_plane() && self.plate_contact(contact, enough).is_some()
        };
        self.body.scaled_shape().is_some() && lists.contacts.iter().all(is_shallow)
    }

    /// Returns the maximum depth of a contact that pushes the body past the boundary of a facet, or
    /// along a single normal. The result is the length of the diagonal of the body's bounding box.
    pub(super) fn max_depth(&self) -> f64 {
        let region = self.body.region().ok();
        let bounds = region.as_ref().and_then(BoundingRegion::bounds);
        bounds.map_or(f64::INFINITY, |bounds| (bounds.max - bounds.min).length())
    }

    /// Returns the shortest push-out that clears one or several candidates. Returns `None` if this
    /// push-out is not shorter than `limit`.
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
            // The candidates are sorted by depth, so the following candidates reach the limit, too.
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
        for index in 0..lists.candidates.len().min(MAX_DIRECTIONS) {
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

    /// Returns the push-out along the normal of a candidate, which clears the candidate's plane and
    /// all touched facets. Returns `None` if this push-out is not shorter than `limit`.
    fn push_along_one_normal(
        &self,
        candidate: FacetContact<V::DVec>,
        limit: f64,
        lists: &mut PushOutLists<V>,
    ) -> Option<FacetContact<V::DVec>> {
        let mut contact = candidate;
        for _ in 0..MAX_CONTACTS {
            let (normal, depth) = contact.plane();
            if depth >= limit {
                return None;
            }
            let Some(indices) = self.blocking(lists, normal * depth) else {
                return self.lets_center_pass(normal * depth).then_some(contact);
            };
            // A body must not pass through a facet from behind.
            let mut blocking = lists
                .contacts
                .iter()
                .filter(|contact| contact.indices == indices);
            if blocking.any(|contact| contact.normal().dot(normal) < -SAME_NORMAL) {
                return None;
            }
            contact = self.contact_along(indices, normal)?;
            if contact.depth() <= depth {
                return None;
            }
        }
        None
    }

    /// `over` is a contact with an edge or a corner. Returns the indices of the facet and the part
    /// for which this contact is reported. The same part touches this facet, and no contact in
    /// `taken` has the same indices. Facets whose own planes the translation does not clear take
    /// precedence. Among facets of equal precedence, the facet whose normal is closest to the
    /// normal of `over` is selected.
    fn reporting_facet(
        &self,
        contacts: &[FacetContact<V::DVec>],
        translation: V::DVec,
        over: &FacetContact<V::DVec>,
        taken: &[FacetContact<V::DVec>],
    ) -> Option<(u32, u32)> {
        let rank = |contact: &FacetContact<V::DVec>| {
            let is_open = !clears_plane(contact, translation);
            (is_open, contact.normal().dot(over.normal()))
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
        self.blocking(lists, translation).is_none() && self.lets_center_pass(translation)
    }

    /// Returns the indices of a contact whose facet a translation does not clear. Moves this
    /// contact to the front of the list, so that the next call tests this facet first.
    pub(super) fn blocking(
        &self,
        lists: &mut PushOutLists<V>,
        translation: V::DVec,
    ) -> Option<(u32, u32)> {
        let is_clear = |contact: &FacetContact<V::DVec>| {
            clears_plane(contact, translation)
                || self.is_apart_after(contact.indices, contact.weld, translation)
        };
        let mut contacts = lists.contacts.iter();
        let index = contacts.position(|contact| !is_clear(contact))?;
        // A facet that blocks a translation often blocks the next translation, so its contact moves
        // to the front.
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
}
