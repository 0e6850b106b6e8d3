//! The kinds of shape that a collider can hold, as one type for both dimensions.

use core::fmt;
use std::sync::Arc;

use super::{ConvexHull, ShapeError, Support, points::farthest};
use crate::{
    math::{Vec2, Vec3},
    space::{Space, Wide},
};

/// A shape that has been checked, of either dimension.
#[derive(Clone, Debug)]
pub enum AnyShape {
    /// In the plane.
    Plane(Shape<Vec2>),
    /// In space.
    Solid(Shape<Vec3>),
}

/// A space whose shapes a [`Collider`](crate::Collider) can hold: both of them, so this is `Vec2` or `Vec3`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither `Vec2` nor `Vec3`",
    note = "points are taken by value: `.iter().copied()` makes values of references"
)]
pub trait Dimension: Space {
    /// Forgets the dimension.
    #[doc(hidden)]
    fn any(shape: Shape<Self>) -> AnyShape;
}

impl Dimension for Vec2 {
    fn any(shape: Shape<Self>) -> AnyShape {
        AnyShape::Plane(shape)
    }
}

impl Dimension for Vec3 {
    fn any(shape: Shape<Self>) -> AnyShape {
        AnyShape::Solid(shape)
    }
}

/// The kinds of shape. The same ones serve both dimensions: a circle and a sphere are a ball, a rectangle
/// and a cuboid are a box.
#[derive(Clone)]
pub enum Shape<V: Space> {
    /// All points within `radius` of the origin.
    Ball { radius: f32 },
    /// All points within `radius` of a segment along y.
    Capsule { half_length: f32, radius: f32 },
    /// The box from -`half_size` to `half_size`.
    Box { half_size: V },
    /// A segment.
    Segment([V; 2]),
    /// A triangle.
    Triangle([V; 3]),
    /// The hull of points.
    Hull(ConvexHull<V>),
    /// A user's shape.
    Custom(Arc<dyn Support<Vector = V> + Send + Sync>),
}

impl<V: Space> Support for Shape<V> {
    type Vector = V;

    fn support(&self, direction: V::Wide) -> V::Wide {
        match self {
            Self::Ball { .. } => V::Wide::ZERO,
            // The end of the segment from -y to y; the upper one where both are as far.
            Self::Capsule { half_length, .. } => {
                let half_length = f64::from(half_length.abs());
                let upward = direction.component(1) >= 0.0;
                V::Wide::axis(1) * if upward { half_length } else { -half_length }
            }
            Self::Box { half_size } => half_size.widen().copysign(direction),
            Self::Segment(vertices) => farthest(vertices, direction),
            Self::Triangle(vertices) => farthest(vertices, direction),
            Self::Hull(hull) => hull.support(direction),
            Self::Custom(shape) => shape.support(direction),
        }
    }

    fn radius(&self) -> f64 {
        match self {
            Self::Ball { radius } | Self::Capsule { radius, .. } => f64::from(*radius),
            Self::Custom(shape) => shape.radius(),
            Self::Box { .. } | Self::Segment(_) | Self::Triangle(_) | Self::Hull(_) => 0.0,
        }
    }
}

impl<V: Space> Shape<V> {
    /// This shape, or why it is none.
    pub(super) fn checked(self) -> Result<Self, ShapeError> {
        match &self {
            Self::Ball { radius } => ShapeError::check_length("radius", *radius)?,
            Self::Capsule {
                half_length,
                radius,
            } => {
                ShapeError::check_length("half length", *half_length)?;
                ShapeError::check_length("radius", *radius)?;
            }
            Self::Box { half_size } => {
                // An infinite component counts as such, and not as the least one.
                let least = if half_size.is_finite() {
                    half_size.min_component()
                } else {
                    f32::NAN
                };
                ShapeError::check_length("half size", least)?;
            }
            Self::Segment(vertices) => ShapeError::check_points("vertex", vertices)?,
            Self::Triangle(vertices) => ShapeError::check_points("vertex", vertices)?,
            // The one was checked when it was made; the other is asked when it is used.
            Self::Hull(_) | Self::Custom(_) => {}
        }
        Ok(self)
    }
}

impl<V: Space> fmt::Debug for Shape<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Ball { radius } => write!(formatter, "Ball({radius})"),
            Self::Capsule {
                half_length,
                radius,
            } => write!(formatter, "Capsule({half_length}, {radius})"),
            Self::Box { half_size } => write!(formatter, "Box({half_size:?})"),
            Self::Segment(vertices) => write!(formatter, "Segment({vertices:?})"),
            Self::Triangle(vertices) => write!(formatter, "Triangle({vertices:?})"),
            Self::Hull(hull) => write!(formatter, "Hull({} points)", hull.points().len()),
            Self::Custom(_) => write!(formatter, "Custom"),
        }
    }
}
