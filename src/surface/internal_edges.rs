//! Removes contacts at edges and corners that are not local minima of the distance.
//!
//! The head of [`surface`](super) defines when a facet rises along a normal.

use core::ops::ControlFlow;

use crate::{
    shape::{BoundaryPoint, Facet, weld},
    space::{DVector, Space},
    surface::{
        facet_contact::{ContactKind, FacetContact, RISE_SINE_CLOSED_FORM},
        surface_pair::SurfacePair,
    },
};

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Returns `true` for a ball's contact at a boundary point if another facet rises along the
    /// normal there. The ball then has a contact with this facet.
    pub(super) fn has_rising_neighbor(&self, contact: &FacetContact<V::DVec>) -> bool {
        let ContactKind::Boundary { point, error } = contact.kind else {
            return false;
        };
        // For shapes other than balls, the contacts at one point may have slightly different
        // normals. `remove_internal_contacts` tests only the first of these contacts, and always
        // removes the others.
        error <= RISE_SINE_CLOSED_FORM && self.verdict(contact, &point, error) == EdgeVerdict::Rises
    }

    /// Removes contacts at edges and corners that are not local minima of the distance. Of the
    /// contacts of one part at one point, at most one remains.
    pub(super) fn remove_internal_contacts(&self, contacts: &mut Vec<FacetContact<V::DVec>>) {
        // Facets that share a point have contacts at the same point. After sorting, the contacts of
        // one part at one point are adjacent, so that only the first of these contacts is tested.
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
        // If the body's core overlaps no facet, the deepest contact is a local minimum of the
        // distance. So this contact is kept, even if rounding makes an adjacent facet seem to rise.
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
            let verdict = self.verdict(contact, &point, error);
            if verdict == EdgeVerdict::RisesBehind {
                hidden = hidden.or(Some(contact.indices));
            }
            verdict == EdgeVerdict::Counts || verdict == EdgeVerdict::Rises && is_closest(contact)
        });
        // A body may be behind a one-sided wall, and touch the edge of the floor in front of the
        // wall. In this case, the contact along the floor's normal remains.
        if contacts.is_empty() {
            contacts.extend(hidden.and_then(|indices| {
                let normal = self.facet(indices.0)?.normal;
                self.contact_along(indices, normal)
            }));
        }
    }

    /// Decides whether a contact at a boundary point of its facet counts. `error` is the greatest
    /// error of the normal, as the sine of an angle.
    pub(super) fn verdict(
        &self,
        contact: &FacetContact<V::DVec>,
        point: &BoundaryPoint<V::DVec>,
        error: f64,
    ) -> EdgeVerdict {
        let mut verdict = EdgeVerdict::Counts;
        let (weld, normal) = (weld(&[point.point]), contact.normal());
        let rises = |facet: &Facet<V::DVec>| point.rises(facet.vertices(), normal, error, weld);
        self.visit_at((point.point, contact.weld), rises, |_, facet| {
            if self.is_hidden(facet) {
                verdict = EdgeVerdict::RisesBehind;
                return ControlFlow::Continue(());
            }
            verdict = EdgeVerdict::Rises;
            ControlFlow::Break(())
        });
        verdict
    }
}

/// The decision whether a contact at an edge or a corner counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeVerdict {
    /// The contact counts, because no facet at the point rises along the normal.
    Counts,
    /// The contact does not count, because a visible facet rises along the normal.
    Rises,
    /// The contact does not count, because a hidden facet rises along the normal, and no visible
    /// facet does.
    RisesBehind,
}
