//! Determinism: events have the same bits and the same order on any number of threads. This also
//! holds with all caches invalidated in each tick, and with candidate pairs supplied in any order.
//! The same holds in an app that has only `Collisions` from earlier ticks.
//!
//! The number of threads is fixed once per process, so the test runs itself again in a process for
//! each number. The scene runs for 80 ticks. To run more ticks:
//!
//! ```text
//! HEADBUTT_TICKS=1000 cargo test --release --test it determinism
//! ```

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, PoisonError},
    thread::{self, ThreadId},
};

use crate::support::{
    Dimension, app,
    cases::number,
    process::{run_again, this_run},
    tick,
};
use bevy::{
    ecs::{entity::EntityHashMap, entity_disabling::Disabled},
    math::{DVec2, DVec3},
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use headbutt::{CollisionDiagnostics, Collisions, Space, Support, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

/// The threads that have evaluated these shapes.
static THREADS: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);

/// A point that records the threads on which it is evaluated.
#[derive(Clone)]
struct Noting<V: Space>(V::DVec);

impl<V: Space> Support for Noting<V> {
    type Vector = V;

    fn support(&self, _: V::DVec) -> V::DVec {
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        threads
            .get_or_insert_default()
            .insert(thread::current().id());
        self.0
    }

    fn radius(&self) -> f64 {
        0.5
    }
}

/// The largest bounding radius of a collider before its scale.
const REACH: f32 = 1.0;

/// A random scene from a seed. Most colliders move in each tick, and random operations change some
/// colliders.
struct Chaos {
    random: StdRng,
    alive: Vec<Entity>,
    /// The initial number of colliders in each dimension.
    count: usize,
    /// The fraction of colliders that move in a tick.
    movers: f64,
    /// The number of operations per tick in addition to the movements.
    operations: usize,
}

impl Chaos {
    fn new(seed: u64, count: usize, operations: usize, world: &mut World) -> Self {
        let mut chaos = Self {
            random: StdRng::seed_from_u64(seed),
            alive: Vec::new(),
            count,
            movers: 0.95,
            operations,
        };
        for _ in 0..count {
            for dimension in Dimension::BOTH {
                chaos.spawn(world, dimension);
            }
        }
        chaos
    }

    fn coordinate(&mut self, reach: f32) -> f32 {
        self.random.random_range(-reach..reach)
    }

    fn offset(&mut self, reach: f32) -> Vec3 {
        Vec3::new(
            self.coordinate(reach),
            self.coordinate(reach),
            self.coordinate(reach),
        )
    }

    fn collider(&mut self, dimension: Dimension) -> Collider {
        let size = self.random.random_range(0.2..1.0) * REACH;
        let points = (0..8).map(|_| {
            let mut coordinate = || 0.5 * self.random.random_range(-size..size);
            Vec3::new(coordinate(), coordinate(), coordinate())
        });
        let points: Vec<_> = points.collect();
        match (self.random.random_range(0..6), dimension) {
            (0, _) => dimension.ball(size),
            (1, _) => dimension.block(size),
            (2, Dimension::D2) => Capsule2d::new(0.4 * size, 0.6 * size).into(),
            (2, Dimension::D3) => Capsule3d::new(0.4 * size, 0.6 * size).into(),
            (3, Dimension::D2) => Collider::custom(Noting::<Vec2>(DVec2::new(0.1, 0.2))),
            (3, Dimension::D3) => Collider::custom(Noting::<Vec3>(DVec3::new(0.1, 0.2, 0.3))),
            (4, Dimension::D2) => Collider::try_compound([
                (
                    Isometry2d::from_xy(-0.2, 0.0),
                    Circle::new(0.4 * size).into(),
                ),
                (
                    Isometry2d::from_xy(0.2, 0.1),
                    Circle::new(0.3 * size).into(),
                ),
            ])
            .expect("two balls"),
            (4, Dimension::D3) => Collider::try_compound([
                (
                    Isometry3d::from_xyz(-0.2, 0.0, 0.0),
                    Sphere::new(0.4 * size).into(),
                ),
                (
                    Isometry3d::from_xyz(0.2, 0.1, 0.0),
                    Sphere::new(0.3 * size).into(),
                ),
            ])
            .expect("two balls"),
            (_, Dimension::D2) => {
                let points = points.iter().map(|point| point.truncate());
                Collider::try_convex_hull(points).expect("a hull")
            }
            (_, Dimension::D3) => Collider::try_convex_hull(points).expect("a hull"),
        }
    }

    fn pose(&mut self, dimension: Dimension) -> Transform {
        // With this spread, each collider touches about one other collider.
        let reach = match dimension {
            Dimension::D2 => 0.8 * (self.count as f32).sqrt(),
            Dimension::D3 => 0.6 * (self.count as f32).cbrt(),
        };
        let mut pose = Transform::from_translation(self.offset(reach));
        pose.scale = Vec3::splat(self.random.random_range(0.5..1.5));
        self.turn(&mut pose, dimension);
        pose
    }

    fn turn(&mut self, pose: &mut Transform, dimension: Dimension) {
        pose.rotate_z(self.coordinate(1.0));
        if dimension == Dimension::D3 {
            pose.rotate_x(self.coordinate(1.0));
        }
    }

    fn spawn(&mut self, world: &mut World, dimension: Dimension) {
        let parts = (
            self.collider(dimension),
            self.pose(dimension),
            In(dimension),
        );
        self.alive.push(world.spawn(parts).id());
    }

    fn go_on(&mut self, world: &mut World) {
        for entity in self.alive.clone() {
            if self.random.random_bool(self.movers) {
                let step = self.offset(0.1);
                let In(dimension) = *world.get(entity).expect("all have one");
                let mut pose = world.get_mut::<Transform>(entity).expect("all have one");
                pose.translation += step;
                self.turn(&mut pose, dimension);
            }
        }
        for _ in 0..self.operations {
            self.operate(world);
        }
    }

    fn operate(&mut self, world: &mut World) {
        let entity = self.alive[self.random.random_range(0..self.alive.len())];
        let In(dimension) = *world.get(entity).expect("all have one");
        match self.random.random_range(0..9) {
            0 => {
                world.despawn(entity);
                self.alive.retain(|it| world.get_entity(*it).is_ok());
            }
            1 => self.spawn(world, dimension),
            2 => {
                let pose = self.pose(dimension);
                world.entity_mut(entity).insert(pose);
            }
            3 => {
                let collider = self.collider(dimension);
                world.entity_mut(entity).insert(collider);
            }
            4 => {
                if world.entity_mut(entity).take::<Collider>().is_some() {
                    self.spawn(world, dimension);
                }
            }
            5 => {
                if world.entity_mut(entity).take::<Disabled>().is_none() {
                    world.entity_mut(entity).insert(Disabled);
                }
            }
            6 => {
                let mut mask = || self.random.random_range(1..8);
                let layers = CollisionLayers::new(mask(), mask());
                world.entity_mut(entity).insert(layers);
            }
            7 => {
                let parent = self.alive[self.random.random_range(0..self.alive.len())];
                let In(of) = *world.get(parent).expect("all have one");
                if parent != entity
                    && of == dimension
                    && !world.entity(parent).contains::<ChildOf>()
                    && !world.entity(entity).contains::<Children>()
                {
                    world.entity_mut(entity).insert(ChildOf(parent));
                    let offset = self.offset(1.0);
                    *crate::support::transform(world, entity) = Transform::from_translation(offset);
                }
            }
            _ => {
                let scale = Vec3::splat(self.random.random_range(0.5..1.5));
                crate::support::transform(world, entity).scale = scale;
            }
        }
    }
}

/// The dimension in which a collider was spawned.
#[derive(Component, Clone, Copy)]
struct In(Dimension);

/// A hash of the bits of all events so far, in order.
#[derive(Resource, Default)]
struct Events {
    hasher: DefaultHasher,
    started: usize,
    count: usize,
}

impl Events {
    fn add(&mut self, hit: &CollisionEvent) {
        let hasher = &mut self.hasher;
        (hit.entity, hit.other, hit.phase).hash(hasher);
        (hit.part(), hit.other_part()).hash(hasher);
        hit.depth.to_bits().hash(hasher);
        for vector in [
            hit.normal,
            hit.point(),
            hit.other_point(),
            hit.offset(),
            hit.other_offset(),
        ] {
            vector.to_array().map(f32::to_bits).hash(hasher);
        }
        self.started += usize::from(hit.started());
        self.count += 1;
    }

    /// Adds the messages of a tick, and all contacts of the parts of each reported pair.
    fn add_all(&mut self, messages: &[CollisionEvent], state: &Collisions) {
        for hit in messages {
            self.add(hit);
            for part in state.parts(hit.entity, hit.other) {
                self.add(&part);
            }
        }
    }
}

/// Records all events of an app, including the events sent to observers.
fn note_events(app: &mut App) {
    app.init_resource::<Events>()
        .add_observer(|hit: On<CollisionStarted>, mut events: ResMut<Events>| events.add(&hit))
        .add_observer(|hit: On<CollisionEnded>, mut events: ResMut<Events>| events.add(&hit));
}

/// The way in which a run differs from the usual run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Otherwise {
    Nothing,
    /// Every collider is marked as changed in each tick.
    Anew,
    /// The app supplies the pairs in random order, and some pairs twice.
    Supplied,
}

/// Returns a superset of the touching pairs: near pairs in equal or adjacent grid cells, and pairs
/// that touched before. So contacts end with the same reason as in the usual run.
fn pairs_of(world: &mut World, chaos: &Chaos) -> Vec<(Entity, Entity)> {
    // No child has a child, and no parent or child has a scale above 1.5.
    let cell = 2.0 * 1.5 * 1.5 * REACH;
    let mut cells = HashMap::<_, Vec<(Entity, Vec3, f32)>>::new();
    let mut pairs = Vec::new();
    for entity in &chaos.alive {
        let own = world.get::<Transform>(*entity).expect("all have one");
        let parent = world.get::<ChildOf>(*entity);
        let parent = parent.and_then(|it| world.get::<Transform>(it.parent()));
        let pose = parent.map_or(*own, |parent| parent.mul_transform(*own));
        let In(dimension) = *world.get(*entity).expect("all have one");
        let is_plane = dimension == Dimension::D2;
        let place = match dimension {
            Dimension::D2 => pose.translation.truncate().extend(0.0),
            Dimension::D3 => pose.translation,
        };
        let reach = 1.01 * REACH * pose.scale.x;
        let [x, y, z] = (place / cell).floor().as_ivec3().to_array();
        for dx in -1..=1 {
            for dy in -1..=1 {
                for dz in -1..=1 {
                    let beside = cells.get(&(is_plane, x + dx, y + dy, z + dz));
                    let beside = beside.into_iter().flatten();
                    let near = beside.filter(|(_, other_place, other_reach)| {
                        place.distance(*other_place) <= reach + other_reach
                    });
                    pairs.extend(near.map(|(other, ..)| (*entity, *other)));
                }
            }
        }
        let cell = cells.entry((is_plane, x, y, z)).or_default();
        cell.push((*entity, place, reach));
    }
    let touching = world.resource::<Collisions>().iter();
    pairs.extend(touching.map(|hit| (hit.entity, hit.other)));
    pairs
}

/// Runs the scene in this process. Returns the hash of its events and the number of contacts that
/// started.
fn run(threads: usize, otherwise: Otherwise, ticks: usize) -> (u64, usize) {
    let pool = || TaskPoolBuilder::new().num_threads(threads).build();
    assert_eq!(ComputeTaskPool::get_or_init(pool).thread_num(), threads);
    let mut app = app();
    note_events(&mut app);
    if otherwise == Otherwise::Supplied {
        app.insert_resource(BroadPhase::Custom);
    }
    let mut random = StdRng::seed_from_u64(0);
    let mut chaos = Chaos::new(5, 2200, 60, app.world_mut());
    for _ in 0..ticks {
        let world = app.world_mut();
        chaos.go_on(world);
        match otherwise {
            Otherwise::Nothing => {}
            Otherwise::Anew => {
                let mut colliders = world.query::<&mut Collider>();
                colliders
                    .iter_mut(world)
                    .for_each(|mut it| it.set_changed());
            }
            Otherwise::Supplied => {
                let mut pairs = pairs_of(world, &chaos);
                pairs.shuffle(&mut random);
                let mut supply = world.resource_mut::<CandidatePairs>();
                supply.clear();
                supply.extend(pairs.iter().map(|(entity, other)| {
                    if random.random() {
                        (*entity, *other)
                    } else {
                        (*other, *entity)
                    }
                }));
                let twice = pairs.len() / 10;
                supply.extend(pairs.into_iter().take(twice));
            }
        }
        let record = tick(&mut app);
        app.world_mut()
            .resource_scope(|world, mut events: Mut<Events>| {
                events.add_all(&record.messages, world.resource());
            });
    }
    let events = app.world().resource::<Events>();
    (events.hasher.finish(), events.started)
}

#[test]
fn the_events_are_the_same_on_any_number_of_threads_and_without_caches() {
    let ticks = number("HEADBUTT_TICKS").unwrap_or(80);
    let runs = [
        (1, Otherwise::Nothing),
        (2, Otherwise::Nothing),
        (8, Otherwise::Nothing),
        (1, Otherwise::Anew),
        (8, Otherwise::Anew),
        (2, Otherwise::Supplied),
    ];
    if let Some(number) = this_run() {
        let (threads, otherwise) = runs[number];
        let (hash, started) = run(threads, otherwise, ticks);
        let used = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        let used = used.as_ref().map_or(0, HashSet::len);
        println!("run: {hash:016x} {started} {used}");
        return;
    }
    let mut first = None;
    for (number, (threads, otherwise)) in runs.iter().enumerate() {
        let line = run_again(number);
        println!("{threads} threads, {otherwise:?}, {ticks} ticks: {line}");
        let words: Vec<_> = line.split(' ').collect();
        let [hash, started, used] = words[..] else {
            panic!("{line}");
        };
        let started: usize = started.parse().expect("a number of contacts");
        let used: usize = used.parse().expect("a number of threads");
        // The scene had contacts. If there were several threads, more than one thread worked on the
        // scene.
        assert!(started > 100 * ticks.min(10), "{started}");
        assert!((used > 1) == (*threads > 1), "{used} of {threads} threads");
        let first = first.get_or_insert_with(|| hash.to_owned());
        assert_eq!(hash, first, "{threads} threads, {otherwise:?}");
    }
}

/// Copies the entities of a world with all components that an app would save.
fn copy(from: &World, alive: &[Entity], to: &mut World) {
    let mut parents = EntityHashMap::default();
    for entity in alive {
        let old = from.entity(*entity);
        // Entities get the same indices as in the original.
        let mut before = to.entities().resolve_from_index(entity.index());
        while before != *entity {
            let other = to.spawn_empty_at(before).expect("nothing is there yet");
            other.despawn();
            before = to.entities().resolve_from_index(entity.index());
        }
        let mut new = to.spawn_empty_at(*entity).expect("nothing is there yet");
        new.insert(*old.get::<Transform>().expect("all have one"));
        if let Some(collider) = old.get::<Collider>() {
            new.insert(collider.clone());
        }
        if let Some(layers) = old.get::<CollisionLayers>() {
            new.insert(*layers);
        }
        if old.contains::<Disabled>() {
            new.insert(Disabled);
        }
        if let Some(parent) = old.get::<ChildOf>() {
            parents.insert(*entity, parent.parent());
        }
    }
    for (entity, parent) in parents {
        to.entity_mut(entity).insert(ChildOf(parent));
    }
    to.insert_resource(from.resource::<Collisions>().clone());
}

#[test]
fn a_fresh_app_with_a_copy_of_the_world_and_state_reports_the_same() {
    let mut app = app();
    let mut chaos = Chaos::new(6, 150, 3, app.world_mut());
    let mut count = 0;
    for number in 0..200 {
        // Some colliders rest, so that resting pairs are compared too.
        chaos.movers = if number % 20 == 0 { 0.9 } else { 0.1 };
        chaos.go_on(app.world_mut());
        let mut fresh = crate::support::app();
        copy(app.world(), &chaos.alive, fresh.world_mut());
        let [ours, theirs] = [&mut app, &mut fresh].map(|app| {
            let mut events = Events::default();
            let record = tick(app);
            events.add_all(&record.messages, app.world().resource());
            events
        });
        assert_eq!(ours.count, theirs.count);
        assert_eq!(ours.hasher.finish(), theirs.hasher.finish());
        count += ours.started;
        let [ours, theirs] = [&app, &fresh].map(|app| app.world().resource::<Collisions>());
        assert_eq!(ours, theirs);
    }
    assert!(count > 1000, "{count}");
}

/// A collider that becomes invalid frees its slot, which must be the same slot on any number of
/// threads.
#[test]
fn the_diagnostics_are_the_same_on_any_number_of_threads() {
    let Some(run) = this_run() else {
        assert_eq!(run_again(0), run_again(1));
        return;
    };
    let threads = [1, 2][run];
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads).build());
    let mut app = app();
    let ball = |x: usize| {
        let place = Transform::from_xyz(x as f32, 0.0, 0.0);
        (Collider::from(Circle::new(0.1)), place)
    };
    let world = app.world_mut();
    let all: Vec<Entity> = (1..6000).map(|x| world.spawn(ball(x)).id()).collect();
    tick(&mut app);
    let world = app.world_mut();
    for (number, entity) in all.iter().enumerate() {
        let mut transform = world.get_mut::<Transform>(*entity).expect("one");
        transform.translation.y = if number == 0 { f32::NAN } else { 1.0 };
    }
    world.spawn(ball(0));
    tick(&mut app);
    let diagnostics = app.world().resource::<CollisionDiagnostics>();
    println!("run: {} {}", diagnostics.changed, diagnostics.colliders);
}
