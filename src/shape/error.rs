//! Errors from constructing shapes.

use crate::space::{DVector, Space};

/// An error from constructing a shape. [`Collider::try_new`](crate::Collider::try_new), the other
/// fallible constructors of [`Collider`](crate::Collider), and
/// [`ConvexHull::new`](crate::ConvexHull::new) return this error.
///
/// If a variant holds a text, the text names the argument or the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size or coordinate, or a support point of a custom part, is NaN or infinite.
    #[error("the {0} must be finite")]
    NotFinite(&'static str),
    /// A size is negative. (Zero is allowed, because a flat shape is valid.)
    #[error("the {0} must not be negative")]
    Negative(&'static str),
    /// A direction or a size is zero.
    #[error("the {0} must not be zero")]
    Zero(&'static str),
    /// The shape is infinite, so it cannot be rounded, extruded or made a part of a compound.
    #[error("{0} is infinite, so no other shape can contain it: make it a collider of its own")]
    Unbounded(&'static str),
    /// A convex hull has no points.
    #[error("a convex hull needs at least one point")]
    NoPoints,
    /// The shape is not convex.
    #[error("{0} is concave: use a compound of convex parts, or the convex hull of its points")]
    Concave(&'static str),
    /// A regular polygon has fewer than 3 sides, or more than 4096.
    #[error("a regular polygon must have from 3 to 4096 sides")]
    SideCount,
    /// A convex hull has too many points. The number in the variant is the limit.
    #[error("a convex hull can have at most {0} points")]
    TooManyPoints(usize),
    /// A compound has no parts.
    #[error("a compound needs at least one part")]
    NoParts,
    /// A surface has no facets, or only facets of zero area (in 2D, length). The text names the
    /// kind of facet.
    #[error("a surface needs at least one {0}")]
    NoFacets(&'static str),
    /// A part of a compound is a default [`Collider`](crate::Collider), which has no shape.
    #[error("a part of a compound is a default collider, which has no shape")]
    PartWithoutShape,
    /// Some parts of a compound, or their poses, are in 2D and others in 3D.
    #[error("the parts of a compound and their poses must all be in 2D, or all in 3D")]
    MixedDimensions,
    /// A part of a compound is a surface (a mesh, polyline or height field).
    #[error("a surface cannot be a part of a compound: give it an entity of its own")]
    SurfaceInCompound,
    /// A part of a joined compound is flat or has a curved side.
    #[error(
        "the parts of a joined compound must be boxes, polygons or hulls that have a volume, \
         without curved sides"
    )]
    PartNotPolyhedral,
    /// The parts of a joined compound have different margins.
    #[error("the parts of a joined compound must have equal margins")]
    PartMargins,
    /// The pose of a part is NaN or infinite.
    #[error("the pose of a part must be finite")]
    PoseNotFinite,
    /// The `Transform` of a part has a scale other than 1, or in 2D a rotation about x or y.
    #[error(
        "the `Transform` of a part must have scale 1, and in 2D a rotation about z: scale the \
         shape instead"
    )]
    PartTransform,
    /// In loaded data, the matrix of a part is not a rotation: its columns are not orthonormal to
    /// 12 digits, or the matrix mirrors the part.
    #[error("the rotation of a part must be orthonormal to 12 digits, and must not mirror it")]
    NotARotation,
    /// In the frame of the collider, the bounding box of a compound's part or a surface's facet
    /// exceeds the range of f32.
    #[error("the bounding box of each part or facet must be finite, and less than 3.4e38 from 0")]
    BeyondF32,
    /// A facet has a vertex index that is out of range.
    #[error(
        "vertex index {index} is out of range: the number of vertices is {count}, from index 0"
    )]
    VertexOutOfRange {
        /// The index.
        index: u32,
        /// The number of vertices.
        count: usize,
    },
    /// The number of heights is not a multiple of the number of columns, or the height field has
    /// fewer than two rows or columns.
    #[error("a height field needs rows * columns heights, and at least two rows and two columns")]
    HeightCount,
    /// A side of a grid's cells is shorter than 1e-30, longer than 1e30, or more than 10,000 times
    /// as long as another side.
    #[error("the sides of a cell must be from 1e-30 to 1e30 long, and have ratios up to 10,000")]
    CellSize,
    /// A cell of a grid is too far from the position 0: a coordinate is less than -16384, or
    /// greater than 16383.
    #[error("the positions of cells must be from -16384 to 16383: use several grids")]
    CellOutOfRange,
    /// A cell of a 2D grid slopes along z, or is one-way along z.
    #[error("a cell of a 2D grid cannot slope along z, or be one-way along z")]
    SlopeAlongZ,
    /// A shape for a [cell](crate::Cell::shape) is flat or has a curved side.
    #[error(
        "the shape of a cell must be a box, polygon or hull that has a volume, without curved sides"
    )]
    NotACellShape,
    /// A shape for a [cell](crate::Cell::shape) is not inside the cell.
    #[error("the shape of a cell must be inside the cell, whose center is the origin")]
    CellShapeTooLarge,
    /// The table of a grid has too many shapes: more than 32767.
    #[error("a grid can have at most 32767 shapes")]
    TooManyCellShapes,
    /// A [cell](crate::Cell::shape) has a shape that is not in the table of its grid.
    #[error("a cell has an unknown shape: list all shapes in `CellGrid::with_shapes`")]
    UnknownCellShape,
    /// The chunks of a grid have too many cells: see [`CellGrid`](crate::CellGrid).
    #[error("the chunks of a grid may have at most 2^26 cells: use several grids")]
    TooManyCells,
    /// In loaded data, a collider without cells has a grid with cells.
    #[error("the grid of a collider without cells must be empty")]
    NotEmpty,
    /// The collider is not a union of cells in this dimension, so it has no grid to change.
    #[error("the collider is not from `Collider::cells` in this dimension")]
    NotCells,
    /// A Bevy `Mesh` has no usable points or triangles.
    #[cfg(feature = "mesh")]
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// The reason why a Bevy `Mesh` has no usable points or triangles, in [`ShapeError::Mesh`].
///
/// Other variants of [`ShapeError`] report invalid coordinates and vertex indices.
///
/// Requires the feature `mesh`.
#[cfg(feature = "mesh")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// An entity has a [`ColliderFromMesh`](crate::ColliderFromMesh) without a mesh, and neither a
    /// `Mesh3d` nor a `Mesh2d`. (The meshes of a loaded scene belong to descendants of the entity
    /// that was spawned.)
    #[error("its entity has neither a Mesh3d nor a Mesh2d")]
    Missing,
    /// The vertices of the mesh are, or soon will be, only in the render world.
    #[error(
        "the vertices of its mesh go to the render world: the mesh needs \
         RenderAssetUsages::MAIN_WORLD"
    )]
    NotInMainWorld,
    /// The mesh has no attribute `Mesh::ATTRIBUTE_POSITION`.
    #[error("its mesh has no positions")]
    NoPositions,
    /// The positions of the mesh are not `Float32x3`.
    #[error("the positions of its mesh are not Float32x3")]
    PositionFormat,
    /// The mesh consists of points or lines instead of triangles. (A convex hull can still be made
    /// from such a mesh.)
    #[error("its mesh is neither a triangle list nor a triangle strip")]
    NoTriangles,
}

impl ShapeError {
    /// The text of [`NoFacets`](Self::NoFacets) for a mesh.
    pub(crate) const TRIANGLE: &'static str = "triangle of nonzero area";

    /// Checks that the coordinates of points are finite.
    pub(super) fn check_points<V: Space>(name: &'static str, points: &[V]) -> Result<(), Self> {
        let finite = points.iter().all(|point| point.is_finite());
        finite.then_some(()).ok_or(Self::NotFinite(name))
    }

    /// Checks that a direction is finite and not zero.
    pub(super) fn check_direction<V: Space>(name: &'static str, direction: V) -> Result<(), Self> {
        Self::check_points(name, &[direction])?;
        let is_zero = direction == V::default();
        (!is_zero).then_some(()).ok_or(Self::Zero(name))
    }

    /// Checks that a length is finite and not negative.
    pub(super) fn check_length(name: &'static str, length: f32) -> Result<(), Self> {
        if !length.is_finite() {
            Err(Self::NotFinite(name))
        } else if length < 0.0 {
            Err(Self::Negative(name))
        } else {
            Ok(())
        }
    }

    /// Checks that the lengths along all axes are finite and not negative.
    pub(crate) fn check_lengths<V: Space>(name: &'static str, lengths: V) -> Result<(), Self> {
        // All lengths are first checked to be finite, so that an infinite length is reported even
        // if another length is negative.
        Self::check_points(name, &[lengths])?;
        let lengths = lengths.to_f64();
        let mut lengths = (0..V::DVec::DIMENSION).map(|index| lengths.component(index) as f32);
        lengths.try_for_each(|length| Self::check_length(name, length))
    }
}

/// The reason why a collider cannot be saved.
#[cfg(feature = "serialize")]
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum SaveError {
    #[error("a collider with a custom shape cannot be saved, because its support function is code")]
    Custom,
    #[error("a collider that is inert because of an error cannot be saved: {0}")]
    Rejected(ShapeError),
}

#[cfg(feature = "serialize")]
impl SaveError {
    /// Returns the serialization error for a collider with an invalid shape.
    pub fn refuse<S: serde::Serializer>(error: &ShapeError, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(Self::Rejected(*error)))
    }
}
