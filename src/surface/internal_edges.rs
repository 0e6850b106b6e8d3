//! Removes contacts at edges and corners that are not local minima of the distance.
//!
//! The head of [`surface`](super) defines when a facet rises along a normal.

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
    /// Returns `true` for a ball's contact at a boundary point if an adjacent facet rises along the
    /// normal there. The ball then has a contact with the adjacent facet. Tests only adjacent
    /// facets that share vertices with the facet of the contact.
    pub(super) fn has_rising_neighbor(&self, contact: &FacetContact<V::DVec>) -> bool {
        let ContactKind::Boundary { point, error } = contact.kind else {
            return false;
        };
        // For shapes other than balls, the contacts at one point may have slightly different
        // normals. `remove_internal_contacts` tests only the first of these contacts, and always
        // removes the others.
        if error > RISE_SINE_CLOSED_FORM {
            return false;
        }
        let (facet, _) = contact.indices;
        let adjacent = Neighbors::Adjacent;
        self.verdict(facet, &point, contact.normal(), error, adjacent) == EdgeVerdict::Rises
    }

    /// Does the same as [`is_hidden`](Self::is_hidden) for a facet that is given by its index.
    fn is_facet_hidden(&self, index: u32) -> bool {
        let facet = || self.surface.facet(index);
        self.surface.is_one_sided() && facet().is_some_and(|facet| self.is_hidden(&facet))
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
            let (facet, _) = contact.indices;
            let verdict = self.verdict(facet, &point, contact.normal(), error, Neighbors::All);
            if verdict == EdgeVerdict::RisesBehind {
                hidden = hidden.or(Some(contact.indices));
            }
            verdict == EdgeVerdict::Counts || verdict == EdgeVerdict::Rises && is_closest(contact)
        });
        // A body may be behind a one-sided wall, and touch the edge of the floor in front of the
        // wall. In this case, the contact along the floor's normal remains.
        if contacts.is_empty() {
            contacts.extend(hidden.and_then(|indices| {
                let facet = self.surface.facet(indices.0)?;
                self.contact_along(indices, facet.normal)
            }));
        }
    }

    /// Decides whether a contact at a boundary point of a facet counts. `error` is the greatest
    /// error of the normal, as the sine of an angle.
    pub(super) fn verdict(
        &self,
        facet: u32,
        point: &BoundaryPoint<V::DVec>,
        normal: V::DVec,
        error: f64,
        neighbors: Neighbors,
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
        let surface = self.surface;
        match neighbors {
            Neighbors::Adjacent => {
                let _ = surface.search_adjacent(facet, point.weights, rises, visit);
            }
            Neighbors::All => surface.search_around(facet, point.weights, rises, visit),
        }
        verdict
    }
}

/// The facets at a boundary point that decide whether a contact counts.
#[derive(Clone, Copy, Debug)]
pub enum Neighbors {
    /// The facets that share vertices with the facet of the contact.
    Adjacent,
    /// All facets that contain the point.
    All,
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
