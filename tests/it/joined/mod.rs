//! Tests joined compounds: floors of boxes that are flush, also at T-joints and under a rotation.
//! The union of the boxes of a floor is a slab, so each contact has a closed form.
//!
//! `cargo test` runs a small number of floors. To run more, for each test and dimension:
//!
//! ```text
//! HEADBUTT_JOINED=10000 cargo test --release --test it joined:: -- --nocapture
//! ```
//!
//! `cells/` tests joined compounds with steps, slopes and holes.

mod invalid;
pub mod slides;
pub mod walks;

use bevy::{
    math::{DMat3, DQuat, DVec3},
    prelude::*,
};
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::cases::cases;

/// The numbers of floors for which an earlier version of the library had a wrong answer.
const ONCE_WRONG: [usize; 7] = [1115, 1191, 1667, 5317, 7645, 8648, 604_151];

/// Runs a test for random floors in both dimensions.
pub fn for_floors(usual: usize, test: impl Fn(&mut StdRng, &Floor, &str)) {
    for dimension in [2, 3] {
        for number in cases("HEADBUTT_JOINED", usual).chain(ONCE_WRONG) {
            let mut rng = StdRng::seed_from_u64((number * 2 + dimension) as u64);
            let floor = Floor::new(&mut rng, dimension);
            test(&mut rng, &floor, &format!("case {number}, {dimension}D"));
        }
    }
}

/// A floor of boxes. In the frame of the floor, the top is at y = 0, and the ends are
/// `half_length` away along x, and in 3D along z.
pub struct Floor {
    pub dimension: usize,
    pub size: f64,
    pub half_length: f64,
    /// The center and the half size of each box, in the frame of the floor.
    pub boxes: Vec<[DVec3; 2]>,
    pub rotation: DQuat,
    pub translation: DVec3,
    /// `true` if the parts are hulls instead of boxes.
    pub are_hulls: bool,
}

impl Floor {
    /// Lays rows of boxes of random lengths, so that most joints between rows are T-joints.
    fn new(rng: &mut StdRng, dimension: usize) -> Self {
        let size = [1.0, 16.0, 0.3][rng.random_range(0..3)];
        let half_length = 4.0 * size;
        let ends = |rng: &mut StdRng| {
            let mut ends = vec![-half_length];
            while let end = ends[ends.len() - 1] + rng.random_range(0.3..2.0) * size
                && end < half_length - 0.3 * size
            {
                ends.push(end);
            }
            ends.push(half_length);
            ends
        };
        let rows = if dimension == 2 {
            vec![-1.0, 1.0]
        } else {
            ends(rng)
        };
        let mut boxes = Vec::new();
        for row in rows.windows(2) {
            for side in ends(rng).windows(2) {
                let depth = rng.random_range(1.0..2.0) * size;
                let low = DVec3::new(side[0], -depth, row[0]);
                let high = DVec3::new(side[1], 0.0, row[1]);
                boxes.push([(low + high) * 0.5, (high - low) * 0.5]);
            }
        }
        let angle = rng.random_range(-3.0..3.0);
        let axis = if dimension == 2 {
            DVec3::Z
        } else {
            vector(rng).normalize()
        };
        let rotation = match rng.random_range(0..3) {
            0 => DQuat::IDENTITY,
            _ => DQuat::from_axis_angle(axis, angle),
        };
        let translation = vector(rng) * rng.random_range(0.0..20.0) * size;
        let in_plane = DVec3::new(1.0, 1.0, if dimension == 2 { 0.0 } else { 1.0 });
        Self {
            dimension,
            size,
            half_length,
            boxes,
            rotation,
            translation: translation * in_plane,
            are_hulls: rng.random_bool(0.3),
        }
    }

    /// Returns the parts of the floor, each with its pose rounded to f32.
    pub fn parts(&self) -> Vec<(Transform, Collider)> {
        let part = |[center, half]: &[DVec3; 2]| {
            let pose = Transform::from_translation(self.place(*center).as_vec3())
                .with_rotation(self.rotation.as_quat());
            let half = half.as_vec3();
            let signs = (0..8).map(|corner| {
                [0, 1, 2].map(|axis| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 })
            });
            let corners = signs.map(|signs| half * Vec3::from_array(signs));
            let shape = match (self.dimension, self.are_hulls) {
                (2, false) => Collider::rectangle(2.0 * half.x, 2.0 * half.y),
                (2, true) => Collider::convex_hull(corners.map(Vec3::truncate)),
                (_, false) => Collider::cuboid(2.0 * half.x, 2.0 * half.y, 2.0 * half.z),
                (_, true) => Collider::convex_hull(corners),
            };
            (pose, shape)
        };
        let mut parts: Vec<_> = self.boxes.iter().map(part).collect();
        if self.dimension == 2 {
            for (pose, _) in &mut parts {
                pose.translation.z = 0.0;
            }
        }
        parts
    }

    /// Returns the union of the parts.
    fn collider(&self) -> Collider {
        Collider::compound(self.parts()).joined()
    }

    /// Converts a point of the floor's frame to the world.
    pub fn place(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// Returns the normal of the top.
    pub fn up(&self) -> DVec3 {
        self.rotation * DVec3::Y
    }

    /// Returns a random point of the top, at least `margin` away from the ends.
    pub fn point(&self, rng: &mut StdRng, margin: f64) -> DVec3 {
        let end = self.half_length - margin;
        let mut coordinate = || rng.random_range(-end..end);
        let (x, z) = (coordinate(), coordinate());
        DVec3::new(x, 0.0, if self.dimension == 2 { 0.0 } else { z })
    }
}

/// A convex body, and its points and radius.
pub struct Body {
    pub collider: Collider,
    points: Vec<DVec3>,
    radius: f64,
    rotation: DQuat,
}

impl Body {
    /// Returns a ball, a capsule, a box or a hull in a random rotation, of about a size.
    pub fn new(rng: &mut StdRng, dimension: usize, size: f64) -> Self {
        let length = |rng: &mut StdRng| (rng.random_range(0.2..0.5) * size) as f32;
        let (a, b, c) = (length(rng), length(rng), length(rng));
        let depth = if dimension == 2 { 0.0 } else { c };
        let corner = |x, y, z| DVec3::new(f64::from(x), f64::from(y), f64::from(z));
        let box_corners = || {
            let corners = [-a, a].into_iter().flat_map(|x| [-b, b].map(|y| (x, y)));
            let corners = corners.flat_map(|(x, y)| [-depth, depth].map(|z| corner(x, y, z)));
            corners.collect::<Vec<_>>()
        };
        let kind = rng.random_range(0..4);
        let (collider, points, radius) = match (dimension, kind) {
            (2, 0) => (Collider::circle(a), vec![DVec3::ZERO], a),
            (_, 0) => (Collider::sphere(a), vec![DVec3::ZERO], a),
            (_, 1) => {
                let shape = if dimension == 2 {
                    Collider::capsule_2d(a, 2.0 * b)
                } else {
                    Collider::capsule_3d(a, 2.0 * b)
                };
                (shape, [-b, b].map(|y| corner(0.0, y, 0.0)).into(), a)
            }
            (2, 2) => (Collider::rectangle(2.0 * a, 2.0 * b), box_corners(), 0.0),
            (_, 2) => (
                Collider::cuboid(2.0 * a, 2.0 * b, 2.0 * c),
                box_corners(),
                0.0,
            ),
            _ => {
                let points: Vec<Vec3> = (0..9)
                    .map(|_| {
                        let point = vector(rng).normalize() * 0.5 * size;
                        point.as_vec3()
                            * Vec3::new(1.0, 1.0, if dimension == 2 { 0.0 } else { 1.0 })
                    })
                    .collect();
                let shape = if dimension == 2 {
                    Collider::convex_hull(points.iter().map(|it| it.truncate()))
                } else {
                    Collider::convex_hull(points.clone())
                };
                (shape, points.iter().map(|it| it.as_dvec3()).collect(), 0.0)
            }
        };
        let axis = if dimension == 2 {
            DVec3::Z
        } else {
            vector(rng).normalize()
        };
        let rotation = DQuat::from_axis_angle(axis, rng.random_range(-3.0..3.0));
        Self {
            collider,
            points,
            radius: radius.into(),
            rotation: rotation.as_quat().as_dquat().normalize(),
        }
    }

    /// Returns the greatest distance of a point of the body along a direction.
    pub fn reach(&self, direction: DVec3) -> f64 {
        let turned = DMat3::from_quat(self.rotation);
        let heights = self.points.iter().map(|it| (turned * *it).dot(direction));
        heights.fold(f64::NEG_INFINITY, f64::max) + self.radius
    }

    pub fn pose(&self, position: DVec3) -> Transform {
        let rotation = self.rotation.as_quat();
        Transform::from_translation(position.as_vec3()).with_rotation(rotation)
    }
}

/// Returns a random vector that is not zero.
fn vector(rng: &mut StdRng) -> DVec3 {
    let mut component =
        || rng.random_range(0.1..1.0) * if rng.random_bool(0.5) { -1.0 } else { 1.0 };
    DVec3::new(component(), component(), component())
}
