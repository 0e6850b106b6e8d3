//! Bevy's primitives as shapes: the one table of them. Frames and conventions are Bevy's: all are centred on the origin,
//! long ones and what is turned about an axis along y, a cone with its tip up.
//!
//! `polygon.rs` and `extrusion.rs` have those that are no single kind of shape, `half_space.rs` those without an end.

use core::{f32::consts::PI, mem::ManuallyDrop};

use crate::{
    math::{
        Capsule2d, Capsule3d, Circle, CircularSector, CircularSegment, Cone, ConicalFrustum,
        ConvexPolygon, Cuboid, Cylinder, DVec2, DVec3, Ellipse, Plane3d, Rectangle, Rhombus,
        Segment2d, Segment3d, Sphere, Tetrahedron, Triangle2d, Triangle3d, Vec2, Vec3,
    },
    shape::{
        ConvexHull, Shape, ShapeError, Support,
        into_shape::{ConvexShape, IntoShape, sealed},
        points::farthest,
        support_fns::Cap,
    },
    space::{DVector, Space},
};

/// To be a shape costs a primitive nothing: the compiler sees which kind it is, and looks no further. (That nothing is left
/// to be dropped has to be said.)
///
/// Each primitive, whether it is convex whatever its numbers, its space, and the kind of shape that it is.
macro_rules! primitives {
    ($($primitive:ident $(: $convex:ident)? in $space:ident => |$it:ident| $shape:expr;)*) => { $(
        impl Support for $primitive {
            type Vector = $space;

            #[inline]
            fn support(&self, direction: <$space as Space>::DVec) -> <$space as Space>::DVec {
                let $it = self;
                let shape: ManuallyDrop<Shape<$space>> = ManuallyDrop::new($shape);
                shape.support(direction)
            }

            #[inline]
            fn radius(&self) -> f64 {
                let $it = self;
                let shape: ManuallyDrop<Shape<$space>> = ManuallyDrop::new($shape);
                shape.radius()
            }

            #[inline]
            fn block(&self) -> Option<<$space as Space>::DVec> {
                let $it = self;
                let shape: ManuallyDrop<Shape<$space>> = ManuallyDrop::new($shape);
                shape.block()
            }
        }

        impl sealed::Sealed for $primitive {}
        $(impl $convex for $primitive {})?
        impl IntoShape for $primitive {
            type Vector = $space;

            fn into_shape(self) -> Result<Shape<$space>, ShapeError> {
                let $it = self;
                let shape: Shape<$space> = $shape;
                shape.checked()
            }
        }
    )* };
}

primitives! {
    Circle: ConvexShape in Vec2 => |it| Shape::Ball { radius: it.radius };
    Sphere: ConvexShape in Vec3 => |it| Shape::Ball { radius: it.radius };
    Capsule2d: ConvexShape in Vec2 => |it| Shape::Capsule { half_length: it.half_length, radius: it.radius };
    Capsule3d: ConvexShape in Vec3 => |it| Shape::Capsule { half_length: it.half_length, radius: it.radius };
    Rectangle: ConvexShape in Vec2 => |it| Shape::Box { half_size: it.half_size };
    Cuboid: ConvexShape in Vec3 => |it| Shape::Box { half_size: it.half_size };
    Rhombus: ConvexShape in Vec2 => |it| Shape::Diamond { half_diagonals: it.half_diagonals };
    Ellipse: ConvexShape in Vec2 => |it| Shape::Ellipsoid { half_size: it.half_size };
    Segment2d: ConvexShape in Vec2 => |it| Shape::Segment(it.vertices);
    Segment3d: ConvexShape in Vec3 => |it| Shape::Segment(it.vertices);
    Triangle2d: ConvexShape in Vec2 => |it| Shape::Triangle(it.vertices);
    Triangle3d: ConvexShape in Vec3 => |it| Shape::Triangle(it.vertices);
    Tetrahedron: ConvexShape in Vec3 => |it| Shape::Tetrahedron(it.vertices);
    Cylinder: ConvexShape in Vec3 => |it| Shape::frustum(it.half_height, it.radius, it.radius);
    Cone: ConvexShape in Vec3 => |it| Shape::frustum(0.5 * it.height, 0.0, it.radius);
    ConicalFrustum: ConvexShape in Vec3 => |it| Shape::frustum(0.5 * it.height, it.radius_top, it.radius_bottom);
    CircularSegment: ConvexShape in Vec2 => |it| cap(it.arc.radius, it.arc.half_angle, false);
    CircularSector in Vec2 => |it| cap(it.arc.radius, it.arc.half_angle, true);
}

/// A circular segment or sector, or in space what they are when turned about y; with all of its circle, a ball.
pub(super) fn cap<V: Space>(radius: f32, half_angle: f32, pointed: bool) -> Shape<V> {
    if half_angle.is_finite() && half_angle >= PI {
        Shape::Ball { radius }
    } else {
        Shape::Cap(Cap::new(radius, half_angle, pointed))
    }
}

/// The hull of the vertices: in whatever order they are, and also where Bevy has been told not to check that they are those
/// of a convex polygon.
impl Support for ConvexPolygon {
    type Vector = Vec2;

    #[inline]
    fn support(&self, direction: DVec2) -> DVec2 {
        farthest(self.vertices(), direction)
    }
}

impl sealed::Sealed for ConvexPolygon {}
impl ConvexShape for ConvexPolygon {}
impl IntoShape for ConvexPolygon {
    type Vector = Vec2;

    fn into_shape(self) -> Result<Shape<Vec2>, ShapeError> {
        ConvexHull::new(self.vertices().iter().copied()).map(Shape::Hull)
    }
}

/// Where this far down, the shortest way from y to a normal is none that Bevy tells from others: it turns about an axis.
const DOWN: f64 = 2.0 * f32::EPSILON as f64 - 1.0;

/// The corners of a plane that has an end: a rectangle, turned as Bevy's mesh of it.
///
/// That is in the plane of x and z, with y for its normal, and turned from there by the shortest way to the normal n. This
/// takes a vector e across y to e - (n + y) (e·n) / (1 + n·y).
fn corners(plane: &Plane3d) -> [Vec3; 4] {
    let normal = plane.normal.to_f64().unit().unwrap_or(DVec3::NAN);
    let turned = |axis: DVec3| {
        let along = axis.dot(normal);
        if normal.y < DOWN {
            axis - normal * along
        } else {
            axis - (normal + DVec3::Y) * (along / (1.0 + normal.y))
        }
    };
    let half_size = plane.half_size.to_f64();
    let x = turned(DVec3::X) * half_size.x;
    let z = turned(DVec3::Z) * half_size.y;
    [x + z, x - z, -x - z, z - x].map(Vec3::from_f64)
}

impl Support for Plane3d {
    type Vector = Vec3;

    #[inline]
    fn support(&self, direction: DVec3) -> DVec3 {
        farthest(&corners(self), direction)
    }
}

impl sealed::Sealed for Plane3d {}
impl ConvexShape for Plane3d {}
impl IntoShape for Plane3d {
    type Vector = Vec3;

    fn into_shape(self) -> Result<Shape<Vec3>, ShapeError> {
        ShapeError::check_direction("normal", *self.normal)?;
        ShapeError::check_lengths("half size", self.half_size)?;
        Shape::Tetrahedron(corners(&self)).checked()
    }
}
