//! The table of what can become a collider, each with the check that it is a shape at all.

use super::{
    ConvexHull, ShapeError,
    kinds::{Dimension, Shape},
};
use crate::{
    math::{
        Capsule2d, Capsule3d, Circle, Cuboid, Rectangle, Segment2d, Segment3d, Sphere, Triangle2d,
        Triangle3d, Vec2, Vec3,
    },
    space::Space,
};

mod sealed {
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

fn ball<V: Space>(radius: f32) -> Result<Shape<V>, ShapeError> {
    ShapeError::check_length("radius", radius)?;
    Ok(Shape::Ball { radius })
}

fn capsule<V: Space>(half_length: f32, radius: f32) -> Result<Shape<V>, ShapeError> {
    ShapeError::check_length("half length", half_length)?;
    ShapeError::check_length("radius", radius)?;
    Ok(Shape::Capsule {
        half_length,
        radius,
    })
}

fn cuboid<V: Space>(half_size: V) -> Result<Shape<V>, ShapeError> {
    if !half_size.is_finite() {
        Err(ShapeError::NotFinite("half size"))
    } else if half_size.min_component() < 0.0 {
        Err(ShapeError::Negative("half size"))
    } else {
        Ok(Shape::Box { half_size })
    }
}

fn vertices<V: Space, const N: usize>(
    vertices: [V; N],
    shape: fn([V; N]) -> Shape<V>,
) -> Result<Shape<V>, ShapeError> {
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

            fn into_shape(self) -> Result<Shape<$space>, ShapeError> {
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
    Segment2d in Vec2 => |segment| vertices(segment.vertices, Shape::Segment);
    Segment3d in Vec3 => |segment| vertices(segment.vertices, Shape::Segment);
    Triangle2d in Vec2 => |triangle| vertices(triangle.vertices, Shape::Triangle);
    Triangle3d in Vec3 => |triangle| vertices(triangle.vertices, Shape::Triangle);
}
