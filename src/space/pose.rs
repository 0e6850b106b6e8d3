//! Poses in `f64`.

use core::cmp::Ordering;

use crate::space::DVector;

/// The pose of a shape, which maps a point x to `rotation * x + translation`.
///
/// The rotation is orthogonal to `f64` precision. The rotation may be a reflection, as for a
/// mirrored sprite. Queries work for either sign of the rotation's determinant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<D: DVector> {
    /// An orthogonal map.
    pub rotation: D::Matrix,
    /// The position of the shape's origin.
    pub translation: D,
}

impl<D: DVector> Pose<D> {
    /// Creates a pose. Returns `None` if `rotation` is `None` or `translation` is not finite.
    #[inline(always)]
    pub fn new(rotation: Option<D::Matrix>, translation: D) -> Option<Self> {
        let rotation = rotation.filter(|_| translation.is_finite())?;
        Some(Self {
            rotation,
            translation,
        })
    }

    /// The pose that maps each point to itself.
    pub const IDENTITY: Self = Self {
        rotation: D::IDENTITY,
        translation: D::ZERO,
    };

    /// Returns the composition of two poses: `inner` is applied first.
    pub fn after(&self, inner: &Self) -> Self {
        Self {
            rotation: self.rotation * inner.rotation,
            translation: self.rotation * inner.translation + self.translation,
        }
    }

    /// Compares poses in a total order without geometric meaning. A query sorts its two arguments
    /// in this order, and mirrors the result if the arguments were swapped. So swapping the
    /// arguments gives the mirror image bit for bit.
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        let rotations = || {
            let columns = D::columns(self.rotation).zip(D::columns(other.rotation));
            columns.fold(Ordering::Equal, |order, (own, other)| {
                order.then_with(|| own.total_cmp(other))
            })
        };
        let translations = self.translation.total_cmp(other.translation);
        translations.then_with(rotations)
    }
}
