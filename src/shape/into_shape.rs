//! The types that a collider can be made from.

use crate::shape::{
    ConvexHull, ShapeError,
    convex::{Dimension, Shape},
};

pub(super) mod sealed {
    pub trait Sealed {}
}

/// A type that [`Collider::try_new`](crate::Collider::try_new) checks and turns into a collider.
///
/// These are Bevy's primitives that can be convex, points (`Vec2`, `Vec3`), [`ConvexHull`], and all
/// of these [`Rounded`](crate::Rounded). Most of them are also [`ConvexShape`]s, which work with
/// `Collider::from`.
///
/// Sealed: use [`Collider::custom`](crate::Collider::custom) for a shape of your own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a convex shape that headbutt supports",
    label = "not a convex shape",
    note = "make a concave shape (a torus, annulus, ring, arc, polygon or polyline) a \
        `Collider::compound` of convex parts, a surface (`Collider::trimesh`, \
        `Collider::polyline`), or the hull of its points (`Collider::convex_hull`)",
    note = "implement `Support` for a shape of your own and use `Collider::custom`"
)]
pub trait IntoShape: sealed::Sealed {
    /// The space of the shape.
    type Vector: Dimension;

    /// Returns the shape, or an error if it is invalid.
    #[doc(hidden)]
    fn into_shape(self) -> Result<Shape<Self::Vector>, ShapeError>;
}

/// A type whose values are always convex: [`Collider`](crate::Collider) implements [`From`] it.
///
/// A value can still be invalid, such as a circle with a negative radius. It then becomes an inert
/// collider with a warning. A type whose values can be concave, such as
/// [`CircularSector`](bevy::prelude::CircularSector), needs `Collider::try_from`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape that is always convex",
    label = "not always convex",
    note = "use `Collider::try_from` or `Collider::try_new` for a shape that may be concave (a \
        circular sector)",
    note = "make a concave shape (a torus, annulus, ring, arc, polygon or polyline) a \
        `Collider::compound` of convex parts, a surface (`Collider::trimesh`, \
        `Collider::polyline`), or the hull of its points (`Collider::convex_hull`)",
    note = "implement `Support` for a shape of your own and use `Collider::custom`"
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
