//! Straight lines.

use crate::space::DVector;

/// A line: all points `origin + t * direction`.
#[derive(Clone, Copy, Debug)]
pub struct Line<D> {
    /// The point at t = 0.
    pub origin: D,
    /// The direction, of any length greater than 0.
    pub direction: D,
}

impl<D: DVector> Line<D> {
    /// Returns the point at `t`.
    #[inline]
    pub fn at(&self, t: f64) -> D {
        self.origin + self.direction * t
    }

    /// Returns the same line in the opposite direction.
    pub fn reversed(&self) -> Self {
        let direction = -self.direction;
        Self { direction, ..*self }
    }

    /// Returns the same line with its point nearest to `center` as the origin, and the t of that
    /// point.
    #[inline]
    pub fn centered(&self, center: D) -> (f64, Self) {
        let offset = (center - self.origin).dot(self.direction);
        let shift = offset / self.direction.length_squared();
        let origin = self.at(shift);
        (shift, Self { origin, ..*self })
    }
}
