//! The frame of a pair: the order of its two shapes, their relative pose, and their radii.

use crate::space::{DVector, Pose};

/// The frame and the order in which a pair is computed, and the radii around the cores.
///
/// The first shape of the canonical order is at rest in this frame, and its translation is the
/// origin.
#[derive(Clone, Copy)]
pub struct PairFrame<D: DVector> {
    /// The translations of the caller's first and second shape in the world.
    pub origins: [D; 2],
    /// `true` if the caller's second shape is the first shape of the canonical order.
    pub swapped: bool,
    /// The rotation of the frame in the world.
    pub rotation: D::Matrix,
    /// The pose of the second shape in the frame.
    pub relative: Pose<D>,
    /// The radii around the first and the second core.
    pub radii: [f64; 2],
}

impl<D: DVector> PairFrame<D> {
    /// Returns the sum of the radii, or NaN if a radius is invalid. The shapes begin to touch if
    /// the distance between the cores equals this sum.
    pub fn radius_sum(&self) -> f64 {
        let [first, second] = self.radii;
        if first >= 0.0 && second >= 0.0 {
            first + second
        } else {
            f64::NAN
        }
    }
}
