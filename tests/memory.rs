//! The allocations of a warm tick, which must be zero, and the memory that an app holds for each
//! collider and each contact.
//!
//! Bevy's task pool exists only in the test of several threads. In all other tests, all work is
//! done on the thread whose allocations are counted. The tick runs in its own schedule, so that
//! neither the movements nor Bevy's update of its messages are counted.

#[path = "support/process.rs"]
mod process;

use std::{collections::VecDeque, hint::black_box};

use allocation_counter::{AllocationInfo, measure};
use bevy::{
    ecs::{message::Messages, schedule::ScheduleLabel},
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use headbutt::{CollisionDiagnostics, Collisions, prelude::*};
use process::{run_again, this_run};

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Simulation;

/// Returns an app without a clock, with or without the plugin.
fn app(plugin: Option<HeadbuttPlugin>) -> App {
    let mut app = App::new();
    app.init_schedule(Simulation);
    if let Some(plugin) = plugin {
        app.add_plugins(plugin);
    }
    app
}

fn plugin() -> HeadbuttPlugin {
    HeadbuttPlugin::in_schedule(Simulation)
}

/// Runs one tick. Returns its allocations.
fn tick(app: &mut App) -> AllocationInfo {
    let counted = measure(|| app.world_mut().run_schedule(Simulation));
    // Bevy clears the trackers once per frame. (A `resource_scope` records the resource as
    // removed.)
    app.world_mut().clear_trackers();
    if let Some(mut messages) = app
        .world_mut()
        .get_resource_mut::<Messages<CollisionEvent>>()
    {
        messages.update();
    }
    counted
}

/// The initial position of a moving collider, and its number.
#[derive(Component, Clone, Copy)]
struct Home(Vec3, usize);

/// The movements repeat after this many ticks.
const PERIOD: usize = 16;

/// Spawns rows of colliders of each kind. Some colliders are children. Every third collider rests.
fn spawn_rows(world: &mut World, count: usize) {
    for number in 0..count {
        let [row, column] = [number / 20, number % 20].map(|it| it as f32);
        let home = Vec3::new(column * 1.1, row * 1.1, 0.0);
        let (flat, solid): (Collider, Collider) = match number % 5 {
            0 => (Circle::new(0.5).into(), Sphere::new(0.5).into()),
            1 => (
                Rectangle::new(0.9, 0.8).into(),
                Cuboid::new(0.9, 0.8, 0.7).into(),
            ),
            2 => (
                Capsule2d::new(0.3, 0.4).into(),
                Capsule3d::new(0.3, 0.4).into(),
            ),
            3 => {
                let corners = (0..12).map(|corner| {
                    let (sin, cos) = (corner as f32 * 0.5).sin_cos();
                    Vec3::new(0.5 * cos, 0.5 * sin, 0.1 * (corner % 3) as f32)
                });
                let flat = corners.clone().map(|corner| corner.truncate());
                (
                    Collider::try_convex_hull(flat).expect("a hull"),
                    Collider::try_convex_hull(corners).expect("a hull"),
                )
            }
            _ => {
                let flat =
                    [-0.3, 0.3].map(|x| (Isometry2d::from_xy(x, 0.0), Circle::new(0.3).into()));
                let solid = [-0.3, 0.3]
                    .map(|x| (Isometry3d::from_xyz(x, 0.0, 0.0), Sphere::new(0.3).into()));
                (
                    Collider::try_compound(flat).expect("a compound"),
                    Collider::try_compound(solid).expect("a compound"),
                )
            }
        };
        for collider in [flat, solid] {
            let parent = (number % 7 == 0).then(|| world.spawn(Transform::IDENTITY).id());
            let mut entity = world.spawn((collider, Transform::from_translation(home)));
            if number % 3 > 0 {
                entity.insert(Home(home, number));
            }
            if number % 4 == 0 {
                entity.insert(CollidingEntities::default());
            }
            if let Some(parent) = parent {
                entity.insert(ChildOf(parent));
            }
        }
    }
}

/// Moves each moving collider on its own circle, so that contacts start and end.
fn step(world: &mut World, tick: usize) {
    let mut movers = world.query::<(&mut Transform, &Home)>();
    for (mut transform, Home(home, number)) in movers.iter_mut(world) {
        let angle = core::f32::consts::TAU * ((tick + number) % PERIOD) as f32 / PERIOD as f32;
        transform.translation = *home + 0.3 * Vec3::new(angle.cos(), angle.sin(), 0.0);
        transform.rotation = Quat::from_rotation_z(angle);
    }
}

/// Returns the allocations of 100 ticks, and the mean number of contacts that started in a tick. In
/// the warm-up before these ticks, each movement happens several times.
fn warm_ticks(app: &mut App, moves: bool) -> (u64, f64) {
    let mut number = 0;
    let mut allocations = 0;
    let mut started = 0;
    let first = 10 * PERIOD;
    while number < first + 100 {
        if moves {
            step(app.world_mut(), number);
        }
        let counted = tick(app).count_total;
        if number >= first {
            allocations += counted;
            let contacts = app.world().resource::<Collisions>().iter();
            started += contacts.filter(|hit| hit.started()).count();
        }
        number += 1;
    }
    (allocations, started as f64 / 100.0)
}

/// Returns Bevy's own allocations: the allocations of a tick of a schedule with as many empty
/// systems.
fn allocations_of_bevy() -> u64 {
    let mut app = app(None);
    app.add_systems(Simulation, ((|| ()), (|| ()), (|_: &mut World| ())).chain());
    (0..100).map(|_| tick(&mut app)).for_each(drop);
    (0..100).map(|_| tick(&mut app).count_total).sum()
}

#[test]
fn a_warm_tick_of_moving_colliders_allocates_nothing() {
    for ongoing in [
        OngoingEvents::EveryTick,
        OngoingEvents::OnChange,
        OngoingEvents::Never,
    ] {
        let mut app = app(Some(plugin().with_ongoing(ongoing)));
        spawn_rows(app.world_mut(), 300);
        let (allocations, started) = warm_ticks(&mut app, true);
        assert!(started > 20.0, "{started} contacts begin in a tick");
        assert_eq!(allocations, allocations_of_bevy(), "{ongoing:?}");
    }
}

/// All colliders rotate together, so that all boxes grow and shrink at once.
#[test]
fn a_warm_tick_of_boxes_that_change_size_allocates_nothing() {
    let mut app = app(Some(plugin()));
    for number in 0..300 {
        let home = Vec3::new(5.0 * number as f32, 0.0, 0.0);
        let collider: Collider = Rectangle::from_length(1.5).into();
        let place = Transform::from_translation(home);
        app.world_mut().spawn((collider, place, Home(home, 0)));
    }
    let (allocations, _) = warm_ticks(&mut app, true);
    assert_eq!(allocations, allocations_of_bevy());
}

/// Colliders that move and rest by turns settle repeatedly, and need memory in the broad phase
/// again.
#[test]
fn a_warm_tick_of_colliders_that_move_by_turns_allocates_nothing() {
    let mut app = app(Some(plugin()));
    let spawn = |number: usize| {
        let home = Vec3::new(5.0 * number as f32, 0.0, 0.0);
        let place = Transform::from_translation(home);
        let collider: Collider = Circle::new(0.5).into();
        app.world_mut().spawn((collider, place)).id()
    };
    let all: Vec<Entity> = (0..40).map(spawn).collect();
    let mut allocations = 0;
    for number in 0..300 {
        let moving = if number % 2 == 0 { &all[..] } else { &all[..1] };
        for entity in moving {
            let mut transform = app.world_mut().get_mut::<Transform>(*entity).expect("one");
            transform.translation.y = (number % 4) as f32;
        }
        let counted = tick(&mut app).count_total;
        allocations += if number < 200 { 0 } else { counted };
    }
    assert_eq!(allocations, allocations_of_bevy());
}

/// In each tick, all colliders change to another of Bevy's tables, or back.
#[test]
fn a_warm_tick_of_colliders_that_change_tables_allocates_nothing() {
    #[derive(Component)]
    struct Marked;

    let mut app = app(Some(plugin()));
    let spawn = |number: usize| {
        let place = Transform::from_xyz(5.0 * number as f32, 0.0, 0.0);
        let collider: Collider = Circle::new(0.5).into();
        app.world_mut().spawn((collider, place)).id()
    };
    let all: Vec<Entity> = (0..200).map(spawn).collect();
    let mut allocations = 0;
    for number in 0..300 {
        for entity in &all {
            let mut entity = app.world_mut().entity_mut(*entity);
            if number % 2 == 0 {
                entity.insert(Marked);
            } else {
                entity.remove::<Marked>();
            }
        }
        let counted = tick(&mut app).count_total;
        allocations += if number < 200 { 0 } else { counted };
    }
    assert_eq!(allocations, allocations_of_bevy());
}

#[test]
fn a_warm_tick_at_rest_allocates_nothing() {
    let mut app = app(Some(plugin()));
    spawn_rows(app.world_mut(), 300);
    let (allocations, started) = warm_ticks(&mut app, false);
    assert!(started <= 0.0 && !app.world().resource::<Collisions>().is_empty());
    assert_eq!(allocations, allocations_of_bevy());
}

#[test]
fn a_warm_tick_with_observers_allocates_nothing() {
    let mut app = app(Some(plugin()));
    let world = app.world_mut();
    spawn_rows(world, 300);
    world.init_resource::<Seen>();
    world.add_observer(|_: On<CollisionStarted>, mut seen: ResMut<Seen>| seen.0 += 1);
    world.add_observer(|_: On<CollisionEnded>, mut seen: ResMut<Seen>| seen.0 += 1);
    let (allocations, _) = warm_ticks(&mut app, true);
    assert!(app.world().resource::<Seen>().0 > 1000);
    assert_eq!(allocations, allocations_of_bevy());
}

/// The entities that were spawned last, and will be despawned next.
#[derive(Resource, Default)]
struct Passing(Vec<Entity>);

/// Despawns some colliders, and spawns the same number. The same colliders are spawned again after
/// [`PERIOD`] ticks.
fn replace_some(world: &mut World, tick: usize) {
    let old = core::mem::take(&mut world.resource_mut::<Passing>().0);
    for entity in old {
        world.despawn(entity);
    }
    let home = |number: usize| Vec3::new(((tick + number) % PERIOD) as f32, number as f32, 0.0);
    let new = (0..40).map(|number| {
        let place = Transform::from_translation(home(number));
        match number % 2 {
            0 => world.spawn((Collider::from(Circle::new(0.5)), place)).id(),
            _ => world.spawn((Collider::from(Sphere::new(0.5)), place)).id(),
        }
    });
    let new = new.collect();
    world.resource_mut::<Passing>().0 = new;
}

#[test]
fn a_warm_tick_with_spawns_and_despawns_allocates_nothing() {
    let mut app = app(Some(plugin()));
    spawn_rows(app.world_mut(), 300);
    app.init_resource::<Passing>();
    let mut allocations = 0;
    let first = 10 * PERIOD;
    for number in 0..first + 100 {
        replace_some(app.world_mut(), number);
        let counted = tick(&mut app).count_total;
        if number >= first {
            allocations += counted;
        }
    }
    assert_eq!(allocations, allocations_of_bevy());
}

#[test]
fn a_warm_tick_with_swept_colliders_allocates_nothing() {
    let mut app = app(Some(plugin()));
    spawn_rows(app.world_mut(), 300);
    let mut movers = app.world_mut().query_filtered::<Entity, With<Home>>();
    let movers: Vec<Entity> = movers.iter(app.world()).collect();
    for entity in movers.into_iter().step_by(2) {
        app.world_mut().entity_mut(entity).insert(Swept);
    }
    let (allocations, _) = warm_ticks(&mut app, true);
    assert_eq!(allocations, allocations_of_bevy());
    let casts = app.world().resource::<CollisionDiagnostics>().casts;
    assert!(casts > 10, "{casts}");
}

#[test]
fn a_warm_tick_with_one_way_colliders_allocates_nothing() {
    let mut app = app(Some(plugin()));
    let world = app.world_mut();
    spawn_rows(world, 300);
    let mut colliders = world.query_filtered::<Entity, With<Collider>>();
    let colliders: Vec<Entity> = colliders.iter(world).collect();
    for entity in colliders.into_iter().step_by(3) {
        world.entity_mut(entity).insert(OneWay::default());
    }
    let (allocations, started) = warm_ticks(&mut app, true);
    assert!(started > 20.0, "{started} contacts begin in a tick");
    assert_eq!(allocations, allocations_of_bevy());
}

/// No center is inside the ground. The contacts of the largest ball are with more cells than a list
/// on the stack holds.
#[test]
fn a_warm_tick_of_bodies_on_cells_allocates_nothing() {
    let mut app = app(Some(plugin()));
    let mut grid = CellGrid::new(Vec3::ONE);
    grid.fill(IVec3::new(0, -2, 0), IVec3::new(199, -1, 15), Cell::SOLID)
        .expect("a small grid");
    app.world_mut().spawn(Collider::cells(&grid));
    let bodies = [
        (0.5, Collider::sphere(0.5)),
        (0.5, Collider::cuboid(1.0, 1.0, 1.0)),
        (1.0, Collider::capsule_3d(0.5, 1.0)),
        (4.0, Collider::sphere(4.0)),
    ];
    for (number, (height, body)) in bodies.into_iter().cycle().take(16).enumerate() {
        let home = Vec3::new(10.0 + 10.0 * number as f32, height - 0.15, 8.0);
        app.world_mut().spawn((body, Home(home, number)));
    }
    let (allocations, _) = warm_ticks(&mut app, true);
    assert!(app.world().resource::<Collisions>().len() > 4);
    assert_eq!(allocations, allocations_of_bevy());
}

/// Bullets fly back and forth across rows of walls, so that the boxes around their paths overlap
/// far more walls than the paths.
#[test]
fn a_warm_tick_with_long_diagonal_paths_allocates_nothing() {
    let mut app = app(Some(plugin()));
    let world = app.world_mut();
    for number in 0..2_000 {
        let at = |edge: usize| 4.0 * (number % edge) as f32;
        let (row, layer) = ((number / 40) as f32, (number / 144) as f32);
        let flat = Transform::from_xyz(at(40), 4.0 * row, 0.0);
        let solid = Transform::from_xyz(at(12), 4.0 * (number / 12 % 12) as f32, 4.0 * layer);
        world.spawn((Collider::rectangle(0.2, 2.0), flat));
        world.spawn((Collider::cuboid(0.2, 2.0, 2.0), solid));
    }
    let ends = |number: usize| {
        let from = Vec3::new(1.3 * number as f32 % 10.0, 0.9 * number as f32 % 10.0, 1.0);
        [from, from + Vec3::new(40.0, 37.0, 35.0)]
    };
    let bullets: Vec<[Entity; 2]> = (0..50)
        .map(|number| {
            let [start, _] = ends(number).map(Transform::from_translation);
            let colliders = [Collider::circle(0.1), Collider::sphere(0.1)];
            colliders.map(|bullet| world.spawn((bullet, Swept, start)).id())
        })
        .collect();
    let mut allocations = 0;
    for number in 0..300 {
        for (bullets, index) in bullets.iter().zip(0..) {
            let to = ends(index)[number % 2];
            for bullet in bullets {
                let mut pose = app.world_mut().get_mut::<Transform>(*bullet);
                pose.as_mut().expect("a bullet").translation = to;
            }
        }
        let counted = tick(&mut app).count_total;
        allocations += if number < 200 { 0 } else { counted };
    }
    let casts = app.world().resource::<CollisionDiagnostics>().casts;
    assert!(casts > 400, "{casts}");
    assert_eq!(allocations, allocations_of_bevy());
}

/// The number of observer calls.
#[derive(Resource, Default)]
struct Seen(usize);

#[test]
fn the_counter_counts_what_a_tick_allocates() {
    let mut app = app(Some(plugin()));
    app.add_systems(Simulation, || drop(black_box(vec![0])));
    spawn_rows(app.world_mut(), 300);
    let (allocations, _) = warm_ticks(&mut app, false);
    assert_eq!(allocations, allocations_of_bevy() + 100);
}

/// On two threads, work is divided into at most eight tasks. In each dimension, work is divided
/// when moving colliders, sorting boxes, finding pairs within and between the few sizes, and
/// testing pairs. Bevy allocates once or twice for each task.
const MOST_OF_A_TICK: f64 = 2.0 * 8.0 * 8.0 * 2.0;

#[test]
fn on_two_threads_a_tick_allocates_only_for_its_tasks() {
    let counts = [1_500, 6_000];
    if let Some(run) = this_run() {
        let pool = || TaskPoolBuilder::new().num_threads(2).build();
        assert_eq!(ComputeTaskPool::get_or_init(pool).thread_num(), 2);
        let mut app = app(Some(plugin()));
        spawn_rows(app.world_mut(), counts[run]);
        let (allocations, _) = warm_ticks(&mut app, true);
        println!("run: {}", allocations as f64 / 100.0);
        return;
    }
    for (run, count) in counts.into_iter().enumerate() {
        let line = run_again(run);
        println!("{count} of each dimension: {line} allocations in a tick");
        let of_a_tick: f64 = line.parse().expect("a number of allocations");
        // If no work is divided, there are no allocations.
        assert!(of_a_tick > 1.0 && of_a_tick <= MOST_OF_A_TICK);
    }
}

/// The number of colliders whose memory is measured.
const COUNT: usize = 10_000;

/// At the distance `APART`, no colliders touch. At the distance `BESIDE`, each collider touches the
/// previous collider.
const APART: f32 = 3.0;
const BESIDE: f32 = 0.9;

/// The number of ticks after which the memory is measured. In the first tick, all colliders are new
/// and all contacts start. The memory of these changes is freed later.
const SETTLED: usize = 150;

/// Returns the additional bytes of an app after [`SETTLED`] ticks of a scene with [`COUNT`] balls in
/// a row, and its contacts.
fn bytes(plugin: Option<HeadbuttPlugin>, ball: &Collider, moves: bool, gap: f32) -> (i64, usize) {
    let mut kept = None;
    let counted = measure(|| {
        let mut app = app(plugin);
        let world = app.world_mut();
        for number in 0..COUNT {
            let place = Transform::from_xyz(gap * number as f32, 0.0, 0.0);
            world.spawn((ball.clone(), place));
        }
        for number in 0..SETTLED {
            let world = app.world_mut();
            if moves {
                let mut transforms = world.query::<&mut Transform>();
                for mut transform in transforms.iter_mut(world) {
                    transform.translation.y = (number % 2) as f32;
                }
            }
            tick(&mut app);
        }
        kept = Some(app);
    });
    let state = kept
        .as_ref()
        .map(|app| app.world().get_resource::<Collisions>());
    let contacts = state.flatten().map_or(0, |state| state.len());
    (counted.bytes_current, contacts)
}

/// Returns the bytes that the plugin holds for each collider and each contact, in both dimensions.
fn bytes_of(ongoing: OngoingEvents, moves: bool) -> [(f64, f64); 2] {
    [Circle::new(0.5).into(), Sphere::new(0.5).into()].map(|ball: Collider| {
        let plugin = || Some(plugin().with_ongoing(ongoing));
        let (without, _) = bytes(None, &ball, moves, APART);
        let (apart, none) = bytes(plugin(), &ball, moves, APART);
        let (beside, contacts) = bytes(plugin(), &ball, moves, BESIDE);
        assert_eq!((none, contacts), (0, COUNT - 1));
        let of_a_collider = (apart - without) as f64 / COUNT as f64;
        let of_a_contact = (beside - apart) as f64 / contacts as f64;
        println!(
            "{ongoing:?}, {}: {of_a_collider:.0} bytes a collider, {of_a_contact:.0} bytes a contact",
            if moves { "all moving" } else { "at rest" }
        );
        (of_a_collider, of_a_contact)
    })
}

/// These limits are a fifth more than needed, so that the test notices memory that is held
/// needlessly. A contact needs more if Bevy's two message buffers hold it in every tick.
const MOST_OF_A_COLLIDER: f64 = 500.0;
const MOST_OF_A_CONTACT: f64 = 740.0;

#[test]
fn a_collider_and_a_contact_take_bounded_memory() {
    for moves in [false, true] {
        for ongoing in [OngoingEvents::EveryTick, OngoingEvents::Never] {
            for (of_a_collider, of_a_contact) in bytes_of(ongoing, moves) {
                // A collider has a box and a proxy, and a contact has an event.
                let least = size_of::<CollisionEvent>() as f64;
                assert!((least..MOST_OF_A_COLLIDER).contains(&of_a_collider));
                assert!((least..MOST_OF_A_CONTACT).contains(&of_a_contact));
            }
        }
    }
}

/// The number of ticks after a burst in which the plugin frees its memory.
const QUIET: usize = 400;

/// Places colliders in a row, all at one point if `gap` is 0.
fn place_in_row(world: &mut World, all: &[Entity], gap: f32) {
    for (entity, number) in all.iter().zip(0_u16..) {
        let mut transform = world.get_mut::<Transform>(*entity).expect("a collider");
        transform.translation = Vec3::new(gap * f32::from(number), 0.0, 0.0);
    }
}

/// Runs ticks in which the first `movers` colliders move.
fn pass(app: &mut App, all: &[Entity], movers: usize) {
    for number in 0..QUIET {
        for entity in &all[..movers] {
            let mut transform = app.world_mut().get_mut::<Transform>(*entity).expect("one");
            transform.translation.y = (number % 2) as f32;
        }
        tick(app);
    }
}

/// Returns the bytes that an app with separated colliders holds. If `bursts` is `true`, all
/// colliders were at one point for two ticks before. Also returns the greatest number of contacts.
fn bytes_after_crowd(
    plugin: HeadbuttPlugin,
    (collider, count): (&Collider, usize),
    bursts: bool,
    movers: usize,
) -> (i64, usize) {
    let mut kept = None;
    let mut contacts = 0;
    let counted = measure(|| {
        let mut app = app(Some(plugin));
        let spawn = |number: usize| {
            let mut entity = app.world_mut().spawn(collider.clone());
            if number.is_multiple_of(2) {
                entity.insert(CollidingEntities::default());
            }
            entity.id()
        };
        let all: Vec<Entity> = (0..count).map(spawn).collect();
        for gap in [APART, if bursts { 0.0 } else { APART }] {
            place_in_row(app.world_mut(), &all, gap);
            tick(&mut app);
            tick(&mut app);
            contacts = app.world().resource::<Collisions>().len();
        }
        place_in_row(app.world_mut(), &all, APART);
        pass(&mut app, &all, movers);
        assert!(app.world().resource::<Collisions>().is_empty());
        kept = Some((app, all));
    });
    (counted.bytes_current, contacts)
}

#[test]
fn memory_of_many_contacts_is_given_back() {
    let parts = [-0.1, 0.1].map(|x| (Isometry2d::from_xy(x, 0.0), Circle::new(0.3).into()));
    for (collider, count) in [
        (Circle::new(0.5).into(), 400),
        (Sphere::new(0.5).into(), 400),
        (Collider::try_compound(parts).expect("a compound"), 150),
    ] {
        for movers in [0, 3] {
            for ongoing in [OngoingEvents::EveryTick, OngoingEvents::Never] {
                let of = |bursts| {
                    let plugin = plugin().with_ongoing(ongoing);
                    bytes_after_crowd(plugin, (&collider, count), bursts, movers)
                };
                let ((calm, none), (after, contacts)) = (of(false), of(true));
                assert_eq!((none, contacts), (0, count * (count - 1) / 2));
                println!("{movers} move, {ongoing:?}: {after} bytes, without the burst {calm}");
                assert!(after < 2 * calm);
            }
        }
    }
}

/// The lists of messages are replaced when their memory is freed.
#[test]
fn a_reader_reads_each_message_once_while_memory_is_given_back() {
    let mut app = app(Some(plugin()));
    let spawn = |_| app.world_mut().spawn(Collider::circle(0.5)).id();
    let all: Vec<Entity> = (0..100).map(spawn).collect();
    let mut cursor = app.world().resource::<Messages<_>>().get_cursor();
    let mut next = 0;
    for number in 0..QUIET {
        match number {
            0 => place_in_row(app.world_mut(), &all, 0.0),
            2 => place_in_row(app.world_mut(), &all, BESIDE),
            _ => {}
        }
        tick(&mut app);
        let messages = app.world().resource::<Messages<CollisionEvent>>();
        for (_, id) in cursor.read_with_id(messages) {
            assert_eq!(id.id, next);
            next += 1;
        }
    }
    // All pairs touch in two ticks, most contacts end in the next tick, and only neighbors touch in
    // the other ticks.
    assert_eq!(next, 3 * 50 * 99 + (QUIET - 3) * 99);
}

/// Returns the bytes that an app with some colliders holds. If `bursts` is `true`, many more
/// colliders were spawned and despawned before.
fn bytes_after_many(plugin: Option<HeadbuttPlugin>, bursts: bool, movers: usize) -> i64 {
    let mut kept = None;
    let counted = measure(|| {
        let mut app = app(plugin);
        let mut spawn = |number: usize| {
            let place = Transform::from_xyz(APART * number as f32, 0.0, 0.0);
            let collider = [Circle::new(0.5).into(), Sphere::new(0.5).into()];
            collider.map(|it: Collider| app.world_mut().spawn((it, place)).id())
        };
        let all: Vec<Entity> = (0..100).flat_map(&mut spawn).collect();
        let others = (100..if bursts { 10_000 } else { 100 }).flat_map(&mut spawn);
        let others: Vec<Entity> = others.collect();
        for number in 0..3 {
            for entity in all.iter().chain(&others) {
                let mut transform = app.world_mut().get_mut::<Transform>(*entity).expect("one");
                transform.translation.y = 0.1 * number as f32;
            }
            tick(&mut app);
        }
        tick(&mut app);
        for entity in others {
            app.world_mut().despawn(entity);
        }
        // Some colliders are spawned and despawned in every tick.
        let mut passing = VecDeque::new();
        for number in 0..QUIET {
            let place = Transform::from_xyz(-APART, (number % 7) as f32, 0.0);
            let collider: Collider = Circle::new(0.5).into();
            passing.push_back(app.world_mut().spawn((collider, place)).id());
            if passing.len() > 10 {
                app.world_mut().despawn(passing.pop_front().expect("ten"));
            }
            tick(&mut app);
        }
        pass(&mut app, &all, movers);
        kept = Some((app, all));
    });
    counted.bytes_current
}

#[test]
fn memory_of_many_colliders_is_given_back() {
    for movers in [0, 3] {
        let of_plugin = |bursts| {
            let without = bytes_after_many(None, bursts, movers);
            bytes_after_many(Some(plugin()), bursts, movers) - without
        };
        let (calm, after) = (of_plugin(false), of_plugin(true));
        println!("{movers} move: {after} bytes of the plugin, without the burst {calm}");
        // Bevy has given out 20,000 entity indices. The table by index has up to 16 bytes for each
        // index.
        assert!(after - calm < 16 * 20_000);
    }
}

#[test]
fn memory_of_many_teleports_is_given_back() {
    const COUNT: usize = 4000;
    let of = |plugin: Option<HeadbuttPlugin>, bursts: bool| {
        let mut kept = None;
        let counted = measure(|| {
            let mut app = app(plugin);
            let spawn = |number: usize| {
                let place = Transform::from_xyz(APART * number as f32, 0.0, 0.0);
                let collider: Collider = Circle::new(0.5).into();
                app.world_mut().spawn((collider, place)).id()
            };
            let all: Vec<Entity> = (0..COUNT).map(spawn).collect();
            tick(&mut app);
            if bursts {
                for entity in &all {
                    app.world_mut().entity_mut(*entity).insert(Teleported);
                }
            }
            tick(&mut app);
            for entity in all {
                app.world_mut().entity_mut(entity).remove::<Teleported>();
            }
            for _ in 0..QUIET {
                tick(&mut app);
            }
            kept = Some(app);
        });
        counted.bytes_current
    };
    let of_plugin = |bursts| of(Some(plugin()), bursts) - of(None, bursts);
    let (calm, after) = (of_plugin(false), of_plugin(true));
    println!("{after} bytes of the plugin, without the teleports {calm}");
    // An entity has 8 bytes. The two sets and the poses have more for each teleport.
    assert!(after - calm < 8 * COUNT as i64);
}

#[test]
fn memory_of_many_supplied_pairs_is_given_back() {
    let of = |bursts: bool| {
        let mut kept = None;
        let counted = measure(|| {
            let mut app = app(Some(plugin().with_broad_phase(BroadPhase::Custom)));
            let spawn = |number: usize| {
                let place = Transform::from_xyz(BESIDE * number as f32, 0.0, 0.0);
                let collider: Collider = Circle::new(0.5).into();
                app.world_mut().spawn((collider, place)).id()
            };
            let all: Vec<Entity> = (0..200).map(spawn).collect();
            let others = if bursts { all.as_slice() } else { &all[..2] };
            for number in 0..4 {
                let mut pairs = app.world_mut().resource_mut::<CandidatePairs>();
                pairs.clear();
                let others = if number < 2 { others } else { &all[..2] };
                pairs.extend(
                    all.iter()
                        .flat_map(|a| others.iter().map(move |b| (*a, *b))),
                );
                tick(&mut app);
            }
            pass(&mut app, &all, 0);
            kept = Some((app, all));
        });
        counted.bytes_current
    };
    let (calm, after) = (of(false), of(true));
    println!("{after} bytes, without the burst {calm}");
    assert!(after < 2 * calm);
}

/// In half of the ticks, all colliders are at one point. The period is close to the time for which
/// buffers remember their length.
#[test]
fn a_warm_tick_of_a_pulsing_crowd_allocates_nothing() {
    let mut app = app(Some(plugin()));
    let spawn = |number: usize| {
        let collider: Collider = match number % 2 {
            0 => Circle::new(0.5).into(),
            _ => Sphere::new(0.5).into(),
        };
        let mut entity = app.world_mut().spawn(collider);
        if number % 4 < 2 {
            entity.insert(CollidingEntities::default());
        }
        entity.id()
    };
    let all: Vec<Entity> = (0..100).map(spawn).collect();
    let mut allocations = 0;
    let mut most = 0;
    for number in 0..600 {
        match number % 50 {
            0 => place_in_row(app.world_mut(), &all, 0.0),
            25 => place_in_row(app.world_mut(), &all, APART),
            _ => {}
        }
        let counted = tick(&mut app).count_total;
        allocations += if number < 500 { 0 } else { counted };
        most = most.max(app.world().resource::<Collisions>().len());
    }
    assert_eq!(most, 50 * 49);
    assert!(app.world().resource::<Collisions>().is_empty());
    assert_eq!(allocations, allocations_of_bevy());
}

/// Many colliders exist half of the time, and are despawned in the other half.
#[test]
fn a_warm_tick_with_mass_spawns_and_despawns_allocates_nothing() {
    let mut app = app(Some(plugin()));
    spawn_rows(app.world_mut(), 20);
    let mut others: Vec<Entity> = Vec::new();
    let mut allocations = 0;
    for number in 0..600 {
        match number % 50 {
            0 => {
                let spawn = |number: usize| {
                    let place = Transform::from_xyz(BESIDE * number as f32, 9.0, 0.0);
                    let collider: Collider = Circle::new(0.5).into();
                    app.world_mut().spawn((collider, place)).id()
                };
                others.extend((0..1000).map(spawn));
            }
            25 => {
                for entity in others.drain(..) {
                    app.world_mut().despawn(entity);
                }
            }
            _ => {}
        }
        let counted = tick(&mut app).count_total;
        allocations += if number < 500 { 0 } else { counted };
    }
    assert_eq!(allocations, allocations_of_bevy());
}
