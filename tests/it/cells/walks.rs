//! Bodies that slide over cells.

use bevy::prelude::*;
use headbutt::{ConvexHull, prelude::*};
use rand::{Rng, rngs::StdRng};

use super::for_cases;
use crate::mover::{Level, Walker};

/// Returns a floor whose top is at y = 0. In every second case, the cells at the top have one of
/// two shapes that end at 2/5 of their height.
fn floor(rng: &mut StdRng, dimension: usize, size: f32, has_shapes: bool) -> (Collider, Transform) {
    let slab = [[-0.5, -0.5], [0.5, -0.5], [0.5, -0.1], [-0.5, -0.1]];
    let trough = [[-0.3, -0.5], [0.3, -0.5], [0.5, -0.1], [-0.5, -0.1]];
    let shapes = [slab, trough].map(|corners| corners.map(|it| size * Vec2::from(it)));
    let mut cell = || {
        if has_shapes {
            Cell::shape(rng.random_range(0..2))
        } else {
            Cell::SOLID
        }
    };
    let floor = if dimension == 2 {
        let hulls = shapes.map(|corners| ConvexHull::new(corners).unwrap());
        let mut grid = CellGrid::with_shapes(Vec2::splat(size), hulls).unwrap();
        grid.fill(IVec2::new(-3, -2), IVec2::new(40, -2), Cell::SOLID)
            .unwrap();
        grid.extend((-3..=40).map(|x| (IVec2::new(x, -1), cell())));
        Collider::cells(&grid)
    } else {
        let hulls = shapes.map(|corners| {
            let ends = [-0.5, 0.5].map(|z| corners.map(|corner| corner.extend(z * size)));
            ConvexHull::new(ends.into_iter().flatten()).unwrap()
        });
        let mut grid = CellGrid::with_shapes(Vec3::splat(size), hulls).unwrap();
        grid.fill(IVec3::new(-3, -2, -3), IVec3::new(40, -2, 40), Cell::SOLID)
            .unwrap();
        let top = (-3..=40).flat_map(|x| (-3..=40).map(move |z| IVec3::new(x, -1, z)));
        grid.extend(top.map(|at| (at, cell())));
        Collider::cells(&grid)
    };
    let height = if has_shapes { 0.6 * size } else { 0.0 };
    (floor, Transform::from_xyz(0.0, height, 0.0))
}

#[test]
fn a_body_never_catches_on_a_floor_of_cells() {
    for_cases(20, |rng, dimension, number| {
        let size = [1.0, 16.0, 0.3][number % 3];
        let floor = floor(rng, dimension, size, number % 2 == 1);
        let half = size * rng.random_range(0.2..0.9);
        let body = match (dimension, rng.random_range(0..3)) {
            (2, 0) => Collider::circle(half),
            (2, 1) => Collider::rectangle(half, 2.0 * half),
            (2, _) => Collider::capsule_2d(0.5 * half, half),
            (_, 0) => Collider::sphere(half),
            (_, 1) => Collider::cuboid(half, 2.0 * half, half),
            _ => Collider::capsule_3d(0.5 * half, half),
        };
        let mut level = Level::new([floor]);
        let mut walker = Walker::new(body, Vec3::new(0.5, 1.01, 0.5) * half);
        level.ask(|query| {
            let across = if dimension == 2 {
                0.0
            } else {
                rng.random_range(0.0..1.0)
            };
            let step = Vec3::new(1.0, -0.3, across) * 0.27 * size;
            for _ in 0..100 {
                let slide = walker.go(query, step);
                let error = (slide.translation - step) * Vec3::new(1.0, 0.0, 1.0);
                assert!(
                    error.length() < 1e-3 * size,
                    "case {number}, {dimension}D: {error}"
                );
                let mut hits = slide.hits().iter();
                assert!(
                    hits.all(|hit| hit.normal.distance(Vec3::Y) < 1e-3),
                    "{:?}",
                    slide.hits()
                );
            }
        });
    });
}

#[test]
fn a_body_walks_up_a_slope_that_spans_several_cells() {
    // A half slope of two cells, on blocks.
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(-5, -1), IVec2::new(20, -1), Cell::SOLID)
        .unwrap();
    for step in 0..4 {
        let x = 2 * step;
        grid.fill(IVec2::new(x, 0), IVec2::new(20, step), Cell::SOLID)
            .unwrap();
        grid.set(IVec2::new(x, step), Cell::slope(0, 4));
        grid.set(IVec2::new(x + 1, step), Cell::slope(4, 8));
    }
    let mut level = Level::new([(Collider::cells(&grid), Transform::IDENTITY)]);
    let mut walker = Walker::new(Collider::capsule_2d(0.3, 0.6), Vec3::new(-2.0, 0.7, 0.0));
    level.ask(|query| {
        walker.land(query);
        for _ in 0..200 {
            let slide = walker.go(query, Vec3::new(0.05, 0.0, 0.0));
            assert!(slide.translation.x > 0.03, "{slide:?}");
        }
        // The sphere at the lower end of the capsule touches the slope beside its lowest point.
        let Vec3 { x, y, .. } = walker.pose.translation;
        let expected = 0.5 * x + 0.3 + 0.3 * 1.25_f32.sqrt();
        assert!(
            (y - expected).abs() < 0.01 && x > 6.0,
            "{x}, {y}, not {expected}"
        );
    });
}
