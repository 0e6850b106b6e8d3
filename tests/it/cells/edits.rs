//! Changes of a grid at play.

use bevy::prelude::*;
use headbutt::{
    BroadPhase, CandidatePairs, CollisionDiagnostics, CollisionEvent, Collisions, ConvexHull,
    Dimension, OngoingEvents, ShapeError, prelude::*,
};
use rand::{Rng, rngs::StdRng};

use super::{ball, for_cases};

/// Returns an app whose updates are ticks.
pub fn app(ongoing: OngoingEvents) -> App {
    let mut app = App::new();
    let plugin = HeadbuttPlugin::in_schedule(Update).with_ongoing(ongoing);
    app.add_plugins((MinimalPlugins, plugin));
    app
}

/// Returns all events since the last call.
pub fn events(app: &mut App) -> Vec<CollisionEvent> {
    let mut messages = app.world_mut().resource_mut::<Messages<CollisionEvent>>();
    messages.drain().collect()
}

pub fn collisions(app: &App) -> &Collisions {
    app.world().resource()
}

/// The number of cells of a random world along each axis.
pub fn extents(dimension: usize) -> IVec3 {
    [IVec3::new(70, 20, 1), IVec3::new(20, 8, 12)][dimension - 2]
}

fn random_vector(rng: &mut StdRng, low: Vec3, high: Vec3) -> Vec3 {
    let mut random = |axis: usize| rng.random_range(low[axis]..=high[axis]);
    Vec3::new(random(0), random(1), random(2))
}

fn random_shape(rng: &mut StdRng, dimension: usize) -> Collider {
    let size = rng.random_range(0.2..2.5);
    let capsules = if dimension == 2 {
        let capsule = |x| (Vec2::X * x, Collider::capsule_2d(0.2, 0.5 * size));
        Collider::compound([capsule(0.0), capsule(0.5 * size)])
    } else {
        let capsule = |x| (Vec3::X * x, Collider::capsule_3d(0.2, 0.5 * size));
        Collider::compound([capsule(0.0), capsule(0.5 * size)])
    };
    match rng.random_range(0..4) {
        0 => ball(dimension, 0.5 * size),
        1 if dimension == 2 => Collider::rectangle(size, 0.5 * size),
        1 => Collider::cuboid(size, 0.5 * size, size),
        2 if dimension == 2 => Collider::rectangle(size, size).rounded(0.1),
        2 => Collider::cuboid(size, size, size).rounded(0.1),
        _ => capsules,
    }
}

pub fn random_transform(rng: &mut StdRng, dimension: usize) -> Transform {
    let extents = extents(dimension).as_vec3();
    // Most bodies are near the top of the ground.
    let low = extents * Vec3::new(0.0, 0.45, 0.0);
    let place = random_vector(rng, low, extents * Vec3::new(1.0, 0.8, 1.0));
    let turn = Quat::from_rotation_z([0.0, 0.0, 0.7][rng.random_range(0..3)]);
    Transform::from_translation(place).with_rotation(turn)
}

/// Makes a random change of a grid, as three numbers and a cell.
pub fn random_edit(rng: &mut StdRng, dimension: usize) -> (IVec3, IVec3, Cell) {
    let extents = extents(dimension);
    let at = random_vector(rng, Vec3::ZERO, (extents - 1).as_vec3()).as_ivec3();
    let far = match rng.random_range(0..40) {
        0..2 => rng.random_range(12..=20),
        2..6 => 4,
        _ => 0,
    };
    let cells = [
        Cell::EMPTY,
        Cell::EMPTY,
        Cell::SOLID,
        Cell::shape(0),
        Cell::shape(1),
        Cell::slope(0, 8),
        Cell::slope(3, 3),
        Cell::one_way(CellDirection::Y),
        Cell::one_way(CellDirection::NegX),
    ];
    let cell = cells[rng.random_range(0..cells.len())];
    (at, (at + far).min(extents - 1), cell)
}

/// Returns an empty grid with a table of two shapes: a gem and a wedge.
pub fn empty_2d() -> CellGrid<Vec2> {
    let gem = [[-0.5, 0.1], [0.5, -0.2], [0.1, -0.5], [0.0, 0.5]].map(Vec2::from);
    let wedge = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.2], [-0.1, 0.2]].map(Vec2::from);
    let hulls = [ConvexHull::new(gem), ConvexHull::new(wedge)];
    CellGrid::with_shapes(Vec2::ONE, hulls.map(Result::unwrap)).unwrap()
}

/// Returns an empty grid with a table of two shapes: an octahedron and a wedge.
pub fn empty_3d() -> CellGrid<Vec3> {
    let gem = [Vec3::X, Vec3::Y, Vec3::Z]
        .into_iter()
        .flat_map(|axis| [0.5 * axis, -0.4 * axis]);
    let wedge = [-0.5, 0.5].map(|z| {
        let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.2], [-0.1, 0.2]].map(Vec2::from);
        corners.map(|corner| corner.extend(z))
    });
    let hulls = [
        ConvexHull::new(gem),
        ConvexHull::new(wedge.into_iter().flatten()),
    ];
    CellGrid::with_shapes(Vec3::ONE, hulls.map(Result::unwrap)).unwrap()
}

const BODIES: usize = 30;

/// Runs two worlds with the same bodies. The grid of the first world is edited. The grid of the
/// second world is replaced, and all its pairs are tested in each tick, because the source of the
/// pairs changes. Compares all events and contacts.
fn compare_with_replaced<V: Dimension>(
    rng: &mut StdRng,
    dimension: usize,
    position: fn(IVec3) -> V::CellPosition,
    mut grid: CellGrid<V>,
    name: &str,
) {
    let ongoing = [OngoingEvents::EveryTick, OngoingEvents::Never][rng.random_range(0..2)];
    let mut apps = [app(ongoing), app(ongoing)];
    let extents = extents(dimension);
    // The corner cells keep the bounding box the same.
    let ground = (extents * IVec3::new(1, 0, 1)).with_y(extents.y / 2) - IVec3::new(1, 0, 1);
    let ground = ground.max(IVec3::ZERO);
    grid.fill(position(IVec3::ZERO), position(ground), Cell::SOLID)
        .unwrap();
    grid.set(position(extents - 1), Cell::SOLID);
    let mut bodies: Vec<(Collider, Transform)> = Vec::new();
    for _ in 0..BODIES {
        bodies.push((
            random_shape(rng, dimension),
            random_transform(rng, dimension),
        ));
    }
    let ids = apps.each_mut().map(|app| {
        let level = app.world_mut().spawn(Collider::cells(&grid)).id();
        let bodies = bodies.iter().cloned();
        let bodies: Vec<Entity> = bodies.map(|it| app.world_mut().spawn(it).id()).collect();
        (level, bodies)
    });
    let (level, others) = &ids[1];
    let all: Vec<Entity> = others.iter().chain([level]).copied().collect();
    let pairs = all.iter().flat_map(|a| all.iter().map(|b| (*a, *b)));
    let mut supplied = apps[1].world_mut().resource_mut::<CandidatePairs>();
    supplied.extend(pairs);
    for tick in 0..20 {
        let moves: Vec<(usize, Transform)> = (0..rng.random_range(0..4))
            .map(|_| {
                (
                    rng.random_range(0..BODIES),
                    random_transform(rng, dimension),
                )
            })
            .collect();
        let edits: Vec<_> = (0..rng.random_range(0..12))
            .map(|_| random_edit(rng, dimension))
            .collect();
        let apply = |grid: &mut CellGrid<V>| {
            for (from, to, cell) in &edits {
                grid.fill(position(*from), position(*to), *cell).unwrap();
            }
        };
        apply(&mut grid);
        for (number, app) in apps.iter_mut().enumerate() {
            let (level, bodies) = &ids[number];
            for (body, transform) in &moves {
                *app.world_mut().get_mut(bodies[*body]).unwrap() = *transform;
            }
            let mut level = app.world_mut().get_mut::<Collider>(*level).unwrap();
            if number == 0 {
                level.edit_cells(apply).unwrap();
                assert_eq!(level.grid::<V>(), Some(&grid));
            } else {
                *level = Collider::cells(&grid);
                let source = [BroadPhase::Custom, BroadPhase::Automatic][tick % 2];
                app.insert_resource(source);
            }
            app.update();
        }
        let [edited, replaced] = &mut apps;
        assert_eq!(events(edited), events(replaced), "{name}, tick {tick}");
        assert!(!collisions(edited).is_empty());
        assert_eq!(
            collisions(edited),
            collisions(replaced),
            "{name}, tick {tick}"
        );
    }
}

/// Each case makes about 100 changes.
#[test]
fn an_edited_grid_sends_the_events_of_a_grid_built_anew() {
    for_cases(2, |rng, dimension, number| {
        let name = format!("{dimension}D, case {number}");
        if dimension == 2 {
            compare_with_replaced(rng, 2, IVec3::truncate, empty_2d(), &name);
        } else {
            compare_with_replaced(rng, 3, |at| at, empty_3d(), &name);
        }
    });
}

/// Returns a floor of 200 x 4 cells with a post at its end, and a body on every second cell.
fn floor_with_bodies(app: &mut App) -> Entity {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(0, -4), IVec2::new(199, -1), Cell::SOLID)
        .unwrap();
    grid.fill(IVec2::new(199, 0), IVec2::new(199, 29), Cell::SOLID)
        .unwrap();
    for number in 0..100 {
        let place = Transform::from_xyz(2.0 * number as f32 + 0.5, 0.5, 0.0);
        app.world_mut()
            .spawn((Collider::rectangle(0.9, 1.0), place));
    }
    app.world_mut().spawn(Collider::cells(&grid)).id()
}

#[test]
fn only_bodies_near_an_edit_are_tested_again() {
    let mut app = app(OngoingEvents::OnChange);
    let level_id = floor_with_bodies(&mut app);
    app.update();
    app.update();
    assert_eq!(collisions(&app).len(), 100);
    events(&mut app);
    let edit = |app: &mut App, at: IVec2, cell: Cell| {
        let mut level = app.world_mut().get_mut::<Collider>(level_id).unwrap();
        level
            .edit_cells(|grid: &mut CellGrid<Vec2>| grid.set(at, cell))
            .unwrap();
        app.update();
        app.world().resource::<CollisionDiagnostics>().candidates
    };
    for (cell, count) in [(Cell::EMPTY, 99), (Cell::SOLID, 100)] {
        let tested = edit(&mut app, IVec2::new(100, -1), cell);
        assert!((1..12).contains(&tested), "{tested} pairs were tested");
        assert_eq!(collisions(&app).len(), count);
        // The indices of the faces after the changed cell differ from those before.
        let events = events(&mut app);
        let changes = events.iter().filter(|event| !event.ongoing());
        assert_eq!(changes.count(), 1, "{events:?}");
        let world = app.world();
        let level = world.get::<Collider>(level_id).unwrap();
        for contact in collisions(&app).deepest_of(level_id) {
            let transform = world.get::<Transform>(contact.other).unwrap();
            let (cell, _) = level.cell_2d(contact.part()).unwrap();
            assert_eq!(cell.x as f32 + 0.5, transform.translation.x, "{contact:?}");
        }
    }
    // A change far from all bodies tests no pair, and neither does an edit without a change.
    assert_eq!(edit(&mut app, IVec2::new(199, 20), Cell::EMPTY), 0);
    assert_eq!(edit(&mut app, IVec2::new(199, 20), Cell::EMPTY), 0);
}

#[test]
fn an_invalid_edit_changes_nothing() {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.set(IVec2::ZERO, Cell::SOLID);
    let mut level = Collider::cells(&grid);
    for (position, cell, error) in [
        (
            IVec2::new(1 << 14, 0),
            Cell::SOLID,
            ShapeError::CellOutOfRange,
        ),
        (IVec2::MAX, Cell::SOLID, ShapeError::CellOutOfRange),
        (IVec2::ONE, Cell::slope_z(0, 8), ShapeError::SlopeAlongZ),
    ] {
        let set = |grid: &mut CellGrid<Vec2>| grid.set(position, cell);
        assert_eq!(level.edit_cells(set), Err(error));
        assert_eq!(level.grid::<Vec2>(), Some(&grid));
    }
    let clear = |grid: &mut CellGrid<Vec2>| grid.set(IVec2::MAX, Cell::EMPTY);
    assert_eq!(level.edit_cells(clear), Ok(()));
    let other = |grid: &mut CellGrid<Vec3>| grid.set(IVec3::ZERO, Cell::SOLID);
    assert_eq!(level.edit_cells(other), Err(ShapeError::NotCells));
    assert_eq!(
        Collider::circle(1.0).edit_cells(other),
        Err(ShapeError::NotCells)
    );
}

#[test]
fn digging_away_the_ground_ends_the_contact() {
    let mut app = app(OngoingEvents::Never);
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.set(IVec2::ZERO, Cell::SOLID);
    grid.set(IVec2::new(5, 0), Cell::SOLID);
    let level = app.world_mut().spawn(Collider::cells(&grid)).id();
    let body = (Collider::circle(0.5), Transform::from_xyz(0.5, 1.4, 0.0));
    let body = app.world_mut().spawn(body).id();
    let touches = |app: &App| app.world().resource::<Collisions>().contains(level, body);
    app.update();
    assert!(touches(&app));
    for (cell, is_touching) in [(Cell::EMPTY, false), (Cell::SOLID, true)] {
        let mut collider = app.world_mut().get_mut::<Collider>(level).unwrap();
        let set = |grid: &mut CellGrid<Vec2>| grid.set(IVec2::ZERO, cell);
        collider.edit_cells(set).unwrap();
        app.update();
        assert_eq!(touches(&app), is_touching);
    }
    // Without any cell, the collider touches nothing, and is not an error.
    for (edit, is_touching) in [
        (CellGrid::clear as fn(&mut CellGrid<Vec2>), false),
        (|grid| grid.set(IVec2::ZERO, Cell::SOLID), true),
    ] {
        let mut collider = app.world_mut().get_mut::<Collider>(level).unwrap();
        collider.edit_cells(edit).unwrap();
        app.update();
        assert_eq!(touches(&app), is_touching);
    }
}

#[test]
fn digging_a_room_around_a_body_ends_the_contact() {
    let mut app = app(OngoingEvents::Never);
    let mut grid = CellGrid::new(Vec2::ONE);
    let (low, high) = (IVec2::splat(-64), IVec2::splat(63));
    grid.fill(low, high, Cell::SOLID).unwrap();
    let level = app.world_mut().spawn(Collider::cells(&grid)).id();
    let body = (
        Collider::circle(0.3),
        Transform::from_translation(Vec2::splat(4.0).extend(0.0)),
    );
    let body = app.world_mut().spawn(body).id();
    app.update();
    assert!(collisions(&app).contains(level, body));
    // The walls of the room are farther from the body than any face that its contact depends on.
    let mut collider = app.world_mut().get_mut::<Collider>(level).unwrap();
    let dig = |grid: &mut CellGrid<Vec2>| grid.fill(IVec2::ZERO, IVec2::splat(7), Cell::EMPTY);
    collider.edit_cells(dig).unwrap().unwrap();
    app.update();
    assert!(!collisions(&app).contains(level, body));
}

#[test]
fn after_a_rollback_an_ended_contact_names_the_cell_that_it_had() {
    let mut app = app(OngoingEvents::Never);
    let level = floor_with_bodies(&mut app);
    app.update();
    let saved = (
        collisions(&app).clone(),
        app.world().get::<Collider>(level).cloned().unwrap(),
    );
    let (cell, body) = {
        let contact = collisions(&app).deepest_of(level).nth(50).unwrap();
        (saved.1.cell_2d(contact.part()).unwrap(), contact.other)
    };
    // The change renumbers the faces.
    let mut collider = app.world_mut().get_mut::<Collider>(level).unwrap();
    let dig =
        |grid: &mut CellGrid<Vec2>| grid.fill(IVec2::new(0, -1), IVec2::new(9, -1), Cell::EMPTY);
    collider.edit_cells(dig).unwrap().unwrap();
    app.update();
    events(&mut app);
    app.insert_resource(saved.0);
    *app.world_mut().get_mut::<Collider>(level).unwrap() = saved.1.clone();
    app.world_mut()
        .get_mut::<Transform>(body)
        .unwrap()
        .translation
        .y = 9.0;
    app.update();
    let ended = events(&mut app)
        .into_iter()
        .find(|event| event.ended())
        .unwrap();
    let ended = if ended.entity == level {
        ended
    } else {
        ended.flipped()
    };
    assert_eq!((ended.entity, ended.other), (level, body));
    assert_eq!(saved.1.cell_2d(ended.part()), Some(cell));
}
