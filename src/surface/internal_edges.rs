//! Decides which contacts on the boundaries of facets are contacts of the surface.

use core::ops::ControlFlow;

use crate::{
    shape::{BoundaryPoint, weld},
    space::{DVector, Space},
    surface::{
        SurfacePair,
        facet_contact::{ContactKind, EXACT, FacetContact},
    },
};

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Returns `true` if the contact is a ball's contact at a boundary point, and a facet that
    /// shares the vertices at that point rises along the normal. Such a facet has a contact of its
    /// own.
    pub(super) fn has_rising_neighbor(&self, contact: &FacetContact<V::DVec>) -> bool {
        let ContactKind::Boundary { point, error } = contact.kind else {
            return false;
        };
        // Contacts of other shapes at one point may differ in their normals, so
        // `remove_internal_contacts` tests them together.
        if error > EXACT {
            return false;
        }
        let weld = weld(&[point.point]);
        let rises = |vertices: &[V::DVec]| point.rises(vertices, contact.normal, error, weld);
        let index = self.facet_index(contact.indices);
        let visit = |other| {
            if self.is_facet_hidden(other) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let surface = self.surface();
        let found = surface.search_adjacent(index, point.weights, rises, visit);
        found.is_break()
    }

    /// Like [`is_hidden`](Self::is_hidden), for a facet given by its index.
    fn is_facet_hidden(&self, index: u32) -> bool {
        let surface = self.surface();
        surface.is_one_sided() && surface.facet(index).is_some_and(|it| self.is_hidden(&it))
    }

    /// Removes the contacts on boundaries that are no local minima of the distance.
    pub(super) fn remove_internal_contacts(&self, contacts: &mut Vec<FacetContact<V::DVec>>) {
        // At a point that several facets share, each part of the body has one contact. Sorting
        // groups the facets of such a point, so that it is tested once.
        let position = |contact: &FacetContact<V::DVec>| match contact.kind {
            ContactKind::Boundary { point, .. } => Some(point.point),
            _ => None,
        };
        contacts.sort_unstable_by(|a, b| {
            let positions = match (position(a), position(b)) {
                (Some(one), Some(other)) => one.total_cmp(other),
                (one, other) => one.is_some().cmp(&other.is_some()),
            };
            let [one, other] = [a, b].map(|contact| self.body_index(contact.indices));
            let parts = one.cmp(&other);
            positions.then(parts).then(a.indices.cmp(&b.indices))
        });
        // If all cores are separated, the deepest contact is a minimum, even if rounding makes an
        // adjacent facet rise.
        let depths = contacts.iter().map(FacetContact::depth);
        let deepest = depths.fold(0.0, f64::max);
        let are_separated = !contacts.iter().any(FacetContact::is_plane);
        let is_closest = |contact: &FacetContact<_>| are_separated && contact.depth() >= deepest;
        let mut last = None;
        let mut hidden = None;
        contacts.retain(|contact| {
            let ContactKind::Boundary { point, error } = contact.kind else {
                return true;
            };
            let tested = Some((point.point, self.body_index(contact.indices)));
            if last == tested {
                return false;
            }
            last = tested;
            let verdict = self.verdict(contact.indices, &point, contact.normal, error);
            if verdict == EdgeVerdict::RisesBehind {
                hidden = hidden.or(Some(contact.indices));
            }
            verdict == EdgeVerdict::Counts || verdict == EdgeVerdict::Rises && is_closest(contact)
        });
        // A body behind a one-sided wall still touches the floor in front of it.
        if contacts.is_empty() {
            contacts.extend(hidden.and_then(|indices| self.contact_along_normal(indices)));
        }
    }

    /// Decides from the facets around a boundary point whether a contact at that point counts.
    pub(super) fn verdict(
        &self,
        indices: (u32, u32),
        point: &BoundaryPoint<V::DVec>,
        normal: V::DVec,
        error: f64,
    ) -> EdgeVerdict {
        let index = self.facet_index(indices);
        let mut verdict = EdgeVerdict::Counts;
        let weld = weld(&[point.point]);
        let rises = |vertices: &[V::DVec]| point.rises(vertices, normal, error, weld);
        let visit = |other| {
            if self.is_facet_hidden(other) {
                verdict = EdgeVerdict::RisesBehind;
                ControlFlow::Continue(())
            } else {
                verdict = EdgeVerdict::Rises;
                ControlFlow::Break(())
            }
        };
        self.surface()
            .search_around(index, point.weights, rises, visit);
        verdict
    }

    /// Returns the contact along the outward normal of a facet.
    fn contact_along_normal(&self, indices: (u32, u32)) -> Option<FacetContact<V::DVec>> {
        self.solve(indices, V::DVec::ZERO, |solver, _| {
            let facet = self.surface().facet(self.facet_index(indices))?;
            Some(self.plane_contact(solver, indices, &facet, facet.normal))
        })
    }
}

/// The verdict on whether a contact on a facet's boundary is a contact of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeVerdict {
    /// No facet at the point rises along the normal: the contact counts.
    Counts,
    /// A facet rises along the normal, and has a contact of its own.
    Rises,
    /// A facet rises along the normal, but every such facet is hidden.
    RisesBehind,
}
