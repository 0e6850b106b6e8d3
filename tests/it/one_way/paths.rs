//! The paths of swept bodies.

use bevy::prelude::*;
use headbutt::prelude::*;

use super::{Level, read};
use crate::support::{assert_near, assert_near_vec, tick};

fn swept(level: &dyn Fn(f32) -> Level, height: f32) -> Level {
    let mut level = level(height);
    let body = level.body;
    level
        .app
        .world_mut()
        .entity_mut(body)
        .insert((Swept, Teleported));
    tick(&mut level.app);
    level
}

#[test]
fn a_shot_from_above_hits_a_thin_platform_at_its_time() {
    Level::each(|level| {
        let mut level = swept(level, 4.0);
        let hits = level.go(Vec3::new(1.0, -16.0, 0.0)).messages;
        let [start, end] = hits.as_slice() else {
            panic!("two events, not {hits:?}");
        };
        assert!(start.started() && end.ended());
        assert_near(start.time(), 0.25, 10.0);
        let hit = start.seen_from(level.body).expect("a contact of the body");
        assert_near_vec(hit.normal, Vec3::NEG_Y, 1.0);
    });
}

#[test]
fn a_shot_from_below_or_from_the_side_passes() {
    Level::each(|level| {
        let mut below = swept(level, -8.0);
        assert!(below.go(Vec3::Y * 16.0).is_empty());
        let mut within = swept(level, -8.0);
        assert!(within.go(Vec3::Y * 7.5).is_empty());
        assert!(within.go(Vec3::Y * 7.5).is_empty());
        let mut side = swept(level, -0.5);
        let body = side.body;
        side.pose(body).translation.x = -20.0;
        side.app.world_mut().entity_mut(body).insert(Teleported);
        tick(&mut side.app);
        assert!(side.go(Vec3::new(40.0, -0.1, 0.0)).is_empty());
    });
}

#[test]
fn a_shot_that_begins_on_the_platform_is_stopped_and_one_half_way_is_not() {
    Level::each(|level| {
        for (height, count) in [(0.0, 2), (-1.75, 0)] {
            let mut level = swept(level, height);
            let hits = level.go(Vec3::NEG_Y * 9.0).messages;
            let hits: Vec<_> = hits.iter().filter(|hit| hit.time() < 1.0).collect();
            assert_eq!(hits.len(), count, "{hits:?}");
        }
    });
}

#[test]
fn a_shot_drops_through_while_it_may() {
    Level::each(|level| {
        let mut level = swept(level, 4.0);
        let body = level.body;
        level.app.world_mut().entity_mut(body).insert(PassThrough);
        assert!(level.go(Vec3::NEG_Y * 16.0).is_empty());
    });
}

#[test]
fn a_platform_that_shoots_up_lifts_a_body_and_one_that_shoots_down_passes_it() {
    Level::each(|level| {
        let mut up = swept(level, 2.0);
        let platform = up.platform;
        up.pose(platform).translation.y += 8.0;
        let hits = tick(&mut up.app).messages;
        assert!(hits[0].started());
        assert_near(hits[0].time(), 0.25, 10.0);
        let mut down = swept(level, -12.0);
        let platform = down.platform;
        down.pose(platform).translation.y -= 24.0;
        assert!(tick(&mut down.app).is_empty());
    });
}

#[test]
fn a_swept_body_slides_over_the_seams_of_a_row() {
    Level::each(|level| {
        let mut level = swept(level, 0.05);
        let (body, platform) = (level.body, level.platform);
        let world = level.app.world_mut();
        let tile = world.get::<Collider>(platform).cloned();
        let tile = tile.expect("a collider");
        for x in [8.0, 16.0, 24.0] {
            let pose = Transform::from_xyz(x, -0.5, 0.0);
            world.spawn((tile.clone(), pose, OneWay::default()));
        }
        for _ in 0..30 {
            level.go(Vec3::new(0.8, -0.1, 0.0));
            let out = read(&mut level.app, |collisions| {
                collisions.push_out(body, |_| true)
            });
            assert_near(out.translation().x, 0.0, 1.0);
            level.respond();
            assert!(level.height() > -1e-4, "{}", level.height());
        }
    });
}
