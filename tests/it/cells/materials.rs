//! Grids that are divided by material.

use bevy::prelude::*;
use headbutt::{Collisions, PushOut, prelude::*};
use rand::Rng;

use super::for_cases;
use crate::support::{app, tick};

const PLAYER: u32 = 1;
const ENEMY: u32 = 2;
const LEVEL: u32 = 4;

/// A filtered grid equals a grid that is built of the kept cells.
#[test]
fn a_filtered_grid_has_the_kept_cells() {
    for_cases(40, |rng, _, number| {
        let mut grid = CellGrid::new(Vec2::ONE);
        for _ in 0..200 {
            let at = IVec2::new(rng.random_range(-99..99), rng.random_range(-40..40));
            let cell = [Cell::SOLID, Cell::slope(0, 8)][rng.random_range(0..2)];
            grid.set(at, cell.with_material(rng.random_range(0..3)));
        }
        for material in 0..4 {
            let mut kept = CellGrid::new(Vec2::ONE);
            kept.extend(grid.iter().filter(|(_, cell)| cell.material() == material));
            let filtered = grid.filtered(|cell| cell.material() == material);
            assert!(filtered == kept, "case {number}, material {material}");
            assert_eq!(filtered.len(), kept.iter().count());
        }
    });
}

/// A pit of spikes and water between two banks of ground. Players stand on the spikes, and enemies
/// on the ground beneath them. Both touch the water, which is a sensor.
#[test]
fn a_material_can_have_layers_and_sensors_of_its_own() {
    let mut grid = CellGrid::new(Vec2::ONE);
    let mut fill = |from: [i32; 2], to: [i32; 2], material| {
        let cell = Cell::SOLID.with_material(material);
        grid.fill(from.into(), to.into(), cell)
            .expect("a small level");
    };
    fill([-9, -2], [9, -1], 0);
    fill([-2, -1], [2, -1], 1);
    fill([-2, 0], [2, 3], 2);
    let of = |material| Collider::cells(&grid.filtered(|cell| cell.material() == material));
    let mut app = app();
    let world = app.world_mut();
    world.spawn(of(0));
    let layers = CollisionLayers::from_bits(LEVEL, PLAYER);
    let spikes = world.spawn((of(1), layers)).id();
    let water = world.spawn((of(2), Sensor)).id();
    let mut spawn = |layer, x| {
        let layers = CollisionLayers::from_bits(layer, LEVEL | u32::MAX);
        let pose = Transform::from_xyz(x, -0.1, 0.0);
        world
            .spawn((Collider::rectangle(0.8, 1.0), layers, pose))
            .id()
    };
    let (player, enemy) = (spawn(PLAYER, 0.9), spawn(ENEMY, -0.9));
    tick(&mut app);
    let collisions = app.world().resource::<Collisions>();
    assert!(collisions.contains(player, water) && collisions.contains(enemy, water));
    assert!(collisions.contains(player, spikes) && !collisions.contains(enemy, spikes));
    // The player is 0.6 deep in the spikes, whose top is at y = 0.
    let out = collisions.push_out(player, |_| true);
    assert!(
        (out.translation() - Vec3::Y * 0.6).length() < 1e-5,
        "{out:?}"
    );
    // The ground beneath the spikes is at y = -1, and the bottom of the enemy at -0.6.
    assert_eq!(collisions.push_out(enemy, |_| true), PushOut::Free);
    app.world_mut()
        .get_mut::<Transform>(enemy)
        .expect("a pose")
        .translation
        .y = -0.7;
    tick(&mut app);
    let collisions = app.world().resource::<Collisions>();
    let out = collisions.push_out(enemy, |_| true).translation();
    assert!((out - Vec3::Y * 0.2).length() < 1e-5, "{out}");
}
