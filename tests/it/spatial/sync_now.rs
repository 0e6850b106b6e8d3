//! `sync_now` shows changes to queries at once, and never changes the reports of the next tick.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bevy::{ecs::entity_disabling::Disabled, math::DVec3, prelude::*};
use headbutt::{CollisionDiagnostics, Support, prelude::*, sync_now};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::ask;
use crate::support::{app, tick, transform};

fn ball_at(app: &mut App, x: f32) -> Entity {
    let pose = Transform::from_xyz(x, 0.0, 0.0);
    app.world_mut().spawn((Collider::sphere(1.0), pose)).id()
}

fn at_origin(app: &mut App) -> Vec<Entity> {
    let mut found = Vec::new();
    ask(app.world_mut(), |query| {
        query.entities_at(Vec3::ZERO, &SpatialQueryFilter::default(), &mut found);
    });
    found
}

#[test]
fn spawns_moves_and_despawns_are_visible_at_once() {
    let mut app = app();
    let ball = ball_at(&mut app, 0.0);
    sync_now(app.world_mut());
    assert_eq!(at_origin(&mut app), [ball]);
    transform(app.world_mut(), ball).translation.x = 5.0;
    assert_eq!(at_origin(&mut app), [ball]);
    sync_now(app.world_mut());
    assert!(at_origin(&mut app).is_empty());
    tick(&mut app);
    let other = ball_at(&mut app, 0.5);
    sync_now(app.world_mut());
    assert_eq!(at_origin(&mut app), [other]);
    app.world_mut().despawn(other);
    sync_now(app.world_mut());
    assert!(at_origin(&mut app).is_empty());
}

#[test]
fn it_is_a_command() {
    let mut app = app();
    app.add_systems(Update, |mut commands: Commands| {
        commands.spawn(Collider::sphere(1.0));
        commands.queue(sync_now);
    });
    crate::support::frame(&mut app, 0);
    assert_eq!(at_origin(&mut app).len(), 1);
}

/// Observers run in a tick, after its events are sent.
#[test]
fn an_observer_may_call_it() {
    let mut app = app();
    let [a, b] = [0.0, 1.0].map(|x| ball_at(&mut app, x));
    app.world_mut()
        .entity_mut(a)
        .observe(|hit: On<CollisionStarted>, mut commands: Commands| {
            commands.entity(hit.other).despawn();
            commands.queue(sync_now);
        });
    assert!(tick(&mut app).only().started());
    assert_eq!(at_origin(&mut app), [a]);
    let ended = tick(&mut app).only();
    assert_eq!(ended.end_reason(), Some(EndReason::Despawned));
    assert!(ended.seen_from(b).is_some());
}

/// Between the stages, queries keep the poses of the tick.
#[test]
fn within_a_tick_it_does_nothing() {
    let mut app = app();
    let [a, _] = [0.0, 1.0].map(|x| ball_at(&mut app, x));
    app.add_systems(
        FixedPostUpdate,
        (move |world: &mut World| {
            transform(world, a).translation.x = 50.0;
            sync_now(world);
        })
        .after(HeadbuttSystems::Sync)
        .before(HeadbuttSystems::BroadPhase),
    );
    assert!(tick(&mut app).only().started());
    assert!(tick(&mut app).only().ended());
}

/// A tick after `sync_now` tests only changed colliders.
#[test]
fn the_next_tick_reads_only_changes() {
    let mut app = app();
    let balls: Vec<Entity> = (0..50)
        .map(|number| ball_at(&mut app, 3.0 * number as f32))
        .collect();
    tick(&mut app);
    tick(&mut app);
    transform(app.world_mut(), balls[7]).translation.y = 0.5;
    sync_now(app.world_mut());
    transform(app.world_mut(), balls[9]).translation.y = 0.5;
    sync_now(app.world_mut());
    tick(&mut app);
    assert_eq!(app.world().resource::<CollisionDiagnostics>().changed, 2);
    tick(&mut app);
    assert_eq!(app.world().resource::<CollisionDiagnostics>().changed, 0);
}

/// A ball whose support function panics while the flag is set.
struct Panics(Arc<AtomicBool>);

impl Support for Panics {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        assert!(!self.0.load(Ordering::Relaxed), "as asked for");
        direction.normalize_or_zero()
    }
}

#[test]
fn a_panic_in_a_support_function_does_not_change_the_next_tick() {
    let run = |panics: bool| {
        let mut app = app();
        let balls = [0.0, 1.5, 3.0, 10.0].map(|x| ball_at(&mut app, x));
        let flag = Arc::new(AtomicBool::new(false));
        let faulty = (
            Collider::custom(Panics(flag.clone())),
            Transform::from_xyz(11.5, 0.0, 0.0),
        );
        let faulty = app.world_mut().spawn(faulty).id();
        let mut messages = tick(&mut app).messages;
        assert_eq!(messages.len(), 3);
        app.world_mut().despawn(balls[1]);
        for entity in [balls[0], faulty] {
            transform(app.world_mut(), entity).translation.x += 0.125;
        }
        if panics {
            flag.store(true, Ordering::Relaxed);
            let world = app.world_mut();
            let result = catch_unwind(AssertUnwindSafe(|| sync_now(world)));
            assert!(result.is_err());
            flag.store(false, Ordering::Relaxed);
            // Until the next tick, queries may miss colliders, but must not panic.
            at_origin(&mut app);
        }
        messages.extend(tick(&mut app).messages);
        messages.extend(tick(&mut app).messages);
        assert_eq!(at_origin(&mut app), [balls[0]]);
        messages
    };
    assert_eq!(run(true), run(false));
}

/// A world with random operations, which are the same for the same seed.
struct Twin {
    app: App,
    random: StdRng,
    entities: Vec<Entity>,
}

impl Twin {
    fn new(seed: u64, ongoing: OngoingEvents, source: BroadPhase) -> Self {
        let mut app = app();
        app.insert_resource(ongoing).insert_resource(source);
        Self {
            app,
            random: StdRng::seed_from_u64(seed),
            entities: Vec::new(),
        }
    }

    /// Performs a random operation.
    fn act(&mut self) {
        let Self {
            app,
            random,
            entities,
        } = self;
        let world = app.world_mut();
        let position = |random: &mut StdRng| {
            let [x, y] = [(); 2].map(|()| random.random_range(-3.0..3.0));
            Transform::from_xyz(x, y, 0.0)
        };
        let size = random.random_range(0.2..1.0);
        let collider = match random.random_range(0..6) {
            0 => Collider::sphere(size),
            1 => Collider::circle(size),
            2 => Collider::rectangle(size, 1.0),
            3 => Collider::compound([0.0, 1.0].map(|x| (Vec2::X * x, Collider::circle(size)))),
            4 => Collider::polyline([Vec2::ZERO, Vec2::X, Vec2::ONE]),
            _ => Collider::cuboid(size, 1.0, 1.0),
        };
        let pose = position(random);
        let choice = random.random_range(0..12);
        if choice == 0 || entities.len() < 20 {
            entities.push(world.spawn((collider, pose)).id());
            return;
        }
        let index = random.random_range(0..entities.len());
        let entity = entities[index];
        let other = entities[random.random_range(0..entities.len())];
        match choice {
            1 => {
                world.despawn(entities.swap_remove(index));
                // Children are despawned with their parents.
                entities.retain(|entity| world.get_entity(*entity).is_ok());
            }
            2 => {
                world.entity_mut(entity).insert(Disabled);
            }
            3 => {
                world.entity_mut(entity).remove::<Disabled>();
            }
            4 => {
                let layers = CollisionLayers::new(random.random_range(1..4), u32::MAX);
                world.entity_mut(entity).insert(layers);
            }
            5 => {
                world.entity_mut(entity).insert(collider);
            }
            6 => {
                world.entity_mut(entity).remove::<Collider>();
            }
            7 => {
                world.entity_mut(entity).insert(Sensor);
            }
            8 if entity != other && world.get::<ChildOf>(other).is_none() => {
                world.entity_mut(entity).insert(ChildOf(other));
            }
            9 => {
                world.entity_mut(entity).remove::<ChildOf>();
                world.resource_mut::<CandidatePairs>().push(entity, other);
            }
            _ => *transform(world, entity) = pose,
        }
    }
}

#[test]
fn the_next_tick_reports_the_same_events() {
    let (mut events, mut ended) = (0, 0);
    for seed in 0..40 {
        let ongoing = [OngoingEvents::EveryTick, OngoingEvents::OnChange][seed as usize % 2];
        let source = [BroadPhase::Automatic, BroadPhase::Custom][usize::from(seed % 5 == 4)];
        let [mut plain, mut synced] = [(); 2].map(|()| Twin::new(seed, ongoing, source));
        let mut random = StdRng::seed_from_u64(seed + 1000);
        for _ in 0..60 {
            for _ in 0..random.random_range(0..10) {
                plain.act();
                synced.act();
                if random.random_bool(0.3) {
                    sync_now(synced.app.world_mut());
                    if random.random_bool(0.5) {
                        at_origin(&mut synced.app);
                    }
                }
            }
            let (expected, record) = (tick(&mut plain.app), tick(&mut synced.app));
            assert_eq!(record.messages, expected.messages);
            events += expected.messages.len();
            ended += expected.messages.iter().filter(|hit| hit.ended()).count();
        }
    }
    assert!(events > 5000 && ended > 1000, "{events} {ended}");
}
