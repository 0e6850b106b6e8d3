//! Boxes around cores, and the size of a pair.

use crate::{
    shape::{Core, Support, VertexBounds, supported},
    space::{DVector, Space},
    tolerance::OFFSET_SCALE,
};

/// A box around a core, in the core's frame.
pub struct CoreBox<D> {
    /// The half extents of the smallest box that is centered on the origin.
    pub farthest: D,
    half_diagonal: f64,
    pub is_half_space: bool,
}

impl<D: DVector> CoreBox<D> {
    /// Returns the box around the core of a shape.
    pub fn new<S: Support<Vector: Space<DVec = D>> + ?Sized>(shape: &S) -> Self {
        let symmetric = |half_extents: D, is_half_space| Self {
            farthest: half_extents,
            half_diagonal: half_extents.length(),
            is_half_space,
        };
        match shape.core() {
            Core::Box { half_extents } => symmetric(half_extents, false),
            Core::HalfSpace(_) => symmetric(D::ZERO, true),
            Core::Polygon(_) | Core::Opaque => {
                let [min, max] = match shape.vertex_bounds(D::IDENTITY) {
                    Some(VertexBounds(bounds)) => bounds,
                    None => supported(shape, D::IDENTITY),
                };
                Self {
                    farthest: (-min).max(max).max(min),
                    half_diagonal: 0.5 * (max - min).length(),
                    is_half_space: false,
                }
            }
        }
    }
}

/// Returns the size of a pair: half the diagonals of the boxes around the cores, plus the radii.
pub fn pair_size<D: DVector>(boxes: &[CoreBox<D>; 2], radius_sum: f64) -> f64 {
    let offset: f64 = boxes.iter().map(|core| core.farthest.extent()).sum();
    let half_diagonal: f64 = boxes.iter().map(|core| core.half_diagonal).sum();
    half_diagonal.max(OFFSET_SCALE * offset) + radius_sum
}
