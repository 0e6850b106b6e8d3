//! Recordings: a replay has the same contacts and events as the session, to the bit, forwards and
//! back, and damaged files are errors. `HEADBUTT_REPLAY=10000` sets the number of ticks.

use std::{
    env, fs,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use crate::support::{Dimension, app, tick, transform, warnings::Warnings};
use bevy::{ecs::entity_disabling::Disabled, math::DVec2, prelude::*};
use headbutt::{
    Collisions, HeadbuttRecorder, Recording, RecordingFault, Replay, ReplayError, ReplayTick,
    Support, prelude::*,
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A file in memory, of which the test keeps a copy.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn bytes(&self) -> Vec<u8> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.clone()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A random world: moving bodies in 2D and 3D, some of them swept, under stretched parents, with
/// operations of every kind.
struct Chaos {
    random: StdRng,
    alive: Vec<(Entity, Dimension)>,
    parents: Vec<Entity>,
}

impl Chaos {
    fn new(seed: u64, count: usize, world: &mut World) -> Self {
        let parent = |scale| {
            let turned = Transform::from_rotation(Quat::from_rotation_z(0.3));
            turned.with_scale(scale)
        };
        let parents = [
            Vec3::ONE,
            Vec3::new(1.3, 0.8, 1.1),
            Vec3::new(-1.0, 1.0, 1.0),
        ]
        .map(|scale| world.spawn(parent(scale)).id());
        let mut chaos = Self {
            random: StdRng::seed_from_u64(seed),
            alive: Vec::new(),
            parents: parents.to_vec(),
        };
        for _ in 0..count {
            for dimension in Dimension::BOTH {
                chaos.spawn(world, dimension);
            }
        }
        chaos
    }

    fn vector(&mut self, reach: f32) -> Vec3 {
        Vec3::from([(); 3].map(|()| self.random.random_range(-reach..reach)))
    }

    fn pose(&mut self) -> Transform {
        let turn = Quat::from_rotation_z(self.random.random_range(-3.0..3.0));
        Transform::from_translation(self.vector(1.5)).with_rotation(turn)
    }

    fn collider(&mut self, dimension: Dimension) -> Collider {
        let size = self.random.random_range(0.4..1.5);
        let square = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE].map(|corner| corner * size);
        match (self.random.random_range(0..8), dimension) {
            (0..2, _) => dimension.ball(size),
            (2..4, _) => dimension.block(size),
            (4, Dimension::D2) => Collider::capsule_2d(0.3 * size, size),
            (4, Dimension::D3) => Collider::cone(0.5 * size, size),
            (5, Dimension::D2) => Collider::compound([
                (Vec2::ZERO, Collider::circle(0.4 * size)),
                (Vec2::X, Collider::rectangle(size, size)),
            ]),
            (5, Dimension::D3) => Collider::compound([
                (Vec3::ZERO, Collider::sphere(0.4 * size)),
                (Vec3::X, Collider::cuboid(size, size, size)),
            ]),
            (6, Dimension::D2) => Collider::polyline(square.map(Vec3::truncate)),
            (6, Dimension::D3) => Collider::trimesh(square, [[0, 1, 2], [1, 3, 2]]),
            (_, Dimension::D2) => Collider::circle(-1.0),
            (_, Dimension::D3) => Collider::convex_hull(square),
        }
    }

    fn spawn(&mut self, world: &mut World, dimension: Dimension) {
        let entity = world.spawn((self.collider(dimension), self.pose())).id();
        if self.random.random_bool(0.3) {
            world.entity_mut(entity).insert(Swept);
        }
        self.alive.push((entity, dimension));
    }

    /// Changes the world before a tick.
    fn go_on(&mut self, world: &mut World) {
        for (entity, _) in self.alive.clone() {
            if self.random.random_bool(0.4) {
                let step = self.vector(0.3);
                let turn = self.random.random_range(-0.3..0.3);
                let mut pose = transform(world, entity);
                // Back to the middle, so that bodies go on touching.
                pose.translation = pose.translation * 0.9 + step;
                pose.rotate_z(turn);
            }
        }
        for _ in 0..2 {
            self.operate(world);
        }
    }

    fn operate(&mut self, world: &mut World) {
        let index = self.random.random_range(0..self.alive.len());
        let (entity, dimension) = self.alive[index];
        let parent = self.parents[self.random.random_range(0..3)];
        let pose = self.pose();
        let collider = self.collider(dimension);
        let mut mask = || self.random.random_range(1..4);
        let layers = CollisionLayers::new(mask(), mask());
        match self.random.random_range(0..40) {
            0 => {
                world.despawn(entity);
                self.alive.swap_remove(index);
                self.spawn(world, dimension);
            }
            1 => toggle(world, entity, Sensor),
            2 => toggle(world, entity, Disabled),
            3 => toggle(world, entity, Swept),
            4 => toggle(world, entity, ChildOf(parent)),
            5 => toggle(world, entity, layers),
            6 => {
                world.entity_mut(entity).insert(collider);
            }
            7 => {
                world.entity_mut(entity).remove::<Collider>();
                self.alive.swap_remove(index);
                self.spawn(world, dimension);
            }
            8 => {
                world.entity_mut(entity).insert((pose, Teleported));
                // The path begins at the pose above, and leads to the next one.
                let end = self.pose();
                *transform(world, entity) = end;
            }
            9 => *transform(world, parent) = pose,
            10 => transform(world, entity).scale = Vec3::new(1.2, 0.7, 1.0),
            11 => transform(world, entity).translation.x = f32::NAN,
            12..14 => *transform(world, entity) = pose,
            14 => self.supply_pairs(world),
            15 => {
                world.entity_mut(parent).insert(Teleported);
                transform(world, parent).translation.y += 0.5;
            }
            _ => {}
        }
    }

    fn supply_pairs(&mut self, world: &mut World) {
        let is_custom = *world.resource::<BroadPhase>() == BroadPhase::Custom;
        world.insert_resource(if is_custom {
            BroadPhase::Automatic
        } else {
            BroadPhase::Custom
        });
        let mut pairs = world.resource_mut::<CandidatePairs>();
        pairs.clear();
        for (number, (a, _)) in self.alive.iter().enumerate() {
            let others = self.alive.iter().skip(number + 1).step_by(2);
            pairs.extend(others.map(|(b, _)| (*a, *b)));
        }
    }
}

fn toggle(world: &mut World, entity: Entity, component: impl Component + Clone) {
    fn take<T: Component>(entity: &mut EntityWorldMut, _: &T) -> bool {
        entity.take::<T>().is_some()
    }
    let mut entity = world.entity_mut(entity);
    if !take(&mut entity, &component) {
        entity.insert(component);
    }
}

/// The bits of all contacts without entities, sorted: they are the same in a session and a replay,
/// apart from which side comes first.
fn bits(world: &World) -> Vec<Vec<u32>> {
    let side = |hit: CollisionEvent| {
        let mut all = vec![hit.depth.to_bits(), hit.part(), hit.other_part()];
        for vector in [
            hit.normal,
            hit.point(),
            hit.other_point(),
            hit.offset(),
            hit.other_offset(),
        ] {
            all.extend(vector.to_array().map(f32::to_bits));
        }
        all
    };
    let collisions = world.resource::<Collisions>();
    let parts = collisions
        .iter()
        .flat_map(|hit| collisions.parts(hit.entity, hit.other));
    let mut all: Vec<_> = parts
        .flat_map(|hit| [side(hit), side(hit.flipped())])
        .collect();
    all.sort_unstable();
    all
}

/// A recorded session, with the contacts of each tick.
struct Session {
    bytes: Vec<u8>,
    contacts: Vec<Vec<Vec<u32>>>,
}

impl Session {
    fn chaos(seed: u64, count: usize, ticks: usize) -> Self {
        let mut app = app();
        let mut chaos = Chaos::new(seed, count, app.world_mut());
        Self::record(&mut app, ticks, |world, _| chaos.go_on(world))
    }

    fn record(app: &mut App, ticks: usize, mut change: impl FnMut(&mut World, usize)) -> Self {
        let memory = Memory::default();
        app.insert_resource(HeadbuttRecorder::new(memory.clone()));
        let contacts = (0..ticks).map(|number| {
            change(app.world_mut(), number);
            tick(app);
            bits(app.world())
        });
        Self {
            contacts: contacts.collect(),
            bytes: memory.bytes(),
        }
    }

    fn replay(&self) -> Player {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
        let recording = Recording::read(self.bytes.clone()).expect("a recording");
        assert_eq!(recording.len(), self.contacts.len());
        Player {
            app,
            replay: Replay::new(recording),
        }
    }
}

struct Player {
    app: App,
    replay: Replay,
}

impl Player {
    fn assert_equal(&mut self, tick: usize, session: &Session) -> bool {
        let played = self.replay.go_to(self.app.world_mut(), tick);
        let played = played.expect("a tick");
        assert!(played.is_equal(), "{played:?}");
        assert_eq!(bits(self.app.world()), session.contacts[tick], "{tick}");
        assert_eq!(self.replay.tick(), Some(tick));
        played.events_equal.is_some()
    }
}

fn tick_count() -> usize {
    let ticks = env::var("HEADBUTT_REPLAY");
    ticks.map_or(300, |ticks| ticks.parse().expect("a number of ticks"))
}

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

/// Contacts of one ball against another: the closed form is a depth of 1 - 0.6.
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
        // A resource takes an entity, and so the ids are equal only if both have one.
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
    // `Debug` distinguishes all f32, and NaN equals itself.
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
        // The contacts of the first tick had begun before.
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
    assert_eq!(recording.omitted(), 1);
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
    let mut replay = Replay::new(recording);
    for tick in 0..3 {
        let played = replay.go_to(app.world_mut(), tick).expect("a tick");
        assert!(played.is_equal() && played.contacts == 1, "{played:?}");
    }
}

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

/// The bytes that a recorder keeps while bullets come and go: none that grow with the session.
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

/// The hash FNV-1a, as the format defines it.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The offsets of the blocks, and the end.
fn block_offsets(bytes: &[u8]) -> Vec<usize> {
    let mut offsets = vec![10];
    while let Some(last) = offsets.last().copied().filter(|last| *last < bytes.len()) {
        let length = bytes[last..last + 4].try_into().expect("4 bytes");
        offsets.push(last + 12 + u32::from_le_bytes(length) as usize);
    }
    offsets
}

#[test]
fn a_truncated_recording_is_an_error_unless_it_ends_after_a_tick() {
    let bytes = Session::chaos(7, 4, 12).bytes;
    let offsets = block_offsets(&bytes);
    assert_eq!((offsets.len(), offsets.last()), (14, Some(&bytes.len())));
    for length in 0..bytes.len() {
        let result = Recording::read(&bytes[..length]);
        let ticks = offsets.iter().position(|offset| *offset == length);
        match (ticks, result) {
            // Before the header.
            (Some(0) | None, Err(error)) => {
                let is_empty = length == 0;
                assert_eq!(error.offset, length, "{error}");
                let is_truncated = matches!(error.reason, RecordingFault::Truncated { .. });
                assert!(is_truncated != is_empty, "{length}: {error}");
            }
            (Some(ticks), Ok(recording)) => assert_eq!(recording.len(), ticks - 1),
            (ticks, result) => panic!("{length}: {ticks:?}, {:?}", result.err()),
        }
    }
}

#[test]
fn a_recording_with_a_changed_byte_is_an_error() {
    let bytes = Session::chaos(8, 4, 12).bytes;
    let mut random = StdRng::seed_from_u64(8);
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= random.random_range(1..=255_u8);
        let error = Recording::read(changed).err();
        let error = error.unwrap_or_else(|| panic!("byte {index}"));
        let is_right = match index {
            0..8 => error.reason == RecordingFault::NotARecording && error.offset == 0,
            8..10 => matches!(error.reason, RecordingFault::Version(_)) && error.offset == 8,
            _ => matches!(
                error.reason,
                RecordingFault::Checksum | RecordingFault::Truncated { .. }
            ),
        };
        assert!(is_right, "byte {index}: {error}");
    }
}

/// A file that was made to look right: random changes, with the checksum that belongs to them.
#[test]
fn invalid_contents_with_a_valid_checksum_are_an_error_or_can_be_replayed() {
    let bytes = Session::chaos(9, 4, 12).bytes;
    let offsets = block_offsets(&bytes);
    let mut random = StdRng::seed_from_u64(9);
    let (mut invalid, mut valid) = (0, 0);
    for _ in 0..2_000 {
        let mut changed = bytes.clone();
        let block = random.random_range(0..offsets.len() - 1);
        let (start, end) = (offsets[block], offsets[block + 1]);
        for _ in 0..random.random_range(1..4) {
            changed[random.random_range(start + 12..end)] = random.random();
        }
        let mut hashed = changed[start..start + 4].to_vec();
        hashed.extend(&changed[start + 12..end]);
        changed[start + 4..start + 12].copy_from_slice(&fnv(&hashed).to_le_bytes());
        match Recording::read(changed) {
            Ok(recording) => {
                valid += 1;
                let mut app = App::new();
                app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
                let count = recording.len();
                let mut replay = Replay::new(recording);
                for tick in [count - 1, 0, count - 1] {
                    let played = replay.go_to(app.world_mut(), tick);
                    played.expect("a tick that exists");
                }
            }
            Err(error) => {
                invalid += 1;
                assert!(error.offset >= start, "{error}");
                assert!(
                    matches!(error.reason, RecordingFault::Invalid(_)),
                    "{error}"
                );
            }
        }
    }
    assert!(valid > 100 && invalid > 100, "{valid} {invalid}");
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

/// The recordings in the repository: made by another build, on another machine.
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
