//! The facets near a body. If few facets are near, each of them is placed once for most steps of a
//! contact, when a step first needs it. If many facets are near, most steps need few of them.

use core::cell::OnceCell;

use crate::{placed::ClusteredFacet, space::DVector};

/// If more facets are near, none of them is kept, and the tree of the surface finds the facets at a
/// point.
const MAX_KEPT: usize = 64;

/// The facets near a body, or nothing if too many facets are near.
#[derive(Default)]
pub struct NearFacets<D: DVector> {
    /// In ascending order.
    indices: Vec<u32>,
    /// A facet without a normal is `None`.
    placed: Vec<OnceCell<Option<ClusteredFacet<D>>>>,
}

impl<D: DVector> NearFacets<D> {
    /// Replaces the facets. `near` lists pairs of a facet and a part of the body.
    pub fn set(&mut self, near: &[(u32, u32)]) {
        self.indices.clear();
        self.placed.clear();
        let groups = near.chunk_by(|(a, _), (b, _)| a == b);
        let indices = groups.filter_map(|group| Some(group.first()?.0));
        self.indices.extend(indices.take(MAX_KEPT + 1));
        if self.indices.len() > MAX_KEPT {
            self.indices.clear();
        }
        self.indices.sort_unstable();
        self.placed.resize_with(self.indices.len(), OnceCell::new);
    }

    /// Returns the indices of the facets.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Returns a near facet that is kept. The facet is placed when `get_or_init` is called.
    pub fn get(&self, index: u32) -> Option<&OnceCell<Option<ClusteredFacet<D>>>> {
        self.placed.get(self.indices.binary_search(&index).ok()?)
    }
}
