//! Pairs of shapes, for headbutt and parry.

use bevy::math::{Isometry2d, Isometry3d, Rot2, Vec2, Vec3, primitives::*};
use headbutt::{ConvexHull, Space, Support};

use crate::{cases::Place, motion::Noise};

/// The distance of the centers beyond which no pair touches.
pub const REACH: f32 = 3.0;

/// A dimension, with parry's types for it.
pub trait Room: Space {
    const FLAT: bool;
    type PeerShape: Clone + 'static;
    type PeerPose: Copy + 'static;

    fn placed(place: Place) -> Self::Isometry;
    fn peer_pose(place: Place) -> Self::PeerPose;
    fn vector(vector: Vec3) -> Self;
    /// Converts a rotation, given as the axis times the angle.
    fn angle(angle: Vec3) -> Self::Angle;
}

macro_rules! room {
    (
        $vector:ident,
        $flat:literal,
        $crate_name:ident,
        $isometry:expr,
        $pose:expr,
        $from:expr,
        $angle:expr
    ) => {
        impl Room for $vector {
            const FLAT: bool = $flat;
            type PeerShape = $crate_name::shape::SharedShape;
            type PeerPose = $crate_name::math::Pose;

            fn placed(place: Place) -> Self::Isometry {
                $isometry(place)
            }

            fn peer_pose(place: Place) -> Self::PeerPose {
                $pose(place)
            }

            fn vector(vector: Vec3) -> Self {
                $from(vector)
            }

            fn angle(angle: Vec3) -> Self::Angle {
                $angle(angle)
            }
        }
    };
}

fn angle(place: Place) -> f32 {
    let x = place.rotation * Vec3::X;
    x.y.atan2(x.x)
}

room!(
    Vec2,
    true,
    parry2d,
    |it: Place| Isometry2d::new(it.translation.truncate(), Rot2::radians(angle(it))),
    |it: Place| parry2d::math::Pose::new(it.translation.truncate().to_array().into(), angle(it)),
    Vec3::truncate,
    |it: Vec3| it.z
);
room!(
    Vec3,
    false,
    parry3d,
    |it: Place| Isometry3d::new(it.translation, it.rotation),
    |it: Place| parry3d::math::Pose::from_parts(
        it.translation.to_array().into(),
        parry3d::math::Rotation::from_array(it.rotation.to_array())
    ),
    |it| it,
    |it| it
);

/// Returns points on a ball of radius 0.6. All points are vertices of their hull.
fn ball_points(count: u32) -> Vec<Vec3> {
    let mut noise = Noise::new(count, 7);
    (0..count)
        .map(|_| 0.6 * (noise.rotation(false) * Vec3::X))
        .collect()
}

fn ring_points(count: u8) -> Vec<Vec2> {
    let step = std::f32::consts::TAU / f32::from(count);
    (0..count)
        .map(|corner| 0.6 * Vec2::from_angle(f32::from(corner) * step))
        .collect()
}

/// Receives pairs of shapes, each with parry's shape.
pub trait Pairs<V: Room> {
    /// `name` consists of the names of both shapes.
    fn add<A, B>(&mut self, name: &'static str, a: (A, V::PeerShape), b: (B, V::PeerShape))
    where
        A: Support<Vector = V> + Clone + 'static,
        B: Support<Vector = V> + Clone + 'static;
}

/// Adds the pairs in 2D.
pub fn add_2d(pairs: &mut impl Pairs<Vec2>) {
    use parry2d::shape::SharedShape;
    let ball = || (Circle::new(0.5), SharedShape::ball(0.5));
    let block = || (Rectangle::new(1.2, 0.8), SharedShape::cuboid(0.6, 0.4));
    let capsule = || (Capsule2d::new(0.3, 0.8), SharedShape::capsule_y(0.4, 0.3));
    let hull = |count| {
        let points = ring_points(count);
        let peer = points
            .iter()
            .map(|it| it.to_array().into())
            .collect::<Vec<_>>();
        (
            ConvexHull::new(points).expect("the points are finite"),
            SharedShape::convex_hull(&peer).expect("the points have a hull"),
        )
    };
    pairs.add("circle-circle", ball(), ball());
    pairs.add("circle-rect", ball(), block());
    pairs.add("capsule-capsule", capsule(), capsule());
    pairs.add("capsule-rect", capsule(), block());
    pairs.add("rect-rect", block(), block());
    pairs.add("8gon-8gon", hull(8), hull(8));
    pairs.add("circle-8gon", ball(), hull(8));
    pairs.add("rect-8gon", block(), hull(8));
    pairs.add("hull16-hull16", hull(16), hull(16));
    pairs.add("hull32-hull32", hull(32), hull(32));
}

/// Adds the pairs in 3D.
pub fn add_3d(pairs: &mut impl Pairs<Vec3>) {
    use parry3d::shape::SharedShape;
    let ball = || (Sphere::new(0.5), SharedShape::ball(0.5));
    let block = || {
        (
            Cuboid::new(1.2, 0.8, 1.0),
            SharedShape::cuboid(0.6, 0.4, 0.5),
        )
    };
    let capsule = || (Capsule3d::new(0.3, 0.8), SharedShape::capsule_y(0.4, 0.3));
    let cylinder = || (Cylinder::new(0.5, 1.2), SharedShape::cylinder(0.6, 0.5));
    let cone = || {
        (
            Cone {
                radius: 0.5,
                height: 1.2,
            },
            SharedShape::cone(0.6, 0.5),
        )
    };
    let hull = |count| {
        let points = ball_points(count);
        let peer = points
            .iter()
            .map(|it| it.to_array().into())
            .collect::<Vec<_>>();
        (
            ConvexHull::new(points).expect("the points are finite"),
            SharedShape::convex_hull(&peer).expect("the points have a hull"),
        )
    };
    // The same points, but each support point is found by a scan of all points.
    let scanned = |count| (ball_points(count), hull(count).1);
    pairs.add("ball-ball", ball(), ball());
    pairs.add("ball-cuboid", ball(), block());
    pairs.add("capsule-capsule", capsule(), capsule());
    pairs.add("capsule-cuboid", capsule(), block());
    pairs.add("cuboid-cuboid", block(), block());
    pairs.add("cylinder-cuboid", cylinder(), block());
    pairs.add("cylinder-cylinder", cylinder(), cylinder());
    pairs.add("cone-cuboid", cone(), block());
    pairs.add("cone-cylinder", cone(), cylinder());
    pairs.add("ball-hull32", ball(), hull(32));
    pairs.add("cuboid-hull32", block(), hull(32));
    pairs.add("hull32-hull32", hull(32), hull(32));
    pairs.add("hull500-hull32", hull(500), hull(32));
    pairs.add("points500-points32", scanned(500), scanned(32));
}
