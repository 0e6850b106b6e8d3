//! What differs between the plane and space.

use std::fmt::Debug;

use bevy::{
    math::{
        DMat3, DQuat, DVec2, DVec3, Dir2, Dir3, Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3,
    },
    prelude::{
        Capsule2d, Capsule3d, Circle, Cuboid, InfinitePlane3d, Plane2d, Rectangle, Segment2d,
        Segment3d, Sphere, Triangle2d, Triangle3d,
    },
};
use headbutt::{Collider, IntoShape, ShapeError, Support};

use super::primitive::{Flat, Primitives, Solid};

/// A primitive of the engine, as a query and as a collider takes it.
pub trait Primitive<V>: Support<Vector = V> + IntoShape + Copy + Debug {}

impl<V, P: Support<Vector = V> + IntoShape + Copy + Debug> Primitive<V> for P {}

/// A dimension to look for failures in. All that is computed about it is computed in space; the plane is z = 0.
pub trait Dimension: headbutt::Dimension {
    /// 2 or 3.
    const COUNT: usize;

    type Ball: Primitive<Self>;
    type Capsule: Primitive<Self>;
    type Block: Primitive<Self>;
    type Segment: Primitive<Self>;
    type Triangle: Primitive<Self>;
    type Ground: Primitive<Self>;
    /// Those that there are in this dimension alone.
    type Primitives: Primitives<Self>;

    fn ball(radius: f32) -> Self::Ball;
    fn capsule(half_length: f32, radius: f32) -> Self::Capsule;
    fn block(half_size: Self) -> Self::Block;
    fn segment(vertices: [Self; 2]) -> Self::Segment;
    fn triangle(vertices: [Self; 3]) -> Self::Triangle;
    /// `None` if that is no direction.
    fn ground(normal: Self) -> Option<Self::Ground>;
    /// The normal, of unit length in f64.
    fn upward(ground: &Self::Ground) -> DVec3;
    fn compound(parts: [(Self::Isometry, Collider); 2]) -> Result<Collider, ShapeError>;
    /// A polyline from each point to the next, or a mesh.
    fn surface(points: &[Self], facets: &[[u32; 3]]) -> Result<Collider, ShapeError>;

    /// The components that there are of three.
    fn of(vector: Vec3) -> Self;

    /// In f64 and in space.
    fn deep(self) -> DVec3;

    /// From the f64 vector of the queries, and back.
    fn deepen(wide: Self::DVec) -> DVec3;
    fn flatten(vector: DVec3) -> Self::DVec;

    fn isometry(place: &Place<Self>) -> Self::Isometry;

    /// The rotation in f64, made orthonormal, or `None` if it is none.
    fn matrix(turn: Turn) -> Option<DMat3>;

    /// The rotation by an angle; in the plane whatever the axis is.
    fn turn(axis: DVec3, angle: f64) -> Turn;

    /// The rotation `second` and then `first`.
    fn compose(first: Turn, second: Turn) -> Turn;
}

/// A rotation as the engine stores it: the quaternion x, y, z, w; in the plane the cosine and the sine, and nothing else.
pub type Turn = [f32; 4];

/// Where a shape is.
#[derive(Clone, Copy)]
pub struct Place<V> {
    pub turn: Turn,
    pub at: V,
}

impl Dimension for Vec2 {
    const COUNT: usize = 2;

    type Ball = Circle;
    type Capsule = Capsule2d;
    type Block = Rectangle;
    type Segment = Segment2d;
    type Triangle = Triangle2d;
    type Ground = Plane2d;
    type Primitives = Flat;

    fn ball(radius: f32) -> Circle {
        Circle { radius }
    }

    fn capsule(half_length: f32, radius: f32) -> Capsule2d {
        Capsule2d {
            radius,
            half_length,
        }
    }

    fn block(half_size: Vec2) -> Rectangle {
        Rectangle { half_size }
    }

    fn segment(vertices: [Vec2; 2]) -> Segment2d {
        Segment2d { vertices }
    }

    fn triangle(vertices: [Vec2; 3]) -> Triangle2d {
        Triangle2d { vertices }
    }

    fn ground(normal: Vec2) -> Option<Plane2d> {
        Dir2::new(normal).ok().map(|normal| Plane2d { normal })
    }

    fn upward(ground: &Plane2d) -> DVec3 {
        ground.normal.as_vec2().deep().normalize()
    }

    fn compound(parts: [(Isometry2d, Collider); 2]) -> Result<Collider, ShapeError> {
        Collider::try_compound(parts)
    }

    fn surface(points: &[Vec2], _: &[[u32; 3]]) -> Result<Collider, ShapeError> {
        Collider::try_polyline(points.iter().copied())
    }

    fn of(vector: Vec3) -> Vec2 {
        vector.truncate()
    }

    fn deep(self) -> DVec3 {
        self.as_dvec2().extend(0.0)
    }

    fn deepen(wide: DVec2) -> DVec3 {
        wide.extend(0.0)
    }

    fn flatten(vector: DVec3) -> DVec2 {
        vector.truncate()
    }

    fn isometry(place: &Place<Vec2>) -> Isometry2d {
        let [cos, sin, ..] = place.turn;
        Isometry2d {
            rotation: Rot2 { cos, sin },
            translation: place.at,
        }
    }

    fn matrix([cos, sin, ..]: Turn) -> Option<DMat3> {
        let x = DVec3::new(cos.into(), sin.into(), 0.0).try_normalize()?;
        Some(DMat3::from_cols(x, DVec3::new(-x.y, x.x, 0.0), DVec3::Z))
    }

    fn turn(_: DVec3, angle: f64) -> Turn {
        [angle.cos() as f32, angle.sin() as f32, 0.0, 0.0]
    }

    fn compose(first: Turn, second: Turn) -> Turn {
        let [a, b] = [first, second].map(|[cos, sin, ..]| DVec2::new(cos.into(), sin.into()));
        let both = a.rotate(b).as_vec2();
        [both.x, both.y, 0.0, 0.0]
    }
}

impl Dimension for Vec3 {
    const COUNT: usize = 3;

    type Ball = Sphere;
    type Capsule = Capsule3d;
    type Block = Cuboid;
    type Segment = Segment3d;
    type Triangle = Triangle3d;
    type Ground = InfinitePlane3d;
    type Primitives = Solid;

    fn ball(radius: f32) -> Sphere {
        Sphere { radius }
    }

    fn capsule(half_length: f32, radius: f32) -> Capsule3d {
        Capsule3d {
            radius,
            half_length,
        }
    }

    fn block(half_size: Vec3) -> Cuboid {
        Cuboid { half_size }
    }

    fn segment(vertices: [Vec3; 2]) -> Segment3d {
        Segment3d { vertices }
    }

    fn triangle(vertices: [Vec3; 3]) -> Triangle3d {
        Triangle3d { vertices }
    }

    fn ground(normal: Vec3) -> Option<InfinitePlane3d> {
        Dir3::new(normal)
            .ok()
            .map(|normal| InfinitePlane3d { normal })
    }

    fn upward(ground: &InfinitePlane3d) -> DVec3 {
        ground.normal.as_vec3().deep().normalize()
    }

    fn compound(parts: [(Isometry3d, Collider); 2]) -> Result<Collider, ShapeError> {
        Collider::try_compound(parts)
    }

    fn surface(points: &[Vec3], facets: &[[u32; 3]]) -> Result<Collider, ShapeError> {
        Collider::try_trimesh(points.iter().copied(), facets.iter().copied())
    }

    fn of(vector: Vec3) -> Vec3 {
        vector
    }

    fn deep(self) -> DVec3 {
        self.as_dvec3()
    }

    fn deepen(wide: DVec3) -> DVec3 {
        wide
    }

    fn flatten(vector: DVec3) -> DVec3 {
        vector
    }

    fn isometry(place: &Place<Vec3>) -> Isometry3d {
        Isometry3d {
            rotation: Quat::from_array(place.turn),
            translation: place.at.into(),
        }
    }

    fn matrix(turn: Turn) -> Option<DMat3> {
        let quat = DQuat::from_array(turn.map(f64::from));
        let length = quat.length();
        (length > 0.0 && length.is_finite()).then(|| DMat3::from_quat(quat * (1.0 / length)))
    }

    fn turn(axis: DVec3, angle: f64) -> Turn {
        let axis = axis.try_normalize().unwrap_or(DVec3::Z);
        let quat = DQuat::from_axis_angle(axis, angle);
        quat.to_array().map(|component| component as f32)
    }

    fn compose(first: Turn, second: Turn) -> Turn {
        let [a, b] = [first, second].map(|turn| DVec3::from_slice(&turn.map(f64::from)));
        let [v, w] = [first, second].map(|turn| f64::from(turn[3]));
        // The product of two quaternions of any length.
        let vector = a * w + b * v + a.cross(b);
        [vector.x, vector.y, vector.z, v * w - a.dot(b)].map(|component| component as f32)
    }
}

/// Whether two vectors are the same to the bit; any NaN is as good as another.
pub fn same_bits<V: Dimension>(left: V, right: V) -> bool {
    let [left, right] = [left, right].map(|vector| vector.deep().as_vec3().to_array());
    left.iter()
        .zip(right)
        .all(|(left, right)| same_number(*left, right))
}

/// The same of two numbers.
pub fn same_number(left: f32, right: f32) -> bool {
    left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
}
