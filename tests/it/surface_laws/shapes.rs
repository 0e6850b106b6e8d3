//! Convex shapes in a pose: as colliders, for queries, and in f64 for the oracle.

use bevy::{
    math::{DQuat, DVec3, Isometry2d, Isometry3d, Rot2},
    prelude::*,
};
use headbutt::{Rounded, Support, prelude::*, query::Contact};
use rand::{Rng, rngs::StdRng};

use crate::surface_laws::{bodies::Surface, oracle::Polytope};

#[derive(Clone, Debug)]
pub enum Kind {
    Ball(f32),
    /// A capsule, with its half length and its radius.
    Capsule(f32, f32),
    Box(Vec3),
    /// A box with this half size, as a closed mesh.
    Crate(Vec3),
    /// The hull of these points, which are symmetric about the origin, the center.
    Hull(Vec<Vec3>),
    /// A cylinder, with its radius and its half height.
    Cylinder(f32, f32),
    /// A cone, with its radius and its half height.
    Cone(f32, f32),
}

#[derive(Clone, Debug)]
pub struct Shape {
    pub kind: Kind,
    pub plane: bool,
    pub pose: Transform,
}

/// Returns the closest multiple of 1 / `steps`. In f32, these multiples, their sums and their
/// halves are exact.
pub fn snapped(value: f32, steps: f32) -> f32 {
    (value * steps).round() / steps
}

/// Returns the rotation about a unit axis by an angle in radians. The sine of `libm` is the same on
/// all machines, so the cases are the same, too.
pub fn turned(axis: Vec3, angle: f32) -> Quat {
    let (sine, cosine) = libm::sincosf(0.5 * angle);
    let along = axis * sine;
    Quat::from_xyzw(along.x, along.y, along.z, cosine)
}

/// Returns a random unit vector.
pub fn direction(random: &mut StdRng, plane: bool) -> DVec3 {
    loop {
        let mut number = || random.random_range(-1.0..1.0);
        let z = if plane { 0.0 } else { number() };
        let vector = DVec3::new(number(), number(), z);
        if (0.01..1.0).contains(&vector.length()) {
            return vector.normalize();
        }
    }
}

impl Shape {
    /// Returns a random shape at the origin, of about this size.
    pub fn random(random: &mut StdRng, plane: bool, size: f32) -> Self {
        let mut length = || size * random.random_range(0.25..1.0f32);
        let (a, b, c) = (length(), length(), length());
        let kind = match random.random_range(0..if plane { 4 } else { 6 }) {
            0 => Kind::Ball(a),
            1 => Kind::Capsule(a, b),
            2 => Kind::Box(Vec3::new(a, b, if plane { 0.0 } else { c })),
            3 => {
                let count = random.random_range(if plane { 2..5 } else { 3..5 });
                let mut points: Vec<Vec3> = (0..count)
                    .map(|_| (direction(random, plane) * f64::from(a)).as_vec3())
                    .collect();
                points.extend(points.clone().iter().map(|it| Vec3::ZERO - *it));
                Kind::Hull(points)
            }
            4 => Kind::Cylinder(a, b),
            _ => Kind::Cone(a, b),
        };
        let angle = || core::f32::consts::TAU;
        let rotation = match random.random_range(0..3) {
            0 => Quat::IDENTITY,
            _ if plane => turned(Vec3::Z, random.random_range(0.0..angle())),
            1 => turned(Vec3::Y, random.random_range(0.0..angle())),
            _ => {
                let axis = direction(random, false).as_vec3().normalize();
                turned(axis, random.random_range(0.0..angle()))
            }
        };
        let pose = Transform::from_rotation(rotation);
        Self { kind, plane, pose }
    }

    /// Returns a random crate at the origin, or `None` if the crate is flat, or if its longest side
    /// is at least 0.4 `extent`. `extent` is the extent of a surface.
    pub fn random_crate(random: &mut StdRng, plane: bool, size: f32, extent: f64) -> Option<Self> {
        let mut length = || snapped(size * random.random_range(0.25..1.0f32), 64.0);
        let half = Vec3::new(length(), length(), if plane { 0.0 } else { length() });
        let turned = Self::random(random, plane, size);
        let kind = Kind::Crate(half);
        let is_body = 5.0 * f64::from(half.max_element()) < extent;
        let is_solid = half.x > 0.0 && half.y > 0.0;
        (is_body && is_solid).then_some(Self { kind, ..turned })
    }

    pub fn ball(radius: f32, plane: bool, at: Vec3) -> Self {
        let pose = Transform::from_translation(at);
        let kind = Kind::Ball(radius);
        Self { kind, plane, pose }
    }

    pub fn at(&self, translation: Vec3) -> Self {
        let pose = self.pose.with_translation(translation);
        Self {
            pose,
            ..self.clone()
        }
    }

    fn flat_points(points: &[Vec3]) -> Vec<Vec2> {
        points.iter().map(|it| it.truncate()).collect()
    }

    pub fn collider(&self) -> Collider {
        match &self.kind {
            Kind::Ball(radius) if self.plane => Collider::from(Circle::new(*radius)),
            Kind::Ball(radius) => Collider::from(Sphere::new(*radius)),
            Kind::Capsule(half, radius) if self.plane => {
                Collider::from(Capsule2d::new(*radius, 2.0 * half))
            }
            Kind::Capsule(half, radius) => Collider::from(Capsule3d::new(*radius, 2.0 * half)),
            Kind::Box(half) if self.plane => {
                Collider::from(Rectangle::from_size(2.0 * half.truncate()))
            }
            Kind::Box(half) => Collider::from(Cuboid::from_size(2.0 * *half)),
            Kind::Crate(half) => Surface::cuboid(*half, self.plane).collider(),
            Kind::Hull(points) if self.plane => {
                Collider::try_convex_hull(Self::flat_points(points)).expect("a hull")
            }
            Kind::Hull(points) => Collider::try_convex_hull(points.clone()).expect("a hull"),
            Kind::Cylinder(radius, half) => Collider::from(Cylinder::new(*radius, 2.0 * half)),
            Kind::Cone(radius, half) => Collider::from(Cone::new(*radius, 2.0 * half)),
        }
    }

    fn isometry2(&self) -> Isometry2d {
        let [_, _, z, w] = self.pose.rotation.to_array();
        let rotation = Rot2::from_sin_cos(2.0 * z * w, w * w - z * z);
        Isometry2d::new(self.pose.translation.truncate(), rotation)
    }

    /// Returns the shape for queries in 2D, or `None` if the shape exists only in 3D.
    fn flat(&self) -> Option<Box<dyn Support<Vector = Vec2>>> {
        Some(match &self.kind {
            Kind::Ball(radius) => Box::new(Circle::new(*radius)),
            Kind::Capsule(half, radius) => Box::new(Capsule2d::new(*radius, 2.0 * half)),
            Kind::Box(half) | Kind::Crate(half) => {
                Box::new(Rectangle::from_size(2.0 * half.truncate()))
            }
            Kind::Hull(points) => Box::new(Self::flat_points(points)),
            Kind::Cylinder(..) | Kind::Cone(..) => return None,
        })
    }

    /// Returns the shape for queries in 3D.
    fn solid(&self) -> Box<dyn Support<Vector = Vec3>> {
        match &self.kind {
            Kind::Ball(radius) => Box::new(Sphere::new(*radius)),
            Kind::Capsule(half, radius) => Box::new(Capsule3d::new(*radius, 2.0 * half)),
            Kind::Box(half) | Kind::Crate(half) => Box::new(Cuboid::from_size(2.0 * *half)),
            Kind::Hull(points) => Box::new(points.clone()),
            Kind::Cylinder(radius, half) => Box::new(Cylinder::new(*radius, 2.0 * half)),
            Kind::Cone(radius, half) => Box::new(Cone::new(*radius, 2.0 * half)),
        }
    }

    /// Returns `true` if the shape touches a facet with these corners and margin in a pose, by the
    /// library's query.
    pub fn intersects(&self, corners: &[Vec3], margin: f32, place: Transform) -> bool {
        if self.plane {
            let shape = [corners[0].truncate(), corners[1].truncate()];
            let facet: &dyn Support<Vector = Vec2> = &Rounded { shape, margin };
            let at = place.translation.truncate();
            let flat = self.flat();
            return flat.is_some_and(|it| query::intersects(&*it, self.isometry2(), facet, at));
        }
        let shape = [corners[0], corners[1], corners[2]];
        let facet: &dyn Support<Vector = Vec3> = &Rounded { shape, margin };
        let (here, at) = (self.pose.to_isometry(), place.to_isometry());
        query::intersects(&*self.solid(), here, facet, at)
    }

    /// Returns the contact of the 3D hull of points with this shape, by the library's query.
    pub fn contact_with_hull(&self, points: &[Vec3]) -> Option<Contact<Vec3>> {
        let hull: &dyn Support<Vector = Vec3> = &points;
        let here = self.pose.to_isometry();
        query::contact(hull, Isometry3d::IDENTITY, &*self.solid(), here)
    }

    pub fn center(&self) -> DVec3 {
        self.pose.translation.as_dvec3()
    }

    fn rotation(&self) -> DQuat {
        self.pose.rotation.as_dquat().normalize()
    }

    /// Returns the bounding radius about the center.
    pub fn reach(&self) -> f64 {
        let reach = match &self.kind {
            Kind::Ball(radius) => *radius,
            Kind::Capsule(half, radius) => half + radius,
            Kind::Box(half) | Kind::Crate(half) => half.length(),
            Kind::Hull(points) => points.iter().map(|it| it.length()).fold(0.0, f32::max),
            Kind::Cylinder(radius, half) | Kind::Cone(radius, half) => libm::hypotf(*radius, *half),
        };
        f64::from(reach)
    }

    /// Returns the radius of the largest ball in the shape. For a hull, the ball is around the
    /// origin.
    pub fn inner_radius(&self) -> f64 {
        let plane = self.plane;
        match &self.kind {
            Kind::Ball(radius) | Kind::Capsule(_, radius) => f64::from(*radius),
            Kind::Box(half) | Kind::Crate(half) if plane => f64::from(half.x.min(half.y)),
            Kind::Box(half) | Kind::Crate(half) => f64::from(half.min_element()),
            Kind::Hull(points) => {
                let points: Vec<DVec3> = points.iter().map(|it| it.as_dvec3()).collect();
                let hull = Polytope::hull(&points, plane);
                let normals = hull.normals.iter().flat_map(|it| [*it, -*it]);
                let heights = normals.map(|normal| hull.reach(normal));
                heights.fold(f64::INFINITY, f64::min)
            }
            Kind::Cylinder(radius, half) => f64::from(radius.min(*half)),
            Kind::Cone(radius, half) => {
                // The radius of the incircle of the triangle is twice the area over the
                // circumference.
                let (radius, height) = (f64::from(*radius), 2.0 * f64::from(*half));
                radius * height / (radius + libm::hypot(radius, height))
            }
        }
    }

    /// Returns the extent of the shape from its center along a unit vector.
    pub fn extent(&self, unit: DVec3) -> f64 {
        let own = self.rotation().inverse() * unit;
        let flat = libm::hypot(own.x, own.z);
        match &self.kind {
            Kind::Ball(radius) => f64::from(*radius),
            Kind::Capsule(half, radius) => f64::from(*half) * own.y.abs() + f64::from(*radius),
            Kind::Box(half) | Kind::Crate(half) => half.as_dvec3().dot(own.abs()),
            Kind::Hull(points) => {
                let heights = points.iter().map(|it| it.as_dvec3().dot(own));
                heights.fold(f64::NEG_INFINITY, f64::max)
            }
            Kind::Cylinder(radius, half) => {
                f64::from(*radius) * flat + f64::from(*half) * own.y.abs()
            }
            Kind::Cone(radius, half) => {
                let (radius, half) = (f64::from(*radius), f64::from(*half));
                (half * own.y).max(radius * flat - half * own.y)
            }
        }
    }

    /// Returns a polytope with a radius that is exactly this shape, or `None` for other round
    /// shapes.
    pub fn core(&self) -> Option<(Polytope, f64)> {
        let (rotation, center) = (self.rotation(), self.center());
        let place = |point: DVec3| center + rotation * point;
        Some(match &self.kind {
            Kind::Ball(radius) => {
                let point = Polytope {
                    points: vec![center],
                    normals: vec![],
                    edges: vec![],
                };
                (point, f64::from(*radius))
            }
            Kind::Capsule(half, radius) => {
                let tip = DVec3::Y * f64::from(*half);
                let along = rotation * DVec3::Y;
                let across = DVec3::new(-along.y, along.x, 0.0);
                let segment = Polytope {
                    points: vec![place(tip), place(-tip)],
                    normals: if self.plane { vec![across] } else { vec![] },
                    edges: if self.plane { vec![] } else { vec![along] },
                };
                (segment, f64::from(*radius))
            }
            Kind::Box(half) | Kind::Crate(half) => {
                let half = half.as_dvec3();
                let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|it| rotation * it);
                let axes = if self.plane { &axes[..2] } else { &axes[..] };
                let points = (0..8).map(|it| {
                    let side = |bit: usize| if it >> bit & 1 == 0 { -1.0 } else { 1.0 };
                    place(half * DVec3::new(side(0), side(1), side(2)))
                });
                let block = Polytope {
                    points: points.take(if self.plane { 4 } else { 8 }).collect(),
                    normals: axes.to_vec(),
                    edges: if self.plane { vec![] } else { axes.to_vec() },
                };
                (block, 0.0)
            }
            Kind::Hull(points) => {
                let points: Vec<DVec3> = points.iter().map(|it| place(it.as_dvec3())).collect();
                (Polytope::hull(&points, self.plane), 0.0)
            }
            Kind::Cylinder(..) | Kind::Cone(..) => return None,
        })
    }

    pub fn describe(&self) -> String {
        let Transform {
            translation,
            rotation,
            ..
        } = self.pose;
        let (at, turned) = (translation.to_array(), rotation.to_array());
        format!("{:?} at {at:?} rotation {turned:?}", self.kind)
    }
}
