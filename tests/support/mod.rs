//! Helpers for tests of ticks: an app whose time the test controls, and a record of all events.

pub mod cases;
pub mod process;
pub mod warnings;

use std::{collections::BTreeMap, fmt::Debug, time::Duration};

use bevy::{
    ecs::{entity_disabling::Disabled, schedule::ScheduleLabel},
    prelude::*,
    reflect::PartialReflect,
    time::TimeUpdateStrategy,
};
use headbutt::prelude::*;

/// The exact length of a fixed step: 64 steps make a second.
const STEP: Duration = Duration::from_micros(15_625);

/// Returns the hash FNV-1a with 64 bits.
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns a copy by reflection without the concrete type, as scenes store it.
pub fn dynamic(value: &dyn PartialReflect) -> Box<dyn PartialReflect> {
    value.to_dynamic().unwrapped()
}

/// The result of [`PartialReflect::to_dynamic`], which is the copy in Bevy 0.19, and a [`Result`]
/// in Bevy 0.20.
trait Unwrapped {
    fn unwrapped(self) -> Box<dyn PartialReflect>;
}

impl Unwrapped for Box<dyn PartialReflect> {
    fn unwrapped(self) -> Box<dyn PartialReflect> {
        self
    }
}

impl<E: Debug> Unwrapped for Result<Box<dyn PartialReflect>, E> {
    fn unwrapped(self) -> Box<dyn PartialReflect> {
        self.expect("a value that can be copied")
    }
}

/// All events that an app has reported, in order.
#[derive(Resource, Default, Debug)]
pub struct Record {
    pub messages: Vec<CollisionEvent>,
    /// The events that observers of entities given to [`watch`] received, each with the observed
    /// entity.
    pub observed: Vec<(Entity, CollisionEvent)>,
}

impl Record {
    /// Returns the events that the observers of one entity received.
    pub fn at(&self, entity: Entity) -> Vec<CollisionEvent> {
        let here = self.observed.iter().filter(|(target, _)| *target == entity);
        here.map(|(_, hit)| *hit).collect()
    }

    /// Returns the only message, and panics if there is none or more than one.
    pub fn only(&self) -> CollisionEvent {
        assert_eq!(self.messages.len(), 1, "one message: {:#?}", self.messages);
        self.messages[0]
    }

    /// Returns `true` if there was neither a message nor a call of an observer.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.observed.is_empty()
    }
}

/// Returns an app with Bevy's minimal plugins and `HeadbuttPlugin`, ready to [`tick`].
pub fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
    start(&mut app);
    app
}

/// Prepares an app, to which the plugins were added, for [`tick`].
pub fn start(app: &mut App) {
    start_reading_in(app, FixedLast);
}

/// Adds a [`Record`], with a system in this schedule that reads the messages, and runs the first
/// frame, which takes no time.
pub fn start_reading_in(app: &mut App, schedule: impl ScheduleLabel) {
    let record = |mut hits: MessageReader<CollisionEvent>, mut record: ResMut<Record>| {
        record.messages.extend(hits.read());
    };
    app.init_resource::<Record>()
        .add_systems(schedule, record.after(HeadbuttSystems::Report));
    frame(app, 0);
}

/// Runs one frame with `ticks` fixed ticks. Returns all reports since the last call.
pub fn frame(app: &mut App, ticks: u32) -> Record {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(STEP * ticks));
    app.update();
    core::mem::take(&mut *app.world_mut().resource_mut::<Record>())
}

/// Runs one frame with one fixed tick. Returns all reports since the last call.
pub fn tick(app: &mut App) -> Record {
    frame(app, 1)
}

/// Adds an observer to an entity that records its events.
pub fn watch(world: &mut World, entity: Entity) {
    world
        .entity_mut(entity)
        .observe(
            move |hit: On<CollisionStarted>, mut record: ResMut<Record>| {
                record.observed.push((entity, **hit));
            },
        )
        .observe(move |hit: On<CollisionEnded>, mut record: ResMut<Record>| {
            record.observed.push((entity, **hit));
        });
}

/// Asserts that each pair's phases are one `Started`, any number of `Ongoing` and one `Ended`,
/// repeatedly. Returns the pairs that have started but not ended.
pub fn assert_phases_alternate(messages: &[CollisionEvent]) -> Vec<(Entity, Entity)> {
    let mut touching = BTreeMap::new();
    for hit in messages {
        let pair = (hit.entity, hit.other);
        let turned = touching.contains_key(&(hit.other, hit.entity));
        assert!(!turned, "the sides are always the same: {hit:?}");
        let touched = touching.insert(pair, !hit.ended()).unwrap_or(false);
        assert_eq!(touched, !hit.started(), "{hit:?}");
    }
    let on = touching.into_iter().filter(|(_, touches)| *touches);
    on.map(|(pair, _)| pair).collect()
}

/// Asserts that two numbers are equal apart from rounding to f32, relative to `size`.
#[track_caller]
pub fn assert_near(actual: f32, expected: f32, size: f32) {
    assert!(
        (actual - expected).abs() <= 1e-6 * size,
        "{actual}, not {expected}"
    );
}

/// Asserts that two vectors are equal apart from rounding to f32, relative to `size`.
#[track_caller]
pub fn assert_near_vec(actual: Vec3, expected: Vec3, size: f32) {
    assert!(
        actual.distance(expected) <= 1e-6 * size,
        "{actual}, not {expected}"
    );
}

/// The dimension of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    D2,
    D3,
}

impl Dimension {
    pub const BOTH: [Self; 2] = [Self::D2, Self::D3];

    /// Returns a circle or a sphere.
    pub fn ball(self, radius: f32) -> Collider {
        match self {
            Self::D2 => Circle::new(radius).into(),
            Self::D3 => Sphere::new(radius).into(),
        }
    }

    /// Returns a square or a cube.
    pub fn block(self, size: f32) -> Collider {
        match self {
            Self::D2 => Rectangle::new(size, size).into(),
            Self::D3 => Cuboid::new(size, size, size).into(),
        }
    }
}

/// A ball of radius 1 at the origin and a box of size 2 at x = 1.5, which overlap by 0.5 along x.
pub struct Touching {
    pub app: App,
    pub dimension: Dimension,
    /// The ball and the box.
    pub sides: [Entity; 2],
}

impl Touching {
    pub const DEPTH: f32 = 0.5;

    /// Spawns the ball and the box in an app, with [`CollidingEntities`], and watches both.
    pub fn new(mut app: App, dimension: Dimension) -> Self {
        let world = app.world_mut();
        let ball = (dimension.ball(1.0), Transform::IDENTITY);
        let block = (dimension.block(2.0), Transform::from_xyz(1.5, 0.0, 0.0));
        let sides = [ball, block].map(|side| {
            let entity = world.spawn((side, CollidingEntities::default())).id();
            watch(world, entity);
            entity
        });
        Self {
            app,
            dimension,
            sides,
        }
    }

    /// Runs a test in both dimensions, for both sides.
    pub fn each(test: impl Fn(Self, Entity)) {
        for dimension in Dimension::BOTH {
            for side in 0..2 {
                let touching = Self::new(app(), dimension);
                let entity = touching.sides[side];
                test(touching, entity);
            }
        }
    }

    pub fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    pub fn other(&self, entity: Entity) -> Entity {
        let [ball, block] = self.sides;
        if entity == ball { block } else { ball }
    }

    /// Runs one tick in which the contact starts: one message, and one call of each side's
    /// observer.
    #[track_caller]
    pub fn begin(&mut self) {
        let record = tick(&mut self.app);
        let hit = record.only();
        assert!(hit.started(), "{hit:?}");
        self.assert_geometry(&hit);
        self.assert_at_sides(&record, &self.sides);
        self.assert_readable(true);
    }

    /// Runs one tick in which the contact continues: one message, and no observer.
    #[track_caller]
    pub fn go_on(&mut self) {
        let record = tick(&mut self.app);
        let hit = record.only();
        assert!(hit.ongoing(), "{hit:?}");
        self.assert_geometry(&hit);
        assert_eq!(record.observed, []);
        self.assert_readable(true);
    }

    /// Runs one tick in which the contact ends: one message with the last contact, and one call of
    /// the observer of each existing side. Further ticks report nothing.
    #[track_caller]
    pub fn end(&mut self, reason: EndReason) {
        let record = tick(&mut self.app);
        let hit = record.only();
        assert_eq!(hit.end_reason(), Some(reason));
        self.assert_geometry(&hit);
        let world = self.app.world();
        let alive = self.sides.into_iter();
        let alive: Vec<_> = alive
            .filter(|side| world.get_entity(*side).is_ok())
            .collect();
        self.assert_at_sides(&record, &alive);
        self.assert_readable(false);
        for _ in 0..3 {
            let record = tick(&mut self.app);
            assert!(record.is_empty(), "after the end: {record:#?}");
        }
    }

    /// Asserts that the event has the entities, the normal and the depth of the ball and the box.
    #[track_caller]
    fn assert_geometry(&self, hit: &CollisionEvent) {
        let [ball, block] = self.sides;
        let hit = hit.seen_from(ball).expect("the ball is part of it");
        assert_eq!(hit.other, block);
        assert_near_vec(hit.normal, Vec3::X, 1.0);
        assert_near(hit.depth, Self::DEPTH, 1.0);
    }

    /// Asserts that only the observers of `sides` were called, once each, with the message as seen
    /// from their side.
    #[track_caller]
    fn assert_at_sides(&self, record: &Record, sides: &[Entity]) {
        let hit = record.only();
        for side in sides {
            assert_eq!(record.at(*side), [hit.seen_from(*side).expect("a side")]);
        }
        assert_eq!(record.observed.len(), sides.len(), "{record:#?}");
    }

    /// If `touching` is `true`, asserts that `Collisions` and [`CollidingEntities`] report a
    /// contact of the ball and the box. Otherwise asserts that they report no contact.
    #[track_caller]
    fn assert_readable(&mut self, touching: bool) {
        let expected = usize::from(touching);
        for side in self.sides {
            let other = self.other(side);
            let world = self.app.world();
            let Ok(found) = world.get_entity(side) else {
                continue;
            };
            if let Some(entities) = found.get::<CollidingEntities>() {
                assert_eq!(entities.len(), expected);
                assert_eq!(entities.contains(other), touching);
            }
        }
        let [ball, block] = self.sides;
        read(self.app.world_mut(), |collisions| {
            assert_eq!(collisions.len(), expected);
            assert_eq!(collisions.between(ball, block).is_some(), touching);
            assert_eq!(collisions.deepest_of(block).count(), expected);
        });
    }
}

/// Calls a function with [`Collisions`], and returns its result.
pub fn read<T>(world: &mut World, reader: impl FnOnce(&Collisions) -> T) -> T {
    reader(world.resource::<Collisions>())
}

/// Returns the mutable transform of an entity.
pub fn transform(world: &mut World, entity: Entity) -> Mut<'_, Transform> {
    let transform = world.get_mut::<Transform>(entity);
    transform.expect("each collider has a Transform")
}

/// An action on an entity that ends the entity's contact.
pub type Act = fn(&mut World, Entity);

pub fn despawn(world: &mut World, entity: Entity) {
    world.despawn(entity);
}

pub fn disable(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(Disabled);
}

pub fn remove_collider(world: &mut World, entity: Entity) {
    world.entity_mut(entity).remove::<Collider>();
}

pub fn lose_pose(world: &mut World, entity: Entity) {
    transform(world, entity).translation.x = f32::NAN;
}

pub fn leave_layers(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(CollisionLayers::NONE);
}

pub fn move_away(world: &mut World, entity: Entity) {
    transform(world, entity).translation.y += 10.0;
}

/// Gives an entity a parent at (5, 0, 0) without moving it in the world.
pub fn adopt(world: &mut World, entity: Entity) {
    let parent = world.spawn(Transform::from_xyz(5.0, 0.0, 0.0)).id();
    world.entity_mut(entity).insert(ChildOf(parent));
    transform(world, entity).translation.x -= 5.0;
}

pub fn parent(world: &World, entity: Entity) -> Entity {
    let parent = world.get::<ChildOf>(entity);
    parent.expect("it was adopted").parent()
}

/// Returns the contact of two colliders as seen from the first. Asserts that the normal and the
/// depth do not depend on the order in which the colliders are spawned.
pub fn meeting(
    (first, place): (&Collider, Transform),
    (second, there): (&Collider, Transform),
) -> Option<CollisionEvent> {
    let one_way = |swapped: bool| {
        let mut app = app();
        let world = app.world_mut();
        let pose = if swapped { there } else { place };
        let collider = if swapped { second } else { first };
        let one = world.spawn((collider.clone(), pose)).id();
        let pose = if swapped { place } else { there };
        let collider = if swapped { first } else { second };
        let other = world.spawn((collider.clone(), pose)).id();
        let first = if swapped { other } else { one };
        tick(&mut app)
            .messages
            .pop()
            .and_then(|hit| hit.seen_from(first))
    };
    let (hit, swapped) = (one_way(false), one_way(true));
    let told = |hit: CollisionEvent| (hit.normal, hit.depth);
    assert_eq!(hit.map(told), swapped.map(told), "it depends on the order");
    hit
}
