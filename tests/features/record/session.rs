//! Random sessions that are recorded in memory, and their replay.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use headbutt::{Collisions, HeadbuttRecorder, Recording, Replay, ReplayTick, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::{Dimension, app, cases::number, tick, transform};

/// A file in memory, which the test can read through a clone.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    pub fn bytes(&self) -> Vec<u8> {
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
/// random operations of every kind.
pub struct Chaos {
    random: StdRng,
    pub alive: Vec<(Entity, Dimension)>,
    parents: Vec<Entity>,
}

impl Chaos {
    pub fn new(seed: u64, count: usize, world: &mut World) -> Self {
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
    pub fn go_on(&mut self, world: &mut World) {
        for (entity, _) in self.alive.clone() {
            if self.random.random_bool(0.4) {
                let step = self.vector(0.3);
                let turn = self.random.random_range(-0.3..0.3);
                let mut pose = transform(world, entity);
                // Bodies are pulled back to the middle, so that they keep touching.
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
        let (other, _) = self.alive[self.random.random_range(0..self.alive.len())];
        match self.random.random_range(0..48) {
            40..42 if other != entity => {
                world.entity_mut(entity).insert(ColliderOf(other));
            }
            // Owners and holders need no collider.
            42 => {
                world.entity_mut(entity).insert(ColliderOf(parent));
            }
            43 => {
                world.entity_mut(entity).remove::<ColliderOf>();
            }
            44 => {
                let ignored = [other, parent].into_iter().collect::<IgnoreCollisions>();
                world.entity_mut(entity).insert(ignored);
            }
            45 => {
                world
                    .entity_mut(parent)
                    .insert(IgnoreCollisions::from(other));
            }
            46 => {
                world.entity_mut(entity).remove::<IgnoreCollisions>();
            }
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
                // The path begins at the pose above, and leads to the next pose.
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

/// Returns the bits of all contacts as seen from both sides, without entities, sorted. So the bits
/// do not depend on the entity that comes first, which may differ in a replay.
pub fn bits(world: &World) -> Vec<Vec<u32>> {
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
pub struct Session {
    pub bytes: Vec<u8>,
    pub contacts: Vec<Vec<Vec<u32>>>,
}

impl Session {
    pub fn chaos(seed: u64, count: usize, ticks: usize) -> Self {
        let mut app = app();
        let mut chaos = Chaos::new(seed, count, app.world_mut());
        Self::record(&mut app, ticks, |world, _| chaos.go_on(world))
    }

    pub fn record(app: &mut App, ticks: usize, mut change: impl FnMut(&mut World, usize)) -> Self {
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

    pub fn replay(&self) -> Player {
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

pub struct Player {
    pub app: App,
    pub replay: Replay,
}

impl Player {
    pub fn assert_equal(&mut self, tick: usize, session: &Session) -> bool {
        let played = self.replay.go_to(self.app.world_mut(), tick);
        let played = played.expect("a tick");
        assert!(played.is_equal(), "{played:?}");
        assert_eq!(bits(self.app.world()), session.contacts[tick], "{tick}");
        assert_eq!(self.replay.tick(), Some(tick));
        played.events_equal.is_some()
    }
}

pub fn tick_count() -> usize {
    number("HEADBUTT_REPLAY").unwrap_or(300)
}
