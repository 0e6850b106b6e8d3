//! Every kind of shape that a collider can hold, as one type for both dimensions.

use core::fmt;
use std::sync::Arc;

use super::{
    ConvexHull, ShapeError, Support,
    points::farthest,
    primitives::{corner, segment_along_y},
};
use crate::{
    math::{
        Capsule2d, Capsule3d, Circle, Cuboid, Rectangle, Segment2d, Segment3d, Sphere, Triangle2d,
        Triangle3d, Vec2, Vec3,
    },
    space::Space,
};

/// A shape that has been checked. The same kinds serve both dimensions: a circle and a sphere are a ball, a rectangle
/// and a cuboid are a box.
#[derive(Clone)]
pub enum AnyShape<V: Space> {
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

impl<V: Space> Support for AnyShape<V> {
    type Vector = V;

    fn support(&self, direction: V::Wide) -> V::Wide {
        match self {
            Self::Ball { .. } => V::Wide::default(),
            Self::Capsule { half_length, .. } => segment_along_y(*half_length, direction),
            Self::Box { half_size } => corner(*half_size, direction),
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

impl<V: Space> fmt::Debug for AnyShape<V> {
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

mod sealed {
    pub trait Sealed {}
}

/// What can be checked and made a collider: Bevy's convex primitives and [`ConvexHull`].
///
/// Sealed: a shape of your own goes through [`Collider::custom`](crate::Collider::custom).
pub trait IntoShape: sealed::Sealed {
    /// The space that the shape lives in.
    type Vector: Space;

    /// The shape, or why it is none.
    #[doc(hidden)]
    fn into_shape(self) -> Result<AnyShape<Self::Vector>, ShapeError>;
}

impl<V: Space> sealed::Sealed for ConvexHull<V> {}
impl<V: Space> IntoShape for ConvexHull<V> {
    type Vector = V;

    fn into_shape(self) -> Result<AnyShape<V>, ShapeError> {
        Ok(AnyShape::Hull(self))
    }
}

fn ball<V: Space>(radius: f32) -> Result<AnyShape<V>, ShapeError> {
    ShapeError::check_length("radius", radius)?;
    Ok(AnyShape::Ball { radius })
}

fn capsule<V: Space>(half_length: f32, radius: f32) -> Result<AnyShape<V>, ShapeError> {
    ShapeError::check_length("half length", half_length)?;
    ShapeError::check_length("radius", radius)?;
    Ok(AnyShape::Capsule {
        half_length,
        radius,
    })
}

fn cuboid<V: Space>(half_size: V) -> Result<AnyShape<V>, ShapeError> {
    if !half_size.is_finite() {
        Err(ShapeError::NotFinite("half size"))
    } else if half_size.min_component() < 0.0 {
        Err(ShapeError::Negative("half size"))
    } else {
        Ok(AnyShape::Box { half_size })
    }
}

fn vertices<V: Space, const N: usize>(
    vertices: [V; N],
    shape: fn([V; N]) -> AnyShape<V>,
) -> Result<AnyShape<V>, ShapeError> {
    if vertices.iter().all(|vertex| vertex.is_finite()) {
        Ok(shape(vertices))
    } else {
        Err(ShapeError::NotFinite("vertex"))
    }
}

/// The table of primitives: each with its space and its check.
macro_rules! primitives {
    ($($primitive:ident in $space:ident => |$value:ident| $shape:expr;)*) => { $(
        impl sealed::Sealed for $primitive {}
        impl IntoShape for $primitive {
            type Vector = $space;

            fn into_shape(self) -> Result<AnyShape<$space>, ShapeError> {
                let $value = self;
                $shape
            }
        }
    )* };
}

primitives! {
    Circle in Vec2 => |circle| ball(circle.radius);
    Sphere in Vec3 => |sphere| ball(sphere.radius);
    Capsule2d in Vec2 => |it| capsule(it.half_length, it.radius);
    Capsule3d in Vec3 => |it| capsule(it.half_length, it.radius);
    Rectangle in Vec2 => |rectangle| cuboid(rectangle.half_size);
    Cuboid in Vec3 => |it| cuboid(it.half_size);
    Segment2d in Vec2 => |segment| vertices(segment.vertices, AnyShape::Segment);
    Segment3d in Vec3 => |segment| vertices(segment.vertices, AnyShape::Segment);
    Triangle2d in Vec2 => |triangle| vertices(triangle.vertices, AnyShape::Triangle);
    Triangle3d in Vec3 => |triangle| vertices(triangle.vertices, AnyShape::Triangle);
}
