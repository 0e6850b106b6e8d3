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
    pub fn at(&self, t: f64) -> D {
        self.origin + self.direction * t
    }

    /// Returns the same line in the opposite direction.
    pub fn reversed(&self) -> Self {
        let direction = -self.direction;
        Self { direction, ..*self }
    }

    /// Moves the origin along the line to the point nearest to `center`. Returns the t of that
    /// point, and the line with the new origin.
    pub fn centered(&self, center: D) -> (f64, Self) {
        let offset = (center - self.origin).dot(self.direction);
        let shift = offset / self.direction.length_squared();
        let origin = self.at(shift);
        (shift, Self { origin, ..*self })
    }
}
