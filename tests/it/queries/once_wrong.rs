//! Cases in which an earlier version of the solvers was wrong. Each case is compared with a closed
//! form or a law.

use std::f32::consts::PI;

use crate::oracle::cases::Bounded;
use bevy::{
    math::{DQuat, DVec2, DVec3, Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3},
    prelude::{
        Capsule2d, Capsule3d, Circle, CircularSegment, Cone, Cuboid, Cylinder, Rectangle,
        Segment2d, Sphere,
    },
};
use headbutt::{Support, query};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// Two faces are separated by a rounding error. There is a gap at every corner of their
/// intersection, but the contact itself must remain.
#[test]
fn a_manifold_of_faces_that_just_touch_has_a_point() {
    let a = [
        (0.01996088, -0.02077961, 1.0),
        (0.77497315, 0.4321308, 1.0),
        (-0.65573144, 0.61632705, 1.0),
        (0.1, 0.2, 0.0),
    ]
    .map(Vec3::from);
    let b = [
        (0.89066386, 0.8992057, -1.0),
        (0.41613102, -0.870203, -1.0),
        (-0.4104452, -0.38495064, -1.0),
        (-0.16293716, -0.22754526, -1.0000001),
        (-0.2632923, -0.30155945, -1.0),
        (0.0, 0.1, 0.0),
    ]
    .map(Vec3::from);
    // This quaternion is not of unit length, but still is a rotation.
    let turned = Quat::from_xyzw(-18.160847, 43.71432, 40.744465, 49.262596);
    let pose_a = Isometry3d::from_rotation(turned);
    let pose_b = Isometry3d::new(Vec3::new(0.6778719, 1.8807241, 0.36519563), turned);
    let contact = query::contact(&a, pose_a, &b, pose_b);
    let manifold = query::manifold(&a, pose_a, &b, pose_b);
    assert_eq!(contact.is_some(), manifold.is_some());
    let (contact, manifold) = (contact.expect("they touch"), manifold.expect("they touch"));
    assert_eq!(manifold.normal, contact.normal);
    assert!((1..=4).contains(&manifold.points().len()));
}

/// Three collinear corners are an edge. No point beyond the ends of the edge is part of the edge.
#[test]
fn collinear_corners_of_a_feature_are_an_edge() {
    let a = [
        (0.0, 0.0, -1.0),
        (0.0, 1.0, 2.0),
        (0.0, 0.0, 2.0),
        (1.0, -1.0, -1.0),
        (1.0, -2.0, -1.0),
        (-1.0, -2.0, 0.0),
        (0.0, 1.0, 0.0),
    ]
    .map(Vec3::from);
    let b = [
        (2.0, -2.0, 0.0),
        (0.0, 0.0, -1.0),
        (0.0, 2.0, 0.0),
        (-2.0, -1.0, -1.0),
        (1.0, -1.0, 2.0),
        (-1.0, 1.0, 2.0),
    ]
    .map(Vec3::from);
    let turned = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
    let pose_b = Isometry3d::new(Vec3::new(-1.0, 1.0, -1.0), turned);
    let manifold = query::manifold(&a, Isometry3d::IDENTITY, &b, pose_b).expect("they overlap");
    for point in manifold.points() {
        let on_a = query::distance(
            &a,
            Isometry3d::IDENTITY,
            &[point.point_a],
            Isometry3d::IDENTITY,
        );
        assert!(on_a.distance < 1e-5, "{point:?}");
    }
}

/// These shapes in the same pose differ in a vertex that is farthest in few directions.
#[test]
fn nearly_equal_shapes_in_one_pose_have_mirrored_contacts() {
    let a = [(-2.0, 1.0), (2.0, 2.0), (1.0, 0.0), (2.0, 1.0)].map(Vec2::from);
    let b = [(-2.0, 1.0), (2.0, 2.0), (1.0, 0.0), (2.0, 1.0), (0.0, 0.0)].map(Vec2::from);
    let square = [Vec2::X, Vec2::Y, -Vec2::X, -Vec2::Y];
    let blunt = [Vec2::X, Vec2::Y, -Vec2::X, -Vec2::Y, Vec2::splat(0.53)];
    let pairs: [[&[Vec2]; 2]; 2] = [[&a, &b], [&square, &blunt]];
    for [a, b] in pairs {
        let pose = Isometry2d::IDENTITY;
        let there = query::contact(a, pose, b, pose).expect("one pose");
        let back = query::contact(b, pose, a, pose).expect("one pose");
        assert_eq!(back.normal, Vec2::ZERO - there.normal);
        assert_eq!(back.depth, there.depth);
        assert_eq!((back.point_a, back.point_b), (there.point_b, there.point_a));
    }
}

/// The depth of a polygon in itself is its least width, across one of its edges. For many edges,
/// the width is nearly as small.
#[test]
fn a_polygon_of_many_corners_in_itself_is_as_deep_as_its_width() {
    let mut rng = StdRng::seed_from_u64(7);
    for count in [3, 10, 40, 100, 300] {
        for _ in 0..20 {
            let mut angles: Vec<f64> = (0..count)
                .map(|_| rng.random_range(0.0..core::f64::consts::TAU))
                .collect();
            angles.sort_by(f64::total_cmp);
            let points: Vec<Vec2> = angles
                .iter()
                .map(|angle| DVec2::from_angle(*angle).as_vec2())
                .collect();
            let reach = |normal: DVec2| {
                let heights = points.iter().map(|point| point.as_dvec2().dot(normal));
                heights.fold(f64::NEG_INFINITY, f64::max)
            };
            let widths = (0..count).filter_map(|i| {
                let edge = points[(i + 1) % count].as_dvec2() - points[i].as_dvec2();
                let normal = edge.perp().try_normalize()?;
                Some(reach(normal) + reach(-normal))
            });
            let width = widths.fold(f64::INFINITY, f64::min);
            let pose = Isometry2d::IDENTITY;
            let contact = query::contact(&points, pose, &points, pose).expect("one pose");
            assert!(
                (f64::from(contact.depth) - width).abs() < 1e-6,
                "{count} corners: {} for {width}",
                contact.depth
            );
        }
    }
}

/// The distance is 0 exactly if the shapes touch, even if f32 underflows.
#[test]
fn a_distance_too_small_for_f32_is_not_zero() {
    let least = f32::from_bits(1);
    let triangle = [
        Vec2::ZERO,
        Vec2::new(3.0 * least, 0.0),
        Vec2::new(0.0, 2.0 * least),
    ];
    for step in 0..100u8 {
        let turned = |angle: f32| Isometry2d::from_rotation(bevy::math::Rot2::radians(angle));
        let pose_a = turned(f32::from(step) * 0.37);
        let pose_b = Isometry2d::new(
            Vec2::new(2.0 * least, f32::from(step % 4) * least),
            turned(f32::from(step)).rotation,
        );
        let hit = query::intersects(&triangle, pose_a, &triangle, pose_b);
        let distance = query::distance(&triangle, pose_a, &triangle, pose_b);
        assert_eq!(hit, distance.distance == 0.0, "{step}");
    }
}

/// A segment along x as a flat ellipse. Along y, all points of the segment are equally far, and the
/// support point is its middle.
struct FlatEllipse(f64);

impl Support for FlatEllipse {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        let side = if direction.x == 0.0 {
            0.0
        } else {
            direction.x.signum()
        };
        DVec2::new(side * self.0, 0.0)
    }
}

/// For two collinear segments, the ends of the longer segment are outside of the shorter segment.
#[test]
fn the_manifold_of_two_segments_ends_with_the_shorter_one() {
    let (short, long) = (FlatEllipse(0.009_993_5), FlatEllipse(0.01));
    let pose = Isometry2d::IDENTITY;
    let manifold = query::manifold(&short, pose, &long, pose).expect("one lies in the other");
    assert_eq!(manifold.points().len(), 2);
    for point in manifold.points() {
        assert!(point.point_a.x.abs() <= 0.009_993_6, "{point:?}");
        assert!(point.point_b.x.abs() <= 0.009_993_6, "{point:?}");
    }
}

/// On the axis of a cone or a cylinder, all directions around the axis are equally short. So EPA's
/// polytope would have to become as round as the shape. The depths have closed forms.
#[test]
fn an_axis_of_symmetry_ends_the_search_in_time() {
    let cone = Cone::new(1.0, 2.0);
    let slant = 5.0_f64.sqrt();
    let cylinder = Cylinder::new(1.0, 4.0);
    let ball = Sphere::new(0.5);
    let shapes: [(&dyn Support<Vector = Vec3>, f32, f64); 3] = [
        // The center is 1 below the tip, so it is 1 / √5 from the side.
        (&cone, 0.0, 0.5 + 1.0 / slant),
        (&cylinder, 0.0, 1.5),
        (&cylinder, 0.5, 1.5),
    ];
    for (shape, height, depth) in shapes {
        let counted = Bounded::new(Box::new(shape)).iterative(true);
        let at = Isometry3d::from_xyz(0.0, height, 0.0);
        let contact = query::contact(&counted, Isometry3d::IDENTITY, &ball, at).expect("inside");
        assert!(
            (f64::from(contact.depth) - depth).abs() < 1e-5,
            "{contact:?}"
        );
        // EPA ends after some hundreds of evaluations, and the search afterward needs as many
        // again.
        let count = counted.take_evaluations();
        assert!(count < 1_000, "{count} support points at height {height}");
    }
}

/// Two balls as custom shapes without a radius.
#[test]
fn the_normal_of_curved_surfaces_is_exact() {
    struct Round(f64);

    impl Support for Round {
        type Vector = Vec3;

        fn support(&self, direction: DVec3) -> DVec3 {
            direction.normalize() * self.0
        }
    }

    let mut rng = StdRng::seed_from_u64(3);
    for radius in [1.0, 0.1, 0.01] {
        for _ in 0..100 {
            let mut component = || rng.random_range(-1.0..1.0);
            let way = Vec3::new(component(), component(), component()).normalize();
            let at = Isometry3d::from_translation(way * (1.0 + 0.99 * radius as f32));
            let pose = Isometry3d::IDENTITY;
            let contact = query::contact(&Round(1.0), pose, &Round(radius), at).expect("overlap");
            assert!((contact.normal - way).length() < 1e-5, "{contact:?}, {way}");
        }
    }
}

/// Queries do not validate shapes. A circular segment of a negative whole circle must be the whole
/// circle.
#[test]
fn a_circular_segment_of_a_negative_whole_circle_is_a_circle() {
    let at = Isometry2d::from_xy;
    for half_angle in [-PI, -4.0, -PI.next_down(), PI.next_down(), PI] {
        let circle = CircularSegment::new(2.0, half_angle);
        for (x, y) in [(0.0, 3.0), (0.0, -3.0), (3.0, 0.0), (-3.0, 0.0)] {
            let found = query::distance(&circle, at(0.0, 0.0), &Vec2::ZERO, at(x, y)).distance;
            assert!(
                (found - 1.0).abs() < 1e-6,
                "{half_angle}, {x}, {y}: {found}"
            );
        }
    }
}

/// Points of segments must be compared by their distance, and not by the size of the segments, or
/// tiny segments far apart would touch.
#[test]
fn tiny_segments_far_apart_are_separated() {
    let at = Isometry2d::from_xy;
    for exponent in 0..38 {
        let half = 10_f32.powi(-exponent);
        let segment = Segment2d::new(Vec2::NEG_Y * half, Vec2::Y * half);
        let flat = Rectangle {
            half_size: Vec2::new(0.0, half),
        };
        for sin in [0.0, 1e-9, 3.6e-8, 1e-6, 1e-3, 0.5_f32] {
            let cos = (1.0 - sin * sin).sqrt();
            let mut away = at(-10.0, 0.3 * half);
            away.rotation = Rot2 { cos, sin };
            let found = query::distance(&flat, at(0.0, 0.0), &flat, away);
            // The rotated segment is nearer by the sine times its half length.
            let expected = 10.0 - f64::from(sin) * f64::from(half);
            let off = (f64::from(found.distance) - expected).abs();
            assert!(off < 1e-5, "{half:e} turned by {sin:e}: {found:?}");
            assert!(!query::intersects(&flat, at(0.0, 0.0), &flat, away));
            assert!(!query::intersects(&segment, at(0.0, 0.0), &flat, away));
        }
    }
}

/// The image of a shape under a map of 1e-40 may have any size above 1e-90, and its squares and
/// cross products lose digits.
#[test]
fn the_normal_of_a_vanishingly_small_shape_is_unit() {
    struct Tiny(f64);
    impl Support for Tiny {
        type Vector = Vec3;
        fn support(&self, direction: DVec3) -> DVec3 {
            // The shape is a box, rotated so that no face is parallel to an axis.
            let turn = DQuat::from_xyzw(0.1, 0.3, -0.5, 0.8).normalize();
            turn * (DVec3::new(1.0, 2.0, 3.0).copysign(turn.inverse() * direction) * self.0)
        }
    }
    for exponent in 0..90 {
        let tiny = Tiny(10_f64.powi(-exponent));
        let (point, pose) = (Vec3::ZERO, Isometry3d::IDENTITY);
        let contact = query::contact(&tiny, pose, &point, pose).expect("the point is inside");
        let length = contact.normal.as_dvec3().length();
        assert!((length - 1.0).abs() < 5e-7, "{}: {contact:?}", tiny.0);
        // The shortest translation leads through the nearest face, as exactly as f32 allows.
        let off = (f64::from(contact.depth) - tiny.0).abs();
        assert!(off <= 1e-5 * tiny.0 + 1e-44, "{}: {contact:?}", tiny.0);
    }
}

/// If a sliver of vertices is as near to the origin as rounding allows, the nearest point gives the
/// gap but not the direction.
#[test]
fn the_normal_of_a_point_touching_a_cylinder_separates_them() {
    let point = [Vec3::new(0.04883618, 0.62945724, 0.58230144)];
    let turned = Quat::from_xyzw(-0.68226457, 0.3304744, -0.5364532, 0.37083638);
    let pose_a = Isometry3d::new(Vec3::new(2.9938066, 2.628012, -1.2212334), turned);
    let cylinder = Cylinder {
        radius: 0.746_735_75,
        half_height: 1.225_671_9,
    };
    let turned = Quat::from_xyzw(-0.32089388, 0.6490129, 0.64479977, -0.24503599);
    let pose_b = Isometry3d::new(Vec3::new(3.8946395, 1.737248, -0.580768), turned);
    let contact = query::contact(&point, pose_a, &cylinder, pose_b).expect("they touch");
    let normal = contact.normal.as_dvec3();
    let place = |pose: Isometry3d, point: Vec3| {
        let rotation = pose.rotation.as_dquat().normalize();
        rotation * point.as_dvec3() + pose.translation.as_dvec3()
    };
    let way = place(pose_b, Vec3::ZERO) - place(pose_a, point[0]);
    let axis = place(pose_b, Vec3::Y) - place(pose_b, Vec3::ZERO);
    // The extent of the cylinder against the normal.
    let along = axis.dot(normal).abs();
    let across = (1.0 - along * along).sqrt();
    let reach = f64::from(cylinder.half_height) * along + f64::from(cylinder.radius) * across;
    let gap = way.dot(normal) - reach;
    assert!(gap.abs() < 1e-6, "{gap} along {contact:?}");
}

/// Returns the same numbers with a random sign for each zero.
fn with_signed_zeros<const N: usize>(numbers: [f32; N], random: &mut StdRng) -> [f32; N] {
    numbers.map(|number| {
        if number == 0.0 && random.random() {
            -0.0
        } else {
            number
        }
    })
}

/// If several results are equally right, the sign of a zero in a pose must not choose among them.
#[test]
fn the_sign_of_a_zero_in_a_pose_changes_nothing() {
    let solids: [Box<dyn Support<Vector = Vec3>>; 6] = [
        Box::new(Cylinder::new(1.0, 2.0)),
        Box::new(Capsule3d::new(1.0, 2.0)),
        Box::new(Cuboid::new(2.0, 2.0, 2.0)),
        Box::new(Cone::new(1.0, 2.0)),
        Box::new(Sphere::new(1.0)),
        Box::new([Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z]),
    ];
    let flats: [Box<dyn Support<Vector = Vec2>>; 4] = [
        Box::new(Capsule2d::new(1.0, 2.0)),
        Box::new(Rectangle::new(2.0, 2.0)),
        Box::new(Circle::new(1.0)),
        Box::new([Vec2::X, Vec2::Y, -Vec2::X, -Vec2::Y]),
    ];
    let mut random = StdRng::seed_from_u64(15);
    let quarter = core::f32::consts::FRAC_1_SQRT_2;
    let turns = [
        [0.0, 0.0, 0.0, 1.0],
        [quarter, 0.0, 0.0, quarter],
        [0.0, -quarter, 0.0, quarter],
        [0.0, 0.0, 1.0, 0.0],
    ];
    let places = [[0.0; 3], [0.5, 0.0, 0.0], [0.0, 0.0, -0.25]];
    for (a, b) in solids
        .iter()
        .flat_map(|a| solids.iter().map(move |b| (&**a, &**b)))
    {
        for (turn, place) in turns.iter().flat_map(|turn| places.map(|it| (*turn, it))) {
            let mut answer = |is_plain: bool| {
                let mut pose = |turn: [f32; 4], place: [f32; 3]| {
                    let turn = with_signed_zeros(turn, &mut random);
                    let place = with_signed_zeros(place, &mut random);
                    Isometry3d::new(Vec3::from(place), Quat::from_array(turn))
                };
                let [pose_a, pose_b] = if is_plain {
                    let plain = Isometry3d::new(Vec3::from(place), Quat::from_array(turn));
                    [Isometry3d::IDENTITY, plain]
                } else {
                    [pose([0.0, 0.0, 0.0, 1.0], [0.0; 3]), pose(turn, place)]
                };
                let contact = query::contact(a, pose_a, b, pose_b);
                let manifold = query::manifold(a, pose_a, b, pose_b);
                format!("{contact:?} {manifold:?}")
            };
            let plain = answer(true);
            for _ in 0..8 {
                assert_eq!(answer(false), plain);
            }
        }
    }
    for (a, b) in flats
        .iter()
        .flat_map(|a| flats.iter().map(move |b| (&**a, &**b)))
    {
        for (turn, place) in [[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [-1.0, 0.0]]
            .into_iter()
            .flat_map(|turn| [[0.0; 2], [0.5, 0.0], [0.0, -0.25]].map(|it| (turn, it)))
        {
            let pose = |[cos, sin]: [f32; 2], place: [f32; 2]| {
                Isometry2d::new(Vec2::from(place), Rot2::from_sin_cos(sin, cos))
            };
            let contact = |poses: [Isometry2d; 2]| {
                let contact = query::contact(a, poses[0], b, poses[1]);
                let manifold = query::manifold(a, poses[0], b, poses[1]);
                format!("{contact:?} {manifold:?}")
            };
            let plain = contact([Isometry2d::IDENTITY, pose(turn, place)]);
            for _ in 0..8 {
                let mut signed = |turn, place| {
                    let turn = with_signed_zeros(turn, &mut random);
                    pose(turn, with_signed_zeros(place, &mut random))
                };
                let poses = [signed([1.0, 0.0], [0.0; 2]), signed(turn, place)];
                assert_eq!(contact(poses), plain);
            }
        }
    }
}
