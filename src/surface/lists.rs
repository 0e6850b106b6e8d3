//! Lists that are reused for each pair, to save allocations.

use core::ops::Range;

use crate::{
    shape::{BoundaryPoint, NearCells},
    space::{Space, translation_search::TranslationSearch},
    surface::{
        body_part::NearFacet, cells::CellContacts, facet_contact::FacetContact,
        near_facets::NearFacets, obstacle_search::ObstacleLists, proven::ProofLists,
    },
};

/// The lists that are reused for each pair.
#[derive(Default)]
pub struct PushOutLists<V: Space> {
    /// The solid cells near the body.
    pub cells: NearCells,
    /// The contacts of the body with these cells.
    pub cell_contacts: CellContacts<V::DVec>,
    /// The facets near the body.
    pub near_facets: NearFacets<V::DVec>,
    /// The contacts of the body with the facets, which include the contacts that
    /// `remove_internal_contacts` removes.
    pub contacts: Vec<FacetContact<V::DVec>>,
    /// The facets near the touching parts of the body, in one range for each part.
    pub near: Vec<NearFacet<V::DVec>>,
    /// The lists of the search for a body that consists of boxes and polygons.
    pub obstacles: ObstacleLists<V>,
    /// The lists of the proof for a convex body.
    pub proof: ProofLists<V>,
    /// The boundary points near a part of the body, each with the position of its facet in the list
    /// of the part's near facets.
    pub boundary_points: Vec<(BoundaryPoint<V::DVec>, usize)>,
    /// The groups of equal boundary points, each with its estimated depth and its range in
    /// `boundary_points`.
    pub fans: Vec<(f64, Range<usize>)>,
    /// The planes, edges and corners that a push-out may clear.
    pub candidates: Vec<FacetContact<V::DVec>>,
    /// The search for a translation that clears several candidates. The label of a plane is the
    /// index of its candidate.
    pub search: TranslationSearch<V::DVec, usize>,
    /// The indices of a touched facet and a part of the body, and the range of the candidates that
    /// clear the facet.
    pub clearing: Vec<((u32, u32), Range<usize>)>,
}

impl<V: Space> PushOutLists<V> {
    /// Clears the lists for a new pair, and copies the contacts of this pair.
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
