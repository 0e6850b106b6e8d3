//! The scenes: lists of objects in 2D or 3D, generated from a seed. Sizes are about 1, and objects
//! move by a few hundredths per tick.

use std::{fmt, str::FromStr, sync::Arc};

use bevy::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{
    form::Form,
    motion::{Motion, Noise, Number},
};

/// The kind of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All objects drift and rotate: balls, boxes and capsules. Half as many pairs overlap as there
    /// are objects.
    Moving,
    /// 90 % of the objects are static and separated. The other objects drift between them.
    Mixed,
    /// A dense grid, in which each object touches about six neighbors. All objects jitter.
    Pile,
    /// The scene `Moving`, without motion.
    Idle,
    /// All objects are static and separated.
    Static,
    /// The scene `Moving`, with hulls of 32 points (16 in 2D).
    Hulls,
    /// The scene `Moving`, with sizes from 1 to 1000.
    Sizes,
    /// The scene `Moving`, but in each tick, all objects get random poses.
    Teleport,
    /// The scene `Mixed`, but in each tick, one object in a hundred is despawned, and another
    /// object is spawned.
    Churn,
    /// The scene `Moving`, in some dozens of rooms far apart. (Small rooms have slightly fewer
    /// pairs, because fewer neighbors fit into a room.)
    Clusters,
    /// The scene `Static`, but each object is the child of a resting entity.
    Parents,
    /// Rods that jitter side by side. A third of the rods is along each axis (a half in 2D). None
    /// of their boxes overlap.
    Rods,
    /// The scene `Static` without rotations, in chains of a thousand objects. Each object is the
    /// child of the previous object.
    Chain,
    /// Static boxes at a tenth of the points of a square or cubic grid, as in Box2D's benchmark of
    /// casts.
    Sparse,
    /// The scene `Static`, and a tenth as many bullets: balls of radius 0.05 at 100 to 500 m/s, at
    /// 64 ticks per second.
    Bullets,
    /// The scene `Moving`, and the bullets of `Bullets`.
    Battle,
}

impl Kind {
    /// The scenes that are measured by default.
    pub const USUAL: [Self; 9] = [
        Self::Moving,
        Self::Mixed,
        Self::Pile,
        Self::Idle,
        Self::Static,
        Self::Hulls,
        Self::Sizes,
        Self::Teleport,
        Self::Churn,
    ];

    /// The scenes that are measured only on request.
    pub const MORE: [Self; 7] = [
        Self::Clusters,
        Self::Parents,
        Self::Rods,
        Self::Chain,
        Self::Sparse,
        Self::Bullets,
        Self::Battle,
    ];

    /// Returns `true` if nothing moves. In this case, a tick only detects that nothing has changed,
    /// and reports ongoing contacts.
    pub fn rests(self) -> bool {
        matches!(
            self,
            Self::Idle | Self::Static | Self::Parents | Self::Chain | Self::Sparse
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::USUAL.into_iter().chain(Self::MORE);
        let known = all.find(|kind| kind.to_string() == name);
        known.ok_or_else(|| format!("no scene `{name}`"))
    }
}

/// The parent of an object.
#[derive(Clone, Copy, Debug)]
pub enum Parent {
    /// An entity without a shape, at rest in this pose.
    Resting(Transform),
    /// The object that was spawned before.
    Previous,
}

/// An object of a scene.
#[derive(Clone, Debug)]
pub struct Thing {
    pub form: Form,
    pub parent: Option<Parent>,
    /// The pose, in the frame of the parent.
    pub start: Transform,
    /// `None` if the object does not move in this scene.
    pub motion: Option<Motion>,
    /// `true` if the object never moves. Engines may rely on this.
    pub fixed: bool,
}

/// The object that was spawned last.
#[derive(Resource)]
struct Previous(Entity);

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    pub kind: Kind,
    pub flat: bool,
    pub things: Vec<Thing>,
}

impl Scene {
    /// Creates a scene. Equal arguments give equal scenes.
    pub fn new(kind: Kind, flat: bool, count: usize) -> Self {
        let mut random = StdRng::seed_from_u64(0x0B0B + count as u64 + u64::from(flat));
        let things = match kind {
            Kind::Mixed | Kind::Churn => mixed(flat, count, &mut random),
            Kind::Pile => pile(flat, count, &mut random),
            Kind::Static => apart(flat, count, &mut random),
            Kind::Parents => parents(flat, count, &mut random),
            Kind::Rods => rods(flat, count),
            Kind::Chain => chain(flat, count, &mut random),
            Kind::Sparse => sparse(flat, count, &mut random),
            Kind::Bullets => with_bullets(flat, apart(flat, count, &mut random)),
            Kind::Battle => with_bullets(flat, crowd(kind, flat, count, &mut random)),
            Kind::Moving
            | Kind::Idle
            | Kind::Hulls
            | Kind::Sizes
            | Kind::Teleport
            | Kind::Clusters => crowd(kind, flat, count, &mut random),
        };
        Self { kind, flat, things }
    }

    /// Spawns an object with the components that all engines share: number, transform, motion and
    /// parent.
    pub fn spawn<'w>(&self, world: &'w mut World, number: usize) -> EntityWorldMut<'w> {
        let thing = &self.things[number];
        let parent = match thing.parent {
            Some(Parent::Resting(pose)) => Some(world.spawn(pose).id()),
            Some(Parent::Previous) => world.get_resource().map(|Previous(entity)| *entity),
            None => None,
        };
        let id = world.spawn((Number(number as u32), thing.start)).id();
        world.insert_resource(Previous(id));
        let mut entity = world.entity_mut(id);
        if let Some(parent) = parent {
            entity.insert(ChildOf(parent));
        }
        if let Some(motion) = &thing.motion {
            entity.insert(motion.clone());
        }
        entity
    }

    /// Returns `true` if an object is a bullet of `Bullets` or `Battle`.
    pub fn is_bullet(&self, number: usize) -> bool {
        matches!(self.things[number].form, Form::Ball { radius } if radius == BULLET)
    }

    /// Makes each bullet fly a distance of `length` per tick.
    pub fn set_bullet_steps(&mut self, length: f32) {
        for number in 0..self.things.len() {
            if self.is_bullet(number)
                && let Some(Motion::Drift { velocity, .. }) = &mut self.things[number].motion
            {
                *velocity = velocity.normalize() * length;
            }
        }
    }

    /// Returns the numbers of the objects that are replaced before a tick. In a hundred ticks, each
    /// object is replaced once.
    pub fn renewed(&self, tick: u32) -> impl Iterator<Item = usize> {
        let count = match self.kind {
            Kind::Churn => self.things.len(),
            _ => 0,
        };
        (tick as usize % 100..count).step_by(100)
    }
}

fn drift(flat: bool, center: Vec3, bound: Vec3, noise: &mut Noise) -> Motion {
    // 3 m/s, and two rotations in three seconds at 60 ticks per second. avian ignores rotations of
    // less than 0.1 degrees per tick.
    let velocity = 0.05 * noise.place();
    let angle = 0.035 + 0.01 * noise.signed();
    let axis = if flat {
        Vec3::Z
    } else {
        noise.place().normalize_or(Vec3::Z)
    };
    Motion::Drift {
        velocity: if flat { velocity.with_z(0.0) } else { velocity },
        spin: Quat::from_axis_angle(axis, angle),
        center,
        bound,
    }
}

/// The number of rooms in `Clusters`.
const ROOMS: usize = 48;

/// Returns objects in a room. The number of overlapping pairs is about half of the number of
/// objects.
fn crowd(kind: Kind, flat: bool, count: usize, random: &mut StdRng) -> Vec<Thing> {
    let hulls: Vec<Form> = (0..64).map(|_| hull(flat, random)).collect();
    let forms: Vec<Form> = (0..count)
        .map(|number| match kind {
            Kind::Hulls => hulls[number % hulls.len()].clone(),
            Kind::Sizes => scaled(usual(random), 0.02 * 1000.0_f32.powf(random.random())),
            _ => usual(random),
        })
        .collect();
    let rooms = match kind {
        Kind::Clusters => ROOMS,
        _ => 1,
    };
    let bound = half_room(flat, &forms, count as f64 / rooms as f64, random);
    let centers = centers(flat, rooms, bound);
    let thing = |(number, form): (usize, _)| {
        let mut noise = Noise::new(number as u32, u32::MAX);
        let center = centers[number % rooms];
        let start = Transform::from_translation(center + bound * noise.place())
            .with_rotation(noise.rotation(flat));
        let motion = match kind {
            Kind::Idle => None,
            Kind::Teleport => Some(Motion::Teleport { bound }),
            _ => Some(drift(flat, center, bound, &mut noise)),
        };
        Thing {
            form,
            parent: None,
            start,
            motion,
            fixed: false,
        }
    };
    forms.into_iter().enumerate().map(thing).collect()
}

/// Returns the centers of rooms with the half size `bound`. One room is around the origin. The
/// other rooms are about ten edge lengths apart, and not in a line.
fn centers(flat: bool, rooms: usize, bound: Vec3) -> Vec<Vec3> {
    if rooms == 1 {
        return vec![Vec3::ZERO];
    }
    let spacing = 20.0 * bound;
    grid(flat, rooms, spacing.x)
        .enumerate()
        .map(|(room, place)| {
            // No object uses this noise.
            let mut noise = Noise::new(room as u32, u32::MAX - 1);
            place + 0.25 * spacing * noise.place()
        })
        .collect()
}

/// Returns the half size of a room in which two random objects overlap with probability 1 / count.
fn half_room(flat: bool, forms: &[Form], count: f64, random: &mut StdRng) -> Vec3 {
    let mut radius = || forms[random.random_range(0..forms.len())].mean_radius(flat);
    let samples = 100_000;
    let reach = |sum: f32| {
        let sum = f64::from(sum);
        if flat {
            std::f64::consts::PI * sum.powi(2)
        } else {
            4.0 / 3.0 * std::f64::consts::PI * sum.powi(3)
        }
    };
    let volume: f64 = (0..samples)
        .map(|_| reach(radius() + radius()) / f64::from(samples))
        .sum();
    let room = volume * count;
    if flat {
        (Vec2::splat(room.sqrt() as f32) / 2.0).extend(0.0)
    } else {
        Vec3::splat(room.cbrt() as f32 / 2.0)
    }
}

fn usual(random: &mut StdRng) -> Form {
    match random.random_range(0..3) {
        0 => Form::Ball {
            radius: random.random_range(0.3..0.6),
        },
        1 => Form::Block {
            half: Vec3::from_array([(); 3].map(|()| random.random_range(0.25..0.5))),
        },
        _ => Form::Capsule {
            radius: random.random_range(0.2..0.4),
            half_length: random.random_range(0.2..0.4),
        },
    }
}

fn scaled(form: Form, factor: f32) -> Form {
    match form {
        Form::Ball { radius } => Form::Ball {
            radius: radius * factor,
        },
        Form::Block { half } => Form::Block {
            half: half * factor,
        },
        Form::Capsule {
            radius,
            half_length,
        } => Form::Capsule {
            radius: radius * factor,
            half_length: half_length * factor,
        },
        hull @ Form::Hull { .. } => hull,
    }
}

/// Returns random points on a ball or circle. Each point is a vertex of their hull.
fn hull(flat: bool, random: &mut StdRng) -> Form {
    let seed = random.random();
    let mut noise = Noise::new(seed, 0);
    let points: Arc<[Vec3]> = if flat {
        let angle = |corner: u8, noise: &mut Noise| {
            (f32::from(corner) + 0.3 * noise.signed()) * std::f32::consts::TAU / 16.0
        };
        (0..16)
            .map(|corner| 0.5 * Vec2::from_angle(angle(corner, &mut noise)).extend(0.0))
            .collect()
    } else {
        (0..32)
            .map(|_| 0.5 * (noise.rotation(false) * Vec3::X))
            .collect()
    };
    Form::Hull { points }
}

/// Returns the points of a grid with this spacing, around the origin.
fn grid(flat: bool, count: usize, spacing: f32) -> impl Iterator<Item = Vec3> {
    let edge = if flat {
        (count as f64).sqrt().ceil()
    } else {
        (count as f64).cbrt().ceil()
    } as usize;
    let middle = 0.5 * (edge as f32 - 1.0);
    (0..count).map(move |number| {
        let at = |layer: usize| (layer as f32 - middle) * spacing;
        let (x, y, z) = (number % edge, number / edge % edge, number / edge / edge);
        if flat {
            Vec3::new(at(x), at(number / edge), 0.0)
        } else {
            Vec3::new(at(x), at(y), at(z))
        }
    })
}

/// The distance between neighbors that never touch, whatever their rotations. Half of a diagonal is
/// 0.87, and half of a capsule's length is 0.8.
const APART: f32 = 1.8;

fn apart(flat: bool, count: usize, random: &mut StdRng) -> Vec<Thing> {
    let places: Vec<Vec3> = grid(flat, count, APART).collect();
    let thing = |(number, place)| Thing {
        form: usual(random),
        parent: None,
        start: Transform::from_translation(place)
            .with_rotation(Noise::new(number as u32, 0).rotation(flat)),
        motion: None,
        fixed: true,
    };
    places.into_iter().enumerate().map(thing).collect()
}

/// The radius of a bullet.
const BULLET: f32 = 0.05;

/// Adds bullets, which fly in random directions through the room of the other objects.
fn with_bullets(flat: bool, mut things: Vec<Thing>) -> Vec<Thing> {
    let count = things.len();
    let far = things.iter().map(|it| it.start.translation.max_element());
    let reach = Vec3::splat(far.fold(0.0, f32::max));
    let bound = if flat { reach.with_z(0.0) } else { reach };
    for number in count..count + count / 10 {
        let mut noise = Noise::new(number as u32, u32::MAX);
        let start = Transform::from_translation(bound * noise.place());
        let direction = noise.rotation(flat) * Vec3::X;
        things.push(Thing {
            form: Form::Ball { radius: BULLET },
            parent: None,
            start,
            motion: Some(Motion::Drift {
                velocity: direction * ((300.0 + 200.0 * noise.signed()) / 64.0),
                spin: Quat::IDENTITY,
                center: Vec3::ZERO,
                bound,
            }),
            fixed: false,
        });
    }
    things
}

/// An engine that ignores the parents, or their rotations, finds overlaps where there are none.
fn parents(flat: bool, count: usize, random: &mut StdRng) -> Vec<Thing> {
    let mut things = apart(flat, count, random);
    for (number, thing) in things.iter_mut().enumerate() {
        let turn = Noise::new(number as u32, 1).rotation(flat);
        let Transform {
            translation,
            rotation,
            ..
        } = thing.start;
        // The poses of parent and child combine to the pose in `Static`.
        let offset = 0.5 * translation;
        let pose = Transform::from_translation(translation - turn * offset).with_rotation(turn);
        thing.parent = Some(Parent::Resting(pose));
        thing.start = Transform::from_translation(offset).with_rotation(turn.inverse() * rotation);
    }
    things
}

/// The number of objects in a chain.
const LINKS: usize = 1000;

fn chain(flat: bool, count: usize, random: &mut StdRng) -> Vec<Thing> {
    let mut things = apart(flat, count, random);
    let mut previous = Vec3::ZERO;
    for (number, thing) in things.iter_mut().enumerate() {
        let place = thing.start.translation;
        let is_first = number % LINKS == 0;
        thing.parent = (!is_first).then_some(Parent::Previous);
        thing.start = Transform::from_translation(if is_first { place } else { place - previous });
        previous = place;
    }
    things
}

/// Each box is up to five times longer than wide, along a random axis.
fn sparse(flat: bool, count: usize, random: &mut StdRng) -> Vec<Thing> {
    let mut places: Vec<Vec3> = grid(flat, 10 * count, 1.0).collect();
    let thing = |number: usize| {
        let other = random.random_range(number..places.len());
        places.swap(number, other);
        let mut half = Vec3::splat(random.random_range(0.05..0.25));
        half[random.random_range(0..if flat { 2 } else { 3 })] *= random.random_range(1.0..5.0);
        Thing {
            form: Form::Block { half },
            parent: None,
            start: Transform::from_translation(places[number]),
            motion: None,
            fixed: true,
        }
    };
    (0..count).map(thing).collect()
}

/// Along each axis, each rod is next to the previous rod. Each axis has a room of its own.
fn rods(flat: bool, count: usize) -> Vec<Thing> {
    let (half_length, half_width, spacing) = (500.0, 0.005, 0.02);
    let axes = if flat { 2 } else { 3 };
    let middle = 0.5 * (count / axes) as f32;
    let thing = |number: usize| {
        let (axis, place) = (number % axes, (number / axes) as f32 - middle);
        let mut half = Vec3::splat(half_width);
        half[axis] = half_length;
        let mut translation = Vec3::ZERO;
        translation[(axis + 1) % axes] = spacing * place;
        translation[axis] = 4.0 * half_length * axis as f32;
        let home = Transform::from_translation(translation);
        Thing {
            form: Form::Block { half },
            parent: None,
            start: home,
            motion: Some(Motion::Jitter {
                home,
                reach: if flat {
                    Vec3::new(0.001, 0.001, 0.0)
                } else {
                    Vec3::splat(0.001)
                },
                turn: 0.0,
            }),
            fixed: false,
        }
    };
    (0..count).map(thing).collect()
}

fn mixed(flat: bool, count: usize, random: &mut StdRng) -> Vec<Thing> {
    let mut things = apart(flat, count - count / 10, random);
    let far = things.iter().map(|it| it.start.translation.max_element());
    let reach = far.fold(0.0, f32::max);
    let bound = if flat {
        Vec3::new(reach, reach, 0.0)
    } else {
        Vec3::splat(reach)
    };
    for number in things.len()..count {
        let mut noise = Noise::new(number as u32, u32::MAX);
        things.push(Thing {
            form: usual(random),
            parent: None,
            start: Transform::from_translation(bound * noise.place())
                .with_rotation(noise.rotation(flat)),
            motion: Some(drift(flat, Vec3::ZERO, bound, &mut noise)),
            fixed: false,
        });
    }
    things
}

/// In 3D, a cubic grid. In 2D, the rows are shifted, so that each object also has six neighbors.
fn pile(flat: bool, count: usize, random: &mut StdRng) -> Vec<Thing> {
    let spacing = 0.93;
    let edge = (count as f64).sqrt().ceil() as usize;
    let places = grid(flat, count, spacing).collect::<Vec<_>>();
    let thing = |(number, place): (usize, Vec3)| {
        let shifted = if flat {
            let odd = (number / edge % 2) as f32;
            Vec3::new(place.x + 0.5 * spacing * odd, place.y * 0.866, 0.0)
        } else {
            place
        };
        let mut noise = Noise::new(number as u32, 0);
        let home = Transform::from_translation(shifted).with_rotation(noise.rotation(flat));
        let form = match random.random_range(0..2) {
            0 => Form::Ball { radius: 0.5 },
            _ => Form::Block {
                half: Vec3::splat(0.42),
            },
        };
        Thing {
            form,
            parent: None,
            start: home,
            motion: Some(Motion::Jitter {
                home,
                reach: if flat {
                    Vec3::new(0.01, 0.01, 0.0)
                } else {
                    Vec3::splat(0.01)
                },
                turn: 0.02,
            }),
            fixed: false,
        }
    };
    places.into_iter().enumerate().map(thing).collect()
}
