//! Compares responses with closed forms: events made by hand, `Collisions::push_out` and
//! `WorldMover`.

use bevy::{
    ecs::{entity_disabling::Disabled, system::RunSystemOnce},
    math::{DMat3, DVec3},
    prelude::*,
};
use headbutt::{PushOut, WorldMoveError, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

fn entities<const N: usize>(world: &mut World) -> [Entity; N] {
    [(); N].map(|()| world.spawn_empty().id())
}

fn direction(random: &mut StdRng) -> Dir3 {
    loop {
        let vector = Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0)));
        if let Ok(direction) = Dir3::new(vector) {
            return direction;
        }
    }
}

fn rotation(random: &mut StdRng) -> Quat {
    Quat::from_axis_angle(*direction(random), random.random_range(-3.0..3.0))
}

#[test]
fn an_event_made_by_hand_has_the_geometry_it_was_given() {
    let mut world = World::new();
    let [a, b] = entities(&mut world);
    let point = Vec3::new(1.0, 2.0, 3.0);
    let hit = CollisionEvent::new(a, b, Dir3::Y, 0.5)
        .with_phase(CollisionPhase::Ended(EndReason::Separated))
        .with_parts(3, 7)
        .with_point(point);
    assert_eq!((hit.entity, hit.other), (a, b));
    assert_eq!((hit.normal, hit.depth), (Vec3::Y, 0.5));
    assert_eq!((hit.part(), hit.other_part()), (3, 7));
    assert_eq!(hit.end_reason(), Some(EndReason::Separated));
    assert_eq!((hit.point(), hit.offset()), (point, point));
    let other_point = Vec3::new(1.0, 1.5, 3.0);
    assert_eq!(
        (hit.other_point(), hit.other_offset()),
        (other_point, other_point)
    );
    let flat = hit.in_2d();
    assert_eq!((flat.normal, flat.depth), (Vec2::Y, 0.5));
    assert_eq!(flat.minimum_translation, Vec2::new(0.0, -0.5));
    assert_eq!(
        (flat.point, flat.offset),
        (Vec2::new(1.0, 2.0), Vec2::new(1.0, 2.0))
    );
    assert_eq!(
        (flat.other_point, flat.other_offset),
        (Vec2::new(1.0, 1.5), Vec2::new(1.0, 1.5))
    );
}

#[test]
fn an_event_made_by_hand_has_a_finite_depth_of_at_least_zero() {
    let mut world = World::new();
    let [a, b] = entities(&mut world);
    let depth = |depth| CollisionEvent::new(a, b, Dir3::X, depth).depth;
    assert_eq!(depth(-1.0), 0.0);
    assert_eq!(depth(f32::NAN), 0.0);
    assert_eq!(depth(f32::NEG_INFINITY), 0.0);
    assert_eq!(depth(f32::INFINITY), f32::MAX);
}

#[test]
fn entity_events_made_by_hand_have_their_phase_and_reach_their_observer() {
    #[derive(Resource, Default)]
    struct Seen(Vec<(Entity, CollisionPhase)>);

    let mut world = World::new();
    world.init_resource::<Seen>();
    let [a, b] = entities(&mut world);
    world
        .entity_mut(a)
        .observe(|hit: On<CollisionStarted>, mut seen: ResMut<Seen>| {
            seen.0.push((hit.other, hit.phase));
        })
        .observe(|hit: On<CollisionEnded>, mut seen: ResMut<Seen>| {
            seen.0.push((hit.other, hit.phase));
        });
    let hit = CollisionEvent::new(a, b, Dir3::X, 0.0).with_phase(CollisionPhase::Ongoing);
    world.trigger(CollisionStarted::new(hit));
    world.trigger(CollisionEnded::new(hit, EndReason::Filtered));
    // The observed entity is `b`, so the observer of `a` is not called.
    world.trigger(CollisionStarted::new(hit.flipped()));
    let ended = CollisionPhase::Ended(EndReason::Filtered);
    let expected = [(b, CollisionPhase::Started), (b, ended)];
    assert_eq!(world.resource::<Seen>().0, expected);
}

#[test]
fn collected_collisions_are_found_from_both_sides_and_by_part() {
    let mut world = World::new();
    let [a, b, c] = entities(&mut world);
    let hit = |entity, other, depth| CollisionEvent::new(entity, other, Dir3::X, depth);
    let ended = CollisionPhase::Ended(EndReason::Separated);
    let collisions = Collisions::from_iter([
        hit(c, a, 1.0).with_parts(0, 4),
        hit(a, c, 2.0).with_parts(2, 0),
        hit(b, a, 0.5),
        hit(b, c, 0.5).with_phase(ended),
        hit(b, b, 0.5),
    ]);
    assert_eq!(collisions.len(), 2);
    assert!(collisions.contains(a, c) && collisions.contains(b, a) && !collisions.contains(b, c));
    assert_eq!(collisions.between(a, b), Some(hit(b, a, 0.5).flipped()));
    let deepest = collisions.between(c, a).expect("they touch");
    assert_eq!(
        (deepest.depth, deepest.part(), deepest.other_part()),
        (2.0, 0, 2)
    );
    let mut parts: Vec<_> = collisions
        .parts(a, c)
        .map(|hit| (hit.part(), hit.depth))
        .collect();
    parts.sort_by_key(|(part, _)| *part);
    assert_eq!(parts, [(2, 2.0), (4, 1.0)]);
    assert_eq!(collisions.parts(a, b).count(), 1);
    assert_eq!(collisions.parts_of(a).count(), 3);
}

/// Returns the translation that solves all contacts of `entity`. Each contact is a plane with a
/// normal and a depth.
fn push_out(planes: &[(Dir3, f32)]) -> PushOut {
    let mut world = World::new();
    let entity = world.spawn_empty().id();
    let hits = planes.iter().map(|(normal, depth)| {
        let other = world.spawn_empty().id();
        CollisionEvent::new(entity, other, -*normal, *depth)
    });
    let hits: Vec<_> = hits.collect();
    Collisions::from_iter(hits).push_out(entity, |_| true)
}

/// The conditions of Karush, Kuhn and Tucker determine the shortest x with x · nᵢ >= dᵢ. It is the
/// only feasible x = Σ λᵢ nᵢ in which only tight planes have a factor λᵢ > 0. The planes here are
/// built from such an x: up to three are tight, and the others leave room. An x that is longer than
/// twice the greatest depth is left to [`a_long_push_out_leaves_the_least_overlap`].
#[test]
fn the_push_out_of_many_planes_is_the_shortest_translation() {
    let mut random = StdRng::seed_from_u64(1);
    let (mut worst, mut judged) = (0.0_f32, 0);
    for count in (1..=3).cycle().take(3000) {
        let tight: Vec<Dir3> = (0..count).map(|_| direction(&mut random)).collect();
        let expected: DVec3 = tight
            .iter()
            .map(|normal| normal.as_dvec3() * random.random_range(0.1..1.0))
            .sum();
        let depth = |normal: Dir3| expected.dot(normal.as_dvec3());
        let gram = |a: usize, b: usize| tight[a].as_dvec3().dot(tight[b].as_dvec3());
        // Nearly parallel planes magnify the rounding of the f32 depths.
        let independent = match count {
            1 => 1.0,
            2 => 1.0 - gram(0, 1).powi(2),
            _ => {
                let [a, b, c] = [0, 1, 2].map(|index| tight[index].as_dvec3());
                DMat3::from_cols(a, b, c).determinant().powi(2)
            }
        };
        if independent < 0.01 || tight.iter().any(|normal| depth(*normal) <= 0.0) {
            continue;
        }
        let mut planes: Vec<_> = tight.iter().map(|it| (*it, depth(*it) as f32)).collect();
        for _ in 0..random.random_range(0..20) {
            let normal = direction(&mut random);
            let slack = random.random_range(0.001..1.0);
            if depth(normal) > slack {
                planes.push((normal, (depth(normal) - slack) as f32));
            }
        }
        let deepest = planes.iter().fold(0.0, |max: f32, plane| max.max(plane.1));
        if expected.length() > 1.999 * f64::from(deepest) {
            continue;
        }
        let PushOut::Moved(found) = push_out(&planes) else {
            panic!("no push-out for {planes:?}");
        };
        worst = worst.max((found.as_dvec3() - expected).length() as f32);
        judged += 1;
    }
    assert!(worst > 0.0 && worst < 1e-4, "{worst}");
    assert!(judged > 1000, "{judged}");
}

/// The planes are built as in [`the_push_out_of_many_planes_is_the_shortest_translation`]. The
/// facets of a fine mesh give planes whose normals differ by rounding, or by a little more. The
/// length may slightly exceed the exact length, because the rounding of a depth moves the line in
/// which two such planes intersect.
#[test]
fn the_push_out_of_nearly_parallel_planes_clears_all() {
    let mut random = StdRng::seed_from_u64(4);
    let mut judged = 0;
    for case in 0..4000 {
        let first = direction(&mut random);
        let mut tight = vec![first];
        for _ in 0..random.random_range(1..3) {
            let tilt = 10.0_f32.powf(random.random_range(-8.0..-1.0));
            let tilted = Dir3::new(*first + *direction(&mut random) * tilt);
            tight.push(tilted.expect("a direction"));
        }
        if random.random() {
            tight[0] = direction(&mut random);
        }
        let weights = tight.iter().map(|_| random.random_range(0.1..1.0));
        let weights: Vec<f64> = weights.collect();
        let terms = tight.iter().zip(&weights);
        let expected: DVec3 = terms
            .map(|(normal, weight)| normal.as_dvec3() * *weight)
            .sum();
        let depth = |normal: &Dir3| expected.dot(normal.as_dvec3()) as f32;
        let planes: Vec<_> = tight.iter().map(|it| (*it, depth(it))).collect();
        let deepest = planes.iter().fold(0.0, |max: f32, plane| max.max(plane.1));
        let deepest = f64::from(deepest);
        let is_short = expected.length() < 1.9 * deepest;
        if !is_short || planes.iter().any(|plane| plane.1 <= 0.0) {
            continue;
        }
        judged += 1;
        let found = push_out(&planes);
        assert!(
            matches!(found, PushOut::Moved(_)),
            "case {case}: {found:?} of {planes:?}"
        );
        let translation = found.translation().as_dvec3();
        let left = overlap(&planes, translation);
        assert!(
            left <= 1e-5 * deepest,
            "case {case}: {left} left of {planes:?}"
        );
        let most = 1.01 * expected.length();
        assert!(
            translation.length() <= most,
            "case {case}: {found:?}, not {expected}"
        );
    }
    assert!(judged > 3000, "{judged}");
}

/// Returns the greatest overlap with planes that a translation leaves.
fn overlap(planes: &[(Dir3, f32)], translation: DVec3) -> f64 {
    let each = planes.iter().map(|(normal, depth)| {
        let normal = normal.as_dvec3().normalize();
        f64::from(*depth) - normal.dot(translation)
    });
    each.fold(0.0, f64::max)
}

/// The greatest overlap is a convex function of the translation. So a translation in a ball leaves
/// the least overlap if no small change within the ball reduces the overlap.
#[test]
fn a_long_push_out_leaves_the_least_overlap() {
    let mut random = StdRng::seed_from_u64(2);
    let (mut judged, mut long) = (0, 0);
    for _ in 0..3000 {
        let mut planes: Vec<_> = (0..random.random_range(2..7))
            .map(|_| (direction(&mut random), random.random_range(0.0..1.0_f32)))
            .collect();
        // Two of the planes are nearly opposite. The difference is far greater than the rounding of
        // f32.
        let tilt = 10.0_f32.powf(random.random_range(-2.0..0.0));
        let opposite = Dir3::new(-*planes[0].0 + *direction(&mut random) * tilt);
        planes[1].0 = opposite.expect("a direction");
        let deepest = planes.iter().fold(0.0, |max: f32, plane| max.max(plane.1));
        let deepest = f64::from(deepest);
        let found = push_out(&planes);
        let translation = found.translation().as_dvec3();
        let length = translation.length();
        assert!(length <= deepest * (2.0 + 1e-6), "{length} for {planes:?}");
        let left = overlap(&planes, translation);
        if !found.is_pressed() {
            assert!(left < 1e-5, "{left} left of {planes:?}");
            continue;
        }
        judged += 1;
        long += u32::from(length > 1.999 * deepest);
        for step in [0.1, 0.01, 0.001] {
            for _ in 0..40 {
                let change = direction(&mut random).as_dvec3() * step * deepest;
                let other = (translation + change).clamp_length_max(2.0 * deepest);
                // The push-out does not get longer for a gain of less than 1/25 of the added
                // length, and 1/100 of the greatest depth. (The factors of the normals are at most
                // 50 times this depth.)
                let gain = left - overlap(&planes, other);
                let least = 0.01 * deepest + 0.04 * other.distance(translation);
                assert!(gain < least, "{gain} for {step}: {found:?} of {planes:?}");
            }
        }
    }
    assert!(judged > 1000 && long > 200, "{judged} {long}");
}

/// In the plane of the normals, let θ be the opening. Then x = a u + b w, where u bisects the
/// normals, and w is orthogonal to u. Both planes have the slack s = (d₁ + d₂) / 2 - a sin(θ/2) if
/// b is (d₁ - d₂) / (2 cos(θ/2)). The length is at most 2 max d. The factors of the normals,
/// a / (2 sin(θ/2)) ± b / (2 cos(θ/2)), are at most 50 max d.
#[test]
fn a_wedge_is_left_by_at_most_twice_the_depth() {
    let mut random = StdRng::seed_from_u64(3);
    let (mut judged, mut moved) = (0, 0);
    for case in 0..2000 {
        let opening = 10.0_f32.powf(random.random_range(-7.0..0.3));
        let first = direction(&mut random);
        let across = first.cross(*direction(&mut random)).normalize();
        let second = -*first * opening.cos() + across * opening.sin();
        let second = Dir3::new(second).expect("a direction");
        let depths = [0.5, random.random_range(0.2..0.5_f32)];
        let planes = [(first, depths[0]), (second, depths[1])];
        let [n1, n2] = planes.map(|(normal, _)| normal.as_dvec3().normalize());
        let [d1, d2] = depths.map(f64::from);
        let (sine, cosine) = (0.5 * (n1 + n2).length(), 0.5 * (n1 - n2).length());
        let b = (d1 - d2) / (2.0 * cosine);
        let exact = (d1 + d2) / (2.0 * sine);
        let a = exact
            .min((4.0 * d1 * d1 - b * b).sqrt())
            .min(sine * (100.0 * d1 - b.abs() / cosine));
        // In this case, the plane of one contact alone bounds the translation.
        if a / sine < b / cosine {
            continue;
        }
        judged += 1;
        moved += u32::from(a == exact);
        let [u, w] = [n1 + n2, n1 - n2].map(|it| it.try_normalize().unwrap_or_default());
        let expected = u * a + w * b;
        let found = push_out(&planes);
        assert_eq!(found.is_pressed(), a < exact, "case {case}: {found:?}");
        let found_at = found.translation().as_dvec3();
        if sine < 2e-3 {
            // For nearly opposite planes, the translation along the planes is at most as long.
            let (along, between) = (u.dot(found_at), w.dot(found_at));
            assert!((between - b).abs() < 1e-4, "case {case}: {found:?}");
            assert!(along > -1e-4 && along < a + 1e-4, "case {case}: {found:?}");
        } else {
            let error = found_at.distance(expected);
            assert!(error < 1e-4, "case {case}: {found:?}, not {expected}");
        }
        // If a wall blocks the way out, there is no room. The length still has the same bound.
        let wall = Dir3::new(-u.as_vec3()).unwrap_or(Dir3::X);
        let closed = push_out(&[planes[0], planes[1], (wall, 0.3)]);
        let length = closed.translation().length();
        assert!(length <= 1.0 + 1e-5, "case {case}: {closed:?}");
        let left = overlap(&planes, closed.translation().as_dvec3());
        assert!(
            left >= (d1 + d2) / 2.0 - a * sine - 1e-5,
            "case {case}: {left}"
        );
    }
    assert!(judged > 1800 && moved > 50, "{judged} {moved}");
}

/// Several walls are opposite to each other up to rounding, and nothing bounds the body along them.
/// The body is balanced between all walls, and does not leave the room.
#[test]
fn a_press_between_nearly_parallel_planes_does_not_squeeze_a_body_out() {
    let mut random = StdRng::seed_from_u64(5);
    for case in 0..4000 {
        let tilt = 10.0_f32.powf(random.random_range(-7.0..-2.0));
        let mut planes = vec![(Dir3::Y, random.random_range(0.0..1.0_f32)), (Dir3::Z, 1.0)];
        for _ in 0..random.random_range(1..5) {
            let normal = Dir3::new(-Vec3::Y + *direction(&mut random) * tilt);
            planes.push((normal.expect("a direction"), 1.0));
        }
        let found = push_out(&planes);
        let expected = Vec3::new(0.0, 0.5 * (planes[0].1 - 1.0), 1.0);
        let PushOut::Pressed(found) = found else {
            panic!("case {case}: {found:?}");
        };
        // The bound is proportional to the tilt, and is 0.4 units for the greatest tilt.
        assert!(
            found.abs_diff_eq(expected, 1e-4 + 80.0 * tilt),
            "case {case}: {found} for {planes:?}"
        );
    }
}

/// Overlaps within the rounding of the positions are left alone.
#[test]
fn a_body_between_walls_that_touch_it_is_not_pressed() {
    for (at, depth, is_pressed) in [(0.0, 1e-6, true), (10.0, 1e-6, false), (10.0, 1e-5, true)] {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
        let mut spawn = |collider: Collider, x: f32| {
            let transform = Transform::from_xyz(at + x, at, 0.0);
            app.world_mut().spawn((collider, transform)).id()
        };
        let body = spawn(Collider::rectangle(1.0, 1.0), 0.0);
        for side in [-1.0, 1.0] {
            spawn(Collider::rectangle(1.0, 1.0), side * (1.0 - depth));
        }
        headbutt::sync_now(app.world_mut());
        app.world_mut().run_schedule(FixedPostUpdate);
        let found = app
            .world()
            .resource::<Collisions>()
            .push_out(body, |_| true);
        assert_eq!(found.is_pressed(), is_pressed, "{found:?} at {at}");
    }
}

/// A room that is too low squeezes no body through its walls.
#[test]
fn a_pressed_body_is_still_pushed_out_of_the_walls() {
    let planes = [(Dir3::Y, 0.5), (Dir3::NEG_Y, 0.25), (Dir3::X, 0.125)];
    let expected = Vec3::new(0.125, 0.125, 0.0);
    let PushOut::Pressed(found) = push_out(&planes) else {
        panic!("it is pressed");
    };
    assert!(found.abs_diff_eq(expected, 1e-6), "{found}");
}

#[test]
fn the_push_out_of_opposite_planes_ends_in_the_middle() {
    let found = push_out(&[(Dir3::X, 0.25), (Dir3::NEG_X, 0.5)]);
    let PushOut::Pressed(found) = found else {
        panic!("{found:?}");
    };
    assert!(found.abs_diff_eq(Vec3::X * -0.125, 1e-6), "{found}");
    assert_eq!(push_out(&[]), PushOut::Free);
}

/// Moves an entity, and returns the change of its translation in the world. This change is computed
/// from Bevy's `GlobalTransform`, independently of `WorldMover`.
fn moved(app: &mut App, entity: Entity, by: Vec3) -> (Result<(), WorldMoveError>, Vec3) {
    app.update();
    let place = |app: &App| {
        app.world()
            .get::<GlobalTransform>(entity)
            .map(|it| it.translation())
    };
    let before = place(app).expect("a place");
    let step = move |mut mover: WorldMover| mover.translate(entity, by);
    let result = app
        .world_mut()
        .run_system_once(step)
        .expect("a system that can run");
    app.update();
    (result, place(app).expect("a place") - before)
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin));
    app
}

#[test]
fn a_world_move_moves_by_as_much_under_any_parents() {
    let mut random = StdRng::seed_from_u64(2);
    for count in (0..4).cycle().take(200) {
        let mut app = app();
        let mut parent = None;
        for _ in 0..=count {
            let scale = [(); 3].map(|()| {
                let size: f32 = random.random_range(0.3..3.0);
                if random.random_bool(0.3) { -size } else { size }
            });
            let transform = Transform {
                translation: *direction(&mut random) * 3.0,
                rotation: rotation(&mut random),
                scale: Vec3::from_array(scale),
            };
            let child = app.world_mut().spawn(transform).id();
            if let Some(parent) = parent {
                app.world_mut().entity_mut(child).insert(ChildOf(parent));
            }
            parent = Some(child);
        }
        let by = *direction(&mut random) * 2.0;
        let (result, moved) = moved(&mut app, parent.expect("the last"), by);
        assert_eq!(result, Ok(()));
        assert!(moved.distance(by) < 1e-4, "{moved}, expected {by}");
    }
}

#[test]
fn a_world_move_reads_ancestors_that_moved_in_this_tick_or_are_disabled() {
    let mut app = app();
    let parent = app.world_mut().spawn((Transform::default(), Disabled)).id();
    let child = app
        .world_mut()
        .spawn((Transform::default(), ChildOf(parent)))
        .id();
    app.update();
    // `GlobalTransform` does not include this change yet.
    *app.world_mut().get_mut::<Transform>(parent).expect("one") =
        Transform::from_scale(Vec3::splat(4.0));
    let step = move |mut mover: WorldMover| mover.translate(child, Vec3::X);
    app.world_mut()
        .run_system_once(step)
        .expect("it runs")
        .expect("it moves");
    let local = app
        .world()
        .get::<Transform>(child)
        .expect("one")
        .translation;
    assert_eq!(local, Vec3::new(0.25, 0.0, 0.0));
}

#[test]
fn under_a_flat_parent_a_world_move_goes_only_along_the_other_axes() {
    let mut app = app();
    let turn = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    // The parent's x axis, which has a scale of 0, is the world's y axis.
    let parent = Transform::from_rotation(turn).with_scale(Vec3::new(0.0, 2.0, 1.0));
    let parent = app.world_mut().spawn(parent).id();
    let child = (Transform::from_xyz(7.0, 0.0, 0.0), ChildOf(parent));
    let child = app.world_mut().spawn(child).id();
    let (result, by) = moved(&mut app, child, Vec3::Y);
    assert_eq!(result, Err(WorldMoveError::SingularParent(child)));
    assert_eq!(by, Vec3::ZERO);
    let (result, by) = moved(&mut app, child, Vec3::new(3.0, 0.0, 1.0));
    assert_eq!(result, Ok(()));
    assert!(by.distance(Vec3::new(3.0, 0.0, 1.0)) < 1e-5, "{by}");
    let local = app
        .world()
        .get::<Transform>(child)
        .expect("one")
        .translation;
    assert_eq!(local.x, 7.0);
}

#[test]
fn what_cannot_be_moved_stays_where_it_is() {
    let mut app = app();
    let world = app.world_mut();
    let bare = world.spawn_empty().id();
    let gone = world.spawn_empty().id();
    world.despawn(gone);
    let broken = Transform::from_scale(Vec3::new(f32::NAN, 1.0, 1.0));
    let broken = world.spawn(broken).id();
    let child = world.spawn((Transform::default(), ChildOf(broken))).id();
    let whole = world.spawn(Transform::default()).id();
    let translate = |world: &mut World, entity, by| {
        let step = move |mut mover: WorldMover| mover.translate(entity, by);
        world.run_system_once(step).expect("it runs")
    };
    for entity in [bare, gone] {
        let error = WorldMoveError::NoTransform(entity);
        assert_eq!(translate(world, entity, Vec3::X), Err(error));
    }
    for (entity, by) in [
        (child, Vec3::X),
        (whole, Vec3::INFINITY),
        (whole, Vec3::NAN),
    ] {
        let error = WorldMoveError::NotFinite(entity);
        assert_eq!(translate(world, entity, by), Err(error));
        let at = world.get::<Transform>(entity).expect("one");
        assert_eq!(*at, Transform::default());
    }
}

/// The parent is turned by a quarter turn and twice as large, so the player's radius is 40 in the
/// world. The player stands at x = 50, and the wall begins at x = 85, so the player is 5 deep.
#[test]
fn a_player_under_a_turned_and_scaled_parent_is_pushed_out_of_a_wall() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(PostUpdate)));
    let world = app.world_mut();
    let turn = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let parent = Transform::from_rotation(turn).with_scale(Vec3::splat(2.0));
    let parent = world.spawn(parent).id();
    let player = (
        Collider::circle(20.0),
        Transform::from_xyz(0.0, -25.0, 0.0),
        ChildOf(parent),
    );
    let player = world.spawn(player).id();
    world.spawn((
        Collider::rectangle(30.0, 400.0),
        Transform::from_xyz(100.0, 0.0, 0.0),
    ));
    let push_out = move |collisions: Res<Collisions>, mut mover: WorldMover| -> Result {
        mover.translate(player, collisions.push_out(player, |_| true).translation())?;
        Ok(())
    };
    app.add_systems(PostUpdate, push_out.after(HeadbuttSystems::Report));
    app.update();
    let local = app
        .world()
        .get::<Transform>(player)
        .expect("one")
        .translation;
    assert!(local.distance(Vec3::new(0.0, -22.5, 0.0)) < 1e-4, "{local}");
    app.update();
    let mut hits = app.world().resource::<Collisions>().deepest_of(player);
    assert!(hits.all(|hit| hit.depth < 1e-4));
}
