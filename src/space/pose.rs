//! A pose in f64, and one pose as seen from another.

use core::cmp::Ordering;

use crate::space::DVector;

/// Where a shape is: x is mapped to `rotation * x + translation`.
///
/// The rotation is orthogonal to f64 precision. It may be a reflection (a mirrored sprite has one): nothing in the
/// queries asks for its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<D: DVector> {
    /// An orthogonal map.
    pub rotation: D::Matrix,
    /// The image of the shape's own origin.
    pub translation: D,
}

impl<D: DVector> Pose<D> {
    /// Where nothing is moved.
    pub const IDENTITY: Self = Self {
        rotation: D::IDENTITY,
        translation: D::ZERO,
    };

    /// This pose of what lies in pose `inner`.
    #[inline]
    pub fn after(&self, inner: &Self) -> Self {
        Self {
            rotation: self.rotation * inner.rotation,
            translation: self.rotation * inner.translation + self.translation,
        }
    }

    /// A total order without geometric meaning: a pair is solved in this order and then turned round, so that swapping
    /// the arguments of a query gives the mirror image to the bit.
    #[inline]
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        let turned = || {
            let column =
                |index| D::column(self.rotation, index).total_cmp(D::column(other.rotation, index));
            let differs = (0..D::DIMENSION).map(column).find(|order| order.is_ne());
            differs.unwrap_or(Ordering::Equal)
        };
        let moved = self.translation.total_cmp(other.translation);
        moved.then_with(turned)
    }
}
