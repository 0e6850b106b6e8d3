//! Random shapes of every kind in random poses: separated, nearly touching, shallow and deep.

use std::fmt;

use bevy::{
    math::{DMat3, DQuat, DVec2, DVec3, Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3},
    prelude::{
        Capsule2d, Capsule3d, Circle, Cuboid, Ellipse, Rectangle, Segment2d, Segment3d, Sphere,
        Triangle2d, Triangle3d,
    },
    transform::components::Transform,
};
use headbutt::{Collider, ConvexHull, IntoShape, Rounded, Support};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Body, unit};
use crate::invariants::Counted;

/// A shape for queries, and the same shape as a collider.
pub struct Made<V> {
    pub support: Box<dyn Support<Vector = V>>,
    pub collider: Collider,
}

impl<V: headbutt::Dimension> Made<V> {
    pub fn new(shape: impl Primitive<V>) -> Self {
        Self {
            collider: Collider::try_new(shape.clone()).expect("a shape"),
            support: Box::new(shape),
        }
    }

    /// Returns a custom shape.
    pub fn custom<S>(shape: S) -> Self
    where
        S: Support<Vector = V> + Clone + Send + Sync + 'static,
    {
        Self {
            collider: Collider::custom(shape.clone()),
            support: Box::new(shape),
        }
    }
}

/// A shape of the library, for queries and as a collider.
pub trait Primitive<V>: Support<Vector = V> + IntoShape<Vector = V> + Clone + 'static {}

impl<V, S> Primitive<V> for S where S: Support<Vector = V> + IntoShape<Vector = V> + Clone + 'static {}

/// A dimension to test in.
pub trait Dimension: headbutt::Dimension {
    const PLANAR: bool;

    /// Returns the components that exist in this dimension.
    fn of(vector: Vec3) -> Self;

    /// Returns the vector in f64 and in 3D.
    fn deep(self) -> DVec3;

    fn ball(radius: f32) -> Made<Self>;
    fn capsule(half_length: f32, radius: f32) -> Made<Self>;
    fn cuboid(half_size: Self) -> Made<Self>;
    fn segment(ends: [Self; 2]) -> Made<Self>;
    fn triangle(vertices: [Self; 3]) -> Made<Self>;
    fn diamond(half_size: Self, radius: f32) -> Made<Self>;
    fn ellipsoid(half_size: Self) -> Made<Self>;
    /// Returns the library's box with a margin.
    fn rounded_box(half_size: Self, margin: f32) -> Made<Self>;
    /// Returns a 2D shape. Panics in 3D.
    fn flat(shape: impl Primitive<Vec2>) -> Made<Self>;
    /// Returns a 3D shape. Panics in 2D.
    fn solid(shape: impl Primitive<Vec3>) -> Made<Self>;

    /// Returns an isometry. In 2D, the isometry has the rotation of the x axis within the plane.
    fn isometry(rotation: Quat, translation: Vec3) -> Self::Isometry;

    /// Returns the isometry, with its translation changed by a vector.
    fn shifted(isometry: Self::Isometry, way: Self) -> Self::Isometry;

    /// Returns the isometry that applies `earlier` and then `later`.
    fn after(later: Self::Isometry, earlier: Self::Isometry) -> Self::Isometry;

    /// Returns the vector after the rotation of [`isometry`](Self::isometry).
    fn turned(rotation: Quat, vector: Vec3) -> Vec3 {
        let (matrix, _) = Self::map(Self::isometry(rotation, Vec3::ZERO));
        (matrix * vector.as_dvec3()).as_vec3()
    }

    /// Returns the map of an isometry as it is rounded: an orthonormal matrix, and the translation.
    fn map(isometry: Self::Isometry) -> (DMat3, DVec3);

    /// Returns the isometry as an entity's transform. A 2D rotation may be rounded differently.
    fn transform(isometry: Self::Isometry) -> Transform;
}

/// A custom shape: the hull of the points at `half_size` on the axes, with a radius.
#[derive(Clone, Copy)]
pub struct Diamond<V> {
    pub half_size: V,
    pub radius: f32,
}

impl Support for Diamond<Vec2> {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        let half_size = self.half_size.as_dvec2();
        let heights = (direction * half_size).abs();
        let corner = if heights.x > heights.y {
            DVec2::X
        } else {
            DVec2::Y
        };
        half_size * corner * direction.signum()
    }

    fn radius(&self) -> f64 {
        self.radius.into()
    }
}

impl Support for Diamond<Vec3> {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let half_size = self.half_size.as_dvec3();
        let heights = (direction * half_size).abs();
        let corner = if heights.x > heights.y && heights.x > heights.z {
            DVec3::X
        } else if heights.y > heights.z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        half_size * corner * direction.signum()
    }

    fn radius(&self) -> f64 {
        self.radius.into()
    }
}

/// A smooth custom shape: the points x with |x / `half_size`| at most 1. (In 2D, Bevy has an
/// ellipse.)
#[derive(Clone, Copy)]
pub struct Ellipsoid {
    pub half_size: Vec3,
}

impl Support for Ellipsoid {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let half_size = self.half_size.as_dvec3();
        half_size * (half_size * direction).normalize_or_zero()
    }
}

impl Dimension for Vec2 {
    const PLANAR: bool = true;

    fn of(vector: Vec3) -> Self {
        vector.truncate()
    }
    fn deep(self) -> DVec3 {
        self.as_dvec2().extend(0.0)
    }
    fn ball(radius: f32) -> Made<Self> {
        Made::new(Circle { radius })
    }
    fn capsule(half_length: f32, radius: f32) -> Made<Self> {
        Made::new(Capsule2d {
            radius,
            half_length,
        })
    }
    fn cuboid(half_size: Self) -> Made<Self> {
        Made::new(Rectangle { half_size })
    }
    fn segment(vertices: [Self; 2]) -> Made<Self> {
        Made::new(Segment2d { vertices })
    }
    fn triangle(vertices: [Self; 3]) -> Made<Self> {
        Made::new(Triangle2d { vertices })
    }
    fn diamond(half_size: Self, radius: f32) -> Made<Self> {
        Made::custom(Diamond { half_size, radius })
    }
    fn ellipsoid(half_size: Self) -> Made<Self> {
        Made::new(Ellipse { half_size })
    }
    fn rounded_box(half_size: Self, margin: f32) -> Made<Self> {
        Made::new(Rounded::new(Rectangle { half_size }, margin))
    }
    fn flat(shape: impl Primitive<Vec2>) -> Made<Self> {
        Made::new(shape)
    }
    fn solid(_: impl Primitive<Vec3>) -> Made<Self> {
        unreachable!("only in space")
    }
    fn isometry(rotation: Quat, translation: Vec3) -> Isometry2d {
        let x = (rotation * Vec3::X).truncate().normalize_or(Vec2::X);
        Isometry2d::new(translation.truncate(), Rot2 { cos: x.x, sin: x.y })
    }
    fn shifted(isometry: Isometry2d, way: Self) -> Isometry2d {
        Isometry2d::new(isometry.translation + way, isometry.rotation)
    }
    fn after(later: Isometry2d, earlier: Isometry2d) -> Isometry2d {
        later * earlier
    }
    fn map(isometry: Isometry2d) -> (DMat3, DVec3) {
        let rotation = isometry.rotation;
        let x = DVec3::new(rotation.cos.into(), rotation.sin.into(), 0.0).normalize();
        let matrix = DMat3::from_cols(x, DVec3::new(-x.y, x.x, 0.0), DVec3::Z);
        (matrix, isometry.translation.deep())
    }
    fn transform(isometry: Isometry2d) -> Transform {
        let rotation = Quat::from_rotation_z(isometry.rotation.as_radians());
        Transform::from_translation(isometry.translation.extend(0.0)).with_rotation(rotation)
    }
}

impl Dimension for Vec3 {
    const PLANAR: bool = false;

    fn of(vector: Vec3) -> Self {
        vector
    }
    fn deep(self) -> DVec3 {
        self.as_dvec3()
    }
    fn ball(radius: f32) -> Made<Self> {
        Made::new(Sphere { radius })
    }
    fn capsule(half_length: f32, radius: f32) -> Made<Self> {
        Made::new(Capsule3d {
            radius,
            half_length,
        })
    }
    fn cuboid(half_size: Self) -> Made<Self> {
        Made::new(Cuboid { half_size })
    }
    fn segment(vertices: [Self; 2]) -> Made<Self> {
        Made::new(Segment3d { vertices })
    }
    fn triangle(vertices: [Self; 3]) -> Made<Self> {
        Made::new(Triangle3d { vertices })
    }
    fn diamond(half_size: Self, radius: f32) -> Made<Self> {
        Made::custom(Diamond { half_size, radius })
    }
    fn ellipsoid(half_size: Self) -> Made<Self> {
        Made::custom(Ellipsoid { half_size })
    }
    fn rounded_box(half_size: Self, margin: f32) -> Made<Self> {
        Made::new(Rounded::new(Cuboid { half_size }, margin))
    }
    fn flat(_: impl Primitive<Vec2>) -> Made<Self> {
        unreachable!("only in the plane")
    }
    fn solid(shape: impl Primitive<Vec3>) -> Made<Self> {
        Made::new(shape)
    }
    fn isometry(rotation: Quat, translation: Vec3) -> Isometry3d {
        Isometry3d::new(translation, rotation)
    }
    fn shifted(isometry: Isometry3d, way: Self) -> Isometry3d {
        Isometry3d::new(Vec3::from(isometry.translation) + way, isometry.rotation)
    }
    fn after(later: Isometry3d, earlier: Isometry3d) -> Isometry3d {
        later * earlier
    }
    fn map(isometry: Isometry3d) -> (DMat3, DVec3) {
        let rotation = isometry.rotation.to_array().map(f64::from);
        let matrix = DMat3::from_quat(DQuat::from_array(rotation).normalize());
        (matrix, Vec3::from(isometry.translation).deep())
    }
    fn transform(isometry: Isometry3d) -> Transform {
        Transform::from_isometry(isometry)
    }
}

/// A shape that counts its support evaluations and fails an endless query.
pub type Bounded<'a, V> = Counted<Box<dyn Support<Vector = V> + 'a>>;

/// The kinds of shape that exist in both dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ball,
    Capsule,
    Box,
    Segment,
    Triangle,
    Hull,
    OnePoint,
    TwoPoints,
    Custom,
}

pub const KINDS: [Kind; 9] = [
    Kind::Ball,
    Kind::Capsule,
    Kind::Box,
    Kind::Segment,
    Kind::Triangle,
    Kind::Hull,
    Kind::OnePoint,
    Kind::TwoPoints,
    Kind::Custom,
];

/// A shape for the library, and the same shape as points with a radius for the oracle.
pub struct Shape<V: Dimension> {
    pub kind: Kind,
    /// The shape for the library, or `None` for a raw slice of the points.
    support: Option<Box<dyn Support<Vector = V>>>,
    pub points: Vec<V>,
    pub radius: f32,
}

impl<V: Dimension> fmt::Debug for Shape<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            kind,
            points,
            radius,
            ..
        } = self;
        write!(formatter, "{kind:?} of {points:?} with radius {radius:?}")
    }
}

impl<V: Dimension> Shape<V> {
    fn new(
        kind: Kind,
        support: Option<Box<dyn Support<Vector = V>>>,
        points: Vec<V>,
        radius: f32,
    ) -> Self {
        Self {
            kind,
            support,
            points,
            radius,
        }
    }

    pub fn ball(radius: f32) -> Self {
        let center = vec![V::default()];
        Self::new(Kind::Ball, Some(V::ball(radius).support), center, radius)
    }

    pub fn capsule(half_length: f32, radius: f32) -> Self {
        let ends = [1.0, -1.0].map(|sign| V::of(Vec3::Y * half_length * sign));
        let support = V::capsule(half_length, radius).support;
        Self::new(Kind::Capsule, Some(support), ends.to_vec(), radius)
    }

    pub fn cuboid(half_size: Vec3) -> Self {
        let sign = |number: u32, bit: u32| if (number >> bit) & 1 == 0 { 1.0 } else { -1.0 };
        let corners = (0..if V::PLANAR { 4 } else { 8 })
            .map(|number| Vec3::new(sign(number, 0), sign(number, 1), sign(number, 2)))
            .map(|signs| V::of(half_size * signs))
            .collect();
        let support = V::cuboid(V::of(half_size)).support;
        Self::new(Kind::Box, Some(support), corners, 0.0)
    }

    pub fn segment(ends: [V; 2]) -> Self {
        Self::new(
            Kind::Segment,
            Some(V::segment(ends).support),
            ends.to_vec(),
            0.0,
        )
    }

    pub fn triangle(corners: [V; 3]) -> Self {
        let support = V::triangle(corners).support;
        Self::new(Kind::Triangle, Some(support), corners.to_vec(), 0.0)
    }

    pub fn hull(points: Vec<V>) -> Self {
        let hull = ConvexHull::new(points.iter().copied()).expect("finite points");
        Self::new(Kind::Hull, Some(Box::new(hull)), points, 0.0)
    }

    /// Returns the raw slice of the points.
    pub fn slice(points: Vec<V>) -> Self {
        let kind = if points.len() == 1 {
            Kind::OnePoint
        } else {
            Kind::TwoPoints
        };
        Self::new(kind, None, points, 0.0)
    }

    /// Returns a custom shape.
    pub fn custom(half_size: Vec3, radius: f32) -> Self {
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let corners = axes
            .into_iter()
            .take(if V::PLANAR { 2 } else { 3 })
            .flat_map(|axis| [V::of(half_size * axis), V::of(-half_size * axis)])
            .collect();
        let support = V::diamond(V::of(half_size), radius).support;
        Self::new(Kind::Custom, Some(support), corners, radius)
    }

    /// Returns a random shape of about this size.
    fn random(kind: Kind, size: f32, random: &mut StdRng) -> Self {
        match kind {
            Kind::Ball => Self::ball(rarely(0.0, size, random)),
            Kind::Capsule => {
                let half_length = rarely(0.0, size * random.random_range(0.05..1.0), random);
                let radius = rarely(0.0, size * random.random_range(0.05..1.0), random);
                Self::capsule(half_length, radius)
            }
            Kind::Box => Self::cuboid(half_size(size, random)),
            Kind::Segment => Self::segment(points(size, random)),
            Kind::Triangle => Self::triangle(corners(size, random)),
            Kind::Hull => Self::hull(hull_points(size, random)),
            Kind::OnePoint => Self::slice(points::<V, 1>(size, random).to_vec()),
            Kind::TwoPoints => Self::slice(points::<V, 2>(size, random).to_vec()),
            Kind::Custom => {
                let rounded = random.random_bool(0.5);
                let radius = size * random.random_range(0.01..0.5);
                Self::custom(half_size(size, random), if rounded { radius } else { 0.0 })
            }
        }
    }

    pub fn support(&self) -> Bounded<'_, V> {
        let shape: Box<dyn Support<Vector = V> + '_> = match &self.support {
            Some(support) => Box::new(&**support),
            None => Box::new(&self.points[..]),
        };
        Counted::new(shape).bounded()
    }

    /// Returns the shape under a map, in a frame with another origin.
    pub fn body(&self, (rotation, translation): (DMat3, DVec3), origin: DVec3) -> Body {
        let points = self.points.iter().map(|point| point.deep());
        let turned = points.clone().map(|point| rotation * point);
        let placed = turned.map(|point| point + (translation - origin));
        Body {
            lever: points.map(DVec3::length).fold(0.0, f64::max),
            ..Body::new(placed, self.radius.into(), V::PLANAR)
        }
    }
}

fn rarely(rare: f32, usual: f32, random: &mut StdRng) -> f32 {
    if random.random_bool(0.04) {
        rare
    } else {
        usual
    }
}

/// Returns three lengths. Sometimes one length is a ten thousandth of the others, or 0.
fn half_size(size: f32, random: &mut StdRng) -> Vec3 {
    let mut lengths = [(); 3].map(|()| size * random.random_range(0.2..1.0));
    // This is one of the two axes that exist in 2D, too.
    let one = &mut lengths[random.random_range(0..2)];
    if random.random_bool(0.15) {
        *one *= 1e-4;
    } else if random.random_bool(0.04) {
        *one = 0.0;
    }
    Vec3::from(lengths)
}

fn point(random: &mut StdRng) -> Vec3 {
    Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
}

/// Returns points around a center that may lie outside of their hull.
fn points<V: Dimension, const N: usize>(size: f32, random: &mut StdRng) -> [V; N] {
    let center = rarely(2.0, 0.3, random) * point(random);
    [(); N].map(|()| V::of(size * (center + point(random))))
}

/// Returns the corners of a triangle that sometimes is a segment, or nearly so.
fn corners<V: Dimension>(size: f32, random: &mut StdRng) -> [V; 3] {
    let [a, b, c] = points::<V, 3>(size, random);
    let height = [1.0, 1.0, 1.0, 1.0, 1e-4, 0.0][random.random_range(0..6)];
    if height == 1.0 {
        return [a, b, c];
    }
    let on_edge = a.deep().lerp(b.deep(), 0.3);
    let apex = on_edge + (c.deep() - on_edge) * height;
    [a, b, V::of(apex.as_vec3())]
}

/// Returns points in general position, on a lattice (which makes coplanar faces), flat, or nearly
/// flat, with repeated and inner points.
fn hull_points<V: Dimension>(size: f32, random: &mut StdRng) -> Vec<V> {
    let thickness = [1.0, 1.0, 1.0, 1e-4, 0.0][random.random_range(0..5)];
    let lattice = random.random_bool(0.3);
    let count = random.random_range(1..10);
    let mut points: Vec<Vec3> = (0..count)
        .map(|_| {
            let point = point(random);
            let point = if lattice { point.round() } else { point };
            // The points are thin along an axis that exists in 2D, too.
            point * Vec3::new(1.0, thickness, 1.0) * size
        })
        .collect();
    if random.random_bool(0.3) {
        points.push(points[0]);
        points.push(points.iter().sum::<Vec3>() / points.len() as f32);
    }
    points.into_iter().map(V::of).collect()
}

/// The scale and position of a pair: a length close to all sizes, and the distance from the origin.
#[derive(Clone, Copy)]
pub struct Setting {
    pub unit: f32,
    pub far: f32,
}

/// Two shapes in two poses.
pub struct Case<V: Dimension> {
    pub a: Shape<V>,
    pub pose_a: V::Isometry,
    pub b: Shape<V>,
    pub pose_b: V::Isometry,
    /// The translation of the first pose, which is the origin of the bodies' frame.
    pub origin: DVec3,
    pub body_a: Body,
    pub body_b: Body,
}

impl<V: Dimension> fmt::Debug for Case<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            a,
            pose_a,
            b,
            pose_b,
            ..
        } = self;
        write!(formatter, "{a:?} at {pose_a:?}, {b:?} at {pose_b:?}")
    }
}

impl<V: Dimension> Case<V> {
    /// Returns a random pair of these kinds.
    pub fn random(kinds: [Kind; 2], setting: Setting, random: &mut StdRng) -> Self {
        let [a, b] = kinds.map(|kind| {
            let size = setting.unit * 10_f32.powf(random.random_range(-0.7..0.7));
            Shape::<V>::random(kind, size, random)
        });
        let turns = rotations(random);
        let away = 3.0 * setting.unit * point(random) + setting.far * point(random).signum();
        let pose_a = V::isometry(turns[0], away);
        let (turn_a, origin) = V::map(pose_a);
        let body_a = a.body((turn_a, origin), origin);

        let (turn_b, _) = V::map(V::isometry(turns[1], Vec3::ZERO));
        let body_b = b.body((turn_b, DVec3::ZERO), DVec3::ZERO);
        let offset = offset(&body_a, &body_b, random);
        let pose_b = V::isometry(turns[1], (origin + offset).as_vec3());
        // The body is computed again, because the pose has been rounded.
        let body_b = b.body(V::map(pose_b), origin);
        Self {
            a,
            pose_a,
            b,
            pose_b,
            origin,
            body_a,
            body_b,
        }
    }
}

/// Returns two random rotations, two equal rotations, two identities, or two quarter turns, for
/// which faces and edges are parallel.
fn rotations(random: &mut StdRng) -> [Quat; 2] {
    let mut any = || {
        let [x, y, z, w] = [(); 4].map(|()| random.random_range(-1.0..1.0));
        Quat::from_xyzw(x, y, z, w).normalize()
    };
    let (first, second) = (any(), any());
    match random.random_range(0..8) {
        0 => [Quat::IDENTITY; 2],
        1 => [
            Quat::IDENTITY,
            Quat::from_xyzw(0.0, 0.0, 0.5_f32.sqrt(), 0.5_f32.sqrt()),
        ],
        2 => [first, first],
        _ => [first, second],
    }
}

/// Returns the translation of the second body. In a third of the cases, a point of this body
/// coincides with a point of the other body. Otherwise, support points of both bodies in a
/// direction meet, before a shift along this direction. The shift may be 0 or negative. Along this
/// direction, a gap is exactly the distance of the bodies, and an overlap is an upper bound of the
/// depth.
fn offset(a: &Body, b: &Body, random: &mut StdRng) -> DVec3 {
    if random.random_bool(0.35) {
        return inner_point(a, random) - inner_point(b, random);
    }
    let normals: Vec<DVec3> = a.normals().iter().chain(b.normals()).copied().collect();
    let flat = |vector: DVec3| if a.planar { vector.with_z(0.0) } else { vector };
    let any = unit(flat(point(random).as_dvec3())).unwrap_or(DVec3::X);
    let direction = match random.random_range(0..4) {
        0 if !normals.is_empty() => normals[random.random_range(0..normals.len())],
        1 => DVec3::X,
        _ => any,
    };
    let smaller = match a.size().min(b.size()) {
        size if size > 0.0 => size,
        _ => a.size().max(b.size()),
    };
    let shift = 10_f64.powf(random.random_range(-7.0..0.0));
    let shift = match random.random_range(0..20) {
        0..=1 => 0.0,
        2..=9 => -shift,
        10..=16 => shift,
        _ => random.random_range(0.0..5.0),
    };
    a.support(direction) - b.support(-direction) + direction * (shift * smaller)
}

/// Returns a random point of the core.
fn inner_point(body: &Body, random: &mut StdRng) -> DVec3 {
    let weights: Vec<f64> = body
        .points
        .iter()
        .map(|_| random.random_range(0.0..1.0))
        .collect();
    let sum: f64 = weights.iter().sum();
    let weighted = body.points.iter().zip(&weights);
    weighted
        .map(|(point, weight)| *point * *weight)
        .sum::<DVec3>()
        / sum.max(f64::MIN_POSITIVE)
}

/// Calls `test` with `per_pair` cases for every pair of kinds in both orders.
pub fn for_each_case<V: Dimension>(
    seed: u64,
    per_pair: usize,
    setting: Setting,
    mut test: impl FnMut(Case<V>),
) {
    let mut random = StdRng::seed_from_u64(seed);
    for first in KINDS {
        for second in KINDS {
            for _ in 0..per_pair {
                test(Case::random([first, second], setting, &mut random));
            }
        }
    }
}
