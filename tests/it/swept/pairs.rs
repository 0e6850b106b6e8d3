//! The pairs that the broad phase finds on paths: none is missing, and the events are the same on
//! any number of threads.

use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::place;
use crate::support::{
    Dimension, app, fnv,
    process::{run_again, this_run},
    tick,
};

/// A random scene of colliders of many sizes: swept colliders, other fast colliders, slow colliders
/// that turn, and resting colliders.
struct Crowd {
    app: App,
    dimension: Dimension,
    /// Half the edge of the space. The longest paths are a little longer.
    space: f32,
    random: StdRng,
    entities: Vec<Entity>,
}

impl Crowd {
    fn new(dimension: Dimension, seed: u64, count: usize, space: f32) -> Self {
        let mut crowd = Self {
            app: app(),
            dimension,
            space,
            random: StdRng::seed_from_u64(seed),
            entities: vec![],
        };
        crowd.entities = (0..count).map(|number| crowd.spawn(number)).collect();
        let floor = match dimension {
            Dimension::D2 => Collider::half_space(Vec2::Y),
            Dimension::D3 => Collider::half_space(Vec3::Y),
        };
        let pose = Transform::from_xyz(0.0, -0.8 * space, 0.0);
        crowd.app.world_mut().spawn((floor, pose));
        crowd
    }

    fn spawn(&mut self, number: usize) -> Entity {
        let size = 10_f32.powf(self.random.random_range(-1.3..0.5));
        let collider = match number % 3 {
            0 => self.dimension.ball(0.5 * size),
            _ => self.dimension.block(size),
        };
        let pose = Transform::from_translation(self.vector(self.space));
        let mut entity = self.app.world_mut().spawn((collider, pose));
        if number.is_multiple_of(4) {
            entity.insert(Swept);
        }
        entity.id()
    }

    fn vector(&mut self, half: f32) -> Vec3 {
        let vector = Vec3::from([(); 3].map(|()| self.random.random_range(-half..half)));
        match self.dimension {
            Dimension::D2 => vector.with_z(0.0),
            Dimension::D3 => vector,
        }
    }

    /// Moves the colliders, and returns the events of the next tick.
    fn step(&mut self) -> Vec<CollisionEvent> {
        for number in 0..self.entities.len() {
            let entity = self.entities[number];
            let pose = self.app.world().get::<Transform>(entity);
            let mut pose = *pose.expect("a pose");
            let path = match number % 8 {
                // Some swept colliders rest in some ticks.
                0 | 4 if self.random.random_bool(0.2) => continue,
                0 | 4 | 5 => self.space * 10_f32.powf(self.random.random_range(-2.2..0.1)),
                1 | 2 => 0.02,
                _ => continue,
            };
            pose.translation += self.vector(path);
            if pose.translation.abs().max_element() > self.space {
                pose.translation = self.vector(self.space);
            }
            pose.rotate_z(self.random.random_range(-0.1..0.1));
            place(&mut self.app, entity, pose);
        }
        tick(&mut self.app).messages
    }

    /// Supplies all pairs.
    fn supply_all(&mut self) {
        let world = self.app.world_mut();
        let mut colliders = world.query_filtered::<Entity, With<Collider>>();
        let all: Vec<Entity> = colliders.iter(world).collect();
        let mut supplied = world.resource_mut::<CandidatePairs>();
        supplied.clear();
        for (index, entity) in all.iter().enumerate() {
            supplied.extend(all.iter().take(index).map(|other| (*entity, *other)));
        }
    }
}

#[test]
fn swept_colliders_meet_all_that_they_meet_if_all_pairs_are_supplied() {
    for (dimension, space, least) in [
        (Dimension::D2, 15.0, 500),
        (Dimension::D3, 15.0, 500),
        (Dimension::D2, 150.0, 300),
        (Dimension::D3, 30.0, 100),
    ] {
        let [mut crowd, mut reference] = [(); 2].map(|()| Crowd::new(dimension, 7, 300, space));
        reference.app.insert_resource(BroadPhase::Custom);
        let (mut hits, mut passes) = (0, 0);
        for step in 0..25 {
            reference.supply_all();
            let (found, expected) = (crowd.step(), reference.step());
            assert_eq!(found, expected, "{dimension:?}, {space}, tick {step}");
            hits += found.iter().filter(|hit| hit.started()).count();
            passes += found.iter().filter(|hit| hit.time() < 1.0).count();
        }
        assert!(
            hits.min(passes) > least,
            "{dimension:?}, {space}: {hits} hits, {passes} on paths"
        );
    }
}

#[test]
fn events_of_paths_are_the_same_on_any_number_of_threads() {
    let Some(run) = this_run() else {
        assert_eq!(run_again(0), run_again(1));
        return;
    };
    let threads = [1, 4][run];
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads).build());
    let mut lines = String::new();
    for dimension in Dimension::BOTH {
        let mut crowd = Crowd::new(dimension, 8, 3_000, 15.0);
        for _ in 0..4 {
            lines += &format!("{:?}", crowd.step());
        }
    }
    assert!(lines.matches("Started").count() > 1_000);
    println!("run: {} {:016x}", lines.len(), fnv(lines.as_bytes()));
}
