//! Bodies beside the rim of a platform, where a touch from above and a touch from the side have the
//! same normals.

use bevy::prelude::*;
use headbutt::prelude::*;

use crate::{
    spatial::ask,
    support::{app, assert_near, tick},
};

/// Moves a body `ticks` times by `step`. Returns `true` if it met any collider.
fn meets(app: &mut App, body: Entity, step: Vec2, ticks: usize) -> bool {
    (0..ticks).any(|_| {
        let mut pose = app.world_mut().get_mut::<Transform>(body).expect("a pose");
        pose.translation += step.extend(0.0);
        !tick(app).messages.is_empty()
    })
}

fn platform(app: &mut App, size: Vec2, center: Vec2) {
    let pose = Transform::from_translation(center.extend(0.0));
    let collider = Collider::rectangle(size.x, size.y);
    app.world_mut().spawn((collider, pose, OneWay::default()));
}

fn body(app: &mut App, collider: Collider, at: Vec2) -> Entity {
    let pose = Transform::from_translation(at.extend(0.0));
    let body = app.world_mut().spawn((collider, pose)).id();
    tick(app);
    body
}

#[test]
fn a_body_that_walks_into_the_side_passes_whatever_its_flank() {
    let taper = [(-0.4, -1.0), (0.4, -1.0), (-0.5, 1.0), (0.5, 1.0)].map(Vec2::from);
    let slanted = Collider::rectangle(0.8, 2.0);
    let flanks = [
        Collider::rectangle(0.8, 2.0),
        Collider::convex_hull(taper),
        Collider::from(Ellipse::new(0.4, 1.0)),
        Collider::capsule_2d(0.4, 1.2),
        Collider::compound([(
            Transform::from_rotation(Quat::from_rotation_z(0.001)),
            slanted,
        )]),
    ];
    for collider in flanks {
        for feet in [-0.3, -0.9, -1.2] {
            let mut app = app();
            platform(&mut app, Vec2::new(8.0, 0.5), Vec2::new(-4.0, -0.25));
            let at = Vec2::new(0.7, feet + 1.0);
            let body = body(&mut app, collider.clone(), at);
            assert!(!meets(&mut app, body, Vec2::new(-0.08, 0.0), 30), "{feet}");
        }
    }
}

/// The flank touches the corner where the center of the circle is at x = 0.3 and y = 0.4.
#[test]
fn a_round_body_whose_flank_ends_a_tick_at_the_rim_passes() {
    for step in [Vec2::new(-0.1, 0.0), Vec2::new(0.0, -0.07)] {
        let mut app = app();
        platform(&mut app, Vec2::new(8.0, 0.5), Vec2::new(-4.0, -0.25));
        let at = Vec2::new(0.3, 0.4) - step;
        let body = body(&mut app, Collider::circle(0.5), at);
        assert!(!meets(&mut app, body, step, 6), "{step}");
    }
}

/// The tops of the tiles are at y = 0. The feet rise to a height below it.
#[test]
fn a_round_body_half_way_through_a_row_of_tiles_is_not_caught_by_the_next_one() {
    let bodies = [
        Collider::circle(0.5),
        Collider::capsule_2d(0.3, 0.4),
        Collider::from(Ellipse::new(0.4, 0.5)),
    ];
    for collider in bodies {
        for feet in [-0.05, -0.1, -0.3, -0.45] {
            for step in [(0.07, 0.0), (0.07, -0.004), (0.1, -0.01), (-0.03, -0.002)] {
                let mut app = app();
                for x in -10..10 {
                    platform(&mut app, Vec2::new(1.0, 0.5), Vec2::new(x as f32, -0.25));
                }
                let start = Vec2::new(0.0, feet - 1.5);
                let body = body(&mut app, collider.clone(), start);
                assert!(!meets(&mut app, body, Vec2::Y * 0.1, 20));
                assert!(
                    !meets(&mut app, body, Vec2::from(step), 70),
                    "{feet} {step:?}"
                );
            }
        }
    }
}

#[test]
fn a_body_that_comes_from_above_lands_on_the_rim() {
    for collider in [Collider::circle(0.5), Collider::rectangle(1.0, 1.0)] {
        // Straight down, and from outside past the corner.
        for (x, step) in [(0.1, Vec2::new(0.0, -0.1)), (1.0, Vec2::new(-0.2, -0.1))] {
            let mut app = app();
            platform(&mut app, Vec2::new(8.0, 0.5), Vec2::new(-4.0, -0.25));
            let body = body(&mut app, collider.clone(), Vec2::new(x, 1.02));
            assert!(meets(&mut app, body, step, 7), "{x}");
        }
    }
}

/// The center of the ball is beside the platform, so its lowest point passes the top first.
#[test]
fn a_ball_that_slowly_falls_past_the_rim_passes_in_ticks_and_in_casts() {
    let mut app = app();
    platform(&mut app, Vec2::new(8.0, 0.5), Vec2::new(-4.0, -0.25));
    let ball = Collider::circle(0.5);
    let entity = body(&mut app, ball.clone(), Vec2::new(0.3, 0.6));
    assert!(!meets(&mut app, entity, Vec2::NEG_Y * 0.05, 30));
    let is_blocked = ask(app.world_mut(), |query| {
        let motion = Motion::linear(Transform::from_xyz(0.3, 0.45, 0.0), Vec3::NEG_Y);
        let filter = SpatialQueryFilter::of(entity);
        query.is_shape_blocked(&ball, motion, default(), &filter)
    });
    assert!(!is_blocked);
}

#[test]
fn a_concave_body_half_way_through_is_never_lifted_by_its_lower_half() {
    for step in [0.1, 0.07, 0.0625, 0.3] {
        let mut app = app();
        platform(&mut app, Vec2::new(8.0, 0.2), Vec2::new(0.0, -0.1));
        let balls = [1.0, -1.0].map(|y| (Vec2::Y * y, Collider::circle(0.5)));
        let body = body(&mut app, Collider::compound(balls), Vec2::new(0.0, -2.0));
        let ticks = (1.7 / step) as usize;
        assert!(!meets(&mut app, body, Vec2::Y * step, ticks), "{step}");
        assert!(!meets(&mut app, body, Vec2::NEG_Y * step, ticks), "{step}");
    }
}

/// The tip of the ramp is at the origin, and its highest point is far above.
#[test]
fn a_ball_that_falls_onto_the_tip_of_a_ramp_lands_in_ticks_and_in_casts() {
    for (feet, lands) in [(0.05, true), (-0.03, false)] {
        let mut app = app();
        let ramp = [(0.0, 0.0), (10.0, 5.0), (10.0, 0.0)].map(Vec2::from);
        let ramp = (Collider::convex_hull(ramp), OneWay::default());
        app.world_mut().spawn((ramp, Transform::default()));
        let ball = Collider::circle(0.5);
        let start = Vec2::new(-0.25, feet + 0.5);
        let entity = body(&mut app, ball.clone(), start);
        let hit = ask(app.world_mut(), |query| {
            let start = Transform::from_translation(start.extend(0.0));
            let motion = Motion::linear(start, Vec3::NEG_Y);
            let filter = SpatialQueryFilter::of(entity);
            query.cast_shape(&ball, motion, default(), &filter)
        });
        let height = 0.1875_f32.sqrt();
        assert_eq!(hit.is_some(), lands, "{feet}");
        if let Some(hit) = hit {
            assert_near(hit.hit.touching as f32, start.y - height, 4.0);
        }
        // The tick ends a little below the height at which the ball touches the tip.
        let step = Vec2::Y * (height - 0.01 - start.y);
        assert_eq!(meets(&mut app, entity, step, 1), lands, "{feet}");
    }
}

/// The upper side ends at the origin. The side below it is steeper than a slope.
#[test]
fn a_body_that_walks_into_a_steep_side_below_the_rim_passes() {
    let side = [(-8.0, 0.0), (0.0, 0.0), (0.02, -0.5), (-8.0, -0.5)].map(Vec2::from);
    let mut app = app();
    let platform = (Collider::convex_hull(side), OneWay::default());
    app.world_mut().spawn((platform, Transform::default()));
    let body = body(&mut app, Collider::rectangle(0.8, 2.0), Vec2::new(0.7, 0.7));
    assert!(!meets(&mut app, body, Vec2::new(-0.08, 0.0), 30));
}

/// The rim is 0.05 below the ball before the tick. It is higher when it touches the ball.
#[test]
fn the_rim_of_a_platform_that_turns_up_lifts_a_ball_that_was_above_it() {
    for (gap, lands) in [(0.05, true), (-0.05, false)] {
        let mut app = app();
        let pose = Transform::from_xyz(0.0, -0.25, 0.0);
        let platform = (Collider::rectangle(8.0, 0.5), pose, OneWay::default());
        let platform = app.world_mut().spawn(platform).id();
        let ball = body(&mut app, Collider::circle(0.5), Vec2::new(4.3, gap + 0.5));
        app.world_mut().entity_mut(ball).insert(Swept);
        tick(&mut app);
        let mut pose = app.world_mut().get_mut::<Transform>(platform);
        pose.as_mut().expect("a pose").rotation = Quat::from_rotation_z(0.5);
        let events = tick(&mut app).messages;
        assert_eq!(events.iter().any(|hit| hit.started()), lands, "{events:?}");
    }
}

/// A ball that is grown to a radius of 1 touches the rim in both places.
#[test]
fn the_contact_planes_at_a_rim_are_those_that_a_fall_by_the_gap_would_meet() {
    let mut app = app();
    platform(&mut app, Vec2::new(8.0, 0.5), Vec2::new(-4.0, -0.25));
    let ball = Collider::circle(0.5);
    let entity = body(&mut app, ball.clone(), Vec2::new(9.0, 9.0));
    // The contact is the one after the grown ball has risen to this height.
    let height = 0.91_f32.sqrt();
    let gap = 0.5 - (height - 0.55) * height;
    for (at, gap) in [((0.3, 0.55), Some(gap)), ((0.9, 0.05), None)] {
        let mut planes = Vec::new();
        ask(app.world_mut(), |query| {
            let pose = Transform::from_translation(Vec2::from(at).extend(0.0));
            let filter = SpatialQueryFilter::of(entity);
            query.contact_planes(&ball, pose, 0.5, &filter, &mut planes);
        });
        assert_eq!(planes.len(), usize::from(gap.is_some()), "{at:?}");
        for (plane, gap) in planes.iter().zip(gap) {
            assert_near(plane.gap, gap, 8.0);
        }
    }
}
