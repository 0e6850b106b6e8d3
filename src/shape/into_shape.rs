//! What can become a collider.

use crate::shape::{
    ConvexHull, ShapeError,
    convex::{Dimension, Shape},
};

pub(super) mod sealed {
    pub trait Sealed {}
}

/// What can be checked and made a collider: Bevy's primitives as far as they can be convex, points
/// (`Vec2`, `Vec3`), [`ConvexHull`], and all of these [`Rounded`](crate::Rounded).
///
/// All of them go through [`Collider::try_new`](crate::Collider::try_new). Most are [`ConvexShape`]s as well, which have
/// `Collider::from`.
///
/// Sealed: a shape of your own goes through [`Collider::custom`](crate::Collider::custom).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no convex shape that headbutt knows",
    label = "no convex shape",
    note = "what is concave (a torus, annulus, ring, arc, polygon or polyline) is a `Collider::compound` of convex parts, a \
        surface (`Collider::trimesh`, `Collider::polyline`), or the hull of its points (`Collider::convex_hull`)",
    note = "a shape of your own is a `Support`: `Collider::custom`"
)]
pub trait IntoShape: sealed::Sealed {
    /// The space that the shape lives in.
    type Vector: Dimension;

    /// The shape, or why it is none.
    #[doc(hidden)]
    fn into_shape(self) -> Result<Shape<Self::Vector>, ShapeError>;
}

/// What is convex whatever its numbers: [`Collider`](crate::Collider) is [`From`] it.
///
/// It can still be nonsense, such as a circle of a negative radius, and then becomes an inert collider with a warning. What
/// is concave for some of its numbers is no such shape: a [`CircularSector`](bevy::prelude::CircularSector) goes
/// through `Collider::try_from`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shape that is always convex",
    label = "not always convex",
    note = "what may be concave (a circular sector) goes through `Collider::try_from` or `Collider::try_new`",
    note = "what is concave (a torus, annulus, ring, arc, polygon or polyline) is a `Collider::compound` of convex parts, a \
        surface (`Collider::trimesh`, `Collider::polyline`), or the hull of its points (`Collider::convex_hull`)",
    note = "a shape of your own is a `Support`: `Collider::custom`"
)]
pub trait ConvexShape: IntoShape {}

impl<V: Dimension> sealed::Sealed for ConvexHull<V> {}
impl<V: Dimension> ConvexShape for ConvexHull<V> {}
impl<V: Dimension> IntoShape for ConvexHull<V> {
    type Vector = V;

    fn into_shape(self) -> Result<Shape<V>, ShapeError> {
        Ok(Shape::Hull(self))
    }
}
