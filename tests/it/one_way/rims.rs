//! Bodies beside the rim of a platform, where a touch from above and a touch from the side have the
//! same normals.

use bevy::prelude::*;
use headbutt::prelude::*;

use crate::support::{app, tick};

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
            // The flanks do not end a tick exactly at the corner.
            let at = Vec2::new(0.71, feet + 1.003);
            let body = body(&mut app, collider.clone(), at);
            assert!(!meets(&mut app, body, Vec2::new(-0.08, 0.0), 30), "{feet}");
        }
    }
}

#[test]
fn a_body_that_comes_from_above_lands_on_the_rim() {
    for collider in [Collider::circle(0.5), Collider::rectangle(1.0, 1.0)] {
        // Straight down, and from outside past the corner.
        for (x, step) in [(0.3, Vec2::new(0.0, -0.1)), (1.3, Vec2::new(-0.2, -0.1))] {
            let mut app = app();
            platform(&mut app, Vec2::new(8.0, 0.5), Vec2::new(-4.0, -0.25));
            let body = body(&mut app, collider.clone(), Vec2::new(x, 1.02));
            assert!(meets(&mut app, body, step, 7), "{x}");
        }
    }
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
