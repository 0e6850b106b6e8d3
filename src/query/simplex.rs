//! Simplices of the Minkowski difference.

use crate::{
    query::minkowski::Vertex,
    space::{DVector, List, simplex},
};

pub use crate::space::simplex::Nearest;

/// One to four vertices, affinely independent.
pub type Simplex<D> = List<Vertex<D>, 4>;

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
