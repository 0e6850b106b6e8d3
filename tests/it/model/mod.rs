//! Models of the whole plugin. After any operations on the world, the touching pairs equal the
//! pairs that a loop over all pairs finds, and each contact that starts ends once.
//!
//! The model shares no code with the plugin. The model computes poses itself, in f64. In each tick,
//! the model reads layers and disabling components from the world, and tests all pairs with the
//! oracle of the query tests. The model of a larger world, in `large.rs`, has closed forms.
//!
//! Each test performs thousands of operations. `HEADBUTT_CHAOS` sets another number:
//!
//! ```sh
//! HEADBUTT_CHAOS=1000000 cargo test --test it model -- --nocapture
//! ```

mod churn;
pub mod event_log;
mod large;
mod world_pose;

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::repeat,
    sync::Arc,
};

use crate::{
    oracle::{Body, placed::gap_within},
    support::{Dimension, Record, app, cases::number, frame, transform, watch},
};
use bevy::{
    ecs::entity_disabling::Disabled,
    math::{DMat3, DVec3},
    prelude::*,
};
use event_log::{EventLog, Pair, pair_of};
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use world_pose::{WorldPose, is_ancestor};

/// Returns the least number of operations of a test: the value of `HEADBUTT_CHAOS`, or else the
/// default.
fn operations_or(default: usize) -> usize {
    number("HEADBUTT_CHAOS").unwrap_or(default)
}

/// The answers of the plugin and of the model may differ if the gap or the depth is at most this
/// fraction of the larger size, because the plugin's depths are f32.
const ROUNDING: f64 = 1e-6;

/// The shape of a collider as a body of the oracle, around its origin.
#[derive(Component, Clone)]
struct Known {
    body: Arc<Body>,
    dimension: Dimension,
}

impl Known {
    fn new(points: &[Vec3], radius: f32, dimension: Dimension) -> Self {
        let points = points.iter().map(|point| point.as_dvec3());
        let body = Body::new(points, radius.into(), dimension == Dimension::D2);
        Self {
            body: Arc::new(body),
            dimension,
        }
    }

    /// Returns the body in a pose. In 2D, z is ignored.
    fn placed(&self, pose: WorldPose) -> Body {
        let mut translation = pose.translation;
        if self.dimension == Dimension::D2 {
            translation.z = 0.0;
        }
        let rotation = DMat3::from_quat(pose.rotation.normalize());
        self.body.scaled(pose.scale).turned(rotation, translation)
    }
}

/// A collider that takes part in a tick.
#[derive(Clone)]
struct Side {
    known: Known,
    pose: WorldPose,
}

impl PartialEq for Side {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.known.body, &other.known.body) && self.pose == other.pose
    }
}

/// The verdict on two shapes, and their depth or distance.
#[derive(Clone, Copy, Debug)]
struct Answer {
    touch: bool,
    /// The depth or the distance, or for shapes far apart, a lower bound of the distance.
    extent: f64,
    /// The size to which the depth or distance is compared.
    size: f64,
}

impl Answer {
    fn of([a, b]: [&Side; 2]) -> Option<Self> {
        if a.known.dimension != b.known.dimension {
            return None;
        }
        let size = a.pose.scale.abs().max(b.pose.scale.abs()).max(1.0);
        let [a, b] = [a, b].map(|side| [side.known.placed(side.pose)]);
        let gap = gap_within(&a, &b, ROUNDING * size);
        Some(Self {
            touch: gap <= 0.0,
            extent: gap.abs(),
            size,
        })
    }

    fn is_close(&self) -> bool {
        self.extent <= ROUNDING * self.size
    }
}

/// The source of the operations, and the state of the checks.
#[derive(Resource)]
struct Model {
    random: StdRng,
    /// All spawned entities that still exist.
    alive: Vec<Entity>,
    /// This tick's answers for all active pairs, with both sides of each pair.
    answers: BTreeMap<Pair, (Answer, [Side; 2])>,
    event_log: EventLog,
    /// `true` if the operations include teleports and swept colliders.
    with_paths: bool,
    /// The translations of the active colliders in this tick, and the translations in which their
    /// paths begin.
    ends: BTreeMap<Entity, DVec3>,
    starts: BTreeMap<Entity, DVec3>,
    /// The translations in which the paths of the next tick begin: see [`Teleported`].
    begun: BTreeMap<Entity, DVec3>,
    /// The number of first touches on paths that are not short.
    on_paths: usize,
    operations: usize,
    ticks: usize,
    /// The number of pairs that touched, summed over all ticks.
    touching: usize,
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
            ends: BTreeMap::new(),
            starts: BTreeMap::new(),
            begun: BTreeMap::new(),
            on_paths: 0,
            operations: 0,
            ticks: 0,
            touching: 0,
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
        let is_flat = dimension == Dimension::D2;
        let collider = match dimension {
            Dimension::D2 => match kind {
                0 => Circle::new(size).into(),
                1 => Capsule2d::new(0.5 * size, size).into(),
                2 => Rectangle::new(size, 2.0 * size).into(),
                3 => Segment2d::new(flat[0], flat[1]).into(),
                4 => Triangle2d::new(flat[0], flat[1], flat[2]).into(),
                _ => headbutt::ConvexHull::new(flat).expect("a hull").into(),
            },
            Dimension::D3 => match kind {
                0 => Sphere::new(size).into(),
                1 => Capsule3d::new(0.5 * size, size).into(),
                2 => Cuboid::new(size, 2.0 * size, 1.5 * size).into(),
                3 => Segment3d::new(points[0], points[1]).into(),
                4 => Triangle3d::new(points[0], points[1], points[2]).into(),
                _ => headbutt::ConvexHull::new(points.clone())
                    .expect("a hull")
                    .into(),
            },
        };
        let flatten = |point: Vec3| if is_flat { point.with_z(0.0) } else { point };
        let points: Vec<Vec3> = points.into_iter().map(flatten).collect();
        let known = |points: &[Vec3], radius| Known::new(points, radius, dimension);
        let known = match kind {
            0 => known(&[Vec3::ZERO], size),
            1 => known(&[0.5 * size, -0.5 * size].map(|y| Vec3::Y * y), 0.5 * size),
            2 => {
                let half = flatten(size * Vec3::new(0.5, 1.0, 0.75));
                let corners = (0..if is_flat { 4 } else { 8 }).map(|corner| {
                    let side = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
                    half * Vec3::new(side(0), side(1), side(2))
                });
                known(&corners.collect::<Vec<_>>(), 0.0)
            }
            3 => known(&points[..2], 0.0),
            4 => known(&points[..3], 0.0),
            _ => known(&points, 0.0),
        };
        (known, collider)
    }

    fn pose(&mut self, dimension: Dimension) -> Transform {
        let turn = Quat::from_rotation_z(self.coordinate(3.0));
        let tilt = Quat::from_rotation_x(self.coordinate(3.0));
        // About as many colliders touch in 2D as in 3D, where there is more room.
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
            // This observer despawns both sides at the first touch.
            let explode = |hit: On<CollisionStarted>, mut commands: Commands| {
                commands.entity(hit.entity).try_despawn();
                commands.entity(hit.other).try_despawn();
            };
            world.entity_mut(entity).observe(explode);
        }
        self.alive.push(entity);
    }

    /// Performs a random operation on the world.
    fn operate(&mut self, world: &mut World, with_bombs: bool) {
        self.operations += 1;
        self.alive
            .retain(|entity| world.get_entity(*entity).is_ok());
        // About 30 entities exist at a time.
        let crowd = self.alive.len() as f64 / 60.0;
        if !self.random.random_bool(crowd.min(1.0)) && self.random.random_bool(0.5) {
            return self.spawn(world, with_bombs);
        }
        let Some(entity) = self.pick() else {
            return;
        };
        let dimension = dimension_of(world, entity);
        if self.with_paths && self.random.random_bool(0.1) {
            match self.random.random_range(0..4) {
                0 => {
                    world.entity_mut(entity).insert(Swept);
                }
                1 => self.teleport(world, entity),
                2 => {
                    // The entity is moved, and moved back.
                    let old = world.get::<Transform>(entity).copied();
                    let elsewhere = self.pose(dimension);
                    world.entity_mut(entity).insert(elsewhere);
                    self.teleport(world, entity);
                    *transform(world, entity) = old.expect("all have one");
                }
                _ => {
                    world.entity_mut(entity).remove::<Swept>();
                }
            }
            return;
        }
        match self.random.random_range(0..10) {
            0 => {
                // The children of the entity are despawned, too.
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
            8 => self.reparent(world, entity),
            _ => {
                let scale = Vec3::splat(self.scale());
                let transform = world.get_mut::<Transform>(entity);
                transform.expect("all have one").scale = scale;
            }
        }
    }

    /// Performs an operation between the first and the last stage of a tick.
    fn operate_within(&mut self, world: &mut World) {
        let entity = self.pick();
        if let Some(entity) = entity.filter(|entity| world.get_entity(*entity).is_ok()) {
            match self.random.random_range(0..4) {
                0 => self.teleport(world, entity),
                1 => self.reparent(world, entity),
                _ => {}
            }
        }
    }

    fn reparent(&mut self, world: &mut World, entity: Entity) {
        let parent = self.pick().filter(|parent| {
            world.get_entity(*parent).is_ok()
                // A 2D shape must not be tilted, or its scale in the plane would not be uniform.
                && (dimension_of(world, entity) == Dimension::D3
                    || dimension_of(world, *parent) == Dimension::D2)
                && !is_ancestor(world, entity, *parent)
        });
        match parent {
            Some(parent) => world.entity_mut(entity).insert(ChildOf(parent)),
            None => world.entity_mut(entity).remove::<ChildOf>(),
        };
    }

    /// Begins the paths of an entity and its descendants in their present poses.
    fn teleport(&mut self, world: &mut World, entity: Entity) {
        world.entity_mut(entity).insert(Teleported);
        let mut next = vec![entity];
        while let Some(entity) = next.pop() {
            next.extend(world.get::<Children>(entity).into_iter().flatten());
            let pose = WorldPose::of(world, entity);
            self.begun.insert(entity, pose.translation);
        }
    }

    /// Computes the answers for all pairs, directly before the tick.
    fn expect(&mut self, world: &World) {
        let part = self.alive.iter().filter_map(|entity| {
            let found = world.get_entity(*entity).ok()?;
            let takes_part = found.contains::<Collider>() && !found.contains::<Disabled>();
            let layers = found.get::<CollisionLayers>().copied().unwrap_or_default();
            let side = Side {
                known: found.get::<Known>()?.clone(),
                pose: WorldPose::of(world, *entity),
            };
            takes_part.then_some((*entity, side, layers))
        });
        let mut part: Vec<_> = part.collect();
        part.sort_by_key(|(entity, ..)| *entity);
        self.starts = core::mem::take(&mut self.ends);
        self.starts.append(&mut self.begun);
        let ends = part.iter();
        self.ends = ends
            .map(|(entity, side, _)| (*entity, side.pose.translation))
            .collect();
        let before = core::mem::take(&mut self.answers);
        for (index, (a, side_a, layers)) in part.iter().enumerate() {
            for (b, side_b, other_layers) in &part[index + 1..] {
                if !layers.interacts_with(*other_layers) {
                    continue;
                }
                // The oracle is slow, so the answers of resting pairs are kept.
                let known = before.get(&(*a, *b));
                let known = known.filter(|(_, sides)| [&sides[0], &sides[1]] == [side_a, side_b]);
                let answer = match known {
                    Some((answer, _)) => Some(*answer),
                    None => Answer::of([side_a, side_b]),
                };
                if let Some(answer) = answer {
                    let sides = [side_a.clone(), side_b.clone()];
                    self.answers.insert((*a, *b), (answer, sides));
                }
            }
        }
    }

    /// Asserts that an entity is at the right point of its path at the time of a first touch.
    fn check_path(&mut self, world: &World, hit: &CollisionEvent) {
        let end = self.ends[&hit.entity];
        // A collider that was not active in the previous tick, or the first swept collider, has no
        // path.
        let start = *self.starts.get(&hit.entity).unwrap_or(&end);
        let at = hit.translation().as_dvec3();
        let distance_to = |expected: DVec3| match dimension_of(world, hit.entity) {
            Dimension::D2 => at.truncate().distance(expected.truncate()),
            Dimension::D3 => at.distance(expected),
        };
        let rounding = ROUNDING * (1.0 + start.length() + end.length());
        let is_on_path = distance_to(start.lerp(end, hit.time().into())) <= rounding;
        let is_at_end = distance_to(end) <= rounding;
        assert!(is_on_path || is_at_end, "{start} to {end}: {hit:?}");
        self.on_paths += usize::from(is_on_path && start.distance(end) > 0.1);
    }

    /// Compares the contacts and the events of the tick with the expected pairs.
    fn check(&mut self, world: &mut World) {
        self.ticks += 1;
        let hits = self.event_log.read(world);
        let first_touches = hits.iter().filter(|hit| hit.started() && hit.time() < 1.0);
        for hit in first_touches {
            self.check_path(world, hit);
            self.check_path(world, &hit.flipped());
        }
        for (pair, (answer, _)) in &self.answers {
            self.touching += usize::from(answer.touch);
            if answer.touch != self.event_log.touching.contains(pair) {
                assert!(answer.is_close(), "{pair:?}: {answer:?}");
                self.rounded += 1;
            }
        }
        // A contact on a path has the depth of the first touch.
        let at_end = hits.iter().filter(|hit| hit.time() == 1.0);
        for hit in at_end.filter(|hit| !hit.ended()) {
            let answer = self.answers.get(&pair_of(hit));
            let (answer, _) = answer.unwrap_or_else(|| panic!("may not touch: {hit:?}"));
            let difference = (f64::from(hit.depth) - answer.extent).abs();
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

fn dimension_of(world: &World, entity: Entity) -> Dimension {
    world.get::<Known>(entity).expect("all have one").dimension
}

/// Returns an app that operates on its world in each fixed tick, and checks each tick.
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

/// Asserts that every kind of operation happened in `ticks` ticks.
#[track_caller]
fn assert_worth(app: &App, ticks: usize) {
    let model = app.world().resource::<Model>();
    let Model {
        operations,
        touching,
        rounded,
        ..
    } = model;
    println!("{operations} operations, {ticks} ticks, {touching} touch, {rounded} are rounded");
    assert!(*touching > 4 * ticks, "{touching}");
    assert_eq!(model.ticks, ticks);
    model.event_log.assert_all_reasons(ticks / 100);
    // Rounding rarely decides an answer.
    assert!(model.rounded <= ticks / 100, "{}", model.rounded);
}

/// Runs `operations` operations in an app. `frames` gives the number of ticks of each frame.
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
    // Operations also happen between the ticks, and several operations before one tick.
    app.add_systems(Update, |world: &mut World| {
        world.resource_scope(|world, mut model: Mut<Model>| model.operate(world, true));
    });
    run(app, operations, [0, 1, 0, 2, 5, 0, 1].into_iter().cycle());
}

#[test]
fn touching_pairs_and_their_ends_match_with_swept_colliders() {
    let mut app = app_of(4, false);
    app.world_mut().resource_mut::<Model>().with_paths = true;
    app.init_resource::<Queries>();
    let operate = |world: &mut World| {
        world.resource_scope(|world, mut model: Mut<Model>| model.operate_within(world));
    };
    let within = operate
        .after(HeadbuttSystems::Sync)
        .before(HeadbuttSystems::Report);
    app.add_systems(FixedPostUpdate, within);
    let world = app.world_mut();
    // This collider has no shape, so it has no path.
    world.spawn((Collider::default(), Swept));
    let hooks = world.register_component_hooks::<Teleported>();
    hooks.on_remove(|mut world, _| {
        world.commands().queue(|world: &mut World| {
            let found = world.run_system_cached(count_all).expect("a query");
            let mut queries = world.resource_mut::<Queries>();
            queries.count += 1;
            queries.found += found;
        });
    });
    let operations = operations_or(10_000);
    run_in(&mut app, operations, repeat(1));
    let model = app.world().resource::<Model>();
    let queries = app.world().resource::<Queries>();
    let EventLog {
        swept, restarted, ..
    } = model.event_log;
    let on_paths = model.on_paths;
    println!("{swept} on paths, {on_paths} far, {restarted} restarted, {queries:?}");
    assert!(swept > operations / 20, "{swept}");
    assert!(on_paths > operations / 50, "{on_paths}");
    assert!(restarted > operations / 1000, "{restarted}");
    assert!(queries.count > operations / 50 && queries.found > queries.count);
}

/// The number of queries that ran when [`Teleported`] was removed, and the number of colliders that
/// these queries found.
#[derive(Resource, Default, Debug)]
struct Queries {
    count: usize,
    found: usize,
}

fn count_all(query: SpatialQuery) -> usize {
    let (filter, mut found) = (SpatialQueryFilter::default(), vec![]);
    query.overlaps_aabb(Vec3::splat(-1e3), Vec3::splat(1e3), &filter, &mut found);
    found.len()
}
