//! What a body has met before, and what it does not depend on: the order of entities, changes of
//! the component and of the scale, and retests at rest.

use bevy::prelude::*;
use headbutt::prelude::*;

use super::{Level, read, slab};
use crate::support::{Dimension, app, assert_near, assert_near_vec, tick};

/// A step of gravity before the first tick leads a body into the platform on which it stands.
#[test]
fn a_body_that_is_spawned_a_little_deep_is_lifted() {
    Level::each(|level| {
        let mut level = level(-0.05);
        assert!(level.is_met());
        level.respond();
        assert_near(level.height(), 0.0, 4.0);
    });
}

#[test]
fn a_platform_that_becomes_one_way_throws_no_body_that_touches_it_from_below_or_beside() {
    for place in [Vec3::new(0.0, -1.9, 0.0), Vec3::new(4.4, -0.5, 0.0)] {
        for has_other in [true, false] {
            Level::each(|level| {
                let mut level = level(4.0);
                let (platform, is_2d) = (level.platform, level.is_2d());
                let world = level.app.world_mut();
                world.entity_mut(platform).remove::<OneWay>();
                if has_other {
                    let dimension = if is_2d { Dimension::D2 } else { Dimension::D3 };
                    let pose = Transform::from_xyz(0.0, 40.0, 0.0);
                    world.spawn((dimension.block(1.0), pose, OneWay::default()));
                }
                assert!(level.teleport(place).only().started());
                let world = level.app.world_mut();
                world.entity_mut(platform).insert(OneWay::default());
                assert!(tick(&mut level.app).only().ended());
                assert!(tick(&mut level.app).is_empty());
            });
        }
    }
}

#[test]
fn a_body_falls_from_a_platform_that_turns_its_direction_down() {
    Level::each(|level| {
        let mut level = level(-0.05);
        let platform = level.platform;
        let one_way = OneWay::new(Vec3::NEG_Y);
        level.app.world_mut().entity_mut(platform).insert(one_way);
        assert!(tick(&mut level.app).only().ended());
        assert_eq!(level.respond(), PushOut::Free);
    });
}

/// A low body falls deep into a tall one.
#[test]
fn the_upper_of_two_one_way_bodies_stands_on_the_lower_in_every_order_and_retest() {
    for dimension in Dimension::BOTH {
        for is_tall_first in [true, false] {
            let mut app = app();
            let world = app.world_mut();
            let mut spawn = |height: f32, y: f32| {
                let collider = slab(dimension, Vec3::new(4.0, height, 4.0));
                let pose = Transform::from_xyz(0.0, y, 0.0);
                world.spawn((collider, pose, OneWay::default())).id()
            };
            let low = if is_tall_first {
                spawn(10.0, 5.0);
                spawn(1.0, 10.75)
            } else {
                let low = spawn(1.0, 10.75);
                spawn(10.0, 5.0);
                low
            };
            tick(&mut app);
            for step in [2.25, 0.0, 0.0] {
                let mut pose = app.world_mut().get_mut::<Transform>(low).expect("a pose");
                pose.translation.y -= step;
                pose.set_changed();
                tick(&mut app);
                let hit = read(&mut app, |collisions| collisions.deepest_of(low).next());
                let hit = hit.expect("a contact");
                assert_near_vec(hit.normal, Vec3::NEG_Y, 1.0);
                assert_near(hit.depth, 2.0, 4.0);
            }
        }
    }
}

#[test]
fn a_platform_that_grows_around_a_body_passes_it() {
    Level::each(|level| {
        for least in [0.01, 0.0] {
            let mut level = level(4.0);
            let platform = level.platform;
            level.pose(platform).scale = Vec3::splat(least);
            tick(&mut level.app);
            assert!(level.teleport(Vec3::new(0.0, 0.3, 0.0)).is_empty());
            for number in 1..=10 {
                level.pose(platform).scale = Vec3::splat(0.1 * number as f32);
                assert!(
                    tick(&mut level.app).is_empty(),
                    "step {number} from {least}"
                );
            }
        }
    });
}

/// Two storeys, whose tops are at y = 0 and y = 6.
fn storeys(dimension: Dimension) -> Collider {
    let slab = slab(dimension, Level::SIZE);
    Collider::compound([-0.5, 5.5].map(|y| (Transform::from_xyz(0.0, y, 0.0), slab.clone())))
}

/// Replaces the platform by two storeys, and puts the body at this height.
fn on_storeys(level: &dyn Fn(f32) -> Level, height: f32) -> Level {
    let mut level = level(20.0);
    let (platform, is_2d) = (level.platform, level.is_2d());
    let dimension = if is_2d { Dimension::D2 } else { Dimension::D3 };
    let entity = (storeys(dimension), Transform::default());
    level.app.world_mut().entity_mut(platform).insert(entity);
    level.teleport(Vec3::Y * 20.0);
    level.teleport(Vec3::Y * (height + 1.0));
    level
}

#[test]
fn a_contact_with_a_storey_lies_on_this_storey() {
    Level::each(|level| {
        let mut level = on_storeys(level, 6.1);
        let hit = level.go(Vec3::NEG_Y * 0.2).only();
        let hit = hit.seen_from(level.body).expect("a contact of the body");
        assert_eq!(hit.other_part(), 1);
        assert_near(hit.other_point().y, 6.0, 10.0);
        assert_near(hit.depth, 0.1, 10.0);
    });
}

/// The platform turns about the middle of the lower top, on which the corner of the body lands.
#[test]
fn a_shot_hits_the_lower_of_two_storeys_that_turn() {
    const TURN: f64 = 0.05;
    const FALL: f64 = 8.0;
    Level::each(|level| {
        // Below the upper storey, and half way through it.
        for height in [3.0, 5.5] {
            let mut level = on_storeys(level, height);
            let (body, platform) = (level.body, level.platform);
            level.app.world_mut().entity_mut(body).insert(Swept);
            assert!(tick(&mut level.app).is_empty());
            level.pose(platform).rotation = Quat::from_rotation_z(TURN as f32);
            let hits = level.go(Vec3::NEG_Y * FALL as f32).messages;
            let hit = hits.iter().find_map(|hit| hit.seen_from(body));
            let hit = hit.expect("a contact of the body");
            assert_eq!(hit.other_part(), 0);
            let mut time = 0.0;
            for _ in 0..32 {
                time = (f64::from(height) - 0.5 * (TURN * time).tan()) / FALL;
            }
            assert_near(hit.time(), time as f32, 10.0);
            let corner = Vec2::new(0.5, 0.5 * (TURN * time).tan() as f32);
            assert_near_vec(hit.other_point().xy().extend(0.0), corner.extend(0.0), 20.0);
        }
    });
}

#[test]
fn a_swept_body_that_stands_on_the_upper_of_two_storeys_that_turn_is_stopped_there() {
    Level::each(|level| {
        let mut level = on_storeys(level, 6.05);
        let (body, platform) = (level.body, level.platform);
        level.app.world_mut().entity_mut(body).insert(Swept);
        assert!(level.go(Vec3::NEG_Y * 0.1).only().started());
        level.pose(platform).rotation = Quat::from_rotation_z(0.02);
        let hits = level.go(Vec3::NEG_Y * 4.0).messages;
        let hit = hits.iter().find_map(|hit| hit.seen_from(body));
        let hit = hit.expect("a contact of the body");
        assert_eq!((hit.time(), hit.other_part()), (0.0, 1));
    });
}

/// Without a response, the body stands deep in a solid box when it is teleported.
#[test]
fn a_teleported_body_keeps_no_lift_from_the_contacts_of_its_old_place() {
    Level::each(|level| {
        let mut level = level(20.0);
        let dimension = level.dimension();
        let ground = slab(dimension, Vec3::new(4.0, 2.0, 4.0));
        let pose = Transform::from_xyz(30.0, -1.0, 0.0);
        level.app.world_mut().spawn((ground, pose));
        // Its feet are 0.8 deep in the box.
        assert!(level.teleport(Vec3::new(30.0, 0.2, 0.0)).only().started());
        assert!(level.teleport(Vec3::new(0.0, 0.5, 0.0)).only().ended());
        assert!(level.go(Vec3::NEG_Y * 0.1).is_empty());
    });
}

#[test]
fn a_body_that_is_teleported_deeper_into_its_platform_passes_and_above_it_stays() {
    Level::each(|level| {
        let stand = || {
            let mut level = level(0.05);
            assert!(level.go(Vec3::NEG_Y * 0.1).only().started());
            level
        };
        assert!(stand().teleport(Vec3::new(2.0, 0.5, 0.0)).only().ended());
        let mut level = stand();
        assert!(level.teleport(Vec3::new(2.0, 1.0, 0.0)).only().ongoing());
        assert!(level.go(Vec3::NEG_Y * 0.1).only().ongoing());
    });
}

/// A response lifts the body, and inserts `Teleported`, as for swept bodies.
#[test]
fn a_body_that_falls_and_is_teleported_by_its_response_stays_on_a_row() {
    Level::each(|level| {
        let mut level = level(0.05);
        let dimension = level.dimension();
        for x in [8.0, 16.0] {
            let pose = Transform::from_xyz(x, -0.5, 0.0);
            let tile = (slab(dimension, Level::SIZE), pose, OneWay::default());
            level.app.world_mut().spawn(tile);
        }
        for _ in 0..30 {
            level.go(Vec3::new(0.5, -0.1, 0.0));
            level.respond();
            let body = level.body;
            level.app.world_mut().entity_mut(body).insert(Teleported);
            assert!(level.height() > -1e-4, "{}", level.height());
        }
    });
}

/// The left flank of the body leans over the rim, so the contact is nearly horizontal.
#[test]
fn a_body_that_leans_on_the_rim_stays_while_both_turn() {
    Level::each(|level| {
        let mut level = level(20.0);
        let (body, platform) = (level.body, level.platform);
        let rim = Vec3::X * 4.0;
        let lean = Quat::from_rotation_z(0.05);
        let foot = lean * Vec3::new(-0.5, -1.0, 0.0);
        level.pose(body).rotation = lean;
        assert!(
            level
                .teleport(rim + Vec3::new(0.005, 0.05, 0.0) - foot)
                .is_empty()
        );
        assert!(level.go(Vec3::NEG_Y * 0.55).only().started());
        let turn = Quat::from_rotation_z(0.1);
        for entity in [body, platform] {
            let mut pose = level.pose(entity);
            pose.rotate_around(rim, turn);
        }
        assert!(tick(&mut level.app).only().ongoing());
    });
}
