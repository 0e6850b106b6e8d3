//! Tests of the direction table of a hull, and of the surface of a hull on the grid. Separate
//! integer arithmetic checks that the surface is closed and convex, and loses no point.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "a test may panic")]

#[path = "../../../tests/support/points.rs"]
mod points;

use std::collections::HashSet;

use rand::{SeedableRng, rngs::StdRng};

use self::points::{points_of_kind, random_point};
use super::*;
use crate::math::{DVec3, Vec3};

/// Returns points spread evenly over the unit sphere: a spiral with the golden angle.
fn ball(vertices: usize) -> Vec<Vec3> {
    let point = |index| {
        let z = 1.0 - (2 * index + 1) as f32 / vertices as f32;
        let (sine, cosine) = (index as f32 * 2.399_963_2).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        Vec3::new(radius * cosine, radius * sine, z)
    };
    (0..vertices).map(point).collect()
}

/// Returns the mean and the maximum number of vertices that the table lists for a direction.
fn listed(vertices: usize) -> Result<(f64, usize), ShapeError> {
    let hull = ConvexHull::new(ball(vertices))?;
    assert_eq!(hull.points().len(), vertices);
    let FarthestSearch::Table(table) = hull.search else {
        return Ok((0.0, 0));
    };
    let steps = 10_000;
    let counts: Vec<usize> = (0..steps)
        .map(|step| {
            let time = step as f64 * 0.01;
            let direction = [time.cos(), (0.7 * time).sin(), (0.31 * time).cos() + 0.1];
            let list = table.candidates(DVec3::from_array(direction));
            list.map_or(vertices, <[u32]>::len)
        })
        .collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    Ok((counts.iter().sum::<usize>() as f64 / steps as f64, most))
}

#[test]
fn the_table_lists_few_vertices_however_many_there_are() {
    for vertices in [MAX_SCANNED + 1, 500, 2_000, 10_000] {
        let (mean, most) = listed(vertices).unwrap_or_default();
        assert!(
            (1.0..=8.0).contains(&mean) && most <= 16,
            "{vertices} vertices: mean {mean}, maximum {most}"
        );
    }
}

#[test]
fn few_vertices_are_scanned_in_blocks() {
    let search = |vertices| ConvexHull::new(ball(vertices)).map(|hull| hull.search);
    assert!(matches!(search(8), Ok(FarthestSearch::Blocks(_))));
    assert!(matches!(search(MAX_SCANNED), Ok(FarthestSearch::Blocks(_))));
}

/// Returns six times the volume of a tetrahedron.
fn volume(grid: &GridPoints, corners: [usize; 4]) -> i128 {
    let [a, b, c, d] = corners.map(|index| {
        grid.points[index].to_array().map(|coordinate| {
            assert!(coordinate.fract() == 0.0 && coordinate.abs() <= 2.0_f64.powi(40));
            coordinate as i128
        })
    });
    let [b, c, d] = [b, c, d].map(|point: [i128; 3]| [0, 1, 2].map(|axis| point[axis] - a[axis]));
    let minor = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
    d[0] * minor(1, 2) + d[1] * minor(2, 0) + d[2] * minor(0, 1)
}

/// Returns the distance of a point from a triangle.
fn distance(point: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a);
    let sides = [(a, b), (b, c), (c, a)];
    let to_side = sides.map(|(start, end)| {
        let side = end - start;
        let along = (point - start).dot(side) / side.length_squared();
        point.distance(start + side * along.clamp(0.0, 1.0))
    });
    let is_over =
        |(start, end): &(DVec3, DVec3)| normal.cross(end - start).dot(point - start) >= 0.0;
    let to_plane = if sides.iter().all(is_over) {
        (normal.dot(point - a) / normal.length()).abs()
    } else {
        f64::INFINITY
    };
    to_side.into_iter().fold(to_plane, f64::min)
}

#[test]
fn the_surface_of_a_hull_is_closed_and_convex_and_loses_no_point() {
    let mut random = StdRng::seed_from_u64(1);
    let (mut solids, mut dropped) = (0, 0);
    for kind in 0..20_000 {
        let points = points_of_kind(kind, &mut random);
        let grid = || GridPoints::new(&points);
        let Some(AffineHull::Solid(start)) = grid().and_then(|grid| AffineHull::of(&grid)) else {
            continue;
        };
        solids += 1;
        let surface = grid().and_then(|grid| HullSurface::with_few_vertices(grid, start));
        let (Some(grid), Some(surface)) = (grid(), surface) else {
            panic!("{kind}: no surface of {points:?}");
        };
        let triangles: Vec<[usize; 3]> =
            surface.triangles().map(|(triangle, _)| triangle).collect();
        let vertices = surface.vertices();
        let edges = triangles
            .iter()
            .flat_map(|triangle| solid::edges(*triangle));
        let edges: HashSet<[usize; 2]> = edges.collect();
        assert_eq!(edges.len(), 3 * triangles.len(), "{kind}: an edge twice");
        let is_paired = |[start, end]: &[usize; 2]| edges.contains(&[*end, *start]);
        assert!(edges.iter().all(is_paired), "{kind}: not closed");
        // By Euler's formula, the surface has half as many vertices as triangles, plus 2.
        assert_eq!(2 * vertices.len(), 4 + triangles.len(), "{kind}");
        for (index, point) in grid.points.iter().enumerate() {
            let is_above = |[a, b, c]: &&[usize; 3]| volume(&grid, [*a, *b, *c, index]) > 0;
            if triangles.iter().find(is_above).is_none() {
                continue;
            }
            assert!(!vertices.contains(&index), "{kind}: not convex at {index}");
            dropped += 1;
            let positions = |triangle: &[usize; 3]| triangle.map(|vertex| grid.points[vertex]);
            let distances = triangles
                .iter()
                .map(|triangle| distance(*point, positions(triangle)));
            let off = distances.fold(f64::INFINITY, f64::min);
            assert!(
                off <= grid.tolerance + 0.01,
                "{kind}: {off} of {}",
                grid.tolerance
            );
        }
    }
    assert!(solids > 10_000 && dropped > 10_000, "{solids} {dropped}");
}

#[test]
fn the_center_of_a_hull_is_inside() {
    let mut random = StdRng::seed_from_u64(2);
    for kind in 0..20_000 {
        let points = points_of_kind(kind, &mut random);
        let hull = ConvexHull::new(points.iter().copied());
        let Ok(hull) = hull else { continue };
        let center = hull.center();
        for _ in 0..20 {
            let direction = random_point(&mut random).as_dvec3();
            let vertices = hull.points().iter().map(|vertex| vertex.as_dvec3());
            let heights = vertices.map(|vertex| (vertex - center).dot(direction));
            assert!(
                heights.fold(0.0, f64::max) > 0.0 || hull.points().len() == 1,
                "{kind}"
            );
        }
    }
}
