//! One-way colliders: platforms that are solid from one side, and bodies that pass through them.

mod history;
mod paths;
mod queries;
mod random;
mod rims;

use bevy::prelude::*;
use headbutt::{Collisions, PairStatus, explain, prelude::*};

use crate::support::{
    Dimension, Record, app, assert_near, assert_near_vec, tick, warnings::Warnings,
};

/// A platform of width 8 and height 1, whose top is at y = 0, and a box of height 2.
struct Level {
    app: App,
    platform: Entity,
    body: Entity,
}

fn slab(dimension: Dimension, size: Vec3) -> Collider {
    match dimension {
        Dimension::D2 => Collider::rectangle(size.x, size.y),
        Dimension::D3 => Collider::cuboid(size.x, size.y, size.z),
    }
}

impl Level {
    const SIZE: Vec3 = Vec3::new(8.0, 1.0, 8.0);

    /// Spawns the body with its feet at this height.
    fn new(dimension: Dimension, height: f32) -> Self {
        let mut app = app();
        let world = app.world_mut();
        let pose = Transform::from_xyz(0.0, -0.5, 0.0);
        let platform = (slab(dimension, Self::SIZE), pose, OneWay::default());
        let platform = world.spawn(platform).id();
        let pose = Transform::from_xyz(0.0, height + 1.0, 0.0);
        let body = world.spawn((slab(dimension, Vec3::new(1.0, 2.0, 1.0)), pose));
        let body = body.id();
        tick(&mut app);
        Self {
            app,
            platform,
            body,
        }
    }

    fn each(test: impl Fn(&dyn Fn(f32) -> Self)) {
        for dimension in Dimension::BOTH {
            test(&|height| Self::new(dimension, height));
        }
    }

    fn pose(&mut self, entity: Entity) -> Mut<'_, Transform> {
        let pose = self.app.world_mut().get_mut::<Transform>(entity);
        pose.expect("a pose")
    }

    /// Returns the height of the feet above the top of a platform that was not moved.
    fn height(&mut self) -> f32 {
        let body = self.body;
        self.pose(body).translation.y - 1.0
    }

    /// Moves the body, and runs a tick.
    fn go(&mut self, translation: Vec3) -> Record {
        let body = self.body;
        self.pose(body).translation += translation;
        tick(&mut self.app)
    }

    /// Moves the body to a place that counts as its place before the next tick, and runs the tick.
    fn teleport(&mut self, translation: Vec3) -> Record {
        let body = self.body;
        self.pose(body).translation = translation;
        self.app.world_mut().entity_mut(body).insert(Teleported);
        tick(&mut self.app)
    }

    /// Moves the body out of its solid contacts.
    fn respond(&mut self) -> PushOut {
        let body = self.body;
        let push_out = read(&mut self.app, |collisions| {
            collisions.push_out(body, |_| true)
        });
        self.pose(body).translation += push_out.translation();
        push_out
    }

    fn dimension(&self) -> Dimension {
        if self.is_2d() {
            Dimension::D2
        } else {
            Dimension::D3
        }
    }

    fn is_2d(&self) -> bool {
        let collider = self.app.world().get::<Collider>(self.body);
        collider.expect("a collider").shape_2d().is_some()
    }

    fn is_met(&mut self) -> bool {
        let (body, platform) = (self.body, self.platform);
        read(&mut self.app, |collisions| {
            collisions.contains(body, platform)
        })
    }
}

fn read<T>(app: &mut App, reader: impl FnOnce(&Collisions) -> T) -> T {
    reader(app.world().resource::<Collisions>())
}

#[test]
fn a_body_jumps_through_from_below_and_lands_on_top() {
    Level::each(|level| {
        let mut level = level(-4.0);
        for _ in 0..16 {
            assert!(level.go(Vec3::Y * 0.3).is_empty());
        }
        assert!(level.height() > 0.5);
        while level.height() > 0.35 {
            assert!(level.go(Vec3::NEG_Y * 0.3).is_empty());
        }
        let hit = level.go(Vec3::NEG_Y * 0.3).only();
        let hit = hit.seen_from(level.body).expect("a contact of the body");
        assert!(hit.started());
        assert_near_vec(hit.normal, Vec3::NEG_Y, 1.0);
        let height = level.height();
        assert_near(hit.depth, -height, 10.0);
        level.respond();
        assert_near(level.height(), 0.0, 10.0);
    });
}

/// A body that turns around half way is neither caught nor thrown to the top.
#[test]
fn a_body_is_never_caught_half_way() {
    Level::each(|level| {
        let mut level = level(-4.0);
        for step in [2.0, 0.5, 0.0, -0.1, 0.4, -0.4, 0.0, 0.5, -0.3, -1.0, 1.9] {
            assert!(
                level.go(Vec3::Y * step).is_empty(),
                "after a step of {step}"
            );
            assert_eq!(level.respond(), PushOut::Free);
        }
        assert!(level.height() < -0.3);
    });
}

#[test]
fn a_body_passes_from_the_side_and_is_never_pushed_out_sideways() {
    Level::each(|level| {
        for height in [-0.1, -0.5, -1.5] {
            let mut level = level(height);
            let body = level.body;
            level.app.world_mut().entity_mut(body).insert(Teleported);
            level.pose(body).translation.x = -6.0;
            tick(&mut level.app);
            for _ in 0..24 {
                assert!(level.go(Vec3::X * 0.5).is_empty());
            }
        }
    });
}

/// A body whose side touches the side of a platform falls beside it.
#[test]
fn a_body_falls_along_the_side_without_a_contact() {
    Level::each(|level| {
        let mut level = level(2.0);
        let body = level.body;
        level.pose(body).translation.x = 4.5;
        for _ in 0..32 {
            assert!(level.go(Vec3::NEG_Y * 0.25).is_empty());
        }
    });
}

#[test]
fn a_body_that_is_spawned_deep_or_teleported_passes_until_it_has_left() {
    Level::each(|level| {
        let mut spawned = level(-1.75);
        assert!(!spawned.is_met());
        assert!(spawned.go(Vec3::NEG_Y * 0.1).is_empty());

        let mut level = level(2.0);
        let body = level.body;
        level.app.world_mut().entity_mut(body).insert(Teleported);
        level.pose(body).translation.y = 0.5;
        level.app.world_mut().entity_mut(body).insert(Teleported);
        assert!(tick(&mut level.app).is_empty());
        assert!(level.go(Vec3::NEG_Y * 0.1).is_empty());
    });
}

/// avian 778: the body is at rest, so nothing else wakes it.
#[test]
fn a_body_at_rest_drops_through_as_long_as_it_may() {
    Level::each(|level| {
        let mut level = level(0.5);
        assert!(level.go(Vec3::NEG_Y * 0.6).only().started());
        assert!(
            !tick(&mut level.app)
                .messages
                .iter()
                .any(|hit| !hit.ongoing())
        );
        let body = level.body;
        level.app.world_mut().entity_mut(body).insert(PassThrough);
        let record = tick(&mut level.app);
        assert_eq!(record.only().end_reason(), Some(EndReason::PassThrough));
        let status = explain(level.app.world(), level.platform, body).status;
        assert_eq!(status, PairStatus::PassThrough { body });
        assert!(level.go(Vec3::NEG_Y * 0.3).is_empty());
        // Half way through, it still passes without the marker.
        level
            .app
            .world_mut()
            .entity_mut(body)
            .remove::<PassThrough>();
        for _ in 0..8 {
            let platform = level.platform;
            assert!(tick(&mut level.app).is_empty());
            let status = explain(level.app.world(), level.platform, body).status;
            assert_eq!(status, PairStatus::NotFromAbove { platform });
            assert!(level.go(Vec3::NEG_Y * 0.2).is_empty());
        }
        // Above the platform, the marker has no effect after it is removed.
        level.pose(body).translation.y = 1.5;
        tick(&mut level.app);
        assert!(level.go(Vec3::NEG_Y * 0.6).only().started());
    });
}

/// godot 9399 and 9614: the platform moves up by more than the tolerance in each tick.
#[test]
fn a_body_rides_on_a_platform_that_moves_up_and_down() {
    Level::each(|level| {
        for responds in [true, false] {
            let mut level = level(0.0);
            let platform = level.platform;
            for number in 0..80 {
                let speed = if number % 20 < 10 { 0.2 } else { -0.2 };
                level.pose(platform).translation.y += speed;
                // The body falls as fast as the platform does.
                let record = level.go(Vec3::NEG_Y * 0.01 + Vec3::Y * speed.min(0.0));
                assert!(level.is_met(), "tick {number}");
                assert!(record.messages.iter().all(|hit| hit.touching()));
                if responds {
                    level.respond();
                } else {
                    // A response of the app's own.
                    let top = level.pose(platform).translation.y + 0.5;
                    let body = level.body;
                    level.pose(body).translation.y = top + 1.0;
                }
            }
        }
    });
}

/// godot 43229: another body jumps over the body that stands on a moving platform.
#[test]
fn a_body_stays_on_a_moving_platform_while_another_body_jumps_over_it() {
    Level::each(|level| {
        let mut level = level(0.0);
        let (platform, first) = (level.platform, level.body);
        let collider = level.app.world().get::<Collider>(first).cloned();
        let pose = Transform::from_xyz(-3.0, 1.0, 0.0);
        let collider = collider.expect("a collider");
        let second = level.app.world_mut().spawn((collider, pose)).id();
        tick(&mut level.app);
        for number in 0..60 {
            let time = number as f32 / 59.0;
            level.pose(platform).translation += Vec3::new(0.1, 0.05, 0.0);
            level.pose(first).translation += Vec3::new(0.1, -0.02, 0.0);
            // Over the first body, which the second one grazes and lands beside.
            let lift = 0.05 * (number + 1) as f32;
            let pose = Vec3::new(-3.0 + 6.0 * time + 0.1 * number as f32, 1.0, 0.0);
            let jump = Vec3::Y * (10.0 * time * (1.0 - time) + lift - 0.02);
            level.pose(second).translation = pose + jump;
            tick(&mut level.app);
            assert!(level.is_met(), "tick {number}");
            level.respond();
            assert_near(level.height(), lift, 20.0);
        }
        let has_landed = read(&mut level.app, |it| it.contains(second, platform));
        assert!(has_landed);
    });
}

/// godot 109492: one-way tiles beside and above each other.
#[test]
fn adjacent_and_stacked_tiles_have_no_hole_and_no_edge() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        let mut tiles = Vec::new();
        for (row, column) in (0..3).flat_map(|row| (0..24).map(move |column| (row, column))) {
            let pose = Transform::from_xyz(column as f32, -0.5 - row as f32, 0.0);
            let tile = (slab(dimension, Vec3::ONE), pose, OneWay::default());
            tiles.push(world.spawn(tile).id());
        }
        let pose = Transform::from_xyz(-0.3, 1.05, 0.0);
        let body = world.spawn((slab(dimension, Vec3::new(0.9, 2.0, 0.9)), pose));
        let body = body.id();
        let mut speed = 0.0;
        for number in 0..220 {
            speed -= 0.01;
            let mut pose = app.world_mut().get_mut::<Transform>(body).expect("a pose");
            pose.translation += Vec3::new(0.11, speed, 0.0);
            tick(&mut app);
            let push_out = read(&mut app, |collisions| collisions.push_out(body, |_| true));
            let translation = push_out.translation();
            assert_near(translation.x, 0.0, 1.0);
            let mut pose = app.world_mut().get_mut::<Transform>(body).expect("a pose");
            pose.translation += translation;
            assert!(
                pose.translation.y > 0.999,
                "{} in tick {number}",
                pose.translation
            );
            if translation.y > 0.0 {
                speed = 0.0;
            }
        }
    }
}

#[test]
fn solid_ground_continues_as_a_one_way_tile() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        let size = Vec3::new(4.0, 1.0, 4.0);
        world.spawn((slab(dimension, size), Transform::from_xyz(0.0, -0.5, 0.0)));
        let pose = Transform::from_xyz(4.0, -0.5, 0.0);
        let platform = world.spawn((slab(dimension, size), pose, OneWay::default()));
        let platform = platform.id();
        let ball = world.spawn((dimension.ball(0.5), Transform::from_xyz(0.0, 0.5, 0.0)));
        let ball = ball.id();
        for _ in 0..40 {
            let mut pose = app.world_mut().get_mut::<Transform>(ball).expect("a pose");
            pose.translation += Vec3::new(0.1, -0.05, 0.0);
            tick(&mut app);
            let push_out = read(&mut app, |collisions| collisions.push_out(ball, |_| true));
            let mut pose = app.world_mut().get_mut::<Transform>(ball).expect("a pose");
            pose.translation += push_out.translation();
            assert_near(pose.translation.y, 0.5, 4.0);
        }
        assert!(read(&mut app, |collisions| collisions.contains(ball, platform)));
    }
}

/// The direction turns with the platform: here it leads to the left.
#[test]
fn a_turned_platform_is_solid_from_the_side_to_which_its_direction_leads() {
    for (is_local, dimension) in [(true, Dimension::D2), (false, Dimension::D3)] {
        let mut app = app();
        let world = app.world_mut();
        let (rotation, one_way) = if is_local {
            (std::f32::consts::FRAC_PI_2, OneWay::default())
        } else {
            (0.0, OneWay::new(Vec3::NEG_X * 3.0))
        };
        let pose = Transform::from_rotation(Quat::from_rotation_z(rotation));
        world.spawn((slab(dimension, Vec3::splat(2.0)), pose, one_way));
        let ball = dimension.ball(0.5);
        let left = world
            .spawn((ball.clone(), Transform::from_xyz(-2.0, 0.0, 0.0)))
            .id();
        let right = world.spawn((ball, Transform::from_xyz(2.0, 0.0, 0.0))).id();
        tick(&mut app);
        for (entity, speed) in [(left, 0.7), (right, -0.7)] {
            let pose = app.world_mut().get_mut::<Transform>(entity);
            pose.expect("a pose").translation.x += speed;
        }
        let hit = tick(&mut app).only();
        let hit = hit.seen_from(left).expect("a contact of the left ball");
        assert_near_vec(hit.normal, Vec3::X, 1.0);
        assert_near(hit.depth, 0.2, 2.0);
    }
}

#[test]
fn a_margin_lifts_a_body_from_a_low_edge() {
    Level::each(|level| {
        for (margin, is_met) in [(0.05, false), (0.15, true)] {
            let mut level = level(4.0);
            level.teleport(Vec3::Y * 0.9);
            let (body, platform) = (level.body, level.platform);
            assert!(!level.is_met());
            let one_way = OneWay::default().with_margin(margin);
            level.app.world_mut().entity_mut(platform).insert(one_way);
            // The change counts at rest.
            tick(&mut level.app);
            assert_eq!(level.is_met(), is_met);
            level.pose(body).translation.x += 0.1;
            tick(&mut level.app);
            assert_eq!(level.is_met(), is_met);
        }
    });
}

#[test]
fn a_ramp_is_walked_up_from_its_tip() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        world.spawn((
            slab(dimension, Vec3::new(40.0, 1.0, 8.0)),
            Transform::from_xyz(0.0, -0.5, 0.0),
        ));
        // The top of the ramp begins at x = 2, at the height of the ground. Its slope is 30
        // degrees.
        let turn = Quat::from_rotation_z(30_f32.to_radians());
        let center = Vec3::X * 2.0 + turn * Vec3::new(4.0, -0.25, 0.0);
        let pose = Transform::from_translation(center).with_rotation(turn);
        let ramp = (
            slab(dimension, Vec3::new(8.0, 0.5, 4.0)),
            pose,
            OneWay::default(),
        );
        let ramp = world.spawn(ramp).id();
        let pose = Transform::from_xyz(0.0, 0.5, 0.0);
        let ball = world.spawn((dimension.ball(0.5), pose)).id();
        tick(&mut app);
        for _ in 0..50 {
            let mut pose = app.world_mut().get_mut::<Transform>(ball).expect("a pose");
            pose.translation += Vec3::new(0.1, -0.05, 0.0);
            tick(&mut app);
            let push_out = read(&mut app, |it| it.push_out_along(ball, Vec3::Y, |_| true));
            let mut pose = app.world_mut().get_mut::<Transform>(ball).expect("a pose");
            pose.translation += push_out;
        }
        assert!(read(&mut app, |collisions| collisions.contains(ball, ramp)));
        let pose = app.world().get::<Transform>(ball).expect("a pose");
        let slope = 30_f32.to_radians().tan();
        let height = (pose.translation.x - 2.0) * slope + 0.5 / 30_f32.to_radians().cos();
        assert_near(pose.translation.y, height, 20.0);
    }
}

#[test]
fn each_part_of_a_compound_is_a_platform_and_the_lower_storey_is_solid() {
    let mut app = app();
    let world = app.world_mut();
    let storeys = [-0.5, 3.5].map(|y| (Vec2::Y * y, Collider::rectangle(8.0, 1.0)));
    let storeys = Collider::compound(storeys);
    world.spawn((storeys, Transform::default(), OneWay::default()));
    let pose = Transform::from_xyz(0.0, 1.1, 0.0);
    let body = world.spawn((Collider::rectangle(1.0, 2.0), pose)).id();
    tick(&mut app);
    for y in [0.95, 0.9] {
        let pose = app.world_mut().get_mut::<Transform>(body);
        pose.expect("a pose").translation.y = y;
        tick(&mut app);
        let out = read(&mut app, |collisions| collisions.push_out(body, |_| true));
        assert_near_vec(out.translation(), Vec3::Y * (1.0 - y), 4.0);
    }
}

/// A hill whose top is at y = 0, as a polyline in 2D and as a mesh in 3D.
fn hill(dimension: Dimension) -> Collider {
    let outline = [(-8.0, -2.0), (-2.0, 0.0), (2.0, 0.0), (8.0, -2.0)];
    match dimension {
        Dimension::D2 => Collider::polyline(outline.map(|(x, y)| Vec2::new(x, y))),
        Dimension::D3 => {
            let corners = outline
                .iter()
                .flat_map(|(x, y)| [-4.0, 4.0].map(|z| Vec3::new(*x, *y, z)));
            let facets = [0, 2, 4]
                .into_iter()
                .flat_map(|at| [[at, at + 1, at + 2], [at + 1, at + 3, at + 2]]);
            Collider::trimesh(corners, facets)
        }
    }
}

#[test]
fn a_surface_and_a_half_space_are_solid_from_above() {
    for dimension in Dimension::BOTH {
        let ground = match dimension {
            Dimension::D2 => Collider::half_space(Vec2::Y),
            Dimension::D3 => Collider::half_space(Vec3::Y),
        };
        for (ground, slope) in [(hill(dimension), 1.0 / 3.0), (ground, 0.0)] {
            let mut app = app();
            let world = app.world_mut();
            world.spawn((ground, OneWay::default()));
            let ball = world.spawn((dimension.ball(0.5), Transform::from_xyz(0.0, 3.0, 0.0)));
            let ball = ball.id();
            tick(&mut app);
            let below = (Transform::from_xyz(0.0, -3.0, 0.0), Teleported);
            app.world_mut().entity_mut(ball).insert(below);
            tick(&mut app);
            let mut go = |motion: Vec3| {
                let pose = app.world_mut().get_mut::<Transform>(ball);
                pose.expect("a pose").translation += motion;
                tick(&mut app);
                let out = read(&mut app, |it| it.push_out_along(ball, Vec3::Y, |_| true));
                let mut pose = app.world_mut().get_mut::<Transform>(ball).expect("a pose");
                pose.translation += out;
                (out, pose.translation)
            };
            for _ in 0..20 {
                assert_eq!(go(Vec3::Y * 0.2).0, Vec3::ZERO);
            }
            for _ in 0..10 {
                go(Vec3::NEG_Y * 0.1);
            }
            for _ in 0..50 {
                let (_, at) = go(Vec3::new(0.1, -0.05, 0.0));
                let (flat, radius) = (at.x.min(2.0), 0.5 * (1.0_f32 + slope * slope).sqrt());
                // At the bend, the ball rolls over the corner.
                let range = [0.5, radius].map(|gap| gap - slope * (at.x - flat));
                assert!(
                    range[0] - 1e-3 < at.y && at.y < range[1] + 1e-3,
                    "{at} not in {range:?}"
                );
            }
        }
    }
}

#[test]
fn a_sensor_is_seen_by_one_way_colliders_on_all_sides() {
    Level::each(|level| {
        let mut level = level(-1.75);
        let body = level.body;
        level.app.world_mut().entity_mut(body).insert(Sensor);
        assert!(tick(&mut level.app).only().started());
        // Its contact does not make the body solid.
        level.app.world_mut().entity_mut(body).remove::<Sensor>();
        assert!(tick(&mut level.app).only().ended());
    });
}

#[test]
fn one_way_boxes_in_a_stack_support_each_other() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        let boxes = [0.5, 1.55, 2.6].map(|y| {
            let pose = Transform::from_xyz(0.0, y, 0.0);
            world
                .spawn((dimension.block(1.0), pose, OneWay::default()))
                .id()
        });
        tick(&mut app);
        for _ in 0..20 {
            for upper in &boxes[1..] {
                let pose = app.world_mut().get_mut::<Transform>(*upper);
                pose.expect("a pose").translation.y -= 0.02;
            }
            tick(&mut app);
            for pair in boxes.windows(2) {
                let hit = read(&mut app, |collisions| collisions.between(pair[1], pair[0]));
                let out = hit.map_or(Vec3::ZERO, |hit| hit.minimum_translation());
                let pose = app.world_mut().get_mut::<Transform>(pair[1]);
                pose.expect("a pose").translation += out;
            }
        }
        for (entity, y) in boxes.iter().zip([0.5, 1.5, 2.5]) {
            let pose = app.world().get::<Transform>(*entity).expect("a pose");
            assert!((pose.translation.y - y).abs() < 0.1, "{}", pose.translation);
        }
    }
}

#[test]
fn an_invalid_direction_makes_a_collider_solid_and_is_warned_of_once() {
    for (one_way, dimension) in [
        (OneWay::new(Vec3::ZERO), Dimension::D3),
        (OneWay::new(Vec3::splat(f32::NAN)), Dimension::D2),
        (OneWay::new(Vec3::Z), Dimension::D2),
    ] {
        let mut app = app();
        let warnings = Warnings::listen();
        let world = app.world_mut();
        let name = Name::new("Platform");
        let platform = world.spawn((dimension.block(2.0), one_way, name)).id();
        let pose = Transform::from_xyz(0.0, -1.25, 0.0);
        world.spawn((dimension.ball(0.5), pose));
        assert!(tick(&mut app).only().started());
        tick(&mut app);
        warnings.assert_one_naming(platform, "Platform");
    }
}
