//! Why something is no shape.

use crate::space::Space;

/// Why something is no shape, from [`Collider::try_new`](crate::Collider::try_new) and the other constructors of a
/// [`Collider`](crate::Collider) that can fail, and from [`ConvexHull::new`](crate::ConvexHull::new).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A dimension or coordinate is NaN or infinite; the text names it.
    #[error("the {0} must be finite")]
    NotFinite(&'static str),
    /// A dimension is less than zero; the text names it. Zero is allowed: a flat shape is still a shape.
    #[error("the {0} must not be negative")]
    Negative(&'static str),
    /// A direction that has no length, or a size that has none; the text names it.
    #[error("the {0} must not be null")]
    Null(&'static str),
    /// A shape without an end, of which no other can be made, nor a part of one; the text names it.
    #[error("{0} has no end, and no shape can be made of it")]
    Endless(&'static str),
    /// A hull of no points at all.
    #[error("a convex hull needs at least one point")]
    NoPoints,
    /// A shape that is not convex; the text names it.
    #[error("{0} is concave: give it as several convex parts, or as the convex hull of its points")]
    Concave(&'static str),
    /// A regular polygon with fewer than 3 sides, or with more than 4096: its corners are listed.
    #[error("a regular polygon must have from 3 to 4096 sides")]
    Sides,
    /// A hull of more points than there may be. The number is the limit; copies do not count.
    #[error("a convex hull can have no more than {0} points")]
    TooManyPoints(usize),
    /// A compound of nothing.
    #[error("a compound needs at least one part")]
    NoParts,
    /// A surface of no facets, or of none that has an area; the text names what there has to be.
    #[error("there must be at least one {0}")]
    NoFacets(&'static str),
    /// A part of a compound is a default [`Collider`](crate::Collider), which has no shape.
    #[error("a part of a compound must have a shape")]
    InertPart,
    /// A part of a compound, or its pose, lives in the plane and another one in space.
    #[error("the parts of a compound, and their poses, must all be in 2D, or all in 3D")]
    MixedDimensions,
    /// A surface (a mesh, polyline or height field) as a part of a compound: it is a collider of its own.
    #[error("a surface cannot be a part of a compound: give it an entity of its own")]
    SurfaceInCompound,
    /// The pose of a part is not finite.
    #[error("the pose of a part must be finite")]
    PoseNotFinite,
    /// The rotation of a part, in data that was loaded, is none: its columns are not at right angles, or not of length 1, to 12
    /// digits, or mirror the part.
    #[error("the rotation of a part must be orthonormal, to 12 digits")]
    NoRotation,
    /// A facet has a vertex of a number that is too large.
    #[error("there is no vertex number {number}: of {count} vertices the first is number 0")]
    NoSuchVertex {
        /// The number that a facet has.
        number: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A height field whose heights do not make up its rows and columns, or that has less than two of either.
    #[error("a height field needs rows times columns heights, and two of either at least")]
    Heights,
    /// A Bevy mesh of which nothing can be made.
    #[cfg(feature = "mesh")]
    #[error(transparent)]
    Mesh(#[from] super::MeshError),
}

impl ShapeError {
    /// What a mesh must have one of.
    pub(crate) const TRIANGLE: &'static str = "triangle with an area";

    /// Accepts points whose coordinates are finite.
    pub(super) fn check_points<V: Space>(name: &'static str, points: &[V]) -> Result<(), Self> {
        let finite = points.iter().all(|point| point.is_finite());
        finite.then_some(()).ok_or(Self::NotFinite(name))
    }

    /// Accepts a direction that is one: of a length that is finite and not 0.
    pub(super) fn check_direction<V: Space>(name: &'static str, way: V) -> Result<(), Self> {
        Self::check_points(name, &[way])?;
        (way != V::default()).then_some(()).ok_or(Self::Null(name))
    }

    /// Accepts the length of something: finite and not negative.
    pub(super) fn check_length(name: &'static str, length: f32) -> Result<(), Self> {
        if !length.is_finite() {
            Err(Self::NotFinite(name))
        } else if length < 0.0 {
            Err(Self::Negative(name))
        } else {
            Ok(())
        }
    }

    /// Accepts a length along each axis.
    pub(crate) fn check_lengths<V: Space>(name: &'static str, lengths: V) -> Result<(), Self> {
        // An infinite component counts as such, and not as the least one.
        Self::check_points(name, &[lengths])?;
        Self::check_length(name, lengths.min_component())
    }
}
