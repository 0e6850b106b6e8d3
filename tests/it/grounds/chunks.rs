//! Chunks of cells, each an entity of its own, against the oracle and against a single grid.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use bevy::{ecs::system::SystemState, prelude::*};
use headbutt::{CollisionDiagnostics, prelude::*};
use rand::{Rng, rngs::StdRng};

use super::{app, collisions, events, set_pose, spawn_ground};
use crate::{
    cells::{
        ball,
        edits::{empty_2d, empty_3d, extents, random_edit, random_transform},
        for_cases, oracle,
        oracle::Union,
        random_direction, random_point, random_union, rounded,
    },
    support::assert_phases_alternate,
};

/// Divides a union into chunks, each in a frame of its own.
fn chunks(rng: &mut StdRng, union: &Union) -> Vec<(Transform, Collider)> {
    let side = rng.random_range(1..4);
    let mut members = Vec::new();
    let mut rest = union.tiles.clone();
    while let Some((first, _)) = rest.first() {
        let chunk = first.map(|at: i32| at.div_euclid(side));
        let offset: [i32; 3] = [0, 1, 2].map(|axis| match (axis, union.dimension) {
            (2, 2) => 0,
            _ => rng.random_range(-9..9),
        });
        let is_in = |(at, _): &([i32; 3], _)| at.map(|at| at.div_euclid(side)) == chunk;
        let (mut tiles, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_in);
        rest = others;
        for (at, _) in &mut tiles {
            *at = [0, 1, 2].map(|axis| at[axis] - offset[axis]);
        }
        let place = Vec3::from_array(offset.map(|at| at as f32)) * union.size as f32;
        let chunk = union.of_tiles(tiles);
        members.push((Transform::from_translation(place), chunk.collider()));
    }
    members
}

/// Balls and rays at the chunks of a random union.
#[test]
fn chunks_answer_as_their_union() {
    for_cases(120, |rng, dimension, number| {
        let mut union = random_union(rng, dimension, true);
        union.is_compound = false;
        let mut app = app();
        spawn_ground(&mut app, chunks(rng, &union));
        headbutt::sync_now(app.world_mut());
        let mut state = SystemState::<SpatialQuery>::new(app.world_mut());
        let query = state.get(app.world_mut()).expect("the plugin was added");
        let filter = SpatialQueryFilter::default();
        let tolerance = 1e-5 * union.size;
        for trial in 0..8 {
            let context = format!("case {number}, {dimension}D, trial {trial}");
            let radius = rng.random_range(0.05..1.5) * union.size as f32;
            let shape = ball(dimension, radius);
            let (position, center) = rounded(random_point(rng, &union));
            let (distance, _) = union.nearest(center);
            let is_inside = union.is_inside(center);
            let mut contacts = Vec::new();
            query.contacts(&shape, position, &filter, &mut contacts);
            let closest = query.closest_to_shape(&shape, position, f32::MAX, &filter);
            let gap = f64::from(closest.expect(&context).distance);
            let touches = query.is_overlapped(&shape, position, &filter);
            let gap_to_ball = distance - f64::from(radius);
            if is_inside == Some(true) {
                assert!(!contacts.is_empty() && touches && gap == 0.0, "{context}");
            } else if distance > 10.0 * tolerance && gap_to_ball.abs() > tolerance {
                assert_eq!(contacts.is_empty(), gap_to_ball > 0.0, "{context}");
                assert_eq!(touches, gap_to_ball < 0.0, "{context}");
                let error = gap - gap_to_ball.max(0.0);
                assert!(error.abs() <= tolerance, "{context}: {error}");
                let depths = contacts.iter().map(|it| f64::from(it.depth));
                let deepest = depths.fold(0.0, f64::max);
                let error = deepest - (-gap_to_ball).max(0.0);
                assert!(error.abs() <= tolerance, "{context}: {contacts:?}");
            }
            let (direction, unit) = rounded(random_direction(rng, dimension));
            if is_inside != Some(false) || distance < 10.0 * tolerance {
                continue;
            }
            let found = if dimension == 2 {
                let ray = query::Ray::new(position.truncate(), direction.truncate());
                query.cast_ray(ray, &filter).map(|hit| hit.distance)
            } else {
                let ray = query::Ray::new(position, direction);
                query.cast_ray(ray, &filter).map(|hit| hit.distance)
            };
            let unit = oracle::scale(unit, 1.0 / oracle::length(unit));
            let found = found.map_or(f64::INFINITY, f64::from);
            // A ray along a face may miss or hit it.
            let (less, more) = (
                union.ray(center, unit, 10.0 * tolerance),
                union.ray(center, unit, -10.0 * tolerance),
            );
            let far = 100.0 * tolerance;
            assert!(
                found >= less - far && found <= more + far,
                "{context}: {found}, {less} {more}"
            );
        }
    });
}

const BODIES: usize = 24;

/// The number of cells of a chunk along each axis.
fn chunk_size(dimension: usize) -> IVec3 {
    [IVec3::new(9, 7, 1), IVec3::new(8, 4, 5)][dimension - 2]
}

/// The cells of a world, by position.
type World = BTreeMap<[i32; 3], Cell>;

/// Returns the collider of the cells in a chunk, relative to the first cell of the chunk.
fn collider_of(dimension: usize, world: &World, chunk: IVec3) -> Collider {
    let first = chunk * chunk_size(dimension);
    let is_in = |at: IVec3| at.div_euclid(chunk_size(dimension)) == chunk;
    let cells = world
        .iter()
        .map(|(at, cell)| (IVec3::from_array(*at), *cell));
    let cells = cells.filter(|(at, _)| is_in(*at));
    grid_of(dimension, cells.map(|(at, cell)| (at - first, cell)))
}

fn grid_of(dimension: usize, cells: impl Iterator<Item = (IVec3, Cell)>) -> Collider {
    let cells: Vec<_> = cells.collect();
    // A chunk without shapes may be without a table.
    let has_shapes = cells.iter().any(|it| it.1.shape_number().is_some());
    if dimension == 2 {
        let mut grid = if has_shapes {
            empty_2d()
        } else {
            CellGrid::new(Vec2::ONE)
        };
        grid.extend(cells.into_iter().map(|(at, cell)| (at.truncate(), cell)));
        Collider::cells(&grid)
    } else {
        let mut grid = if has_shapes {
            empty_3d()
        } else {
            CellGrid::new(Vec3::ONE)
        };
        grid.extend(cells);
        Collider::cells(&grid)
    }
}

fn cell_of(collider: &Collider, part: u32) -> Option<IVec3> {
    let in_2d = collider.cell_2d(part).map(|(at, _)| at.extend(0));
    in_2d.or_else(|| collider.cell_3d(part).map(|(at, _)| at))
}

/// Returns the normals and depths of a body's contacts with cells as bits, each with the touched
/// cell.
fn contacts_of(app: &App, body: Entity) -> Vec<([u32; 4], [i32; 3])> {
    let contacts = collisions(app).parts_of(body);
    let mut found: Vec<_> = contacts
        .filter_map(|contact| {
            let level = app.world().entity(contact.other);
            let cell = cell_of(level.get::<Collider>()?, contact.other_part())?;
            let first = level.get::<ChunkStart>().map_or(IVec3::ZERO, |it| it.0);
            let [x, y, z] = contact.normal.to_array();
            let bits = [x, y, z, contact.depth].map(|it| (it + 0.0).to_bits());
            Some((bits, (cell + first).to_array()))
        })
        .collect();
    found.sort_unstable();
    found
}

/// The position of the first cell of a chunk.
#[derive(Component)]
struct ChunkStart(IVec3);

/// Runs two worlds with the same bodies. The ground of the first world is one grid, and the ground
/// of the second world consists of chunks, which are edited, unloaded and loaded.
#[test]
fn chunks_send_the_contacts_of_one_grid() {
    // The numbers of bodies with another cell, and of contacts, in all cases.
    let totals = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let [other_cells, all_contacts] = &totals;
    for_cases(4, |rng, dimension, number| {
        let turn = [Quat::IDENTITY, Quat::from_rotation_z(0.4)][rng.random_range(0..2)];
        let mut apps = [app(), app()];
        let extents = extents(dimension);
        let mut world = World::new();
        for x in 0..extents.x {
            for (y, z) in (0..=extents.y / 2).flat_map(|y| (0..extents.z).map(move |z| (y, z))) {
                world.insert([x, y, z], Cell::SOLID);
            }
        }
        let level = (Transform::from_rotation(turn), Collider::default());
        let level = apps[0].world_mut().spawn(level).id();
        let mut chunks: BTreeMap<[i32; 3], Entity> = BTreeMap::new();
        let mut is_loaded: BTreeSet<[i32; 3]> = BTreeSet::new();
        let last = (extents - 1) / chunk_size(dimension);
        let random_chunk =
            |rng: &mut StdRng| [last.x, last.y, last.z].map(|last| rng.random_range(0..=last));
        for x in 0..=last.x {
            for (y, z) in (0..=last.y).flat_map(|y| (0..=last.z).map(move |z| (y, z))) {
                is_loaded.insert([x, y, z]);
            }
        }
        let random_pose = |rng: &mut StdRng| {
            let pose = random_transform(rng, dimension);
            let place = turn * pose.translation;
            Transform::from_translation(place).with_rotation(turn * pose.rotation)
        };
        let mut bodies = Vec::new();
        for _ in 0..BODIES {
            let offset = Vec3::X * rng.random_range(0.3..1.5);
            let (shape, centers) = if rng.random_bool(0.2) {
                let ball = ball(dimension, 0.3);
                (
                    Collider::compound([
                        (Transform::IDENTITY, ball.clone()),
                        (Transform::from_translation(offset), ball),
                    ]),
                    vec![Vec3::ZERO, offset],
                )
            } else {
                (random_convex(rng, dimension), vec![Vec3::ZERO])
            };
            let pose = random_pose(rng);
            let ids = apps
                .each_mut()
                .map(|app| app.world_mut().spawn((shape.clone(), pose)).id());
            bodies.push((ids, centers));
        }
        let mut all_events = Vec::new();
        for tick in 0..20 {
            for _ in 0..rng.random_range(0..3) {
                let chunk = random_chunk(rng);
                if !is_loaded.remove(&chunk) {
                    is_loaded.insert(chunk);
                }
            }
            for _ in 0..rng.random_range(0..6) {
                let (from, to, cell) = random_edit(rng, dimension);
                // A chunk with a one-way cell is not joined.
                let cell = if cell.one_way_direction().is_some() {
                    Cell::SOLID
                } else {
                    cell
                };
                for x in from.x..=to.x {
                    for (y, z) in (from.y..=to.y).flat_map(|y| (from.z..=to.z).map(move |z| (y, z)))
                    {
                        world.insert([x, y, z], cell);
                    }
                }
            }
            for _ in 0..rng.random_range(0..4) {
                let (ids, _) = &bodies[rng.random_range(0..BODIES)];
                let pose = random_pose(rng);
                for (app, id) in apps.iter_mut().zip(ids) {
                    set_pose(app, *id, pose);
                }
            }
            let chunk_of = |at: &[i32; 3]| {
                IVec3::from_array(*at)
                    .div_euclid(chunk_size(dimension))
                    .to_array()
            };
            let loaded = world
                .iter()
                .filter(|(at, _)| is_loaded.contains(&chunk_of(at)));
            let loaded = loaded.map(|(at, cell)| (IVec3::from_array(*at), *cell));
            let whole = grid_of(dimension, loaded);
            *apps[0].world_mut().get_mut(level).unwrap() = whole.clone();
            let streamed = apps[1].world_mut();
            chunks.retain(|chunk, entity| is_loaded.contains(chunk) || !streamed.despawn(*entity));
            for chunk in &is_loaded {
                let start = IVec3::from_array(*chunk) * chunk_size(dimension);
                let new = collider_of(dimension, &world, IVec3::from_array(*chunk));
                match chunks.get(chunk) {
                    Some(entity) => {
                        let mut old = streamed.get_mut::<Collider>(*entity).unwrap();
                        if old.grid::<Vec2>() != new.grid() || old.grid::<Vec3>() != new.grid() {
                            *old = new;
                        }
                    }
                    None => {
                        let place = turn * start.as_vec3();
                        let pose = Transform::from_translation(place).with_rotation(turn);
                        let chunk_start = ChunkStart(start);
                        let entity = streamed.spawn((new, pose, chunk_start, JoinedCollider(7)));
                        chunks.insert(*chunk, entity.id());
                    }
                }
            }
            apps.iter_mut().for_each(App::update);
            all_events.extend(events(&mut apps[1]));
            for (body, (ids, centers)) in bodies.iter().enumerate() {
                let name = format!("{dimension}D, case {number}, tick {tick}, body {body}");
                let [a, b] = [contacts_of(&apps[0], ids[0]), contacts_of(&apps[1], ids[1])];
                all_contacts.fetch_add(a.len(), Relaxed);
                let pose = apps[0].world().get::<Transform>(ids[0]).unwrap();
                // A compound may also leave as if it were inside.
                let is_compound = centers.len() > 1;
                let may_leave = is_compound
                    || centers.iter().any(|center| {
                        let center = pose.transform_point(*center);
                        if dimension == 2 {
                            whole.contains_point(Transform::from_rotation(turn), center.truncate())
                        } else {
                            whole.contains_point(Transform::from_rotation(turn), center)
                        }
                    });
                let bits = |found: &[([u32; 4], [i32; 3])]| -> Vec<[u32; 4]> {
                    found.iter().map(|it| it.0).collect()
                };
                assert_eq!(bits(&a), bits(&b), "{name}");
                // A body may leave through a face of a chunk that it does not touch. Then the cell
                // is another one.
                other_cells.fetch_add(usize::from(!may_leave && a != b), Relaxed);
            }
        }
        let streamed = apps[1].world_mut();
        chunks
            .values()
            .for_each(|chunk| assert!(streamed.despawn(*chunk)));
        apps[1].update();
        all_events.extend(events(&mut apps[1]));
        let on = assert_phases_alternate(&all_events);
        let is_chunk = |entity: &Entity| chunks.values().any(|chunk| chunk == entity);
        assert!(
            !on.iter().any(|(a, b)| is_chunk(a) || is_chunk(b)),
            "{on:?}"
        );
    });
    let [others, all] = totals.map(AtomicUsize::into_inner);
    // A few cases may have many such bodies by chance.
    assert!(all > 0 && 100 * others <= all + 1_000, "{others} of {all}");
}

/// Pushed down out of the first chunk, the right ball reaches the slope of a chunk that is not near
/// the body.
#[test]
fn a_contact_that_only_the_push_out_reaches_is_reported() {
    let [first, second] = [vec![[6, 4], [7, 4], [6, 5], [7, 5]], vec![[8, 3]]].map(|cells| {
        let mut grid = empty_2d();
        grid.extend(
            cells
                .into_iter()
                .map(|at| (IVec2::from(at), Cell::shape(1))),
        );
        (Transform::IDENTITY, Collider::cells(&grid))
    });
    let mut app = app();
    spawn_ground(&mut app, [first, second]);
    let (left, right) = (Vec2::new(7.2, 4.5), Vec2::new(8.5, 4.5));
    let balls = [left, right].map(|at| (at, Collider::circle(0.3)));
    let body = app.world_mut().spawn(Collider::compound(balls)).id();
    app.update();
    // The left ball ends below y = 4. The slope leads from (8, 3) to (8.4, 3.7), and the right ball
    // ends 0.3 away.
    let normal = Vec2::new(-0.7, 0.4).normalize();
    let y = 3.7;
    let foot_y = y - 0.3 * normal.y;
    let x = 8.0 + (foot_y - 3.0) * 4.0 / 7.0 + 0.3 * normal.x;
    let expected = (Vec2::new(x, y) - right).extend(0.0);
    let out = collisions(&app).push_out(body, |_| true).translation();
    assert!(out.distance(expected) < 1e-5, "{out}, not {expected}");
}

fn random_convex(rng: &mut StdRng, dimension: usize) -> Collider {
    let size = rng.random_range(0.2..2.5);
    match (rng.random_range(0..3), dimension) {
        (0, _) => ball(dimension, 0.5 * size),
        (1, 2) => Collider::rectangle(size, 0.5 * size),
        (1, _) => Collider::cuboid(size, 0.5 * size, size),
        (_, 2) => Collider::rectangle(size, size).rounded(0.1),
        (_, _) => Collider::cuboid(size, size, size).rounded(0.1),
    }
}

/// Spawns a floor of chunks of 10 x 4 cells, with a body on every second cell.
fn spawn_floor(app: &mut App, count: i32) -> Vec<Entity> {
    for number in 0..5 * count {
        let place = Transform::from_xyz(2.0 * number as f32 + 0.5, 0.5, 0.0);
        app.world_mut()
            .spawn((Collider::rectangle(0.9, 1.0), place));
    }
    (0..count).map(|chunk| spawn_chunk(app, chunk)).collect()
}

fn spawn_chunk(app: &mut App, chunk: i32) -> Entity {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(0, -4), IVec2::new(9, -1), Cell::SOLID)
        .unwrap();
    let pose = Transform::from_xyz(10.0 * chunk as f32, 0.0, 0.0);
    app.world_mut()
        .spawn((Collider::cells(&grid), pose, JoinedCollider(0)))
        .id()
}

#[test]
fn only_bodies_near_a_chunk_that_comes_or_goes_are_tested_again() {
    let mut app = app();
    let chunks = spawn_floor(&mut app, 20);
    app.update();
    app.update();
    assert_eq!(collisions(&app).len(), 100);
    let tested = |app: &mut App| {
        app.update();
        app.world().resource::<CollisionDiagnostics>().candidates
    };
    assert_eq!(tested(&mut app), 0);
    events(&mut app);
    app.world_mut().despawn(chunks[10]);
    assert!(tested(&mut app) < 15);
    let ended = events(&mut app)
        .iter()
        .filter(|event| event.ended())
        .count();
    assert_eq!((ended, collisions(&app).len()), (5, 95));
    spawn_chunk(&mut app, 10);
    assert!(tested(&mut app) < 20);
    assert_eq!(collisions(&app).len(), 100);
    // An edit at the border of a chunk changes the contacts of its neighbor's bodies only there.
    let mut chunk = app.world_mut().get_mut::<Collider>(chunks[5]).unwrap();
    let dig = |grid: &mut CellGrid<Vec2>| grid.set(IVec2::new(0, -1), Cell::EMPTY);
    chunk.edit_cells(dig).unwrap();
    assert!((1..12).contains(&tested(&mut app)));
    assert_eq!(collisions(&app).len(), 99);
    assert_eq!(tested(&mut app), 0);
}
