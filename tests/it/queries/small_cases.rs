//! Simple cases in which collision engines often fail, in 2D and 3D, compared with closed forms.

use bevy::{
    math::{DVec2, DVec3, Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3},
    prelude::{
        Capsule2d, Capsule3d, Circle, Cuboid, Rectangle, Segment2d, Segment3d, Sphere, Triangle2d,
        Triangle3d,
    },
};
use headbutt::{
    ConvexHull, Space, Support,
    query::{self, Contact},
};

/// The tolerance for results of size 1: a few units in the last place of an f32.
const NEAR: f32 = 5e-7;

fn at2(x: f32, y: f32) -> Isometry2d {
    Isometry2d::from_xy(x, y)
}

fn at3(x: f32, y: f32, z: f32) -> Isometry3d {
    Isometry3d::from_xyz(x, y, z)
}

fn segment2(a: (f32, f32), b: (f32, f32)) -> Segment2d {
    Segment2d {
        vertices: [a.into(), b.into()],
    }
}

fn segment3(a: (f32, f32, f32), b: (f32, f32, f32)) -> Segment3d {
    Segment3d {
        vertices: [a.into(), b.into()],
    }
}

/// Returns the contact of two shapes, after asserting that all functions agree in either order.
fn touching<A, B>(
    a: &A,
    pose_a: <A::Vector as Space>::Isometry,
    b: &B,
    pose_b: <A::Vector as Space>::Isometry,
) -> Contact<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    // With trait objects, the queries are compiled only once for all shapes.
    let (a, b): (
        &dyn Support<Vector = A::Vector>,
        &dyn Support<Vector = A::Vector>,
    ) = (&a, &b);
    let distance = query::distance(a, pose_a, b, pose_b);
    assert!(query::intersects(a, pose_a, b, pose_b), "{distance:?}");
    assert!(query::intersects(b, pose_b, a, pose_a));
    assert_eq!(distance.distance, 0.0);
    let contact = query::contact(a, pose_a, b, pose_b).expect("a contact where there is a hit");
    let back = query::contact(b, pose_b, a, pose_a).expect("the same, swapped");
    assert_eq!(contact.depth, back.depth);
    let unit = contact.normal.to_vec3().length();
    assert!((unit - 1.0).abs() < NEAR, "{contact:?}");
    let [point_a, point_b] = [contact.point_a, contact.point_b].map(Space::to_vec3);
    let way = contact.normal.to_vec3() * contact.depth;
    assert!(
        (point_a - point_b - way).length() < NEAR * (1.0 + contact.depth),
        "{contact:?}"
    );
    contact
}

/// Returns the distance of two shapes, after asserting that all functions agree in either order.
fn apart<A, B>(
    a: &A,
    pose_a: <A::Vector as Space>::Isometry,
    b: &B,
    pose_b: <A::Vector as Space>::Isometry,
) -> f32
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    // With trait objects, the queries are compiled only once for all shapes.
    let (a, b): (
        &dyn Support<Vector = A::Vector>,
        &dyn Support<Vector = A::Vector>,
    ) = (&a, &b);
    assert!(!query::intersects(a, pose_a, b, pose_b));
    assert!(query::contact(a, pose_a, b, pose_b).is_none());
    assert!(query::touch(a, pose_a, b, pose_b).is_none());
    assert!(query::contact(b, pose_b, a, pose_a).is_none());
    let distance = query::distance(a, pose_a, b, pose_b).distance;
    assert_eq!(distance, query::distance(b, pose_b, a, pose_a).distance);
    assert!(distance > 0.0);
    distance
}

fn assert_near(value: f32, expected: f32) {
    assert!(
        (value - expected).abs() <= NEAR * expected.abs().max(1.0),
        "{value} instead of {expected}"
    );
}

fn assert_parallel<V: Space>(normal: V, expected: V) {
    let (normal, expected) = (normal.to_vec3(), expected.to_vec3());
    let off = normal.cross(expected).length();
    assert!(off < NEAR, "{normal} is not along {expected}");
}

#[test]
fn concentric_balls_are_both_radii_deep_in_2d() {
    let contact = touching(
        &Circle::new(1.0),
        at2(3.0, 4.0),
        &Circle::new(0.5),
        at2(3.0, 4.0),
    );
    assert_eq!(contact.depth, 1.5);
    assert_eq!(contact.normal.abs(), Vec2::X);
}

#[test]
fn concentric_balls_are_both_radii_deep_in_3d() {
    let contact = touching(
        &Sphere::new(1.0),
        at3(3.0, 4.0, 5.0),
        &Sphere::new(0.5),
        at3(3.0, 4.0, 5.0),
    );
    assert_eq!(contact.depth, 1.5);
    assert_eq!(contact.normal.abs(), Vec3::X);
}

#[test]
fn a_box_over_the_center_of_another_separates_by_the_shortest_side_in_2d() {
    let contact = touching(
        &Rectangle::new(4.0, 2.0),
        at2(0.0, 0.0),
        &Rectangle::new(1.0, 1.0),
        at2(0.0, 0.0),
    );
    assert_eq!(contact.depth, 1.5);
    assert_parallel(contact.normal, Vec2::Y);
}

#[test]
fn a_box_over_the_center_of_another_separates_by_the_shortest_side_in_3d() {
    let contact = touching(
        &Cuboid::new(4.0, 2.0, 6.0),
        at3(0.0, 0.0, 0.0),
        &Cuboid::new(1.0, 1.0, 1.0),
        at3(0.0, 0.0, 0.0),
    );
    assert_eq!(contact.depth, 1.5);
    assert_parallel(contact.normal, Vec3::Y);
}

#[test]
fn concentric_capsules_are_both_radii_deep_and_separate_sideways_in_3d() {
    let rotated = Isometry3d::from_rotation(Quat::from_rotation_z(std::f32::consts::FRAC_PI_2));
    let capsule = Capsule3d::new(0.5, 4.0);
    let crossing = touching(&capsule, at3(0.0, 0.0, 0.0), &capsule, rotated);
    assert_near(crossing.depth, 1.0);
    assert_parallel(crossing.normal, Vec3::Z);
    let same = touching(&capsule, at3(0.0, 0.0, 0.0), &capsule, at3(0.0, 0.0, 0.0));
    assert_near(same.depth, 1.0);
    assert_near(same.normal.y, 0.0);
}

#[test]
fn crossing_capsules_separate_past_the_nearer_end_in_2d() {
    // The cores are segments of half length 2 that cross in their middles. In 2D, one segment must
    // move past an end of the other.
    let rotated = Isometry2d::from_rotation(Rot2 { cos: 0.0, sin: 1.0 });
    let capsule = Capsule2d::new(0.5, 4.0);
    let crossing = touching(&capsule, at2(0.0, 0.0), &capsule, rotated);
    assert_near(crossing.depth, 3.0);
    let same = touching(&capsule, at2(0.0, 0.0), &capsule, at2(0.0, 0.0));
    assert_near(same.depth, 1.0);
    assert_parallel(same.normal, Vec2::X);
}

/// Asserts the depth of a shape on itself, unrotated and in another pose.
fn assert_depth_on_itself_2d(shape: &(impl Support<Vector = Vec2> + ?Sized), depth: f32) {
    for pose in [
        at2(0.0, 0.0),
        Isometry2d::new(Vec2::new(7.0, -3.0), Rot2::radians(0.6)),
    ] {
        assert_near(touching(shape, pose, shape, pose).depth, depth);
    }
}

fn assert_depth_on_itself_3d(shape: &(impl Support<Vector = Vec3> + ?Sized), depth: f32) {
    let rotated = Quat::from_xyzw(0.1, -0.7, 0.4, 0.3).normalize();
    for pose in [
        at3(0.0, 0.0, 0.0),
        Isometry3d::new(Vec3::new(7.0, -3.0, 1.0), rotated),
    ] {
        assert_near(touching(shape, pose, shape, pose).depth, depth);
    }
}

#[test]
fn identical_shapes_in_identical_poses_are_as_deep_as_they_are_wide_in_2d() {
    assert_depth_on_itself_2d(&Circle::new(0.75), 1.5);
    assert_depth_on_itself_2d(&Capsule2d::new(0.25, 2.0), 0.5);
    assert_depth_on_itself_2d(&Rectangle::new(3.0, 2.0), 2.0);
    assert_depth_on_itself_2d(&segment2((1.0, 2.0), (3.0, 4.0)), 0.0);
    // The depth is the height over the longest side.
    assert_depth_on_itself_2d(
        &Triangle2d::new(Vec2::ZERO, Vec2::X * 4.0, Vec2::Y * 3.0),
        2.4,
    );
    let square = [
        Vec2::ZERO,
        Vec2::X,
        Vec2::ONE,
        Vec2::Y,
        Vec2::splat(0.5),
        Vec2::X,
    ];
    assert_depth_on_itself_2d(&ConvexHull::new(square).expect("points"), 1.0);
    assert_depth_on_itself_2d(&square[..], 1.0);
    assert_depth_on_itself_2d(&[Vec2::ONE][..], 0.0);
    assert_depth_on_itself_2d(&[Vec2::ONE, Vec2::X][..], 0.0);
}

#[test]
fn identical_shapes_in_identical_poses_are_as_deep_as_they_are_wide_in_3d() {
    assert_depth_on_itself_3d(&Sphere::new(0.75), 1.5);
    assert_depth_on_itself_3d(&Capsule3d::new(0.25, 2.0), 0.5);
    assert_depth_on_itself_3d(&Cuboid::new(3.0, 2.0, 5.0), 2.0);
    assert_depth_on_itself_3d(&segment3((1.0, 2.0, 3.0), (3.0, 4.0, 1.0)), 0.0);
    assert_depth_on_itself_3d(
        &Triangle3d::new(Vec3::ZERO, Vec3::X * 4.0, Vec3::Y * 3.0),
        0.0,
    );
    let tetrahedron = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    // The depth is the height over the largest face. The distance of opposite edges, √½, and the
    // height over the other faces, 1, are greater.
    assert_depth_on_itself_3d(
        &ConvexHull::new(tetrahedron).expect("points"),
        1.0 / 3.0_f32.sqrt(),
    );
    assert_depth_on_itself_3d(&tetrahedron[..], 1.0 / 3.0_f32.sqrt());
    assert_depth_on_itself_3d(&[Vec3::ONE][..], 0.0);
    assert_depth_on_itself_3d(&[Vec3::ONE, Vec3::X][..], 0.0);
}

#[test]
fn a_point_in_a_shape_separates_by_the_nearest_side_in_2d() {
    let point = &[Vec2::ZERO][..];
    let contact = touching(
        &Rectangle::new(4.0, 4.0),
        at2(0.0, 0.0),
        point,
        at2(1.5, 0.25),
    );
    assert_eq!((contact.depth, contact.normal), (0.5, Vec2::X));
    assert_eq!(
        (contact.point_a, contact.point_b),
        (Vec2::new(2.0, 0.25), Vec2::new(1.5, 0.25))
    );
    let contact = touching(&Circle::new(2.0), at2(0.0, 0.0), point, at2(0.0, -1.5));
    assert_eq!((contact.depth, contact.normal), (0.5, Vec2::NEG_Y));
    let triangle = Triangle2d::new(Vec2::ZERO, Vec2::X * 4.0, Vec2::Y * 4.0);
    let contact = touching(&triangle, at2(0.0, 0.0), point, at2(1.75, 1.75));
    assert_near(contact.depth, 0.5 / 2.0_f32.sqrt());
    assert_parallel(contact.normal, Vec2::ONE);
    // The point is on an edge, and then on a corner.
    assert_eq!(
        touching(&triangle, at2(0.0, 0.0), point, at2(1.0, 0.0)).depth,
        0.0
    );
    assert_eq!(
        touching(&triangle, at2(0.0, 0.0), point, at2(4.0, 0.0)).depth,
        0.0
    );
    // The point lies on a segment, at its end, and beside it.
    let segment = segment2((-1.0, 0.0), (1.0, 0.0));
    assert_eq!(
        touching(&segment, at2(0.0, 0.0), point, at2(0.5, 0.0)).depth,
        0.0
    );
    assert_eq!(
        touching(&segment, at2(0.0, 0.0), point, at2(1.0, 0.0)).depth,
        0.0
    );
    assert_eq!(apart(&segment, at2(0.0, 0.0), point, at2(0.5, 0.25)), 0.25);
}

#[test]
fn a_point_in_a_shape_separates_by_the_nearest_side_in_3d() {
    let point = &[Vec3::ZERO][..];
    let contact = touching(
        &Cuboid::new(4.0, 4.0, 4.0),
        at3(0.0, 0.0, 0.0),
        point,
        at3(0.25, 1.5, 0.5),
    );
    assert_eq!((contact.depth, contact.normal), (0.5, Vec3::Y));
    assert_eq!(
        (contact.point_a, contact.point_b),
        (Vec3::new(0.25, 2.0, 0.5), Vec3::new(0.25, 1.5, 0.5))
    );
    let contact = touching(
        &Sphere::new(2.0),
        at3(0.0, 0.0, 0.0),
        point,
        at3(0.0, 0.0, -1.5),
    );
    assert_eq!((contact.depth, contact.normal), (0.5, Vec3::NEG_Z));
    let tetrahedron = [Vec3::ZERO, Vec3::X * 6.0, Vec3::Y * 6.0, Vec3::Z * 6.0];
    let contact = touching(
        &tetrahedron,
        at3(0.0, 0.0, 0.0),
        point,
        at3(1.75, 1.75, 1.75),
    );
    assert_near(contact.depth, 0.75 / 3.0_f32.sqrt());
    assert_parallel(contact.normal, Vec3::ONE);
    // The point is on a face, on an edge, and on a corner.
    for (x, y, z) in [
        (1.0, 1.0, 0.0),
        (2.0, 2.0, 2.0),
        (1.0, 0.0, 0.0),
        (6.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    ] {
        assert_eq!(
            touching(&tetrahedron, at3(0.0, 0.0, 0.0), point, at3(x, y, z)).depth,
            0.0
        );
    }
    let triangle = Triangle3d::new(Vec3::ZERO, Vec3::X * 4.0, Vec3::Y * 4.0);
    let contact = touching(&triangle, at3(0.0, 0.0, 0.0), point, at3(1.0, 1.0, 0.0));
    assert_eq!(contact.depth, 0.0);
    assert_parallel(contact.normal, Vec3::Z);
    assert_eq!(
        apart(&triangle, at3(0.0, 0.0, 0.0), point, at3(1.0, 1.0, -0.25)),
        0.25
    );
}

#[test]
fn exactly_touching_faces_have_depth_zero_in_2d() {
    let square = Rectangle::new(2.0, 2.0);
    for shift in [-1.5, 0.0, 0.25] {
        let contact = touching(&square, at2(10.0, 5.0), &square, at2(12.0, 5.0 + shift));
        assert_eq!((contact.depth, contact.normal), (0.0, Vec2::X));
        assert_eq!(contact.point_a.x, 11.0);
        assert_eq!(contact.point_a, contact.point_b);
    }
    let contact = touching(&Circle::new(1.0), at2(0.0, 0.0), &square, at2(0.25, 2.0));
    assert_eq!((contact.depth, contact.normal), (0.0, Vec2::Y));
    let contact = touching(
        &Circle::new(1.0),
        at2(0.0, 0.0),
        &Circle::new(2.0),
        at2(-3.0, 0.0),
    );
    assert_eq!((contact.depth, contact.normal), (0.0, Vec2::NEG_X));
    assert!((apart(&square, at2(0.0, 0.0), &square, at2(2.001, 0.0)) - 1e-3).abs() < 1e-6);
}

#[test]
fn exactly_touching_faces_have_depth_zero_in_3d() {
    let cube = Cuboid::new(2.0, 2.0, 2.0);
    for shift in [-1.5, 0.0, 0.25] {
        let contact = touching(
            &cube,
            at3(10.0, 5.0, 0.0),
            &cube,
            at3(10.0, 5.0 + shift, 2.0),
        );
        assert_eq!((contact.depth, contact.normal), (0.0, Vec3::Z));
        assert_eq!(contact.point_a.z, 1.0);
        assert_eq!(contact.point_a, contact.point_b);
    }
    let contact = touching(
        &Sphere::new(1.0),
        at3(0.0, 0.0, 0.0),
        &cube,
        at3(0.25, 2.0, 0.5),
    );
    assert_eq!((contact.depth, contact.normal), (0.0, Vec3::Y));
    let contact = touching(
        &Sphere::new(1.0),
        at3(0.0, 0.0, 0.0),
        &Sphere::new(2.0),
        at3(0.0, -3.0, 0.0),
    );
    assert_eq!((contact.depth, contact.normal), (0.0, Vec3::NEG_Y));
    assert!((apart(&cube, at3(0.0, 0.0, 0.0), &cube, at3(2.001, 0.0, 0.0)) - 1e-3).abs() < 1e-6);
}

#[test]
fn exactly_touching_corners_have_depth_zero_in_2d() {
    let square = Rectangle::new(2.0, 2.0);
    let contact = touching(&square, at2(0.0, 0.0), &square, at2(2.0, 2.0));
    assert_eq!(
        (contact.depth, contact.point_a, contact.point_b),
        (0.0, Vec2::ONE, Vec2::ONE)
    );
    let triangle = Triangle2d::new(Vec2::ZERO, Vec2::new(2.0, 1.0), Vec2::new(2.0, -1.0));
    let contact = touching(&square, at2(0.0, 0.0), &triangle, at2(1.0, 0.5));
    assert_eq!((contact.depth, contact.point_a), (0.0, Vec2::new(1.0, 0.5)));
    let contact = touching(&square, at2(0.0, 0.0), &triangle, at2(1.0, 1.0));
    assert_eq!((contact.depth, contact.point_a), (0.0, Vec2::ONE));
}

#[test]
fn exactly_touching_corners_and_edges_have_depth_zero_in_3d() {
    let cube = Cuboid::new(2.0, 2.0, 2.0);
    let contact = touching(&cube, at3(0.0, 0.0, 0.0), &cube, at3(2.0, 2.0, 2.0));
    assert_eq!(
        (contact.depth, contact.point_a, contact.point_b),
        (0.0, Vec3::ONE, Vec3::ONE)
    );
    // Parallel edges touch over their whole length, and over half of it.
    for shift in [0.0, 1.0] {
        let contact = touching(&cube, at3(0.0, 0.0, 0.0), &cube, at3(2.0, 2.0, shift));
        assert_eq!(contact.depth, 0.0);
        assert_eq!(contact.point_a.truncate(), Vec2::ONE);
    }
    // Crossed edges touch in the plane x + z = 2.
    let ridge = [
        Vec3::new(0.0, -1.0, 2.0),
        Vec3::new(2.0, 1.0, 0.0),
        Vec3::new(3.0, 0.0, 3.0),
        Vec3::new(3.0, 1.0, 3.0),
    ];
    let contact = touching(&cube, at3(0.0, 0.0, 0.0), &ridge, at3(0.0, 0.0, 0.0));
    assert_eq!(contact.depth, 0.0);
    assert_eq!(contact.point_a, Vec3::new(1.0, 0.0, 1.0));
    // A tip touches a face.
    let spike = [
        Vec3::ZERO,
        Vec3::new(4.0, 4.0, 0.0),
        Vec3::new(2.0, 2.0, 3.0),
        Vec3::new(4.0, 0.0, 1.0),
    ];
    let contact = touching(&cube, at3(0.0, 0.0, 0.0), &spike, at3(1.0, 0.5, 0.25));
    assert_eq!(
        (contact.depth, contact.point_a),
        (0.0, Vec3::new(1.0, 0.5, 0.25))
    );
}

#[test]
fn collinear_segments_touch_where_they_overlap_and_end_to_end_in_2d() {
    let segment = segment2((-1.0, -0.5), (1.0, 0.5));
    let origin = at2(0.0, 0.0);
    for part in [0.0, 0.25, 0.5, 1.0] {
        let contact = touching(&segment, origin, &segment, at2(2.0 * part, part));
        assert_eq!(contact.depth, 0.0);
    }
    let end_to_end = touching(&segment, origin, &segment, at2(2.0, 1.0));
    assert_eq!(
        (end_to_end.point_a, end_to_end.point_b),
        (Vec2::new(1.0, 0.5), Vec2::new(1.0, 0.5))
    );
    assert_near(
        apart(&segment, origin, &segment, at2(4.0, 2.0)),
        5.0_f32.sqrt(),
    );
    // The segments are parallel, side by side.
    assert_eq!(
        apart(
            &segment2((-1.0, 0.0), (1.0, 0.0)),
            origin,
            &segment2((-1.0, 0.0), (3.0, 0.0)),
            at2(0.5, 0.25)
        ),
        0.25
    );
}

#[test]
fn collinear_segments_touch_where_they_overlap_and_end_to_end_in_3d() {
    let segment = segment3((-1.0, -0.5, 0.25), (1.0, 0.5, -0.25));
    let origin = at3(0.0, 0.0, 0.0);
    for part in [0.0, 0.25, 0.5, 1.0] {
        let contact = touching(
            &segment,
            origin,
            &segment,
            at3(2.0 * part, part, -0.5 * part),
        );
        assert_eq!(contact.depth, 0.0);
    }
    let end_to_end = touching(&segment, origin, &segment, at3(2.0, 1.0, -0.5));
    assert_eq!(
        (end_to_end.point_a, end_to_end.point_b),
        (Vec3::new(1.0, 0.5, -0.25), Vec3::new(1.0, 0.5, -0.25))
    );
    assert_near(
        apart(&segment, origin, &segment, at3(4.0, 2.0, -1.0)),
        5.25_f32.sqrt(),
    );
    let along = segment3((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0));
    assert_eq!(apart(&along, origin, &along, at3(0.5, 0.0, 0.25)), 0.25);
    // The difference of crossed segments is flat, the depth is 0, and the normal is perpendicular
    // to both.
    let across = segment3((0.0, -1.0, 0.0), (0.0, 1.0, 0.0));
    let contact = touching(&along, origin, &across, at3(0.25, 0.5, 0.0));
    assert_eq!(contact.depth, 0.0);
    assert_parallel(contact.normal, Vec3::Z);
}

#[test]
fn crossing_segments_separate_past_the_nearer_end_in_2d() {
    let along = segment2((-1.0, 0.0), (1.0, 0.0));
    let across = segment2((0.0, -1.0), (0.0, 1.0));
    let contact = touching(&along, at2(0.0, 0.0), &across, at2(0.75, 0.5));
    assert_eq!((contact.depth, contact.normal), (0.25, Vec2::X));
}

#[test]
fn a_shape_inside_another_separates_by_the_nearest_side_in_2d() {
    let (large, origin) = (Rectangle::new(10.0, 10.0), at2(0.0, 0.0));
    let contact = touching(&large, origin, &Rectangle::new(1.0, 1.0), at2(3.0, 0.5));
    assert_eq!((contact.depth, contact.normal), (2.5, Vec2::X));
    let contact = touching(&large, origin, &Circle::new(0.5), at2(0.5, -3.0));
    assert_eq!((contact.depth, contact.normal), (2.5, Vec2::NEG_Y));
    let contact = touching(&Circle::new(5.0), origin, &Circle::new(1.0), at2(0.0, 2.0));
    assert_eq!((contact.depth, contact.normal), (4.0, Vec2::Y));
    let contact = touching(
        &large,
        origin,
        &segment2((-1.0, 0.0), (1.0, 0.0)),
        at2(-3.5, 0.25),
    );
    assert_eq!((contact.depth, contact.normal), (2.5, Vec2::NEG_X));
}

#[test]
fn a_shape_inside_another_separates_by_the_nearest_side_in_3d() {
    let (large, origin) = (Cuboid::new(10.0, 10.0, 10.0), at3(0.0, 0.0, 0.0));
    let contact = touching(
        &large,
        origin,
        &Cuboid::new(1.0, 1.0, 1.0),
        at3(0.25, 0.5, 3.0),
    );
    assert_eq!((contact.depth, contact.normal), (2.5, Vec3::Z));
    let contact = touching(&large, origin, &Sphere::new(0.5), at3(0.5, -3.0, 0.25));
    assert_eq!((contact.depth, contact.normal), (2.5, Vec3::NEG_Y));
    let contact = touching(
        &Sphere::new(5.0),
        origin,
        &Sphere::new(1.0),
        at3(0.0, 0.0, 2.0),
    );
    assert_eq!((contact.depth, contact.normal), (4.0, Vec3::Z));
    let triangle = Triangle3d::new(Vec3::ZERO, Vec3::X, Vec3::Y);
    let contact = touching(&large, origin, &triangle, at3(0.25, 0.5, -4.0));
    assert_eq!((contact.depth, contact.normal), (1.0, Vec3::NEG_Z));
    // A capsule sticks out of a box at both ends.
    let contact = touching(
        &Cuboid::new(2.0, 2.0, 2.0),
        origin,
        &Capsule3d::new(0.25, 20.0),
        at3(0.75, 0.0, 0.0),
    );
    assert_eq!((contact.depth, contact.normal), (0.5, Vec3::X));
}

#[test]
fn parallel_triangles_have_the_depth_of_their_plane_in_3d() {
    let triangle = Triangle3d::new(Vec3::ZERO, Vec3::X * 4.0, Vec3::Y * 4.0);
    let origin = at3(0.0, 0.0, 0.0);
    // Coplanar triangles separate perpendicular to their plane, by a translation of length 0.
    let coplanar = touching(&triangle, origin, &triangle, at3(1.0, 0.5, 0.0));
    assert_eq!(coplanar.depth, 0.0);
    assert_parallel(coplanar.normal, Vec3::Z);
    assert_eq!(
        touching(&triangle, origin, &triangle, at3(4.0, 0.0, 0.0)).depth,
        0.0
    );
    assert_eq!(apart(&triangle, origin, &triangle, at3(6.0, 0.0, 0.0)), 2.0);
    let stacked = query::distance(&triangle, origin, &triangle, at3(1.0, 0.5, 0.25));
    assert_eq!(stacked.distance, 0.25);
    assert_eq!(
        apart(&triangle, origin, &triangle, at3(1.0, 0.5, -0.25)),
        0.25
    );
}

#[test]
fn overlapping_triangles_have_the_shortest_translation_in_2d() {
    let triangle = Triangle2d::new(Vec2::ZERO, Vec2::X * 4.0, Vec2::Y * 4.0);
    let contact = touching(&triangle, at2(0.0, 0.0), &triangle, at2(1.75, 1.75));
    assert_near(contact.depth, 0.5 / 2.0_f32.sqrt());
    assert_parallel(contact.normal, Vec2::ONE);
    assert_eq!(
        touching(&triangle, at2(0.0, 0.0), &triangle, at2(4.0, 0.0)).depth,
        0.0
    );
    assert_eq!(
        apart(&triangle, at2(0.0, 0.0), &triangle, at2(6.0, 0.0)),
        2.0
    );
}

#[test]
fn shapes_of_zero_size_are_points_in_2d() {
    let points: [&dyn Support<Vector = Vec2>; 7] = [
        &Circle { radius: 0.0 },
        &Capsule2d {
            radius: 0.0,
            half_length: 0.0,
        },
        &Rectangle {
            half_size: Vec2::ZERO,
        },
        &Segment2d {
            vertices: [Vec2::ZERO; 2],
        },
        &Triangle2d {
            vertices: [Vec2::ZERO; 3],
        },
        &[Vec2::ZERO],
        &[Vec2::ZERO; 5],
    ];
    let unit = Rectangle::new(2.0, 2.0);
    for a in points {
        for b in points {
            assert_eq!(touching(a, at2(3.0, 4.0), b, at2(3.0, 4.0)).depth, 0.0);
            assert_eq!(apart(a, at2(0.0, 0.0), b, at2(3.0, 4.0)), 5.0);
        }
        assert_eq!(touching(a, at2(0.5, 0.25), &unit, at2(0.0, 0.0)).depth, 0.5);
        assert_eq!(touching(a, at2(1.0, 0.25), &unit, at2(0.0, 0.0)).depth, 0.0);
        assert_eq!(touching(a, at2(1.0, 1.0), &unit, at2(0.0, 0.0)).depth, 0.0);
        assert_eq!(apart(a, at2(1.5, 0.25), &unit, at2(0.0, 0.0)), 0.5);
    }
}

#[test]
fn shapes_of_zero_size_are_points_in_3d() {
    let points: [&dyn Support<Vector = Vec3>; 7] = [
        &Sphere { radius: 0.0 },
        &Capsule3d {
            radius: 0.0,
            half_length: 0.0,
        },
        &Cuboid {
            half_size: Vec3::ZERO,
        },
        &Segment3d {
            vertices: [Vec3::ZERO; 2],
        },
        &Triangle3d {
            vertices: [Vec3::ZERO; 3],
        },
        &[Vec3::ZERO],
        &[Vec3::ZERO; 5],
    ];
    let unit = Cuboid::new(2.0, 2.0, 2.0);
    let origin = at3(0.0, 0.0, 0.0);
    for a in points {
        for b in points {
            assert_eq!(
                touching(a, at3(3.0, 4.0, 1.0), b, at3(3.0, 4.0, 1.0)).depth,
                0.0
            );
            assert_eq!(apart(a, origin, b, at3(3.0, 0.0, 4.0)), 5.0);
        }
        assert_eq!(touching(a, at3(0.5, 0.25, 0.0), &unit, origin).depth, 0.5);
        assert_eq!(touching(a, at3(1.0, 0.25, 0.0), &unit, origin).depth, 0.0);
        assert_eq!(touching(a, at3(1.0, 1.0, 0.5), &unit, origin).depth, 0.0);
        assert_eq!(touching(a, at3(1.0, 1.0, 1.0), &unit, origin).depth, 0.0);
        assert_eq!(apart(a, at3(1.5, 0.25, 0.0), &unit, origin), 0.5);
    }
}

/// Asserts that two shapes do not touch and that their distance is infinite, in either order.
fn assert_no_hit<V: Space>(
    a: &(impl Support<Vector = V> + ?Sized),
    pose_a: V::Isometry,
    b: &(impl Support<Vector = V> + ?Sized),
    pose_b: V::Isometry,
) {
    // With trait objects, the queries are compiled only once for all shapes.
    let (a, b): (&dyn Support<Vector = V>, &dyn Support<Vector = V>) = (&a, &b);
    assert!(!query::intersects(a, pose_a, b, pose_b), "{pose_a:?}");
    assert!(query::contact(a, pose_a, b, pose_b).is_none());
    assert!(query::touch(a, pose_a, b, pose_b).is_none());
    assert_eq!(
        query::distance(a, pose_a, b, pose_b).distance,
        f32::INFINITY
    );
    assert!(!query::intersects(b, pose_b, a, pose_a));
    assert!(query::contact(b, pose_b, a, pose_a).is_none());
    assert_eq!(
        query::distance(b, pose_b, a, pose_a).distance,
        f32::INFINITY
    );
}

#[test]
fn an_empty_point_list_touches_nothing_in_2d() {
    let empty: &[Vec2] = &[];
    assert_no_hit(empty, at2(0.0, 0.0), &Circle::new(1.0), at2(0.0, 0.0));
    assert_no_hit(
        empty,
        at2(0.0, 0.0),
        &Rectangle::new(1.0, 1.0),
        at2(0.5, 0.0),
    );
    assert_no_hit(empty, at2(0.0, 0.0), empty, at2(0.0, 0.0));
}

#[test]
fn an_empty_point_list_touches_nothing_in_3d() {
    let empty: &[Vec3] = &[];
    assert_no_hit(
        empty,
        at3(0.0, 0.0, 0.0),
        &Sphere::new(1.0),
        at3(0.0, 0.0, 0.0),
    );
    assert_no_hit(
        empty,
        at3(0.0, 0.0, 0.0),
        &Cuboid::new(1.0, 1.0, 1.0),
        at3(0.5, 0.0, 0.0),
    );
    assert_no_hit(empty, at3(0.0, 0.0, 0.0), empty, at3(0.0, 0.0, 0.0));
}

const NOT_FINITE: [f32; 3] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

#[test]
fn shapes_in_an_invalid_pose_touch_nothing_in_2d() {
    let zero_rotation = Isometry2d::from_rotation(Rot2 { cos: 0.0, sin: 0.0 });
    let poses = NOT_FINITE.into_iter().flat_map(|bad| {
        let rotations = [Rot2 { cos: bad, sin: 0.0 }, Rot2 { cos: 0.0, sin: bad }];
        let [first, second] = rotations.map(Isometry2d::from_rotation);
        [at2(bad, 0.0), at2(0.0, bad), at2(bad, bad), first, second]
    });
    let (circle, square) = (Circle::new(1.0), Rectangle::new(1.0, 1.0));
    for pose in poses.chain([zero_rotation]) {
        assert_no_hit(&circle, pose, &square, at2(0.0, 0.0));
        assert_no_hit(&square, pose, &circle, at2(0.0, 0.0));
        assert_no_hit(&square, pose, &square, pose);
    }
}

#[test]
fn shapes_in_an_invalid_pose_touch_nothing_in_3d() {
    let zero_rotation = Isometry3d::from_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    let poses = NOT_FINITE.into_iter().flat_map(|bad| {
        let rotations = [
            Quat::from_xyzw(bad, 0.0, 0.0, 1.0),
            Quat::from_xyzw(0.0, 0.0, 0.0, bad),
        ];
        let [first, second] = rotations.map(Isometry3d::from_rotation);
        [
            at3(bad, 0.0, 0.0),
            at3(0.0, bad, 0.0),
            at3(0.0, 0.0, bad),
            first,
            second,
        ]
    });
    let (sphere, cube) = (Sphere::new(1.0), Cuboid::new(1.0, 1.0, 1.0));
    for pose in poses.chain([zero_rotation]) {
        assert_no_hit(&sphere, pose, &cube, at3(0.0, 0.0, 0.0));
        assert_no_hit(&cube, pose, &sphere, at3(0.0, 0.0, 0.0));
        assert_no_hit(&cube, pose, &cube, pose);
    }
}

/// A shape with the same support point in every direction, and a radius.
struct Constant<W> {
    point: W,
    radius: f64,
}

impl Support for Constant<DVec2> {
    type Vector = Vec2;

    fn support(&self, _: DVec2) -> DVec2 {
        self.point
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

impl Support for Constant<DVec3> {
    type Vector = Vec3;

    fn support(&self, _: DVec3) -> DVec3 {
        self.point
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// Returns invalid support points and radii.
fn invalid_constants() -> impl Iterator<Item = (f64, f64)> {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let points = bad.map(|bad| (bad, 1.0));
    points
        .into_iter()
        .chain([(0.0, f64::NAN), (f64::NAN, f64::NAN)])
}

#[test]
fn a_shape_with_nan_support_points_touches_nothing_in_2d() {
    for (coordinate, radius) in invalid_constants() {
        let point = DVec2::new(0.0, coordinate);
        let shape = Constant { point, radius };
        assert_no_hit(&shape, at2(0.0, 0.0), &Circle::new(1.0), at2(0.0, 0.0));
        assert_no_hit(
            &shape,
            at2(0.5, 0.0),
            &Rectangle::new(1.0, 1.0),
            at2(0.0, 0.0),
        );
        assert_no_hit(&shape, at2(0.0, 0.0), &shape, at2(0.0, 0.0));
    }
}

#[test]
fn a_shape_with_nan_support_points_touches_nothing_in_3d() {
    for (coordinate, radius) in invalid_constants() {
        let point = DVec3::new(0.0, 0.0, coordinate);
        let shape = Constant { point, radius };
        assert_no_hit(
            &shape,
            at3(0.0, 0.0, 0.0),
            &Sphere::new(1.0),
            at3(0.0, 0.0, 0.0),
        );
        assert_no_hit(
            &shape,
            at3(0.5, 0.0, 0.0),
            &Cuboid::new(1.0, 1.0, 1.0),
            at3(0.0, 0.0, 0.0),
        );
        assert_no_hit(&shape, at3(0.0, 0.0, 0.0), &shape, at3(0.0, 0.0, 0.0));
    }
}

/// The segment of the capsule runs along the face of the box from y = 0 to y = 1, so all points
/// between are equally near.
#[test]
fn an_upright_capsule_beside_a_box_touches_in_the_middle_of_the_overlap() {
    let (rectangle, capsule) = (Rectangle::new(1.0, 2.0), Capsule2d::new(0.25, 2.0));
    let contact = touching(&rectangle, at2(0.0, 0.0), &capsule, at2(0.7, 1.0));
    assert!((contact.depth - 0.05).abs() < NEAR, "{contact:?}");
    assert!(
        contact.point_a.distance(Vec2::new(0.5, 0.5)) < NEAR,
        "{contact:?}"
    );

    let (cuboid, capsule) = (Cuboid::new(1.0, 2.0, 2.0), Capsule3d::new(0.25, 2.0));
    let contact = touching(&cuboid, at3(0.0, 0.0, 0.0), &capsule, at3(0.7, 1.0, 0.3));
    assert!((contact.depth - 0.05).abs() < NEAR, "{contact:?}");
    assert!(
        contact.point_a.distance(Vec3::new(0.5, 0.5, 0.3)) < NEAR,
        "{contact:?}"
    );
}

/// The corner of the second rectangle is nearest to the face of the first, and then the reverse.
#[test]
fn the_distance_of_turned_rectangles_is_that_of_a_corner() {
    let (flat, turned) = (Rectangle::new(4.0, 1.0), Rectangle::new(2.0, 2.0));
    let pose = Isometry2d::new(
        Vec2::new(1.5, 3.0),
        Rot2::radians(core::f32::consts::FRAC_PI_4),
    );
    let found = query::distance(&flat, at2(0.0, 0.0), &turned, pose);
    let expected = 2.5 - core::f32::consts::SQRT_2;
    assert!((found.distance - expected).abs() < NEAR, "{found:?}");
    assert!(
        found.point_a.distance(Vec2::new(1.5, 0.5)) < NEAR,
        "{found:?}"
    );
    let found = query::distance(&turned, pose, &flat, at2(0.0, 0.0));
    assert!((found.distance - expected).abs() < NEAR, "{found:?}");
    assert!(
        found.point_b.distance(Vec2::new(1.5, 0.5)) < NEAR,
        "{found:?}"
    );
}
