//! The grid as a data structure.

use std::collections::BTreeMap;

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::cases::cases;

const KINDS: [Cell; 4] = [
    Cell::EMPTY,
    Cell::SOLID,
    Cell::slope(3, 5),
    Cell::slope(8, 0).hanging().with_material(65535),
];

#[test]
fn random_changes_have_the_effects_of_a_map() {
    for seed in cases("HEADBUTT_CELLS", 50) {
        let mut rng = StdRng::seed_from_u64(seed as u64);
        let mut grid = CellGrid::new(Vec3::ONE);
        let mut map = BTreeMap::new();
        for _ in 0..200 {
            let mut position = || IVec3::from_array([0; 3].map(|_| rng.random_range(-20..20)));
            let (from, to) = (position(), position());
            let cell = KINDS[rng.random_range(0..KINDS.len())];
            let to = if rng.random_bool(0.1) { to } else { from };
            grid.fill(from, to, cell).unwrap();
            let (min, max) = (from.min(to), from.max(to));
            for (x, y, z) in (min.x..=max.x).flat_map(|x| {
                (min.y..=max.y).flat_map(move |y| (min.z..=max.z).map(move |z| (x, y, z)))
            }) {
                if cell.is_empty() {
                    map.remove(&[x, y, z]);
                } else {
                    map.insert([x, y, z], cell);
                }
            }
        }
        assert_eq!(grid.len(), map.len());
        let found: BTreeMap<_, _> = grid
            .iter()
            .map(|(at, cell)| (at.to_array(), cell))
            .collect();
        assert_eq!(found, map);
        // Equal cells make equal grids, whatever their history.
        let mut fresh = CellGrid::new(Vec3::ONE);
        fresh.extend(
            map.iter()
                .rev()
                .map(|(at, cell)| (IVec3::from_array(*at), *cell)),
        );
        assert!(fresh == grid);
        assert!(fresh.iter().eq(grid.iter()));
        fresh.clear();
        assert!(fresh.is_empty() && fresh.iter().next().is_none());
    }
}

#[test]
fn a_clone_does_not_change_with_the_original() {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::splat(-50), IVec2::splat(50), Cell::SOLID)
        .unwrap();
    let copy = grid.clone();
    grid.set(IVec2::new(3, 4), Cell::EMPTY);
    assert_eq!(copy.get(IVec2::new(3, 4)), Cell::SOLID);
    assert_eq!(grid.get(IVec2::new(3, 4)), Cell::EMPTY);
    assert!(copy != grid);
}

#[test]
fn a_solid_block_has_only_its_outer_faces() {
    let mut grid = CellGrid::new(Vec3::ONE);
    grid.fill(IVec3::splat(-6), IVec3::splat(5), Cell::SOLID)
        .unwrap();
    let block = Collider::cells(&grid);
    let Some(headbutt::ShapeView::Surface(surface)) = block.shape_3d() else {
        panic!("a union of cells is a surface");
    };
    assert_eq!(surface.facets().len(), 6 * 12 * 12 * 2);
    // A hole inside adds the six faces around it.
    grid.set(IVec3::ZERO, Cell::EMPTY);
    let hollow = Collider::cells(&grid);
    let Some(headbutt::ShapeView::Surface(surface)) = hollow.shape_3d() else {
        panic!("a union of cells is a surface");
    };
    assert_eq!(surface.facets().len(), 6 * 12 * 12 * 2 + 12);
}
