//! A half-space and any other shape, in closed form.
//!
//! Let the half-space be H = { x : n·x <= c }, n of unit length, and w the point of the other core that is farthest along
//! -n. Then n·w - c is the signed distance of the two. To leave H by a move t m along any unit vector m takes
//! n·(w + t m) >= c, that is t >= (c - n·w) / (n·m): least for m = n, which is the way out.

use crate::{
    query::{
        epa::Penetration,
        minkowski::{MinkowskiDifference, Vertex},
    },
    shape::{Core, HalfSpace},
    space::DVector,
    tolerance::{OFFSET, TOUCHING},
};

/// How a half-space and another shape lie to each other, in the order and frame of the pair.
pub struct Facing<D> {
    half_space_is_first: bool,
    /// Unit, from the first shape to the second.
    normal: D,
    /// The signed distance of the cores.
    gap: f64,
    /// The other core's nearest or deepest point.
    point: D,
    /// The point of the half-space's plane across from it.
    foot: D,
}

impl<D: DVector> Facing<D> {
    /// For a pair of which exactly one is a half-space, and both are shapes.
    #[inline]
    pub fn new(pair: &impl MinkowskiDifference<Vector = D>) -> Option<Self> {
        let (half_space, half_space_is_first, normal) = match half_spaces(pair) {
            [Some(first), None] => (first, true, first.normal),
            [None, Some(second)] => (second, false, -second.normal),
            _ => return None,
        };
        let point = of_other(half_space_is_first, &pair.vertex(normal));
        let gap = half_space.height(point);
        (gap.is_finite() && pair.radius_sum().is_finite()).then(|| Self {
            half_space_is_first,
            normal,
            gap,
            point,
            foot: point - half_space.normal * gap,
        })
    }

    /// Whether the shapes touch.
    pub fn hit(&self, pair: &impl MinkowskiDifference<Vector = D>) -> bool {
        // The scale is asked for only where it matters.
        let reach = pair.radius_sum();
        self.gap <= reach || self.gap <= reach + TOUCHING * self.scale(pair)
    }

    /// The scale of the pair: a half-space has no size, so it is that of the other shape, half of its box's diagonal.
    pub fn scale(&self, pair: &impl MinkowskiDifference<Vector = D>) -> f64 {
        let half_diagonal = (0..D::DIMENSION).map(D::axis).fold(D::ZERO, |sum, axis| {
            let height = |direction| {
                let vertex = pair.vertex(direction);
                of_other(self.half_space_is_first, &vertex).dot(axis)
            };
            sum + axis * (0.5 * (height(axis) - height(-axis)))
        });
        let offset = self.point.extent() + (self.point - pair.relative().translation).extent();
        (half_diagonal.length() + pair.radius_sum()).max(OFFSET * offset)
    }

    /// The contact of the cores.
    pub fn cores(&self) -> Penetration<D> {
        let (first, second) = if self.half_space_is_first {
            (self.foot, self.point)
        } else {
            (self.point, self.foot)
        };
        Penetration {
            normal: self.normal,
            depth: -self.gap,
            // What is seen of it: who needs it asks for the rest.
            scale: self.gap.abs(),
            first,
            second,
        }
    }

    /// The same with the cores' nearest points, which are one point of both where they overlap.
    pub fn nearest(&self) -> Penetration<D> {
        if self.gap > 0.0 {
            return self.cores();
        }
        Penetration {
            depth: 0.0,
            first: self.point,
            second: self.point,
            ..self.cores()
        }
    }
}

/// The point of the shape that is not the half-space.
fn of_other<D: DVector>(half_space_is_first: bool, vertex: &Vertex<D>) -> D {
    if half_space_is_first {
        vertex.second
    } else {
        vertex.first
    }
}

/// Returns each of the two that is a half-space, in the frame of the pair.
pub fn half_spaces<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
) -> [Option<HalfSpace<D>>; 2] {
    let [first, second] = pair.cores().map(Core::half_space);
    [first, second.map(|it| it.placed(pair.relative()))]
}
