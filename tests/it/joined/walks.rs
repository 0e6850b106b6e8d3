//! Characters on joined compounds.

use bevy::{math::DVec3, prelude::*};
use headbutt::prelude::*;
use rand::{Rng, rngs::StdRng};

use super::{Body, Floor, for_floors};
use crate::mover::{Level, Walker};

/// A walk over a floor.
pub type Walk<'w> = dyn FnMut(&SpatialQuery) + 'w;

#[test]
fn a_character_never_catches_on_a_floor_of_flush_boxes() {
    for_floors(30, |rng, floor, context| {
        walk_over(rng, floor, context, |floor, walk| {
            let mut level = Level::new([(floor.collider(), Transform::IDENTITY)]);
            level.ask(walk);
        });
    });
}

/// Lets a character walk over a floor, and asserts that it never catches. `ask` runs the walk on a
/// level with the floor.
pub fn walk_over(
    rng: &mut StdRng,
    floor: &Floor,
    context: &str,
    ask: impl FnOnce(&Floor, &mut Walk),
) {
    // Only a turn about the vertical keeps the floor level.
    let mut floor = Floor {
        boxes: floor.boxes.clone(),
        ..*floor
    };
    let slope = rng.random_range(-0.5..0.5);
    floor.rotation = match floor.dimension {
        2 => bevy::math::DQuat::from_rotation_z(slope),
        _ => bevy::math::DQuat::from_rotation_y(rng.random_range(-3.0..3.0)),
    };
    let up = floor.up();
    let body = Body::new(rng, floor.dimension, floor.size);
    let [from, to] = [0, 1].map(|_| floor.point(rng, floor.size));
    let start = floor.place(from) + up * (body.reach(-up) + 0.005 * floor.size);
    let mut walker = Walker::new(body.collider.clone(), Vec3::ZERO);
    walker.pose = body.pose(start);
    let along = floor.rotation * (to - from);
    let level_part = DVec3::new(along.x, 0.0, along.z).normalize_or_zero();
    let step = (level_part * along.length() / 50.0 - DVec3::Y * 0.01 * floor.size).as_vec3();
    ask(&floor, &mut |query| {
        walker.land(query);
        for _ in 0..49 {
            let slide = walker.go(query, step);
            let moved = f64::from(slide.translation.length());
            let error = (moved - along.length() / 50.0).abs();
            assert!(error < 2e-3 * floor.size, "{context}: {error}, {slide:?}");
            let is_up = |hit: &headbutt::SlideHit| (hit.normal.as_dvec3() - up).length() < 1e-3;
            assert!(slide.hits().iter().all(is_up), "{context}: {slide:?}");
            assert!(
                !slide.is_stuck && slide.ground.is_some(),
                "{context}: {slide:?}"
            );
        }
    });
}

#[test]
fn a_character_stops_at_a_wall_and_climbs_a_step() {
    let cuboid = |x: f32, y: f32| Collider::cuboid(x, y, 4.0);
    // A wall of two blocks at x = 3, and a step of 0.3 at x = -3.
    let parts = [
        (Vec3::new(-2.0, -0.5, 0.0), cuboid(4.0, 1.0)),
        (Vec3::new(2.0, -0.5, 0.0), cuboid(4.0, 1.0)),
        (Vec3::new(3.5, 0.5, 0.0), cuboid(1.0, 1.0)),
        (Vec3::new(3.5, 1.5, 0.0), cuboid(1.0, 1.0)),
        (Vec3::new(-3.5, -0.35, 0.0), cuboid(1.0, 1.3)),
    ];
    let mut level = Level::new([(Collider::compound(parts).joined(), Transform::IDENTITY)]);
    for body in [
        Collider::capsule_3d(0.25, 0.5),
        Collider::cuboid(0.5, 1.0, 0.5),
    ] {
        let mut walker = Walker::new(body, Vec3::new(0.0, 0.51, 0.1));
        level.ask(|query| {
            for _ in 0..100 {
                walker.go(query, Vec3::new(0.05, -0.01, 0.0));
            }
            let wall = walker.go(query, Vec3::new(0.05, -0.01, 0.0));
            let x = walker.pose.translation.x;
            assert!((x - 2.75).abs() < 0.01, "{x}");
            assert!(
                wall.hits()
                    .iter()
                    .all(|hit| hit.normal.distance(Vec3::NEG_X) < 1e-4)
            );
            for step_height in [0.2, 0.4] {
                walker.settings.step_height = step_height;
                for _ in 0..130 {
                    walker.go(query, Vec3::new(-0.05, -0.01, 0.0));
                }
                let at = walker.pose.translation;
                let is_up = step_height > 0.3;
                let expected = if is_up { 0.8 } else { 0.5 };
                assert_eq!(at.x < -3.0, is_up, "{at}");
                assert!((at.y - expected).abs() < 0.01 || at.x < -3.9, "{at}");
            }
        });
    }
}

#[test]
fn a_body_that_overlaps_two_parts_is_pushed_up() {
    let block = Collider::rectangle(16.0, 16.0);
    let parts = [-8.0, 8.0].map(|x| (Vec2::new(x, -8.0), block.clone()));
    let mut level = Level::new([(Collider::compound(parts).joined(), Transform::IDENTITY)]);
    level.ask(|query| {
        let player = Collider::rectangle(12.0, 12.0);
        let filter = SpatialQueryFilter::default();
        let out = query.push_out(&player, Vec2::Y * -1.0, 20.0, &filter);
        let headbutt::PushOut::Moved(translation) = out else {
            panic!("{out:?}");
        };
        assert!(
            translation.abs_diff_eq(Vec3::Y * 7.0, 1e-4),
            "{translation}"
        );
    });
}
