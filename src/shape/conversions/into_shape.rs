//! The trait of shapes that a collider can be made from. The constructors of `Collider` call
//! [`IntoShape::into_shape`].

use crate::shape::{ConvexHull, ShapeError, collider_shape::Dimension, support::Shape};

pub mod sealed {
    pub trait Sealed {}
}

/// A shape that a [`Collider`](crate::Collider) can be made from: Bevy's convex primitives, points
/// (`Vec2`, `Vec3`), [`ConvexHull`], and [`Rounded`](crate::Rounded) forms of these shapes.
///
/// `Collider::from(shape)` never fails, and
/// [`Collider::try_new(shape)`](crate::Collider::try_new) returns the error of an invalid shape.
///
/// This trait is sealed. For a shape of your own, use
/// [`Collider::custom`](crate::Collider::custom).
#[diagnostic::on_unimplemented(
    message = "a `Collider` cannot be made from `{Self}`",
    label = "not a convex shape of Bevy or headbutt",
    note = "for a concave shape (torus, annulus, ring, arc, polygon, polyline), use \
        `Collider::compound` with convex parts, `Collider::trimesh` or `Collider::polyline` with \
        its surface, or `Collider::convex_hull` with its points",
    note = "for a shape of your own, implement `Support` and use `Collider::custom`"
)]
pub trait IntoShape: sealed::Sealed {
    /// `Vec2` for a 2D shape, `Vec3` for a 3D shape.
    type Vector: Dimension;

    /// Converts the shape, or returns an error if it is invalid.
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
