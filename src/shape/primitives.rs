//! Bevy's primitives as shapes: the one table of them. Frames and conventions are Bevy's: centred on the origin, a
//! capsule along y.

use super::{
    Shape, ShapeError, Support,
    into_shape::{IntoShape, sealed},
};
use crate::math::{
    Capsule2d, Capsule3d, Circle, Cuboid, DVec2, DVec3, Rectangle, Segment2d, Segment3d, Sphere,
    Triangle2d, Triangle3d, Vec2, Vec3,
};

/// Each primitive, its space, and the kind of shape that it is.
macro_rules! primitives {
    ($($primitive:ident in $space:ident, $wide:ident => |$it:ident| $shape:expr;)*) => { $(
        impl Support for $primitive {
            type Vector = $space;

            fn support(&self, direction: $wide) -> $wide {
                let $it = self;
                $shape.support(direction)
            }

            fn radius(&self) -> f64 {
                let $it = self;
                $shape.radius()
            }
        }

        impl sealed::Sealed for $primitive {}

        impl IntoShape for $primitive {
            type Vector = $space;

            fn into_shape(self) -> Result<Shape<$space>, ShapeError> {
                let $it = self;
                $shape.checked()
            }
        }
    )* };
}

primitives! {
    Circle in Vec2, DVec2 => |it| Shape::<Vec2>::Ball { radius: it.radius };
    Sphere in Vec3, DVec3 => |it| Shape::<Vec3>::Ball { radius: it.radius };
    Capsule2d in Vec2, DVec2 => |it| Shape::<Vec2>::Capsule { half_length: it.half_length, radius: it.radius };
    Capsule3d in Vec3, DVec3 => |it| Shape::<Vec3>::Capsule { half_length: it.half_length, radius: it.radius };
    Rectangle in Vec2, DVec2 => |it| Shape::Box { half_size: it.half_size };
    Cuboid in Vec3, DVec3 => |it| Shape::Box { half_size: it.half_size };
    Segment2d in Vec2, DVec2 => |it| Shape::Segment(it.vertices);
    Segment3d in Vec3, DVec3 => |it| Shape::Segment(it.vertices);
    Triangle2d in Vec2, DVec2 => |it| Shape::Triangle(it.vertices);
    Triangle3d in Vec3, DVec3 => |it| Shape::Triangle(it.vertices);
}
