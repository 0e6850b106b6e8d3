//! Half-spaces: all points on one side of a plane.
//!
//! A half-space H = { x : n·x <= c } has a farthest point only in direction n, so no support
//! function describes it. Instead, [`Core::HalfSpace`](super::core::Core) holds n and c, and
//! queries solve a pair with one half-space in closed form. `Support::support` returns NaN, so that
//! all other code treats a half-space as an invalid shape, which touches nothing.

use crate::space::{DVector, Pose};

/// A map flattens space if the unit vectors along its columns span at most this volume. If a scale
/// of 0 along an axis is multiplied by rotations, the volume is only a rounding error, which is
/// smaller.
const FLATTENED: f64 = 1e-14;

/// All points x with `normal · x <= offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace<D> {
    /// The outward unit normal.
    pub normal: D,
    /// The signed distance from the origin to the plane, along the normal.
    pub offset: f64,
}

impl<D: DVector> HalfSpace<D> {
    /// Returns the half-space whose plane contains the origin, or `None` for a zero normal.
    pub fn through_origin(normal: D) -> Option<Self> {
        let offset = 0.0;
        normal.unit().map(|normal| Self { normal, offset })
    }

    /// Returns the height of a point above the plane, negative inside the half-space.
    pub fn height(&self, point: D) -> f64 {
        self.normal.dot(point) - self.offset
    }

    /// Returns the half-space with its plane moved outward by a distance.
    pub fn raised(&self, distance: f64) -> Self {
        let offset = self.offset + distance;
        Self { offset, ..*self }
    }

    /// Returns the half-space in a pose.
    pub fn placed(&self, pose: &Pose<D>) -> Self {
        let normal = pose.rotation * self.normal;
        let offset = self.offset + normal.dot(pose.translation);
        Self { normal, offset }
    }

    /// Returns the image of the half-space under a uniform scale.
    pub fn scaled(&self, factor: f64) -> Self {
        let offset = self.offset * factor;
        Self { offset, ..*self }
    }

    /// Returns the image of the half-space under a linear map M, or `None` if M flattens space.
    ///
    /// If y = M x, then n · x = n · (M⁻¹ y) = (M⁻ᵀ n) · y. So the image has the normal M⁻ᵀ n, even
    /// if M is a reflection, and its plane contains the point M c n. The columns of M⁻ᵀ are the
    /// dual basis of the columns m_i of M. Column i is p / (p · m_i) for any p orthogonal to all
    /// other columns of M.
    pub fn image(&self, matrix: D::Matrix) -> Option<Self> {
        let mut normal = D::ZERO;
        for index in 0..D::DIMENSION {
            // With unit vectors, the products neither overflow nor underflow.
            let unit = |index| D::column(matrix, index).unit();
            let axis = unit(index)?;
            let mut others = [D::ZERO; 2];
            let others = others.get_mut(..D::DIMENSION - 1)?;
            for (other, step) in others.iter_mut().zip(1..) {
                *other = unit((index + step) % D::DIMENSION)?;
            }
            let perpendicular = D::perpendicular(others)?;
            let volume = perpendicular.dot(axis);
            if volume.abs() <= FLATTENED {
                return None;
            }
            let stretch = D::column(matrix, index).length();
            normal = normal + perpendicular * (self.normal.component(index) / (volume * stretch));
        }
        let normal = normal.unit()?;
        let offset = normal.dot(matrix * (self.normal * self.offset));
        Some(Self { normal, offset })
    }
}
