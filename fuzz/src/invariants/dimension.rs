//! The differences between 2D and 3D.

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

/// A primitive of Bevy, for queries and colliders.
pub trait Primitive<V>: Support<Vector = V> + IntoShape + Copy + Debug {}

impl<V, P: Support<Vector = V> + IntoShape + Copy + Debug> Primitive<V> for P {}

/// A dimension in which pairs are tested. The tests compute in 3D, and 2D is the plane z = 0.
pub trait Dimension: headbutt::Dimension {
    /// The number of dimensions: 2 or 3.
    const COUNT: usize;

    type Ball: Primitive<Self>;
    type Capsule: Primitive<Self>;
    type Block: Primitive<Self>;
    type Segment: Primitive<Self>;
    type Triangle: Primitive<Self>;
    type Ground: Primitive<Self>;

    fn ball(radius: f32) -> Self::Ball;
    fn capsule(half_length: f32, radius: f32) -> Self::Capsule;
    fn block(half_size: Self) -> Self::Block;
    fn segment(vertices: [Self; 2]) -> Self::Segment;
    fn triangle(vertices: [Self; 3]) -> Self::Triangle;
    /// Returns Bevy's half-space, or `None` if the normal has no direction.
    fn ground(normal: Self) -> Option<Self::Ground>;
    /// Returns the normal, with unit length in f64.
    fn up(ground: &Self::Ground) -> DVec3;
    fn compound(parts: [(Self::Isometry, Collider); 2]) -> Result<Collider, ShapeError>;
    /// Builds a polyline through the points in 2D, and a mesh in 3D.
    fn surface(points: &[Self], facets: &[[u32; 3]]) -> Result<Collider, ShapeError>;

    /// Converts a 3D vector to this dimension. In 2D, z is dropped.
    fn from_vec3(vector: Vec3) -> Self;

    /// Converts the vector to f64 and 3D.
    fn to_dvec3(self) -> DVec3;

    // The next functions convert between 3D and the f64 vectors of the queries.
    fn dvec_to_3d(vector: Self::DVec) -> DVec3;
    fn dvec_from_3d(vector: DVec3) -> Self::DVec;

    fn isometry(pose: &Pose<Self>) -> Self::Isometry;

    /// Returns the rotation as an orthonormal matrix, or `None` if it is invalid.
    fn matrix(rotation: Rotation) -> Option<DMat3>;

    /// Returns the rotation by an angle. In 2D, the axis is ignored.
    fn rotation(axis: DVec3, angle: f64) -> Rotation;

    /// Returns the rotation by `second`, followed by `first`.
    fn compose(first: Rotation, second: Rotation) -> Rotation;
}

/// A rotation, as Bevy stores it: in 3D the quaternion x, y, z, w, and in 2D the cosine and the
/// sine.
pub type Rotation = [f32; 4];

/// The pose of a shape.
#[derive(Clone, Copy)]
pub struct Pose<V> {
    pub rotation: Rotation,
    pub translation: V,
}

impl Dimension for Vec2 {
    const COUNT: usize = 2;

    type Ball = Circle;
    type Capsule = Capsule2d;
    type Block = Rectangle;
    type Segment = Segment2d;
    type Triangle = Triangle2d;
    type Ground = Plane2d;

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

    fn up(ground: &Plane2d) -> DVec3 {
        ground.normal.as_vec2().to_dvec3().normalize()
    }

    fn compound(parts: [(Isometry2d, Collider); 2]) -> Result<Collider, ShapeError> {
        Collider::try_compound(parts)
    }

    fn surface(points: &[Vec2], _: &[[u32; 3]]) -> Result<Collider, ShapeError> {
        Collider::try_polyline(points.iter().copied())
    }

    fn from_vec3(vector: Vec3) -> Vec2 {
        vector.truncate()
    }

    fn to_dvec3(self) -> DVec3 {
        self.as_dvec2().extend(0.0)
    }

    fn dvec_to_3d(vector: DVec2) -> DVec3 {
        vector.extend(0.0)
    }

    fn dvec_from_3d(vector: DVec3) -> DVec2 {
        vector.truncate()
    }

    fn isometry(pose: &Pose<Vec2>) -> Isometry2d {
        let [cos, sin, ..] = pose.rotation;
        Isometry2d {
            rotation: Rot2 { cos, sin },
            translation: pose.translation,
        }
    }

    fn matrix([cos, sin, ..]: Rotation) -> Option<DMat3> {
        let x = DVec3::new(cos.into(), sin.into(), 0.0).try_normalize()?;
        Some(DMat3::from_cols(x, DVec3::new(-x.y, x.x, 0.0), DVec3::Z))
    }

    fn rotation(_: DVec3, angle: f64) -> Rotation {
        [angle.cos() as f32, angle.sin() as f32, 0.0, 0.0]
    }

    fn compose(first: Rotation, second: Rotation) -> Rotation {
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

    fn up(ground: &InfinitePlane3d) -> DVec3 {
        ground.normal.as_vec3().to_dvec3().normalize()
    }

    fn compound(parts: [(Isometry3d, Collider); 2]) -> Result<Collider, ShapeError> {
        Collider::try_compound(parts)
    }

    fn surface(points: &[Vec3], facets: &[[u32; 3]]) -> Result<Collider, ShapeError> {
        Collider::try_trimesh(points.iter().copied(), facets.iter().copied())
    }

    fn from_vec3(vector: Vec3) -> Vec3 {
        vector
    }

    fn to_dvec3(self) -> DVec3 {
        self.as_dvec3()
    }

    fn dvec_to_3d(vector: DVec3) -> DVec3 {
        vector
    }

    fn dvec_from_3d(vector: DVec3) -> DVec3 {
        vector
    }

    fn isometry(pose: &Pose<Vec3>) -> Isometry3d {
        Isometry3d {
            rotation: Quat::from_array(pose.rotation),
            translation: pose.translation.into(),
        }
    }

    fn matrix(rotation: Rotation) -> Option<DMat3> {
        let quat = DQuat::from_array(rotation.map(f64::from));
        let length = quat.length();
        (length > 0.0 && length.is_finite()).then(|| DMat3::from_quat(quat * (1.0 / length)))
    }

    fn rotation(axis: DVec3, angle: f64) -> Rotation {
        let axis = axis.try_normalize().unwrap_or(DVec3::Z);
        let quat = DQuat::from_axis_angle(axis, angle);
        quat.to_array().map(|component| component as f32)
    }

    fn compose(first: Rotation, second: Rotation) -> Rotation {
        let [a, b] = [first, second].map(|rotation| DVec3::from_slice(&rotation.map(f64::from)));
        let [v, w] = [first, second].map(|rotation| f64::from(rotation[3]));
        // This is the product of two quaternions of any length.
        let vector = a * w + b * v + a.cross(b);
        [vector.x, vector.y, vector.z, v * w - a.dot(b)].map(|component| component as f32)
    }
}

/// Returns `true` if two vectors are equal to the bit. All NaNs count as equal.
pub fn equal_bits<V: Dimension>(left: V, right: V) -> bool {
    let [left, right] = [left, right].map(|vector| vector.to_dvec3().as_vec3().to_array());
    left.iter()
        .zip(right)
        .all(|(left, right)| equal_number(*left, right))
}

/// Returns `true` if two numbers are equal to the bit. All NaNs count as equal.
pub fn equal_number(left: f32, right: f32) -> bool {
    left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
}
