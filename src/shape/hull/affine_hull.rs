//! The affine hull of a set of points: a point, a line, a plane or the whole space.

use crate::{math::DVec3, shape::hull::grid::GridPoints};

/// The smallest affine subspace that contains a set of points, up to rounding.
pub enum AffineHull {
    /// All points are equal.
    Point,
    /// A line, given by the indices of its two ends.
    Line([usize; 2]),
    Plane {
        normal: DVec3,
        /// The distance by which the outline may shrink: the part of the tolerance that is left
        /// after the points are projected onto the plane.
        tolerance: f64,
    },
    /// All of space, given by the indices of four points that are not coplanar on the grid.
    Solid([usize; 4]),
}

impl AffineHull {
    /// Classifies points by growing a simplex. Each step adds the point that is farthest from the
    /// affine hull of the simplex.
    ///
    /// Each chosen point is at least half of the tolerance away from the line or plane: 2¹⁴ or more
    /// grid steps. The computed heights have errors below 2⁻⁸ grid steps. So the four vertices of a
    /// simplex are not coplanar.
    pub fn of(grid: &GridPoints) -> Option<Self> {
        if grid.length == 0.0 {
            return Some(Self::Point);
        }
        let along = *grid.points.get(grid.end)? * (1.0 / grid.length);
        let off_line = |point: DVec3| point - along * along.dot(point);
        let (wide, width) = grid.outermost(|point| off_line(point).length())?;
        // The thickness may be at most twice the tolerance. The thickness of a set around a line is
        // at most twice `width`, the greatest distance from the line.
        if width <= grid.tolerance {
            return Some(Self::Line([grid.origin, grid.end]));
        }
        let across = off_line(*grid.points.get(wide)?).normalize_or_zero();
        let normal = along.cross(across);
        let (above, top) = grid.outermost(|point| normal.dot(point))?;
        let (below, bottom) = grid.outermost(|point| -normal.dot(point))?;
        // A dropped point on one side of a plane and the kept points on the other side may be the
        // full thickness apart.
        let left = 2.0 * grid.tolerance - (top + bottom);
        if left >= 0.0 {
            let tolerance = left.min(grid.tolerance);
            return Some(Self::Plane { normal, tolerance });
        }
        let high = if top >= bottom { above } else { below };
        Some(Self::Solid([grid.origin, grid.end, wide, high]))
    }
}
