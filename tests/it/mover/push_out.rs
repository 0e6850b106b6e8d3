//! Push-outs, against brute force and closed forms.

use bevy::prelude::*;
use headbutt::{PushOut, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Level, at};

fn push_out(level: &mut Level, body: &Collider, pose: Transform, max: f32) -> PushOut {
    level.ask(|query| query.push_out(body, pose, max, &SpatialQueryFilter::default()))
}

/// Returns `true` if a body touches nothing, or only touches.
fn is_free(level: &mut Level, body: &Collider, pose: Transform) -> bool {
    let mut contacts = Vec::new();
    let filter = SpatialQueryFilter::default();
    level.ask(|query| query.contacts(body, pose, &filter, &mut contacts));
    contacts.iter().all(|contact| contact.depth < 1e-6)
}

#[test]
fn a_box_in_two_tiles_goes_up() {
    let tiles = [-8.0, 8.0].map(|x| (Collider::rectangle(16.0, 16.0), at(x, -8.0)));
    let mut level = Level::new(tiles);
    let body = Collider::rectangle(12.0, 12.0);
    for x in [-2.0, 0.0, 1.0] {
        let PushOut::Moved(push) = push_out(&mut level, &body, at(x, -1.0), 20.0) else {
            panic!("there is room above");
        };
        assert!(push.abs_diff_eq(Vec3::Y * 7.0, 1e-4), "{push}");
        assert!(is_free(&mut level, &body, at(x + push.x, push.y - 1.0)));
    }
    assert_eq!(
        push_out(&mut level, &body, at(0.0, -1.0), 6.0),
        PushOut::Pressed(Vec3::ZERO)
    );
    assert_eq!(
        push_out(&mut level, &body, at(0.0, 6.001), 6.0),
        PushOut::Free
    );
}

/// The least translation of an axis-aligned box out of axis-aligned boxes ends at the sides of some
/// of them. So it is the shortest of all pairs of coordinates at which the body is free.
#[test]
fn the_push_out_of_boxes_is_the_shortest() {
    let mut random = StdRng::seed_from_u64(4);
    let mut moved = 0;
    for case in 0..300 {
        let count = random.random_range(1..8);
        let boxes: Vec<(Vec2, Vec2)> = (0..count)
            .map(|_| {
                let center = Vec2::new(
                    random.random_range(-3.0..3.0),
                    random.random_range(-3.0..3.0),
                );
                let half = Vec2::new(random.random_range(0.5..2.0), random.random_range(0.5..2.0));
                (center, half)
            })
            .collect();
        let own = Vec2::new(random.random_range(0.3..1.5), random.random_range(0.3..1.5));
        // Its center is inside of all boxes or of none, so that it may leave them on all sides.
        let contains = |(center, half): &(Vec2, Vec2)| center.abs().cmplt(*half).all();
        let touches = |(center, half): &(Vec2, Vec2)| center.abs().cmplt(*half + own).all();
        if boxes.iter().any(|tile| touches(tile) && !contains(tile)) {
            continue;
        }
        let free = |x: Vec2| {
            boxes.iter().all(|(center, half)| {
                ((*center - x).abs().cmpge(*half + own - Vec2::splat(1e-4))).any()
            })
        };
        let ends = |axis: usize| {
            let ends = boxes.iter().flat_map(move |(center, half)| {
                [
                    center[axis] - half[axis] - own[axis],
                    center[axis] + half[axis] + own[axis],
                ]
            });
            ends.chain([0.0]).collect::<Vec<f32>>()
        };
        let ys = ends(1);
        let all = ends(0)
            .into_iter()
            .flat_map(|x| ys.iter().map(move |y| Vec2::new(x, *y)));
        let best = all
            .filter(|x| free(*x))
            .map(Vec2::length)
            .fold(f32::INFINITY, f32::min);

        let tiles = boxes.iter().map(|(center, half)| {
            (
                Collider::rectangle(half.x * 2.0, half.y * 2.0),
                at(center.x, center.y),
            )
        });
        let mut level = Level::new(tiles);
        let body = Collider::rectangle(own.x * 2.0, own.y * 2.0);
        match push_out(&mut level, &body, Transform::IDENTITY, 100.0) {
            PushOut::Free => assert_eq!(best, 0.0, "case {case}"),
            PushOut::Moved(push) => {
                // Every box that the path crosses contains the center, or else it may be longer.
                assert!(
                    push.length() > best - 1e-3,
                    "case {case}: {push}, best {best}"
                );
                assert!(is_free(
                    &mut level,
                    &body,
                    Transform::from_translation(push)
                ));
                moved += u32::from((push.length() - best).abs() < 1e-3);
            }
            PushOut::Pressed(_) => panic!("case {case}: there is always room"),
        }
    }
    assert!(moved > 20, "{moved}");
}

#[test]
fn nobody_is_pushed_through_a_wall() {
    // A thin wall, and a body whose center is in front of it: the path over the wall is blocked.
    let mut level = Level::new([
        (Collider::rectangle(0.2, 10.0), at(0.0, 0.0)),
        (Collider::rectangle(10.0, 10.0), at(-6.0, 0.0)),
    ]);
    let body = Collider::rectangle(1.0, 1.0);
    // Between the block at x < -1 and the wall at x > -0.1 there is too little room.
    let out = push_out(&mut level, &body, at(-0.5, 0.0), 2.0);
    assert_eq!(out, PushOut::Pressed(Vec3::ZERO));
    let PushOut::Moved(push) = push_out(&mut level, &body, at(-0.5, 4.0), 2.0) else {
        panic!("there is room above");
    };
    assert!(push.abs_diff_eq(Vec3::Y * 1.5, 1e-4), "{push}");
}

#[test]
fn a_body_leaves_a_mesh_on_its_own_side() {
    let floor = Collider::heightfield(Vec2::splat(8.0), 5, &[0.0; 25]);
    let mut level = Level::new([
        (floor, Transform::IDENTITY),
        (Collider::cuboid(2.0, 2.0, 2.0), at(1.5, 1.0)),
    ]);
    let body = Collider::cuboid(1.0, 1.0, 1.0);
    let pose = at(0.25, 0.2);
    let PushOut::Moved(push) = push_out(&mut level, &body, pose, 4.0) else {
        panic!("there is room above");
    };
    assert!(push.abs_diff_eq(Vec3::new(-0.25, 0.3, 0.0), 1e-4), "{push}");
}

#[test]
fn a_press_has_no_push_out() {
    let mut level = Level::new([
        (Collider::half_space(Vec3::Y), at(0.0, 0.0)),
        (Collider::half_space(Vec3::NEG_Y), at(0.0, 1.5)),
    ]);
    let out = push_out(&mut level, &Collider::sphere(1.0), at(0.0, 0.75), 1e3);
    assert_eq!(out, PushOut::Pressed(Vec3::ZERO));
    // Out of the floor, by 0.6, it is 0.5 deep in the ceiling. It stays if it may not go so far.
    for (max_distance, expected) in [(1.0, 0.6), (0.5, 0.0)] {
        let out = push_out(
            &mut level,
            &Collider::sphere(1.0),
            at(0.0, 0.4),
            max_distance,
        );
        let PushOut::Pressed(push) = out else {
            panic!("there is no room");
        };
        assert!(push.abs_diff_eq(Vec3::Y * expected, 1e-4), "{push}");
    }
    let out = push_out(&mut level, &Collider::sphere(1.0), at(0.0, f32::NAN), 1e3);
    assert_eq!(out, PushOut::Free);
}

/// A capsule, 0.1 deep in the floor and as deep in a ceiling that falls by a small angle. The way
/// out of the wedge is up to 100 units long.
#[test]
fn no_push_out_is_longer_than_allowed() {
    let mut pressed = 0;
    let height = 1.6;
    for degrees in [20.0, 5.0, 1.0, 0.2, 0.05, 1e-3_f32] {
        let turn = Quat::from_rotation_z(degrees.to_radians());
        let slab = Collider::cuboid(400.0, 1.0, 400.0);
        let ceiling = at(0.0, height + 0.5).with_rotation(turn);
        let mut level = Level::new([(slab.clone(), at(0.0, -0.5)), (slab, ceiling)]);
        let bodies = [
            Collider::capsule_3d(0.4, 1.0),
            Collider::cuboid(0.8, 1.8, 0.8),
            Collider::sphere(0.9),
        ];
        for body in bodies {
            let pose = at(0.0, 0.5 * height);
            for max_distance in [0.05, 0.5, 2.0] {
                let out = push_out(&mut level, &body, pose, max_distance);
                assert!(
                    out.translation().length() <= max_distance * 1.000_001,
                    "{out:?}"
                );
            }
            let side = 2.0
                * body
                    .aabb(Vec3::ZERO)
                    .expect("it is bounded")
                    .max
                    .min_element();
            let settings = MoveAndSlide::default();
            let filter = SpatialQueryFilter::default();
            let slide = level
                .ask(|query| query.move_and_slide(&body, pose, Vec3::ZERO, &settings, &filter));
            assert!(slide.translation.length() <= side, "{degrees}: {slide:?}");
            let moved = pose.with_translation(pose.translation + slide.translation);
            assert_eq!(slide.is_stuck, !is_free(&mut level, &body, moved));
            pressed += u32::from(slide.is_stuck);
        }
    }
    assert!((9..18).contains(&pressed), "{pressed}");
}

#[test]
fn a_push_along_an_axis_clears_all_that_it_can() {
    let mut app = crate::support::app();
    let world = app.world_mut();
    let slope = Quat::from_rotation_z(0.5);
    let player = world.spawn((Collider::circle(1.0), at(0.0, 0.9))).id();
    world.spawn((
        Collider::half_space(Vec2::Y),
        Transform::from_rotation(slope),
    ));
    world.spawn((Collider::half_space(Vec2::NEG_X), at(0.8, 0.0)));
    crate::support::tick(&mut app);
    let collisions = app.world().resource::<Collisions>();
    let along = |axis: Vec2| collisions.push_out_along(player, axis, |_| true);
    // The distance of the center from the slope is 0.9 cos 0.5.
    let depth = 1.0 - 0.9 * 0.5_f32.cos();
    let expected = Vec3::Y * depth / 0.5_f32.cos();
    assert!(along(Vec2::Y * 7.0).abs_diff_eq(expected, 1e-5));
    assert_eq!(along(Vec2::NEG_Y), Vec3::ZERO);
    for invalid in [Vec2::ZERO, Vec2::NAN, Vec2::INFINITY] {
        assert_eq!(along(invalid), Vec3::ZERO);
    }
    let expected = Vec3::NEG_X * (depth / 0.5_f32.sin()).max(0.2);
    assert!(along(Vec2::NEG_X).abs_diff_eq(expected, 1e-5));
}
