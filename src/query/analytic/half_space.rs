//! A half-space and any other shape, in closed form.
//!
//! Let H = { x : n·x <= c } with a unit vector n, and let w be the support point of the other core
//! in direction -n. Then n·w - c is the signed distance between the cores. A translation t m along
//! a unit vector m separates the cores if n·(w + t m) >= c, so t >= (c - n·w) / (n·m). The minimum
//! of t is reached for m = n.

use crate::{
    query::{
        gjk::Penetration,
        minkowski::{MinkowskiDifference, Vertex},
    },
    shape::{Core, swap_if},
    space::DVector,
    tolerance::{OFFSET_SCALE, TOUCHING},
};

/// The contact of a half-space and another shape, in the order and the frame of the pair.
pub struct HalfSpaceSolver<D> {
    half_space_is_first: bool,
    /// The unit vector from the first shape to the second.
    normal: D,
    /// The signed distance between the cores.
    gap: f64,
    /// The point of the other core that is nearest to the plane, or deepest below the plane.
    point: D,
    /// The projection of `point` onto the plane.
    projection: D,
}

impl<D: DVector> HalfSpaceSolver<D> {
    /// Solves a pair with exactly one half-space. Returns `None` for other pairs, and for invalid
    /// shapes.
    pub fn new(pair: &impl MinkowskiDifference<Vector = D>) -> Option<Self> {
        let [first, second] = pair.cores().map(Core::half_space);
        let second = second.map(|second| second.placed(pair.relative()));
        let (half_space, half_space_is_first, normal) = match [first, second] {
            [Some(first), None] => (first, true, first.normal),
            [None, Some(second)] => (second, false, -second.normal),
            _ => return None,
        };
        let point = other_point(half_space_is_first, &pair.vertex(normal));
        let gap = half_space.height(point);
        (gap.is_finite() && pair.radius_sum().is_finite()).then(|| Self {
            half_space_is_first,
            normal,
            gap,
            point,
            projection: point - half_space.normal * gap,
        })
    }

    /// Returns `true` if the shapes touch.
    pub fn hit(&self, pair: &impl MinkowskiDifference<Vector = D>) -> bool {
        // Computing the scale takes more support points, so the scale is computed only if the
        // result depends on it.
        let radius_sum = pair.radius_sum();
        self.gap <= radius_sum || self.gap <= radius_sum + TOUCHING * self.scale(pair)
    }

    /// Returns the scale of the pair: see [`tolerance`](crate::tolerance).
    pub fn scale(&self, pair: &impl MinkowskiDifference<Vector = D>) -> f64 {
        let half_diagonal = (0..D::DIMENSION).map(D::axis).fold(D::ZERO, |sum, axis| {
            let height = |direction| {
                let vertex = pair.vertex(direction);
                other_point(self.half_space_is_first, &vertex).dot(axis)
            };
            sum + axis * (0.5 * (height(axis) - height(-axis)))
        });
        let offset = self.point.extent() + (self.point - pair.relative().translation).extent();
        (half_diagonal.length() + pair.radius_sum()).max(OFFSET_SCALE * offset)
    }

    /// Returns the contact of the cores. The scale of the contact is the absolute gap, not the
    /// [`scale`](Self::scale) of the pair.
    pub fn contact(&self) -> Penetration<D> {
        let points = [self.point, self.projection];
        let [first, second] = swap_if(self.half_space_is_first, points);
        Penetration {
            normal: self.normal,
            depth: -self.gap,
            scale: self.gap.abs(),
            first,
            second,
        }
    }

    /// Returns the contact with the cores' nearest points, or with the same point twice if the
    /// cores overlap.
    pub fn nearest(&self) -> Penetration<D> {
        if self.gap > 0.0 {
            return self.contact();
        }
        Penetration {
            depth: 0.0,
            first: self.point,
            second: self.point,
            ..self.contact()
        }
    }
}

/// Returns the point of the shape that is not the half-space.
fn other_point<D: DVector>(half_space_is_first: bool, vertex: &Vertex<D>) -> D {
    if half_space_is_first {
        vertex.second
    } else {
        vertex.first
    }
}
