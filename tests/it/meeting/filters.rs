//! Filters of pairs and contacts that the app adds: each effect, and random changes against a
//! model. For long runs:
//!
//! ```text
//! HEADBUTT_CHAOS=1000000 cargo test --release --test it meeting::filters
//! ```

use std::collections::BTreeSet;

use bevy::prelude::*;
use headbutt::{CandidatePair, PairStatus, explain, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{
    meeting::shoot,
    model::event_log::{EventLog, Pair},
    support::{Dimension, Touching, app, cases::number, tick},
};

#[derive(Component)]
struct Marked;

/// A marker that Bevy stores outside of its tables.
#[derive(Component)]
#[component(storage = "SparseSet")]
struct Sparse;

#[derive(Component, Clone, Copy, PartialEq)]
struct Team(u8);

#[derive(Resource, Default)]
struct IsClosed(bool);

#[test]
fn a_filter_is_called_at_rest_with_the_marked_entity_first() {
    Touching::each(|mut touching, entity| {
        touching.app.init_resource::<IsClosed>();
        let other = touching.other(entity);
        touching
            .app
            .add_pair_filter::<Marked, Res<IsClosed>>(move |pair, is_closed| {
                let CandidatePair {
                    entity: first,
                    other: second,
                    owner,
                    other_owner,
                    ..
                } = pair;
                assert_eq!(
                    [first, second, owner, other_owner],
                    [entity, other, entity, other]
                );
                !is_closed.0
            });
        touching.begin();
        touching.world().insert_resource(IsClosed(true));
        touching.go_on();
        touching.world().entity_mut(entity).insert(Marked);
        touching.end(EndReason::Rejected);
        assert_eq!(
            explain(touching.app.world(), entity, other).status,
            PairStatus::Rejected
        );
        touching.world().insert_resource(IsClosed(false));
        touching.begin();
        touching.world().insert_resource(IsClosed(true));
        touching.end(EndReason::Rejected);
        touching.world().entity_mut(entity).remove::<Marked>();
        touching.begin();
        // A filter whose resource is missing accepts all pairs.
        touching.world().entity_mut(entity).insert(Marked);
        touching.end(EndReason::Rejected);
        touching.world().remove_resource::<IsClosed>();
        touching.begin();
    });
}

#[test]
fn a_contact_filter_sees_the_contact_from_the_marked_entity_at_rest() {
    Touching::each(|mut touching, entity| {
        touching.app.init_resource::<IsClosed>();
        let other = touching.other(entity);
        let toward_other = if entity == touching.sides[0] {
            Vec3::X
        } else {
            Vec3::NEG_X
        };
        touching
            .app
            .add_contact_filter::<Marked, Res<IsClosed>>(move |contact, is_closed| {
                assert_eq!([contact.entity, contact.other], [entity, other]);
                assert!(contact.normal.distance(toward_other) < 1e-6, "{contact:?}");
                assert!((contact.depth - Touching::DEPTH).abs() < 1e-6);
                !is_closed.0
            });
        touching.begin();
        touching.world().insert_resource(IsClosed(true));
        touching.go_on();
        touching.world().entity_mut(entity).insert(Marked);
        touching.end(EndReason::Rejected);
        let explained = explain(touching.app.world(), entity, other);
        assert_eq!(explained.status, PairStatus::ContactRejected);
        assert!(explained.to_string().contains("`add_contact_filter`"));
        touching.world().insert_resource(IsClosed(false));
        touching.begin();
        touching.world().insert_resource(IsClosed(true));
        touching.end(EndReason::Rejected);
        touching.world().entity_mut(entity).remove::<Marked>();
        touching.begin();
        // Without its parameter, the filter accepts all contacts.
        touching.world().entity_mut(entity).insert(Marked);
        touching.end(EndReason::Rejected);
        touching.world().remove_resource::<IsClosed>();
        touching.begin();
        // Once the two are apart, the contact ends as usual.
        touching.world().insert_resource(IsClosed(true));
        let pose = Transform::from_xyz(20.0, 0.0, 0.0);
        touching.world().entity_mut(entity).insert(pose);
        touching.end(EndReason::Separated);
    });
}

/// The part of a compound that is rejected.
#[derive(Resource)]
struct RejectedParts(Vec<u32>);

#[test]
fn a_contact_filter_rejects_single_parts_of_a_collider() {
    let mut app = app();
    app.insert_resource(RejectedParts(Vec::new()));
    app.add_contact_filter::<Marked, Res<RejectedParts>>(|contact, rejected| {
        !rejected.0.contains(&contact.part())
    });
    let parts = [(-1.0, 1.0), (1.0, 1.2)];
    let dumbbell =
        Collider::compound(parts.map(|(x, radius)| (Vec2::new(x, 0.0), Collider::circle(radius))));
    let world = app.world_mut();
    // The floor is spawned first, so the marked entity is the higher one.
    let floor = Collider::rectangle(10.0, 2.0);
    world.spawn((floor, Transform::from_xyz(0.0, -1.8, 0.0)));
    let dumbbell = world.spawn((dumbbell, Marked)).id();
    for (rejected, expected) in [
        (vec![], vec![(0, 0.2), (1, 0.4)]),
        (vec![1], vec![(0, 0.2)]),
        (vec![0], vec![(1, 0.4)]),
        (vec![0, 1], vec![]),
        (vec![], vec![(0, 0.2), (1, 0.4)]),
    ] {
        app.insert_resource(RejectedParts(rejected));
        tick(&mut app);
        let collisions = app.world().resource::<Collisions>();
        let mut found: Vec<_> = collisions
            .parts_of(dumbbell)
            .map(|hit| (hit.part(), hit.depth))
            .collect();
        found.sort_by_key(|(part, _)| *part);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((part, depth), (expected_part, expected_depth)) in found.iter().zip(&expected) {
            assert_eq!(part, expected_part);
            assert!((depth - expected_depth).abs() < 1e-5, "{found:?}");
        }
        let deepest = collisions.deepest_of(dumbbell).next();
        let deepest = deepest.map(|hit| hit.part());
        assert_eq!(deepest, expected.last().map(|(part, _)| *part));
    }
}

/// A bullet enters a box through its left side and stays inside. The first touch is on the left
/// side, and the contact at the end of the tick is near the upper side.
#[test]
fn a_contact_filter_decides_on_the_first_touch_and_on_the_end_of_a_path_separately() {
    #[derive(Resource, Clone, Copy)]
    struct Rejects {
        first_touch: bool,
        end: bool,
    }
    let run = |first_touch, end| {
        let mut app = app();
        app.insert_resource(Rejects { first_touch, end });
        app.add_contact_filter::<Swept, Res<Rejects>>(|contact, rejects| {
            !(if contact.time() < 1.0 {
                rejects.first_touch
            } else {
                rejects.end
            })
        });
        let world = app.world_mut();
        let block = (
            Collider::rectangle(10.0, 4.0),
            Transform::from_xyz(19.0, -1.0, 0.0),
        );
        world.spawn(block);
        let bullet = (
            Collider::circle(0.1),
            Swept,
            Transform::from_xyz(0.0, 0.5, 0.0),
        );
        let bullet = world.spawn(bullet).id();
        tick(&mut app);
        let pose = app.world_mut().get_mut::<Transform>(bullet);
        pose.expect("a pose").translation.x = 20.0;
        let events = tick(&mut app).messages.into_iter();
        events
            .map(|hit| (hit.phase, hit.time() < 1.0))
            .collect::<Vec<_>>()
    };
    use CollisionPhase::{Ended, Started};
    assert_eq!(run(false, false), [(Started, true)]);
    assert_eq!(run(true, false), [(Started, false)]);
    let rejected = Ended(EndReason::Rejected);
    assert_eq!(run(false, true), [(Started, true), (rejected, true)]);
    assert_eq!(run(true, true), []);
}

#[test]
fn only_pairs_with_a_marked_collider_are_passed_to_a_filter_once_per_tick() {
    #[derive(Resource, Default)]
    struct Count(std::sync::atomic::AtomicUsize);
    let mut app = app();
    app.init_resource::<Count>();
    app.add_pair_filter::<Marked, Res<Count>>(|_, count| {
        count.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        true
    });
    let world = app.world_mut();
    let mut last = world.spawn((Collider::circle(1.0), Marked)).id();
    for number in 1..50_u8 {
        let pose = Transform::from_xyz(f32::from(number) * 1.5, 0.0, 0.0);
        last = world.spawn((Collider::circle(1.0), pose)).id();
    }
    for _ in 0..5 {
        tick(&mut app);
        let count = &mut app.world_mut().resource_mut::<Count>().0;
        assert_eq!(core::mem::take(count.get_mut()), 1);
    }
    // Pairs that the layers exclude are not passed to the filter.
    app.world_mut()
        .entity_mut(last)
        .insert((Marked, CollisionLayers::NONE));
    tick(&mut app);
    let count = &mut app.world_mut().resource_mut::<Count>().0;
    assert_eq!(core::mem::take(count.get_mut()), 1);
}

#[test]
fn a_swept_bullet_passes_through_what_a_filter_rejects() {
    let mut app = app();
    app.add_pair_filter::<Team, Query<&Team>>(|pair, teams| {
        let [a, b] = [pair.entity, pair.other].map(|entity| teams.get(entity).ok());
        a != b
    });
    let world = app.world_mut();
    for (x, team) in [(5.0, 1), (8.0, 2)] {
        let wall = (
            Collider::rectangle(0.1, 4.0),
            Transform::from_xyz(x, 0.0, 0.0),
        );
        world.spawn((wall, Team(team)));
    }
    let bullet = world.spawn((Collider::circle(0.1), Swept, Team(1))).id();
    tick(&mut app);
    let started = shoot(&mut app, bullet);
    assert_eq!(started.len(), 1, "{started:?}");
    assert!((started[0].point().x - 7.95).abs() < 0.01, "{started:?}");
}

/// Balls of radius 0.5 touch at this distance, but not at √2 times this distance.
const SPACING: f32 = 0.75;

#[test]
fn no_answer_of_a_filter_is_stale() {
    let count = number("HEADBUTT_CHAOS").unwrap_or(6_000);
    for (seed, dimension) in (31..).zip(Dimension::BOTH) {
        let mut app = app();
        app.insert_resource(IsClosed(false));
        // The first filter reads components, and the second filter reads a resource.
        app.add_pair_filter::<Marked, Query<&Team>>(|pair, teams| {
            let [a, b] = [pair.entity, pair.other].map(|entity| teams.get(entity).ok());
            a != b
        });
        app.add_pair_filter::<Sparse, Res<IsClosed>>(|_, is_closed| !is_closed.0);
        // Two contact filters. The first one lets members of team 0 touch nothing on their right.
        app.add_contact_filter::<Team, Query<&Team>>(|contact, teams| {
            let team = teams.get(contact.entity).map(|team| team.0);
            team != Ok(0) || contact.depth > 0.5 || contact.normal.x < 0.5
        });
        app.add_contact_filter::<Marked, Res<IsClosed>>(|contact, is_closed| {
            is_closed.0 || contact.depth < 0.5
        });
        let mut random = StdRng::seed_from_u64(seed);
        let pose = |random: &mut StdRng| {
            let reach = if dimension == Dimension::D2 { 2 } else { 1 };
            let step = [(); 3].map(|()| random.random_range(-reach..=reach) as f32);
            Transform::from_translation(SPACING * Vec3::from(step))
        };
        let mut balls: Vec<_> = (0..50)
            .map(|_| {
                let ball = (dimension.ball(0.5), pose(&mut random));
                app.world_mut().spawn(ball).id()
            })
            .collect();
        let mut event_log = EventLog::default();
        let mut operations = 0;
        while operations < count {
            let now = [0, 1, 1, 2, 3, 15][random.random_range(0..6)];
            operations += now;
            for _ in 0..now {
                let world = app.world_mut();
                let number = random.random_range(0..balls.len());
                let mut ball = world.entity_mut(balls[number]);
                match random.random_range(0..10) {
                    0 => {
                        ball.despawn();
                        let ball = (dimension.ball(0.5), pose(&mut random));
                        balls[number] = world.spawn(ball).id();
                    }
                    1 if ball.take::<Marked>().is_none() => drop(ball.insert(Marked)),
                    2 | 3 if ball.take::<Sparse>().is_none() => drop(ball.insert(Sparse)),
                    4 | 5 => drop(ball.insert(Team(random.random_range(0..3)))),
                    6 => drop(ball.remove::<Team>()),
                    7 => drop(ball.insert(pose(&mut random))),
                    8 => {
                        let closed = random.random_bool(0.5);
                        world.insert_resource(IsClosed(closed));
                    }
                    _ => {}
                }
            }
            let world = app.world();
            let flat = if dimension == Dimension::D2 {
                Vec3::new(1.0, 1.0, 0.0)
            } else {
                Vec3::ONE
            };
            let mut expected = BTreeSet::<Pair>::new();
            for (index, a) in balls.iter().enumerate() {
                for b in &balls[index + 1..] {
                    let sides = [world.entity(*a), world.entity(*b)];
                    let is_closed = world.resource::<IsClosed>().0;
                    let teams = sides.map(|side| side.get::<Team>());
                    let rejects = sides.iter().any(|side| side.contains::<Marked>())
                        && teams[0] == teams[1]
                        || sides.iter().any(|side| side.contains::<Sparse>()) && is_closed;
                    let [p, q] = sides.map(|side| {
                        side.get::<Transform>().expect("a pose").translation * flat / SPACING
                    });
                    // The ball that the first contact filter sees from: if both have a team, the
                    // lower entity.
                    let mut seen_from: Vec<_> = [(*a, p, q, teams[0]), (*b, q, p, teams[1])].into();
                    seen_from.sort_by_key(|(entity, ..)| *entity);
                    let seen_from = seen_from.into_iter().find(|(.., team)| team.is_some());
                    let is_on_right = |from: Vec3, to: Vec3| to.x - from.x > 0.5;
                    let rejects_contact = p.distance(q) > 0.5
                        && seen_from.is_some_and(|(_, from, to, team)| {
                            team == Some(&Team(0)) && is_on_right(from, to)
                        })
                        || p.distance(q) < 0.5
                            && !is_closed
                            && sides.iter().any(|side| side.contains::<Marked>());
                    if !rejects && !rejects_contact && p.distance(q) < 1.1 {
                        expected.insert((*a.min(b), *a.max(b)));
                    }
                }
            }
            tick(&mut app);
            event_log.read(app.world_mut());
            assert_eq!(event_log.touching, expected);
        }
        println!("{operations} operations, {:?}", event_log.ended);
        assert!(event_log.ended[&EndReason::Rejected] > count / 100);
    }
}
