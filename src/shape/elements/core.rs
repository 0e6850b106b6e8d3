//! The core of a shape: the shape without the radius around it.

use crate::{
    shape::elements::{half_space::HalfSpace, polygon_edges::Polygon},
    space::DVector,
};

/// The core of a shape. Queries have closed forms for all variants except [`Opaque`](Self::Opaque).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Core<'a, D> {
    /// A core that only the support function describes.
    Opaque,
    /// The box from `-half_extents` to `half_extents`. If all components are 0, the box is a point.
    /// If only one component is nonzero, the box is a segment.
    Box { half_extents: D },
    /// A 2D polygon with at most `MAX_EDGES` edges.
    Polygon(Polygon<'a, D>),
    /// A half-space, which has no support function.
    HalfSpace(HalfSpace<D>),
}

impl<'a, D: DVector> Core<'a, D> {
    /// Returns `true` if the core is the single point at the origin of its frame.
    #[inline(always)]
    pub fn is_point(&self) -> bool {
        self.half_extents() == Some(D::ZERO)
    }

    /// Returns the half extents of a box, a segment or a point.
    #[inline(always)]
    pub fn half_extents(&self) -> Option<D> {
        match self {
            Self::Box { half_extents } => Some(*half_extents),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn half_space(self) -> Option<HalfSpace<D>> {
        match self {
            Self::HalfSpace(half_space) => Some(half_space),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn polygon(self) -> Option<Polygon<'a, D>> {
        match self {
            Self::Polygon(polygon) => Some(polygon),
            _ => None,
        }
    }
}

/// Returns the radius if it is at least 0, and NaN otherwise. So the sum of two radii cannot hide a
/// negative radius.
#[inline]
pub fn checked_radius(radius: f64) -> f64 {
    if radius >= 0.0 { radius } else { f64::NAN }
}

/// The minimum and the maximum coordinates of vertices or discs. Users cannot name this type, and
/// so cannot override [`Support::vertex_bounds`](crate::Support::vertex_bounds).
pub struct VertexBounds<D>(pub [D; 2]);
