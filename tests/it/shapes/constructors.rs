//! Compares the constructors of `Collider`, and all types of poses, with closed forms.

use core::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};

use bevy::prelude::*;
use headbutt::{QueryPose, prelude::*};

/// Returns the extent of a collider in a direction: the depth of its contact with a half-space that
/// is solid on the far side of the origin.
fn extents<const N: usize>(collider: Collider, directions: [Vec3; N], is_2d: bool) -> [f32; N] {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(PostUpdate)));
    let world = app.world_mut();
    let shape = world.spawn(collider).id();
    let grounds = directions.map(|direction| {
        let ground = if is_2d {
            Collider::half_space(-direction.xy())
        } else {
            Collider::half_space(-direction)
        };
        world.spawn(ground).id()
    });
    app.update();
    let collisions = app.world().resource::<Collisions>();
    grounds.map(|ground| {
        collisions
            .between(shape, ground)
            .map_or(-1.0, |hit| hit.depth)
    })
}

const DIAGONAL: Vec3 = Vec3::new(FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0);

fn assert_extents(name: &str, collider: Collider, is_2d: bool, expected: &[(Vec3, f32)]) {
    for (direction, extent) in expected {
        let [found] = extents(collider.clone(), [*direction], is_2d);
        let message = format!("{name} along {direction}: {found}, expected {extent}");
        assert!((found - extent).abs() < 1e-6, "{message}");
    }
}

#[test]
fn constructors_in_2d_have_the_size_they_name() {
    let [x, y] = [Vec3::X, Vec3::Y];
    let check = |name, collider, expected: &[_]| assert_extents(name, collider, true, expected);
    let circle = [(x, 0.5), (-y, 0.5), (DIAGONAL, 0.5)];
    check("circle", Collider::circle(0.5), &circle);
    let ellipse = [(x, 2.0), (y, 1.0), (DIAGONAL, 2.5_f32.sqrt())];
    check("ellipse", Collider::ellipse(2.0, 1.0), &ellipse);
    let rectangle = [(x, 1.5), (-y, 1.0)];
    check("rectangle", Collider::rectangle(3.0, 2.0), &rectangle);
    let capsule = [(x, 0.5), (y, 1.5), (-y, 1.5)];
    check("capsule", Collider::capsule_2d(0.5, 2.0), &capsule);
    // The polygon is a square that stands on a corner.
    let polygon = [(x, 2.0), (y, 2.0), (DIAGONAL, 2.0 * FRAC_1_SQRT_2)];
    check("polygon", Collider::regular_polygon(2.0, 4), &polygon);
    let segment = Collider::segment(Vec2::new(-1.0, -2.0), Vec2::new(3.0, 4.0));
    check(
        "segment",
        segment,
        &[(x, 3.0), (-x, 1.0), (y, 4.0), (-y, 2.0)],
    );
    let triangle = Collider::triangle(Vec2::new(-1.0, -2.0), Vec2::new(3.0, 0.0), Vec2::Y);
    check(
        "triangle",
        triangle,
        &[(x, 3.0), (-x, 1.0), (y, 1.0), (-y, 2.0)],
    );
}

#[test]
fn constructors_in_3d_have_the_size_they_name() {
    let [x, y, z] = Vec3::AXES;
    let check = |name, collider, expected: &[_]| assert_extents(name, collider, false, expected);
    check(
        "sphere",
        Collider::sphere(0.5),
        &[(x, 0.5), (DIAGONAL, 0.5)],
    );
    let cuboid = [(x, 0.5), (y, 1.0), (-z, 1.5)];
    check("cuboid", Collider::cuboid(1.0, 2.0, 3.0), &cuboid);
    let capsule = [(x, 0.5), (y, 1.5), (z, 0.5)];
    check("capsule", Collider::capsule_3d(0.5, 2.0), &capsule);
    let cylinder = [
        (x, 0.5),
        (y, 1.0),
        (z, 0.5),
        (DIAGONAL, 1.5 * FRAC_1_SQRT_2),
    ];
    check("cylinder", Collider::cylinder(0.5, 2.0), &cylinder);
    // The diagonal leads to the tip.
    let cone = [(x, 0.5), (y, 1.0), (-y, 1.0), (DIAGONAL, FRAC_1_SQRT_2)];
    check("cone", Collider::cone(0.5, 2.0), &cone);
    let segment = Collider::segment(Vec3::new(-1.0, -2.0, 1.0), Vec3::new(3.0, 4.0, 5.0));
    check("segment", segment, &[(x, 3.0), (-x, 1.0), (z, 5.0)]);
    let triangle = Collider::triangle(-Vec3::X, Vec3::new(3.0, 0.0, 2.0), Vec3::Y);
    check(
        "triangle",
        triangle,
        &[(x, 3.0), (-x, 1.0), (y, 1.0), (z, 2.0)],
    );
}

#[test]
fn a_constructor_with_an_invalid_number_makes_an_inert_collider() {
    for bad in [-1.0, f32::NAN, f32::INFINITY] {
        for collider in [
            Collider::circle(bad),
            Collider::ellipse(1.0, bad),
            Collider::rectangle(bad, 1.0),
            Collider::capsule_2d(1.0, bad),
            Collider::regular_polygon(bad, 3),
            Collider::sphere(bad),
            Collider::cuboid(1.0, 1.0, bad),
            Collider::capsule_3d(bad, 1.0),
            Collider::cylinder(1.0, bad),
            Collider::cone(bad, 1.0),
        ] {
            assert!(collider.is_inert(), "{collider:?}");
        }
    }
    assert!(Collider::regular_polygon(1.0, 2).is_inert());
    assert!(Collider::segment(Vec2::NAN, Vec2::ZERO).is_inert());
    assert!(Collider::triangle(Vec3::INFINITY, Vec3::X, Vec3::Y).is_inert());
    assert!(Collider::half_space(Vec3::ZERO).is_inert());
}

#[test]
fn a_constructor_that_can_fail_is_inert_where_its_try_form_returns_an_error() {
    let no_points: [Vec3; 0] = [];
    let no_parts: [(Vec2, Collider); 0] = [];
    let bad_index = [[0, 1, 9]];
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let pairs = [
        (
            Collider::convex_hull(no_points),
            Collider::try_convex_hull(no_points),
        ),
        (
            Collider::compound(no_parts.clone()),
            Collider::try_compound(no_parts),
        ),
        (
            Collider::trimesh(corners, bad_index),
            Collider::try_trimesh(corners, bad_index),
        ),
        (
            Collider::polyline([Vec2::X]),
            Collider::try_polyline([Vec2::X]),
        ),
        (
            Collider::heightfield(Vec2::ONE, 2, &[1.0]),
            Collider::try_heightfield(Vec2::ONE, 2, &[1.0]),
        ),
    ];
    for (collider, result) in pairs {
        assert!(collider.is_inert(), "{collider:?}");
        // The collider keeps the error, for the warning.
        let kept = Collider::try_compound([(Vec3::ZERO, collider)]).unwrap_err();
        assert_eq!(kept, result.unwrap_err());
    }
}

/// The centers of two circles or balls are 1.5 apart along x, so the contact is 0.5 deep.
#[test]
fn a_query_takes_a_pose_in_every_form() {
    let circle = Circle::new(1.0);
    let by_2d = |pose: QueryPose<Vec2>| {
        let contact = query::contact(&circle, Vec2::ZERO, &circle, pose).expect("a contact");
        assert_eq!((contact.normal, contact.depth), (Vec2::X, 0.5));
    };
    let transform = Transform::from_xyz(1.5, 0.0, 7.0)
        .with_scale(Vec3::splat(9.0))
        .with_rotation(Quat::from_rotation_z(1.0));
    by_2d(Vec2::new(1.5, 0.0).into());
    by_2d(Isometry2d::new(Vec2::new(1.5, 0.0), Rot2::radians(2.0)).into());
    by_2d(transform.into());
    by_2d((&transform).into());

    let ball = Sphere::new(1.0);
    let by_3d = |pose: QueryPose<Vec3>| {
        let contact = query::contact(&ball, Quat::IDENTITY, &ball, pose).expect("a contact");
        assert_eq!((contact.normal, contact.depth), (Vec3::X, 0.5));
    };
    let transform = Transform::from_xyz(1.5, 0.0, 0.0).with_scale(Vec3::splat(9.0));
    by_3d(Vec3::new(1.5, 0.0, 0.0).into());
    by_3d(Isometry3d::from_xyz(1.5, 0.0, 0.0).into());
    by_3d(transform.into());
    by_3d((&transform).into());
}

/// A rectangle of 4 by 2, turned by a quarter turn, reaches 1 along x and 2 along y.
#[test]
fn the_rotation_of_a_transform_counts() {
    let tile = Rectangle::new(4.0, 2.0);
    let turn = Transform::from_rotation(Quat::from_rotation_z(FRAC_PI_2));
    let distance = |pose: Vec2| query::distance(&tile, turn, &Vec2::ZERO, pose).distance;
    assert!((distance(Vec2::new(3.0, 0.0)) - 2.0).abs() < 1e-6);
    assert!((distance(Vec2::new(0.0, 3.0)) - 1.0).abs() < 1e-6);

    let block = Cuboid::new(4.0, 2.0, 6.0);
    let turn = Transform::from_rotation(Quat::from_rotation_y(FRAC_PI_2));
    let distance = |pose: Vec3| query::distance(&block, turn, &Vec3::ZERO, pose).distance;
    assert!((distance(Vec3::new(5.0, 0.0, 0.0)) - 2.0).abs() < 1e-6);
    assert!((distance(Vec3::new(0.0, 0.0, 5.0)) - 3.0).abs() < 1e-6);
}

#[test]
fn nothing_touches_in_a_pose_that_is_invalid() {
    let ball = Sphere::new(1.0);
    let bad = [
        Transform::from_xyz(f32::NAN, 0.0, 0.0),
        Transform::from_xyz(0.0, 0.0, f32::INFINITY),
        Transform::from_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
    ];
    for transform in bad {
        assert!(
            !query::intersects(&ball, transform, &ball, Vec3::ZERO),
            "{transform:?}"
        );
    }
    let circle = Circle::new(1.0);
    let tilted = Transform::from_rotation(Quat::from_rotation_x(0.5));
    assert!(!query::intersects(&circle, tilted, &circle, Vec2::ZERO));
    assert!(query::intersects(&ball, tilted, &ball, Vec3::ZERO));
}

/// A rectangle of 4 by 2 that is turned and moved as a part reaches x = 3 + 1 and y = 2.
#[test]
fn a_part_of_a_compound_may_be_placed_by_a_transform() {
    let pose = Transform::from_xyz(3.0, 0.0, 5.0)
        .with_rotation(Quat::from_rotation_z(FRAC_PI_2))
        // A 2D part ignores z.
        .with_scale(Vec3::new(1.0, 1.0, 4.0));
    let flat = Collider::compound([(pose, Collider::rectangle(4.0, 2.0))]);
    assert_extents("2D", flat, true, &[(Vec3::X, 4.0), (Vec3::Y, 2.0)]);

    let pose = Transform::from_xyz(3.0, 0.0, 5.0).with_rotation(Quat::from_rotation_y(PI / 2.0));
    let solid = Collider::compound([(pose, Collider::cuboid(4.0, 2.0, 6.0))]);
    assert_extents(
        "3D",
        solid,
        false,
        &[(Vec3::X, 6.0), (Vec3::Y, 1.0), (Vec3::Z, 7.0)],
    );
}

#[test]
fn the_transform_of_a_part_must_be_a_rigid_motion_of_its_space() {
    let error = |pose: Transform, part: Collider| Collider::try_compound([(pose, part)]).err();
    let (flat, solid) = (Collider::circle(1.0), Collider::sphere(1.0));
    let scaled = Transform::from_scale(Vec3::splat(2.0));
    let tilted = Transform::from_rotation(Quat::from_rotation_x(0.5));
    let broken = Transform::from_xyz(f32::NAN, 0.0, 0.0);
    assert_eq!(error(scaled, flat.clone()), Some(ShapeError::PartTransform));
    assert_eq!(
        error(scaled, solid.clone()),
        Some(ShapeError::PartTransform)
    );
    assert_eq!(error(tilted, flat.clone()), Some(ShapeError::PartTransform));
    assert_eq!(error(tilted, solid.clone()), None);
    assert_eq!(error(broken, flat), Some(ShapeError::PoseNotFinite));
    assert_eq!(error(broken, solid), Some(ShapeError::PoseNotFinite));
}
