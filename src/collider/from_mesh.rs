//! Colliders of Bevy's meshes. The only file that reads their attributes and indices, which move between releases.

use bevy::mesh::{Indices, Mesh, PrimitiveTopology, VertexAttributeValues};

use crate::{
    Collider,
    math::{Triangle2d, Vec2, Vec3},
    shape::{MeshError, ShapeError},
};

/// With the feature `mesh`. All of these read the mesh as it is in the asset: morph targets and skins do not move its
/// vertices. [`ColliderFromMesh`] does it for an entity, as soon as its mesh has loaded.
impl Collider {
    /// The convex hull of all vertices of a mesh, whatever its topology: [`convex_hull`](Self::convex_hull) of them.
    ///
    /// ```
    /// use bevy::{mesh::Mesh, prelude::Torus};
    /// use headbutt::Collider;
    ///
    /// let mesh = Mesh::from(Torus::default());
    /// let without_hole = Collider::convex_hull_from_mesh(&mesh).unwrap();
    /// assert!(!without_hole.is_inert());
    /// ```
    ///
    /// # Errors
    ///
    /// [`ShapeError::Mesh`] for a mesh whose positions cannot be read, and the errors of [`convex_hull`](Self::convex_hull).
    pub fn convex_hull_from_mesh(mesh: &Mesh) -> Result<Self, ShapeError> {
        Self::convex_hull(positions(mesh)?.iter().copied().map(Vec3::from_array))
    }

    /// The convex hull of all vertices of a mesh in 2D: of their x and y.
    ///
    /// ```
    /// use bevy::{mesh::Mesh, prelude::Annulus};
    /// use headbutt::Collider;
    ///
    /// let mesh = Mesh::from(Annulus::new(1.0, 2.0));
    /// let without_hole = Collider::convex_hull_from_mesh_2d(&mesh).unwrap();
    /// assert!(!without_hole.is_inert());
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`convex_hull_from_mesh`](Self::convex_hull_from_mesh). The z of a vertex is not looked at.
    pub fn convex_hull_from_mesh_2d(mesh: &Mesh) -> Result<Self, ShapeError> {
        Self::convex_hull(positions(mesh)?.iter().copied().map(flat))
    }

    /// The surface of a mesh: a [`trimesh`](Self::trimesh) of its triangles. They may be in a list or a strip, with numbers
    /// of 16 or 32 bits or without any. The event's [`part`](crate::CollisionEvent::part) is the number of the triangle in
    /// the mesh.
    ///
    /// ```
    /// use bevy::{mesh::Mesh, prelude::Torus};
    /// use headbutt::Collider;
    ///
    /// let mesh = Mesh::from(Torus::default());
    /// let with_hole = Collider::trimesh_from_mesh(&mesh).unwrap().one_sided();
    /// assert!(!with_hole.is_inert());
    /// ```
    ///
    /// What a list has beyond a multiple of 3 is left out, and the greatest number (65,535 of 16 bits) begins a strip anew,
    /// both as on the graphics card.
    ///
    /// # Errors
    ///
    /// [`ShapeError::Mesh`] for a mesh that cannot be read, or that is made of points or lines, and the errors of
    /// [`trimesh`](Self::trimesh).
    pub fn trimesh_from_mesh(mesh: &Mesh) -> Result<Self, ShapeError> {
        let vertices = positions(mesh)?;
        let triangles = triangles(mesh, vertices.len())?;
        Self::trimesh(vertices.iter().copied().map(Vec3::from_array), triangles)
    }

    /// The area of a mesh in 2D: a [`compound`](Self::compound) of its triangles, of their x and y. In the plane a mesh is
    /// solid, and may be concave.
    ///
    /// ```
    /// use bevy::{mesh::Mesh, prelude::Annulus};
    /// use headbutt::Collider;
    ///
    /// let mesh = Mesh::from(Annulus::new(1.0, 2.0));
    /// let with_hole = Collider::compound_from_mesh_2d(&mesh).unwrap();
    /// assert!(!with_hole.is_inert());
    /// ```
    ///
    /// The event's [`part`](crate::CollisionEvent::part) is the number of the triangle among those that have an area: others
    /// join the rows of a strip, and are left out. The contact is that of the deepest triangle, so that deep in the area it may
    /// lead out of that triangle into the next one; for a convex mesh the
    /// [hull](Self::convex_hull_from_mesh_2d) is better and cheaper, and for a ground a [`polyline`](Self::polyline).
    ///
    /// # Errors
    ///
    /// [`ShapeError::Mesh`] for a mesh that cannot be read, or that is made of points or lines;
    /// [`ShapeError::NoFacets`] without triangles that have an area, [`ShapeError::VertexOutOfRange`] for a number that is too
    /// large, [`ShapeError::NotFinite`] for a corner that is NaN or infinite. The z of a vertex is not looked at.
    pub fn compound_from_mesh_2d(mesh: &Mesh) -> Result<Self, ShapeError> {
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
        Self::compound(parts)
    }
}

fn flat([x, y, _]: [f32; 3]) -> Vec2 {
    Vec2::new(x, y)
}

/// Whether the corners are not in a line. What is no number counts as area, so that its error is seen.
fn has_area(triangle: &Triangle2d) -> bool {
    let [a, b, c] = triangle.vertices.map(|vertex| vertex.as_dvec2());
    (b - a).perp_dot(c - a) != 0.0
}

fn positions(mesh: &Mesh) -> Result<&[[f32; 3]], MeshError> {
    // The accessors without `try_` panic where the data has gone to the render world.
    match mesh.try_attribute_option(Mesh::ATTRIBUTE_POSITION) {
        Err(_) => Err(MeshError::NotInMainWorld),
        Ok(None) => Err(MeshError::NoPositions),
        Ok(Some(VertexAttributeValues::Float32x3(positions))) => Ok(positions),
        Ok(Some(_)) => Err(MeshError::PositionFormat),
    }
}

/// The triangles by the numbers of their vertices, which may be too large. (`Mesh::triangles` demands indices, passes over
/// those that are too large, and knows no strip that begins anew.)
fn triangles(mesh: &Mesh, vertices: usize) -> Result<Vec<[u32; 3]>, MeshError> {
    let indices = mesh
        .try_indices_option()
        .map_err(|_| MeshError::NotInMainWorld)?;
    let (numbers, restart): (Vec<u32>, u32) = match indices {
        None => {
            let count = u32::try_from(vertices).unwrap_or(u32::MAX);
            ((0..count).collect(), u32::MAX)
        }
        Some(Indices::U16(numbers)) => {
            let numbers = numbers.iter().copied().map(u32::from);
            (numbers.collect(), u16::MAX.into())
        }
        Some(Indices::U32(numbers)) => (numbers.clone(), u32::MAX),
    };
    match mesh.primitive_topology() {
        PrimitiveTopology::TriangleList => Ok(numbers.as_chunks().0.to_vec()),
        PrimitiveTopology::TriangleStrip => {
            let runs = numbers.split(|number| *number == restart);
            Ok(runs.flat_map(strip).collect())
        }
        _ => Err(MeshError::NoTriangles),
    }
}

/// Each vertex makes a triangle with the two before it; every other one runs backwards, and is turned, so that all have
/// their outer side on the same side.
fn strip(numbers: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    let windows = numbers.array_windows().enumerate();
    windows.map(|(index, &[a, b, c])| if index % 2 == 0 { [a, b, c] } else { [b, a, c] })
}
