//! What can become a collider.

use super::{
    ConvexHull, ShapeError,
    kinds::{Dimension, Shape},
};

pub(super) mod sealed {
    pub trait Sealed {}
}

/// What can be checked and made a collider: Bevy's convex primitives and [`ConvexHull`].
///
/// Sealed: a shape of your own goes through [`Collider::custom`](crate::Collider::custom).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shape that headbutt knows",
    note = "use `Collider::convex_hull` for the hull of points, or `Collider::custom` for a `Support` of your own"
)]
pub trait IntoShape: sealed::Sealed {
    /// The space that the shape lives in.
    type Vector: Dimension;

    /// The shape, or why it is none.
    #[doc(hidden)]
    fn into_shape(self) -> Result<Shape<Self::Vector>, ShapeError>;
}

impl<V: Dimension> sealed::Sealed for ConvexHull<V> {}
impl<V: Dimension> IntoShape for ConvexHull<V> {
    type Vector = V;

    fn into_shape(self) -> Result<Shape<V>, ShapeError> {
        Ok(Shape::Hull(self))
    }
}
