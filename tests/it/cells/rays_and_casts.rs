//! Rays and casts of balls.

use bevy::prelude::*;
use headbutt::{
    ConvexHull,
    prelude::*,
    query::{CastOptions, CastStatus, Motion, Ray, RayHit, RaySide},
};
use rand::{Rng, rngs::StdRng};

use super::{
    ball, for_cases, in_f64,
    oracle::{self, Union, add, scale},
    random_direction, random_point, random_union, rounded,
};

/// Casts a ray at a union.
fn cast_ray(
    level: &Collider,
    dimension: usize,
    origin: Vec3,
    direction: Vec3,
) -> Option<RayHit<Vec3>> {
    if dimension == 3 {
        return query::cast_ray(level, Vec3::ZERO, Ray::new(origin, direction));
    }
    let ray = Ray::new(origin.truncate(), direction.truncate());
    let hit = query::cast_ray(level, Vec2::ZERO, ray)?;
    Some(RayHit {
        distance: hit.distance,
        point: hit.point.extend(0.0),
        normal: hit.normal.extend(0.0),
        side: hit.side,
        part: hit.part,
    })
}

#[test]
fn a_ray_hits_the_union_where_the_oracle_does() {
    for_cases(300, |rng, dimension, number| {
        let union = random_union(rng, dimension, true);
        let level = union.collider();
        for ray in 0..8 {
            let context = format!("case {number}, {dimension}D, ray {ray}");
            check_ray(rng, &union, &level, &context);
        }
    });
}

fn check_ray(rng: &mut StdRng, union: &Union, level: &Collider, context: &str) {
    let (from, origin) = rounded(random_point(rng, union));
    let (toward, direction) = rounded(random_direction(rng, union.dimension));
    let direction = scale(direction, 1.0 / oracle::length(direction));
    let hit = cast_ray(level, union.dimension, from, toward);
    match union.is_inside(origin) {
        None => {}
        Some(true) => {
            let hit = hit.expect(context);
            assert_eq!(
                (hit.distance, hit.side),
                (0.0, RaySide::Inside),
                "{context}"
            );
        }
        Some(false) => {
            let growth = 1e-5 * union.size;
            let (early, late) = (
                union.ray(origin, direction, growth),
                union.ray(origin, direction, -growth),
            );
            let distance = hit.map_or(f64::INFINITY, |hit| f64::from(hit.distance));
            let tolerance = 1e-4 * union.size;
            assert!(
                (early - tolerance..=late + tolerance).contains(&distance)
                    || distance == f64::INFINITY && late == f64::INFINITY,
                "{context}: {distance}, expected {early} to {late}"
            );
            // At an edge, another face may be as near.
            if let Some(hit) = hit
                && late - early < 1e-3 * union.size
            {
                let point = in_f64(hit.point);
                let tile = union.tile_of(level, hit.part);
                let behind = add(point, scale(in_f64(hit.normal), -1e-4 * union.size));
                let tiles = union.tiles.iter().filter(|(at, _)| *at == tile);
                let own = union.of_tiles(tiles.copied().collect());
                assert!(
                    own.tile_at(behind, 1e-4 * union.size).is_some(),
                    "{context}: the tile {tile:?} is not hit at {point:?}"
                );
            }
        }
    }
}

#[test]
fn a_hollow_ray_from_inside_hits_where_it_leaves() {
    let mut grid = CellGrid::new(Vec3::ONE);
    grid.fill(IVec3::ZERO, IVec3::splat(3), Cell::SOLID)
        .unwrap();
    let level = Collider::cells(&grid);
    let ray = Ray::new(Vec3::new(1.3, 1.6, 1.7), Vec3::X).hollow();
    let hit = query::cast_ray(&level, Vec3::ZERO, ray).unwrap();
    assert_eq!((hit.distance, hit.side), (2.7, RaySide::Back));
    assert_eq!(hit.normal, Vec3::NEG_X);
    // The seams between the cells, at 2, 3 and 4, are no hits from outside, either.
    let through = Ray::new(Vec3::new(-1.0, 1.6, 1.7), Vec3::X).hollow();
    assert_eq!(
        query::cast_ray(&level, Vec3::ZERO, through)
            .unwrap()
            .distance,
        1.0
    );
}

#[test]
fn a_ray_from_just_inside_never_passes_through() {
    let mut grid = CellGrid::new(Vec3::ONE);
    grid.fill(IVec3::new(100, 0, 0), IVec3::new(109, 9, 9), Cell::SOLID)
        .unwrap();
    let block = Collider::cells(&grid);
    let mut origin = Vec3::new(100.0, 4.4, 5.3);
    for direction in [Vec3::X, Vec3::new(1.0, 0.3, -0.2), Vec3::new(0.1, 1.0, 0.0)] {
        origin.x = 100.0;
        for _ in 0..40 {
            // A ray along the lower side counts as outside.
            let y = if direction == Vec3::X { 0.1 } else { 1e-5 };
            for position in [origin, origin.with_y(y)] {
                let ray = Ray::new(position, direction);
                let hit = query::cast_ray(&block, Vec3::ZERO, ray).unwrap();
                assert_eq!(hit.distance, 0.0, "{position} {direction}");
            }
            // Out of the face, a ray hits nothing, or counts as inside.
            let out = query::cast_ray(&block, Vec3::ZERO, Ray::new(origin, -direction));
            assert!(out.is_none_or(|hit| hit.side == RaySide::Inside));
            origin.x = origin.x.next_up();
        }
    }
    // In a corner of two faces, a ray enters the face that it points into.
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(90, 0), IVec2::new(109, 0), Cell::SOLID)
        .unwrap();
    grid.fill(IVec2::new(100, 1), IVec2::new(109, 9), Cell::SOLID)
        .unwrap();
    let corner = Collider::cells(&grid);
    for steps in 0..20 {
        let shift = 4e-6 * steps as f32;
        let origin = Vec2::new(100.0 + shift, 1.0 - shift);
        let ray = Ray::new(origin, Vec2::new(1.0, 1.0));
        let hit = query::cast_ray(&corner, Vec2::ZERO, ray).unwrap();
        assert_eq!(hit.distance, 0.0, "{origin}");
    }
}

#[test]
fn a_ray_along_the_ground_hits_nothing() {
    let mut grid = CellGrid::new(Vec2::splat(0.3));
    grid.fill(IVec2::ZERO, IVec2::new(99, 0), Cell::SOLID)
        .unwrap();
    let ground = Collider::cells(&grid);
    let height = 0.3;
    let along = Ray::new(Vec2::new(0.15, height), Vec2::X);
    assert_eq!(query::cast_ray(&ground, Vec2::ZERO, along), None);
    let up = Ray::new(Vec2::new(0.45, height), Vec2::Y);
    assert_eq!(query::cast_ray(&ground, Vec2::ZERO, up), None);
    let down = Ray::new(Vec2::new(0.45, height), Vec2::NEG_Y);
    assert_eq!(
        query::cast_ray(&ground, Vec2::ZERO, down).unwrap().distance,
        0.0
    );
}

/// The origin is meant to be on the ground, and rounding places it just below.
#[test]
fn a_ray_along_the_ground_hits_the_wall_on_it() {
    let mut grid = CellGrid::new(Vec2::splat(0.3));
    grid.fill(IVec2::ZERO, IVec2::new(99, 2), Cell::SOLID)
        .unwrap();
    grid.fill(IVec2::new(50, 3), IVec2::new(55, 6), Cell::SOLID)
        .unwrap();
    let level = Collider::cells(&grid);
    for height in [0.9_f32.next_down(), 0.9, 0.9_f32.next_up()] {
        let along = Ray::new(Vec2::new(0.15, height), Vec2::X);
        let hit = query::cast_ray(&level, Vec2::ZERO, along).unwrap();
        assert!((hit.distance - 14.85).abs() < 1e-5, "{height}: {hit:?}");
        assert_eq!(hit.normal, Vec2::NEG_X, "{height}");
    }
}

#[test]
fn a_ball_touches_the_union_first_where_the_oracle_does() {
    for_cases(150, |rng, dimension, number| {
        let union = random_union(rng, dimension, true);
        let level = union.collider();
        let radius = rng.random_range(0.05..0.8) * union.size as f32;
        let shape = ball(dimension, radius);
        for cast in 0..4 {
            let context = format!("case {number}, {dimension}D, cast {cast}");
            let (from, center) = rounded(random_point(rng, &union));
            let length = rng.random_range(0.5..8.0) * union.size;
            let motion = scale(random_direction(rng, dimension), length);
            let (translation, motion) = rounded(motion);
            let hit = query::cast_shape(
                &level,
                Vec3::ZERO,
                Vec3::ZERO,
                &shape,
                from,
                translation,
                CastOptions::default(),
            );
            let (radius, tolerance) = (f64::from(radius), 1e-4 * union.size);
            if union.is_inside(center) == Some(true) {
                let hit = hit.expect(&context);
                assert_eq!(hit.status, CastStatus::Overlapping, "{context}");
                continue;
            }
            let (distance, _) = union.nearest(center);
            if (distance - radius).abs() < tolerance || distance < tolerance {
                continue;
            }
            let deep = union.ball_enters(center, motion, radius - tolerance);
            let Some(hit) = hit else {
                assert_eq!(deep, None, "{context}");
                continue;
            };
            if distance < radius {
                assert_eq!(hit.status, CastStatus::Overlapping, "{context}");
                continue;
            }
            let at = add(center, scale(motion, hit.touching));
            let (gap, nearest) = union.nearest(at);
            let tile = union.tile_of(&level, hit.part);
            let tiles = union.tiles.iter().filter(|(position, _)| *position == tile);
            let own = union.of_tiles(tiles.copied().collect());
            assert!(
                own.nearest(at).0 <= radius + tolerance,
                "{context}: the tile {tile:?} is not touched"
            );
            assert!(
                (gap - radius).abs() <= tolerance,
                "{context}: gap {gap}, {radius}"
            );
            let earlier = deep.is_none_or(|deep| deep >= hit.touching - 1e-6);
            assert!(earlier, "{context}: {deep:?} before {}", hit.touching);
            let normal = scale(oracle::sub(at, nearest), 1.0 / gap);
            let cosine = oracle::dot(normal, in_f64(hit.contact.normal));
            // Several points may be equally near.
            if cosine < 1.0 - 1e-4 {
                let foot = add(at, scale(in_f64(hit.contact.normal), -radius));
                let (distance, _) = union.nearest(foot);
                assert!(
                    distance <= 2.0 * tolerance,
                    "{context}: no surface at the foot"
                );
            }
            // In front of the face, there is no tile.
            let face = in_f64(hit.face_normal);
            if oracle::dot(face, normal) > 1.0 - 1e-9 {
                let front = add(nearest, scale(face, 1e-3 * union.size));
                assert_eq!(union.tile_at(front, -tolerance), None, "{context}");
            }
        }
    });
}

#[test]
fn a_ray_away_from_a_cell_just_below_its_edge_hits_nothing() {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.set(IVec2::ZERO, Cell::SOLID);
    let level = Collider::cells(&grid);
    let below = 1.0_f32.next_down();
    for x in [1.0, 1.0_f32.next_up()] {
        let cast = |x_rate: f32| {
            let ray = Ray::new(Vec2::new(x, below), Vec2::new(x_rate, -0.1));
            query::cast_ray(&level, Vec2::ZERO, ray)
        };
        assert_eq!(cast(1.0), None, "from {x}");
        let hit = cast(-1.0).expect("the ray enters the cell");
        assert!(hit.distance < 1e-6, "{hit:?}");
    }
}

/// The faces are rounded to f32, so some are above the cells and others are below.
#[test]
fn a_flat_ray_between_a_face_and_its_cell_hits_the_face() {
    for row in 0..60 {
        let mut grid = CellGrid::new(Vec2::splat(0.3));
        grid.fill(IVec2::new(0, row), IVec2::new(40, row), Cell::SOLID)
            .unwrap();
        let level = Collider::cells(&grid);
        let top = 0.3_f32 * (row + 1) as f32;
        for shift in [-3e-8, -1e-8, 0.0, 1e-8, 3e-8] {
            for slope in [-1e-3, -1e-5] {
                let from = Vec2::new(0.31, top);
                let ray = Ray::new(from, Vec2::new(1.0, slope));
                let hit = query::cast_ray(&level, Vec2::new(0.0, shift), ray);
                let distance = hit.map(|hit| hit.distance);
                assert!(
                    distance.is_some_and(|it| it < 0.01),
                    "row {row}, {shift}, {slope}"
                );
            }
        }
    }
}

/// A corner of a box is moved a little, so that two triangles of a face are nearly in one plane.
#[test]
fn a_ray_hits_each_point_of_a_nearly_flat_face() {
    for step in 0..24 {
        let moved = 1e-7 * 1.4_f32.powi(step);
        let corners = (0..8).map(|corner| {
            let sign = |axis: usize| if corner >> axis & 1 == 0 { -0.5 } else { 0.5 };
            let inward = if corner == 7 { moved } else { 0.0 };
            Vec3::new(sign(0) - inward, sign(1), sign(2))
        });
        let hull = ConvexHull::new(corners).unwrap();
        let mut grid = CellGrid::with_shapes(Vec3::ONE, [hull]).unwrap();
        grid.set(IVec3::ZERO, Cell::shape(0));
        let level = Collider::cells(&grid);
        for (y, z) in (0..9).flat_map(|y| (0..9).map(move |z| (y, z))) {
            let [y, z] = [y, z].map(|at| 0.1 * at as f32 + 0.09);
            let ray = Ray::new(Vec3::new(3.0, y, z), Vec3::NEG_X);
            let hit = query::cast_ray(&level, Vec3::ZERO, ray).expect("the face is whole");
            let error = (hit.distance - 2.0).abs();
            assert!(error <= moved + 1e-6, "{moved}, {y}, {z}: {hit:?}");
        }
    }
}

/// A ball that falls onto two edges at once does not touch the tops and sides of the cells.
#[test]
fn a_ball_on_a_pit_touches_its_edges() {
    let pit_2d = [0, 2].map(|x| (IVec2::new(x, -1), Cell::SOLID));
    let mut grid_2d = CellGrid::new(Vec2::ONE);
    grid_2d.extend(pit_2d);
    let mut grid_3d = CellGrid::new(Vec3::ONE);
    let along = |(at, cell): (IVec2, Cell)| (-3..3).map(move |z| (at.extend(z), cell));
    grid_3d.extend(pit_2d.into_iter().flat_map(along));
    let options = CastOptions::default();
    // The edges are at x = 1 and x = 2, and y = 0.
    let bodies = [
        (Collider::circle(0.625), Collider::cells(&grid_2d)),
        (Collider::sphere(0.625), Collider::cells(&grid_3d)),
    ];
    for (ball, level) in bodies {
        for (from, time) in [(2.0, 1.625 / 5.0), (0.375, 0.0)] {
            let (from, down) = (Vec3::new(1.5, from, 0.0), Vec3::new(0.0, -5.0, 0.0));
            let hit = query::cast_motion(
                &ball,
                Motion::linear(from, down),
                &level,
                Vec3::ZERO,
                options,
            );
            let hit = hit.expect("the ball is wider than the pit");
            assert!((hit.touching - time).abs() < 1e-6, "{hit:?}");
            let normal = Vec3::new(0.8_f32.copysign(hit.contact.normal.x), -0.6, 0.0);
            assert!(hit.contact.normal.distance(normal) < 1e-4, "{hit:?}");
        }
    }
}

/// The bodies overlap the corner of a solid at the origin. A plank falls along one of its faces, and
/// a square turns, so that its corner is deepest halfway. Neither may pass.
#[test]
fn a_body_that_overlaps_a_corner_does_not_pass_it() {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(0, -8), IVec2::new(3, -1), Cell::SOLID)
        .expect("a small grid");
    let level = Collider::cells(&grid);
    let quarter = Quat::from_rotation_z(core::f32::consts::FRAC_PI_4);
    let at = |x, y| Transform::from_xyz(x, y, 0.0).with_rotation(quarter);
    let fall = Motion::linear(at(-0.8132, -0.6010), Vec3::new(0.0, -5.0, 0.0));
    let turn = Motion::still(at(-0.3182, 0.3182)).rotated(Vec3::Z * core::f32::consts::FRAC_PI_2);
    let options = CastOptions {
        leave_overlaps: true,
    };
    for (body, motion) in [
        (Collider::rectangle(4.0, 0.4), fall),
        (Collider::rectangle(1.0, 1.0), turn),
    ] {
        let hit = query::cast_motion(&body, motion, &level, Vec3::ZERO, options);
        let hit = hit.expect("the body gets deeper");
        assert_eq!((hit.status, hit.touching), (CastStatus::Overlapping, 0.0));
    }
}
