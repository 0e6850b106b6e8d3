//! `query::manifold`: closed forms where faces, edges and vertices meet, and the laws that hold for
//! every hard case.

use core::f32::consts::{FRAC_PI_2, FRAC_PI_4};

use crate::oracle::{
    Convex,
    adversity::{Adverse, Class, REGIMES, Regime},
    cases::{Dimension, Ellipsoid},
    check::{same, tolerance},
    solid::Solid,
};
use bevy::{
    math::{DVec3, Isometry2d, Isometry3d, Quat, Vec2, Vec3},
    prelude::{
        Capsule2d, Capsule3d, Circle, Cuboid, Cylinder, Rectangle, Segment3d, Sphere, Triangle3d,
    },
};
use headbutt::{
    Support,
    query::{self, Manifold, ManifoldPoint},
};

/// A few times the rounding of results of size 1 to f32.
const NEAR: f32 = 2e-6;

/// A point that a manifold must have, on the second shape's surface, and its depth.
type Expected<V> = (V, f32);

/// Asserts that the manifold has exactly the expected points in any order, also for the swapped
/// shapes. The first point is the deepest.
fn expect<V: Dimension>(
    a: &impl Support<Vector = V>,
    pose_a: V::Isometry,
    b: &impl Support<Vector = V>,
    pose_b: V::Isometry,
    normal: V,
    expected: &[Expected<V>],
) {
    // With trait objects, the query is compiled only once for all shapes.
    let (a, b): (&dyn Support<Vector = V>, &dyn Support<Vector = V>) = (a, b);
    let manifold = query::manifold(a, pose_a, b, pose_b).expect("they touch");
    let found = manifold.points();
    assert!(
        manifold.normal.deep().distance(normal.deep()) < NEAR.into(),
        "{:?} is not {normal:?}",
        manifold.normal,
    );
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (place, depth) in expected {
        let is_it = |point: &ManifoldPoint<V>| {
            point.point_b.deep().distance(place.deep()) < NEAR.into()
                && (point.depth - depth).abs() < NEAR
        };
        assert!(
            found.iter().any(is_it),
            "no point at {place:?} of depth {depth}: {found:#?}",
        );
    }
    let deepest = expected.iter().map(|(_, depth)| *depth).fold(0.0, f32::max);
    assert!((found[0].depth - deepest).abs() < NEAR, "{found:#?}");
    let swapped = query::manifold(b, pose_b, a, pose_a).expect("they touch");
    same("swapped", mirrored(&manifold), facts(&swapped)).expect("the mirror image");
}

/// All data of a manifold, to compare.
type Facts<V> = (V, Vec<(f32, V, V)>);

fn facts<V: Dimension>(manifold: &Manifold<V>) -> Facts<V> {
    let facts = |point: &ManifoldPoint<V>| (point.depth, point.point_a, point.point_b);
    (
        manifold.normal,
        manifold.points().iter().map(facts).collect(),
    )
}

fn mirrored<V: Dimension>(manifold: &Manifold<V>) -> Facts<V> {
    let (normal, points) = facts(manifold);
    // Adding 0 removes the sign of zeros.
    let normal = V::of((-normal.deep() + 0.0).as_vec3());
    let points = points.into_iter().map(|(depth, a, b)| (depth, b, a));
    (normal, points.collect())
}

/// A floor whose top is at y = 1.
const FLOOR: Cuboid = Cuboid {
    half_size: Vec3::new(5.0, 1.0, 5.0),
};

const CRATE: Cuboid = Cuboid {
    half_size: Vec3::splat(0.5),
};

/// Asserts the manifold of a shape on the floor. The shape is rotated and then translated.
fn on_floor(
    shape: &impl Support<Vector = Vec3>,
    turn: Quat,
    at: Vec3,
    expected: &[Expected<Vec3>],
) {
    expect(
        &FLOOR,
        Isometry3d::IDENTITY,
        shape,
        Isometry3d::new(at, turn),
        Vec3::Y,
        expected,
    );
}

mod in_3d {
    use super::*;

    #[test]
    fn a_face_on_a_face_has_the_corners_of_the_smaller_one() {
        let corner = |x, z| (Vec3::new(x, 0.75, z), 0.25);
        on_floor(
            &CRATE,
            Quat::IDENTITY,
            Vec3::new(1.0, 1.25, 2.0),
            &[
                corner(0.5, 1.5),
                corner(1.5, 1.5),
                corner(0.5, 2.5),
                corner(1.5, 2.5),
            ],
        );
    }

    #[test]
    fn a_face_that_just_touches_a_face_has_its_corners() {
        let corner = |x, z| (Vec3::new(x, 1.0, z), 0.0);
        on_floor(
            &CRATE,
            Quat::IDENTITY,
            Vec3::new(0.0, 1.5, 0.0),
            &[
                corner(-0.5, -0.5),
                corner(0.5, -0.5),
                corner(-0.5, 0.5),
                corner(0.5, 0.5),
            ],
        );
    }

    #[test]
    fn a_face_over_a_corner_has_the_corners_of_the_intersection() {
        let corner = |x, z| (Vec3::new(x, 0.75, z), 0.25);
        on_floor(
            &CRATE,
            Quat::IDENTITY,
            Vec3::new(4.75, 1.25, -5.125),
            &[
                corner(4.25, -4.625),
                corner(5.0, -4.625),
                corner(4.25, -5.0),
                corner(5.0, -5.0),
            ],
        );
    }

    #[test]
    fn a_rotated_face_on_an_equal_face_has_four_of_the_eight_crossings() {
        let turn = Quat::from_rotation_y(FRAC_PI_4);
        let pose = Isometry3d::new(Vec3::Y * 0.75, turn);
        let manifold = query::manifold(&CRATE, Isometry3d::IDENTITY, &CRATE, pose).unwrap();
        assert_eq!(manifold.points().len(), 4);
        // Edges at a distance of 0.5 from the axis cross at the distance `beside` from their
        // middles.
        let beside = 0.5 * (2.0_f32.sqrt() - 1.0);
        for point in manifold.points() {
            let at = point.point_a.abs();
            let (least, most) = (at.x.min(at.z), at.x.max(at.z));
            assert!(
                (least - beside).abs() < NEAR && (most - 0.5).abs() < NEAR,
                "{point:?}"
            );
            assert!((point.depth - 0.25).abs() < NEAR, "{point:?}");
        }
    }

    #[test]
    fn a_triangle_on_a_face_has_its_corners() {
        let triangle = Triangle3d::new(Vec3::ZERO, Vec3::X, Vec3::Z * 2.0);
        let corner = |x, z| (Vec3::new(x, 0.9, z), 0.1);
        on_floor(
            &triangle,
            Quat::IDENTITY,
            Vec3::Y * 0.9,
            &[corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 2.0)],
        );
    }

    #[test]
    fn an_edge_on_a_face_has_its_ends() {
        let half = 0.5_f32.sqrt();
        let end = |z| (Vec3::new(0.0, 0.9, z), 0.1);
        on_floor(
            &CRATE,
            Quat::from_rotation_z(FRAC_PI_4),
            Vec3::Y * (0.9 + half),
            &[end(-0.5), end(0.5)],
        );
        // If the edge reaches beyond the floor, the manifold ends at the end of the floor.
        let end = |z| (Vec3::new(0.0, 0.9, z), 0.1);
        on_floor(
            &CRATE,
            Quat::from_rotation_z(FRAC_PI_4),
            Vec3::new(0.0, 0.9 + half, 4.75),
            &[end(4.25), end(5.0)],
        );
        let segment = Segment3d::new(Vec3::X, -Vec3::X);
        on_floor(
            &segment,
            Quat::IDENTITY,
            Vec3::Y * 0.75,
            &[
                (Vec3::new(-1.0, 0.75, 0.0), 0.25),
                (Vec3::new(1.0, 0.75, 0.0), 0.25),
            ],
        );
    }

    #[test]
    fn an_edge_across_an_edge_has_one_point() {
        let half = 0.5_f32.sqrt();
        let below = Isometry3d::from_rotation(Quat::from_rotation_z(FRAC_PI_4));
        let above = Isometry3d::new(
            Vec3::new(0.125, 2.0 * half - 0.0625, 0.25),
            Quat::from_rotation_x(FRAC_PI_4),
        );
        let crossing = Vec3::new(0.0, half - 0.0625, 0.25);
        expect(&CRATE, below, &CRATE, above, Vec3::Y, &[(crossing, 0.0625)]);
    }

    #[test]
    fn a_vertex_on_a_face_has_one_point() {
        let diagonal = 0.75_f32.sqrt();
        on_floor(
            &CRATE,
            Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::NEG_Y),
            Vec3::new(1.0, 0.9 + diagonal, 2.0),
            &[(Vec3::new(1.0, 0.9, 2.0), 0.1)],
        );
    }

    #[test]
    fn a_lying_capsule_has_two_points_and_a_standing_one_has_one() {
        let capsule = Capsule3d::new(0.5, 2.0);
        let lying = Quat::from_rotation_z(FRAC_PI_2);
        let end = |x| (Vec3::new(x, 0.9, 0.0), 0.1);
        on_floor(&capsule, lying, Vec3::Y * 1.4, &[end(-1.0), end(1.0)]);
        // The capsule reaches over the end of the floor.
        on_floor(
            &capsule,
            lying,
            Vec3::new(4.5, 1.4, 0.0),
            &[end(3.5), end(5.0)],
        );
        on_floor(
            &capsule,
            Quat::IDENTITY,
            Vec3::Y * 2.4,
            &[(Vec3::Y * 0.9, 0.1)],
        );
    }

    #[test]
    fn parallel_capsules_have_two_points_and_crossed_ones_have_one() {
        let capsule = Capsule3d::new(0.5, 2.0);
        let beside = Isometry3d::from_xyz(0.75, 0.5, 0.0);
        let end = |y| (Vec3::new(0.25, y, 0.0), 0.25);
        expect(
            &capsule,
            Isometry3d::IDENTITY,
            &capsule,
            beside,
            Vec3::X,
            &[end(-0.5), end(1.0)],
        );
        let across = Isometry3d::new(Vec3::X * 0.75, Quat::from_rotation_x(FRAC_PI_2));
        let point = (Vec3::X * 0.25, 0.25);
        expect(
            &capsule,
            Isometry3d::IDENTITY,
            &capsule,
            across,
            Vec3::X,
            &[point],
        );
    }

    #[test]
    fn a_ball_has_one_point_on_any_shape() {
        let ball = Sphere::new(0.5);
        let lowest = (Vec3::new(1.0, 0.9, 2.0), 0.1);
        on_floor(
            &ball,
            Quat::from_rotation_x(0.3),
            Vec3::new(1.0, 1.4, 2.0),
            &[lowest],
        );
        let capsule = Capsule3d::new(0.5, 2.0);
        let beside = Isometry3d::from_xyz(0.75, 0.5, 0.0);
        let point = (Vec3::new(0.25, 0.5, 0.0), 0.25);
        expect(
            &capsule,
            Isometry3d::IDENTITY,
            &ball,
            beside,
            Vec3::X,
            &[point],
        );
        let above = Isometry3d::from_xyz(0.0, 0.75, 0.0);
        let point = (Vec3::Y * 0.25, 0.25);
        expect(&ball, Isometry3d::IDENTITY, &ball, above, Vec3::Y, &[point]);
    }

    #[test]
    fn a_long_thin_face_has_four_points_in_any_rotation() {
        for width in [0.5, 0.05, 0.001, 1e-4_f32] {
            let plank = Cuboid::new(4.0, 0.5, width);
            for turn in turns() {
                let at = Vec3::Y * 1.2;
                let corner = |x, z| (at + turn * Vec3::new(x, -0.25, z), 0.05);
                let [x, z] = [2.0, width / 2.0];
                let corners = [corner(x, z), corner(-x, z), corner(x, -z), corner(-x, -z)];
                on_floor(&plank, turn, at, &corners);
            }
        }
    }

    #[test]
    fn a_triangle_has_three_points_in_any_rotation_and_slight_tilt() {
        let apexes = [(0.3, 2.0), (0.3, 0.6), (1.0, 0.6), (1.0, 0.01), (1.0, 1e-3)];
        for (x, height) in apexes {
            let vertices = [Vec3::NEG_X, Vec3::X, Vec3::new(x, 0.0, height)];
            let triangle = Triangle3d { vertices };
            for (tilt, turn) in [0.0, 0.005, 0.019].into_iter().flat_map(|tilt| {
                let tilted = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), tilt);
                turns().map(move |turn| (tilt, tilted * turn))
            }) {
                let at = Vec3::Y * (0.9 - 2.0 * tilt);
                let corners = vertices.map(|vertex| at + turn * vertex);
                on_floor(
                    &triangle,
                    turn,
                    at,
                    &corners.map(|corner| (corner, 1.0 - corner.y)),
                );
            }
        }
    }

    const CYLINDER: Cylinder = Cylinder {
        half_height: 1.0,
        radius: 0.5,
    };

    #[test]
    fn a_standing_cylinder_has_a_square_of_points_on_its_rim() {
        for turn in turns() {
            let standing = Isometry3d::new(Vec3::new(1.0, 1.9, 2.0), turn);
            let manifold =
                query::manifold(&FLOOR, Isometry3d::IDENTITY, &CYLINDER, standing).unwrap();
            let foot = Vec3::new(1.0, 0.9, 2.0);
            let [a, b, c, d] = manifold.points() else {
                panic!("{manifold:#?}");
            };
            for point in manifold.points() {
                assert!(
                    (point.point_b.distance(foot) - 0.5).abs() < NEAR,
                    "{point:?}"
                );
                assert!((point.depth - 0.1).abs() < NEAR, "{point:?}");
            }
            // The points are in order around the face.
            for (one, other, length) in [
                (a, c, 1.0),
                (b, d, 1.0),
                (a, b, 0.5_f32.sqrt()),
                (a, d, 0.5_f32.sqrt()),
            ] {
                let distance = one.point_b.distance(other.point_b);
                assert!((distance - length).abs() < NEAR, "{manifold:#?}");
            }
        }
    }

    /// Two discs perpendicular to y, one at each end, with a radius around their hull: a cylinder,
    /// a cone, a frustum or a capsule.
    struct Frustum {
        half_height: f32,
        /// The radii of the lower and the upper disc.
        radii: [f32; 2],
        rounding: f32,
    }

    impl Support for Frustum {
        type Vector = Vec3;

        fn support(&self, direction: DVec3) -> DVec3 {
            let out = direction.with_y(0.0).normalize_or_zero();
            let [lower, upper] = [0, 1].map(|end| {
                let sign = 2.0 * end as f64 - 1.0;
                let height = sign * f64::from(self.half_height);
                out * f64::from(self.radii[end]) + DVec3::Y * height
            });
            if direction.dot(upper - lower) > 0.0 {
                upper
            } else {
                lower
            }
        }

        fn radius(&self) -> f64 {
            self.rounding.into()
        }
    }

    impl Frustum {
        /// Returns the rotation that lays the frustum on its side, along x.
        fn lying(&self) -> Quat {
            let [lower, upper] = self.radii;
            Quat::from_rotation_z(FRAC_PI_2 + ((lower - upper) / (2.0 * self.half_height)).atan())
        }

        /// Returns the ends of the core's lowest line when the frustum lies, in the frame of the
        /// frustum.
        fn ends(&self) -> [Vec3; 2] {
            let [lower, upper] = self.radii;
            [
                Vec3::new(-lower, -self.half_height, 0.0),
                Vec3::new(-upper, self.half_height, 0.0),
            ]
        }
    }

    /// The lengths of frustums, in radii.
    const LENGTHS: [f32; 9] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];

    /// Returns rotations after which nothing is at 90 or 45 degrees.
    fn turns() -> impl Iterator<Item = Quat> {
        (0..41).map(|number| Quat::from_rotation_y(0.1 * number as f32 + 0.001))
    }

    /// Returns frustums of these radii times a factor that makes their sizes comparable.
    fn frustums(radii: [f32; 2], rounding: f32) -> impl Iterator<Item = Frustum> {
        LENGTHS.into_iter().map(move |length| {
            let radius = 1.0 / length.max(1.0);
            Frustum {
                half_height: 0.5 * length * radius,
                radii: radii.map(|part| part * radius),
                rounding: rounding * radius,
            }
        })
    }

    #[test]
    fn a_lying_cylinder_has_the_ends_of_its_lowest_line() {
        for (radii, rounding) in [
            ([1.0, 1.0], 0.0),
            ([1.0, 0.0], 0.0),
            ([1.0, 0.3], 0.0),
            ([0.8, 1.0], 0.0),
            ([0.7, 0.7], 0.3),
            ([0.0, 0.0], 1.0),
        ] {
            for shape in frustums(radii, rounding) {
                for turn in turns() {
                    let turn = turn * shape.lying();
                    let ends = shape.ends().map(|end| turn * end);
                    let height = 0.999 + shape.rounding - ends[0].y;
                    let at = Vec3::new(1.0, height, 2.0);
                    let ends = ends.map(|end| at + end - Vec3::Y * shape.rounding);
                    on_floor(&shape, turn, at, &ends.map(|end| (end, 1.0 - end.y)));
                }
            }
        }
    }

    #[test]
    fn a_slightly_tilted_cylinder_has_both_ends_and_a_steeper_one_has_one() {
        for shape in frustums([1.0, 1.0], 0.0) {
            let length = 2.0 * shape.half_height;
            for (tilt, is_line) in [(0.005_f32, true), (0.015, true), (0.03, false)] {
                for turn in turns() {
                    let turn = turn * Quat::from_rotation_z(tilt) * shape.lying();
                    let ends = shape.ends().map(|end| turn * end);
                    let lowest = ends[0].y.min(ends[1].y);
                    let at = Vec3::Y * (0.999 - tilt * length - lowest);
                    let pose = Isometry3d::new(at, turn);
                    let manifold =
                        query::manifold(&FLOOR, Isometry3d::IDENTITY, &shape, pose).unwrap();
                    let found = manifold.points();
                    assert_eq!(found.len(), if is_line { 2 } else { 1 }, "{found:#?}");
                    let mut ends = ends.map(|end| at + end);
                    ends.sort_by(|a, b| a.y.total_cmp(&b.y));
                    for (end, point) in ends.into_iter().zip(found) {
                        // The greatest error occurs if the length is a tenth of the radius.
                        assert!(point.point_b.distance(end) < 2e-5, "{end} {found:#?}");
                        assert!((point.depth - (1.0 - end.y)).abs() < NEAR, "{found:#?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_cylinder_over_the_end_of_a_floor_has_a_point_at_that_end() {
        let lying = Quat::from_rotation_z(FRAC_PI_2);
        let end = |x| (Vec3::new(x, 0.9, 0.3), 0.1);
        let at = Vec3::new(4.5, 1.4, 0.3);
        on_floor(&CYLINDER, lying, at, &[end(3.5), end(5.0)]);
    }

    /// Where curved surfaces touch, EPA's normal may be off by 4.5e-4, the square root of 2e-7.
    /// This error changes the depth by at most 1e-7 of the size. The points on the surface are then
    /// off as well.
    const ASTRAY: f32 = 2e-4;

    #[test]
    fn parallel_cylinders_touch_along_a_line() {
        for below in frustums([1.0, 1.0], 0.0) {
            for (radius, depth) in [0.5, 1.0, 3.0].into_iter().zip([0.0, 1e-4, 0.01]) {
                let radius = radius * below.radii[0];
                let depth = depth * below.radii[0];
                let above = Cylinder {
                    half_height: 0.8 * below.half_height,
                    radius,
                };
                for turn in turns() {
                    let turn = turn * below.lying();
                    let along = turn * Vec3::Y * below.half_height;
                    let height = below.radii[0] + radius - depth;
                    let poses = [Vec3::ZERO, Vec3::Y * height + along * 0.3]
                        .map(|at| Isometry3d::new(at, turn));
                    let manifold = query::manifold(&below, poses[0], &above, poses[1]).unwrap();
                    let found = manifold.points();
                    assert_eq!(found.len(), 2, "{found:#?}");
                    for end in [along * -0.5, along] {
                        let end = end + Vec3::Y * below.radii[0];
                        let is_it = |point: &ManifoldPoint<Vec3>| {
                            point.point_a.distance(end) < ASTRAY
                                && (point.depth - depth).abs() < NEAR
                        };
                        assert!(found.iter().any(is_it), "no {end}: {found:#?}");
                    }
                    let swapped = query::manifold(&above, poses[1], &below, poses[0]).unwrap();
                    same("swapped", mirrored(&manifold), facts(&swapped)).unwrap();
                }
            }
        }
    }

    #[test]
    fn crossed_cylinders_have_one_point() {
        for shape in frustums([1.0, 1.0], 0.0) {
            for (angle, depth) in [FRAC_PI_2, 0.7, 0.2].into_iter().zip([0.0, 1e-4, 0.01]) {
                let radius = shape.radii[0];
                let depth = depth * radius;
                for turn in turns() {
                    let below = Isometry3d::from_rotation(turn * shape.lying());
                    let across = turn * Quat::from_rotation_y(angle) * shape.lying();
                    let above = Isometry3d::new(Vec3::Y * (2.0 * radius - depth), across);
                    let manifold = query::manifold(&shape, below, &shape, above).unwrap();
                    let found = manifold.points();
                    assert_eq!(found.len(), 1, "{found:#?}");
                    let top = Vec3::Y * radius;
                    assert!(found[0].point_a.distance(top) < ASTRAY, "{found:#?}");
                    assert!((found[0].depth - depth).abs() < NEAR, "{found:#?}");
                }
            }
        }
    }

    #[test]
    fn a_doubly_curved_shape_has_one_point_at_any_length() {
        for length in [1.0, 3.0, 10.0, 100.0_f32] {
            let shape = Ellipsoid {
                half_size: Vec3::new(1.0, 1.0 / length, 1.0 / length),
            };
            for turn in turns() {
                let lowest = Vec3::Y * 0.999;
                let at = lowest + Vec3::Y / length;
                let manifold = query::manifold(
                    &FLOOR,
                    Isometry3d::IDENTITY,
                    &shape,
                    Isometry3d::new(at, turn),
                )
                .unwrap();
                let found = manifold.points();
                assert_eq!(found.len(), 1, "{length} {turn} {found:#?}");
                assert!(found[0].point_b.distance(lowest) < ASTRAY, "{found:#?}");
            }
        }
    }

    #[test]
    fn a_slightly_tilted_face_has_its_corners_and_a_steeper_one_has_an_edge() {
        for (tilt, is_face) in [(0.0_f32, true), (0.005, true), (0.019, true), (0.03, false)] {
            for axis in [Vec3::Z, Vec3::X] {
                let turn = Quat::from_axis_angle(axis, tilt);
                let at = Vec3::Y * 1.25;
                let corners = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)];
                let corners = corners.map(|(x, z)| at + turn * Vec3::new(x, -0.5, z));
                let lowest = corners
                    .map(|corner| corner.y)
                    .into_iter()
                    .fold(1.0, f32::min);
                let expected: Vec<_> = corners
                    .into_iter()
                    .filter(|corner| is_face || corner.y < lowest + NEAR)
                    .map(|corner| (corner, 1.0 - corner.y))
                    .collect();
                on_floor(&CRATE, turn, at, &expected);
            }
        }
    }

    #[test]
    fn a_tilted_face_has_only_points_inside_the_other_shape() {
        let turn = Quat::from_rotation_z(0.01);
        // The lower edge is 0.002 deep, and the upper edge is separated.
        let low = (turn * Vec3::new(-0.5, -0.5, 0.0)).y;
        let at = Vec3::Y * (0.998 - low);
        let end = |z| at + turn * Vec3::new(-0.5, -0.5, z);
        on_floor(&CRATE, turn, at, &[(end(-0.5), 0.002), (end(0.5), 0.002)]);
    }
}

/// Shapes around y, and boxes, laid on each other: their signed distance is known in closed form.
mod lying {
    use core::f32::consts::PI;

    use bevy::{
        math::{DVec2, EulerRot},
        prelude::{Cone, ConicalFrustum},
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Lying {
        Frustum { half: f32, bottom: f32, top: f32 },
        Box(Vec3),
    }

    impl Lying {
        /// Returns a shape with proportions up to 1 : 30, such as a needle or a disc.
        fn random(unit: f32, random: &mut StdRng) -> Self {
            let mut length =
                |powers: f32| unit * 10.0_f32.powf(random.random_range(-powers..powers));
            let [half, bottom, top] = [length(1.5), length(1.0), length(1.0)];
            match random.random_range(0..4) {
                0 => Self::Frustum { half, bottom, top },
                1 => Self::Frustum {
                    half,
                    bottom,
                    top: bottom,
                },
                2 => Self::Frustum {
                    half,
                    bottom,
                    top: 0.0,
                },
                _ => Self::Box(Vec3::new(half, bottom, top)),
            }
        }

        fn shape(&self) -> Box<dyn Support<Vector = Vec3>> {
            match *self {
                Self::Box(half_size) => Box::new(Cuboid { half_size }),
                Self::Frustum { half, bottom, top } if top == bottom => {
                    Box::new(Cylinder::new(bottom, 2.0 * half))
                }
                Self::Frustum {
                    half,
                    bottom,
                    top: 0.0,
                } => Box::new(Cone::new(bottom, 2.0 * half)),
                Self::Frustum { half, bottom, top } => Box::new(ConicalFrustum {
                    radius_top: top,
                    radius_bottom: bottom,
                    height: 2.0 * half,
                }),
            }
        }

        fn size(&self) -> f32 {
            match *self {
                Self::Box(half_size) => half_size.length(),
                Self::Frustum { half, bottom, top } => half.hypot(bottom.max(top)),
            }
        }

        /// Returns the rotation that lays the shape along x, and the height of its center. A box
        /// lies on a face or on an edge.
        fn lie(&self, on_edge: bool) -> (Quat, f32) {
            match *self {
                Self::Box(half_size) if on_edge => {
                    let height = (half_size.y + half_size.z) * FRAC_PI_4.sin();
                    (Quat::from_rotation_x(FRAC_PI_4), height)
                }
                Self::Box(half_size) => (Quat::IDENTITY, half_size.y),
                Self::Frustum { half, bottom, top } => {
                    let slope = ((bottom - top) / (2.0 * half)).atan();
                    let turn = Quat::from_rotation_z(FRAC_PI_2 + slope);
                    (turn, -(turn * Vec3::new(-bottom, -half, 0.0)).y)
                }
            }
        }

        /// Returns the signed distance of a point in the shape's frame from its surface, which is
        /// negative inside.
        fn signed_distance(&self, point: DVec3) -> f64 {
            match *self {
                Self::Box(half_size) => {
                    let beyond = point.abs() - half_size.as_dvec3();
                    beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
                }
                Self::Frustum { half, bottom, top } => {
                    let point = DVec2::new(point.with_y(0.0).length(), point.y);
                    let [half, bottom, top] = [half, bottom, top].map(f64::from);
                    let outline = [(0.0, -half), (bottom, -half), (top, half), (0.0, half)];
                    let (mut nearest, mut is_inside) = (f64::INFINITY, true);
                    for edge in outline.map(DVec2::from).windows(2) {
                        let (way, from) = (edge[1] - edge[0], point - edge[0]);
                        // For a point, such as the top of a cone, any normal is right.
                        let t = (from.dot(way) / way.length_squared()).clamp(0.0, 1.0);
                        nearest = nearest.min(from.distance(way * t));
                        is_inside &= way.perp_dot(from) >= 0.0;
                    }
                    if is_inside { -nearest } else { nearest }
                }
            }
        }
    }

    #[test]
    fn every_manifold_point_lies_on_both_shapes() {
        let mut random = StdRng::seed_from_u64(1);
        let mut counts = [0; 5];
        for number in 0..20_000 {
            let unit = [1e-3, 1.0, 1e3][number % 3];
            let [a, b] = [(); 2].map(|()| Lying::random(unit, &mut random));
            let (smaller, larger) = (a.size().min(b.size()), a.size().max(b.size()));
            let (turn_a, height_a) = a.lie(random.random());
            let (turn_b, height_b) = b.lie(random.random());
            // The shapes are parallel, nearly parallel, perpendicular, or at a random angle.
            let yaw = match random.random_range(0..4) {
                0 => 0.0,
                1 => 10.0_f32.powf(random.random_range(-6.0..0.0)),
                2 => FRAC_PI_2,
                _ => random.random_range(0.0..2.0 * PI),
            };
            let depth = smaller * 10.0_f32.powf(random.random_range(-6.0..-1.5));
            let aside = |part: f32, random: &mut StdRng| {
                let part = if random.random() {
                    random.random_range(-part..part)
                } else {
                    0.0
                };
                part * smaller
            };
            let at = Vec3::new(
                aside(1.0, &mut random),
                height_b - depth,
                aside(0.5, &mut random),
            );
            let turn = if random.random() {
                let mut angle = || random.random_range(-PI..PI);
                Quat::from_euler(EulerRot::XYZ, angle(), angle(), angle())
            } else {
                Quat::IDENTITY
            };
            let pose =
                |at: Vec3, turned: Quat| Isometry3d::new(turn * at, (turn * turned).normalize());
            let pose_a = pose(-height_a * Vec3::Y, Quat::from_rotation_x(PI) * turn_a);
            let pose_b = pose(at, Quat::from_rotation_y(yaw) * turn_b);
            let Some(manifold) = query::manifold(&*a.shape(), pose_a, &*b.shape(), pose_b) else {
                continue;
            };
            counts[manifold.points().len()] += 1;
            for point in manifold.points() {
                for (body, pose, point) in [(a, pose_a, point.point_a), (b, pose_b, point.point_b)]
                {
                    let from = point.as_dvec3() - Vec3::from(pose.translation).as_dvec3();
                    let rotation = pose.rotation.as_dquat().normalize();
                    let off = body.signed_distance(rotation.inverse() * from);
                    let allowed = 1e-5 * smaller + 4e-6 * larger + 3e-7 * point.length();
                    let beneath = f64::from(allowed) + NEARLY_FLAT_IS_FLAT * f64::from(body.size());
                    assert!(
                        off <= allowed.into() && off >= -beneath,
                        "{number}: {off:e} off {body:?}, allowed {allowed:e}; of {a:?} and {b:?} {manifold:#?}",
                    );
                }
            }
        }
        assert!(counts[1..].iter().all(|count| *count > 10), "{counts:?}");
    }
}

mod in_2d {
    use super::*;

    const FLOOR: Rectangle = Rectangle {
        half_size: Vec2::new(5.0, 1.0),
    };

    const CRATE: Rectangle = Rectangle {
        half_size: Vec2::splat(0.5),
    };

    fn on_floor(
        shape: &impl Support<Vector = Vec2>,
        turn: f32,
        at: Vec2,
        expected: &[Expected<Vec2>],
    ) {
        let pose = Isometry2d::new(at, turn.into());
        expect(&FLOOR, Isometry2d::IDENTITY, shape, pose, Vec2::Y, expected);
    }

    fn at(x: f32, y: f32) -> Expected<Vec2> {
        (Vec2::new(x, y), 1.0 - y)
    }

    #[test]
    fn an_edge_on_an_edge_has_the_ends_of_the_shared_part() {
        on_floor(
            &CRATE,
            0.0,
            Vec2::new(1.0, 1.25),
            &[at(0.5, 0.75), at(1.5, 0.75)],
        );
        on_floor(
            &CRATE,
            0.0,
            Vec2::new(4.75, 1.25),
            &[at(4.25, 0.75), at(5.0, 0.75)],
        );
        on_floor(
            &CRATE,
            0.0,
            Vec2::new(1.0, 1.5),
            &[at(0.5, 1.0), at(1.5, 1.0)],
        );
    }

    #[test]
    fn a_vertex_on_an_edge_has_one_point() {
        let height = 0.9 + 0.5_f32.sqrt();
        on_floor(&CRATE, FRAC_PI_4, Vec2::new(1.0, height), &[at(1.0, 0.9)]);
    }

    #[test]
    fn a_lying_capsule_has_two_points_and_a_standing_one_has_one() {
        let capsule = Capsule2d::new(0.5, 2.0);
        on_floor(
            &capsule,
            FRAC_PI_2,
            Vec2::Y * 1.4,
            &[at(-1.0, 0.9), at(1.0, 0.9)],
        );
        on_floor(
            &capsule,
            FRAC_PI_2,
            Vec2::new(4.5, 1.4),
            &[at(3.5, 0.9), at(5.0, 0.9)],
        );
        on_floor(&capsule, 0.0, Vec2::Y * 2.4, &[at(0.0, 0.9)]);
    }

    #[test]
    fn a_ball_has_one_point_on_any_shape() {
        on_floor(&Circle::new(0.5), 0.3, Vec2::new(1.0, 1.4), &[at(1.0, 0.9)]);
    }

    #[test]
    fn a_slightly_tilted_edge_has_both_ends_and_a_steeper_one_has_a_vertex() {
        for (tilt, is_edge) in [(0.005_f32, true), (0.019, true), (0.03, false)] {
            let ends = [-0.5, 0.5].map(|x| {
                let end = Vec2::Y * 1.25 + Vec2::from_angle(tilt).rotate(Vec2::new(x, -0.5));
                (end, 1.0 - end.y)
            });
            let count = if is_edge { 2 } else { 1 };
            on_floor(&CRATE, tilt, Vec2::Y * 1.25, &ends[..count]);
        }
    }
}

/// Returns the distance of a point from the surface of a body, on either side.
fn off_surface<V: Dimension>(solid: &Solid, point: V, case: &Adverse<V>) -> f64 {
    let point = point.deep() - case.origin;
    Convex::bounds(&Solid::point(point, V::PLANAR), solid).miss(0.0)
}

/// An edge may be tilted by 0.02 against the normal along which its radius is added. The surface is
/// then farther by a fraction of 0.02² / 2 of the radius. This value is slightly greater.
const TILTED_RADIUS: f64 = 2.2e-4;

/// If the slope between neighboring corners is less than 0.02, the corners count as one flat face
/// or straight edge. The surface may bulge between them, as for hulls of hundreds of points and
/// very flat pyramids. The points are below the surface by at most this fraction of the shape's
/// size.
const NEARLY_FLAT_IS_FLAT: f64 = 0.01;

/// Like [`NEARLY_FLAT_IS_FLAT`], for a narrow arc, a very flat rhombus, and the flat side of an
/// extruded capsule, which bends into its round ends.
const BENT: f64 = 1e-3;

/// Returns the distance, beyond the tolerance, that is allowed between a shape's manifold points
/// and its surface.
fn beneath(class: Class, solid: &Solid) -> f64 {
    match class {
        Class::Point | Class::Ball | Class::Segment | Class::Triangle | Class::Box => 0.0,
        Class::Ellipsoid | Class::Cylinder | Class::Cone => 0.0,
        Class::Capsule | Class::RoundedBox => TILTED_RADIUS * solid.radius,
        Class::Rounded | Class::Hull | Class::RegularPolygon => NEARLY_FLAT_IS_FLAT * solid.size(),
        Class::Polygon | Class::Tetrahedron => NEARLY_FLAT_IS_FLAT * solid.size(),
        Class::Rhombus | Class::Sector | Class::CircleSegment | Class::Log => BENT * solid.size(),
        Class::Frustum | Class::Prism => 0.0,
        Class::Margined => TILTED_RADIUS * solid.radius + NEARLY_FLAT_IS_FLAT * solid.size(),
    }
}

fn check<V: Dimension>(case: &Adverse<V>) -> Result<f64, String> {
    let (a, b) = (case.a.support(), case.b.support());
    let manifold = query::manifold(&a, case.pose_a, &b, case.pose_b);
    let contact = query::contact(&a, case.pose_a, &b, case.pose_b);
    let (manifold, contact) = match (manifold, contact) {
        (Some(manifold), Some(contact)) => (manifold, contact),
        (None, None) => return Ok(0.0),
        (manifold, contact) => return Err(format!("{manifold:?} and {contact:?}")),
    };
    let points = manifold.points();
    if points.is_empty() || points.len() > if V::PLANAR { 2 } else { 4 } {
        return Err(format!("{} points", points.len()));
    }
    same("normal", manifold.normal, contact.normal)?;
    let allowed = tolerance(&case.solid_a, &case.solid_b);
    let first = points[0].depth;
    if f64::from((first - contact.depth).abs()) > allowed {
        return Err(format!(
            "the first is {first} deep, the contact {}",
            contact.depth
        ));
    }
    let mut worst = 0.0_f64;
    for point in points {
        // The limit allows for a few bits of f32 in world space.
        let rounded = allowed + 3e-7 * point.point_a.deep().length();
        let between = point.point_a.deep() - point.point_b.deep();
        let way = manifold.normal.deep() * f64::from(point.depth);
        let off = [
            ("apart", between.distance(way), 0.0),
            (
                "off surface a",
                off_surface(&case.solid_a, point.point_a, case),
                beneath(case.a.class, &case.solid_a),
            ),
            (
                "off surface b",
                off_surface(&case.solid_b, point.point_b, case),
                beneath(case.b.class, &case.solid_b),
            ),
            (
                "deeper than the first by",
                f64::from(point.depth - first),
                0.0,
            ),
        ];
        for (what, off, more) in off {
            let allowed = rounded + more;
            // In this comparison, NaN fails.
            if !matches!(off.partial_cmp(&allowed), Some(order) if order.is_le()) {
                return Err(format!("{what} {off:e}, allowed {allowed:e}: {points:?}"));
            }
            worst = worst.max(off / allowed);
        }
        if point.depth.is_nan() || point.depth < 0.0 {
            return Err(format!("depth {}", point.depth));
        }
    }
    let swapped = query::manifold(&b, case.pose_b, &a, case.pose_a);
    let swapped = swapped.map(|manifold| facts(&manifold));
    // Nothing distinguishes the two calls for the same shapes in the same pose.
    if case.regime != Regime::Identical || swapped != Some(facts(&manifold)) {
        same("swapped", Some(mirrored(&manifold)), swapped)?;
    }
    Ok(worst)
}

fn check_grid<V: Dimension>(count: usize) {
    let mut worst = 0.0_f64;
    let mut failures = Vec::new();
    for number in 0..count {
        let case = Adverse::<V>::numbered(number);
        match check(&case) {
            Ok(off) => worst = worst.max(off),
            Err(text) => failures.push(format!(
                "\n{number}, {:?} {:?}: {text}",
                case.regime,
                [case.a.class, case.b.class],
            )),
        }
    }
    println!("of {count} cases the worst is off by {worst} of what is allowed");
    let first: String = failures.iter().take(10).map(String::as_str).collect();
    assert!(
        failures.is_empty(),
        "{} of {count} cases fail:{first}",
        failures.len()
    );
}

#[test]
fn manifolds_are_true_in_every_hard_case_in_2d() {
    check_grid::<Vec2>(200 * REGIMES.len());
}

#[test]
fn manifolds_are_true_in_every_hard_case_in_3d() {
    check_grid::<Vec3>(200 * REGIMES.len());
}
