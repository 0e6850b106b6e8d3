//! Constructors of colliders from Bevy meshes. Only this file reads mesh attributes and indices,
//! because their API changes between Bevy releases.

use bevy::mesh::{Indices, Mesh, PrimitiveTopology, VertexAttributeValues};

use crate::{
    Collider,
    math::{Triangle2d, Vec2, Vec3},
    shape::{MeshError, ShapeError},
};

/// # From meshes
///
/// These constructors require the feature `mesh`. The constructors read the vertices of the asset,
/// so morph targets and skins have no effect. [`ColliderFromMesh`](crate::ColliderFromMesh) creates
/// the collider of an entity as soon as the entity's mesh has loaded.
impl Collider {
    /// Creates the [`convex_hull`](Self::convex_hull) of all vertices of a mesh of any topology.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mesh = Mesh::from(Torus::default());
    /// let without_hole = Collider::convex_hull_from_mesh(&mesh);
    /// assert!(!without_hole.is_inert());
    /// ```
    ///
    /// [`try_convex_hull_from_mesh`](Self::try_convex_hull_from_mesh) lists the invalid inputs.
    pub fn convex_hull_from_mesh(mesh: &Mesh) -> Self {
        Self::try_convex_hull_from_mesh(mesh).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`convex_hull_from_mesh`](Self::convex_hull_from_mesh), or an error if it is
    /// invalid.
    ///
    /// ```
    /// use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology, prelude::*};
    /// use headbutt::prelude::*;
    ///
    /// let empty = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default());
    /// let error = Collider::try_convex_hull_from_mesh(&empty).unwrap_err();
    /// assert!(matches!(error, ShapeError::Mesh(_)));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`ShapeError::Mesh`] if the positions of the mesh cannot be read, and any error of
    /// [`try_convex_hull`](Self::try_convex_hull).
    pub fn try_convex_hull_from_mesh(mesh: &Mesh) -> Result<Self, ShapeError> {
        Self::try_convex_hull(positions(mesh)?.iter().copied().map(Vec3::from_array))
    }

    /// Creates the 2D [`convex_hull`](Self::convex_hull) of the x and y coordinates of all vertices
    /// of a mesh.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mesh = Mesh::from(Annulus::new(1.0, 2.0));
    /// let without_hole = Collider::convex_hull_from_mesh_2d(&mesh);
    /// assert!(!without_hole.is_inert());
    /// ```
    ///
    /// [`try_convex_hull_from_mesh_2d`](Self::try_convex_hull_from_mesh_2d) lists the invalid
    /// inputs.
    pub fn convex_hull_from_mesh_2d(mesh: &Mesh) -> Self {
        Self::try_convex_hull_from_mesh_2d(mesh).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`convex_hull_from_mesh_2d`](Self::convex_hull_from_mesh_2d), or an error if it
    /// is invalid.
    ///
    /// ```
    /// use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology, prelude::*};
    /// use headbutt::prelude::*;
    ///
    /// let empty = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default());
    /// let error = Collider::try_convex_hull_from_mesh_2d(&empty).unwrap_err();
    /// assert!(matches!(error, ShapeError::Mesh(_)));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns any error of [`try_convex_hull_from_mesh`](Self::try_convex_hull_from_mesh), except
    /// errors in the z coordinates, which are ignored.
    pub fn try_convex_hull_from_mesh_2d(mesh: &Mesh) -> Result<Self, ShapeError> {
        Self::try_convex_hull(positions(mesh)?.iter().copied().map(flat))
    }

    /// Creates the surface of a mesh: a [`trimesh`](Self::trimesh) of its triangles.
    ///
    /// The triangles may be a list or a strip, with indices of 16 or 32 bits or without indices.
    /// The event's [`part`](crate::CollisionEvent::part) is the index of the triangle in the mesh.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mesh = Mesh::from(Torus::default());
    /// let with_hole = Collider::trimesh_from_mesh(&mesh).one_sided();
    /// assert!(!with_hole.is_inert());
    /// ```
    ///
    /// As on the GPU, one or two leftover indices at the end of a list are ignored. The greatest
    /// index restarts a strip: 65,535 for 16 bits.
    ///
    /// [`try_trimesh_from_mesh`](Self::try_trimesh_from_mesh) lists the invalid inputs.
    pub fn trimesh_from_mesh(mesh: &Mesh) -> Self {
        Self::try_trimesh_from_mesh(mesh).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`trimesh_from_mesh`](Self::trimesh_from_mesh), or an error if it is invalid.
    ///
    /// ```
    /// use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology, prelude::*};
    /// use headbutt::prelude::*;
    ///
    /// let empty = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default());
    /// let error = Collider::try_trimesh_from_mesh(&empty).unwrap_err();
    /// assert!(matches!(error, ShapeError::Mesh(_)));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`ShapeError::Mesh`] if the mesh cannot be read, or consists of points or lines, and
    /// any error of [`try_trimesh`](Self::try_trimesh).
    pub fn try_trimesh_from_mesh(mesh: &Mesh) -> Result<Self, ShapeError> {
        let vertices = positions(mesh)?;
        let triangles = triangles(mesh, vertices.len())?;
        Self::try_trimesh(vertices.iter().copied().map(Vec3::from_array), triangles)
    }

    /// Creates the solid 2D area of a mesh, which may be concave: a [`compound`](Self::compound) of
    /// its triangles, projected onto the xy plane.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mesh = Mesh::from(Annulus::new(1.0, 2.0));
    /// let with_hole = Collider::compound_from_mesh_2d(&mesh);
    /// assert!(!with_hole.is_inert());
    /// ```
    ///
    /// Triangles of zero area, such as the triangles that join the rows of a strip, are omitted.
    /// The event's [`part`](crate::CollisionEvent::part) is an index into the remaining triangles.
    ///
    /// The reported contact is the contact of the most deeply penetrated triangle. Deep inside the
    /// area, the contact normal may point from this triangle into a neighbor. For a convex mesh, a
    /// [hull](Self::convex_hull_from_mesh_2d) avoids this error and takes less time. For the
    /// ground, use a [`polyline`](Self::polyline).
    ///
    /// [`try_compound_from_mesh_2d`](Self::try_compound_from_mesh_2d) lists the invalid inputs.
    pub fn compound_from_mesh_2d(mesh: &Mesh) -> Self {
        Self::try_compound_from_mesh_2d(mesh).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`compound_from_mesh_2d`](Self::compound_from_mesh_2d), or an error if it is
    /// invalid.
    ///
    /// ```
    /// use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology, prelude::*};
    /// use headbutt::prelude::*;
    ///
    /// let empty = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default());
    /// let error = Collider::try_compound_from_mesh_2d(&empty).unwrap_err();
    /// assert!(matches!(error, ShapeError::Mesh(_)));
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Mesh`](ShapeError::Mesh): the mesh cannot be read, or consists of points or lines.
    /// * [`NoFacets`](ShapeError::NoFacets): no triangle has a nonzero area.
    /// * [`VertexOutOfRange`](ShapeError::VertexOutOfRange): the index of a vertex is too large.
    /// * [`NotFinite`](ShapeError::NotFinite): the x or y of a corner is NaN or infinite.
    pub fn try_compound_from_mesh_2d(mesh: &Mesh) -> Result<Self, ShapeError> {
        let vertices = positions(mesh)?;
        let corner = |index: u32| {
            let vertex = vertices.get(index as usize).copied().map(flat);
            let count = vertices.len();
            vertex.ok_or(ShapeError::VertexOutOfRange { index, count })
        };
        let mut parts = Vec::new();
        for [a, b, c] in triangles(mesh, vertices.len())? {
            let triangle = Triangle2d::new(corner(a)?, corner(b)?, corner(c)?);
            if has_area(&triangle) {
                parts.push((Vec2::ZERO, Self::try_new(triangle)?));
            }
        }
        if parts.is_empty() {
            return Err(ShapeError::NoFacets(ShapeError::TRIANGLE));
        }
        Self::try_compound(parts)
    }
}

fn flat([x, y, _]: [f32; 3]) -> Vec2 {
    Vec2::new(x, y)
}

/// Returns `true` if the corners are not on one line. Also returns `true` if a corner is NaN, so
/// that a later check reports the NaN.
fn has_area(triangle: &Triangle2d) -> bool {
    let [a, b, c] = triangle.vertices.map(|vertex| vertex.as_dvec2());
    (b - a).perp_dot(c - a) != 0.0
}

fn positions(mesh: &Mesh) -> Result<&[[f32; 3]], MeshError> {
    // Unlike `attribute`, this accessor does not panic if the data has moved to the render world.
    match mesh.try_attribute_option(Mesh::ATTRIBUTE_POSITION) {
        Err(_) => Err(MeshError::NotInMainWorld),
        Ok(None) => Err(MeshError::NoPositions),
        Ok(Some(VertexAttributeValues::Float32x3(positions))) => Ok(positions),
        Ok(Some(_)) => Err(MeshError::PositionFormat),
    }
}

/// Returns the vertex indices of each triangle. The indices may be out of range.
///
/// `Mesh::triangles` is not used, because it requires indices, skips indices that are out of range,
/// and does not restart strips.
fn triangles(mesh: &Mesh, vertices: usize) -> Result<Vec<[u32; 3]>, MeshError> {
    let indices = mesh
        .try_indices_option()
        .map_err(|_| MeshError::NotInMainWorld)?;
    let (indices, restart): (Vec<u32>, u32) = match indices {
        None => {
            let count = u32::try_from(vertices).unwrap_or(u32::MAX);
            ((0..count).collect(), u32::MAX)
        }
        Some(Indices::U16(indices)) => {
            let indices = indices.iter().copied().map(u32::from);
            (indices.collect(), u16::MAX.into())
        }
        Some(Indices::U32(indices)) => (indices.clone(), u32::MAX),
    };
    match mesh.primitive_topology() {
        PrimitiveTopology::TriangleList => Ok(indices.as_chunks().0.to_vec()),
        PrimitiveTopology::TriangleStrip => {
            let strips = indices.split(|index| *index == restart);
            Ok(strips.flat_map(strip_triangles).collect())
        }
        _ => Err(MeshError::NoTriangles),
    }
}

/// Returns the triangles of a strip: each vertex forms a triangle with the two vertices before it.
/// Every other triangle is reversed, so that all triangles have the same winding.
fn strip_triangles(indices: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    let windows = indices.array_windows().enumerate();
    windows.map(|(number, &[a, b, c])| {
        if number % 2 == 0 {
            [a, b, c]
        } else {
            [b, a, c]
        }
    })
}
