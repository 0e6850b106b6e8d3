//! The outline of any convex shape, from its support function alone.
//!
//! Seen along a direction w, the outline of a convex shape consists of its support points in the
//! directions orthogonal to w. Let a and b be neighboring known points of the outline, and c the
//! support point in the direction normal to the chord ab. Between a and b, c is the point farthest
//! from the chord. So the outline deviates from the chord by at most the height of c. If this
//! height is negligible, the chord is drawn. Otherwise, c splits the chord in two. For a polygon,
//! this method finds the vertices. For a curve, the method finds as many points as needed.

use crate::{
    math::DVec2,
    shape::Support,
    space::{DVector, Space},
};

/// The negligible height of a curve above its chord, relative to the smaller half extent of the
/// outline. A circle becomes a polygon of 32 sides.
const CURVE: f64 = 5e-3;

/// The negligible height above a chord if the outline is a polygon, relative to the smaller half
/// extent. The value covers only rounding.
const POLYGON: f64 = 1e-9;

/// The smaller half extent of an outline is treated as at least this fraction of the greater half
/// extent.
const MIN_ASPECT: f64 = 1e-3;

/// The maximum depth to which a quarter of a curve or of a polygon is subdivided. This limit bounds
/// the work for a wrong support function.
const MAX_CURVE_SPLITS: u32 = 8;
const MAX_POLYGON_SPLITS: u32 = 16;

/// The angle, in radians, by which the directions of an outline are tilted out of their plane. If a
/// direction has several support points, the sign of the tilt selects one end of the shape.
const TILT: f64 = 1e-9;

/// A plane onto which a shape is projected, given by two orthogonal unit vectors. `tilt` is
/// orthogonal to both vectors, or zero.
pub struct ProjectionPlane<D> {
    pub right: D,
    pub up: D,
    pub tilt: D,
}

impl<D: DVector> ProjectionPlane<D> {
    /// Returns the plane that two axes span.
    pub fn of_axes(right: usize, up: usize) -> Self {
        Self {
            right: D::axis(right),
            up: D::axis(up),
            tilt: D::ZERO,
        }
    }

    /// Returns the plane, tilted toward an axis or away from this axis. The axis has to be
    /// orthogonal to the plane.
    pub fn tilted(self, axis: usize, sign: f64) -> Self {
        let tilt = D::axis(axis) * (TILT * sign);
        Self { tilt, ..self }
    }
}

/// A point of an outline, and its projection.
#[derive(Clone, Copy)]
struct OutlinePoint<V> {
    point: V,
    flat: DVec2,
}

struct OutlineBuilder<'a, S: Support> {
    shape: &'a S,
    radius: f64,
    plane: &'a ProjectionPlane<<S::Vector as Space>::DVec>,
    tolerance: f64,
    lines: Vec<[S::Vector; 2]>,
}

/// Returns the outline of a shape as projected onto a plane, counter-clockwise. The points of the
/// outline are on the shape. `is_polygon` is `true` if the outline is a polygon.
pub fn silhouette<S: Support>(
    shape: &S,
    plane: &ProjectionPlane<<S::Vector as Space>::DVec>,
    is_polygon: bool,
) -> Vec<[S::Vector; 2]> {
    let mut outline = OutlineBuilder {
        shape,
        radius: shape.radius(),
        plane,
        tolerance: 0.0,
        lines: Vec::new(),
    };
    let vertex = |x, y| outline.vertex(DVec2::new(x, y));
    let sides = [
        vertex(1.0, 0.0),
        vertex(0.0, 1.0),
        vertex(-1.0, 0.0),
        vertex(0.0, -1.0),
    ];
    let [Some(right), Some(top), Some(left), Some(bottom)] = sides else {
        return Vec::new();
    };
    let half = 0.5 * DVec2::new(right.flat.x - left.flat.x, top.flat.y - bottom.flat.y);
    let size = half.min_element().max(MIN_ASPECT * half.max_element());
    let (tolerance, splits) = if is_polygon {
        (POLYGON, MAX_POLYGON_SPLITS)
    } else {
        (CURVE, MAX_CURVE_SPLITS)
    };
    outline.tolerance = size * tolerance;
    for [start, end] in [[right, top], [top, left], [left, bottom], [bottom, right]] {
        outline.add_between(start, end, splits);
    }
    outline.lines
}

impl<S: Support> OutlineBuilder<'_, S> {
    /// Returns the support point in a direction of unit length, or `None` if the point is not
    /// finite.
    fn vertex(&self, direction: DVec2) -> Option<OutlinePoint<S::Vector>> {
        let ProjectionPlane { right, up, tilt } = *self.plane;
        let direction = right * direction.x + up * direction.y + tilt;
        let point = self.shape.support(direction) + direction * self.radius;
        point.is_finite().then(|| OutlinePoint {
            point: S::Vector::from_f64(point),
            flat: DVec2::new(point.dot(right), point.dot(up)),
        })
    }

    /// Adds the part of the outline between two of its points.
    fn add_between(
        &mut self,
        start: OutlinePoint<S::Vector>,
        end: OutlinePoint<S::Vector>,
        splits: u32,
    ) {
        let chord = end.flat - start.flat;
        // The normal points outward, because the outline is counter-clockwise.
        let Some(normal) = DVec2::new(chord.y, -chord.x).try_normalize() else {
            return;
        };
        let farthest = self.vertex(normal).filter(|farthest| {
            (farthest.flat - start.flat).dot(normal) > self.tolerance && splits > 0
        });
        match farthest {
            Some(farthest) => {
                self.add_between(start, farthest, splits - 1);
                self.add_between(farthest, end, splits - 1);
            }
            None => self.lines.push([start.point, end.point]),
        }
    }
}
