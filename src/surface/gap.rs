//! The shortest push-out of a body from a gap that is too small for the body. The body leaves the
//! gap through an open side.
//!
//! In a gap, no translation clears the planes of both walls, so the body has to move past the
//! boundary of a wall. Let t be the distance that the body must move along a direction d to just
//! clear a facet. Let n be the normal of the contact after this motion. The plane of this contact
//! separates body and facet. So each translation x with x · n >= t (d · n) clears the facet. So
//! each direction gives a plane for each facet. The translation t d with the greatest t of all
//! facets clears all planes of the direction d.
//!
//! A best-first search adds planes until the shortest translation that clears all added planes
//! pushes the body out. If a facet still blocks the body, the search tries the facet's own plane,
//! and the facet's planes for a few directions. Some of these directions are orthogonal to the
//! normals of touched facets. The other directions point from each facet's boundary toward the
//! body's center. The search is repeated with the direction of its result, until the result
//! improves no further.

use core::ops::Range;

use arrayvec::ArrayVec;

use crate::{
    space::{
        DVector, Space,
        translation_search::{Node, SameNodes},
    },
    surface::{
        facet_contact::FacetContact,
        limits::{MAX_DIRECTIONS, MAX_NODES, MAX_STEPS},
        lists::PushOutLists,
        shortest_push_out::MAX_PLANES,
        surface_pair::SurfacePair,
    },
    tolerance::SAME_NORMAL,
};

/// Maximum number of facet normals from which directions are computed. Equal normals count once.
const MAX_NORMALS: usize = 6;

/// A direction is left out if the cosine of its angle to another direction is at least this value.
/// So any two directions are at least 11 degrees apart.
const NEAR_DIRECTION_COSINE: f64 = 0.98;

/// A push-out counts as shorter than another push-out only if the lengths differ by more than this
/// fraction.
const MIN_LENGTH_GAIN: f64 = 1e-4;

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Searches for the shortest push-out that is shorter than `limit`. `is_end` returns `true` if
    /// a translation is acceptable as a push-out.
    pub(super) fn shortest_out_of_gap(
        &self,
        mut limit: f64,
        lists: &mut PushOutLists<V>,
        is_end: impl Fn(&PushOutLists<V>, V::DVec) -> bool,
    ) -> Option<Node<V::DVec, usize>> {
        let mut directions = self.gap_directions(&lists.contacts);
        let mut best = None;
        for _ in 0..MAX_STEPS {
            let Some(node) = self.search_gap(&directions, limit, lists, &is_end) else {
                break;
            };
            limit = node.length * (1.0 - MIN_LENGTH_GAIN);
            directions.clear();
            directions.extend(node.translation.unit());
            best = Some(node);
        }
        best
    }

    /// Returns the directions of the first search.
    fn gap_directions(
        &self,
        contacts: &[FacetContact<V::DVec>],
    ) -> ArrayVec<V::DVec, MAX_DIRECTIONS> {
        let mut normals = ArrayVec::<V::DVec, MAX_NORMALS>::new();
        let mut directions = ArrayVec::<V::DVec, MAX_DIRECTIONS>::new();
        let mut add = |direction: Option<V::DVec>| {
            let Some(direction) = direction.and_then(V::DVec::unit) else {
                return;
            };
            let mut others = directions.iter();
            if others.all(|other| other.dot(direction) < NEAR_DIRECTION_COSINE) {
                let _ = directions.try_push(direction);
            }
        };
        for contact in contacts {
            let mut others = normals.iter();
            if others.any(|other| (*other - contact.normal()).length() <= SAME_NORMAL) {
                continue;
            }
            for other in &normals {
                let edges = [contact.normal(), *other];
                let edges = edges.get(..V::DVec::DIMENSION - 1);
                let across = edges.and_then(V::DVec::perpendicular);
                add(across);
                add(across.map(|direction| -direction));
            }
            if normals.try_push(contact.normal()).is_err() {
                break;
            }
        }
        for contact in contacts {
            let facet = self.facet(contact.indices.0);
            if let (Some(facet), Some(center)) = (facet, self.center)
                && let Some(nearest) = facet.nearest_boundary(center)
            {
                let away = center - nearest.point;
                add(Some(away - facet.normal * away.dot(facet.normal)));
            }
        }
        directions
    }

    /// Returns the shortest push-out that clears one plane of each touched facet: the facet's own
    /// plane, or the facet's plane for one of the directions. Returns `None` if the push-out is not
    /// shorter than `limit`.
    fn search_gap(
        &self,
        directions: &[V::DVec],
        limit: f64,
        lists: &mut PushOutLists<V>,
        is_end: impl Fn(&PushOutLists<V>, V::DVec) -> bool,
    ) -> Option<Node<V::DVec, usize>> {
        lists.clearing.clear();
        lists.search.begin(MAX_NODES, limit, SameNodes::Translation);
        while let Some(node) = lists.search.take_shortest() {
            let Some(indices) = self.blocking(lists, node.translation) else {
                if is_end(lists, node.translation) && self.lets_center_pass(node.translation) {
                    return Some(node);
                }
                continue;
            };
            if node.chosen == MAX_PLANES {
                continue;
            }
            let range = self.clearing(indices, directions, lists)?;
            let numbered = lists.candidates.iter().enumerate();
            for (index, candidate) in numbered.skip(range.start).take(range.len()) {
                lists.search.open(&node, candidate.plane(), index);
            }
        }
        None
    }

    /// Returns the range of the candidates that clear a touched facet. The candidates are computed
    /// when the facet first blocks a translation.
    fn clearing(
        &self,
        indices: (u32, u32),
        directions: &[V::DVec],
        lists: &mut PushOutLists<V>,
    ) -> Option<Range<usize>> {
        let mut known = lists.clearing.iter();
        if let Some((_, range)) = known.find(|(other, _)| *other == indices) {
            return Some(range.clone());
        }
        let mut contacts = lists.contacts.iter();
        let contact = *contacts.find(|contact| contact.indices == indices)?;
        let first = lists.candidates.len();
        lists.candidates.push(contact);
        let max_depth = self.max_depth();
        let planes = directions
            .iter()
            .filter_map(|direction| self.separating_plane(&contact, *direction))
            .filter(|plane| plane.depth() <= max_depth);
        lists.candidates.extend(planes);
        let range = first..lists.candidates.len();
        lists.clearing.push((indices, range.clone()));
        Some(range)
    }

    /// Returns the plane that separates a facet from the body, after the body has moved along
    /// `direction` until the body just clears the facet. Returns `None` if the plane's normal
    /// opposes the normal of `contact`, because the body would then end on the other side of the
    /// facet.
    fn separating_plane(
        &self,
        contact: &FacetContact<V::DVec>,
        direction: V::DVec,
    ) -> Option<FacetContact<V::DVec>> {
        let mut plane = self.touch_along(contact.indices, direction)?;
        let mut length = plane.depth();
        for _ in 0..MAX_STEPS {
            let Some(normal) = self.normal_after(contact.indices, direction * length) else {
                break;
            };
            let cosine = normal.dot(direction);
            if cosine <= SAME_NORMAL {
                break;
            }
            let next = self.touch_along(contact.indices, normal)?;
            let next_length = next.depth() / cosine;
            if next_length > length * (1.0 - MIN_LENGTH_GAIN) {
                break;
            }
            (plane, length) = (next, next_length);
        }
        let is_behind = (plane.normal() + contact.normal()).length() <= SAME_NORMAL;
        (!is_behind).then_some(plane)
    }

    /// Returns the normal from the facet to the body after a translation of the body. If facet and
    /// body touch, the result is the normal of the contact. Otherwise, the result is the direction
    /// between the nearest points.
    fn normal_after(&self, indices: (u32, u32), translation: V::DVec) -> Option<V::DVec> {
        self.solve_indices(indices, translation, |solver| {
            let contact = if solver.hit() {
                solver.contact()
            } else {
                solver.distance()?.1
            };
            Some(contact.normal)
        })
    }
}
