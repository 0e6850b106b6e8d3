//! The facets of a placed surface. `surface/` and `collider_query/` call [`PlacedCollider::facet`]
//! for each facet near a body.

use core::ops::ControlFlow;

use crate::{
    placed::PlacedCollider,
    shape::{Compound, Facet, FacetVertices, Support, Surface, weld},
    space::{DVector, Space},
};

impl<V: Space> PlacedCollider<V> {
    /// Returns the scaled margin around the facets of a surface. Returns `None` if the scale
    /// stretches a nonzero margin differently along the axes.
    pub fn facet_radius(&self) -> Option<f64> {
        let margin = self.surface()?.0.radius();
        match self.world_pose.factor() {
            Some(factor) => Some(margin * factor),
            None => (margin == 0.0).then_some(0.0),
        }
    }

    /// Returns the size of a surface: the longest side of its local bounding box, times the root
    /// mean square of the scale.
    pub fn surface_size(&self) -> Option<f64> {
        let (compound, _) = self.surface()?;
        let linear = self.world_pose.linear();
        let columns = (0..V::DVec::DIMENSION).map(|axis| V::DVec::column(linear, axis));
        let squared = columns.map(DVector::length_squared).sum::<f64>() / V::DVec::DIMENSION as f64;
        Some(compound.size() * squared.sqrt())
    }

    /// Returns the surface and its compound, or `None` if the shape is not a surface.
    pub(super) fn surface(&self) -> Option<(&Compound<V>, &Surface<V>)> {
        let compound = self.compound()?;
        Some((compound, compound.surface()?))
    }

    /// Returns a facet of a surface in the world's axes, relative to the collider's translation.
    pub fn facet(&self, index: u32) -> Option<Facet<V::DVec>> {
        self.mapped(self.facet_vertices(index)?)
    }

    /// Returns the vertices of a facet in the frame of the surface.
    pub fn facet_vertices(&self, index: u32) -> Option<FacetVertices<V::DVec>> {
        self.surface()?.1.facet_vertices(index)
    }

    /// Returns a facet that spans the plane of a facet's cluster, in the world's axes, relative to
    /// the collider's translation. Returns `None` if the cluster has a single facet.
    pub fn cluster_plane(&self, facet: u32) -> Option<Facet<V::DVec>> {
        self.mapped(self.plane_vertices(facet)?)
    }

    /// Returns vertices that span the plane of a facet's cluster, in the frame of the surface.
    /// Returns `None` if the cluster has a single facet.
    pub fn plane_vertices(&self, facet: u32) -> Option<FacetVertices<V::DVec>> {
        self.clustered_surface()?.plane_vertices(facet)
    }

    /// Returns the facet in the world's axes, from its vertices in the frame of the surface.
    fn mapped(&self, mut vertices: FacetVertices<V::DVec>) -> Option<Facet<V::DVec>> {
        let linear = self.world_pose.linear();
        for vertex in &mut vertices {
            *vertex = linear * *vertex;
        }
        Facet::new(vertices, V::DVec::is_mirrored(linear))
    }

    /// Returns the index of a facet's cluster. The facets of a cluster are in one plane. If the
    /// scale is not uniform, each facet counts as a cluster.
    pub fn cluster(&self, facet: u32) -> Option<u32> {
        match self.clustered_surface() {
            Some(surface) => surface.cluster(facet),
            None => self.surface().map(|_| facet),
        }
    }

    /// Returns the mask of a facet's sides on the boundary of the facet's cluster. Bit i stands for
    /// the side opposite to vertex i.
    pub fn rims(&self, facet: u32) -> u8 {
        let surface = self.clustered_surface();
        surface.map_or(u8::MAX, |surface| surface.rims(facet))
    }

    /// Returns the surface if its clusters are valid, or `None` if the scale is not uniform.
    fn clustered_surface(&self) -> Option<&Surface<V>> {
        self.world_pose.factor()?;
        self.surface().map(|(_, surface)| surface)
    }

    /// Returns `true` for a surface if only the outer sides of its facets collide.
    pub fn is_one_sided(&self) -> bool {
        self.surface()
            .is_some_and(|(compound, _)| compound.is_one_sided())
    }

    /// Calls `visit` with the index of each facet that contains a point, until `visit` returns
    /// `Break`. The point is the sum of the corners of facet `index`, weighted by `weights`.
    /// `is_wanted` is called with the corners of a facet in the world's axes. Facets for which
    /// `is_wanted` returns `false` are skipped. A facet may be visited twice.
    pub fn search_around(
        &self,
        index: u32,
        weights: [f64; 3],
        is_wanted: impl Fn(&[V::DVec]) -> bool,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) {
        let is_done = self.search_adjacent(index, weights, &is_wanted, &mut visit);
        let Some((compound, surface)) = self.surface().filter(|_| is_done.is_continue()) else {
            return;
        };
        let Some(corners) = surface.facet_vertices(index) else {
            return;
        };
        let tolerance = weld(&corners);
        let point = weighted(&corners, weights);
        compound.near_point(point, tolerance, |other| {
            let contains_point = || surface.facet_contains(other, point, tolerance);
            if self.is_wanted(other, &is_wanted) && contains_point() {
                visit(other)
            } else {
                ControlFlow::Continue(())
            }
        });
    }

    /// Does the same as [`search_around`](Self::search_around), but visits only facets that share
    /// the vertices with positive weights. The function does not search the tree, so it may miss
    /// some facets. Returns `Break` if `visit` returned `Break`.
    pub fn search_adjacent(
        &self,
        index: u32,
        weights: [f64; 3],
        is_wanted: impl Fn(&[V::DVec]) -> bool,
        visit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((_, surface)) = self.surface() else {
            return ControlFlow::Continue(());
        };
        let adjacent = surface.adjacent_facets(index, weights);
        let adjacent = adjacent.into_iter();
        let mut wanted = adjacent.filter(|other| self.is_wanted(*other, &is_wanted));
        wanted.try_for_each(visit)
    }

    /// Returns the result of `is_wanted` for a facet's corners in the world's axes. Returns `false`
    /// if the facet is not a part of the compound.
    fn is_wanted(&self, index: u32, is_wanted: impl Fn(&[V::DVec]) -> bool) -> bool {
        let linear = self.world_pose.linear();
        let corners = self
            .surface()
            .filter(|(compound, _)| !compound.skips(index))
            .and_then(|(_, surface)| surface.facet_vertices(index));
        corners.is_some_and(|mut corners| {
            corners
                .iter_mut()
                .for_each(|corner| *corner = linear * *corner);
            is_wanted(&corners)
        })
    }
}

/// Returns the sum of a facet's corners times their weights.
fn weighted<D: DVector>(corners: &[D], weights: [f64; 3]) -> D {
    let terms = corners.iter().zip(weights);
    terms.fold(D::ZERO, |sum, (corner, weight)| sum + *corner * weight)
}
