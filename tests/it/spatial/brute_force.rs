//! Compares each query on all colliders, bit for bit, with the same query on each collider by
//! itself. Also compares each query with the oracle of the query tests, which shares no code with
//! the library. For long runs:
//!
//! ```text
//! HEADBUTT_SPATIAL=1000000 cargo test --release --test it spatial::brute_force
//! ```

use std::{collections::HashMap, ops::ControlFlow};

use bevy::prelude::*;
use headbutt::{
    ClosestPoint, EntityHit, ShapeView,
    prelude::*,
    query::{CastOptions, Ray, RayHit},
};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{
    ask,
    random_world::{RandomWorld, Thing},
};
use crate::{
    oracle::{
        Body,
        placed::{aabb, bodies, gap_within, pose_at},
    },
    support::{Dimension, cases::cases},
};

/// The error of a distance that the library may make: coordinates are up to 40.
const ERROR: f64 = 2e-5;

/// Returns the number of questions for each test: `HEADBUTT_SPATIAL`, or a thousand.
fn questions() -> usize {
    cases("HEADBUTT_SPATIAL", 1000).len()
}

/// Settings of a random filter.
struct Choice {
    layers: CollisionLayers,
    excluded: Option<Entity>,
    excluded_tree: Option<Entity>,
    with_sensors: bool,
    is_odd: bool,
    asker: Option<Thing>,
    has_pair_filter: bool,
}

impl Choice {
    fn new(random: &mut StdRng, things: &[Thing]) -> Self {
        let layers = if random.random_bool(0.5) {
            CollisionLayers::ALL
        } else {
            CollisionLayers::new(1, random.random_range(1..4))
        };
        let mut some = |chance: f64| things.choose(random).filter(|_| random.random_bool(chance));
        let excluded = some(0.3).map(|thing| thing.entity);
        let tree = some(0.3).map(|thing| thing.parent.unwrap_or(thing.entity));
        Self {
            layers,
            excluded,
            excluded_tree: tree,
            asker: some(0.4).cloned(),
            has_pair_filter: random.random_bool(0.5),
            with_sensors: random.random_bool(0.5),
            is_odd: random.random_bool(0.2),
        }
    }

    fn selects(&self, thing: &Thing) -> bool {
        thing.layers.interacts_with(self.layers)
            && self.excluded != Some(thing.entity)
            && (self.excluded.is_none() || self.excluded != thing.owner)
            && self.asker.as_ref().is_none_or(|asker| {
                asker.layers.interacts_with(thing.layers)
                    && asker.owner() != thing.owner()
                    && !asker.ignores(thing)
                    && (!self.has_pair_filter
                        || accepts_entities([
                            asker.entity,
                            thing.entity,
                            asker.owner(),
                            thing.owner(),
                        ]))
            })
            && (self.excluded_tree.is_none()
                || self.excluded_tree != Some(thing.entity) && self.excluded_tree != thing.parent)
            && (self.with_sensors || !thing.is_sensor)
            && (!self.is_odd || is_odd(thing.entity))
    }

    fn filter(&self) -> SpatialQueryFilter<'static> {
        let filter = match &self.asker {
            Some(asker) => SpatialQueryFilter::of(asker.entity),
            None => SpatialQueryFilter::default(),
        };
        let mut filter = filter.with_layers(self.layers);
        if let Some(entity) = self.excluded {
            filter = filter.excluding(entity);
        }
        if let Some(root) = self.excluded_tree {
            filter = filter.excluding_tree(root);
        }
        if self.with_sensors {
            filter = filter.with_sensors();
        }
        if self.has_pair_filter {
            filter = filter.with_pair_filter(&accepts_pair);
        }
        if self.is_odd {
            filter = filter.with_predicate(&is_odd);
        }
        filter
    }
}

/// A filter of pairs that depends on each entity in another way.
fn accepts_entities(entities: [Entity; 4]) -> bool {
    let weighted = entities.iter().zip([1, 2, 4, 8]);
    let sum: u32 = weighted
        .map(|(entity, weight)| entity.index_u32() * weight)
        .sum();
    sum % 7 < 5
}

fn accepts_pair(pair: CandidatePair) -> bool {
    accepts_entities([pair.entity, pair.other, pair.owner, pair.other_owner])
}

fn is_odd(entity: Entity) -> bool {
    entity.index_u32() % 2 == 1
}

/// Calls `test` in random worlds, which change after every few calls.
fn in_random_worlds(seed: u64, mut test: impl FnMut(&mut RandomWorld, &mut StdRng, &Choice)) {
    let first = cases("HEADBUTT_SPATIAL", 1000).start as u64;
    let mut random = StdRng::seed_from_u64(seed + (first << 8));
    for dimension in Dimension::BOTH {
        let mut left = questions();
        while left > 0 {
            let extent = random.random_range(2.0..40.0);
            let mut world = RandomWorld::new(dimension, extent);
            for _ in 0..random.random_range(0..150) {
                world.spawn(&mut random);
            }
            for _ in 0..random.random_range(1..12) {
                world.tick();
                for _ in 0..random.random_range(0..6) {
                    let choice = Choice::new(&mut random, &world.things);
                    test(&mut world, &mut random, &choice);
                    left = left.saturating_sub(1);
                }
                world.change(&mut random);
            }
        }
    }
}

fn selected<'a>(world: &'a RandomWorld, choice: &'a Choice) -> impl Iterator<Item = &'a Thing> {
    let things = world.things.iter();
    things.filter(|thing| choice.selects(thing))
}

/// A selected collider as bodies of the oracle.
struct Judged<'a> {
    thing: &'a Thing,
    bodies: Vec<Body>,
    is_surface: bool,
    /// Bodies behind a one-sided surface do not touch it.
    is_one_sided: bool,
}

/// Returns the selected colliders for which the oracle has bodies: nearly all.
fn judged<'a>(world: &'a RandomWorld, choice: &'a Choice) -> Vec<Judged<'a>> {
    let judged = selected(world, choice).filter_map(|thing| {
        let (is_surface, is_one_sided) =
            match (thing.collider.shape_2d(), thing.collider.shape_3d()) {
                (Some(ShapeView::Surface(surface)), _) => (true, surface.is_one_sided()),
                (_, Some(ShapeView::Surface(surface))) => (true, surface.is_one_sided()),
                _ => (false, false),
            };
        Some(Judged {
            bodies: bodies(&thing.collider, thing.pose)?,
            thing,
            is_surface,
            is_one_sided,
        })
    });
    judged.collect()
}

/// Returns a point as a body of the oracle.
fn point_body(point: Vec3, dimension: Dimension) -> Body {
    Body::new([point.as_dvec3()], 0.0, dimension == Dimension::D2)
}

fn sorted(entities: impl Iterator<Item = Entity>) -> Vec<Entity> {
    let mut entities: Vec<Entity> = entities.collect();
    entities.sort_unstable();
    entities
}

fn pose(world: &RandomWorld, random: &mut StdRng) -> Transform {
    let pose = Transform::from_translation(world.point(random));
    pose.with_rotation(world.rotation(random))
}

#[test]
fn overlaps_and_contacts_are_those_of_each_collider_by_itself() {
    let (mut found, mut touching, mut apart, mut deep) = (0, 0, 0, 0);
    in_random_worlds(1, |world, random, choice| {
        let probe = if random.random_bool(0.1) {
            match world.dimension {
                Dimension::D2 => Collider::half_space(Vec2::X),
                Dimension::D3 => Collider::half_space(Vec3::X),
            }
        } else {
            world.probe(random)
        };
        let pose = pose(world, random);
        let meets = |thing: &&Thing| query::intersects(&probe, pose, &thing.collider, thing.pose);
        let expected = sorted(
            selected(world, choice)
                .filter(meets)
                .map(|thing| thing.entity),
        );
        let mut contacts: Vec<_> = selected(world, choice)
            .filter_map(|thing| {
                let hit = query::contact(&probe, pose, &thing.collider, thing.pose)?;
                Some(thing.hit(hit))
            })
            .collect();
        contacts.sort_unstable_by_key(|contact| contact.entity);
        let filter = choice.filter();
        let (mut entities, mut hits) = (Vec::new(), Vec::new());
        let is_overlapped = ask(world.app.world_mut(), |query| {
            query.overlaps(&probe, pose, &filter, &mut entities);
            query.contacts(&probe, pose, &filter, &mut hits);
            let mut calls = 0;
            query.visit_overlaps(&probe, pose, &filter, |_| {
                calls += 1;
                ControlFlow::Break(())
            });
            assert_eq!(calls, entities.len().min(1));
            query.is_overlapped(&probe, pose, &filter)
        });
        assert_eq!(entities, expected);
        assert_eq!(hits, contacts);
        assert_eq!(is_overlapped, !expected.is_empty());
        found += expected.len();
        let Some(probe) = bodies(&probe, pose) else {
            return;
        };
        for judged in judged(world, choice) {
            let gap = gap_within(&probe, &judged.bodies, ERROR);
            let entity = judged.thing.entity;
            let hit = hits.iter().find(|hit| hit.entity == entity);
            let context = || format!("{gap} {hit:?} {:?}", judged.thing);
            if gap > ERROR {
                apart += 1;
                assert!(hit.is_none(), "{}", context());
            } else if gap < -ERROR && !judged.is_one_sided {
                touching += 1;
                assert!(hit.is_some(), "{}", context());
            }
            let is_convex = probe.len() == 1 && judged.bodies.len() == 1 && !judged.is_surface;
            if let Some(hit) = hit.filter(|_| is_convex) {
                deep += 1;
                let depth = f64::from(hit.depth);
                assert!((depth + gap).abs() <= ERROR, "{}", context());
            }
        }
    });
    assert!(found > questions(), "{found}");
    assert!(
        touching > questions() / 3 && apart > 10 * questions() && deep > questions() / 4,
        "{touching} {apart} {deep}"
    );
}

#[test]
fn the_closest_collider_is_the_closest_of_all() {
    let (mut found, mut exact, mut farther) = (0, 0, 0);
    in_random_worlds(2, |world, random, choice| {
        let (probe, pose) = (world.probe(random), pose(world, random));
        let max = if random.random_bool(0.3) {
            f32::INFINITY
        } else {
            random.random_range(0.0..9.0)
        };
        let hits = selected(world, choice)
            .map(|thing| thing.hit(query::distance(&probe, pose, &thing.collider, thing.pose)));
        let near = hits.filter(|hit| hit.distance <= max && hit.distance.is_finite());
        let expected = near.min_by(|a, b| {
            let distances = a.distance.total_cmp(&b.distance);
            distances.then(a.entity.cmp(&b.entity))
        });
        let filter = choice.filter();
        let closest = ask(world.app.world_mut(), |query| {
            query.closest_to_shape(&probe, pose, max, &filter)
        });
        assert_eq!(closest, expected);
        found += usize::from(expected.is_some());
        let probe = bodies(&probe, pose).expect("a probe has bodies");
        let least = closest.map_or(max, |hit| hit.distance);
        for judged in judged(world, choice) {
            // Behind a one-sided surface, the distance is the distance to another part of the
            // surface.
            if judged.is_one_sided {
                continue;
            }
            let least = f64::from(least);
            let gap = gap_within(&probe, &judged.bodies, least).max(0.0);
            if closest.is_some_and(|hit| hit.entity == judged.thing.entity) {
                exact += 1;
                assert!((gap - least).abs() <= ERROR, "{gap} {closest:?}");
            } else {
                farther += 1;
                assert!(gap >= least - ERROR, "{gap} {closest:?} {:?}", judged.thing);
            }
        }
    });
    assert!(found > questions(), "{found}");
    assert!(
        exact > questions() / 2 && farther > 10 * questions(),
        "{exact} {farther}"
    );
}

/// Runs all queries at a point. The results are `true` if there is a collider, the colliders at the
/// point, the closest collider with its distance and point, and all colliders within a distance.
macro_rules! at_point {
    ($query:ident, $point:expr, $max:expr, $filter:expr, $to_vec3:expr) => {{
        let in_3d =
            |hit: &EntityHit<ClosestPoint<_>>| (hit.entity, hit.distance, ($to_vec3)(hit.point));
        let mut hits = Vec::new();
        $query.colliders_within($point, $max, $filter, &mut hits);
        let within: Vec<(Entity, f32, Vec3)> = hits.iter().map(in_3d).collect();
        let mut entities = Vec::new();
        $query.entities_at($point, $filter, &mut entities);
        let closest = $query.closest_to_point($point, f32::INFINITY, $filter);
        let is_inside = $query.is_point_inside($point, $filter);
        (is_inside, entities, closest.as_ref().map(in_3d), within)
    }};
}

#[test]
fn points_are_in_the_colliders_that_contain_them() {
    let (mut found, mut listed, mut inside, mut outside) = (0, 0, 0, 0);
    in_random_worlds(3, |world, random, choice| {
        let point = world.point(random);
        let contains = |thing: &&Thing| match world.dimension {
            Dimension::D2 => thing.collider.contains_point(thing.pose, point.xy()),
            Dimension::D3 => thing.collider.contains_point(thing.pose, point),
        };
        let expected = sorted(
            selected(world, choice)
                .filter(contains)
                .map(|thing| thing.entity),
        );
        let max = random.random_range(0.0..9.0);
        let filter = choice.filter();
        let dimension = world.dimension;
        let answers = ask(world.app.world_mut(), |query| match dimension {
            Dimension::D2 => {
                let to_vec3 = |point: Vec2| point.extend(0.0);
                at_point!(query, point.xy(), max, &filter, to_vec3)
            }
            Dimension::D3 => at_point!(query, point, max, &filter, |point: Vec3| point),
        });
        let (is_inside, entities, closest, within) = answers;
        assert_eq!(entities, expected);
        assert_eq!(is_inside, !expected.is_empty());
        // The nearest points are the same, in the order of their distances in f64.
        let points = selected(world, choice).filter_map(|thing| {
            let nearest = match dimension {
                Dimension::D2 => {
                    let nearest = thing.collider.closest_point(thing.pose, point.xy())?;
                    nearest.extend(0.0)
                }
                Dimension::D3 => thing.collider.closest_point(thing.pose, point)?,
            };
            Some((thing.entity, nearest))
        });
        let points: HashMap<Entity, Vec3> = points.collect();
        let distance = |nearest: Vec3| nearest.as_dvec3().distance(point.as_dvec3());
        let least = points.values().map(|nearest| distance(*nearest));
        let least = least.min_by(f64::total_cmp);
        assert_eq!(closest.is_some(), least.is_some());
        if let Some((least, (entity, found, nearest))) = least.zip(closest) {
            assert_eq!(points.get(&entity), Some(&nearest));
            assert!((f64::from(found) - least).abs() <= ERROR, "{found} {least}");
            if let Some(first) = expected.first() {
                assert_eq!((entity, found), (*first, 0.0));
            }
        }
        assert!(within.is_sorted_by_key(|(entity, distance, _)| (*distance, *entity)));
        for (entity, found, nearest) in &within {
            assert_eq!(points.get(entity), Some(nearest));
            assert!((f64::from(*found) - distance(*nearest)).abs() <= ERROR);
            assert!(*found <= max);
        }
        let is_near = |nearest: &&Vec3| distance(**nearest) <= f64::from(max) - ERROR;
        let is_listed = |entity: &Entity| within.iter().any(|hit| hit.0 == *entity);
        let near = points.iter().filter(|(_, nearest)| is_near(nearest));
        assert!(near.clone().all(|(entity, _)| is_listed(entity)));
        found += expected.len();
        listed += near.count();
        for judged in judged(world, choice) {
            let nearest = closest.map_or(f64::INFINITY, |(_, distance, _)| distance.into());
            let limit = nearest.max(max.into());
            let gap = gap_within(&[point_body(point, dimension)], &judged.bodies, limit);
            let entity = judged.thing.entity;
            let context = || format!("{gap} from {point} to {:?}", judged.thing);
            if gap < -ERROR && !judged.is_surface {
                inside += 1;
                assert!(entities.contains(&entity), "{}", context());
            } else if gap > ERROR {
                outside += 1;
                assert!(!entities.contains(&entity), "{}", context());
            }
            if judged.is_one_sided {
                continue;
            }
            let gap = gap.max(0.0);
            assert!(gap >= nearest - ERROR, "{nearest} {}", context());
            let listed = within.iter().find(|hit| hit.0 == entity);
            if let Some((_, distance, nearest)) = listed {
                assert!((f64::from(*distance) - gap).abs() <= ERROR, "{}", context());
                let off = nearest.as_dvec3().distance(point.as_dvec3()) - gap;
                assert!(off.abs() <= ERROR, "{}", context());
            } else {
                assert!(gap >= f64::from(max) - ERROR, "{}", context());
            }
        }
    });
    assert!(found > questions() / 4, "{found}");
    assert!(listed > questions(), "{listed}");
    assert!(
        inside > questions() / 8 && outside > 10 * questions(),
        "{inside} {outside}"
    );
}

#[test]
fn boxes_overlap_those_that_are_near() {
    let mut found = 0;
    in_random_worlds(4, |world, random, choice| {
        let (a, b) = (world.point(random), world.point(random));
        let (min, max) = (a.min(b), a.max(b));
        // Half-spaces have no boxes.
        let overlaps = |margin: f32| {
            let overlaps = move |thing: &&Thing| {
                let [low, high] = match bodies(&thing.collider, thing.pose) {
                    Some(bodies) => aabb(&bodies).map(|corner| corner.as_vec3()),
                    None => match thing.collider.aabb(thing.pose) {
                        Some(aabb) => [aabb.min, aabb.max],
                        None => return false,
                    },
                };
                (low - margin).cmple(max).all() && (high + margin).cmpge(min).all()
            };
            sorted(
                selected(world, choice)
                    .filter(overlaps)
                    .map(|thing| thing.entity),
            )
        };
        let (surely, perhaps) = (overlaps(-1e-4), overlaps(1e-3));
        let boxed = world.things.iter();
        let boxed = boxed.filter(|thing| thing.collider.aabb(thing.pose).is_some());
        let boxed: Vec<Entity> = boxed.map(|thing| thing.entity).collect();
        let filter = choice.filter();
        let mut entities = Vec::new();
        let dimension = world.dimension;
        ask(world.app.world_mut(), |query| match dimension {
            Dimension::D2 => query.overlaps_aabb(min.xy(), max.xy(), &filter, &mut entities),
            Dimension::D3 => query.overlaps_aabb(min, max, &filter, &mut entities),
        });
        assert!(entities.is_sorted());
        entities.retain(|entity| boxed.contains(entity));
        assert!(surely.iter().all(|entity| entities.contains(entity)));
        assert!(entities.iter().all(|entity| perhaps.contains(entity)));
        found += surely.len();
    });
    assert!(found > questions(), "{found}");
}

fn flat(ray: Ray<Vec3>) -> Ray<Vec2> {
    Ray {
        origin: ray.origin.xy(),
        direction: ray.direction.xy(),
        max_distance: ray.max_distance,
        hollow: ray.hollow,
    }
}

/// The results of all queries with rays, with the hits in 3D.
#[derive(Default)]
struct Answers {
    all: Vec<EntityHit<RayHit<Vec3>>>,
    per_entity: Vec<EntityHit<RayHit<Vec3>>>,
    first: Option<EntityHit<RayHit<Vec3>>>,
    visited: Option<EntityHit<RayHit<Vec3>>>,
    is_blocked: bool,
}

fn in_3d<V: Copy>(hit: &RayHit<V>, to_vec3: impl Fn(V) -> Vec3) -> RayHit<Vec3> {
    RayHit {
        distance: hit.distance,
        point: to_vec3(hit.point),
        normal: to_vec3(hit.normal),
        side: hit.side,
        part: hit.part,
    }
}

macro_rules! answers {
    ($query:ident, $ray:expr, $filter:expr, |$vector:ident| $to_vec3:expr) => {{
        let in_3d = |found: &EntityHit<RayHit<_>>| EntityHit {
            entity: found.entity,
            owner: found.owner,
            hit: in_3d(&found.hit, |$vector| $to_vec3),
        };
        let (mut all, mut per_entity) = (Vec::new(), Vec::new());
        $query.ray_hits($ray, $filter, &mut all);
        $query.ray_hits_per_entity($ray, $filter, &mut per_entity);
        let mut visited: Option<EntityHit<RayHit<_>>> = None;
        $query.visit_ray($ray, $filter, |found| {
            let key = |found: &EntityHit<RayHit<_>>| (found.distance, found.entity);
            if visited.is_none_or(|visited| key(&found) < key(&visited)) {
                visited = Some(found);
            }
            found.distance
        });
        let mut batch = Vec::new();
        $query.cast_rays(&[$ray; 3], $filter, &mut batch);
        let first = $query.cast_ray($ray, $filter);
        assert_eq!(batch, [first; 3]);
        Answers {
            all: all.iter().map(in_3d).collect(),
            per_entity: per_entity.iter().map(in_3d).collect(),
            first: first.as_ref().map(in_3d),
            visited: visited.as_ref().map(in_3d),
            is_blocked: $query.is_ray_blocked($ray, $filter),
        }
    }};
}

#[test]
fn rays_hit_what_they_hit_of_each_collider_by_itself() {
    let (mut found, mut on_surface, mut free) = (0, 0, 0);
    in_random_worlds(5, |world, random, choice| {
        let dimension = world.dimension;
        let start = world.point(random);
        let direction = match random.random_range(0..4) {
            0 => Vec3::X,
            1 => Vec3::NEG_Y,
            _ => world.rotation(random) * Vec3::new(0.8, 0.3, 0.0),
        };
        let mut ray = Ray::new(start, direction);
        if random.random_bool(0.5) {
            ray = ray.with_max_distance(random.random_range(0.0..2.0 * world.extent));
        }
        if random.random_bool(0.3) {
            ray = ray.hollow();
        }
        let filter = choice.filter();
        let answers = ask(world.app.world_mut(), |query| match dimension {
            Dimension::D2 => answers!(query, flat(ray), &filter, |vector| Vec2::extend(
                vector, 0.0
            )),
            Dimension::D3 => answers!(query, ray, &filter, |vector| vector),
        });
        let hits = selected(world, choice).filter_map(|thing| {
            let hit = match dimension {
                Dimension::D2 => {
                    let hit = query::cast_ray(&thing.collider, thing.pose, flat(ray))?;
                    in_3d(&hit, |vector| vector.extend(0.0))
                }
                Dimension::D3 => query::cast_ray(&thing.collider, thing.pose, ray)?,
            };
            Some(thing.hit(hit))
        });
        let mut expected: Vec<_> = hits.collect();
        let key = |found: &EntityHit<RayHit<Vec3>>| (found.distance, found.entity);
        expected.sort_by(|a, b| key(a).partial_cmp(&key(b)).expect("no NaN"));
        assert_eq!(answers.per_entity, expected);
        found += expected.len();
        assert!(answers.all.is_sorted_by_key(key));
        assert_eq!(answers.first.as_ref(), answers.per_entity.first());
        assert_eq!(answers.visited, answers.first);
        assert_eq!(answers.is_blocked, answers.first.is_some());
        // Only the first part of each collider is listed.
        let mut firsts: Vec<_> = Vec::new();
        for hit in &answers.all {
            if !firsts.contains(&(hit.entity, hit.distance))
                && !firsts.iter().any(|(entity, _)| *entity == hit.entity)
            {
                firsts.push((hit.entity, hit.distance));
            }
        }
        let per_entity = answers.per_entity.iter();
        let per_entity: Vec<_> = per_entity.map(|hit| (hit.entity, hit.distance)).collect();
        assert_eq!(firsts, per_entity);
        // Each hit is on the collider, and nothing solid is before the first hit.
        let (start, direction) = (start.as_dvec3(), direction.as_dvec3().normalize());
        let is_flat = dimension == Dimension::D2;
        let end = answers.first.map_or(ray.max_distance, |hit| hit.distance);
        let end = f64::from(end.min(4.0 * world.extent));
        let at = |distance: f64| Body::new([start + direction * distance], 0.0, is_flat);
        let before = [0, 1, 2, 3, 4, 5, 6, 7].map(|step| [at(end * f64::from(step) / 8.0)]);
        for judged in judged(world, choice) {
            let is_inside = gap_within(&before[0], &judged.bodies, ERROR) < ERROR;
            let entity = judged.thing.entity;
            if let Some(hit) = answers.per_entity.iter().find(|hit| hit.entity == entity) {
                on_surface += 1;
                let along = start + direction * f64::from(hit.distance);
                assert!(along.distance(hit.point.as_dvec3()) < ERROR, "{hit:?}");
                let gaps = judged.bodies.iter().map(|body| body.gap_to(along));
                // A ray that starts inside hits at its start, unless shapes are hollow.
                let is_at_start = !ray.hollow && hit.distance == 0.0;
                let off = gaps.map(|gap| if is_at_start { gap.max(0.0) } else { gap.abs() });
                let off = off.fold(f64::INFINITY, f64::min);
                assert!(off < ERROR, "{off} {hit:?} {:?}", judged.thing);
            }
            if end == 0.0 || ray.hollow && is_inside || judged.is_surface {
                continue;
            }
            for point in &before {
                free += 1;
                let gap = gap_within(point, &judged.bodies, 0.0);
                let context = || format!("{gap} {ray:?} {:?} {:?}", answers.first, judged.thing);
                assert!(gap > -ERROR, "{}", context());
            }
        }
    });
    assert!(found > questions(), "{found}");
    assert!(
        on_surface > questions() && free > 100 * questions(),
        "{on_surface} {free}"
    );
}

#[test]
fn moving_shapes_hit_what_they_hit_of_each_collider_by_itself() {
    let (mut found, mut turning, mut touching, mut free) = (0, 0, 0, 0);
    in_random_worlds(6, |world, random, choice| {
        let probe = world.probe(random);
        let mut translation = world.point(random);
        if random.random_bool(0.1) {
            translation = Vec3::ZERO;
        }
        let (start, mut rotation) = (pose(world, random), Vec3::ZERO);
        let mut motion = Motion::linear(start, translation);
        if random.random_bool(0.3) {
            rotation = Vec3::Z * random.random_range(-4.0..4.0);
            motion = motion.rotated(rotation);
            turning += 1;
        }
        let options = CastOptions {
            leave_overlaps: random.random_bool(0.5),
        };
        let hits = selected(world, choice).filter_map(|thing| {
            let (collider, pose) = (&thing.collider, thing.pose);
            let hit = query::cast_motion(&probe, motion, collider, pose, options)?;
            Some(thing.hit(hit))
        });
        let mut expected: Vec<_> = hits.collect();
        expected.sort_by(|a, b| {
            let times = a.touching.total_cmp(&b.touching);
            times.then(a.entity.cmp(&b.entity))
        });
        let filter = choice.filter();
        let (mut hits, mut batch) = (Vec::new(), Vec::new());
        let (first, is_blocked) = ask(world.app.world_mut(), |query| {
            query.shape_hits_per_entity(&probe, motion, options, &filter, &mut hits);
            query.cast_shapes(&probe, &[motion; 2], options, &filter, &mut batch);
            (
                query.cast_shape(&probe, motion, options, &filter),
                query.is_shape_blocked(&probe, motion, options, &filter),
            )
        });
        assert_eq!(hits, expected);
        assert_eq!(first.as_ref(), expected.first());
        assert_eq!(batch, [first; 2]);
        assert_eq!(is_blocked, first.is_some());
        found += expected.len();
        // Each hit touches at its time, and nothing overlaps before.
        let probe_at = |time: f64| {
            let pose = pose_at(start, translation, rotation, time);
            bodies(&probe, pose).expect("a probe has bodies")
        };
        let at_start = probe_at(0.0);
        let end = first.map_or(1.0, |hit| hit.touching);
        let before: Vec<_> = (1..8)
            .map(|step| probe_at(end * f64::from(step) / 8.0))
            .collect();
        for judged in judged(world, choice) {
            if judged.is_one_sided || gap_within(&at_start, &judged.bodies, ERROR) < ERROR {
                continue;
            }
            let entity = judged.thing.entity;
            if let Some(hit) = hits.iter().find(|hit| hit.entity == entity) {
                touching += 1;
                let gap = gap_within(&probe_at(hit.touching), &judged.bodies, ERROR);
                assert!(gap.abs() < ERROR, "{gap} {hit:?} {:?}", judged.thing);
            }
            for probe in &before {
                free += 1;
                let gap = gap_within(probe, &judged.bodies, 0.0);
                assert!(gap > -ERROR, "{gap} {first:?} {:?}", judged.thing);
            }
        }
    });
    assert!(
        found > questions() && turning > questions() / 8,
        "{found} {turning}"
    );
    assert!(
        touching > questions() && free > 100 * questions(),
        "{touching} {free}"
    );
}
