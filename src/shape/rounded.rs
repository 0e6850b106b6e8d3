//! A margin around any shape.

use crate::{
    shape::{
        HalfSpace, Outline, ShapeError, Support,
        convex::Shape,
        into_shape::{ConvexShape, IntoShape, sealed},
        support::checked_radius,
    },
    space::Space,
};

/// A shape with a margin around it: all points that are no farther from it than that. Exact, as the margin is added to the
/// shape's [radius](Support::radius), and cheap: where only the margins overlap, GJK alone gives the contact.
///
/// The margin is told in the shape's own frame and units; what scales a collider scales it, too. As a shape of a query, one
/// with a margin that is negative or NaN touches nothing.
///
/// [`Collider::rounded`](crate::Collider::rounded) does the same for any collider.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{Collider, Rounded, ShapeError, query};
///
/// // As large as a square of 2, with rounded corners.
/// let tile = Rounded::new(Rectangle::new(1.0, 1.0), 0.5);
/// let (ball, at) = (Circle::new(0.25), Isometry2d::from_xy);
/// assert!(query::intersects(&tile, at(0.0, 0.0), &ball, at(1.125, 0.0)));
/// assert!(!query::intersects(&tile, at(0.0, 0.0), &ball, at(1.125, 1.125)));
///
/// let collider = Collider::from(tile);
/// assert!(!collider.is_inert());
/// let error = Collider::try_new(Rounded::new(ball, -1.0)).unwrap_err();
/// assert_eq!(error, ShapeError::Negative("margin"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rounded<S> {
    /// What the margin is around.
    pub shape: S,
    /// How far it reaches from the shape.
    pub margin: f32,
}

impl<S> Rounded<S> {
    /// The shape with the margin around it.
    pub const fn new(shape: S, margin: f32) -> Self {
        Self { shape, margin }
    }
}

impl<S: Support> Support for Rounded<S> {
    type Vector = S::Vector;

    #[inline]
    fn support(&self, direction: <S::Vector as Space>::DVec) -> <S::Vector as Space>::DVec {
        self.shape.support(direction)
    }

    #[inline]
    fn radius(&self) -> f64 {
        checked_radius(self.shape.radius()) + checked_radius(self.margin.into())
    }

    #[inline]
    fn half_space(&self) -> Option<HalfSpace<<S::Vector as Space>::DVec>> {
        self.shape.half_space()
    }

    #[inline]
    fn block(&self) -> Option<<S::Vector as Space>::DVec> {
        self.shape.block()
    }

    #[inline]
    fn outline(&self) -> Option<Outline<'_, <S::Vector as Space>::DVec>> {
        self.shape.outline()
    }
}

impl<S: IntoShape> sealed::Sealed for Rounded<S> {}
impl<S: ConvexShape> ConvexShape for Rounded<S> {}
impl<S: IntoShape> IntoShape for Rounded<S> {
    type Vector = S::Vector;

    fn into_shape(self) -> Result<Shape<S::Vector>, ShapeError> {
        self.shape.into_shape()?.rounded(self.margin)
    }
}
