//! One world for each engine. The worlds differ only in the engine.
//!
//! Each world is an `App` with Bevy's minimal plugins. The same system moves the same objects in
//! `Update`, and the engine runs in `PostUpdate`. Time advances by 1/60 s per update. No world has
//! Bevy's `TransformPlugin`: headbutt reads `Transform`, and the other engines propagate
//! `GlobalTransform` themselves before they step.

pub mod avian;
pub mod headbutt;
pub mod rapier;

use std::{collections::BTreeSet, time::Duration};

use crate::{
    clock::Clock,
    exact::Pair,
    motion::{Number, Ticks, advance},
    scene::{Scene, Thing},
};
use bevy::{
    app::ScheduleRunnerPlugin,
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
    time::TimeUpdateStrategy,
};

/// The interface of an engine for this benchmark.
pub struct Engine {
    pub name: &'static str,
    /// Adds the plugins, for a number of threads.
    pub plugins: fn(&mut App, usize),
    /// Adds the collider components to an entity that already has its number, transform and motion.
    pub equip: fn(&mut EntityWorldMut, &Thing),
    /// Returns the pairs that touch, according to the engine.
    pub pairs: fn(&mut World) -> BTreeSet<Pair>,
    /// `true` if the engine computes the points and depths of contacts.
    pub contacts: bool,
}

/// An engine with its world, and the durations of its updates.
pub struct Contender {
    pub engine: Engine,
    pub app: App,
    scene: Scene,
    /// The entities, by number.
    entities: Vec<Entity>,
    /// The durations, in milliseconds.
    pub samples: Vec<f64>,
}

impl Contender {
    pub fn new(engine: Engine, scene: &Scene, threads: usize) -> Self {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins.build().disable::<ScheduleRunnerPlugin>())
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_nanos(
                16_666_667,
            )))
            .init_resource::<Ticks>()
            .add_systems(Update, advance);
        (engine.plugins)(&mut app, threads);
        if threads == 1 {
            for label in [PreUpdate.intern(), Update.intern(), PostUpdate.intern()] {
                app.edit_schedule(label, |schedule| {
                    schedule.set_executor(SingleThreadedExecutor::new());
                });
            }
        }
        app.finish();
        app.cleanup();
        // Engines set up their worlds before the objects are spawned.
        app.update();
        app.world_mut().resource_mut::<Ticks>().0 = 0;
        let world = app.world_mut();
        let numbers = 0..scene.things.len();
        let entities = numbers.map(|number| spawn(world, &engine, scene, number));
        Self {
            entities: entities.collect(),
            scene: scene.clone(),
            engine,
            app,
            samples: Vec::new(),
        }
    }

    fn update(&mut self) {
        let world = self.app.world_mut();
        let tick = world.resource::<Ticks>().0;
        for number in self.scene.renewed(tick) {
            world.despawn(self.entities[number]);
        }
        for number in self.scene.renewed(tick) {
            self.entities[number] = spawn(world, &self.engine, &self.scene, number);
        }
        self.app.update();
    }

    /// Runs updates without measuring them.
    pub fn warm_up(&mut self, updates: u32) {
        for _ in 0..updates {
            self.update();
        }
    }

    /// Measures a few updates in a row.
    pub fn run_block(&mut self, updates: u32, clock: Clock) {
        for _ in 0..updates {
            let start = clock.now();
            self.update();
            self.samples.push((clock.now() - start).as_secs_f64() * 1e3);
        }
    }

    /// Returns all poses in the order of the scene, each in the frame of its parent.
    pub fn poses(&mut self) -> Vec<Transform> {
        let world = self.app.world_mut();
        let mut things: Vec<(u32, Transform)> = world
            .query::<(&Number, &Transform)>()
            .iter(world)
            .map(|(number, transform)| (number.0, *transform))
            .collect();
        things.sort_unstable_by_key(|(number, _)| *number);
        things.into_iter().map(|(_, transform)| transform).collect()
    }

    pub fn pairs(&mut self) -> BTreeSet<Pair> {
        (self.engine.pairs)(self.app.world_mut())
    }
}

fn spawn(world: &mut World, engine: &Engine, scene: &Scene, number: usize) -> Entity {
    let mut entity = scene.spawn(world, number);
    (engine.equip)(&mut entity, &scene.things[number]);
    entity.id()
}

/// Returns the number of an entity that is an object of the scene.
pub fn number(world: &World, entity: Entity) -> u32 {
    world.get::<Number>(entity).map_or(u32::MAX, |it| it.0)
}

/// A world without an engine, which measures the cost of the motion and the updates.
pub fn baseline() -> Engine {
    Engine {
        name: "motion only",
        plugins: |_, _| (),
        equip: |_, _| (),
        pairs: |_| BTreeSet::new(),
        contacts: false,
    }
}
