//! Vertices and simplices of the Minkowski difference.

use arrayvec::ArrayVec;

use crate::{
    space::{DVector, simplex},
    tolerance::OFFSET_SCALE,
};

pub use crate::space::simplex::Nearest;

/// A vertex of the Minkowski difference A - B of two cores, with the points of A and B whose
/// difference is the vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex<D> {
    /// The point of A - B: `first - second`.
    pub point: D,
    /// The support point of the first core.
    pub first: D,
    /// The support point of the second core.
    pub second: D,
    /// The direction in which the support function of A - B was evaluated, of any length. `first`
    /// is A's support point in this direction, and `second` is B's support point in the opposite
    /// direction.
    pub direction: D,
}

impl<D: DVector> Vertex<D> {
    /// Returns a lower bound on the scale of the pair, without the radii: see `src/tolerance.rs`.
    #[inline]
    pub fn scale(&self) -> f64 {
        let offset = self.first.extent() + self.second.extent();
        self.point.length().max(OFFSET_SCALE * offset)
    }
}

/// One to four affinely independent vertices.
pub type Simplex<D> = ArrayVec<Vertex<D>, 4>;

impl<D: DVector> Nearest<D> {
    /// Returns the points of the first and the second core whose difference is `self.point`.
    #[inline]
    pub fn witnesses(&self, vertices: &[Vertex<D>]) -> (D, D) {
        vertices.iter().zip(self.weights).fold(
            (D::ZERO, D::ZERO),
            |(first, second), (vertex, weight)| {
                (
                    first + vertex.first * weight,
                    second + vertex.second * weight,
                )
            },
        )
    }
}

/// Returns the point of a simplex nearest to the origin.
#[inline]
pub fn nearest<D: DVector>(vertices: &[Vertex<D>]) -> Nearest<D> {
    simplex::nearest(vertices, |vertex| vertex.point)
}

/// Returns the point of a simplex nearest to `target`, relative to `target`.
#[inline]
pub fn nearest_to<D: DVector>(target: D, vertices: &[Vertex<D>]) -> Nearest<D> {
    simplex::nearest(vertices, |vertex| vertex.point - target)
}
