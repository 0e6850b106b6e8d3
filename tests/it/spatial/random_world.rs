//! Random worlds in which the test knows each collider and its exact pose.

use std::collections::HashMap;

use bevy::prelude::*;
use headbutt::{EntityHit, prelude::*};
use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

use crate::support::{Dimension, app, tick};

/// The properties of a collider that the test knows.
#[derive(Clone, Debug)]
pub struct Thing {
    pub entity: Entity,
    pub parent: Option<Entity>,
    pub collider: Collider,
    /// The pose in the world.
    pub pose: Transform,
    pub layers: CollisionLayers,
    pub is_sensor: bool,
    pub owner: Option<Entity>,
    pub own_ignored: Vec<Entity>,
    /// The entities that the collider or its owner ignores, as of the last tick.
    pub ignored: Vec<Entity>,
}

impl Thing {
    /// The owner, which may be the collider itself.
    pub fn owner(&self) -> Entity {
        self.owner.unwrap_or(self.entity)
    }

    /// Returns `true` if an exception keeps two colliders from meeting.
    pub fn ignores(&self, other: &Self) -> bool {
        let listed = |a: &Self, b: &Self| {
            let mut ignored = a.ignored.iter();
            ignored.any(|it| [b.entity, b.owner()].contains(it))
        };
        listed(self, other) || listed(other, self)
    }

    pub fn hit<H>(&self, hit: H) -> EntityHit<H> {
        EntityHit {
            entity: self.entity,
            owner: self.owner(),
            hit,
        }
    }
}

/// Returns a vector of three components.
fn vector(mut component: impl FnMut() -> f32) -> Vec3 {
    Vec3::new(component(), component(), component())
}

/// Returns a random multiple of 1/64. The sums of a few multiples are exact.
fn on_grid(random: &mut StdRng, extent: f32) -> f32 {
    (random.random_range(-extent..extent) * 64.0).round() / 64.0
}

pub struct RandomWorld {
    pub app: App,
    pub dimension: Dimension,
    pub things: Vec<Thing>,
    /// Half of the size of the region with colliders.
    pub extent: f32,
}

impl RandomWorld {
    pub fn new(dimension: Dimension, extent: f32) -> Self {
        Self {
            app: app(),
            dimension,
            things: Vec::new(),
            extent,
        }
    }

    pub fn point(&self, random: &mut StdRng) -> Vec3 {
        let extent = self.extent;
        let point = vector(|| on_grid(random, extent));
        match self.dimension {
            Dimension::D2 => point.with_z(0.0),
            Dimension::D3 => point,
        }
    }

    pub fn rotation(&self, random: &mut StdRng) -> Quat {
        let angle = random.random_range(-3.0..3.0);
        match self.dimension {
            Dimension::D2 => Quat::from_rotation_z(angle),
            Dimension::D3 => {
                let axis = vector(|| random.random_range(-1.0..1.0));
                Quat::from_axis_angle(axis.try_normalize().unwrap_or(Vec3::X), angle)
            }
        }
    }

    fn block(&self, size: Vec3) -> Collider {
        match self.dimension {
            Dimension::D2 => Collider::rectangle(size.x, size.y),
            Dimension::D3 => Collider::cuboid(size.x, size.y, size.z),
        }
    }

    fn capsule(&self, radius: f32, length: f32) -> Collider {
        match self.dimension {
            Dimension::D2 => Collider::capsule_2d(radius, length),
            Dimension::D3 => Collider::capsule_3d(radius, length),
        }
    }

    /// Returns a convex collider without scale.
    pub fn probe(&self, random: &mut StdRng) -> Collider {
        let mut size = || random.random_range(0.1..3.0);
        let sizes = Vec3::new(size(), size(), size());
        match random.random_range(0..4) {
            0 => self.dimension.ball(sizes.x),
            1 => self.block(sizes),
            2 => self.capsule(0.5 * sizes.x, sizes.y),
            _ => self.compound(random),
        }
    }

    fn compound(&self, random: &mut StdRng) -> Collider {
        let count = random.random_range(1..5);
        let parts = (0..count).map(|_| {
            let size = vector(|| random.random_range(0.2..1.5));
            let part = if random.random_bool(0.5) {
                self.dimension.ball(size.x)
            } else {
                self.block(size)
            };
            let offset = vector(|| random.random_range(-2.0..2.0));
            (offset, self.rotation(random), part)
        });
        let parts: Vec<_> = parts.collect();
        match self.dimension {
            Dimension::D2 => Collider::compound(parts.into_iter().map(|(offset, _, part)| {
                let pose = Isometry2d::new(offset.xy(), Rot2::radians(offset.z));
                (pose, part)
            })),
            Dimension::D3 => Collider::compound(
                parts
                    .into_iter()
                    .map(|(offset, rotation, part)| (Isometry3d::new(offset, rotation), part)),
            ),
        }
    }

    /// Returns a polyline, or a mesh of eight triangles, each with one side or both.
    fn surface(&self, random: &mut StdRng) -> Collider {
        let mut height = || random.random_range(-0.5..0.5);
        let surface = match self.dimension {
            Dimension::D2 => {
                Collider::polyline((0..9).map(|number| Vec2::new(number as f32 - 4.0, height())))
            }
            Dimension::D3 => {
                let corners = (0..9).map(|number| {
                    let (row, column) = ((number / 3) as f32, (number % 3) as f32);
                    Vec3::new(2.0 * row - 2.0, height(), 2.0 * column - 2.0)
                });
                let squares = [0, 1, 3, 4].into_iter();
                Collider::trimesh(
                    corners,
                    squares.flat_map(|a| [[a, a + 1, a + 3], [a + 1, a + 4, a + 3]]),
                )
            }
        };
        assert!(!surface.is_inert());
        if random.random_bool(0.5) {
            surface.one_sided()
        } else {
            surface
        }
    }

    pub fn spawn(&mut self, random: &mut StdRng) {
        let size = vector(|| random.random_range(0.1..2.0));
        let mut scale = Vec3::ONE;
        let collider = match random.random_range(0..24) {
            0..6 => self.dimension.ball(size.x),
            6..11 => self.block(size),
            11..14 => {
                scale = vector(|| [0.5, 2.0, -1.5][random.random_range(0..3)]);
                self.dimension.ball(size.x)
            }
            14..17 => self.capsule(0.5 * size.x, size.y),
            17..20 => self.compound(random),
            20..23 => self.surface(random),
            _ => match self.dimension {
                Dimension::D2 => Collider::half_space(Vec2::Y),
                Dimension::D3 => Collider::half_space(Vec3::Y),
            },
        };
        let has_parent = random.random_bool(0.2);
        // Below a parent, a rotation would be rounded differently than without a parent.
        let rotation = match has_parent {
            true => Quat::IDENTITY,
            false => self.rotation(random),
        };
        let pose = Transform {
            translation: self.point(random),
            rotation,
            scale,
        };
        let world = self.app.world_mut();
        let mut local = pose;
        let parent = has_parent.then(|| {
            let offset = Vec3::new(on_grid(random, 8.0), on_grid(random, 8.0), 0.0);
            local.translation -= offset;
            world.spawn(Transform::from_translation(offset)).id()
        });
        let layer = |random: &mut StdRng| [1, 2, 3, u32::MAX].choose(random).copied().unwrap_or(1);
        let layers = CollisionLayers::new(layer(random), layer(random));
        let is_sensor = random.random_bool(0.2);
        let mut entity = world.spawn((collider.clone(), local, layers));
        if is_sensor {
            entity.insert(Sensor);
        }
        if let Some(parent) = parent {
            entity.insert(ChildOf(parent));
        }
        let entity = entity.id();
        self.things.push(Thing {
            entity,
            parent,
            collider,
            pose,
            layers,
            is_sensor,
            owner: None,
            own_ignored: Vec::new(),
            ignored: Vec::new(),
        });
        self.relate(random, self.things.len() - 1);
    }

    /// Gives a collider another owner and other exceptions. The owners are other colliders.
    fn relate(&mut self, random: &mut StdRng, index: usize) {
        let Self { app, things, .. } = self;
        let entities: Vec<_> = things.iter().map(|thing| thing.entity).collect();
        let thing = &mut things[index];
        let some = |random: &mut StdRng| *entities.choose(random).expect("a collider");
        thing.owner = random.random_bool(0.3).then(|| some(random));
        thing.owner = thing.owner.filter(|owner| *owner != thing.entity);
        let count = random.random_range(0..3);
        thing.own_ignored = (0..count).map(|_| some(random)).collect();
        let mut entity = app.world_mut().entity_mut(thing.entity);
        entity.insert(IgnoreCollisions::from_iter(
            thing.own_ignored.iter().copied(),
        ));
        match thing.owner {
            Some(owner) => entity.insert(ColliderOf(owner)),
            None => entity.remove::<ColliderOf>(),
        };
    }

    /// Gives a collider another parent, or none, without moving it.
    fn reparent(&mut self, random: &mut StdRng, index: usize) {
        let world = self.app.world_mut();
        let thing = &mut self.things[index];
        let mut local = thing.pose;
        // Below a parent, a rotation would be rounded differently than without a parent.
        let has_parent = random.random_bool(0.5) && local.rotation == Quat::IDENTITY;
        thing.parent = has_parent.then(|| {
            let offset = Vec3::new(on_grid(random, 8.0), on_grid(random, 8.0), 0.0);
            local.translation -= offset;
            world.spawn(Transform::from_translation(offset)).id()
        });
        let mut entity = world.entity_mut(thing.entity);
        entity.insert(local);
        match thing.parent {
            Some(parent) => entity.insert(ChildOf(parent)),
            None => entity.remove::<ChildOf>(),
        };
    }

    /// Moves, despawns, spawns and changes some colliders.
    pub fn change(&mut self, random: &mut StdRng) {
        let count = random.random_range(0..self.things.len().max(1));
        for _ in 0..count / random.random_range(1..8) {
            let index = random.random_range(0..self.things.len());
            match random.random_range(0..11) {
                0 => self.spawn(random),
                1 => {
                    let thing = self.things.swap_remove(index);
                    self.app.world_mut().despawn(thing.entity);
                    for other in &mut self.things {
                        other.owner = other.owner.filter(|owner| *owner != thing.entity);
                    }
                    if self.things.is_empty() {
                        return;
                    }
                }
                2 => {
                    let thing = &mut self.things[index];
                    thing.is_sensor = !thing.is_sensor;
                    let mut entity = self.app.world_mut().entity_mut(thing.entity);
                    if thing.is_sensor {
                        entity.insert(Sensor);
                    } else {
                        entity.remove::<Sensor>();
                    }
                }
                4 => self.relate(random, index),
                5 => self.reparent(random, index),
                3 => {
                    let thing = &mut self.things[index];
                    thing.layers = CollisionLayers::from_bits(random.random(), random.random());
                    self.app
                        .world_mut()
                        .entity_mut(thing.entity)
                        .insert(thing.layers);
                }
                _ => {
                    let by = 0.125 * self.point(random);
                    let by = (by * 64.0).round() / 64.0;
                    let thing = &mut self.things[index];
                    thing.pose.translation += by;
                    let world = self.app.world_mut();
                    let mut pose = world
                        .get_mut::<Transform>(thing.entity)
                        .expect("a collider");
                    pose.translation += by;
                }
            }
        }
    }

    pub fn tick(&mut self) {
        let own = self.things.iter();
        let own: HashMap<_, _> = own.map(|it| (it.entity, it.own_ignored.clone())).collect();
        for thing in &mut self.things {
            thing.ignored = [&own[&thing.entity], &own[&thing.owner()]]
                .into_iter()
                .flatten()
                .copied()
                .collect();
        }
        tick(&mut self.app);
    }
}
