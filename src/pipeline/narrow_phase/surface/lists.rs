//! Working lists, kept from pair to pair to save allocations.

use core::ops::Range;

use crate::{
    buffer::{Buffer, Reclaim},
    pipeline::narrow_phase::surface::{body_part::NearFacet, facet_contact::FacetContact},
    shape::BoundaryPoint,
    space::{Space, translation_search::TranslationSearch},
};

/// The working lists of one pair.
pub struct Lists<V: Space> {
    /// All contacts of the body with single facets, including internal ones.
    pub contacts: Buffer<FacetContact<V::DVec>>,
    /// The facets near each touching part of the body, one part after the other.
    pub near: Buffer<NearFacet<V::DVec>>,
    /// Boundary points near a part of the body, each with the index of its facet in `near`.
    pub boundary_points: Buffer<(BoundaryPoint<V::DVec>, usize)>,
    /// Groups of equal boundary points, each with its rank and its range in `boundary_points`.
    pub fans: Buffer<(f64, Range<usize>)>,
    /// Planes, edges and corners that a translation may clear.
    pub candidates: Buffer<FacetContact<V::DVec>>,
    /// The search for a translation that clears several candidates. Its planes are labelled with
    /// the indices of the candidates.
    pub search: TranslationSearch<V::DVec, usize>,
    /// For a touched facet, the range of the candidates that clear it.
    pub clearing: Buffer<((u32, u32), Range<usize>)>,
}

impl<V: Space> Default for Lists<V> {
    fn default() -> Self {
        Self {
            contacts: Buffer::default(),
            near: Buffer::default(),
            boundary_points: Buffer::default(),
            fans: Buffer::default(),
            candidates: Buffer::default(),
            search: TranslationSearch::default(),
            clearing: Buffer::default(),
        }
    }
}

impl<V: Space> Lists<V> {
    /// Clears the lists, and copies the contacts of a new pair.
    pub fn begin(&mut self, contacts: &[FacetContact<V::DVec>]) {
        self.clear();
        self.contacts.extend_from_slice(contacts);
        self.contacts.note();
    }

    fn clear(&mut self) {
        self.contacts.clear();
        self.near.clear();
        self.boundary_points.clear();
        self.fans.clear();
        self.candidates.clear();
        self.clearing.clear();
    }

    /// Shrinks the lists.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.clear();
        self.contacts.reclaim(reclaim);
        self.near.reclaim(reclaim);
        self.boundary_points.reclaim(reclaim);
        self.fans.reclaim(reclaim);
        self.candidates.reclaim(reclaim);
        self.search.reclaim(reclaim);
        self.clearing.reclaim(reclaim);
    }
}
