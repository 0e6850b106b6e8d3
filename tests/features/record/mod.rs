//! Recordings: a replay has the same contacts and events as the session, bit for bit, forwards and
//! backwards, and damaged files are errors.
//!
//! For a long run:
//!
//! ```text
//! HEADBUTT_REPLAY=10000 cargo test --release --test features record:: \
//!     --features mesh,serialize,picking,debug-plugin,overlay,record
//! ```

mod damage;
mod session;

use std::{
    env, fs,
    io::{self, Write},
};

use crate::support::{Dimension, app, tick, transform, warnings::Warnings};
use bevy::{math::DVec2, prelude::*};
use headbutt::{
    Collisions, HeadbuttRecorder, Recording, Replay, ReplayError, ReplayTick, Support, prelude::*,
};
use rand::{Rng, SeedableRng, rngs::StdRng};
use session::{Chaos, Memory, Session, bits, tick_count};

#[test]
fn a_replay_has_the_contacts_of_the_session_forwards_back_and_after_jumps() {
    let ticks = tick_count();
    let session = Session::chaos(1, 12, ticks);
    let touching = session
        .contacts
        .iter()
        .filter(|contacts| contacts.len() > 8);
    assert!(2 * touching.count() > ticks);
    let mut player = session.replay();
    for tick in 0..ticks {
        let has_events = player.assert_equal(tick, &session);
        assert!(has_events, "{tick}");
    }
    for tick in (0..ticks).rev() {
        player.assert_equal(tick, &session);
    }
    let mut random = StdRng::seed_from_u64(2);
    for _ in 0..300 {
        player.assert_equal(random.random_range(0..ticks), &session);
    }
}

/// The whole grid takes about 3 KB, and a change about 50 bytes.
#[test]
fn of_an_edited_grid_only_the_changed_cells_are_recorded() {
    let mut app = app();
    let tables = [0.4, 0.6].map(|height| {
        let slab = Rectangle::new(1.0, height);
        CellGrid::with_shapes(Vec2::ONE, [slab]).expect("a slab in a cell")
    });
    let mut grid = tables[0].clone();
    grid.fill(IVec2::new(-40, -20), IVec2::new(39, -1), Cell::SOLID)
        .expect("a small grid");
    let world = app.world_mut();
    let level = world.spawn(Collider::cells(&grid)).id();
    let mut random = StdRng::seed_from_u64(4);
    for number in 0..40 {
        let place = Transform::from_xyz(2.0 * number as f32 - 39.5, 0.4, 0.0);
        world.spawn((Collider::circle(0.5), place));
    }
    let session = Session::record(&mut app, 60, |world, tick| {
        let at = IVec2::new(random.random_range(-40..40), random.random_range(-2..1));
        let cells = [Cell::EMPTY, Cell::SOLID, Cell::slope(0, 8), Cell::shape(0)];
        let cell = cells[random.random_range(0..4)];
        if tick == 31 {
            // Another table of shapes, for which the whole grid is recorded.
            let mut other = tables[1].clone();
            other.extend(grid.iter());
            grid = other;
        }
        grid.set(at, cell);
        let mut collider = world.get_mut::<Collider>(level).expect("a level");
        if tick % 2 == 0 {
            let set = |grid: &mut CellGrid<Vec2>| grid.set(at, cell);
            collider.edit_cells(set).expect("a valid grid");
        } else {
            *collider = Collider::cells(&grid);
        }
    });
    assert!(
        session.bytes.len() < 16_000,
        "{} bytes",
        session.bytes.len()
    );
    let mut player = session.replay();
    for tick in (0..60).chain((0..60).rev()).chain([7, 50, 20]) {
        player.assert_equal(tick, &session);
    }
}

/// The app that plays a recording has no filters.
#[test]
fn rejected_pairs_and_contacts_are_replayed_without_the_filters() {
    #[derive(Resource)]
    struct Gate(u32);

    let mut app = app();
    app.insert_resource(Gate(0));
    app.add_pair_filter::<Swept, Res<Gate>>(|pair, gate| {
        let sum = pair.entity.index_u32() + pair.other.index_u32() + gate.0;
        !sum.is_multiple_of(3)
    });
    app.add_contact_filter::<Swept, Res<Gate>>(|contact, gate| {
        let sum = contact.part() + contact.other_part() + gate.0 + u32::from(contact.time() < 1.0);
        contact.normal.y < 0.5 || !sum.is_multiple_of(2)
    });
    let mut chaos = Chaos::new(9, 10, app.world_mut());
    let mut rejected = 0;
    let session = Session::record(&mut app, 120, |world, _| {
        chaos.go_on(world);
        world.resource_mut::<Gate>().0 += 1;
        let messages = world.resource::<Messages<CollisionEvent>>();
        let ends = messages.iter_current_update_messages();
        rejected += ends
            .filter(|hit| hit.end_reason() == Some(EndReason::Rejected))
            .count();
    });
    assert!(rejected > 50, "{rejected}");
    let mut player = session.replay();
    for tick in (0..120).chain((0..120).rev()).chain([7, 70, 20]) {
        player.assert_equal(tick, &session);
    }
}

/// The balls of the replay are larger than in the session by one rounding step.
#[test]
fn a_replay_reports_a_contact_that_differs_from_the_session() {
    let mut app = app();
    let ball = || Collider::circle(0.5);
    let world = app.world_mut();
    world.spawn((ball(), Transform::IDENTITY));
    let other = world.spawn((ball(), Transform::from_xyz(0.6, 0.0, 0.0)));
    let other = other.id();
    let session = Session::record(&mut app, 4, |world, _| {
        transform(world, other).translation.x += 0.01;
    });
    let mut player = session.replay();
    player.assert_equal(2, &session);
    let world = player.app.world_mut();
    let mut poses = world.query::<&mut Transform>();
    for mut pose in poses.iter_mut(world) {
        pose.scale = Vec3::splat(1.0 + f32::EPSILON);
    }
    let played = player.replay.go_to(world, 3).expect("a tick");
    assert!(!played.is_equal() && !played.contacts_equal, "{played:?}");
    assert_eq!(played.contacts, played.recorded_contacts);
    let mut poses = world.query_filtered::<Entity, With<Collider>>();
    let first = poses.iter(world).next().expect("a collider");
    world.despawn(first);
    let played = player.replay.go_to(world, 1).expect("a tick");
    assert_eq!((played.contacts, played.recorded_contacts), (0, 1));
}

/// Runs a session twice, with and without a recorder.
#[test]
fn recording_does_not_change_the_events() {
    let run = |is_recorded: bool| {
        let mut app = app();
        // A resource takes an entity id, so the ids are equal only if both runs have a resource.
        app.insert_resource(if is_recorded {
            HeadbuttRecorder::new(io::sink())
        } else {
            HeadbuttRecorder::new(Full(0))
        });
        let mut chaos = Chaos::new(3, 10, app.world_mut());
        let mut events = Vec::new();
        for _ in 0..300 {
            chaos.go_on(app.world_mut());
            events.extend(tick(&mut app).messages);
        }
        events
    };
    let events = run(true);
    assert!(events.len() > 1_000);
    // The `Debug` text distinguishes all f32 values, and is the same for every NaN.
    assert!(format!("{events:?}") == format!("{:?}", run(false)));
}

#[test]
fn a_recorder_may_begin_and_end_at_any_time() {
    let mut app = app();
    let mut chaos = Chaos::new(4, 10, app.world_mut());
    for _ in 0..3 {
        for _ in 0..20 {
            chaos.go_on(app.world_mut());
            tick(&mut app);
        }
        let expected = 39 + usize::from(app.world().resource::<Collisions>().is_empty());
        let session = Session::record(&mut app, 40, |world, _| chaos.go_on(world));
        app.world_mut().remove_resource::<HeadbuttRecorder>();
        let mut player = session.replay();
        let checked = (0..40).filter(|tick| player.assert_equal(*tick, &session));
        // The contacts of the first tick began before the recording.
        assert_eq!(checked.count(), expected);
        for tick in (0..40).rev() {
            player.assert_equal(tick, &session);
        }
    }
}

/// A rollback writes old contacts, on which the events of the next tick depend.
#[test]
fn a_tick_after_a_rollback_is_compared_without_events() {
    let mut app = app();
    let mut chaos = Chaos::new(5, 10, app.world_mut());
    let mut saved = Collisions::default();
    let session = Session::record(&mut app, 60, |world, number| {
        chaos.go_on(world);
        if number == 30 {
            saved = world.resource::<Collisions>().clone();
        }
        if number == 40 {
            *world.resource_mut::<Collisions>() = saved.clone();
        }
    });
    let mut player = session.replay();
    for tick in (0..60).chain((0..60).rev()) {
        let has_events = player.assert_equal(tick, &session);
        assert_eq!(has_events, tick != 40);
    }
}

/// A point with a radius, as a shape of the app.
#[derive(Clone)]
struct Ball;

impl Support for Ball {
    type Vector = Vec2;

    fn support(&self, _: DVec2) -> DVec2 {
        DVec2::ZERO
    }

    fn radius(&self) -> f64 {
        0.5
    }
}

#[test]
fn a_custom_shape_is_left_out_with_one_warning_that_names_its_entity() {
    let warnings = Warnings::listen();
    let mut app = app();
    let world = app.world_mut();
    let parts = (Collider::custom(Ball), Name::new("mine"), Swept);
    let custom = world.spawn(parts).id();
    let pose = Transform::from_xyz(0.4, 0.0, 0.0);
    world.spawn((Collider::circle(0.5), pose));
    world.spawn(Collider::circle(0.5));
    let memory = Memory::default();
    app.insert_resource(HeadbuttRecorder::new(memory.clone()));
    for _ in 0..3 {
        transform(app.world_mut(), custom).translation.x += 0.01;
        tick(&mut app);
    }
    warnings.assert_one_naming(custom, "mine");
    assert_eq!(app.world().resource::<Collisions>().len(), 3);
    let recording = Recording::read(memory.bytes()).expect("a recording");
    assert_eq!(recording.crate_version(), env!("CARGO_PKG_VERSION"));
    assert_eq!(recording.omitted(), 1);
    assert_eq!(recording.crate_version(), env!("CARGO_PKG_VERSION"));
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
    let mut replay = Replay::new(recording);
    for tick in 0..3 {
        let played = replay.go_to(app.world_mut(), tick).expect("a tick");
        assert!(played.is_equal() && played.contacts == 1, "{played:?}");
    }
}

/// Plays a recording forwards and backwards. Asserts that it has `ticks` ticks, and that all ticks
/// equal the ticks of the session.
fn assert_replays(bytes: Vec<u8>, ticks: usize) {
    let recording = Recording::read(bytes).expect("a recording");
    assert_eq!(recording.len(), ticks);
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
    let mut replay = Replay::new(recording);
    for tick in (0..ticks).chain((0..ticks).rev()) {
        let played = replay.go_to(app.world_mut(), tick).expect("a tick");
        assert!(played.is_equal(), "{played:?}");
        assert_ne!(played.events_equal, None, "{tick}");
    }
}

/// The shape remains a circle, so the contact continues. The third circle has a contact of its own.
#[test]
fn a_collider_that_becomes_custom_while_it_touches_is_replayed_without_its_contacts() {
    let custom = || Collider::custom(Ball);
    let circle = || Collider::circle(0.5);
    for colliders in [
        [Some(circle()), Some(custom()), Some(circle()), None],
        [
            Some(custom()),
            Some(circle()),
            Some(custom()),
            Some(circle()),
        ],
        [Some(custom()), None, Some(circle()), Some(custom())],
        [Some(circle()), Some(custom()), None, Some(custom())],
    ] {
        let mut app = app();
        let world = app.world_mut();
        let changing = world.spawn(Transform::default()).id();
        for x in [0.75, 1.5] {
            world.spawn((circle(), Transform::from_xyz(x, 0.0, 0.0)));
        }
        let memory = Memory::default();
        app.insert_resource(HeadbuttRecorder::new(memory.clone()));
        for collider in colliders {
            let count = 1 + usize::from(collider.is_some());
            let mut entity = app.world_mut().entity_mut(changing);
            match collider {
                Some(collider) => entity.insert(collider),
                None => entity.remove::<Collider>(),
            };
            for _ in 0..2 {
                tick(&mut app);
                assert_eq!(app.world().resource::<Collisions>().len(), count);
            }
        }
        app.world_mut().despawn(changing);
        tick(&mut app);
        assert_replays(memory.bytes(), 9);
    }
}

/// The bullet's shape becomes custom, and then a circle again. The bullet flies back and forth
/// through a moving wall. In some ticks, the wall is swept, too, and hits a ball at rest.
#[test]
fn paths_are_replayed_after_a_swept_collider_was_custom() {
    let mut app = app();
    let world = app.world_mut();
    let bullet = world.spawn((Collider::circle(0.5), Swept)).id();
    let wall = world.spawn(Collider::rectangle(0.1, 50.0)).id();
    world.spawn((Collider::circle(0.2), Transform::from_xyz(0.0, 9.0, 0.0)));
    let memory = Memory::default();
    app.insert_resource(HeadbuttRecorder::new(memory.clone()));
    let mut hits = 0;
    for number in 0..60 {
        let world = app.world_mut();
        let side = if number % 2 == 0 { 1.0 } else { -1.0 };
        transform(world, bullet).translation.x = 9.0 * side;
        transform(world, wall).translation.x = -side;
        match number % 12 {
            3 => {
                world.entity_mut(bullet).insert(Collider::custom(Ball));
            }
            7 => {
                world.entity_mut(bullet).insert(Collider::circle(0.5));
            }
            5 | 8 => {
                world.entity_mut(wall).insert(Swept);
            }
            6 | 11 => {
                world.entity_mut(wall).remove::<Swept>();
            }
            _ => {}
        }
        let found = tick(&mut app).messages;
        hits += found.iter().filter(|hit| hit.started()).count();
    }
    // The bullet has no path in the first tick. The wall is swept in 4 of 12 ticks.
    assert_eq!(hits, 59 + 20);
    assert_replays(memory.bytes(), 60);
}

/// All earlier ticks decide if a ball meets a platform.
#[test]
fn one_way_colliders_are_replayed_at_any_tick() {
    let mut app = app();
    let world = app.world_mut();
    let platform = world.spawn((Collider::rectangle(9.0, 1.0), OneWay::default()));
    let platform = platform.id();
    // One-way cells depend on earlier ticks as well.
    let mut ledge = CellGrid::new(Vec2::ONE);
    let row = [IVec2::new(-4, -2), IVec2::new(3, -2)];
    ledge
        .fill(row[0], row[1], Cell::one_way(CellDirection::Y))
        .unwrap();
    let ledge = Collider::cells(&ledge);
    world.spawn(ledge);
    let balls = [-3.0, -1.0, 1.0, 3.0].map(|x| {
        let pose = Transform::from_xyz(x, -1.5, 0.0);
        world.spawn((Collider::circle(0.5), pose)).id()
    });
    let mut random = StdRng::seed_from_u64(5);
    let ticks = 120;
    let session = Session::record(&mut app, ticks, |world, number| {
        for ball in balls {
            let mut pose = transform(world, ball);
            pose.translation.y = pose.translation.y.clamp(-2.0, 2.0);
            pose.translation.y += random.random_range(-0.4..0.4);
        }
        let ball = balls[random.random_range(0..4)];
        match number % 8 {
            2 => {
                world.entity_mut(ball).insert(PassThrough);
            }
            4 | 5 => {
                world.entity_mut(ball).remove::<PassThrough>();
            }
            7 => {
                let direction = [Vec3::Y, Vec3::NEG_Y][number / 8 % 2];
                let one_way = OneWay::new(direction).with_margin(0.1);
                world.entity_mut(platform).insert(one_way);
            }
            _ => {}
        }
    });
    let contacts: usize = session.contacts.iter().map(Vec::len).sum();
    assert!(contacts > 40, "{contacts}");
    let mut player = session.replay();
    for tick in 0..ticks {
        player.assert_equal(tick, &session);
    }
    for _ in 0..12 {
        player.assert_equal(random.random_range(0..ticks), &session);
    }
}

#[test]
fn grounds_are_replayed_at_any_tick() {
    let mut app = app();
    let world = app.world_mut();
    let blocks = [-8.0, 8.0].map(|x| {
        let pose = Transform::from_xyz(x, -8.0, 0.0);
        let block = Collider::rectangle(16.0, 16.0);
        world.spawn((block, pose, JoinedCollider(1))).id()
    });
    let body = world.spawn(Collider::rectangle(12.0, 12.0)).id();
    let mut random = StdRng::seed_from_u64(6);
    let ticks = 60;
    let session = Session::record(&mut app, ticks, |world, number| {
        transform(world, body).translation.x = random.random_range(-4.0..4.0);
        let mut block = world.entity_mut(blocks[number / 4 % 2]);
        match number % 4 {
            1 => {
                block.remove::<JoinedCollider>();
            }
            2 => {
                block.insert(JoinedCollider(2));
            }
            3 => {
                block.insert(JoinedCollider(1));
            }
            _ => {}
        }
    });
    let mut player = session.replay();
    for tick in (0..ticks).chain([40, 3, 22]) {
        player.assert_equal(tick, &session);
    }
}

#[test]
fn random_sessions_in_which_colliders_become_custom_are_replayed() {
    let mut custom_contacts = 0;
    for seed in 0..4 {
        let mut app = app();
        let mut chaos = Chaos::new(100 + seed, 10, app.world_mut());
        let mut random = StdRng::seed_from_u64(seed);
        let memory = Memory::default();
        app.insert_resource(HeadbuttRecorder::new(memory.clone()));
        for _ in 0..150 {
            chaos.go_on(app.world_mut());
            let (entity, dimension) = chaos.alive[random.random_range(0..chaos.alive.len())];
            if dimension == Dimension::D2 && random.random_bool(0.3) {
                app.world_mut()
                    .entity_mut(entity)
                    .insert((Collider::custom(Ball), Custom));
            }
            tick(&mut app);
            let world = app.world();
            let is_custom = |entity| world.get::<Custom>(entity).is_some();
            let hits = world.resource::<Collisions>().iter();
            custom_contacts += hits.filter(|hit| is_custom(hit.entity)).count();
        }
        assert_replays(memory.bytes(), 150);
    }
    assert!(custom_contacts > 200, "{custom_contacts}");
}

/// Marks a collider that was custom at least once.
#[derive(Component)]
struct Custom;

/// A writer that fails after some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_recording_that_cannot_be_written_ends_with_one_warning() {
    let warnings = Warnings::listen();
    for make in [
        || HeadbuttRecorder::to_file(env::temp_dir().join("no such folder/session.headbutt")),
        || HeadbuttRecorder::new(Full(2_000)),
        || HeadbuttRecorder::new(Full(5)),
    ] {
        let mut app = app();
        app.insert_resource(make());
        let chaos = Chaos::new(6, 5, app.world_mut());
        for _ in 0..50 {
            for (entity, _) in &chaos.alive {
                transform(app.world_mut(), *entity).translation.x += 0.01;
            }
            tick(&mut app);
        }
        assert!(!app.world().resource::<HeadbuttRecorder>().is_recording());
        let lines = warnings.take();
        let of_recording = lines.iter().filter(|line| line.contains("recording"));
        assert_eq!(of_recording.count(), 1, "{lines:#?}");
    }
}

/// While bullets appear and disappear, the bytes that a recorder keeps do not grow.
#[test]
fn the_memory_of_a_recorder_does_not_grow_with_the_session() {
    let mut app = app();
    app.insert_resource(HeadbuttRecorder::new(io::sink()));
    app.world_mut().spawn(Collider::circle(20.0));
    let mut run = |ticks: usize| {
        for number in 0..ticks {
            let world = app.world_mut();
            let radius = 0.5 + number as f32 * 1e-4;
            let bullet = world.spawn((Collider::circle(radius), Swept)).id();
            tick(&mut app);
            transform(app.world_mut(), bullet).translation.x = 1.0;
            tick(&mut app);
            app.world_mut().despawn(bullet);
        }
    };
    run(200);
    let counted = allocation_counter::measure(|| run(2_000));
    // Each of 2,000 bullets takes more than 100 bytes of the recording.
    assert!(counted.bytes_current < 20_000, "{}", counted.bytes_current);
    assert!(counted.bytes_total > 200_000, "{}", counted.bytes_total);
}

#[test]
fn a_missing_tick_or_plugin_is_an_error() {
    let session = Session::chaos(10, 4, 3);
    let mut player = session.replay();
    let error = player.replay.go_to(player.app.world_mut(), 3);
    assert_eq!(error, Err(ReplayError::NoSuchTick { tick: 3, count: 3 }));
    let error = player.replay.go_to(&mut World::new(), 0);
    assert_eq!(error, Err(ReplayError::NoPlugin));
    player.assert_equal(0, &session);
}

#[test]
fn a_hierarchy_with_a_loop_is_recorded_and_replayed() {
    let mut app = app();
    let world = app.world_mut();
    let [a, b] = [(); 2].map(|()| world.spawn(Collider::circle(1.0)).id());
    world.spawn(Collider::circle(1.0));
    world.entity_mut(a).insert(ChildOf(b));
    let session = Session::record(&mut app, 4, |world, number| match number {
        1 => {
            world.entity_mut(b).insert(ChildOf(a));
        }
        2 => {
            world.entity_mut(b).remove::<ChildOf>();
        }
        _ => {}
    });
    let counts: Vec<_> = session.contacts.iter().map(Vec::len).collect();
    assert_eq!(counts, [6, 0, 6, 6]);
    let mut player = session.replay();
    for tick in [0, 1, 2, 3, 2, 1, 0, 3, 1, 3] {
        player.assert_equal(tick, &session);
    }
}

/// Another build, on another machine, made the recordings in the repository.
#[test]
fn the_recordings_of_the_examples_replay_forwards_and_back() {
    for name in ["bouncing_2d", "tumbling_3d", "shooting_range"] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/recordings");
        let path = format!("{folder}/{name}.headbutt");
        let bytes = fs::read(path).expect("a recording");
        assert!(bytes.len() < 100_000, "{name}");
        let recording = Recording::read(bytes).expect(name);
        let ticks = recording.len();
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
        let mut replay = Replay::new(recording);
        let mut contacts = 0;
        for tick in (0..ticks).chain((0..ticks).rev()) {
            let played = replay.go_to(app.world_mut(), tick).expect("a tick");
            assert!(played.is_equal(), "{name}: {played:?}");
            contacts += played.contacts;
        }
        assert!(
            ticks >= 300 && contacts > 100,
            "{name}: {ticks} ticks, {contacts} contacts"
        );
    }
}

#[test]
fn a_recorder_that_is_removed_and_inserted_again_continues() {
    let mut app = app();
    let mut chaos = Chaos::new(11, 10, app.world_mut());
    let memory = Memory::default();
    app.insert_resource(HeadbuttRecorder::new(memory.clone()));
    let mut contacts = Vec::new();
    for _ in 0..4 {
        for _ in 0..15 {
            chaos.go_on(app.world_mut());
            tick(&mut app);
            contacts.push(bits(app.world()));
        }
        let recorder = app.world_mut().remove_resource::<HeadbuttRecorder>();
        for _ in 0..5 {
            chaos.go_on(app.world_mut());
            tick(&mut app);
        }
        app.insert_resource(recorder.expect("a recorder"));
    }
    let bytes = memory.bytes();
    let session = Session { bytes, contacts };
    let mut player = session.replay();
    for number in (0..60).chain((0..60).rev()) {
        let has_events = player.assert_equal(number, &session);
        // After ticks without this recorder, the previous contacts are unknown.
        assert_eq!(has_events, number == 0 || number % 15 != 0, "{number}");
    }
}

/// Each recorder omits the ticks of the other recorders, and no recorder records some of the ticks.
#[test]
fn recorders_in_turn_each_have_the_moves_of_all_ticks() {
    let mut app = app();
    let mut chaos = Chaos::new(12, 8, app.world_mut());
    let mut random = StdRng::seed_from_u64(3);
    let memories = [(); 3].map(|()| Memory::default());
    let mut recorders = memories.clone().map(HeadbuttRecorder::new).map(Some);
    let mut contacts = [const { Vec::new() }; 3];
    for _ in 0..200 {
        let turn = random.random_range(0..4);
        if let Some(recorder) = recorders.get_mut(turn).and_then(Option::take) {
            app.insert_resource(recorder);
        }
        for _ in 0..random.random_range(1..4) {
            chaos.go_on(app.world_mut());
            tick(&mut app);
            if let Some(contacts) = contacts.get_mut(turn) {
                contacts.push(bits(app.world()));
            }
        }
        if let Some(recorder) = recorders.get_mut(turn) {
            *recorder = app.world_mut().remove_resource::<HeadbuttRecorder>();
        }
    }
    for (memory, contacts) in memories.into_iter().zip(contacts) {
        let ticks = contacts.len();
        assert!(ticks > 70, "{ticks}");
        let bytes = memory.bytes();
        let session = Session { bytes, contacts };
        let mut player = session.replay();
        for number in (0..ticks).chain((0..ticks).rev()) {
            player.assert_equal(number, &session);
        }
    }
}

/// A system of the app makes the same move in each part of a tick. The move counts in this tick if
/// the tick has not been read yet, and otherwise in the next tick.
#[test]
fn systems_that_move_colliders_within_a_tick_do_not_change_its_recording() {
    #[derive(Component)]
    struct Moving;

    fn step<const NUMBER: usize>(mut moving: Query<&mut Transform, With<Moving>>) {
        for mut pose in &mut moving {
            // The collider moves from one ball to the other, so that contacts start and end.
            pose.translation.x = 0.3 * ((5.0 * pose.translation.x + 0.7 + NUMBER as f32) % 8.0);
        }
    }

    fn add_steps(app: &mut App) {
        let stages = [
            HeadbuttSystems::Sync,
            HeadbuttSystems::BroadPhase,
            HeadbuttSystems::NarrowPhase,
            HeadbuttSystems::Report,
        ];
        for stage in stages {
            let steps = (step::<0>, step::<1>, step::<2>, step::<3>, step::<4>);
            app.add_systems(ReplayTick, steps.in_set(stage));
        }
    }

    for is_first in [true, false] {
        let mut app = App::new();
        if is_first {
            add_steps(&mut app);
        }
        app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
        if !is_first {
            add_steps(&mut app);
        }
        let world = app.world_mut();
        world.spawn((Collider::circle(0.5), Moving));
        world.spawn(Collider::circle(0.5));
        world.spawn((Collider::circle(0.5), Transform::from_xyz(2.6, 0.0, 0.0)));
        let memory = Memory::default();
        world.insert_resource(HeadbuttRecorder::new(memory.clone()));
        let mut counts = Vec::new();
        for _ in 0..100 {
            world.run_schedule(ReplayTick);
            counts.push(world.resource::<Collisions>().len());
        }
        counts.dedup();
        assert!(counts.len() > 20, "{counts:?}");
        assert_replays(memory.bytes(), 100);
    }
}

#[test]
fn a_recorder_inserted_by_an_observer_begins_with_the_next_tick() {
    let mut app = app();
    let world = app.world_mut();
    let [first, _] = [(); 2].map(|()| world.spawn(Collider::circle(1.0)).id());
    let memory = Memory::default();
    let file = memory.clone();
    world
        .entity_mut(first)
        .observe(move |_: On<CollisionStarted>, mut commands: Commands| {
            commands.insert_resource(HeadbuttRecorder::new(file.clone()));
        });
    tick(&mut app);
    let contacts = (0..3).map(|_| {
        tick(&mut app);
        bits(app.world())
    });
    let contacts: Vec<_> = contacts.collect();
    let bytes = memory.bytes();
    let session = Session { bytes, contacts };
    let mut player = session.replay();
    for number in [0, 1, 2, 1, 0] {
        // The contact began before the recording.
        assert_eq!(player.assert_equal(number, &session), number != 0);
    }
}

#[test]
fn a_recorder_removed_and_inserted_within_ticks_records_only_whole_ticks() {
    let mut app = app();
    let world = app.world_mut();
    let [first, _] = [(); 2].map(|()| world.spawn(Collider::circle(1.0)).id());
    let memory = Memory::default();
    app.insert_resource(HeadbuttRecorder::new(memory.clone()));
    let world = app.world_mut();
    world.init_resource::<Kept>();
    world
        .entity_mut(first)
        .observe(remove_recorder)
        .observe(insert_recorder);
    let mut contacts = Vec::new();
    // The recorder is removed in the second tick and inserted in the fourth tick.
    for (number, x) in [9.0, 0.0, 0.0, 9.0, 9.0, 9.0].into_iter().enumerate() {
        app.world_mut()
            .entity_mut(first)
            .insert(Transform::from_xyz(x, 0.0, 0.0));
        tick(&mut app);
        if [0, 4, 5].contains(&number) {
            contacts.push(bits(app.world()));
        }
    }
    let session = Session {
        bytes: memory.bytes(),
        contacts,
    };
    // `replay` asserts that the recording has only these three ticks.
    let mut player = session.replay();
    for number in [0, 1, 2, 1, 0] {
        player.assert_equal(number, &session);
    }
}

#[test]
fn a_tick_without_its_first_stage_is_not_recorded() {
    let mut app = app();
    app.world_mut().spawn(Collider::circle(1.0));
    app.insert_resource(Paused(false));
    let stage = HeadbuttSystems::Sync.run_if(resource_equals(Paused(false)));
    app.configure_sets(FixedPostUpdate, stage);
    let memory = Memory::default();
    app.insert_resource(HeadbuttRecorder::new(memory.clone()));
    let mut contacts = Vec::new();
    for is_paused in [false, true, true, false] {
        app.insert_resource(Paused(is_paused));
        tick(&mut app);
        if !is_paused {
            contacts.push(bits(app.world()));
        }
    }
    let bytes = memory.bytes();
    let session = Session { bytes, contacts };
    // `replay` asserts that the recording has only these two ticks.
    let mut player = session.replay();
    player.assert_equal(1, &session);
}

/// The teleport makes the ball forget its platform, although its pose stays the same.
#[test]
fn a_teleport_before_an_aborted_tick_is_replayed() {
    let mut app = app();
    let world = app.world_mut();
    world.spawn((Collider::rectangle(9.0, 1.0), OneWay::default()));
    let pose = Transform::from_xyz(0.0, 1.2, 0.0);
    let ball = world.spawn((Collider::circle(0.5), pose)).id();
    app.insert_resource(Paused(false));
    let stage = HeadbuttSystems::NarrowPhase.run_if(resource_equals(Paused(false)));
    app.configure_sets(FixedPostUpdate, stage);
    let memory = Memory::default();
    app.insert_resource(HeadbuttRecorder::new(memory.clone()));
    let mut contacts = Vec::new();
    for number in 0..5 {
        if number == 1 {
            transform(app.world_mut(), ball).translation.y = 0.9;
        }
        let is_aborted = number == 3;
        if is_aborted {
            app.world_mut().entity_mut(ball).insert(Teleported);
        }
        app.insert_resource(Paused(is_aborted));
        tick(&mut app);
        if !is_aborted {
            contacts.push(bits(app.world()));
        }
    }
    let touches = contacts.iter().map(|contacts| !contacts.is_empty());
    assert!(touches.eq([false, true, true, false]));
    let bytes = memory.bytes();
    let session = Session { bytes, contacts };
    let mut player = session.replay();
    for number in [0, 1, 2, 3, 1, 3] {
        player.assert_equal(number, &session);
    }
}

#[derive(Resource, PartialEq)]
struct Paused(bool);

#[derive(Resource, Default)]
struct Kept(Option<HeadbuttRecorder>);

fn remove_recorder(_: On<CollisionStarted>, mut commands: Commands) {
    commands.queue(|world: &mut World| {
        let recorder = world.remove_resource::<HeadbuttRecorder>();
        world.resource_mut::<Kept>().0 = recorder;
    });
}

fn insert_recorder(_: On<CollisionEnded>, mut commands: Commands) {
    commands.queue(|world: &mut World| {
        let recorder = world.resource_mut::<Kept>().0.take();
        world.insert_resource(recorder.expect("a recorder"));
    });
}
