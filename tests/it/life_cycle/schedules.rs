//! Tests when ticks run, and which readers see their events. A frame may have any number of fixed
//! ticks. Readers run in every schedule, and some apps have custom schedules or custom candidate
//! pairs.

use std::time::Duration;

use crate::support::{
    Act, Dimension, Record, Touching, app, assert_phases_alternate, despawn, frame, leave_layers,
    lose_pose, move_away, read, remove_collider, start, start_reading_in, tick, transform, watch,
};
use bevy::{
    ecs::{
        message::{Messages, signal_message_update_system},
        schedule::{InternedScheduleLabel, ScheduleLabel},
    },
    platform::collections::HashMap,
    prelude::*,
    time::TimeUpdateStrategy,
};
use headbutt::{CollisionDiagnostics, Collisions, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Rollback;

#[test]
fn a_frame_without_a_tick_reports_nothing_and_changes_nothing() {
    Touching::each(|mut touching, side| {
        assert!(frame(&mut touching.app, 0).is_empty());
        touching.begin();
        assert!(frame(&mut touching.app, 0).is_empty());
        read(touching.world(), |collisions| {
            assert_eq!(collisions.deepest_of(side).count(), 1);
        });
        touching.go_on();
    });
}

#[test]
fn five_ticks_in_a_frame_report_five_times() {
    Touching::each(|mut touching, side| {
        let record = frame(&mut touching.app, 5);
        assert_eq!(record.messages.len(), 5);
        assert!(record.messages[0].started());
        assert!(record.messages[1..].iter().all(CollisionEvent::ongoing));
        assert_eq!(record.observed.len(), 2);
        touching.world().despawn(side);
        let record = frame(&mut touching.app, 5);
        assert!(record.only().ended());
        assert_eq!(record.observed.len(), 1);
    });
}

#[test]
fn a_contact_within_one_frame_of_several_ticks_is_reported() {
    // The collider passes the other collider, and touches it in the second and the third of five
    // ticks.
    fn pass_by(mut passing: Query<&mut Transform, With<Passing>>) {
        for mut transform in &mut passing {
            transform.translation.x += 2.0;
        }
    }

    #[derive(Component)]
    struct Passing;

    for dimension in Dimension::BOTH {
        let mut app = app();
        app.add_systems(FixedUpdate, pass_by);
        let world = app.world_mut();
        world.spawn(dimension.ball(1.0));
        let pose = Transform::from_xyz(-5.0, 0.0, 0.0);
        world.spawn((dimension.ball(1.0), pose, Passing));
        let phases: Vec<_> = frame(&mut app, 5)
            .messages
            .iter()
            .map(|hit| hit.phase)
            .collect();
        let ended = CollisionPhase::Ended(EndReason::Separated);
        assert_eq!(
            phases,
            [CollisionPhase::Started, CollisionPhase::Ongoing, ended]
        );
    }
}

/// The events that each reader has read, by its schedule.
#[derive(Resource, Default)]
struct Seen(HashMap<InternedScheduleLabel, Vec<CollisionEvent>>);

/// Adds a reader to a schedule. In the schedule of the tick, the reader runs after the tick.
fn add_reader(app: &mut App, label: impl ScheduleLabel) {
    let label = label.intern();
    let reader = move |mut hits: MessageReader<CollisionEvent>, mut seen: ResMut<Seen>| {
        seen.0.entry(label).or_default().extend(hits.read());
    };
    app.add_systems(label, reader.after(HeadbuttSystems::Report));
}

/// The events that a reader should see, derived without messages from the touching pairs of
/// successive ticks.
#[derive(Resource, Default)]
struct Truth {
    touching: Vec<CollisionEvent>,
    events: Vec<(Entity, Entity, Kind)>,
    /// The number of events that are older than the last tick.
    older: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Started,
    Ongoing,
    Ended,
}

impl Truth {
    fn record(mut this: ResMut<Self>, collisions: Res<Collisions>) {
        let this = &mut *this;
        let now: Vec<_> = collisions.iter().collect();
        let pair = |hit: &CollisionEvent| (hit.entity, hit.other);
        let mut events: Vec<_> = now
            .iter()
            .map(|hit| {
                let touched = this.touching.iter().any(|last| pair(last) == pair(hit));
                let kind = if touched {
                    Kind::Ongoing
                } else {
                    Kind::Started
                };
                (hit.entity, hit.other, kind)
            })
            .collect();
        let gone = this.touching.iter().filter(|last| {
            let last = pair(last);
            !now.iter().any(|hit| pair(hit) == last)
        });
        events.extend(gone.map(|hit| (hit.entity, hit.other, Kind::Ended)));
        events.sort_by_key(|(entity, other, _)| (*entity, *other));
        this.older = this.events.len();
        this.events.extend(events);
        this.touching = now;
    }
}

fn kinds(events: &[CollisionEvent]) -> Vec<(Entity, Entity, Kind)> {
    let kind = |hit: &CollisionEvent| match hit.phase {
        CollisionPhase::Started => Kind::Started,
        CollisionPhase::Ongoing => Kind::Ongoing,
        CollisionPhase::Ended(_) => Kind::Ended,
    };
    let events = events.iter();
    events
        .map(|hit| (hit.entity, hit.other, kind(hit)))
        .collect()
}

/// Spawns ten colliders in each dimension on circular orbits, so that pairs touch and separate all
/// the time.
fn go_round(app: &mut App) {
    #[derive(Component)]
    struct Orbit {
        center: f32,
        angle: f32,
        speed: f32,
    }

    fn turn(mut orbits: Query<(&mut Transform, &mut Orbit)>) {
        for (mut transform, mut orbit) in &mut orbits {
            orbit.angle += orbit.speed;
            let (y, x) = orbit.angle.sin_cos();
            transform.translation = Vec3::new(orbit.center + 1.5 * x, 1.5 * y, 0.0);
        }
    }

    app.add_systems(FixedUpdate, turn);
    for dimension in Dimension::BOTH {
        for index in 0..10 {
            let orbit = Orbit {
                center: 1.5 * index as f32,
                angle: index as f32,
                speed: 0.3 + 0.05 * index as f32,
            };
            app.world_mut().spawn((dimension.ball(0.6), orbit));
        }
    }
}

#[test]
fn readers_in_every_schedule_see_each_event_once_however_many_ticks_a_frame_has() {
    // These readers run after the tick, in the same frame.
    let after = [
        FixedPostUpdate.intern(),
        FixedLast.intern(),
        Update.intern(),
        PostUpdate.intern(),
        Last.intern(),
    ];
    // Readers that run before the tick see its events one frame late.
    let before = [
        FixedFirst.intern(),
        FixedPreUpdate.intern(),
        FixedUpdate.intern(),
        First.intern(),
        PreUpdate.intern(),
    ];
    let mut app = app();
    app.init_resource::<Seen>().init_resource::<Truth>();
    app.add_systems(
        FixedPostUpdate,
        Truth::record.after(HeadbuttSystems::Report),
    );
    for label in after.into_iter().chain(before) {
        add_reader(&mut app, label);
    }
    go_round(&mut app);

    let mut random = StdRng::seed_from_u64(64);
    for _ in 0..300 {
        let ticks = [0, 0, 0, 1, 1, 2, 5][random.random_range(0..7)];
        frame(&mut app, ticks);
    }
    // After one more tick, late readers have seen the events of the previous tick.
    tick(&mut app);

    let truth = app.world().resource::<Truth>();
    let count = |kind| truth.events.iter().filter(|it| it.2 == kind).count();
    assert!(count(Kind::Started) > 100 && count(Kind::Ended) > 100 && count(Kind::Ongoing) > 100);
    let seen = &app.world().resource::<Seen>().0;
    for label in after {
        assert_eq!(kinds(&seen[&label]), truth.events, "{label:?}");
    }
    for label in before {
        assert_eq!(
            kinds(&seen[&label]),
            truth.events[..truth.older],
            "{label:?}"
        );
    }
    assert_phases_alternate(&seen[&Update.intern()]);
}

#[test]
fn a_parent_moved_in_fixed_update_counts_in_that_very_tick() {
    #[derive(Component)]
    struct Moved;

    #[derive(Resource, Default)]
    struct Velocity(f32);

    fn shift(velocity: Res<Velocity>, mut moved: Query<&mut Transform, With<Moved>>) {
        for mut transform in &mut moved {
            transform.translation.x += velocity.0;
        }
    }

    // 0 is the collider itself, 1 is its parent, and 2 is its grandparent.
    for generation in 0..3 {
        for transform_plugin in [false, true] {
            Touching::each(|mut touching, side| {
                if transform_plugin {
                    // This plugin propagates poses once per frame, which must not matter.
                    touching.app.add_plugins(TransformPlugin);
                }
                touching
                    .app
                    .init_resource::<Velocity>()
                    .add_systems(FixedUpdate, shift);
                let world = touching.world();
                let mut line = vec![side];
                for _ in 0..generation {
                    let parent = world.spawn(Transform::IDENTITY).id();
                    world
                        .entity_mut(line[line.len() - 1])
                        .insert(ChildOf(parent));
                    line.push(parent);
                }
                world.entity_mut(line[generation]).insert(Moved);

                let set = |touching: &mut Touching, velocity| {
                    touching.world().resource_mut::<Velocity>().0 = velocity;
                };
                touching.begin();
                set(&mut touching, 50.0);
                touching.end(EndReason::Separated);
                // The moved entity is back in its position before these four ticks.
                set(&mut touching, -200.0);
                touching.begin();
                // With several ticks in a frame, each tick moves the entity further.
                set(&mut touching, 50.0);
                let record = frame(&mut touching.app, 5);
                assert_eq!(record.only().end_reason(), Some(EndReason::Separated));
            });
        }
    }
}

/// Returns an app whose ticks are runs of [`Rollback`].
fn app_by_hand() -> App {
    let mut app = App::new();
    app.init_schedule(Rollback)
        .add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(Rollback)));
    start_reading_in(&mut app, Rollback);
    app
}

/// Runs [`Rollback`] once. Returns all reports since the last call.
fn run(app: &mut App) -> Record {
    app.world_mut().run_schedule(Rollback);
    core::mem::take(&mut *app.world_mut().resource_mut::<Record>())
}

#[test]
fn in_a_custom_schedule_each_run_is_a_tick_and_nothing_else_is() {
    for dimension in Dimension::BOTH {
        let mut touching = Touching::new(app_by_hand(), dimension);
        assert!(frame(&mut touching.app, 3).is_empty());
        let record = run(&mut touching.app);
        assert!(record.only().started());
        assert_eq!(record.observed.len(), 2);
        assert!(run(&mut touching.app).only().ongoing());
        assert!(run(&mut touching.app).only().ongoing());
        for entity in touching.sides {
            transform(touching.world(), entity).translation.x *= 10.0;
        }
        let record = run(&mut touching.app);
        assert_eq!(record.only().end_reason(), Some(EndReason::Separated));
        assert_eq!(record.observed.len(), 2);
        assert!(run(&mut touching.app).is_empty());
    }
}

#[test]
fn a_skipped_schedule_reports_the_end_at_its_next_run() {
    let acts: [(EndReason, Act); 3] = [
        (EndReason::Despawned, despawn),
        (EndReason::ColliderRemoved, remove_collider),
        (EndReason::Separated, move_away),
    ];
    for (reason, act) in acts {
        for dimension in Dimension::BOTH {
            for side in 0..2 {
                let mut touching = Touching::new(app_by_hand(), dimension);
                assert!(run(&mut touching.app).only().started());
                let entity = touching.sides[side];
                act(touching.world(), entity);
                // After so many frames, Bevy has dropped all removals and messages.
                for _ in 0..5 {
                    assert!(frame(&mut touching.app, 2).is_empty());
                }
                let record = run(&mut touching.app);
                assert_eq!(record.only().end_reason(), Some(reason));
                assert_eq!(record.at(touching.other(entity)).len(), 1);
                assert!(run(&mut touching.app).is_empty());
            }
        }
    }
}

#[test]
fn a_run_condition_on_the_sets_skips_ticks() {
    #[derive(Resource, PartialEq)]
    struct Paused(bool);

    Touching::each(|mut touching, side| {
        let sets = (
            HeadbuttSystems::Sync,
            HeadbuttSystems::BroadPhase,
            HeadbuttSystems::NarrowPhase,
            HeadbuttSystems::Report,
        );
        touching
            .app
            .insert_resource(Paused(false))
            .configure_sets(FixedPostUpdate, sets.run_if(resource_equals(Paused(false))));
        touching.begin();
        touching.world().insert_resource(Paused(true));
        touching.world().despawn(side);
        assert!(frame(&mut touching.app, 5).is_empty());
        touching.world().insert_resource(Paused(false));
        touching.end(EndReason::Despawned);
    });
}

#[test]
fn in_update_each_frame_is_a_tick() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(Update)));
    start_reading_in(&mut app, Last);
    let ball = app.world_mut().spawn(Dimension::D3.ball(1.0)).id();
    app.world_mut().spawn(Dimension::D3.ball(1.0));
    assert!(frame(&mut app, 0).only().started());
    assert!(frame(&mut app, 5).only().ongoing());
    app.world_mut().despawn(ball);
    assert!(frame(&mut app, 0).only().ended());
}

#[test]
fn restoring_the_state_and_the_poses_replays_the_same_events() {
    let mut app = app_by_hand();
    go_round(&mut app);
    let act = |app: &mut App| {
        // Orbits advance in `FixedUpdate`.
        app.world_mut().run_schedule(FixedUpdate);
        run(app).messages
    };
    for _ in 0..20 {
        act(&mut app);
    }
    let saved = app.world().resource::<Collisions>().clone();
    let poses = |app: &mut App| {
        let mut query = app.world_mut().query::<(Entity, &Transform)>();
        let poses = query
            .iter(app.world())
            .map(|(entity, pose)| (entity, *pose));
        poses.collect::<Vec<_>>()
    };
    let ticks: Vec<_> = (0..30).map(|_| (act(&mut app), poses(&mut app))).collect();
    assert!(
        ticks
            .iter()
            .flat_map(|tick| &tick.0)
            .any(CollisionEvent::started)
    );
    assert!(
        ticks
            .iter()
            .flat_map(|tick| &tick.0)
            .any(CollisionEvent::ended)
    );

    app.insert_resource(saved);
    for (messages, poses) in ticks {
        for (entity, pose) in poses {
            *transform(app.world_mut(), entity) = pose;
        }
        assert_eq!(run(&mut app).messages, messages);
    }
}

// Custom candidate pairs.

/// Returns an app that supplies the candidate pairs itself. The system fills the list again in each
/// tick.
fn app_with_pairs<M>(fill: impl IntoSystem<(), (), M>) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        HeadbuttPlugin::default().with_broad_phase(BroadPhase::Custom),
    ));
    app.add_systems(
        FixedPostUpdate,
        IntoSystem::into_system(fill).in_set(HeadbuttSystems::BroadPhase),
    );
    start(&mut app);
    app
}

/// The pairs that [`fill_listed`] supplies.
#[derive(Resource, Default, Clone)]
struct Listed(Vec<(Entity, Entity)>);

fn fill_listed(listed: Option<Res<Listed>>, mut pairs: ResMut<CandidatePairs>) {
    pairs.clear();
    pairs.extend(listed.iter().flat_map(|listed| listed.0.iter().copied()));
}

#[test]
fn with_custom_candidates_only_those_pairs_are_tested() {
    for dimension in Dimension::BOTH {
        let mut app = app_with_pairs(fill_listed);
        let [a, b, c] = [(); 3].map(|()| app.world_mut().spawn(dimension.ball(1.0)).id());
        assert!(tick(&mut app).is_empty());
        app.insert_resource(Listed(vec![(c, a)]));
        let hit = tick(&mut app).only();
        assert!(hit.started());
        assert!(hit.seen_from(a).is_some_and(|hit| hit.other == c));
        assert_eq!(hit.seen_from(b), None);
    }
}

#[test]
fn candidates_may_be_unsorted_repeated_and_without_colliders() {
    for dimension in Dimension::BOTH {
        let mut plain = app_with_pairs(fill_listed);
        let mut wild = app_with_pairs(fill_listed);
        let spawn = |app: &mut App| {
            let world = app.world_mut();
            let row: Vec<_> = (0..8)
                .map(|index| {
                    let pose = Transform::from_xyz(0.5 * index as f32, 0.0, 0.0);
                    world.spawn((dimension.ball(1.0), pose)).id()
                })
                .collect();
            let stranger = match dimension {
                Dimension::D2 => Dimension::D3.ball(1.0),
                Dimension::D3 => Dimension::D2.ball(1.0),
            };
            let useless = [
                world.spawn(stranger).id(),
                world.spawn(Transform::IDENTITY).id(),
                world.spawn_empty().id(),
                world.spawn(Collider::default()).id(),
                {
                    let dead = world.spawn(dimension.ball(1.0)).id();
                    world.despawn(dead);
                    dead
                },
                Entity::PLACEHOLDER,
            ];
            (row, useless)
        };
        let (row, _) = spawn(&mut plain);
        let (same_row, useless) = spawn(&mut wild);
        assert_eq!(row, same_row);

        let pairs = row
            .iter()
            .enumerate()
            .flat_map(|(index, a)| row[index + 1..].iter().map(|b| (*a, *b)));
        let pairs: Vec<_> = pairs.collect();
        plain.insert_resource(Listed(pairs.clone()));
        let mut random = StdRng::seed_from_u64(5);
        for step in 0..20 {
            let mut wild_pairs = pairs.clone();
            wild_pairs.extend(pairs.iter().map(|(a, b)| (*b, *a)));
            wild_pairs.extend(pairs.iter().filter(|_| random.random()));
            wild_pairs.extend(row.iter().map(|a| (*a, *a)));
            for nothing in useless {
                wild_pairs.extend(row.iter().map(|a| (*a, nothing)));
                wild_pairs.extend(row.iter().map(|a| (nothing, *a)));
                wild_pairs.extend(useless.iter().map(|other| (nothing, *other)));
            }
            wild_pairs.shuffle(&mut random);
            wild.insert_resource(Listed(wild_pairs));
            for app in [&mut plain, &mut wild] {
                transform(app.world_mut(), row[step % 8]).translation.y += 0.7;
            }
            let expected = tick(&mut plain).messages;
            assert!(!expected.is_empty());
            assert_eq!(tick(&mut wild).messages, expected);
        }
    }
}

#[test]
fn a_pair_removed_from_the_candidates_ends_with_that_reason() {
    for dimension in Dimension::BOTH {
        let mut touching = Touching::new(app_with_pairs(fill_listed), dimension);
        let [ball, block] = touching.sides;
        let listed = Listed(vec![(block, ball), (ball, block)]);
        touching.app.insert_resource(listed.clone());
        touching.begin();
        touching.go_on();
        touching.app.insert_resource(Listed::default());
        touching.end(EndReason::NotCandidate);
        touching.app.insert_resource(listed);
        touching.begin();
    }
}

#[test]
fn missing_candidacy_ranks_between_layers_and_separation_as_end_reason() {
    let acts: [(EndReason, Act); 4] = [
        (EndReason::Despawned, despawn),
        (EndReason::Invalid, lose_pose),
        (EndReason::Filtered, leave_layers),
        (EndReason::NotCandidate, move_away),
    ];
    for (reason, act) in acts {
        for dimension in Dimension::BOTH {
            for side in 0..2 {
                let mut touching = Touching::new(app_with_pairs(fill_listed), dimension);
                let [ball, block] = touching.sides;
                touching.app.insert_resource(Listed(vec![(ball, block)]));
                touching.begin();
                touching.app.insert_resource(Listed::default());
                let entity = touching.sides[side];
                act(touching.world(), entity);
                touching.end(reason);
            }
        }
    }
}

#[test]
fn candidates_that_separate_or_despawn_end_with_the_usual_reasons() {
    for dimension in Dimension::BOTH {
        let mut touching = Touching::new(app_with_pairs(fill_listed), dimension);
        let [ball, block] = touching.sides;
        touching.app.insert_resource(Listed(vec![(ball, block)]));
        touching.begin();
        transform(touching.world(), block).translation.x += 5.0;
        touching.end(EndReason::Separated);
        transform(touching.world(), block).translation.x -= 5.0;
        touching.begin();
        touching.world().despawn(block);
        touching.end(EndReason::Despawned);
    }
}

#[test]
fn candidates_stay_until_they_are_cleared() {
    for dimension in Dimension::BOTH {
        let mut touching = Touching::new(app_with_pairs(|| {}), dimension);
        let [ball, block] = touching.sides;
        assert!(tick(&mut touching.app).is_empty());
        touching
            .world()
            .resource_mut::<CandidatePairs>()
            .push(ball, block);
        touching.begin();
        touching.go_on();
        touching.world().resource_mut::<CandidatePairs>().clear();
        touching.end(EndReason::NotCandidate);
    }
}

#[test]
fn layers_filter_custom_candidates() {
    for dimension in Dimension::BOTH {
        let mut touching = Touching::new(app_with_pairs(fill_listed), dimension);
        let [ball, block] = touching.sides;
        touching.app.insert_resource(Listed(vec![(ball, block)]));
        let layers = CollisionLayers::new(1, 2);
        touching.world().entity_mut(ball).insert(layers);
        touching.world().entity_mut(block).insert(layers);
        assert!(tick(&mut touching.app).is_empty());
        let layers = CollisionLayers::new(2, 1);
        touching.world().entity_mut(block).insert(layers);
        touching.begin();
    }
}

#[test]
fn the_built_in_broad_phase_yields_few_pairs_that_do_not_touch() {
    let mut app = app();
    go_round(&mut app);
    let ball = app.world_mut().spawn(Dimension::D3.ball(1.0)).id();
    watch(app.world_mut(), ball);
    for _ in 0..50 {
        let messages = tick(&mut app).messages;
        let hits = messages.iter().filter(|hit| !hit.ended()).count();
        let pairs = app.world().resource::<CollisionDiagnostics>().candidates;
        // Twenty colliders in two rows have 190 pairs.
        assert!(hits <= pairs && pairs < 100);
    }
}

/// Runs an app that pauses after some frames, with a tick in each frame. Returns the number of
/// messages that Bevy keeps in the end, and the number of messages that a reader in `Update` saw.
fn messages_in_a_pause(remedy: impl FnOnce(&mut App)) -> (usize, usize) {
    #[derive(Resource, Default)]
    struct Seen(usize);

    fn see(mut hits: MessageReader<CollisionEvent>, mut seen: ResMut<Seen>) {
        seen.0 += hits.read().count();
    }

    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(PostUpdate)))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(1)))
        .init_resource::<Seen>()
        .add_systems(Update, see);
    remedy(&mut app);
    for number in 0..100 {
        if number == 10 {
            let world = app.world_mut();
            world.spawn(Collider::from(Circle::new(1.0)));
            world.spawn(Collider::from(Circle::new(1.0)));
            world.resource_mut::<Time<Virtual>>().pause();
        }
        app.update();
    }
    let messages = app.world().resource::<Messages<CollisionEvent>>();
    (messages.len(), app.world().resource::<Seen>().0)
}

/// The remedies that the docs of `HeadbuttPlugin::in_schedule` name.
#[test]
fn messages_do_not_pile_up_in_a_pause_if_the_app_updates_them() {
    fn is_paused(time: Res<Time<Virtual>>) -> bool {
        time.effective_speed() == 0.0
    }
    // Without a remedy, the messages pile up. A reader sees the messages of all frames before its
    // own.
    assert_eq!(messages_in_a_pause(|_| {}), (90, 89));
    let signal = |app: &mut App| {
        app.add_systems(Last, signal_message_update_system.run_if(is_paused));
    };
    assert_eq!(messages_in_a_pause(signal), (2, 89));
    let on_change = |app: &mut App| {
        app.insert_resource(OngoingEvents::OnChange);
    };
    assert_eq!(messages_in_a_pause(on_change), (1, 1));
}
