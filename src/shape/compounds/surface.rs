//! Surfaces of facets: polylines of segments in 2D, meshes of triangles in 3D.
//!
//! `collider/compound.rs` calls [`MeshSurface::new`] for each new mesh. `placed/facets.rs` calls
//! [`Surface::facet_vertices`] for each facet near a body.
//!
//! `surface/mod.rs` defines contacts with surfaces. Only the set of points on the facets matters.
//! So facets may be repeated, have either winding, share an edge with several facets, or have a
//! vertex inside another facet's edge. Any affine map may transform the surface.
//!
//! Facets need not share vertices, because the bounding volume hierarchy finds the facets at a
//! point.

use crate::{
    shape::{
        Bounds, Shape, ShapeError,
        cells::{
            cell_surface::CellSurface,
            exposed_faces::FaceCluster,
            grid::{CellGrid, CellPosition},
            pieces::CELL_ROUNDING,
        },
        compounds::clusters::Clusters,
        elements::facet::{
            FacetIndices, FacetVertices, facet_indices, facet_name, facet_vertices, has_area,
        },
        joined::parts::{JoinedParts, MAX_TOLERANCE, PosedShapes},
    },
    space::{DVector, Space},
};

/// The facets of a polyline, a mesh, or a union of cells or parts.
pub enum Surface<V: Space> {
    Mesh(MeshSurface<V>),
    Cells(CellSurface<V>),
}

/// A convex element of a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SolidElement {
    Cell(CellPosition),
    /// The index of a part.
    Part(u32),
}

/// The facets of a polyline, a mesh or a union of parts.
pub struct MeshSurface<V: Space> {
    vertices: Box<[V]>,
    facets: Box<[FacetIndices]>,
    clusters: Clusters,
    height_tolerance: f64,
    /// The parts, if the facets are the exposed faces of their union. Few surfaces have parts.
    parts: Option<Box<JoinedParts<V>>>,
}

impl<V: Space> Surface<V> {
    /// Returns the cells if the facets are the exposed faces of a union of cells.
    pub fn cells(&self) -> Option<&CellSurface<V>> {
        match self {
            Self::Mesh(_) => None,
            Self::Cells(cells) => Some(cells),
        }
    }

    /// Returns the grid if the facets are the exposed faces of a union of cells.
    pub fn grid(&self) -> Option<&CellGrid<V>> {
        self.cells().map(CellSurface::grid)
    }

    /// Returns the parts if the facets are the exposed faces of a union of parts.
    pub fn joined_parts(&self) -> Option<&JoinedParts<V>> {
        match self {
            Self::Mesh(mesh) => mesh.parts.as_deref(),
            Self::Cells(_) => None,
        }
    }

    /// Returns `true` if the facets are the exposed faces of a union.
    pub fn is_solid(&self) -> bool {
        self.cells().is_some() || self.joined_parts().is_some()
    }

    /// Returns the element of the union that has a facet.
    pub fn element_of_facet(&self, index: u32) -> Option<SolidElement> {
        match self {
            Self::Mesh(mesh) => {
                let part = mesh.parts.as_ref()?.part_of_facet(index);
                part.map(SolidElement::Part)
            }
            Self::Cells(cells) => Some(SolidElement::Cell(cells.facet(index)?.cell())),
        }
    }

    /// Returns an element of the union that contains a point in the frame of the surface. Points
    /// that are outside by at most the rounding of vertices count as inside if `is_rounded`.
    pub fn element_around(&self, point: V::DVec, is_rounded: bool) -> Option<SolidElement> {
        match self {
            Self::Mesh(mesh) => {
                let tolerance = if is_rounded { MAX_TOLERANCE } else { 0.0 };
                let part = mesh.parts.as_ref()?.part_around(point, tolerance);
                part.map(SolidElement::Part)
            }
            Self::Cells(cells) => {
                let grid = cells.grid();
                let size = grid.cell_size().to_f64();
                // Most rays begin outside the box around all faces, which encloses all cells. The
                // box grows by at least the tolerance below.
                let near = cells.faces().bounds();
                let near = near.grown(CELL_ROUNDING * (point.extent() + size.extent()));
                if !near.overlaps(&Bounds::at(point)) {
                    return None;
                }
                let position = grid.cell_around(point, is_rounded);
                position.map(SolidElement::Cell)
            }
        }
    }

    /// Returns a bound on the extents of the vertices of the facets at a point of the union.
    pub fn extent_around(&self, point: V::DVec) -> f64 {
        let of_element = match (self, self.element_around(point, true)) {
            (Self::Cells(cells), _) => cells.grid().cell_size().to_f64().extent() + point.extent(),
            (Self::Mesh(mesh), Some(SolidElement::Part(part))) => {
                mesh.parts.as_ref().map_or(0.0, |parts| parts.extent(part))
            }
            _ => 0.0,
        };
        of_element.max(point.extent())
    }

    /// Returns the number of facets.
    pub fn len(&self) -> usize {
        match self {
            Self::Mesh(mesh) => mesh.facets.len(),
            Self::Cells(cells) => cells.len(),
        }
    }

    /// Returns the vertices.
    pub fn vertices(&self) -> &[V] {
        match self {
            Self::Mesh(mesh) => &mesh.vertices,
            Self::Cells(cells) => &cells.lists().0,
        }
    }

    /// Returns the vertex indices of all facets.
    pub fn facets(&self) -> &[FacetIndices] {
        match self {
            Self::Mesh(mesh) => &mesh.facets,
            Self::Cells(cells) => &cells.lists().1,
        }
    }

    /// Returns the vertex indices of each facet: two in 2D, three in 3D.
    pub fn facet_indices(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        let facets = self.facets().iter();
        facets.map(|facet| facet.get(..V::DVec::DIMENSION).unwrap_or_default())
    }

    /// Returns a facet as a shape, or `None` if its area is zero.
    pub fn facet(&self, index: u32) -> Option<Shape<V>> {
        if !has_area::<V>(&self.facet_vertices(index)?) {
            return None;
        }
        let [a, b, c] = self.corners(index)?;
        Some(if V::DVec::DIMENSION == 2 {
            Shape::Segment([a, b])
        } else {
            Shape::Triangle([a, b, c])
        })
    }

    /// Returns the vertices of a facet.
    #[inline]
    pub fn facet_vertices(&self, index: u32) -> Option<FacetVertices<V::DVec>> {
        match self {
            Self::Mesh(mesh) => facet_vertices(&mesh.vertices, mesh.facets.get(index as usize)?),
            Self::Cells(cells) => Some(cells.facet(index)?.vertices()),
        }
    }

    /// Returns the index of a facet's cluster. The facets of a cluster are in one plane.
    pub fn cluster(&self, facet: u32) -> Option<u32> {
        match self {
            Self::Mesh(mesh) => mesh.clusters.of(facet),
            Self::Cells(cells) => cells.cluster(facet),
        }
    }

    /// Returns the mask of a facet's sides on the boundary of the facet's cluster: see
    /// [`Clusters::rims`].
    pub fn rims(&self, facet: u32) -> u8 {
        match self {
            Self::Mesh(mesh) => mesh.clusters.rims(facet),
            Self::Cells(cells) => cells.facet(facet).map_or(u8::MAX, |facet| facet.rims),
        }
    }

    /// Returns the vertices of a facet, its cluster and its rims.
    pub fn clustered_facet(&self, facet: u32) -> Option<(FacetVertices<V::DVec>, u32, u8)> {
        match self {
            Self::Mesh(_) => Some((
                self.facet_vertices(facet)?,
                self.cluster(facet)?,
                self.rims(facet),
            )),
            Self::Cells(cells) => cells.clustered_facet(facet),
        }
    }

    /// Returns vertices that span the plane of a facet's cluster, or `None` if the cluster has a
    /// single facet.
    pub fn plane_vertices(&self, facet: u32) -> Option<FacetVertices<V::DVec>> {
        match self {
            Self::Mesh(mesh) => {
                let plane = mesh.clusters.plane(mesh.clusters.of(facet)?)?;
                facet_vertices(&mesh.vertices, plane)
            }
            // Rounding does not tilt the faces of cells, so each facet spans the plane.
            Self::Cells(cells) => {
                let facet = cells.facet(facet)?;
                (facet.cluster != FaceCluster::Single).then(|| facet.vertices())
            }
        }
    }

    /// Returns the vertices of a facet. In 2D, the third vertex has no meaning.
    #[inline(always)]
    pub fn corners(&self, index: u32) -> Option<[V; 3]> {
        match self {
            Self::Mesh(mesh) => mesh.corners(index),
            Self::Cells(cells) => Some(*cells.facet(index)?.corners()),
        }
    }

    /// Returns a height that is negligible for the whole surface. The height is a small fraction of
    /// the surface's size, but at least the resolution of `f32` at the farthest vertex.
    pub fn height_tolerance(&self) -> f64 {
        match self {
            Self::Mesh(mesh) => mesh.height_tolerance,
            Self::Cells(cells) => {
                let Bounds { min, max } = cells.faces().bounds();
                height_tolerance([min, max].into_iter())
            }
        }
    }
}

impl<V: Space> MeshSurface<V> {
    /// Builds a surface of facets. Each facet is given by the indices of its vertices.
    pub fn new(vertices: Box<[V]>, facets: Box<[FacetIndices]>) -> Result<Self, ShapeError> {
        ShapeError::check_points("vertex", &vertices)?;
        let count = vertices.len();
        let is_missing = |index: &u32| *index as usize >= count;
        if let Some(index) = facets.iter().flat_map(facet_indices::<V>).find(is_missing) {
            return Err(ShapeError::VertexOutOfRange { index, count });
        }
        let positions = |facet: &FacetIndices| facet_vertices(&vertices, facet);
        let mut with_positions = facets.iter().filter_map(positions);
        // Nothing can touch a surface of zero area, so such a surface must be a mistake.
        if !with_positions.any(|it| has_area::<V>(&it)) {
            return Err(ShapeError::NoFacets(facet_name::<V>()));
        }
        Ok(Self {
            clusters: Clusters::new(&vertices, &facets),
            height_tolerance: height_tolerance(facets.iter().filter_map(positions).flatten()),
            vertices,
            facets,
            parts: None,
        })
    }

    /// Builds the surface of the union of convex parts, which have no margins.
    pub fn of_parts(shapes: PosedShapes<V>) -> Result<Self, ShapeError> {
        let (parts, faces) = JoinedParts::new(shapes)?;
        let surface = Self::new(faces.vertices.into(), faces.facets.into())?;
        Ok(Self {
            parts: Some(Box::new(parts)),
            ..surface
        })
    }

    /// Returns the clusters of facets in one plane.
    pub fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// Returns the vertices of a facet. In 2D, the third vertex has no meaning.
    #[inline(always)]
    fn corners(&self, index: u32) -> Option<[V; 3]> {
        let [a, b, c] = *self.facets.get(index as usize)?;
        let vertex = |index: u32| self.vertices.get(index as usize).copied();
        let (a, b) = (vertex(a)?, vertex(b)?);
        let c = if V::DVec::DIMENSION == 2 {
            b
        } else {
            vertex(c)?
        };
        Some([a, b, c])
    }
}

/// Computes [`Surface::height_tolerance`].
fn height_tolerance<D: DVector>(points: impl Iterator<Item = D>) -> f64 {
    let Bounds { min, max } = Bounds::of_points(points);
    let greatest = |vector: D| vector.components().into_iter().fold(0.0, f64::max);
    let (size, far) = (greatest(max - min), greatest(max.max(-min)));
    (1e-6 * size).max(f64::from(f32::EPSILON) * far)
}
