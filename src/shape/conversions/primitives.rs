//! Bevy's primitives and points as shapes. Frames and conventions are Bevy's. A primitive that is
//! not defined by points is centered on the origin (for a circular segment or sector, the circle is
//! centered). Capsules, cylinders and cones lie along y, and the tip of a cone points up.

use core::{f32::consts::PI, mem::ManuallyDrop};
use std::sync::Arc;

use crate::{
    math::{
        Capsule2d, Capsule3d, Circle, CircularSector, CircularSegment, Cone, ConicalFrustum,
        ConvexPolygon, Cuboid, Cylinder, DVec2, DVec3, Ellipse, Extrusion, InfinitePlane3d,
        Plane2d, Plane3d, Primitive2d, Rectangle, Rhombus, Segment2d, Segment3d, Sphere,
        Tetrahedron, Triangle2d, Triangle3d, Vec2, Vec3,
    },
    shape::{
        ConvexHull, ShapeError,
        conversions::into_shape::{IntoShape, sealed},
        elements::{
            chord::{ChordResult, NoClosedForm},
            core::{Core, VertexBounds},
            line::Line,
            points::farthest,
            support_fns::Cap,
        },
        extrusion,
        support::{DVecOf, MatrixOf, Shape, Support},
    },
    space::{DVector, Space},
};

/// A primitive that corresponds to one variant of [`Shape`].
trait AsShape: Support {
    /// Returns the variant. The compiler removes the code of all other variants only if no shape is
    /// dropped. [`ManuallyDrop`] prevents the drop. Nothing leaks, because no variant in the table
    /// below owns memory.
    fn as_shape(&self) -> ManuallyDrop<Shape<Self::Vector>>;
}

/// Implements the traits for each primitive, given its vector type and its variant of [`Shape`].
macro_rules! primitives {
    ($($primitive:ident in $space:ident => |$primitive_value:ident| $shape:expr;)*) => { $(
        impl AsShape for $primitive {
            #[inline(always)]
            fn as_shape(&self) -> ManuallyDrop<Shape<$space>> {
                let $primitive_value = self;
                ManuallyDrop::new($shape)
            }
        }

        impl Support for $primitive {
            type Vector = $space;

            // These functions are inlined into queries of other crates, so that a query on two
            // primitives contains only the code for these primitives.
            #[inline]
            fn support(&self, direction: DVecOf<Self>) -> DVecOf<Self> {
                self.as_shape().support(direction)
            }

            #[inline]
            fn radius(&self) -> f64 {
                self.as_shape().radius()
            }

            #[inline]
            fn core(&self) -> Core<'_, DVecOf<Self>> {
                self.as_shape().simple_core()
            }

            #[inline]
            fn vertex_bounds(&self, linear: MatrixOf<Self>) -> Option<VertexBounds<DVecOf<Self>>> {
                self.as_shape().vertex_bounds(linear)
            }

            fn chord(&self, line: &Line<DVecOf<Self>>, margin: f64) -> ChordResult<DVecOf<Self>> {
                self.as_shape().chord(line, margin)
            }

            fn to_shape(&self) -> Option<Shape<$space>> {
                Some(ManuallyDrop::into_inner(self.as_shape()))
            }
        }

        impl sealed::Sealed for $primitive {}
        impl IntoShape for $primitive {
            type Vector = $space;

            fn into_shape(self) -> Result<Shape<$space>, ShapeError> {
                ManuallyDrop::into_inner(self.as_shape()).checked()
            }
        }
    )* };
}

primitives! {
    Circle in Vec2 => |circle| Shape::Ball { radius: circle.radius };
    Sphere in Vec3 => |sphere| Shape::Ball { radius: sphere.radius };
    Capsule2d in Vec2 => |capsule| Shape::Capsule {
        half_length: capsule.half_length,
        radius: capsule.radius,
    };
    Capsule3d in Vec3 => |capsule| Shape::Capsule {
        half_length: capsule.half_length,
        radius: capsule.radius,
    };
    Rectangle in Vec2 => |rectangle| Shape::Box { half_size: rectangle.half_size };
    Cuboid in Vec3 => |cuboid| Shape::Box { half_size: cuboid.half_size };
    Rhombus in Vec2 => |rhombus| Shape::Diamond {
        half_diagonals: rhombus.half_diagonals,
    };
    Ellipse in Vec2 => |ellipse| Shape::Ellipsoid { half_size: ellipse.half_size };
    Segment2d in Vec2 => |segment| Shape::Segment(segment.vertices);
    Segment3d in Vec3 => |segment| Shape::Segment(segment.vertices);
    Triangle2d in Vec2 => |triangle| Shape::Triangle(triangle.vertices);
    Triangle3d in Vec3 => |triangle| Shape::Triangle(triangle.vertices);
    Tetrahedron in Vec3 => |tetrahedron| Shape::Tetrahedron(tetrahedron.vertices);
    Cylinder in Vec3 => |cylinder| Shape::Frustum {
        half_height: cylinder.half_height,
        radius_top: cylinder.radius,
        radius_bottom: cylinder.radius,
    };
    Cone in Vec3 => |cone| Shape::Frustum {
        half_height: 0.5 * cone.height,
        radius_top: 0.0,
        radius_bottom: cone.radius,
    };
    ConicalFrustum in Vec3 => |frustum| Shape::Frustum {
        half_height: 0.5 * frustum.height,
        radius_top: frustum.radius_top,
        radius_bottom: frustum.radius_bottom,
    };
    CircularSegment in Vec2 => |segment| {
        cap(segment.arc.radius, segment.arc.half_angle, false)
    };
    CircularSector in Vec2 => |sector| cap(sector.arc.radius, sector.arc.half_angle, true);
    Plane2d in Vec2 => |plane| Shape::HalfSpace { normal: *plane.normal };
    InfinitePlane3d in Vec3 => |plane| Shape::HalfSpace { normal: *plane.normal };
}

/// Returns a circular segment or sector, or in 3D its solid of revolution around y. If the angle
/// covers the full circle, the result is a ball.
pub fn cap<V: Space>(radius: f32, half_angle: f32, pointed: bool) -> Shape<V> {
    if half_angle.is_finite() && half_angle >= PI {
        Shape::Ball { radius }
    } else {
        Shape::Cap(Cap::new(radius, half_angle, pointed))
    }
}

/// Implements the traits for each vector type. As a shape, a vector is a point in the shape's own
/// frame.
macro_rules! points {
    ($($vector:ident),*) => { $(
        impl Support for $vector {
            type Vector = Self;

            fn support(&self, _: DVecOf<Self>) -> DVecOf<Self> {
                self.to_f64()
            }

            fn to_shape(&self) -> Option<Shape<Self>> {
                self.into_shape().ok()
            }
        }

        impl sealed::Sealed for $vector {}
        impl IntoShape for $vector {
            type Vector = Self;

            fn into_shape(self) -> Result<Shape<Self>, ShapeError> {
                ConvexHull::new([self]).map(Shape::Hull)
            }
        }
    )* };
}

points!(Vec2, Vec3);

macro_rules! hulls_of_points {
    ($([$($generics:tt)*] $list:ty),*) => { $(
        /// Describes the convex hull of the points, without the checks and the preparation of a
        /// [`ConvexHull`](crate::ConvexHull).
        impl<V: Space, $($generics)*> Support for $list {
            type Vector = V;

            fn support(&self, direction: V::DVec) -> V::DVec {
                farthest(self, direction)
            }

            fn to_shape(&self) -> Option<Shape<V>> {
                hull(self)
            }
        }
    )* };
}

hulls_of_points!([] [V], [] Vec<V>, [const N: usize] [V; N]);

/// Returns the hull of points as a collider stores it, or `None` if the hull is invalid.
fn hull<V: Space>(points: &[V]) -> Option<Shape<V>> {
    let hull = ConvexHull::new(points.iter().copied());
    hull.ok().map(Shape::Hull)
}

/// Describes the convex hull of the vertices, because `ConvexPolygon::new_unchecked` also accepts
/// the vertices of a concave polygon.
impl Support for ConvexPolygon {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        farthest(self.vertices(), direction)
    }

    fn to_shape(&self) -> Option<Shape<Vec2>> {
        hull(self.vertices())
    }
}

impl sealed::Sealed for ConvexPolygon {}
impl IntoShape for ConvexPolygon {
    type Vector = Vec2;

    fn into_shape(self) -> Result<Shape<Vec2>, ShapeError> {
        ConvexHull::new(self.vertices().iter().copied()).map(Shape::Hull)
    }
}

/// If the y component of a unit normal is below this value, the rotation from y to the normal is a
/// half turn to the precision of f32. The axis of a half turn is arbitrary.
const OPPOSITE_TO_Y: f64 = 2.0 * f32::EPSILON as f64 - 1.0;

/// Returns the corners of a finite plane: a rectangle, rotated as in Bevy's mesh of the plane.
///
/// The mesh is built in the xz plane and rotated from y to the normal n by the shortest rotation.
/// The rotation maps a vector e orthogonal to y to e - (n + y) (e·n) / (1 + n·y).
fn rectangle_corners(plane: &Plane3d) -> [Vec3; 4] {
    let normal = plane.normal.to_f64().unit().unwrap_or(DVec3::NAN);
    let rotated = |axis: DVec3| {
        let along = axis.dot(normal);
        if normal.y < OPPOSITE_TO_Y {
            axis - normal * along
        } else {
            axis - (normal + DVec3::Y) * (along / (1.0 + normal.y))
        }
    };
    let half_size = plane.half_size.to_f64();
    let x = rotated(DVec3::X) * half_size.x;
    let z = rotated(DVec3::Z) * half_size.y;
    [x + z, x - z, -x - z, z - x].map(Vec3::from_f64)
}

impl Support for Plane3d {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        farthest(&rectangle_corners(self), direction)
    }

    fn to_shape(&self) -> Option<Shape<Vec3>> {
        Some(Shape::Tetrahedron(rectangle_corners(self)))
    }
}

impl sealed::Sealed for Plane3d {}
impl IntoShape for Plane3d {
    type Vector = Vec3;

    fn into_shape(self) -> Result<Shape<Vec3>, ShapeError> {
        ShapeError::check_direction("normal", *self.normal)?;
        ShapeError::check_lengths("half size", self.half_size)?;
        Shape::Tetrahedron(rectangle_corners(&self)).checked()
    }
}

/// A 2D shape in the xy plane, extruded along z in both directions.
impl<P: Primitive2d + Support<Vector = Vec2>> Support for Extrusion<P> {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        extrusion::support::<Vec3>(&self.base_shape, self.half_depth, direction)
    }

    fn chord(&self, line: &Line<DVec3>, margin: f64) -> ChordResult<DVec3> {
        if margin > 0.0 {
            return Err(NoClosedForm);
        }
        extrusion::chord(&self.base_shape, self.half_depth.into(), line)
    }

    fn to_shape(&self) -> Option<Shape<Vec3>> {
        let base = Arc::new(self.base_shape.to_shape()?);
        let half_depth = self.half_depth;
        Some(Shape::Extrusion { base, half_depth })
    }
}

impl<P: Primitive2d> sealed::Sealed for Extrusion<P> {}
impl<P: Primitive2d + IntoShape<Vector = Vec2>> IntoShape for Extrusion<P> {
    type Vector = Vec3;

    fn into_shape(self) -> Result<Shape<Vec3>, ShapeError> {
        let base = Arc::new(self.base_shape.into_shape()?);
        let half_depth = self.half_depth;
        Shape::Extrusion { base, half_depth }.checked()
    }
}
