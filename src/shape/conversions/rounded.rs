//! A margin around any shape.

use crate::shape::{
    ShapeError,
    conversions::into_shape::{IntoShape, sealed},
    elements::{
        chord::ChordResult,
        core::{Core, checked_radius},
        line::Line,
    },
    support::{DVecOf, Shape, Support},
};

/// A shape with a margin around it: all points whose distance from the shape is at most the margin.
///
/// The result is exact, because the margin is added to the shape's [radius](Support::radius). A
/// margin is also cheap: if only the margins overlap, GJK alone computes the contact.
///
/// The margin is in the shape's own units, and is scaled together with the shape. In a query, a
/// shape whose margin is negative or NaN touches nothing.
///
/// [`Collider::rounded`](crate::Collider::rounded) adds a margin to any collider.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{Collider, Rounded, ShapeError, query};
///
/// // As large as a square of side 2, with rounded corners.
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
    /// The shape inside the margin.
    pub shape: S,
    /// The width of the margin.
    pub margin: f32,
}

impl<S> Rounded<S> {
    /// Adds a margin to a shape.
    pub const fn new(shape: S, margin: f32) -> Self {
        Self { shape, margin }
    }
}

impl<S: Support> Support for Rounded<S> {
    type Vector = S::Vector;

    fn support(&self, direction: DVecOf<S>) -> DVecOf<S> {
        self.shape.support(direction)
    }

    fn radius(&self) -> f64 {
        checked_radius(self.shape.radius()) + checked_radius(self.margin.into())
    }

    fn core(&self) -> Core<'_, DVecOf<S>> {
        self.shape.core()
    }

    fn chord(&self, line: &Line<DVecOf<S>>, margin: f64) -> ChordResult<DVecOf<S>> {
        self.shape
            .chord(line, margin + checked_radius(self.margin.into()))
    }

    fn to_shape(&self) -> Option<Shape<S::Vector>> {
        self.shape.to_shape()?.rounded(self.margin).ok()
    }
}

impl<S: IntoShape> sealed::Sealed for Rounded<S> {}
impl<S: IntoShape> IntoShape for Rounded<S> {
    type Vector = S::Vector;

    fn into_shape(self) -> Result<Shape<S::Vector>, ShapeError> {
        self.shape.into_shape()?.rounded(self.margin)
    }
}
