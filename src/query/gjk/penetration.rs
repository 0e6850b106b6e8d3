//! The contact of two cores along a normal.

use crate::{
    query::{
        gjk::{Gjk, Goal},
        minkowski::{MinkowskiDifference, Nearest, Simplex, Vertex, nearest_to},
    },
    space::DVector,
    tolerance::DEPTH_GAP,
};

/// The contact of two cores.
#[derive(Clone, Copy, Debug)]
pub struct Penetration<D> {
    /// The unit vector from the first core to the second.
    pub normal: D,
    /// The distance by which the second core has to move along the normal until the cores just
    /// touch, negative if the cores are separated.
    pub depth: f64,
    /// The point of the first core that is deepest in the second core.
    pub first: D,
    /// The point of the second core that is deepest in the first core.
    pub second: D,
    /// The scale of the pair so far: see [`tolerance`](crate::tolerance).
    pub scale: f64,
}

impl<D: DVector> Penetration<D> {
    /// Returns the contact along a unit vector, given the support point of the Minkowski difference
    /// in this direction.
    pub fn at_vertex(normal: D, vertex: &Vertex<D>, scale: f64) -> Self {
        Self {
            normal,
            scale,
            depth: vertex.point.dot(normal),
            first: vertex.first,
            second: vertex.second,
        }
    }

    /// Limits the distance between the cores to the sum of the radii, so that shapes that touch
    /// within the tolerance have no negative depth.
    #[inline(always)]
    pub fn touching(self, radius_sum: f64) -> Self {
        let depth = self.depth.max(-radius_sum);
        Self { depth, ..self }
    }

    /// Returns the point nearest to `normal * depth` on a facet of the Minkowski difference,
    /// relative to `normal * depth`.
    pub fn nearest_on(&self, facet: &[Vertex<D>]) -> Nearest<D> {
        nearest_to(self.normal * self.depth, facet)
    }

    /// Returns the contact with points computed from a facet of the Minkowski difference. A
    /// negative depth becomes 0.
    pub fn with_points_on(self, facet: &Simplex<D>) -> Self {
        let (first, second) = self.nearest_on(facet).witnesses(facet);
        Self {
            depth: self.depth.max(0.0),
            first,
            second,
            ..self
        }
    }

    /// Returns the contact with the nearest points of the cores after moving the second core out by
    /// the depth. Also returns the vector between these points, which is zero if the moved cores
    /// touch.
    // This function is not inlined, because GJK's state would take up stack space in every closed
    // form.
    #[inline(never)]
    pub fn with_touching_points(self, pair: &impl MinkowskiDifference<Vector = D>) -> (Self, D) {
        let translation = self.normal * self.depth;
        let moved = pair.with_second_moved(translation);
        let gjk = Gjk::solve(&moved, Goal::Nearest);
        let (first, second) = gjk.nearest.witnesses(&gjk.simplex);
        let (first, second) = if first.is_finite() && second.is_finite() {
            (first, second)
        } else {
            // A support function has returned NaN in some directions.
            (self.first, self.second + translation)
        };
        let contact = Self {
            depth: self.depth.max(0.0),
            first,
            second: second - translation,
            ..self
        };
        (contact, gjk.nearest.point)
    }

    /// Returns the contact with points that are exactly opposite to each other: their difference is
    /// `normal * depth`.
    #[inline(always)]
    pub fn with_opposite_points(self, pair: &impl MinkowskiDifference<Vector = D>) -> Self {
        // Separated boxes may be much farther apart than their scale. The rounding error then grows
        // with the distance.
        let scale = self.scale.max(-self.depth);
        // On a curved surface, an error of g in the depth moves the points along the surface by
        // about √g. GJK finds more precise points.
        if self.point_error().length() > 2.0 * DEPTH_GAP * scale {
            self.with_touching_points(pair).0.with_shared_error()
        } else {
            self.with_shared_error()
        }
    }

    /// Returns the vector from the second point to the first, minus `normal * depth`.
    #[inline(always)]
    fn point_error(&self) -> D {
        self.first - self.second - self.normal * self.depth
    }

    /// Returns the contact with each point moved by half of the point error.
    #[inline(always)]
    fn with_shared_error(self) -> Self {
        let half = self.point_error() * 0.5;
        Self {
            first: self.first - half,
            second: self.second + half,
            ..self
        }
    }
}
