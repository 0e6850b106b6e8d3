//! Changes of a grid at play.

use bevy::prelude::*;
use headbutt::{Collisions, OngoingEvents, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::cases::cases;

/// The contacts of a world: the body, the normal, the depth and the part of the grid.
fn contacts(world: &World, grid: Entity, bodies: &[Entity]) -> Vec<(usize, Vec3, f32, u32)> {
    let collisions = world.resource::<Collisions>();
    let numbered = bodies.iter().enumerate();
    let found = numbered.flat_map(|(number, body)| {
        let mut parts: Vec<_> = collisions
            .parts(grid, *body)
            .map(|hit| (number, hit.normal, hit.depth, hit.part()))
            .collect();
        parts.sort_by_key(|it| it.3);
        parts
    });
    found.collect()
}

fn app() -> App {
    let mut app = App::new();
    let plugin = HeadbuttPlugin::in_schedule(Update).with_ongoing(OngoingEvents::Never);
    app.add_plugins((MinimalPlugins, plugin));
    app
}

#[test]
fn an_edited_grid_has_the_contacts_of_a_grid_built_anew() {
    for seed in cases("HEADBUTT_CELLS", 5) {
        let mut rng = StdRng::seed_from_u64(seed as u64);
        let mut grid = CellGrid::new(Vec2::ONE);
        grid.fill(IVec2::new(-9, -4), IVec2::new(8, -1), Cell::SOLID)
            .unwrap();
        let bodies: Vec<(Collider, Transform)> = (0..40)
            .map(|_| {
                let (x, y) = (rng.random_range(-9.0..9.0), rng.random_range(-4.0..1.0));
                let size = rng.random_range(0.2..1.4);
                let shape = if rng.random_bool(0.5) {
                    Collider::circle(0.5 * size)
                } else {
                    Collider::rectangle(size, size)
                };
                (shape, Transform::from_xyz(x, y, 0.0))
            })
            .collect();
        let spawn = |app: &mut App, grid: &CellGrid<Vec2>| {
            let bodies = bodies.iter().cloned();
            let ids: Vec<Entity> = bodies.map(|it| app.world_mut().spawn(it).id()).collect();
            (app.world_mut().spawn(Collider::cells(grid)).id(), ids)
        };
        let mut edited = app();
        let (level, ids) = spawn(&mut edited, &grid);
        for tick in 0..20 {
            for _ in 0..rng.random_range(1..20) {
                let position = IVec2::new(rng.random_range(-9..9), rng.random_range(-4..2));
                let cell = [Cell::EMPTY, Cell::SOLID, Cell::slope(0, 8)][rng.random_range(0..3)];
                grid.set(position, cell);
            }
            *edited.world_mut().get_mut::<Collider>(level).unwrap() = Collider::cells(&grid);
            edited.update();
            let mut fresh = app();
            let (fresh_level, fresh_ids) = spawn(&mut fresh, &grid);
            fresh.update();
            let [own, other] = [
                contacts(edited.world(), level, &ids),
                contacts(fresh.world(), fresh_level, &fresh_ids),
            ];
            assert!(!own.is_empty());
            assert_eq!(own, other, "seed {seed}, tick {tick}");
        }
    }
}

#[test]
fn digging_away_the_ground_ends_the_contact() {
    let mut app = app();
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
        grid.set(IVec2::ZERO, cell);
        *app.world_mut().get_mut::<Collider>(level).unwrap() = Collider::cells(&grid);
        app.update();
        assert_eq!(touches(&app), is_touching);
    }
    // Without any cell, the collider touches nothing, and is not an error.
    grid.clear();
    *app.world_mut().get_mut::<Collider>(level).unwrap() = Collider::cells(&grid);
    app.update();
    assert!(!touches(&app));
}
