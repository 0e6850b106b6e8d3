//! Why a Bevy mesh makes no collider.

/// Why no collider can be made of a Bevy `Mesh`, before its shape is even looked at: in
/// [`ShapeError::Mesh`](crate::ShapeError::Mesh). What is wrong with its points, or with the numbers of its vertices, is a
/// [`ShapeError`](crate::ShapeError) like that of any other shape.
///
/// With the feature `mesh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// An entity with a [`ColliderFromMesh`](crate::ColliderFromMesh) has neither a `Mesh3d` nor a `Mesh2d`, and none is
    /// given. (The meshes of a loaded scene are on entities of their own, below the one that was spawned.)
    #[error("its entity has neither a Mesh3d nor a Mesh2d to make it of")]
    Missing,
    /// The vertices of the mesh are, or soon will be, in the render world only.
    #[error(
        "the vertices of its mesh go to the render world: the mesh needs RenderAssetUsages::MAIN_WORLD"
    )]
    NotInMainWorld,
    /// The mesh has no attribute `Mesh::ATTRIBUTE_POSITION`.
    #[error("its mesh has no positions")]
    NoPositions,
    /// The positions of the mesh are there, but not as `Float32x3`.
    #[error("the positions of its mesh are not Float32x3")]
    PositionFormat,
    /// The mesh is made of points or lines, and triangles are asked for. (A hull can be made of it.)
    #[error("its mesh is neither a triangle list nor a triangle strip")]
    NoTriangles,
}
