//! The facets of a placed surface. `surface/` and `collider_query/` call [`PlacedCollider::facet`]
//! for each facet near a body.

use crate::{
    placed::PlacedCollider,
    shape::{Compound, Facet, FacetVertices, Support, Surface, has_area},
    space::{DVector, Space},
};

/// A facet in the world's axes, relative to the translation of its surface, with its cluster.
pub struct ClusteredFacet<D: DVector> {
    pub facet: Facet<D>,
    /// See [`PlacedCollider::cluster`].
    pub cluster: u32,
    /// See [`PlacedCollider::rims`].
    pub rims: u8,
    /// `true` if the facet has an area.
    pub has_area: bool,
}

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
        let squared: f64 = V::DVec::columns(linear).map(DVector::length_squared).sum();
        Some(compound.size() * (squared / V::DVec::DIMENSION as f64).sqrt())
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

    /// Returns a facet with its cluster and its rims.
    pub fn clustered_facet(&self, index: u32) -> Option<ClusteredFacet<V::DVec>> {
        let (vertices, cluster, rims) = self.surface()?.1.clustered_facet(index)?;
        let (cluster, rims) = match self.world_pose.factor() {
            Some(_) => (cluster, rims),
            None => (index, u8::MAX),
        };
        Some(ClusteredFacet {
            has_area: has_area::<V>(&vertices),
            facet: self.mapped(vertices)?,
            cluster,
            rims,
        })
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
}
