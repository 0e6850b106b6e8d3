//! Compares `Collisions::push_out`, the shortest translation out of all colliders that an entity
//! touches, with closed forms.

use crate::support::*;
use bevy::prelude::*;
use headbutt::{PushOut, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// Returns the translation out of the contacts of a tick, and checks that the translation leaves no
/// overlap.
fn push_out(app: &mut App, entity: Entity) -> Vec3 {
    tick(app);
    let way = read(app.world_mut(), |collisions| {
        collisions.push_out(entity, |_| true).translation()
    });
    transform(app.world_mut(), entity).translation += way;
    tick(app);
    let deep = read(app.world_mut(), |collisions| {
        collisions
            .deepest_of(entity)
            .map(|hit| hit.depth)
            .fold(0.0, f32::max)
    });
    assert!(deep < 1e-4, "still {deep} deep after {way}");
    way
}

fn near(way: Vec3, expected: Vec3) {
    assert!(way.distance(expected) < 1e-4, "{way}, expected {expected}");
}

#[test]
fn push_out_of_one_collider_is_the_minimum_translation() {
    Touching::each(|mut touching, entity| {
        tick(&mut touching.app);
        let world = touching.world();
        let of = |collisions: &Collisions| {
            let hit = collisions.deepest_of(entity).next().expect("they touch");
            (
                hit.minimum_translation(),
                collisions.push_out(entity, |_| true).translation(),
            )
        };
        let (expected, way) = read(world, of);
        near(way, expected);
        assert_eq!(
            read(world, |it| it.push_out(entity, |_| false)),
            PushOut::Free
        );
    });
}

/// A ball of radius 1 is between two half-planes, whose normals have the angles `first` and
/// `second`. The ball is free if its center is at least 1 above both lines. The nearest free center
/// is exactly 1 above one line or both lines.
#[test]
fn push_out_of_a_wedge_leads_to_the_nearest_free_position() {
    for (first, second) in [
        (0.5_f32, 2.5_f32),
        (0.1, 1.5),
        (1.2, 1.9),
        (0.6, 2.6),
        (-0.2, 1.0),
    ] {
        for place in [
            Vec2::new(0.2, -0.1),
            Vec2::new(-0.3, 0.1),
            Vec2::ZERO,
            Vec2::new(0.9, 0.2),
        ] {
            let mut app = app();
            let world = app.world_mut();
            let normals = [first, second].map(Vec2::from_angle);
            for normal in normals {
                world.spawn(Collider::from(Plane2d::new(normal)));
            }
            let at = Transform::from_translation(place.extend(0.0));
            let ball = world.spawn((Collider::from(Circle::new(1.0)), at)).id();

            let missing = normals.map(|normal| 1.0 - normal.dot(place));
            let [one, other] = [0, 1].map(|it| normals[it] * missing[it].max(0.0));
            let is_free = |way: Vec2| (0..2).all(|it| normals[it].dot(way) >= missing[it] - 1e-6);
            let corner = {
                let inverse = Mat2::from_cols(normals[0], normals[1])
                    .transpose()
                    .inverse();
                inverse * Vec2::from_array(missing)
            };
            let ways = [Vec2::ZERO, one, other, corner]
                .into_iter()
                .filter(|way| is_free(*way));
            let expected = ways.min_by(|a, b| a.length().total_cmp(&b.length()));
            near(
                push_out(&mut app, ball),
                expected.expect("a corner").extend(0.0),
            );
        }
    }
}

/// Each tick moves the ball by twice the depth. With an opening of θ, each tick multiplies the
/// depth by 1 - 2 sin(θ/2).
#[test]
fn a_ball_leaves_a_narrow_wedge_in_a_few_ticks() {
    for (degrees, ticks) in [(45.0_f32, 6), (30.0, 10), (20.0, 20)] {
        let mut app = app();
        let world = app.world_mut();
        let half = (0.5 * degrees).to_radians();
        for angle in [half, core::f32::consts::PI - half] {
            world.spawn(Collider::from(Plane2d::new(Vec2::from_angle(angle))));
        }
        // At the height 1 / sin(θ/2) above the apex the ball is free, and 0.1 lower, it is not
        // free.
        let free = 1.0 / half.sin();
        let at = Transform::from_xyz(0.0, free - 0.1, 0.0);
        let ball = world.spawn((Collider::from(Circle::new(1.0)), at)).id();
        for number in 0..ticks {
            tick(&mut app);
            let found = read(app.world_mut(), |it| it.push_out(ball, |_| true));
            assert!(found.is_pressed() || number > 0, "{degrees}: {found:?}");
            transform(app.world_mut(), ball).translation += found.translation();
        }
        let left = free - transform(app.world_mut(), ball).translation.y;
        assert!((-1e-5..1e-3).contains(&left), "{degrees}: {left}");
    }
}

/// A body that was pushed out with a gap touches nothing, so the next push-out is zero.
#[test]
fn a_push_out_of_turned_shapes_ends_free() {
    let mut random = StdRng::seed_from_u64(7);
    let mut judged = 0;
    for _ in 0..400 {
        let mut turned = |reach: f32| {
            let mut number = || random.random_range(-reach..reach);
            let place = Vec3::from([(); 3].map(|()| number()));
            let mut angle = || random.random_range(-3.0..3.0);
            let turn = Quat::from_euler(EulerRot::XYZ, angle(), angle(), angle());
            Transform::from_translation(place).with_rotation(turn)
        };
        let (place, other) = (turned(1.2), turned(0.1));
        let shape = |kind: u32| match kind {
            0 => Collider::cuboid(1.0, 1.5, 0.7),
            1 => Collider::cylinder(0.6, 1.2),
            2 => Collider::capsule_3d(0.4, 1.0),
            _ => Collider::cone(0.7, 1.1),
        };
        let [own, others] = [(); 2].map(|()| shape(random.random_range(0..4)));
        let mut app = app();
        let world = app.world_mut();
        let body = world.spawn((own, place)).id();
        world.spawn((others, other));
        tick(&mut app);
        let (found, depth) = read(app.world_mut(), |collisions| {
            let depth = collisions
                .deepest_of(body)
                .next()
                .map_or(0.0, |hit| hit.depth);
            (collisions.push_out_with_slop(body, 1e-3, |_| true), depth)
        });
        if found == PushOut::Free {
            continue;
        }
        judged += 1;
        let PushOut::Moved(way) = found else {
            panic!("{found:?} out of one convex shape");
        };
        assert!((way.length() - depth - 1e-3).abs() < 1e-5, "{way}, {depth}");
        transform(app.world_mut(), body).translation += way;
        tick(&mut app);
        let next = read(app.world_mut(), |it| it.push_out(body, |_| true));
        assert_eq!(next, PushOut::Free, "after {way} out of {depth}");
    }
    assert!(judged > 150, "{judged}");
}

/// Returns a mesh with a floor at y = 0 for x > 0 and a wall above it at x = 0. An event holds only
/// the deeper contact.
fn room() -> Collider {
    let corners = [
        (0.0, 0.0, -9.0),
        (0.0, 0.0, 9.0),
        (9.0, 0.0, -9.0),
        (9.0, 0.0, 9.0),
        (0.0, 9.0, -9.0),
        (0.0, 9.0, 9.0),
    ];
    let facets = [[0, 1, 2], [1, 3, 2], [0, 4, 1], [4, 5, 1]];
    Collider::try_trimesh(corners.map(Vec3::from), facets).expect("a surface")
}

#[test]
fn push_out_counts_all_parts_of_a_surface() {
    let mut app = app();
    let world = app.world_mut();
    world.spawn(room());
    let at = Transform::from_xyz(0.9, 0.8, 0.3);
    let ball = world.spawn((Collider::from(Sphere::new(1.0)), at)).id();
    near(push_out(&mut app, ball), Vec3::new(0.1, 0.2, 0.0));
}

#[test]
fn push_out_between_walls_that_are_too_close_stays_between_them() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        for x in [-10.2, 10.1] {
            world.spawn((dimension.block(20.0), Transform::from_xyz(x, 0.0, 0.0)));
        }
        let ball = world.spawn(dimension.ball(0.5)).id();
        tick(&mut app);
        let way = read(app.world_mut(), |it| {
            it.push_out(ball, |_| true).translation()
        });
        assert!(way.is_finite() && way.length() <= 0.4 + 1e-6, "{way}");
    }
}

/// The ball is deeper in the wall, so the event has only the contact with the wall.
#[test]
fn push_out_of_one_mesh_counts_its_floor_and_its_wall() {
    for slop in [0.0, 0.05, -0.01, -0.5] {
        let mut app = app();
        let world = app.world_mut();
        world.spawn(room());
        let place = Transform::from_xyz(0.8, 0.98, 0.3);
        let ball = world.spawn((Collider::from(Sphere::new(1.0)), place)).id();
        tick(&mut app);
        read(app.world_mut(), |collisions| {
            let is_floor = |hit: CollisionEvent| hit.normal.y < -0.7;
            assert!(!collisions.deepest_of(ball).any(is_floor));
            assert!(collisions.parts_of(ball).any(is_floor));
            assert!(collisions.parts_of(ball).all(|hit| hit.entity == ball));
            let way = collisions
                .push_out_with_slop(ball, slop, |_| true)
                .translation();
            // The translation is each depth plus the slop, but never negative.
            near(way, Vec3::new(0.2 + slop, 0.02 + slop, 0.0).max(Vec3::ZERO));
        });
    }
}
