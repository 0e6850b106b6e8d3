//! The affine hull of a set of points: a point, a line, a plane or the whole space.

use arrayvec::ArrayVec;

use crate::math::{DVec3, Vec3};

/// The rounding of `f32` coordinates, relative to the length of the set.
///
/// A point may be dropped if it is outside of the hull of the other points by at most this. A set
/// is flat if its thickness is at most twice this, because both of its sides are rounded.
pub const COORDINATE_ROUNDING: f64 = f32::EPSILON as f64;

/// The smallest affine subspace that contains a set of points, up to rounding.
pub enum AffineHull {
    Point,
    Line {
        direction: DVec3,
    },
    Plane {
        normal: DVec3,
        /// The distance by which the outline may shrink: the part of [`COORDINATE_ROUNDING`] that
        /// is left after the points are projected to the plane.
        tolerance: f64,
    },
    Solid(SolidFrame),
}

/// Normalized coordinates u, in which a solid has similar extents along all axes. They satisfy
/// x = origin + Σ lengths_i u_i axes_i.
pub struct SolidFrame {
    origin: DVec3,
    /// Orthonormal.
    axes: [DVec3; 3],
    /// The lengths of the solid along the axes, in descending order.
    lengths: DVec3,
    /// A point well inside of the solid, in normalized coordinates.
    pub center: DVec3,
}

/// One step from a simplex to the point farthest from its affine hull.
#[derive(Clone, Copy)]
struct SimplexStep {
    point: DVec3,
    /// The component of the step orthogonal to the previous steps, and its length.
    height: DVec3,
    length: f64,
}

impl SimplexStep {
    fn new(point: DVec3, height: DVec3) -> Self {
        Self {
            point,
            height,
            length: height.length(),
        }
    }

    fn direction(&self) -> DVec3 {
        self.height * (1.0 / self.length)
    }
}

impl AffineHull {
    /// Classifies a set of points by growing a simplex. Each step adds the point of the set that is
    /// farthest from the affine hull of the simplex.
    ///
    /// The heights l₁ >= l₂ >= l₃ of these steps have the orthonormal directions a₁, a₂, a₃. No
    /// point is farther from the origin than l_i along a_i, so all normalized coordinates are
    /// between -1 and 1. The simplex has the vertices 0, (1, 0, 0), (s, 1, 0) and (t, u, 1), so its
    /// volume is 1/6.
    pub fn of(points: &[Vec3]) -> Self {
        let points = || points.iter().map(|point| point.as_dvec3());
        let Some(first) = points().next() else {
            return Self::Point;
        };
        // The origin is the point farthest from the first point. So the first height is at least
        // half the length of the set.
        let from_first = |point: &DVec3| (*point - first).length_squared();
        let farther = |a: &DVec3, b: &DVec3| from_first(a).total_cmp(&from_first(b));
        let origin = points().max_by(farther).unwrap_or(first);
        let mut steps = ArrayVec::<SimplexStep, 3>::new();
        loop {
            if let [a, b, c] = steps.as_slice() {
                return Self::Solid(SolidFrame::new(origin, [a, b, c]));
            }
            let axes: ArrayVec<DVec3, 3> = steps.iter().map(SimplexStep::direction).collect();
            // Projected twice, because the first remainder of a point far along a line is mostly
            // rounding error.
            let twice = || axes.iter().chain(&axes);
            let height_of = |point: DVec3| {
                twice().fold(point - origin, |rest, axis| rest - *axis * axis.dot(rest))
            };
            let mut farthest = SimplexStep::new(origin, DVec3::ZERO);
            for point in points() {
                let step = SimplexStep::new(point, height_of(point));
                if step.length > farthest.length {
                    farthest = step;
                }
            }
            let SimplexStep { height, length, .. } = farthest;
            let longest = steps.first().map_or(length, |step| step.length);
            // A point that is dropped on one side of a plane may be the full thickness away from
            // the points that are kept on the other side. Around a line, the thickness is at most
            // twice the height.
            let thickness = if steps.len() == 2 {
                let heights = points().map(|point| height_of(point).dot(height) / length);
                heights.clone().fold(0.0, f64::max) - heights.fold(0.0, f64::min)
            } else {
                2.0 * length
            };
            if length == 0.0 || thickness <= 2.0 * COORDINATE_ROUNDING * longest {
                return match axes.as_slice() {
                    [] => Self::Point,
                    [direction] => Self::Line {
                        direction: *direction,
                    },
                    [a, b, ..] => Self::Plane {
                        normal: a.cross(*b),
                        tolerance: (2.0 * COORDINATE_ROUNDING * longest - thickness)
                            .min(COORDINATE_ROUNDING * longest),
                    },
                };
            }
            steps.push(farthest);
        }
    }
}

impl SolidFrame {
    fn new(origin: DVec3, steps: [&SimplexStep; 3]) -> Self {
        let mut frame = Self {
            origin,
            axes: steps.map(SimplexStep::direction),
            lengths: steps.map(|step| step.length).into(),
            center: DVec3::ZERO,
        };
        // The fourth vertex of the simplex is the origin.
        let vertices = steps.map(|step| frame.normalized(step.point));
        frame.center = vertices.into_iter().sum::<DVec3>() * 0.25;
        frame
    }

    /// Returns the normalized coordinates of a point.
    pub fn normalized(&self, point: DVec3) -> DVec3 {
        let components = self.axes.map(|axis| axis.dot(point - self.origin));
        DVec3::from_array(components) / self.lengths
    }

    /// Returns the point with these normalized coordinates.
    pub fn position(&self, normalized: DVec3) -> DVec3 {
        let components = (normalized * self.lengths).to_array();
        let steps = self.axes.iter().zip(components);
        steps.fold(self.origin, |sum, (axis, length)| sum + *axis * length)
    }

    /// Converts a point or a vector from normalized coordinates to orthonormal ones.
    pub fn orthonormal(&self, normalized: DVec3) -> DVec3 {
        normalized * self.lengths
    }

    /// Returns the gradient, in orthonormal coordinates, of the height along `direction` in
    /// normalized coordinates.
    pub fn gradient(&self, direction: DVec3) -> DVec3 {
        direction / self.lengths
    }

    /// Returns the maximum distance from the hull of the other points at which a point may be
    /// dropped.
    pub fn tolerance(&self) -> f64 {
        COORDINATE_ROUNDING * self.lengths.x
    }
}
