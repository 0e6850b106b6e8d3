//! The points where a line crosses the facets of a surface, without gaps between the facets.
//!
//! `collider_query/ray.rs` calls [`FacetLine::new`] once for each ray and each surface near the
//! ray.
//!
//! The 3D test follows Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection" (2013), in
//! f64. A shear that depends only on the line maps the line to the z axis. The line crosses a
//! triangle if the triangle's sheared image in the xy plane contains the origin. The test compares
//! the signs of the areas that the edges span with the origin. For two facets that share an edge,
//! the computed areas of this edge are the same to the bit, up to the sign. An area of 0 counts on
//! both sides. So no line passes between neighboring facets. In 2D, the computed side of the line
//! on which a vertex lies is the same for all facets that share the vertex.

use crate::{shape::elements::line::Line, space::DVector};

/// A line, prepared for tests with many facets.
pub struct FacetLine<'a, D> {
    line: &'a Line<D>,
    /// The axis of the direction's largest component.
    axis: usize,
    /// The shear of the two other axes, and the inverse of the largest component.
    shear: [f64; 3],
}

impl<'a, D: DVector> FacetLine<'a, D> {
    /// Prepares a line.
    #[inline]
    pub fn new(line: &'a Line<D>) -> Self {
        let size = line.direction.components().map(f64::abs);
        let [x, y, z] = size;
        let axis = if x >= y && x >= z {
            0
        } else if y >= z {
            1
        } else {
            2
        };
        let [x, y, largest] = rotated(line.direction.components(), axis);
        Self {
            line,
            axis,
            shear: [x / largest, y / largest, 1.0 / largest],
        }
    }

    /// Returns the t at which the line crosses the facet with these vertices. Returns `None` if the
    /// line misses the facet or is in its plane.
    #[inline]
    pub fn crossing(&self, vertices: &[D]) -> Option<f64> {
        match vertices {
            [a, b] => self.crossing_of_segment([*a, *b]),
            [a, b, c] => self.crossing_of_triangle([*a, *b, *c]),
            _ => None,
        }
    }

    #[inline]
    fn crossing_of_segment(&self, ends: [D; 2]) -> Option<f64> {
        let offsets = ends.map(|end| end - self.line.origin);
        let [a, b] = offsets.map(|offset| D::determinant(&[self.line.direction, offset]));
        if (a < 0.0 && b < 0.0) || (a > 0.0 && b > 0.0) {
            return None;
        }
        let [from, to] = offsets.map(|offset| offset.dot(self.line.direction));
        let along = from + (to - from) * (a / (a - b));
        let t = along / self.line.direction.length_squared();
        t.is_finite().then_some(t)
    }

    #[inline]
    fn crossing_of_triangle(&self, vertices: [D; 3]) -> Option<f64> {
        let [shear_x, shear_y, shear_z] = self.shear;
        let sheared = |vertex: D| {
            let offset = (vertex - self.line.origin).components();
            let [x, y, z] = rotated(offset, self.axis);
            [x - shear_x * z, y - shear_y * z, z]
        };
        let [a, b, c] = vertices;
        let (a, b, c) = (sheared(a), sheared(b), sheared(c));
        let area = |[from_x, from_y, _]: [f64; 3], [to_x, to_y, _]: [f64; 3]| {
            from_x * to_y - from_y * to_x
        };
        let (u, v, w) = (area(b, c), area(c, a), area(a, b));
        let is_outside = (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0);
        let sum = u + v + w;
        if is_outside || sum == 0.0 {
            return None;
        }
        let [[.., a], [.., b], [.., c]] = [a, b, c];
        let t = (u * a + v * b + w * c) * shear_z / sum;
        t.is_finite().then_some(t)
    }
}

/// Returns the components in the same cyclic order, with the component of `axis` last.
#[inline]
fn rotated([x, y, z]: [f64; 3], axis: usize) -> [f64; 3] {
    match axis {
        0 => [y, z, x],
        1 => [z, x, y],
        _ => [x, y, z],
    }
}
