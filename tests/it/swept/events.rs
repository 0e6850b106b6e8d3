//! The events of a path, in order.

use bevy::prelude::*;
use headbutt::{Collisions, prelude::*};

use super::{move_to, place, summary};
use crate::support::{Dimension, app, tick, watch};

/// The radius of the bullet.
const RADIUS: f32 = 0.1;

/// The size of a wall.
const SIZE: f32 = 0.01;

/// The bullet's pose before a shot.
const START: f32 = -5.0;

/// Returns the time of the touch of a wall at x, on the way to x = 5.
fn time_to(x: f32) -> f32 {
    (x - 0.5 * SIZE - RADIUS - START) / 10.0
}

fn wall(app: &mut App, dimension: Dimension, x: f32) -> Entity {
    let pose = Transform::from_xyz(x, 0.0, 0.0);
    app.world_mut().spawn((dimension.block(SIZE), pose)).id()
}

/// Spawns a swept bullet, and runs a tick.
fn bullet(app: &mut App, dimension: Dimension) -> Entity {
    let pose = Transform::from_xyz(START, 0.0, 0.0);
    let parts = (
        dimension.ball(RADIUS),
        pose,
        Swept,
        CollidingEntities::default(),
    );
    let bullet = app.world_mut().spawn(parts).id();
    assert_eq!(tick(app).messages, []);
    bullet
}

/// Asserts that the events have the expected phases and times, up to the rounding of f32.
fn assert_events(found: &[CollisionEvent], expected: &[(CollisionPhase, f32)]) {
    let phases = found.iter().map(|hit| hit.phase);
    assert!(
        phases.eq(expected.iter().map(|(phase, _)| *phase)),
        "{found:#?}"
    );
    for (hit, (_, time)) in found.iter().zip(expected) {
        assert!(
            (hit.time() - time).abs() < 1e-6,
            "{} is not {time}",
            hit.time()
        );
    }
}

const STARTED: CollisionPhase = CollisionPhase::Started;
const SEPARATED: CollisionPhase = CollisionPhase::Ended(EndReason::Separated);

#[test]
fn a_bullet_that_flies_through_starts_and_ends_in_one_tick() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let wall = wall(&mut app, dimension, 0.0);
        let bullet = bullet(&mut app, dimension);
        for entity in [bullet, wall] {
            watch(app.world_mut(), entity);
        }
        place(&mut app, bullet, Transform::from_xyz(5.0, 0.0, 0.0));
        let record = tick(&mut app);
        let time = time_to(0.0);
        assert_events(&record.messages, &[(STARTED, time), (SEPARATED, time)]);
        for entity in [bullet, wall] {
            assert_events(&record.at(entity), &[(STARTED, time), (SEPARATED, time)]);
        }
        let hit = record.messages[0].seen_from(bullet).expect("the bullet");
        assert!(hit.normal.distance(Vec3::X) < 1e-6 && hit.depth < 1e-6);
        assert!((hit.translation().x - (-0.5 * SIZE - RADIUS)).abs() < 1e-6);
        assert!((hit.point().x + 0.5 * SIZE).abs() < 1e-6, "{}", hit.point());
        assert!(app.world().resource::<Collisions>().is_empty());
        let touched = app.world().get::<CollidingEntities>(bullet);
        assert!(touched.is_some_and(CollidingEntities::is_empty));
        assert!(tick(&mut app).is_empty());
    }
}

#[test]
fn a_ball_that_is_not_swept_flies_through_a_wall_unnoticed() {
    let mut app = app();
    wall(&mut app, Dimension::D3, 0.0);
    let bullet = bullet(&mut app, Dimension::D3);
    app.world_mut().entity_mut(bullet).remove::<Swept>();
    assert_eq!(move_to(&mut app, bullet, 5.0), []);
}

#[test]
fn a_bullet_that_stays_reports_the_first_touch_and_keeps_the_contact_at_the_end() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let wall = wall(&mut app, dimension, 0.0);
        let bullet = bullet(&mut app, dimension);
        let started = move_to(&mut app, bullet, 0.0);
        let time = 2.0 * time_to(0.0);
        assert_events(&started, &[(STARTED, time)]);
        assert!(started[0].depth < 1e-6);
        let collisions = app.world().resource::<Collisions>();
        let now = collisions.between(bullet, wall).expect("they touch");
        assert_eq!(now.time(), 1.0);
        assert!((now.depth - RADIUS - 0.5 * SIZE).abs() < 1e-6);
        let rest = tick(&mut app).messages;
        assert_events(&rest, &[(CollisionPhase::Ongoing, 1.0)]);
        assert_eq!(rest[0].depth, now.depth);
    }
}

#[test]
fn a_contact_that_leads_to_the_far_side_is_ongoing_before_it_ends() {
    for (ongoing, is_sent) in [
        (OngoingEvents::EveryTick, true),
        (OngoingEvents::OnChange, true),
        (OngoingEvents::Never, false),
    ] {
        let mut app = app();
        app.insert_resource(ongoing);
        wall(&mut app, Dimension::D3, 0.0);
        let bullet = bullet(&mut app, Dimension::D3);
        assert_eq!(move_to(&mut app, bullet, -RADIUS - 0.49 * SIZE).len(), 1);
        let left = move_to(&mut app, bullet, 5.0);
        let through = [(CollisionPhase::Ongoing, 0.0), (SEPARATED, 0.0)];
        assert_events(&left, if is_sent { &through } else { &through[1..] });
    }
}

#[test]
fn a_contact_that_leaves_the_way_it_came_only_ends() {
    let mut app = app();
    wall(&mut app, Dimension::D3, 0.0);
    let bullet = bullet(&mut app, Dimension::D3);
    assert_eq!(move_to(&mut app, bullet, -RADIUS - 0.4 * SIZE).len(), 1);
    assert_events(&move_to(&mut app, bullet, -5.0), &[(SEPARATED, 1.0)]);
}

#[test]
fn the_hits_of_a_path_come_in_order_after_all_other_events() {
    let mut app = app();
    let order = [2.0, -1.0, 3.0, 1.0, -3.0, 0.0, -2.0];
    let walls = order.map(|x| wall(&mut app, Dimension::D3, x));
    let bullet = bullet(&mut app, Dimension::D3);
    // These colliders are spawned last, so they are last in the order of entities.
    for _ in 0..2 {
        let pose = Transform::from_xyz(0.0, 50.0, 0.0);
        app.world_mut().spawn((Collider::sphere(1.0), pose));
    }
    let messages = move_to(&mut app, bullet, 5.0);
    let other = messages.first().expect("the two balls");
    assert!(other.started() && other.time() == 1.0 && other.seen_from(bullet).is_none());
    let mut by_x: Vec<_> = order.into_iter().zip(walls).collect();
    by_x.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let expected = by_x
        .into_iter()
        .flat_map(|(_, wall)| [(wall, true), (wall, false)]);
    let found = messages[1..].iter().map(|hit| {
        let hit = hit.seen_from(bullet).expect("a hit of the bullet");
        (hit.other, hit.started())
    });
    assert!(found.eq(expected), "{messages:#?}");
}

#[test]
fn two_bullets_that_swap_places_meet_in_the_middle() {
    let mut app = app();
    let one = bullet(&mut app, Dimension::D2);
    let other = (
        Collider::circle(RADIUS),
        Swept,
        Transform::from_xyz(-START, 0.0, 0.0),
    );
    let other = app.world_mut().spawn(other).id();
    assert_eq!(tick(&mut app).messages, []);
    place(&mut app, one, Transform::from_xyz(-START, 0.0, 0.0));
    place(&mut app, other, Transform::from_xyz(START, 0.0, 0.0));
    let time = 0.5 - RADIUS / (-2.0 * START);
    assert_events(
        &tick(&mut app).messages,
        &[(STARTED, time), (SEPARATED, time)],
    );
}

#[test]
fn a_fast_wall_hits_a_bullet_at_rest() {
    let mut app = app();
    let wall = wall(&mut app, Dimension::D3, 0.0);
    let bullet = bullet(&mut app, Dimension::D3);
    let hits = move_to(&mut app, wall, 2.0 * START);
    let time = time_to(0.0);
    assert_events(&hits, &[(STARTED, time), (SEPARATED, time)]);
    let hit = hits[0].seen_from(bullet).expect("the bullet");
    assert!((hit.translation().x - START).abs() < 1e-6);
}

#[test]
fn a_rod_that_turns_through_a_floor_hits_it() {
    let mut app = app();
    let floor = (
        Collider::half_space(Vec3::Y),
        Transform::from_xyz(7.0, -1.0, 3.0),
    );
    app.world_mut().spawn(floor);
    let rod = (Collider::capsule_3d(0.1, 4.0), Swept);
    let turned =
        |degrees: f32| Transform::from_rotation(Quat::from_rotation_z(degrees.to_radians()));
    let rod = app.world_mut().spawn((rod, turned(80.0))).id();
    assert_eq!(tick(&mut app).messages, []);
    // The rod's end is 2 cos(angle) + 0.1 below the center, which is 1 at 63.26 degrees.
    place(&mut app, rod, turned(-80.0));
    let time = (80.0 - 0.45_f32.acos().to_degrees()) / 160.0;
    let messages = tick(&mut app).messages;
    assert_events(&messages, &[(STARTED, time), (SEPARATED, time)]);
}

#[test]
fn a_rod_that_turns_hits_a_floor_that_sinks() {
    let mut app = app();
    let floor = (
        Collider::half_space(Vec3::Y),
        Transform::from_xyz(0.0, -1.0, 0.0),
    );
    let floor = app.world_mut().spawn(floor).id();
    let rod = (Collider::capsule_3d(0.1, 4.0), Swept);
    let turned =
        |degrees: f32| Transform::from_rotation(Quat::from_rotation_z(degrees.to_radians()));
    let rod = app.world_mut().spawn((rod, turned(80.0))).id();
    assert_eq!(tick(&mut app).messages, []);
    place(&mut app, rod, turned(-80.0));
    // After half of the tick, the rod's end is 2.1 below its center, and the floor is 2 below.
    place(&mut app, floor, Transform::from_xyz(0.0, -3.0, 0.0));
    let messages = tick(&mut app).messages;
    let phases = messages.iter().map(|hit| hit.phase);
    assert!(phases.eq([STARTED, SEPARATED]), "{messages:?}");
    let time = messages[0].time();
    let height = 1.0 + 2.0 * time - 0.1 - 2.0 * (80.0 - 160.0 * time).to_radians().cos();
    assert!(height.abs() < 1e-5, "{time}: {height}");
}

/// The motions of the rods are equal, but the rods move relative to each other.
#[test]
fn two_rods_that_turn_alike_meet() {
    let mut app = app();
    let turned = |x: f32, degrees: f32| {
        let rotation = Quat::from_rotation_z(degrees.to_radians());
        Transform::from_xyz(x, 0.0, 0.0).with_rotation(rotation)
    };
    let rods = [0.0, 3.0].map(|x| {
        let rod = (Collider::capsule_2d(0.1, 4.0), Swept, turned(x, 10.0));
        (app.world_mut().spawn(rod).id(), x)
    });
    assert_eq!(tick(&mut app).messages, []);
    for (rod, x) in rods {
        place(&mut app, rod, turned(x, 170.0));
    }
    // At the angle θ to the vertical, the two parallel lines are 3 cos(θ) apart.
    let time = ((0.2_f32 / 3.0).acos().to_degrees() - 10.0) / 160.0;
    let messages = tick(&mut app).messages;
    assert_events(&messages, &[(STARTED, time), (SEPARATED, time)]);
}

#[test]
fn a_floor_that_rises_or_turns_hits_a_bullet_at_the_time_of_the_closed_form() {
    // The bullet is 4 before and 1 above the floor's origin, at a height of cos(θ) - 4 sin(θ).
    let turning = (0.1 / 17.0_f32.sqrt()).acos() - 4.0_f32.atan();
    let turned = Quat::from_rotation_z(-80.0_f32.to_radians());
    let down = Transform::from_xyz(0.0, -1.0, 0.0);
    for (end, time) in [
        (Transform::from_xyz(0.0, 0.5, 0.0), 0.9 / 1.5),
        (down.with_rotation(turned), turning / 80.0_f32.to_radians()),
    ] {
        let mut app = app();
        let floor = app
            .world_mut()
            .spawn((Collider::half_space(Vec3::Y), down))
            .id();
        let bullet = (
            Collider::sphere(0.1),
            Swept,
            Transform::from_xyz(-4.0, 0.0, 0.0),
        );
        app.world_mut().spawn(bullet);
        assert_eq!(tick(&mut app).messages, []);
        place(&mut app, floor, end);
        assert_events(&tick(&mut app).messages, &[(STARTED, time)]);
    }
}

/// In the first tick, the bullet hits the near wall, and its pose overlaps the far wall. A response
/// moves the bullet back, and from there it flies through the far wall.
#[test]
fn a_contact_that_a_response_has_resolved_starts_again() {
    let mut app = app();
    let near = wall(&mut app, Dimension::D3, 0.0);
    let far = wall(&mut app, Dimension::D3, 3.0);
    let bullet = bullet(&mut app, Dimension::D3);
    assert_eq!(move_to(&mut app, bullet, 3.0).len(), 3);
    app.world_mut().despawn(near);
    let back = (Transform::from_xyz(START, 0.0, 0.0), Teleported);
    app.world_mut().entity_mut(bullet).insert(back);
    let through = move_to(&mut app, bullet, 5.0);
    let time = time_to(3.0);
    assert_events(
        &through,
        &[(SEPARATED, 1.0), (STARTED, time), (SEPARATED, time)],
    );
    assert!(through.iter().all(|hit| hit.seen_from(far).is_some()));

    assert_eq!(move_to(&mut app, bullet, 3.0).len(), 1);
    app.world_mut().entity_mut(bullet).insert(back);
    let stays = move_to(&mut app, bullet, 3.0);
    let time = time_to(3.0) * 10.0 / 8.0;
    assert_events(&stays, &[(SEPARATED, 1.0), (STARTED, time)]);
    // The contacts that can be read have the phases of the events.
    for phase in [STARTED, CollisionPhase::Ongoing, CollisionPhase::Ongoing] {
        let contact = app.world().resource::<Collisions>().between(bullet, far);
        assert_eq!(contact.map(|hit| hit.phase), Some(phase));
        assert_events(&tick(&mut app).messages, &[(CollisionPhase::Ongoing, 1.0)]);
    }
}

#[test]
fn a_bullet_passes_through_what_its_layers_exclude() {
    for (mask, hits) in [(2, 0), (1, 2)] {
        let mut app = app();
        let wall = wall(&mut app, Dimension::D3, 0.0);
        app.world_mut()
            .entity_mut(wall)
            .insert(CollisionLayers::new(1, u32::MAX));
        let bullet = bullet(&mut app, Dimension::D3);
        app.world_mut()
            .entity_mut(bullet)
            .insert(CollisionLayers::new(4, mask));
        assert_eq!(move_to(&mut app, bullet, 5.0).len(), hits);
    }
}

#[test]
fn a_bullet_reports_the_sensors_on_its_way() {
    let mut app = app();
    let wall = wall(&mut app, Dimension::D2, 0.0);
    app.world_mut().entity_mut(wall).insert(Sensor);
    let bullet = bullet(&mut app, Dimension::D2);
    let messages = move_to(&mut app, bullet, 5.0);
    assert_eq!(messages.len(), 2);
    let hit = messages[0].seen_from(bullet).expect("the bullet");
    assert!(hit.other_is_sensor() && !hit.is_sensor());
}

#[test]
fn a_one_sided_surface_is_hit_from_its_front_only() {
    // The front of the line is on the right side of its direction, at x > 0.
    for (from, hits) in [(START, 0), (-START, 2)] {
        let mut app = app();
        let line = [
            Vec2::new(0.0, -3.0),
            Vec2::new(0.0, 0.0),
            Vec2::new(0.0, 3.0),
        ];
        app.world_mut().spawn(Collider::polyline(line).one_sided());
        let bullet = (
            Collider::circle(RADIUS),
            Swept,
            Transform::from_xyz(from, 0.0, 0.0),
        );
        let bullet = app.world_mut().spawn(bullet).id();
        assert_eq!(tick(&mut app).messages, []);
        assert_eq!(move_to(&mut app, bullet, -from).len(), hits, "from {from}");
    }
}

#[test]
fn a_bullet_hits_the_supplied_pairs_only() {
    let mut app = app();
    app.insert_resource(BroadPhase::Custom);
    let walls = [0.0, 1.0].map(|x| wall(&mut app, Dimension::D3, x));
    let bullet = bullet(&mut app, Dimension::D3);
    app.world_mut()
        .resource_mut::<CandidatePairs>()
        .push(bullet, walls[1]);
    let messages = move_to(&mut app, bullet, 5.0);
    let time = time_to(1.0);
    assert_events(&messages, &[(STARTED, time), (SEPARATED, time)]);
}

#[test]
fn times_of_events_for_unit_tests_are_fractions() {
    let [a, b] = [1, 2].map(|index| Entity::from_raw_u32(index).expect("valid"));
    let hit = CollisionEvent::new(a, b, Dir3::X, 0.0);
    assert_eq!((hit.time(), hit.remaining_time()), (1.0, 0.0));
    let early = hit.with_time(0.25);
    assert_eq!(
        (early.flipped().time(), early.remaining_time()),
        (0.25, 0.75)
    );
    assert_ne!(early, hit);
    for (time, expected) in [(-1.0, 0.0), (2.0, 1.0), (f32::NAN, 1.0)] {
        assert_eq!(hit.with_time(time).time(), expected);
    }
    assert_eq!(summary(&[early]), [(STARTED, 0.25, a, b)]);
}
