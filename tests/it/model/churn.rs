//! Touching pairs, compared with a model, in a world in which some entities are spawned, despawned,
//! disabled or moved between tables in every tick. Entities change their positions in Bevy's lists
//! in every possible manner. All other entities rest.
//!
//! In the model, balls on a lattice touch if they are neighbors or at the same point.

use std::collections::BTreeSet;

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{
    event_log::{EventLog, Pair},
    operations_or,
};
use crate::support::{Dimension, app, start, tick};

/// Balls of radius 0.5 touch at this distance, but not at √2 times this distance. Multiples of this
/// distance are exact.
const SPACING: f32 = 0.75;

/// The approximate number of balls.
const POPULATION: usize = 300;

/// Returns the extent of the lattice, chosen so that each ball touches some other balls.
fn reach(dimension: Dimension) -> i32 {
    match dimension {
        Dimension::D2 => 8,
        Dimension::D3 => 3,
    }
}

/// A component that moves an entity to another table.
#[derive(Component)]
struct Mark;

/// A component that changes the archetype of an entity, but not its table.
#[derive(Component)]
#[component(storage = "SparseSet")]
struct SparseMark;

/// A disabling component that is stored in no table, so that Bevy lists the entities one by one.
#[derive(Component)]
#[component(storage = "SparseSet")]
struct Asleep;

struct Churn {
    random: StdRng,
    dimension: Dimension,
    alive: Vec<Entity>,
    parents: Vec<Entity>,
    /// If `true`, entities are disabled by `Asleep`, and otherwise by `Disabled`.
    sleep: bool,
}

impl Churn {
    fn pose(&mut self) -> Transform {
        let reach = reach(self.dimension);
        let mut step = || self.random.random_range(-reach..=reach) as f32;
        let steps = Vec3::new(step(), step(), step());
        Transform::from_translation(SPACING * steps)
    }

    fn spawn(&mut self, world: &mut World) {
        let ball = (self.dimension.ball(0.5), self.pose());
        let mut entity = world.spawn(ball);
        if self.random.random_bool(0.3) {
            entity.insert(Mark);
        }
        if self.random.random_bool(0.3) {
            entity.insert(ChildOf(
                self.parents[self.random.random_range(0..self.parents.len())],
            ));
        }
        self.alive.push(entity.id());
    }

    fn despawn(&mut self, world: &mut World) {
        let number = self.random.random_range(0..self.alive.len());
        world.despawn(self.alive.swap_remove(number));
    }

    /// Inserts or removes a component that changes nothing but the entity's position in Bevy's
    /// lists.
    fn toggle<T: Component>(entity: &mut EntityWorldMut, it: T) {
        if entity.take::<T>().is_none() {
            entity.insert(it);
        }
    }

    fn operate(&mut self, world: &mut World) {
        match self.random.random_range(0..14) {
            0 | 1 => return self.despawn(world),
            // The new entity has the index of the old entity.
            2 | 3 => {
                self.despawn(world);
                return self.spawn(world);
            }
            4 if self.alive.len() < POPULATION => return self.spawn(world),
            _ => {}
        }
        let pose = self.pose();
        let number = self.random.random_range(0..self.alive.len());
        let mut entity = world.entity_mut(self.alive[number]);
        match self.random.random_range(0..10) {
            0 | 1 => Self::toggle(&mut entity, Mark),
            2 => Self::toggle(&mut entity, SparseMark),
            3 if self.sleep => Self::toggle(&mut entity, Asleep),
            3 => Self::toggle(&mut entity, Disabled),
            4 => match entity.take::<ChildOf>() {
                Some(_) => {}
                None => {
                    let number = self.random.random_range(0..self.parents.len());
                    entity.insert(ChildOf(self.parents[number]));
                }
            },
            5 => Self::toggle(&mut entity, CollisionLayers::NONE),
            // Removing and inserting the collider changes at most the position in Bevy's lists.
            6 => {
                let collider = entity.take::<Collider>();
                entity.insert(collider.unwrap_or(self.dimension.ball(0.5)));
            }
            7 => {
                entity.remove::<Collider>();
            }
            8 => {
                entity.remove::<Transform>();
                entity.insert(pose);
            }
            // The entity has no valid pose until a later operation.
            _ => {
                let nowhere = Transform::from_translation(Vec3::NAN);
                entity.insert(if self.random.random() { nowhere } else { pose });
            }
        }
    }

    /// Runs the operations before a tick. Returns their number.
    fn go_on(&mut self, world: &mut World) -> usize {
        let count = match self.random.random_range(0..20) {
            0 => {
                // Most entities are replaced.
                for _ in 0..self.alive.len() * 3 / 4 {
                    self.despawn(world);
                }
                0
            }
            1 => {
                // All entities change tables.
                for entity in &self.alive {
                    Self::toggle(&mut world.entity_mut(*entity), Mark);
                }
                0
            }
            2 => {
                let pose = self.pose();
                let number = self.random.random_range(0..self.parents.len());
                world.entity_mut(self.parents[number]).insert(pose);
                0
            }
            3..6 => self.random.random_range(30..100),
            6..9 => 0,
            _ => self.random.random_range(1..10),
        };
        while self.alive.len() < POPULATION * 2 / 3 {
            self.spawn(world);
        }
        for _ in 0..count {
            self.operate(world);
        }
        count
    }

    /// Returns the lattice point of a ball, or `None` if the ball is ignored.
    fn step_of(&self, world: &World, entity: Entity) -> Option<IVec3> {
        let entity = world.entity(entity);
        let is_out = entity.contains::<Disabled>()
            || entity.contains::<Asleep>()
            || entity.contains::<CollisionLayers>();
        let mut translation = entity.get::<Transform>()?.translation;
        if let Some(parent) = entity.get::<ChildOf>() {
            translation += world.get::<Transform>(parent.parent())?.translation;
        }
        let flat = match self.dimension {
            Dimension::D2 => Vec3::new(1.0, 1.0, 0.0),
            Dimension::D3 => Vec3::ONE,
        };
        let takes_part = entity.contains::<Collider>() && !is_out && translation.is_finite();
        takes_part.then(|| (translation * flat / SPACING).as_ivec3())
    }

    fn touching(&self, world: &World) -> BTreeSet<Pair> {
        let all = self.alive.iter();
        let all: Vec<_> = all
            .filter_map(|it| Some((*it, self.step_of(world, *it)?)))
            .collect();
        let mut touching = BTreeSet::new();
        for (index, (a, place_of_a)) in all.iter().enumerate() {
            for (b, place_of_b) in &all[index + 1..] {
                if place_of_a.distance_squared(*place_of_b) <= 1 {
                    touching.insert((*a.min(b), *a.max(b)));
                }
            }
        }
        touching
    }
}

fn churn(seed: u64, dimension: Dimension, sleep: bool) {
    let mut app = if sleep {
        let mut app = App::new();
        let asleep = app.world_mut().register_component::<Asleep>();
        app.world_mut()
            .resource_mut::<bevy::ecs::entity_disabling::DefaultQueryFilters>()
            .register_disabling_component(asleep);
        app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
        start(&mut app);
        app
    } else {
        app()
    };
    let world = app.world_mut();
    let mut churn = Churn {
        random: StdRng::seed_from_u64(seed),
        dimension,
        alive: Vec::new(),
        parents: [0.0, 1.0, 2.0]
            .map(|step| {
                let pose = Transform::from_xyz(SPACING * step, 0.0, 0.0);
                world.spawn(pose).id()
            })
            .to_vec(),
        sleep,
    };
    let mut event_log = EventLog::default();
    let (mut operations, mut ticks) = (0, 0);
    while operations < operations_or(15_000) {
        operations += churn.go_on(app.world_mut());
        tick(&mut app);
        ticks += 1;
        event_log.read(app.world_mut());
        assert_eq!(
            event_log.touching,
            churn.touching(app.world()),
            "tick {ticks}"
        );
    }
    println!(
        "{operations} operations, {ticks} ticks: {} contacts began",
        event_log.started
    );
    assert!(event_log.started > 10 * ticks, "{}", event_log.started);
}

#[test]
fn touching_pairs_match_the_model_through_spawns_despawns_and_table_moves() {
    for (seed, dimension) in (5..).zip(Dimension::BOTH) {
        churn(seed, dimension, false);
    }
}

#[test]
fn touching_pairs_match_the_model_with_a_sparse_disabling_component() {
    for (seed, dimension) in (7..).zip(Dimension::BOTH) {
        churn(seed, dimension, true);
    }
}
