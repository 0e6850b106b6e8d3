//! Working lists, kept from pair to pair to save allocations.

use core::ops::Range;

use crate::{
    shape::BoundaryPoint,
    space::{Space, translation_search::TranslationSearch},
    surface::{
        body_part::NearFacet, facet_contact::FacetContact, obstacle_search::ObstacleLists,
        proven::ProofLists,
    },
};

/// The working lists of one pair.
#[derive(Default)]
pub struct PushOutLists<V: Space> {
    /// All contacts of the body with single facets, including internal ones.
    pub contacts: Vec<FacetContact<V::DVec>>,
    /// The facets near each touching part of the body, one part after the other.
    pub near: Vec<NearFacet<V::DVec>>,
    /// The search for the push-out of a body of boxes and polygons.
    pub obstacles: ObstacleLists<V>,
    /// The proof for a convex body.
    pub proof: ProofLists<V>,
    /// Boundary points near a part of the body, each with the index of its facet in `near`.
    pub boundary_points: Vec<(BoundaryPoint<V::DVec>, usize)>,
    /// Groups of equal boundary points, each with its rank and its range in `boundary_points`.
    pub fans: Vec<(f64, Range<usize>)>,
    /// Planes, edges and corners that a translation may clear.
    pub candidates: Vec<FacetContact<V::DVec>>,
    /// The search for a translation that clears several candidates. Its planes are labelled with
    /// the indices of the candidates.
    pub search: TranslationSearch<V::DVec, usize>,
    /// For a touched facet, the range of the candidates that clear it.
    pub clearing: Vec<((u32, u32), Range<usize>)>,
}

impl<V: Space> PushOutLists<V> {
    /// Clears the lists, and copies the contacts of a new pair.
    pub fn begin(&mut self, contacts: &[FacetContact<V::DVec>]) {
        self.contacts.clear();
        self.contacts.extend_from_slice(contacts);
        self.near.clear();
        self.boundary_points.clear();
        self.fans.clear();
        self.candidates.clear();
        self.clearing.clear();
    }
}
