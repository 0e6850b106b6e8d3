//! Touching pairs of a larger world: balls and boxes of sizes 1 to 1000, in crowds. Some crowds are
//! far from the origin, and a few shapes are isolated. By turns, most colliders rest, all colliders
//! move, or half of the colliders are teleported. So the number of moving and resting colliders of
//! each size changes all the time.
//!
//! The model consists of closed forms in f64, and shares no code with the plugin.

use std::collections::BTreeMap;

use bevy::{ecs::entity_disabling::Disabled, math::DVec3, prelude::*};
use headbutt::{CollisionDiagnostics, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{
    event_log::{EventLog, Pair, pair_of},
    operations_or,
    world_pose::WorldPose,
};
use crate::support::{Dimension, app, frame};

/// The answers of the plugin and of the model may differ if the gap or the depth is at most this
/// fraction of both sizes. The plugin's tolerance of touching is one step of f32, and its depths
/// are f32.
const ROUNDING: f64 = 1e-6;

/// The number of colliders, apart from children that are despawned with a parent.
const POPULATION: core::ops::Range<usize> = 200..400;

/// The maximum depth of a hierarchy.
const GENERATIONS: usize = 3;

/// The centers of the crowds.
const CROWDS: [Vec3; 5] = [
    Vec3::ZERO,
    Vec3::new(35.0, -20.0, 10.0),
    Vec3::new(-300.0, 40.0, 0.0),
    Vec3::new(1e5, -1e5, 3e4),
    Vec3::new(-1e5, -1e5, -1e5),
];

/// The shape of a collider, which a `Collider` does not reveal.
#[derive(Component, Clone, Copy)]
struct Form {
    dimension: Dimension,
    /// The half extents of a box, or 0 for a ball.
    half: Vec3,
    /// The radius of a ball, or 0 for a box.
    radius: f32,
}

impl Form {
    fn collider(self) -> Collider {
        let size = 2.0 * self.half;
        match (self.dimension, self.radius > 0.0) {
            (dimension, true) => dimension.ball(self.radius),
            (Dimension::D2, false) => Rectangle::from_size(size.truncate()).into(),
            (Dimension::D3, false) => Cuboid::from_size(size).into(),
        }
    }
}

/// A collider in its pose.
struct Body {
    entity: Entity,
    layers: CollisionLayers,
    dimension: Dimension,
    center: DVec3,
    /// The unit vectors of the box's axes.
    axes: [DVec3; 3],
    half: DVec3,
    radius: f64,
    /// The bounding radius.
    reach: f64,
}

impl Body {
    fn new(world: &World, entity: Entity) -> Option<Self> {
        let found = world.get_entity(entity).ok()?;
        if !found.contains::<Collider>() || found.contains::<Disabled>() {
            return None;
        }
        let Form {
            dimension,
            half,
            radius,
        } = *found.get::<Form>()?;
        let pose = WorldPose::of(world, entity);
        let scale = pose.scale.abs();
        let flat = match dimension {
            Dimension::D2 => DVec3::new(1.0, 1.0, 0.0),
            Dimension::D3 => DVec3::ONE,
        };
        let half = half.as_dvec3() * flat * scale;
        let radius = f64::from(radius) * scale;
        Some(Self {
            entity,
            layers: found.get::<CollisionLayers>().copied().unwrap_or_default(),
            dimension,
            center: pose.translation * flat,
            axes: DVec3::AXES.map(|axis| pose.rotation * axis),
            half,
            radius,
            reach: half.length() + radius,
        })
    }

    fn is_ball(&self) -> bool {
        self.radius > 0.0
    }

    /// Returns the axes that exist in this dimension.
    fn own_axes(&self) -> &[DVec3] {
        match self.dimension {
            Dimension::D2 => &self.axes[..2],
            Dimension::D3 => &self.axes,
        }
    }

    /// Returns the half extent along a unit vector.
    fn extent_along(&self, axis: DVec3) -> f64 {
        let halves = self.axes.iter().zip(self.half.to_array());
        let along = halves.map(|(own, half)| own.dot(axis).abs() * half);
        along.sum::<f64>() + self.radius
    }

    /// Returns the gap of two boxes: a lower bound of their distance, or minus their depth. The
    /// separating axes are the axes of both boxes, and in 3D also their cross products.
    fn gap_of_blocks(&self, other: &Self) -> f64 {
        let between = other.center - self.center;
        let along = |axis: DVec3| {
            axis.dot(between).abs() - self.extent_along(axis) - other.extent_along(axis)
        };
        let own = self.own_axes().iter().chain(other.own_axes());
        let mut gap = own.fold(f64::NEG_INFINITY, |gap, axis| gap.max(along(*axis)));
        if self.dimension == Dimension::D3 {
            for axis in self.axes {
                for other in other.axes {
                    // Parallel axes have no cross product.
                    if let Some(axis) = axis.cross(other).try_normalize() {
                        gap = gap.max(along(axis));
                    }
                }
            }
        }
        gap
    }

    /// Returns the distance of a ball from this box, or minus the depth if the ball's center is
    /// inside.
    fn gap_to_ball(&self, ball: &Self) -> f64 {
        let between = ball.center - self.center;
        let beyond = self.own_axes().iter().zip(self.half.to_array());
        let beyond: Vec<_> = beyond
            .map(|(axis, half)| axis.dot(between).abs() - half)
            .collect();
        let inside = beyond.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let from_center = if inside > 0.0 {
            let squares = beyond.iter().map(|it| it.max(0.0).powi(2));
            squares.sum::<f64>().sqrt()
        } else {
            inside
        };
        from_center - ball.radius
    }

    /// Returns the distance of two colliders, or minus their depth.
    fn gap(&self, other: &Self) -> f64 {
        match (self.is_ball(), other.is_ball()) {
            (true, true) => self.center.distance(other.center) - self.radius - other.radius,
            (true, false) => other.gap_to_ball(self),
            (false, true) => self.gap_to_ball(other),
            (false, false) => self.gap_of_blocks(other),
        }
    }
}

/// The activity of the next ticks.
#[derive(Clone, Copy)]
enum Epoch {
    /// Hardly any collider changes.
    Rest,
    /// One in n colliders moves, where n is the value. The same colliders move in each tick.
    Some(usize),
    /// All colliders move.
    All,
    /// Colliders are spawned, despawned and replaced.
    Change,
    /// Half of the colliders are teleported at once.
    Teleport,
}

#[derive(Resource)]
struct Large {
    random: StdRng,
    alive: Vec<Entity>,
    epoch: Epoch,
    /// The number of ticks until the next activity.
    ticks_left: usize,
    /// The gaps of the pairs that touch or nearly touch, and the sizes to which the gaps are
    /// compared.
    gaps: BTreeMap<Pair, (f64, f64)>,
    event_log: EventLog,
    operations: usize,
    ticks: usize,
    rounded: usize,
    /// The numbers of ticks in which no collider, less than a tenth, and more than seven tenths of
    /// the colliders changed.
    still: usize,
    quiet: usize,
    busy: usize,
}

impl Large {
    fn new(seed: u64) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            alive: Vec::new(),
            epoch: Epoch::Rest,
            ticks_left: 0,
            gaps: BTreeMap::new(),
            event_log: EventLog::default(),
            operations: 0,
            ticks: 0,
            rounded: 0,
            still: 0,
            quiet: 0,
            busy: 0,
        }
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    fn offset(&mut self, reach: f32) -> Vec3 {
        Vec3::from_array([(); 3].map(|()| self.random.random_range(-reach..reach)))
    }

    fn form(&mut self, dimension: Dimension) -> Form {
        // The size is from 0.01 to 10, with each order of magnitude equally likely.
        let size = 10_f32.powf(self.random.random_range(-2.0..1.0));
        let is_ball = self.chance(0.5);
        let mut part = || self.random.random_range(0.2..1.0) * size;
        let (half, radius) = if is_ball {
            (Vec3::ZERO, size)
        } else {
            (Vec3::new(part(), part(), part()), 0.0)
        };
        Form {
            dimension,
            half,
            radius,
        }
    }

    fn scale(&mut self) -> Vec3 {
        let factor = self.random.random_range(0.5..2.0);
        Vec3::splat(if self.chance(0.1) { -factor } else { factor })
    }

    fn turned(&mut self, dimension: Dimension, translation: Vec3) -> Transform {
        let [turn, tilt, _] = self.offset(3.0).to_array();
        let turn = Quat::from_rotation_z(turn);
        Transform {
            translation,
            rotation: match dimension {
                Dimension::D2 => turn,
                Dimension::D3 => turn * Quat::from_rotation_x(tilt),
            },
            scale: self.scale(),
        }
    }

    /// Returns a pose of a collider without a parent: usually in or around a crowd, rarely
    /// isolated.
    fn pose(&mut self, dimension: Dimension) -> Transform {
        let translation = if self.chance(0.05) {
            self.offset(1e5)
        } else {
            let reach = match dimension {
                _ if self.chance(0.2) => 1.0,
                Dimension::D2 => 20.0,
                Dimension::D3 => 10.0,
            };
            CROWDS[self.random.random_range(0..CROWDS.len())] + self.offset(reach)
        };
        self.turned(dimension, translation)
    }

    /// Returns a pose of a child.
    fn pose_of_child(&mut self, dimension: Dimension) -> Transform {
        let translation = self.offset(5.0);
        self.turned(dimension, translation)
    }

    fn spawn(&mut self, world: &mut World) {
        let dimension = Dimension::BOTH[self.random.random_range(0..2)];
        let (form, pose) = (self.form(dimension), self.pose(dimension));
        let entity = world.spawn((form, form.collider(), pose)).id();
        self.alive.push(entity);
    }

    fn step(&mut self, world: &mut World, entity: Entity) {
        self.operations += 1;
        let step = self.offset(0.3);
        let transform = world.get_mut::<Transform>(entity);
        transform.expect("all have one").translation += step;
    }

    fn teleport(&mut self, world: &mut World, entity: Entity) {
        self.operations += 1;
        let dimension = world.get::<Form>(entity).expect("all have one").dimension;
        let pose = match world.get::<ChildOf>(entity) {
            Some(_) => self.pose_of_child(dimension),
            None => self.pose(dimension),
        };
        world.entity_mut(entity).insert(pose);
    }

    /// Performs a random operation on the world.
    fn operate(&mut self, world: &mut World) {
        let count = self.alive.len();
        if count < POPULATION.start || (count < POPULATION.end && self.chance(0.15)) {
            self.operations += 1;
            return self.spawn(world);
        }
        let entity = self.alive[self.random.random_range(0..count)];
        let dimension = world.get::<Form>(entity).expect("all have one").dimension;
        match self.random.random_range(0..12) {
            0 => {
                // The children of the entity are despawned, too.
                world.despawn(entity);
                self.alive.retain(|it| world.get_entity(*it).is_ok());
            }
            1 | 2 => return self.teleport(world, entity),
            3 | 4 => return self.step(world, entity),
            5 => {
                let form = self.form(dimension);
                world.entity_mut(entity).insert((form, form.collider()));
            }
            6 => {
                let form = *world.get::<Form>(entity).expect("all have one");
                if world.entity_mut(entity).take::<Collider>().is_none() || self.chance(0.6) {
                    world.entity_mut(entity).insert(form.collider());
                }
            }
            7 => {
                if world.entity_mut(entity).take::<Disabled>().is_none() && self.chance(0.4) {
                    world.entity_mut(entity).insert(Disabled);
                }
            }
            8 => {
                if self.chance(0.5) {
                    world.entity_mut(entity).remove::<CollisionLayers>();
                } else {
                    let mut mask = || self.random.random_range(0..8);
                    let layers = CollisionLayers::new(mask(), mask());
                    world.entity_mut(entity).insert(layers);
                }
            }
            9 | 10 => self.reparent(world, entity, dimension),
            _ => {
                let scale = self.scale();
                let transform = world.get_mut::<Transform>(entity);
                transform.expect("all have one").scale = scale;
            }
        }
        self.operations += 1;
    }

    fn reparent(&mut self, world: &mut World, entity: Entity, dimension: Dimension) {
        let parent = self.alive[self.random.random_range(0..self.alive.len())];
        let of = world.get::<Form>(parent).expect("all have one").dimension;
        let ancestors = core::iter::successors(Some(parent), |it| {
            world.get::<ChildOf>(*it).map(ChildOf::parent)
        });
        let may_be = parent != entity
            && of == dimension
            && world.get::<Children>(entity).is_none()
            && ancestors.count() < GENERATIONS;
        if may_be {
            let pose = self.pose_of_child(dimension);
            world.entity_mut(entity).insert((ChildOf(parent), pose));
        } else {
            let pose = self.pose(dimension);
            world.entity_mut(entity).remove::<ChildOf>().insert(pose);
        }
    }

    /// Runs the operations before a tick.
    fn go_on(&mut self, world: &mut World) {
        if self.ticks_left == 0 {
            (self.epoch, self.ticks_left) = match self.random.random_range(0..6) {
                0 | 1 => (Epoch::Rest, self.random.random_range(5..60)),
                2 => {
                    let one_of = self.random.random_range(3..40);
                    (Epoch::Some(one_of), self.random.random_range(5..60))
                }
                3 => (Epoch::All, self.random.random_range(5..30)),
                4 => (Epoch::Change, self.random.random_range(5..30)),
                _ => (Epoch::Teleport, 1),
            };
        }
        self.ticks_left -= 1;
        let alive = self.alive.clone();
        match self.epoch {
            Epoch::Rest => {
                if self.chance(0.2) {
                    self.operate(world);
                }
            }
            Epoch::Some(one_of) => {
                for entity in alive.iter().step_by(one_of) {
                    self.step(world, *entity);
                }
                self.operate(world);
            }
            Epoch::All => {
                for entity in alive {
                    self.step(world, entity);
                }
            }
            Epoch::Change => {
                for _ in 0..self.random.random_range(1..40) {
                    self.operate(world);
                }
            }
            Epoch::Teleport => {
                for entity in alive {
                    if self.chance(0.5) {
                        self.teleport(world, entity);
                    }
                }
            }
        }
    }

    /// Computes the gaps of all pairs, directly before the tick.
    fn expect(&mut self, world: &World) {
        let bodies = self.alive.iter();
        let bodies: Vec<_> = bodies.filter_map(|it| Body::new(world, *it)).collect();
        self.gaps.clear();
        for (index, a) in bodies.iter().enumerate() {
            for b in &bodies[index + 1..] {
                let size = a.reach + b.reach;
                let may_meet = a.dimension == b.dimension && a.layers.interacts_with(b.layers);
                let room = size * (1.0 + ROUNDING);
                if !may_meet || a.center.distance_squared(b.center) > room * room {
                    continue;
                }
                let gap = a.gap(b);
                if gap <= ROUNDING * size {
                    let pair = (a.entity.min(b.entity), a.entity.max(b.entity));
                    self.gaps.insert(pair, (gap, size));
                }
            }
        }
    }

    /// Compares the contacts and the events of the tick with the expected pairs.
    fn check(&mut self, world: &mut World) {
        self.ticks += 1;
        let hits = self.event_log.read(world);
        for (pair, (gap, size)) in &self.gaps {
            let is_close = gap.abs() <= ROUNDING * size;
            let touch = self.event_log.touching.contains(pair);
            assert!(touch || is_close, "missed: {pair:?}, {gap} of {size}");
            self.rounded += usize::from(touch != (*gap <= 0.0));
        }
        for hit in hits.iter().filter(|hit| !hit.ended()) {
            let Some((gap, size)) = self.gaps.get(&pair_of(hit)) else {
                panic!("invented: {hit:?}");
            };
            let error = (f64::from(hit.depth) + gap).abs();
            assert!(error <= ROUNDING * size, "{gap} of {size}: {hit:?}");
        }
        let changed = world.resource::<CollisionDiagnostics>().changed;
        self.still += usize::from(changed == 0);
        self.quiet += usize::from(changed > 0 && changed * 10 < self.alive.len());
        self.busy += usize::from(changed * 10 > self.alive.len() * 7);
    }
}

#[test]
fn touching_pairs_of_hundreds_match_the_closed_form_in_motion_and_at_rest() {
    let go_on = |world: &mut World| {
        world.resource_scope(|world, mut large: Mut<Large>| large.go_on(world));
    };
    let expect = |world: &mut World| {
        world.resource_scope(|world, mut large: Mut<Large>| large.expect(world));
    };
    let check = |world: &mut World| {
        world.resource_scope(|world, mut large: Mut<Large>| large.check(world));
    };
    let mut app = app();
    app.insert_resource(Large::new(4))
        .add_systems(FixedUpdate, go_on)
        .add_systems(
            FixedPostUpdate,
            (
                expect.before(HeadbuttSystems::Sync),
                check.after(HeadbuttSystems::Report),
            ),
        );
    let world = app.world_mut();
    world.resource_scope(|world, mut large: Mut<Large>| {
        while large.alive.len() < POPULATION.start {
            large.spawn(world);
        }
    });
    let operations = operations_or(200_000);
    while app.world().resource::<Large>().operations < operations {
        frame(&mut app, 1);
    }
    let large = app.world().resource::<Large>();
    let ticks = large.ticks;
    println!(
        "{} operations, {ticks} ticks: {} still, {} quiet, {} busy; {} contacts began, {} answers rounded",
        large.operations,
        large.still,
        large.quiet,
        large.busy,
        large.event_log.started,
        large.rounded
    );
    large.event_log.assert_all_reasons(ticks / 100);
    assert!(
        large.event_log.started > 2 * ticks,
        "{}",
        large.event_log.started
    );
    for share in [large.still, large.quiet, large.busy] {
        assert!(share > ticks / 50, "{share}");
    }
    // Rounding rarely decides an answer.
    assert!(large.rounded <= ticks / 100, "{}", large.rounded);
}
