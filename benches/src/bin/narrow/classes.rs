//! The pairs of shapes, for both libraries.

use bevy::math::{Isometry2d, Isometry3d, Rot2, Vec2, Vec3, primitives::*};
use headbutt::{ConvexHull, Space, Support, query};
use headbutt_bench::{counted::Counted, motion::Noise};

use crate::{
    cases::{Course, Place, Regime, cases},
    ours::Ours,
    peer,
    side::{Query, Side},
};

/// The poses of a class.
pub const CASES: u32 = 1000;

/// A dimension, with parry's crate for it.
trait Room: Space {
    const FLAT: bool;
    type PeerShape: Clone + 'static;

    fn isometry(place: Place) -> Self::Isometry;
    fn peer(shapes: [Self::PeerShape; 2], poses: &[[Place; 2]], coherent: bool) -> Box<dyn Side>;
}

macro_rules! room {
    ($vector:ident, $flat:literal, $module:ident, $crate_name:ident, $isometry:expr, $pose:expr) => {
        impl Room for $vector {
            const FLAT: bool = $flat;
            type PeerShape = $crate_name::shape::SharedShape;

            fn isometry(place: Place) -> Self::Isometry {
                $isometry(place)
            }

            fn peer(
                [a, b]: [Self::PeerShape; 2],
                poses: &[[Place; 2]],
                coherent: bool,
            ) -> Box<dyn Side> {
                Box::new(peer::$module::Parry {
                    a,
                    b,
                    poses: poses.iter().map(|it| it.map($pose)).collect(),
                    coherent,
                    manifolds: Vec::new(),
                    workspace: None,
                })
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
    plane,
    parry2d,
    |it: Place| Isometry2d::new(it.translation.truncate(), Rot2::radians(angle(it))),
    |it: Place| parry2d::math::Pose::new(it.translation.truncate().to_array().into(), angle(it))
);
room!(
    Vec3,
    false,
    space,
    parry3d,
    |it: Place| Isometry3d::new(it.translation, it.rotation),
    |it: Place| parry3d::math::Pose::from_parts(
        it.translation.to_array().into(),
        parry3d::math::Rotation::from_array(it.rotation.to_array())
    )
);

/// A pair of shapes in one regime and course.
pub struct Bout {
    pub ours: Box<dyn Side>,
    pub peer: Box<dyn Side>,
    /// The mean number of support points for a contact and for a distance in headbutt. Closed forms
    /// need none.
    pub supports: [f64; 2],
    /// The distance of the centres beyond which the two never touch.
    pub reach: f32,
}

/// A pair of shapes.
pub struct Class {
    pub name: &'static str,
    pub flat: bool,
    pub bout: Box<dyn Fn(Regime, Course) -> Bout>,
}

fn class<A, B>(
    name: &'static str,
    (a, peer_a): (A, <A::Vector as Room>::PeerShape),
    (b, peer_b): (B, <A::Vector as Room>::PeerShape),
) -> Class
where
    A: Support<Vector: Room> + Clone + 'static,
    B: Support<Vector = A::Vector> + Clone + 'static,
{
    let bout = move |regime, course| {
        // All shapes fit into a ball of radius 1.5.
        let reach = 3.0;
        let isometries = |places: [Place; 2]| places.map(A::Vector::isometry);
        let touch = |places| {
            let [pose_a, pose_b] = isometries(places);
            query::intersects(&a, pose_a, &b, pose_b)
        };
        let places = cases(CASES, A::Vector::FLAT, (regime, course), reach, touch);
        let poses: Vec<_> = places.iter().map(|it| isometries(*it)).collect();
        let supports = [Query::Contact, Query::Distance].map(|query| {
            let mut counted = Ours {
                a: Counted::new(a.clone()),
                b: Counted::new(b.clone()),
                poses: poses.clone(),
            };
            counted.ask(query, 0..CASES as usize, &mut Vec::new());
            // Both shapes of a pair are evaluated each time.
            let most = counted
                .a
                .take_evaluations()
                .max(counted.b.take_evaluations());
            most as f64 / f64::from(CASES)
        });
        Bout {
            ours: Box::new(Ours {
                a: a.clone(),
                b: b.clone(),
                poses,
            }),
            peer: A::Vector::peer(
                [peer_a.clone(), peer_b.clone()],
                &places,
                course == Course::Coherent,
            ),
            supports,
            reach,
        }
    };
    Class {
        name,
        flat: A::Vector::FLAT,
        bout: Box::new(bout),
    }
}

/// Returns points on a ball of radius 0.6. All are vertices of their hull.
pub fn ball_points(count: u32) -> Vec<Vec3> {
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

/// Returns all classes, those in 2D first.
pub fn classes() -> Vec<Class> {
    let mut all = in_plane();
    all.extend(in_space());
    all
}

fn in_plane() -> Vec<Class> {
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
    vec![
        class("circle-circle", ball(), ball()),
        class("circle-rect", ball(), block()),
        class("capsule-capsule", capsule(), capsule()),
        class("capsule-rect", capsule(), block()),
        class("rect-rect", block(), block()),
        class("8gon-8gon", hull(8), hull(8)),
        class("circle-8gon", ball(), hull(8)),
        class("hull16-hull16", hull(16), hull(16)),
    ]
}

fn in_space() -> Vec<Class> {
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
    // The same points, but each support point is found by a scan of all of them.
    let scanned = |count| (ball_points(count), hull(count).1);
    vec![
        class("ball-ball", ball(), ball()),
        class("ball-cuboid", ball(), block()),
        class("capsule-capsule", capsule(), capsule()),
        class("capsule-cuboid", capsule(), block()),
        class("cuboid-cuboid", block(), block()),
        class("cylinder-cuboid", cylinder(), block()),
        class("cylinder-cylinder", cylinder(), cylinder()),
        class("cone-cuboid", cone(), block()),
        class("cone-cylinder", cone(), cylinder()),
        class("ball-hull32", ball(), hull(32)),
        class("cuboid-hull32", block(), hull(32)),
        class("hull32-hull32", hull(32), hull(32)),
        class("hull500-hull32", hull(500), hull(32)),
        class("points500-points32", scanned(500), scanned(32)),
    ]
}
