//! Compares `move_and_slide` with closed forms.

use core::f32::consts::{FRAC_1_SQRT_2, PI};

use bevy::prelude::*;
use headbutt::prelude::*;

use super::{Level, Walker, at, ramp};

/// The default skin: a hundredth of half of the least side of these bodies, which is 1.
const SKIN: f32 = 0.005;

fn crate_2d() -> Collider {
    Collider::rectangle(1.0, 1.0)
}

fn bodies() -> [Collider; 5] {
    [
        crate_2d(),
        Collider::circle(0.5),
        Collider::cuboid(1.0, 1.0, 1.0),
        Collider::sphere(0.5),
        Collider::capsule_3d(0.5, 1.0),
    ]
}

/// Returns half of the height of a body.
fn half_height(body: &Collider) -> f32 {
    body.aabb(Vec3::ZERO).expect("it is bounded").max.y
}

/// Returns the same solid, in the dimension of a body.
fn solid(body: &Collider, size: Vec3) -> Collider {
    match body.shape_2d() {
        Some(_) => Collider::rectangle(size.x, size.y),
        None => Collider::cuboid(size.x, size.y, size.z),
    }
}

fn near(actual: Vec3, expected: Vec3) {
    assert!(actual.distance(expected) < 1e-4, "{actual}, not {expected}");
}

#[test]
fn a_move_through_empty_space_is_the_whole_translation() {
    for body in bodies() {
        let mut walker = Walker::new(body, Vec3::new(3.0, 2.0, 0.0));
        let slide = Level::new([]).ask(|query| walker.go(query, Vec3::new(10.0, -7.0, 0.0)));
        assert_eq!(slide.translation, Vec3::new(10.0, -7.0, 0.0));
        assert!(slide.ground.is_none() && slide.hits().is_empty() && !slide.is_stuck);
    }
}

#[test]
fn a_body_stops_at_a_wall_and_slides_along_it() {
    for body in bodies() {
        let wall = solid(&body, Vec3::new(2.0, 50.0, 50.0));
        let mut level = Level::new([(wall, at(4.0, 0.0))]);
        let mut walker = Walker::new(body, Vec3::ZERO);
        level.ask(|query| {
            let slide = walker.go(query, Vec3::new(8.0, 4.0, 0.0));
            near(slide.translation, Vec3::new(2.5 - SKIN, 4.0, 0.0));
            let [hit] = slide.hits() else {
                panic!("one touch: {:?}", slide.hits());
            };
            assert!(hit.normal.abs_diff_eq(Vec3::NEG_X, 1e-6) && !hit.is_ground);
            // At the touch, the body has moved by 2.5 of 8 units.
            assert!(
                hit.motion
                    .abs_diff_eq(Vec3::new(8.0, 4.0, 0.0) * (5.5 / 8.0), 0.02)
            );
            let velocity = slide.clip_velocity(Vec3::new(8.0, 4.0, 0.0));
            assert!(velocity.abs_diff_eq(Vec3::Y * 4.0, 1e-5));
            let velocity = slide.clip_velocity(Vec2::new(8.0, 4.0));
            assert!(velocity.abs_diff_eq(Vec2::Y * 4.0, 1e-5));
            for invalid in [Vec3::NAN, Vec3::new(0.0, f32::INFINITY, 0.0)] {
                assert_eq!(slide.clip_velocity(invalid), Vec3::ZERO);
                assert_eq!(slide.clip_velocity(invalid.xy()), Vec2::ZERO);
            }
            // Pressed against the wall, the body neither moves nor sticks.
            let pressed = walker.pose.translation;
            for tick in 0..100 {
                let speed = if tick % 2 == 0 { 1.0 } else { 0.001 };
                walker.go(query, Vec3::X * speed);
                assert!(walker.pose.translation.distance(pressed) < 2e-6);
            }
            walker.go(query, Vec3::new(-1.0, 1.0, 0.0));
            near(walker.pose.translation, pressed + Vec3::new(-1.0, 1.0, 0.0));
        });
    }
}

/// On a slope, a walk up or down is as long as on flat ground, and ends on the ground.
#[test]
fn slopes_do_not_change_the_speed() {
    let angle = 30_f32.to_radians();
    for body in bodies() {
        let slab = |length| solid(&body, Vec3::new(length, 2.0, 50.0));
        let floor = (slab(40.0), at(-20.0, -1.0));
        let slope = ramp(slab(60.0), angle, Vec3::new(30.0, 1.0, 25.0));
        let mut level = Level::new([floor, slope]);
        let mut walker = Walker::new(body, Vec3::new(-3.0, 3.0, 0.0));
        level.ask(|query| {
            walker.land(query);
            let mut step = |x: f32| {
                let before = walker.pose.translation;
                let slide = walker.go(query, Vec3::new(x, -0.1, 0.0));
                assert!(slide.ground.is_some(), "at {before}");
                walker.pose.translation - before
            };
            let flat = step(0.25);
            near(flat, Vec3::X * 0.25);
            (0..40).for_each(|_| _ = step(0.25));
            let along = Vec3::new(angle.cos(), angle.sin(), 0.0);
            (0..100).for_each(|_| near(step(0.25), along * 0.25));
            (0..100).for_each(|_| near(step(-0.25), along * -0.25));
            (0..41).for_each(|_| _ = step(-0.25));
            near(step(-0.25), Vec3::NEG_X * 0.25);
        });
    }
}

#[test]
fn a_body_on_a_slope_stays_where_it_is() {
    for (body, degrees) in bodies()
        .into_iter()
        .flat_map(|body| [0.0, 21.8, 45.0].map(|degrees: f32| (body.clone(), degrees)))
    {
        let slope = ramp(
            solid(&body, Vec3::new(60.0, 2.0, 50.0)),
            degrees.to_radians(),
            Vec3::new(30.0, 1.0, 25.0),
        );
        let mut level = Level::new([slope]);
        let mut walker = Walker::new(body, Vec3::new(20.0, 30.0, 0.0));
        level.ask(|query| {
            walker.land(query);
            let mut velocity = Vec3::ZERO;
            walker.go(query, Vec3::NEG_Y * 0.01);
            let start = walker.pose.translation;
            for _ in 0..1000 {
                velocity.y -= 9.81 / 64.0;
                let slide = walker.go(query, velocity / 64.0);
                assert!(slide.ground.is_some());
                velocity = slide.clip_velocity(velocity);
            }
            assert_eq!(walker.pose.translation, start, "at {degrees} degrees");
            assert_eq!(velocity, Vec3::ZERO);
        });
    }
}

/// A steep slope is a wall that a body slides down.
#[test]
fn steep_slopes_slide_and_are_not_climbed() {
    let angle = 60_f32.to_radians();
    for body in bodies() {
        let slab = |length| solid(&body, Vec3::new(length, 2.0, 50.0));
        let slope = ramp(slab(60.0), angle, Vec3::new(30.0, 1.0, 25.0));
        let floor = (slab(60.0), at(-20.0, -1.0));
        let mut level = Level::new([slope, floor]);
        let mut walker = Walker::new(body, Vec3::new(8.0, 16.0, 0.0));
        level.ask(|query| {
            let mut velocity = Vec3::ZERO;
            let mut height = f32::INFINITY;
            let mut slid = 0;
            for _ in 0..600 {
                // The body pushes against the slope in every tick.
                velocity += Vec3::new(5.0, -9.81, 0.0) / 64.0;
                let slide = walker.go(query, velocity / 64.0);
                assert!(walker.pose.translation.y <= height + 1e-4);
                height = walker.pose.translation.y;
                slid += u32::from(slide.ground.is_none() && !slide.hits().is_empty());
                velocity = slide.clip_velocity(velocity);
            }
            assert!(slid > 20, "it slid for {slid} ticks");
            assert!(walker.settings.ground.is_some(), "it reached the floor");
            let bottom = half_height(&walker.body) + SKIN;
            assert!((walker.pose.translation.y - bottom).abs() < 1e-2);
        });
    }
}

#[test]
fn steps_are_climbed_up_to_their_height() {
    for body in bodies() {
        let stairs = (0..10).map(|step| {
            let size = Vec3::new(40.0 - step as f32, 0.25, 50.0);
            let right = Vec3::new(0.5 * step as f32, 0.25 * step as f32 - 0.125, 0.0);
            (solid(&body, size), Transform::from_translation(right))
        });
        // The steps begin at x = -20 + step, and the highest top is at 2.25.
        let mut level = Level::new(stairs);
        for (step_height, top) in [(0.3, 2.25), (0.2, 0.0)] {
            for speed in [0.01, 0.1, 0.4] {
                let mut walker = Walker::new(body.clone(), Vec3::new(-19.6, 1.5, 0.0));
                walker.settings.step_height = step_height;
                level.ask(|query| {
                    walker.land(query);
                    for tick in 0..(14.0 / speed) as u32 {
                        let slide = walker.go(query, Vec3::new(speed, -0.05, 0.0));
                        assert!(
                            slide.ground.is_some(),
                            "tick {tick} at {}",
                            walker.pose.translation
                        );
                    }
                    let expected = top + half_height(&walker.body) + SKIN;
                    let y = walker.pose.translation.y;
                    assert!(
                        (y - expected).abs() < 1e-3,
                        "{y}, not {expected}, at {speed}"
                    );
                    // The body walks down again.
                    for tick in 0..(14.0 / speed) as u32 {
                        let slide = walker.go(query, Vec3::new(-speed, -0.05, 0.0));
                        let x = walker.pose.translation.x;
                        assert!(slide.ground.is_some() || x < -19.9, "tick {tick} at {x}");
                    }
                });
            }
        }
    }
}

#[test]
fn a_ceiling_stops_a_jump_and_not_the_run() {
    for body in bodies() {
        let slab = solid(&body, Vec3::new(40.0, 2.0, 40.0));
        let top = 2.0 * half_height(&body) + 1.0;
        let mut level = Level::new([(slab.clone(), at(0.0, -1.0)), (slab, at(0.0, top + 1.0))]);
        let mut walker = Walker::new(body, Vec3::new(0.0, 1.1, 0.0));
        level.ask(|query| {
            walker.land(query);
            let start = walker.pose.translation;
            let slide = walker.go(query, Vec3::new(2.0, 4.0, 0.0));
            near(slide.translation, Vec3::new(2.0, 1.0 - 2.0 * SKIN, 0.0));
            assert!(slide.ground.is_none());
            assert_eq!(slide.clip_velocity(Vec3::new(2.0, 4.0, 0.0)), Vec3::X * 2.0);
            walker.go(query, Vec3::NEG_Y * 3.0);
            near(walker.pose.translation, start + Vec3::X * 2.0);
        });
    }
}

/// A lift moves up and down by 40 units, and the body stands on it in every tick.
#[test]
fn a_lift_carries_a_body() {
    for body in bodies() {
        let mut level = Level::new([]);
        let lift = (solid(&body, Vec3::new(4.0, 1.0, 4.0)), at(0.0, -0.5));
        let lift = level.world().spawn(lift).id();
        headbutt::sync_now(level.world());
        let mut walker = Walker::new(body, Vec3::new(0.25, 2.0, 0.0));
        level.ask(|query| walker.land(query));
        let gap = |walker: &Walker, height: f32| {
            walker.pose.translation.y - half_height(&walker.body) - height
        };
        for tick in 0..400 {
            let angle = tick as f32 * (2.0 * PI / 400.0);
            let height = 40.0 * angle.sin();
            let aside = 3.0 * (3.0 * angle).sin();
            *level
                .world()
                .get_mut::<Transform>(lift)
                .expect("it is there") = at(aside, height - 0.5);
            headbutt::sync_now(level.world());
            let slide = level.ask(|query| walker.go(query, Vec3::NEG_Y * 0.01));
            assert!(slide.ground.is_some(), "tick {tick}");
            assert!(
                (gap(&walker, height) - SKIN).abs() < SKIN / 2.0,
                "tick {tick}"
            );
            let x = walker.pose.translation.x;
            assert!((x - aside - 0.25).abs() < 1e-3, "tick {tick}: {x}");
        }
    }
}

#[test]
fn a_turntable_carries_a_body_around() {
    let mut level = Level::new([]);
    let table = level
        .world()
        .spawn((Collider::cuboid(20.0, 1.0, 20.0), at(0.0, -0.5)))
        .id();
    headbutt::sync_now(level.world());
    let mut walker = Walker::new(Collider::capsule_3d(0.5, 1.0), Vec3::new(5.0, 2.0, 0.0));
    level.ask(|query| walker.land(query));
    let turn = Quat::from_rotation_y(0.05);
    let mut expected = walker.pose.translation;
    for _ in 0..100 {
        let mut pose = level
            .world()
            .get_mut::<Transform>(table)
            .expect("it is there");
        pose.rotate(turn);
        expected = turn * expected;
        headbutt::sync_now(level.world());
        level.ask(|query| {
            let ground = walker.settings.ground.expect("it stands");
            let carried = query.carry(&ground);
            near(walker.pose.translation + carried, expected);
            walker.go(query, Vec3::NEG_Y * 0.01);
        });
        near(walker.pose.translation, expected);
    }
    level.world().despawn(table);
    headbutt::sync_now(level.world());
    let ground = walker.settings.ground.expect("it stood");
    assert_eq!(level.ask(|query| query.carry(&ground)), Vec3::ZERO);
}

#[test]
fn a_platform_that_rises_into_a_ceiling_is_a_press() {
    let mut level = Level::new([(Collider::rectangle(40.0, 2.0), at(0.0, 3.0))]);
    let floor = level
        .world()
        .spawn((Collider::rectangle(40.0, 8.0), at(0.0, -4.0)))
        .id();
    headbutt::sync_now(level.world());
    let mut walker = Walker::new(crate_2d(), Vec3::new(0.0, 0.6, 0.0));
    let mut move_floor = |level: &mut Level, y: f32| {
        level
            .world()
            .get_mut::<Transform>(floor)
            .expect("it is there")
            .translation
            .y = y;
        headbutt::sync_now(level.world());
        level.ask(|query| walker.go(query, Vec3::NEG_Y * 0.01))
    };
    assert!(!move_floor(&mut level, -3.5).is_stuck);
    assert!(move_floor(&mut level, -2.5).is_stuck);
    assert!(!move_floor(&mut level, -3.5).is_stuck);
}

#[test]
fn three_walls_of_a_corner_stop_a_body() {
    let walls = [Vec3::X, Vec3::Y, Vec3::Z].map(|normal| {
        (
            Collider::half_space(normal),
            Transform::from_rotation(Quat::from_rotation_y(0.3)),
        )
    });
    let mut level = Level::new(walls);
    for up in [Vec3::Y, Vec3::ZERO] {
        let turn = Quat::from_rotation_y(0.3);
        let mut walker = Walker::new(Collider::sphere(0.5), turn * Vec3::splat(3.0));
        walker.settings.up = up;
        level.ask(|query| {
            for _ in 0..50 {
                walker.go(query, turn * Vec3::new(-1.0, -1.5, -0.5));
                assert!(walker.room(query) > 0.4 * SKIN);
            }
            near(walker.pose.translation, turn * Vec3::splat(0.5 + SKIN));
            walker.go(query, turn * Vec3::new(1.0, 2.0, 3.0));
            near(
                walker.pose.translation,
                turn * Vec3::new(1.5, 2.5, 3.5) + turn * Vec3::splat(SKIN),
            );
        });
    }
}

/// Far from the origin, f32 rounds positions by more than the default skin.
#[test]
fn the_gap_survives_rounding_far_from_the_origin() {
    for far in [0.0, 1e3, 1e5] {
        let floor = (Collider::cuboid(50.0 + far, 2.0, 50.0), at(far, far - 1.0));
        let wall = (Collider::cuboid(2.0, 50.0, 50.0), at(far + 5.0, far));
        let mut level = Level::new([floor, wall]);
        let mut walker = Walker::new(
            Collider::cuboid(1.0, 1.0, 1.0),
            Vec3::new(far, far + 2.0, 0.0),
        );
        level.ask(|query| {
            walker.land(query);
            for tick in 0..200 {
                let slide = walker.go(query, Vec3::new(0.1, -0.1, 0.02));
                assert!(slide.ground.is_some() && !slide.is_stuck, "tick {tick}");
                assert!(walker.room(query) > 0.0, "tick {tick} at {far}");
            }
            let x = walker.pose.translation.x - far;
            assert!((x - 3.5).abs() < 2.0 * SKIN + 4e-6 * far, "{x}");
        });
    }
}

/// A filter lets a body pass from below.
#[test]
fn a_one_way_platform_is_a_filter() {
    let mut level = Level::new([(Collider::rectangle(20.0, 2.0), at(0.0, -1.0))]);
    let platform = level
        .world()
        .spawn((Collider::rectangle(4.0, 0.5), at(0.0, 1.75)))
        .id();
    headbutt::sync_now(level.world());
    let (body, settings) = (crate_2d(), MoveAndSlideSettings::default());
    level.ask(|query| {
        let (mut pose, mut velocity, mut landed) = (at(0.0, 0.6), 12.0_f32, 0);
        for _ in 0..200 {
            velocity -= 20.0 / 64.0;
            let is_above = pose.translation.y - 0.5 >= 2.0;
            let is_solid = |entity| entity != platform || is_above && velocity <= 0.0;
            let filter = SpatialQueryFilter::default().with_predicate(&is_solid);
            let fall = Vec2::Y * (velocity / 64.0);
            let slide = query.move_and_slide(&body, pose, fall, &settings, &filter);
            pose.translation += slide.translation;
            if slide.ground.is_some() {
                assert_eq!(slide.ground.map(|ground| ground.entity), Some(platform));
                landed += 1;
                velocity = 0.0;
            }
        }
        assert!(landed > 100);
        near(pose.translation, Vec3::Y * (2.5 + SKIN));
    });
}

/// A body that is placed in a floor is moved out before it moves.
#[test]
fn overlaps_are_resolved_first() {
    for body in bodies() {
        let tiles = [-8.0, 8.0].map(|x| (solid(&body, Vec3::splat(16.0)), at(x, -8.0)));
        let mut level = Level::new(tiles);
        let mut walker = Walker::new(body, Vec3::new(0.125, 0.25, 0.0));
        level.ask(|query| {
            let slide = walker.go(query, Vec3::new(1.0, -1.0, 0.0));
            assert!(!slide.is_stuck && slide.ground.is_some());
            assert!(walker.room(query) > 0.4 * SKIN);
            assert!(walker.pose.translation.x > 1.0);
        });
    }
}

#[test]
fn invalid_input_moves_nothing() {
    let mut level = Level::new([(Collider::half_space(Vec3::Y), Transform::IDENTITY)]);
    level.ask(|query| {
        let odd = [
            (Collider::sphere(0.5), Vec3::NAN, Vec3::X),
            (Collider::half_space(Vec3::X), Vec3::ZERO, Vec3::X),
            (Collider::default(), Vec3::ZERO, Vec3::X),
            (Collider::sphere(0.5), Vec3::Y, Vec3::NAN),
            (Collider::sphere(0.5), Vec3::Y, Vec3::INFINITY),
        ];
        for (body, position, translation) in odd {
            let slide = Walker::new(body, position).go(query, translation);
            assert_eq!(slide.translation, Vec3::ZERO, "{position} by {translation}");
        }
        let mut walker = Walker::new(Collider::sphere(0.5), Vec3::Y);
        walker.settings = MoveAndSlideSettings {
            up: Vec3::NAN,
            max_slope: f32::NAN,
            step_height: f32::NAN,
            snap_distance: Some(f32::NAN),
            skin: Some(f32::NAN),
            max_touches: 0,
            ground: None,
        };
        assert!(walker.go(query, Vec3::splat(-3.0)).translation.is_finite());
        assert!(walker.room(query) > 0.0);
    });
}

#[test]
fn the_longest_translations_have_finite_results() {
    let slope = ramp(
        Collider::cuboid(60.0, 2.0, 50.0),
        0.5,
        Vec3::new(30.0, 1.0, 25.0),
    );
    let wall = (Collider::cuboid(2.0, 50.0, 50.0), at(-9.0, 0.0));
    let mut level = Level::new([slope, wall, (Collider::half_space(Vec3::Y), at(0.0, -3.0))]);
    let longest = [
        Vec3::X,
        Vec3::NEG_ONE,
        Vec3::new(1.0, -1.0, 1.0),
        Vec3::Y,
        Vec3::ONE,
    ];
    level.ask(|query| {
        for translation in longest.map(|direction| direction * f32::MAX) {
            for up in [Vec3::Y, Vec3::ZERO, Vec3::splat(f32::MAX)] {
                for length in [0.0, f32::MAX] {
                    let mut walker = Walker::new(Collider::sphere(0.5), Vec3::new(10.0, 7.0, 0.0));
                    walker.settings.up = up;
                    walker.settings.step_height = length;
                    walker.settings.snap_distance = Some(length);
                    walker.settings.skin = Some(length);
                    let slide = walker.go(query, translation);
                    assert!(slide.translation.is_finite(), "{translation}: {slide:?}");
                    assert!(slide.clip_velocity(translation).is_finite());
                    let hits = slide.hits().iter();
                    assert!(
                        hits.clone()
                            .all(|hit| hit.motion.is_finite() && hit.point.is_finite())
                    );
                }
            }
        }
    });
}

/// At 45 degrees, a wall takes half of the motion.
#[test]
fn a_push_against_a_wall_moves_along_it() {
    let turn = Quat::from_rotation_y(45_f32.to_radians());
    let wall = (
        Collider::cuboid(2.0, 50.0, 80.0),
        Transform::from_rotation(turn),
    );
    let mut level = Level::new([wall]);
    let away = turn * Vec3::NEG_X;
    let mut walker = Walker::new(Collider::capsule_3d(0.5, 1.0), away * (1.5 + SKIN));
    level.ask(|query| {
        let start = walker.pose.translation;
        for _ in 0..20 {
            walker.go(query, Vec3::X);
        }
        let along = turn * Vec3::Z;
        near(
            walker.pose.translation,
            start + along * (20.0 * FRAC_1_SQRT_2),
        );
    });
}

/// The path up beside the wall is the line in which the two planes meet.
#[test]
fn a_body_walks_uphill_along_an_overhanging_wall() {
    let slope = Quat::from_rotation_x(-30_f32.to_radians()) * Vec3::Y;
    let wall = Quat::from_rotation_z(20_f32.to_radians()) * Vec3::NEG_X;
    assert!(slope.z < 0.0 && wall.y < 0.0);
    let planes = [slope, wall].map(|normal| (Collider::half_space(normal), Transform::IDENTITY));
    let mut level = Level::new(planes);
    let start = (slope + wall) / (1.0 + slope.dot(wall));
    let mut walker = Walker::new(Collider::sphere(0.5), start);
    let uphill = Vec3::new(0.0, 30_f32.to_radians().sin(), 30_f32.to_radians().cos());
    level.ask(|query| {
        let step = Vec3::new(0.1, -0.01, 0.1);
        for _ in 0..20 {
            walker.go(query, step);
        }
        let start = walker.pose.translation;
        for _ in 0..20 {
            assert!(walker.go(query, step).ground.is_some());
        }
        let line = wall.cross(slope).normalize();
        let expected = line * line.dot(uphill) * (20.0 * step.z);
        let moved = walker.pose.translation - start;
        assert!(moved.distance(expected) < 1e-3, "{moved}, not {expected}");
    });
}

#[test]
fn an_infinite_snap_distance_leads_down_from_every_height() {
    let ledge = (Collider::rectangle(10.0, 10.0), at(-5.0, 0.0));
    let mut level = Level::new([ledge, (Collider::half_space(Vec2::Y), Transform::IDENTITY)]);
    level.ask(|query| {
        for (snap_distance, height) in [(Some(f32::INFINITY), 0.5), (Some(1.0), 5.5)] {
            let mut walker = Walker::new(Collider::circle(0.5), Vec3::new(-0.5, 6.0, 0.0));
            walker.land(query);
            walker.settings.snap_distance = snap_distance;
            walker.go(query, Vec3::X * 2.0);
            let position = walker.pose.translation;
            assert!((position.y - height).abs() < 2.0 * SKIN, "{position}");
        }
    });
}

#[test]
fn the_number_of_touches_is_bounded() {
    // The body is inside of a polygon of 360 sides.
    let side = |degrees: u16| {
        let outward = Vec2::from_angle(f32::from(degrees).to_radians());
        let pose = Transform::from_translation((10.0 * outward).extend(0.0));
        (Collider::half_space(-outward), pose)
    };
    let mut level = Level::new((0..360).map(side));
    let mut walker = Walker::new(Collider::circle(0.5), Vec3::X * 9.0);
    walker.settings.up = Vec3::ZERO;
    level.ask(|query| {
        for (max_touches, expected) in [(32, 32), (u32::MAX, 64)] {
            walker.settings.max_touches = max_touches;
            assert_eq!(walker.go(query, Vec3::Y * 100.0).hits().len(), expected);
            walker.pose.translation = Vec3::X * 9.0;
        }
    });
}
