//! Models of the whole plugin: after any operations on the world, the touching pairs are those that
//! a loop over all pairs finds, and each contact that starts ends once.
//!
//! The model here shares only the queries with the plugin. It computes poses itself, in f64, and
//! reads shapes, layers and disabling components from the world anew in each tick. The model of a
//! larger world, in `large.rs`, uses no queries either.
//!
//! Each test performs some thousand operations. `HEADBUTT_CHAOS` sets another number:
//!
//! ```sh
//! HEADBUTT_CHAOS=1000000 cargo test --test it model -- --nocapture
//! ```

mod churn;
mod event_log;
mod large;
mod world_pose;

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::repeat,
    sync::Arc,
};

use crate::support::{Dimension, Record, app, cases::number, frame, watch};
use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use event_log::{EventLog, Pair, pair_of};
use headbutt::{IntoShape, Support, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};
use world_pose::{WorldPose, is_ancestor};

/// The least number of operations of a test: the value of `HEADBUTT_CHAOS`, or else the default.
fn operations_or(default: usize) -> usize {
    number("HEADBUTT_CHAOS").unwrap_or(default)
}

/// The two answers may differ if the gap or the depth is at most this fraction of the larger size:
/// the model's poses are rounded to f32.
const ROUNDING: f32 = 1e-4;

/// The shape of a collider, which a `Collider` does not reveal.
#[derive(Component, Clone)]
enum Known {
    D2(Arc<dyn Support<Vector = Vec2> + Send + Sync>),
    D3(Arc<dyn Support<Vector = Vec3> + Send + Sync>),
}

fn in_2d<S>(shape: S) -> (Known, Collider)
where
    S: Support<Vector = Vec2> + IntoShape + Clone + Send + Sync + 'static,
{
    (Known::D2(Arc::new(shape.clone())), shape.into())
}

fn in_3d<S>(shape: S) -> (Known, Collider)
where
    S: Support<Vector = Vec3> + IntoShape + Clone + Send + Sync + 'static,
{
    (Known::D3(Arc::new(shape.clone())), shape.into())
}

/// A shape scaled by a factor. A negative factor also reflects it through its origin.
struct Scaled<'a, V> {
    shape: &'a dyn Support<Vector = V>,
    factor: f64,
}

impl<V: headbutt::Space> Support for Scaled<'_, V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        self.shape.support(direction * self.factor) * self.factor
    }

    fn radius(&self) -> f64 {
        self.shape.radius() * self.factor.abs()
    }
}

/// Whether and how two shapes touch.
#[derive(Clone, Copy, Debug)]
struct Answer {
    touch: bool,
    /// The depth or the distance.
    extent: f32,
    /// The size that the depth or distance is measured against.
    size: f32,
}

impl Answer {
    fn of(a: (&Known, WorldPose), b: (&Known, WorldPose)) -> Option<Self> {
        let (touch, extent) = match (a.0, b.0) {
            (Known::D2(shape_a), Known::D2(shape_b)) => ask(
                (&**shape_a, a.1.scale, a.1.in_2d()),
                (&**shape_b, b.1.scale, b.1.in_2d()),
            ),
            (Known::D3(shape_a), Known::D3(shape_b)) => ask(
                (&**shape_a, a.1.scale, a.1.in_3d()),
                (&**shape_b, b.1.scale, b.1.in_3d()),
            ),
            _ => return None,
        };
        let size = a.1.scale.abs().max(b.1.scale.abs()).max(1.0) as f32;
        Some(Self {
            touch,
            extent,
            size,
        })
    }

    fn is_close(&self) -> bool {
        self.extent <= ROUNDING * self.size
    }
}

type Side<'a, V> = (
    &'a dyn Support<Vector = V>,
    f64,
    <V as headbutt::Space>::Isometry,
);

fn ask<V: headbutt::Space>(a: Side<V>, b: Side<V>) -> (bool, f32) {
    let [shape_a, shape_b] = [a, b].map(|(shape, factor, _)| Scaled { shape, factor });
    let (pose_a, pose_b) = (a.2, b.2);
    if query::intersects(&shape_a, pose_a, &shape_b, pose_b) {
        let contact = query::contact(&shape_a, pose_a, &shape_b, pose_b);
        (true, contact.expect("they intersect").depth)
    } else {
        let apart = query::distance(&shape_a, pose_a, &shape_b, pose_b);
        (false, apart.distance)
    }
}

/// The source of the operations, and the state of the checks.
#[derive(Resource)]
struct Model {
    random: StdRng,
    /// All spawned entities that still exist.
    alive: Vec<Entity>,
    /// This tick's answers for all active pairs.
    answers: BTreeMap<Pair, Answer>,
    event_log: EventLog,
    /// `true` if colliders become swept, and are teleported.
    with_paths: bool,
    operations: usize,
    ticks: usize,
    /// The number of answers within [`ROUNDING`] that differed.
    rounded: usize,
}

impl Model {
    fn new(seed: u64) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            alive: Vec::new(),
            answers: BTreeMap::new(),
            event_log: EventLog::default(),
            with_paths: false,
            operations: 0,
            ticks: 0,
            rounded: 0,
        }
    }

    fn pick(&mut self) -> Option<Entity> {
        let count = self.alive.len();
        (count > 0).then(|| self.alive[self.random.random_range(0..count)])
    }

    fn coordinate(&mut self, reach: f32) -> f32 {
        self.random.random_range(-reach..reach)
    }

    fn shape(&mut self, dimension: Dimension) -> (Known, Collider) {
        let size = self.random.random_range(0.25..1.0);
        let points = (0..6).map(|_| {
            let mut coordinate = || self.random.random_range(-size..size);
            Vec3::new(coordinate(), coordinate(), coordinate())
        });
        let points: Vec<_> = points.collect();
        let flat = points.iter().map(|point| point.truncate());
        let flat: Vec<_> = flat.collect();
        let kind = self.random.random_range(0..6);
        match dimension {
            Dimension::D2 => match kind {
                0 => in_2d(Circle::new(size)),
                1 => in_2d(Capsule2d::new(0.5 * size, size)),
                2 => in_2d(Rectangle::new(size, 2.0 * size)),
                3 => in_2d(Segment2d::new(flat[0], flat[1])),
                4 => in_2d(Triangle2d::new(flat[0], flat[1], flat[2])),
                _ => in_2d(headbutt::ConvexHull::new(flat).expect("a hull")),
            },
            Dimension::D3 => match kind {
                0 => in_3d(Sphere::new(size)),
                1 => in_3d(Capsule3d::new(0.5 * size, size)),
                2 => in_3d(Cuboid::new(size, 2.0 * size, 1.5 * size)),
                3 => in_3d(Segment3d::new(points[0], points[1])),
                4 => in_3d(Triangle3d::new(points[0], points[1], points[2])),
                _ => in_3d(headbutt::ConvexHull::new(points).expect("a hull")),
            },
        }
    }

    fn pose(&mut self, dimension: Dimension) -> Transform {
        let turn = Quat::from_rotation_z(self.coordinate(3.0));
        let tilt = Quat::from_rotation_x(self.coordinate(3.0));
        // About as many touch in 2D as in 3D, where there is more room.
        let (reach, rotation) = match dimension {
            Dimension::D2 => (2.5, turn),
            Dimension::D3 => (1.25, turn * tilt),
        };
        Transform {
            translation: Vec3::new(
                self.coordinate(reach),
                self.coordinate(reach),
                self.coordinate(reach),
            ),
            rotation,
            scale: Vec3::splat(self.scale()),
        }
    }

    fn scale(&mut self) -> f32 {
        let factor = self.random.random_range(0.5..1.5);
        if self.random.random_bool(0.1) {
            -factor
        } else {
            factor
        }
    }

    fn spawn(&mut self, world: &mut World, with_bombs: bool) {
        let dimension = Dimension::BOTH[self.random.random_range(0..2)];
        let pose = self.pose(dimension);
        let entity = world.spawn((self.shape(dimension), pose)).id();
        watch(world, entity);
        if self.random.random() {
            world
                .entity_mut(entity)
                .insert(CollidingEntities::default());
        }
        if with_bombs && self.random.random_bool(0.05) {
            // Despawns both sides when it first touches.
            let explode = |hit: On<CollisionStarted>, mut commands: Commands| {
                commands.entity(hit.entity).try_despawn();
                commands.entity(hit.other).try_despawn();
            };
            world.entity_mut(entity).observe(explode);
        }
        self.alive.push(entity);
    }

    /// A random operation on the world.
    fn operate(&mut self, world: &mut World, with_bombs: bool) {
        self.operations += 1;
        self.alive
            .retain(|entity| world.get_entity(*entity).is_ok());
        // About 30 at a time.
        let crowd = self.alive.len() as f64 / 60.0;
        if !self.random.random_bool(crowd.min(1.0)) && self.random.random_bool(0.5) {
            return self.spawn(world, with_bombs);
        }
        let Some(entity) = self.pick() else {
            return;
        };
        if self.with_paths && self.random.random_bool(0.1) {
            let mut entity = world.entity_mut(entity);
            match self.random.random_range(0..3) {
                0 => entity.insert(Swept),
                1 => entity.insert(Teleported),
                _ => entity.remove::<Swept>(),
            };
            return;
        }
        let known = world.get::<Known>(entity).cloned().expect("all have one");
        let dimension = match known {
            Known::D2(_) => Dimension::D2,
            Known::D3(_) => Dimension::D3,
        };
        match self.random.random_range(0..10) {
            0 => {
                // Its children are despawned with it.
                world.despawn(entity);
            }
            1 => {
                let pose = self.pose(dimension);
                world.entity_mut(entity).insert(pose);
            }
            2 | 3 => {
                let step = Vec3::new(self.coordinate(0.5), self.coordinate(0.5), 0.0);
                let transform = world.get_mut::<Transform>(entity);
                transform.expect("all have one").translation += step;
            }
            4 => {
                let shape = self.shape(dimension);
                world.entity_mut(entity).insert(shape);
            }
            // Most entities keep their collider, so that there are contacts.
            5 => {
                if !world.entity(entity).contains::<Collider>() {
                    let shape = self.shape(dimension);
                    world.entity_mut(entity).insert(shape);
                } else if self.random.random_bool(0.4) {
                    world.entity_mut(entity).remove::<Collider>();
                }
            }
            6 => {
                if world.entity_mut(entity).take::<Disabled>().is_none()
                    && self.random.random_bool(0.4)
                {
                    world.entity_mut(entity).insert(Disabled);
                }
            }
            7 => {
                if self.random.random_bool(0.7) {
                    world.entity_mut(entity).remove::<CollisionLayers>();
                } else {
                    let mut mask = || self.random.random_range(0..8);
                    let layers = CollisionLayers::new(mask(), mask());
                    world.entity_mut(entity).insert(layers);
                }
            }
            8 => {
                let parent = self.pick().filter(|parent| {
                    !matches!(
                        (&known, world.get::<Known>(*parent)),
                        // A 2D shape must not be tilted, or its scale in the plane would not be
                        // uniform.
                        (Known::D2(_), Some(Known::D3(_)))
                    ) && !is_ancestor(world, entity, *parent)
                });
                match parent {
                    Some(parent) => world.entity_mut(entity).insert(ChildOf(parent)),
                    None => world.entity_mut(entity).remove::<ChildOf>(),
                };
            }
            _ => {
                let scale = Vec3::splat(self.scale());
                let transform = world.get_mut::<Transform>(entity);
                transform.expect("all have one").scale = scale;
            }
        }
    }

    /// Computes all pairs just before the tick does.
    fn expect(&mut self, world: &World) {
        let part = self.alive.iter().filter_map(|entity| {
            let found = world.get_entity(*entity).ok()?;
            let takes_part = found.contains::<Collider>() && !found.contains::<Disabled>();
            let layers = found.get::<CollisionLayers>().copied().unwrap_or_default();
            let pose = WorldPose::of(world, *entity);
            takes_part.then_some((*entity, found.get::<Known>()?, pose, layers))
        });
        let mut part: Vec<_> = part.collect();
        part.sort_by_key(|(entity, ..)| *entity);
        self.answers.clear();
        for (index, a) in part.iter().enumerate() {
            for b in &part[index + 1..] {
                let may_meet = a.3.interacts_with(b.3);
                let answer = Answer::of((a.1, a.2), (b.1, b.2)).filter(|_| may_meet);
                self.answers
                    .extend(answer.map(|answer| ((a.0, b.0), answer)));
            }
        }
    }

    /// Compares the tick with the expected pairs, and its events with one another.
    fn check(&mut self, world: &mut World) {
        self.ticks += 1;
        let hits = self.event_log.read(world);
        for (pair, answer) in &self.answers {
            if answer.touch != self.event_log.touching.contains(pair) {
                assert!(answer.is_close(), "{pair:?}: {answer:?}");
                self.rounded += 1;
            }
        }
        // A contact on a path has the depth of the first touch.
        let at_end = hits.iter().filter(|hit| hit.time() == 1.0);
        for hit in at_end.filter(|hit| !hit.ended()) {
            let answer = self.answers.get(&pair_of(hit));
            let answer = answer.unwrap_or_else(|| panic!("may not touch: {hit:?}"));
            let difference = (hit.depth - answer.extent).abs();
            assert!(difference <= ROUNDING * answer.size, "{hit:?}: {answer:?}");
        }

        let record = core::mem::take(&mut *world.resource_mut::<Record>());
        for entity in &self.alive {
            let Ok(found) = world.get_entity(*entity) else {
                continue;
            };
            let transitions = hits.iter().filter(|hit| !hit.ongoing());
            let transitions = transitions.filter_map(|hit| hit.seen_from(*entity));
            assert_eq!(record.at(*entity), transitions.collect::<Vec<_>>());
            if let Some(entities) = found.get::<CollidingEntities>() {
                let entities: BTreeSet<_> = entities.iter().collect();
                let touching = self.event_log.touching.iter();
                let others = touching.filter_map(|(a, b)| match *entity {
                    entity if entity == *a => Some(*b),
                    entity if entity == *b => Some(*a),
                    _ => None,
                });
                assert_eq!(entities, others.collect());
            }
        }
    }
}

/// An app that operates on its world in each fixed tick, and checks each tick.
fn app_of(seed: u64, with_bombs: bool) -> App {
    let operate = move |world: &mut World| {
        world.resource_scope(|world, mut model: Mut<Model>| {
            for _ in 0..model.random.random_range(0..8) {
                model.operate(world, with_bombs);
            }
        });
    };
    let expect = |world: &mut World| {
        world.resource_scope(|world, mut model: Mut<Model>| model.expect(world));
    };
    let check = |world: &mut World| {
        world.resource_scope(|world, mut model: Mut<Model>| model.check(world));
    };
    let mut app = app();
    app.insert_resource(Model::new(seed))
        .add_systems(FixedUpdate, operate)
        .add_systems(
            FixedPostUpdate,
            (
                expect.before(HeadbuttSystems::Sync),
                check.after(HeadbuttSystems::Report),
            ),
        );
    app
}

/// Asserts that every kind of operation happened in this number of ticks.
#[track_caller]
fn assert_worth(app: &App, ticks: usize) {
    let model = app.world().resource::<Model>();
    println!("{} operations, {ticks} ticks", model.operations);
    assert_eq!(model.ticks, ticks);
    model.event_log.assert_all_reasons(ticks / 100);
    // Rounding hardly ever decides.
    assert!(model.rounded <= ticks / 100, "{}", model.rounded);
}

/// Runs this many operations in an app, in frames of these numbers of ticks.
fn run(mut app: App, operations: usize, frames: impl Iterator<Item = u32>) {
    run_in(&mut app, operations, frames);
}

fn run_in(app: &mut App, operations: usize, mut frames: impl Iterator<Item = u32>) {
    let mut ticks = 0;
    while app.world().resource::<Model>().operations < operations
        && let Some(count) = frames.next()
    {
        frame(app, count);
        ticks += count as usize;
    }
    assert_worth(app, ticks);
}

#[test]
fn touching_pairs_match_a_loop_over_all_pairs() {
    run(app_of(1, false), operations_or(10_000), repeat(1));
}

#[test]
fn touching_pairs_match_with_five_ticks_per_frame() {
    run(app_of(2, false), operations_or(3_500), repeat(5));
}

#[test]
fn touching_pairs_match_with_despawning_observers_and_frames_of_any_length() {
    let operations = operations_or(6_000);
    let mut app = app_of(3, true);
    // Operations also happen between the ticks, and several before one tick.
    app.add_systems(Update, |world: &mut World| {
        world.resource_scope(|world, mut model: Mut<Model>| model.operate(world, true));
    });
    run(app, operations, [0, 1, 0, 2, 5, 0, 1].into_iter().cycle());
}

#[test]
fn touching_pairs_and_their_ends_match_with_swept_colliders() {
    let mut app = app_of(4, false);
    app.world_mut().resource_mut::<Model>().with_paths = true;
    let operations = operations_or(10_000);
    run_in(&mut app, operations, repeat(1));
    let swept = app.world().resource::<Model>().event_log.swept;
    assert!(swept > operations / 20, "{swept}");
}
