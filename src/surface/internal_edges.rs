//! Decides which contacts on the boundaries of facets are contacts of the surface.

use core::ops::ControlFlow;

use crate::{
    shape::{BoundaryPoint, weld},
    space::{DVector, Space},
    surface::{
        facet_contact::{ContactKind, FacetContact, RISE_SINE_CLOSED_FORM},
        surface_pair::SurfacePair,
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
        if error > RISE_SINE_CLOSED_FORM {
            return false;
        }
        let weld = weld(&[point.point]);
        let rises = |vertices: &[V::DVec]| point.rises(vertices, contact.normal, error, weld);
        let visit = |other| {
            if self.is_facet_hidden(other) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let (facet, _) = contact.indices;
        let found = self
            .surface
            .search_adjacent(facet, point.weights, rises, visit);
        found.is_break()
    }

    /// Like [`is_hidden`](Self::is_hidden), for a facet given by its index.
    fn is_facet_hidden(&self, index: u32) -> bool {
        let facet = || self.surface.facet(index);
        self.surface.is_one_sided() && facet().is_some_and(|facet| self.is_hidden(&facet))
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
            let parts = a.indices.1.cmp(&b.indices.1);
            positions.then(parts).then_with(|| self.order(a, b))
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
            let tested = Some((point.point, contact.indices.1));
            if last == tested {
                return false;
            }
            last = tested;
            let verdict = self.verdict(contact.indices.0, &point, contact.normal, error);
            if verdict == EdgeVerdict::RisesBehind {
                hidden = hidden.or(Some(contact.indices));
            }
            verdict == EdgeVerdict::Counts || verdict == EdgeVerdict::Rises && is_closest(contact)
        });
        // A body behind a one-sided wall still touches the floor in front of it.
        if contacts.is_empty() {
            contacts.extend(hidden.and_then(|indices| {
                let facet = self.surface.facet(indices.0)?;
                self.contact_along(indices, facet.normal)
            }));
        }
    }

    /// Decides from the facets around a boundary point whether a contact at that point counts.
    pub(super) fn verdict(
        &self,
        facet: u32,
        point: &BoundaryPoint<V::DVec>,
        normal: V::DVec,
        error: f64,
    ) -> EdgeVerdict {
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
        self.surface
            .search_around(facet, point.weights, rises, visit);
        verdict
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
