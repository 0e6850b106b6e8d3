//! Invalid grids, and coordinates at the ends of `i32`.

use bevy::prelude::*;
use headbutt::{ConvexHull, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::cases::cases;

fn error(size: Vec2, position: IVec2) -> ShapeError {
    let mut grid = CellGrid::new(size);
    grid.set(position, Cell::SOLID);
    Collider::try_cells(&grid).unwrap_err()
}

#[test]
fn an_invalid_grid_is_an_error() {
    let size = "size of a cell";
    assert_eq!(
        error(Vec2::new(1.0, 0.0), IVec2::ZERO),
        ShapeError::Zero(size)
    );
    assert_eq!(
        error(Vec2::new(-1.0, 1.0), IVec2::ZERO),
        ShapeError::Negative(size)
    );
    assert_eq!(
        error(Vec2::INFINITY, IVec2::ZERO),
        ShapeError::NotFinite(size)
    );
    assert_eq!(error(Vec2::NAN, IVec2::ZERO), ShapeError::NotFinite(size));
    for sides in [[1e-31, 1.0], [1.0, 1e31], [1e31, 1e31], [1.0, 2e4]] {
        assert_eq!(error(sides.into(), IVec2::ZERO), ShapeError::CellSize);
    }
    for at in [i32::MIN, -16385, 16384, i32::MAX] {
        assert_eq!(
            error(Vec2::ONE, IVec2::new(at, 0)),
            ShapeError::CellOutOfRange
        );
    }
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.set(IVec2::ZERO, Cell::one_way(CellDirection::NegZ));
    assert_eq!(
        Collider::try_cells(&grid).unwrap_err(),
        ShapeError::SlopeAlongZ
    );
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.extend([-16384, 16383].map(|at| (IVec2::splat(at), Cell::SOLID)));
    assert!(Collider::try_cells(&grid).is_ok());
    let whole = (IVec2::MIN, IVec2::MAX);
    assert_eq!(
        grid.fill(whole.0, whole.1, Cell::SOLID),
        Err(ShapeError::TooManyCells)
    );
    assert_eq!(grid.len(), 2);
    assert_eq!(grid.fill(whole.1, whole.0, Cell::EMPTY), Ok(()));
    assert!(grid.is_empty());
    assert!(Collider::cells(&grid).is_inert());
}

#[test]
fn an_invalid_shape_of_a_cell_is_an_error() {
    let error = |corners: &[[f32; 2]]| {
        let hull = ConvexHull::new(corners.iter().copied().map(Vec2::from)).unwrap();
        CellGrid::with_shapes(Vec2::new(2.0, 1.0), [hull]).unwrap_err()
    };
    let too_large = ShapeError::CellShapeTooLarge;
    assert_eq!(error(&[[0.0, 0.0], [1.01, 0.0], [0.0, 0.5]]), too_large);
    assert_eq!(error(&[[0.0, 0.0], [1.0, 0.0], [0.0, -0.51]]), too_large);
    let flat = ShapeError::NotACellShape;
    assert_eq!(error(&[[0.0, 0.0]]), flat);
    assert_eq!(error(&[[0.0, 0.0], [1.0, 0.5]]), flat);
    assert_eq!(error(&[[-1.0, 0.0], [1.0, 0.0], [0.0, 9e-4]]), flat);
    let of_3d = |hull: ConvexHull<Vec3>| CellGrid::with_shapes(Vec3::ONE, [hull]).unwrap_err();
    let flat_hull = ConvexHull::new([Vec3::ZERO, 0.5 * Vec3::X, 0.5 * Vec3::Y]).unwrap();
    assert_eq!(of_3d(flat_hull), flat);
    assert_eq!(
        CellGrid::with_shapes(Vec3::ONE, [Sphere::new(0.5)]).unwrap_err(),
        flat
    );
    let round = ConvexHull::new((0..65).map(|number| {
        let (sine, cosine) = (number as f32 / 65.0 * core::f32::consts::TAU).sin_cos();
        Vec2::new(0.5 * sine, 0.5 * cosine)
    }));
    assert_eq!(
        CellGrid::with_shapes(Vec2::ONE, [round.unwrap()]).unwrap_err(),
        ShapeError::TooManyPoints(64)
    );
    assert_eq!(
        CellGrid::with_shapes(Vec2::NAN, [Rectangle::new(0.5, 0.5)]).unwrap_err(),
        ShapeError::NotFinite("size of a cell")
    );
    let many = |count: usize| (0..count).map(|_| Rectangle::new(1.0, 0.5));
    assert!(CellGrid::with_shapes(Vec2::ONE, many(32767)).is_ok());
    assert_eq!(
        CellGrid::with_shapes(Vec2::ONE, many(32768)).unwrap_err(),
        ShapeError::TooManyCellShapes
    );
}

#[test]
fn an_unknown_shape_of_a_cell_is_an_error() {
    let mut grid = CellGrid::with_shapes(Vec2::ONE, [Rectangle::new(1.0, 0.5)]).unwrap();
    grid.set(IVec2::ZERO, Cell::shape(0));
    let mut level = Collider::cells(&grid);
    for number in [1, 32766, u16::MAX] {
        let set = |grid: &mut CellGrid<Vec2>| grid.set(IVec2::X, Cell::shape(number));
        assert_eq!(level.edit_cells(set), Err(ShapeError::UnknownCellShape));
        assert_eq!(level.grid(), Some(&grid));
    }
    // A table of its own for the same cells.
    let replace = |old: &mut CellGrid<Vec2>| {
        let mut new = CellGrid::with_shapes(Vec2::ONE, [Rectangle::new(1.0, 1.0)]).unwrap();
        new.extend(old.iter());
        *old = new;
    };
    let at = Vec2::new(0.5, 0.9);
    assert!(!level.contains_point(Vec2::ZERO, at));
    level.edit_cells(replace).unwrap();
    assert!(level.contains_point(Vec2::ZERO, at) && level.grid() != Some(&grid));
}

#[test]
fn the_memory_of_a_grid_is_limited() {
    let mut grid = CellGrid::new(Vec2::ONE);
    let end = |chunks: i32| IVec2::new(32 * chunks - 1, 0);
    // A row takes a chunk for each 32 cells.
    let long = grid.fill(IVec2::ZERO, end((1 << 16) + 1), Cell::SOLID);
    assert_eq!(long, Err(ShapeError::TooManyCells));
    grid.set(IVec2::NEG_X, Cell::SOLID);
    let too_long = grid.fill(IVec2::ZERO, end(1 << 16), Cell::SOLID);
    assert_eq!(too_long, Err(ShapeError::TooManyCells));
    assert_eq!(grid.len(), 1);
}

#[test]
fn a_grid_without_cells_keeps_the_size_of_its_cells() {
    let mut grid = CellGrid::new(Vec2::new(2.0, 3.0));
    let level = Collider::cells(&grid);
    assert!(level.is_inert());
    assert_eq!(
        level.grid::<Vec2>().map(CellGrid::cell_size),
        Some(Vec2::new(2.0, 3.0))
    );
    assert!(level.grid::<Vec3>().is_none() && level.material(0).is_none());
    grid.set(IVec2::ZERO, Cell::SOLID);
    assert!(Collider::cells(&grid).contains_point(Vec2::ZERO, Vec2::new(1.0, 2.5)));
    let rounded = level.rounded(0.1);
    assert!(rounded.is_inert() && rounded.grid::<Vec2>().is_some());
}

#[test]
fn random_calls_never_panic() {
    for seed in cases("HEADBUTT_CELLS", 500) {
        let mut rng = StdRng::seed_from_u64(seed as u64);
        let kinds = if seed % 4 < 2 { 4 } else { 1 };
        let mut number = || match 4 - rng.random_range(1..=kinds) {
            0 => [i32::MIN, i32::MIN + 1, i32::MAX, i32::MAX - 1][rng.random_range(0..4)],
            1 => rng.random_range(-16386..-16382),
            2 => rng.random_range(16381..16386),
            _ => rng.random_range(-3..3),
        };
        let positions: Vec<IVec3> = (0..6)
            .map(|_| IVec3::new(number(), number(), number()))
            .collect();
        let valid = [1e-30, 1e-20, 1.0, 1e24];
        let invalid = [0.0, -1.0, 1e-45, 1e-38, f32::MAX, f32::INFINITY, f32::NAN];
        let size = [
            valid[rng.random_range(0..4)],
            invalid[rng.random_range(0..7)],
        ];
        let size = size[usize::from(rng.random_bool(0.2))];
        let ratios = [0; 3].map(|_| [1.0, 1.0, 3.7, 9e3][rng.random_range(0..4)]);
        let size = if seed % 2 == 0 {
            size * Vec3::from_array(ratios)
        } else {
            Vec3::ONE
        };
        let corner = |rng: &mut StdRng| {
            let fractions = [0; 3].map(|_| rng.random_range(-5..=5) as f32 / 10.0);
            size.max(Vec3::splat(f32::MIN_POSITIVE)).min(Vec3::MAX) * Vec3::from_array(fractions)
        };
        let hulls = [0; 2].map(|_| ConvexHull::new([0; 6].map(|_| corner(&mut rng))).unwrap());
        let grid = CellGrid::with_shapes(size, hulls);
        let mut grid = grid.unwrap_or_else(|_| CellGrid::new(size));
        for position in &positions {
            let heights = [rng.random(), rng.random()];
            let cell = match rng.random_range(0..5) {
                0 => Cell::SOLID,
                4 => Cell::shape(rng.random_range(0..10) / 4),
                3 => Cell::one_way(super::ledges::DIRECTIONS[rng.random_range(0..6)]),
                1 => Cell::slope(heights[0], heights[1]),
                _ => Cell::slope_z(heights[0], heights[1]).hanging(),
            };
            grid.set(*position, cell);
            assert_eq!(grid.get(*position).is_empty(), cell.is_empty());
        }
        let _ = grid.fill(positions[0], positions[1], Cell::EMPTY);
        let center = grid.center_of(positions[2]);
        grid.position_of(center);
        let level = Collider::cells(&grid);
        // The faces of large cells are imprecise for a body of size 1.
        let unit = if size.max_element() > 1.0 {
            size.max_element()
        } else {
            1.0
        };
        let shape = Collider::cuboid(unit, 2.0 * unit, 3.0 * unit);
        for at in [Vec3::ZERO, center, Vec3::splat(16383.5) * unit, Vec3::MAX] {
            let touches = query::intersects(&level, Vec3::ZERO, &shape, at);
            let contact = query::contact(&level, Vec3::ZERO, &shape, at);
            // A mere touch at an edge need not have a contact.
            assert!(touches || contact.is_none(), "seed {seed}: {at}");
            let is_inside = level.contains_point(Vec3::ZERO, at);
            assert!(contact.is_some() || !is_inside, "seed {seed}: {at}");
            query::cast_ray(&level, Vec3::ZERO, query::Ray::new(at, Vec3::X));
            assert!(level.cell_2d(seed as u32).is_none());
            assert_eq!(level.material(0).is_some(), level.cell_3d(0).is_some());
        }
    }
}
