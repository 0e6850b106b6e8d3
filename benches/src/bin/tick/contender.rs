//! A world of its own for each engine, all alike but for the engine.
//!
//! Each is an `App` with Bevy's minimal plugins. The same system moves the same things in `Update`; the engine runs in
//! `PostUpdate`. Time is driven by hand, 1/60 s an update. No world has Bevy's `TransformPlugin`: headbutt reads
//! `Transform` itself, and the peers propagate `GlobalTransform` on their own before they step.

use std::{collections::BTreeSet, time::Duration};

use bevy::{
    app::ScheduleRunnerPlugin,
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
    time::TimeUpdateStrategy,
};
use headbutt_bench::{
    clock::Clock,
    exact::Pair,
    motion::{Number, Ticks, advance},
    scene::{Scene, Thing},
};

use crate::options::Options;

/// An engine, as far as this measurement is concerned.
pub struct Engine {
    pub name: &'static str,
    /// Adds its plugins.
    pub plugins: fn(&mut App, &Options),
    /// Gives an entity what makes it collide. Number, transform and motion are there already.
    pub equip: fn(&mut EntityWorldMut, &Thing),
    /// The pairs that it says touch.
    pub pairs: fn(&mut World) -> BTreeSet<Pair>,
    /// Whether it tells where the contact is, and how deep.
    pub contacts: bool,
}

/// An engine with its world, and how long its updates took.
pub struct Contender {
    pub engine: Engine,
    pub app: App,
    scene: Scene,
    /// By number.
    entities: Vec<Entity>,
    /// In milliseconds.
    pub samples: Vec<f64>,
}

impl Contender {
    pub fn new(engine: Engine, scene: &Scene, options: &Options) -> Self {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins.build().disable::<ScheduleRunnerPlugin>())
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_nanos(
                16_666_667,
            )))
            .init_resource::<Ticks>()
            .add_systems(Update, advance);
        (engine.plugins)(&mut app, options);
        if options.threads == 1 {
            for label in [PreUpdate.intern(), Update.intern(), PostUpdate.intern()] {
                app.edit_schedule(label, |schedule| {
                    schedule.set_executor(SingleThreadedExecutor::new());
                });
            }
        }
        app.finish();
        app.cleanup();
        // Whatever an engine sets up at its start, its world has before the things come.
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

    /// Updates without looking at the clock.
    pub fn warm_up(&mut self, updates: u32) {
        for _ in 0..updates {
            self.update();
        }
    }

    /// A few updates in a row.
    pub fn run_block(&mut self, updates: u32, clock: Clock) {
        for _ in 0..updates {
            let start = clock.now();
            self.update();
            self.samples.push((clock.now() - start).as_secs_f64() * 1e3);
        }
    }

    /// Where everything is, in the frame of its parent and the order of the scene.
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

/// The number of an entity that is a thing.
pub fn number(world: &World, entity: Entity) -> u32 {
    world.get::<Number>(entity).map_or(u32::MAX, |it| it.0)
}

/// The world without an engine: what the motion and the updates themselves cost.
pub fn baseline() -> Engine {
    Engine {
        name: "motion only",
        plugins: |_, _| (),
        equip: |_, _| (),
        pairs: |_| BTreeSet::new(),
        contacts: false,
    }
}
