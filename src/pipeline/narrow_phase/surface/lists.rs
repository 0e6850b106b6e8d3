//! Working lists, kept from pair to pair to save allocations.

use core::ops::Range;

use crate::{
    buffer::{Buffer, Reclaim},
    pipeline::narrow_phase::surface::{body_part::NearFacet, escape::Node, touch::Touch},
    shape::BoundaryPoint,
    space::Space,
};

/// Working lists of one pair.
pub struct Lists<V: Space> {
    /// All touches, before rims are judged.
    pub touches: Buffer<Touch<V::DVec>>,
    /// The facets near each part of the body that touches, one part after the other.
    pub near: Buffer<NearFacet<V::DVec>>,
    pub rims: Buffer<(BoundaryPoint<V::DVec>, usize)>,
    /// Groups of equal rims, each with its rank and its range in `rims`.
    pub corners: Buffer<(f64, Range<usize>)>,
    pub candidates: Buffer<Touch<V::DVec>>,
    pub nodes: Buffer<Node<V::DVec>>,
    /// For a touch, the range of the candidates that clear its facet.
    pub clearing: Buffer<((u32, u32), Range<usize>)>,
}

impl<V: Space> Default for Lists<V> {
    fn default() -> Self {
        Self {
            touches: Buffer::default(),
            near: Buffer::default(),
            rims: Buffer::default(),
            corners: Buffer::default(),
            candidates: Buffer::default(),
            nodes: Buffer::default(),
            clearing: Buffer::default(),
        }
    }
}

impl<V: Space> Lists<V> {
    /// Clears the lists, and copies the touches.
    pub fn begin(&mut self, touches: &[Touch<V::DVec>]) {
        self.clear();
        self.touches.extend_from_slice(touches);
        self.touches.note();
    }

    fn clear(&mut self) {
        self.touches.clear();
        self.near.clear();
        self.rims.clear();
        self.corners.clear();
        self.candidates.clear();
        self.nodes.clear();
        self.clearing.clear();
    }

    /// Shrinks the lists.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.clear();
        self.touches.reclaim(reclaim);
        self.near.reclaim(reclaim);
        self.rims.reclaim(reclaim);
        self.corners.reclaim(reclaim);
        self.candidates.reclaim(reclaim);
        self.nodes.reclaim(reclaim);
        self.clearing.reclaim(reclaim);
    }
}
