//! Queries of an entity: casts, push-outs, planes, rays and `move_and_slide`.

use bevy::prelude::*;
use headbutt::{
    PushOut,
    prelude::*,
    query::{CastOptions, CastStatus, Ray},
};

use super::{Level, slab};
use crate::{
    spatial::ask,
    support::{Dimension, assert_near, assert_near_vec, tick},
};

/// Returns the first touch of a body that moves from this height.
fn cast(level: &mut Level, height: f32, motion: Vec3) -> Option<query::CastHit<Vec3>> {
    let body = level.body;
    let start = Transform::from_xyz(0.0, height + 1.0, 0.0);
    ask_of(level, |query, collider| {
        let motion = Motion::linear(start, motion);
        let filter = SpatialQueryFilter::of(body);
        let hit = query.cast_shape(&collider, motion, CastOptions::default(), &filter);
        hit.map(|hit| hit.hit)
    })
}

fn ask_of<T>(level: &mut Level, question: impl FnOnce(SpatialQuery, Collider) -> T) -> T {
    let collider = level.app.world().get::<Collider>(level.body).cloned();
    let collider = collider.expect("a collider");
    ask(level.app.world_mut(), |query| question(query, collider))
}

#[test]
fn a_cast_hits_from_above_and_passes_from_below_and_from_half_way() {
    Level::each(|level| {
        let mut level = level(3.0);
        let hit = cast(&mut level, 2.0, Vec3::NEG_Y * 4.0).expect("a hit");
        assert_eq!(hit.status, CastStatus::Hit);
        assert_near(hit.touching as f32, 0.5, 4.0);
        assert_near_vec(hit.contact.normal, Vec3::NEG_Y, 1.0);
        let hit = cast(&mut level, 0.0, Vec3::NEG_Y).expect("a hit");
        assert_eq!(hit.touching, 0.0);
        for (height, motion) in [
            (-6.0, Vec3::Y * 12.0),
            (-0.5, Vec3::NEG_Y * 4.0),
            (-0.5, Vec3::X * 4.0),
            (-2.5, Vec3::Y * 4.0),
        ] {
            assert_eq!(cast(&mut level, height, motion), None, "{height} {motion}");
        }
        // Other queries see an ordinary collider.
        let blocked = ask_of(&mut level, |query, collider| {
            let motion = Motion::linear(Transform::from_xyz(0.0, -6.0, 0.0), Vec3::Y * 12.0);
            let filter = SpatialQueryFilter::default().with_predicate(&|_| true);
            query.is_shape_blocked(&collider, motion, CastOptions::default(), &filter)
        });
        assert!(blocked);
    });
}

#[test]
fn a_cast_from_the_side_passes() {
    Level::each(|level| {
        let mut level = level(-0.5);
        let body = level.body;
        let is_blocked = ask_of(&mut level, |query, collider| {
            let motion = Motion::linear(Transform::from_xyz(-8.0, 0.5, 0.0), Vec3::X * 16.0);
            let filter = SpatialQueryFilter::of(body);
            query.is_shape_blocked(&collider, motion, CastOptions::default(), &filter)
        });
        assert!(!is_blocked);
    });
}

#[test]
fn overlaps_contacts_and_planes_agree_with_the_tick() {
    Level::each(|level| {
        let mut level = level(0.5);
        let body = level.body;
        for (step, is_met) in [(-0.6, true), (-0.2, true), (-3.0, false), (1.5, false)] {
            level.go(Vec3::Y * step);
            assert_eq!(level.is_met(), is_met, "{step}");
            let pose = *level.pose(body);
            let depth = -level.height();
            let platform = level.platform;
            ask_of(&mut level, |query, collider| {
                let filter = SpatialQueryFilter::of(body);
                let mut entities = Vec::new();
                query.overlaps(&collider, pose, &filter, &mut entities);
                assert_eq!(entities == [platform], is_met);
                assert_eq!(query.is_overlapped(&collider, pose, &filter), is_met);
                let (mut contacts, mut planes) = (Vec::new(), Vec::new());
                query.contacts(&collider, pose, &filter, &mut contacts);
                query.contact_planes(&collider, pose, 0.25, &filter, &mut planes);
                assert_eq!([contacts.len(), planes.len()], [usize::from(is_met); 2]);
                let out = query.push_out(&collider, pose, 4.0, &filter);
                if is_met {
                    assert_near_vec(contacts[0].normal, Vec3::NEG_Y, 1.0);
                    assert_near(contacts[0].depth, depth, 4.0);
                    assert_near_vec(planes[0].normal, Vec3::Y, 1.0);
                    assert_near(planes[0].gap, -depth, 4.0);
                    assert_near_vec(out.translation(), Vec3::Y * depth, 16.0);
                } else {
                    assert_eq!(out, PushOut::Free);
                }
            });
        }
    });
}

/// A lift presses a body down onto a platform, and the push-out does not lead through it.
#[test]
fn a_push_out_does_not_lead_down_through_a_platform() {
    Level::each(|level| {
        let mut level = level(0.1);
        let body = level.body;
        let size = Vec3::new(3.0, 4.0, 3.0);
        let dimension = if level.is_2d() {
            Dimension::D2
        } else {
            Dimension::D3
        };
        let pose = Transform::from_xyz(0.0, 3.9, 0.0);
        level.app.world_mut().spawn((slab(dimension, size), pose));
        tick(&mut level.app);
        let pose = *level.pose(body);
        let out = ask_of(&mut level, |query, collider| {
            query.push_out(&collider, pose, 8.0, &SpatialQueryFilter::of(body))
        });
        let out = out.translation();
        assert!(out.y > -0.11 && out.length() > 1.0, "{out}");
    });
}

#[test]
fn a_ray_of_a_body_passes_from_below_and_other_rays_hit() {
    Level::each(|level| {
        let mut level = level(3.0);
        let (body, is_2d) = (level.body, level.is_2d());
        ask_of(&mut level, |query, _| {
            let own = SpatialQueryFilter::of(body);
            let all = SpatialQueryFilter::default().excluding(body);
            for (filter, from_below) in [(own, false), (all, true)] {
                let hits = [(-4.0, 1.0), (2.0, -1.0), (-0.5, 1.0)].map(|(y, direction)| {
                    if is_2d {
                        let ray = Ray::new(Vec2::Y * y, Vec2::Y * direction);
                        query.cast_ray(ray, &filter).is_some()
                    } else {
                        let ray = Ray::new(Vec3::Y * y, Vec3::Y * direction);
                        query.cast_ray(ray, &filter).is_some()
                    }
                });
                assert_eq!(hits, [from_below, true, from_below]);
            }
        });
    });
}

/// A tick reports the contacts of sensors with one-way colliders on all sides.
#[test]
fn a_ray_finds_a_platform_from_below_if_the_body_or_the_platform_is_a_sensor() {
    Level::each(|level| {
        for is_body in [true, false] {
            let mut level = level(3.0);
            let (body, is_2d) = (level.body, level.is_2d());
            let sensor = if is_body { body } else { level.platform };
            level.app.world_mut().entity_mut(sensor).insert(Sensor);
            tick(&mut level.app);
            let is_hit = ask_of(&mut level, |query, _| {
                let filter = SpatialQueryFilter::of(body).with_sensors();
                if is_2d {
                    let ray = Ray::new(Vec2::NEG_Y * 4.0, Vec2::Y);
                    query.cast_ray(ray, &filter).is_some()
                } else {
                    let ray = Ray::new(Vec3::NEG_Y * 4.0, Vec3::Y);
                    query.cast_ray(ray, &filter).is_some()
                }
            });
            assert!(is_hit, "body: {is_body}");
        }
    });
}

#[test]
fn queries_of_a_body_that_may_drop_ignore_the_platform() {
    Level::each(|level| {
        let mut level = level(3.0);
        let body = level.body;
        level.app.world_mut().entity_mut(body).insert(PassThrough);
        tick(&mut level.app);
        assert_eq!(cast(&mut level, 2.0, Vec3::NEG_Y * 4.0), None);
    });
}

/// A character that walks, jumps and falls with `move_and_slide`, each tick before the plugin's.
struct Hero {
    level: Level,
    velocity: Vec3,
    is_grounded: bool,
}

impl Hero {
    fn go(&mut self) {
        let (body, level) = (self.level.body, &mut self.level);
        let pose = *level.pose(body);
        self.velocity.y -= 0.02;
        let velocity = self.velocity;
        let slide = ask_of(level, |query, collider| {
            let (settings, filter) = (
                MoveAndSlideSettings::default(),
                SpatialQueryFilter::of(body),
            );
            query.move_and_slide(&collider, pose, velocity, &settings, &filter)
        });
        level.pose(body).translation += slide.translation;
        self.velocity = slide.clip_velocity(velocity);
        self.is_grounded = slide.ground.is_some();
        assert!(!slide.is_stuck);
        tick(&mut level.app);
    }
}

#[test]
fn a_character_jumps_through_lands_walks_over_seams_and_drops() {
    Level::each(|level| {
        let mut level = level(-6.0);
        let (body, platform) = (level.body, level.platform);
        let world = level.app.world_mut();
        let tile = world
            .get::<Collider>(platform)
            .cloned()
            .expect("a collider");
        let floor = Transform::from_xyz(0.0, -6.6, 0.0).with_scale(Vec3::new(8.0, 1.0, 8.0));
        world.spawn((tile.clone(), floor));
        world.spawn((tile, Transform::from_xyz(8.0, -0.5, 0.0), OneWay::default()));
        tick(&mut level.app);
        let mut hero = Hero {
            level,
            velocity: Vec3::Y * 0.6,
            is_grounded: false,
        };
        let mut highest = f32::MIN;
        for _ in 0..120 {
            hero.go();
            let height = hero.level.height();
            // Nothing slows the jump down.
            assert!(hero.level.pose(body).translation.x.abs() < 1e-5);
            highest = highest.max(height);
        }
        assert!(highest > 2.0, "{highest}");
        assert!(hero.is_grounded);
        assert!((0.0..0.01).contains(&hero.level.height()));
        hero.velocity.x = 0.1;
        for _ in 0..90 {
            hero.go();
            assert!(hero.is_grounded);
            assert!((0.0..0.01).contains(&hero.level.height()));
        }
        assert_near(hero.level.pose(body).translation.x, 9.0, 100.0);
        hero.velocity.x = 0.0;
        hero.level
            .app
            .world_mut()
            .entity_mut(body)
            .insert(PassThrough);
        tick(&mut hero.level.app);
        for _ in 0..8 {
            hero.go();
        }
        hero.level
            .app
            .world_mut()
            .entity_mut(body)
            .remove::<PassThrough>();
        for _ in 0..60 {
            hero.go();
        }
        assert!(hero.is_grounded);
        assert!(
            (-6.1..-6.08).contains(&hero.level.height()),
            "{}",
            hero.level.height()
        );
    });
}

#[test]
fn a_character_rides_on_a_platform_that_moves_up() {
    Level::each(|level| {
        let level = level(0.01);
        let (body, platform) = (level.body, level.platform);
        let mut hero = Hero {
            level,
            velocity: Vec3::ZERO,
            is_grounded: false,
        };
        let mut ground = None;
        for number in 0..60 {
            hero.level.pose(platform).translation.y += 0.1;
            tick(&mut hero.level.app);
            let pose = *hero.level.pose(body);
            let slide = ask_of(&mut hero.level, |query, collider| {
                let settings = MoveAndSlideSettings {
                    ground,
                    ..default()
                };
                let filter = SpatialQueryFilter::of(body);
                query.move_and_slide(&collider, pose, Vec3::NEG_Y * 0.02, &settings, &filter)
            });
            hero.level.pose(body).translation += slide.translation;
            ground = slide.ground;
            let top = hero.level.pose(platform).translation.y + 0.5;
            let gap = hero.level.height() - top;
            assert!(
                ground.is_some() && (0.0..0.01).contains(&gap),
                "{gap} in tick {number}"
            );
        }
    });
}

#[test]
fn a_character_walks_up_a_one_way_ramp() {
    Level::each(|level| {
        let mut level = level(0.01);
        let platform = level.platform;
        let turn = Quat::from_rotation_z(30_f32.to_radians());
        let center = Vec3::X * 2.0 + turn * Vec3::new(4.0, -0.5, 0.0);
        let pose = Transform::from_translation(center).with_rotation(turn);
        let world = level.app.world_mut();
        let tile = world
            .get::<Collider>(platform)
            .cloned()
            .expect("a collider");
        world.spawn((tile, pose, OneWay::default()));
        tick(&mut level.app);
        let mut hero = Hero {
            level,
            velocity: Vec3::ZERO,
            is_grounded: false,
        };
        for _ in 0..40 {
            hero.velocity.x = 0.1;
            hero.go();
            assert!(hero.is_grounded);
        }
        assert!(hero.level.height() > 1.0, "{}", hero.level.height());
    });
}

/// The body falls a little before its first tick.
#[test]
fn queries_before_the_first_tick_of_a_body_that_is_spawned_a_little_deep_find_its_platform() {
    Level::each(|level| {
        for (height, is_met) in [(-0.05, true), (-1.75, false)] {
            let mut level = level(20.0);
            let collider = level.app.world().get::<Collider>(level.body).cloned();
            let collider = collider.expect("a collider");
            let pose = Transform::from_xyz(2.0, height + 1.0, 0.0);
            let world = level.app.world_mut();
            let body = world.spawn((collider.clone(), pose)).id();
            headbutt::sync_now(world);
            let (is_overlapped, out) = ask(world, |query| {
                let filter = SpatialQueryFilter::of(body);
                let out = query.push_out(&collider, pose, 4.0, &filter);
                (query.is_overlapped(&collider, pose, &filter), out)
            });
            assert_eq!(is_overlapped, is_met);
            let expected = if is_met {
                Vec3::Y * -height
            } else {
                Vec3::ZERO
            };
            assert_near_vec(out.translation(), expected, 16.0);
            tick(&mut level.app);
            let platform = level.platform;
            let contains = super::read(&mut level.app, |it| it.contains(body, platform));
            assert_eq!(contains, is_met);
        }
    });
}
