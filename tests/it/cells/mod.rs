//! Tests worlds of cells against a brute-force oracle in f64, which tests each cell by itself and
//! shares no code with the library. Half of the random unions are joined compounds, with a part for
//! each cell.
//!
//! `cargo test` runs a small number of random grids. To run more, for each test and dimension:
//!
//! ```text
//! HEADBUTT_CELLS=1000000 cargo test --release --test it cells:: -- --nocapture
//! ```

mod bodies;
mod contacts;
pub mod edits;
pub mod exits;
mod grids;
mod invalid;
mod ledges;
mod materials;
pub mod oracle;
mod parts;
mod rays_and_casts;
mod walks;

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::cases::cases;
use oracle::{Point, Tile, Union};

/// Runs a test for random cases in both dimensions.
pub fn for_cases(usual: usize, test: impl Fn(&mut StdRng, usize, usize)) {
    for dimension in [2, 3] {
        for number in cases("HEADBUTT_CELLS", usual) {
            let seed = (number * 2 + dimension) as u64;
            test(&mut StdRng::seed_from_u64(seed), dimension, number);
        }
    }
}

/// Returns a random union near the origin. If `slopes` is `false`, all tiles are full. Otherwise,
/// some tiles are slopes, and others have one of a few random shapes.
pub fn random_union(rng: &mut StdRng, dimension: usize, slopes: bool) -> Union {
    let size = [1.0, 16.0, 0.3][rng.random_range(0..3)];
    let extent = if dimension == 2 { 5 } else { 3 };
    let density = rng.random_range(0.2..0.95);
    let mut tiles = Vec::new();
    let shapes: Vec<_> = (0..3).map(|_| random_shape(rng, dimension, size)).collect();
    let depth = if dimension == 2 { 1 } else { extent };
    for (x, y, z) in
        (0..extent).flat_map(|x| (0..extent).flat_map(move |y| (0..depth).map(move |z| (x, y, z))))
    {
        if rng.random_bool(density) {
            let tile = match rng.random_range(0..10) {
                0..3 if slopes => random_slope(rng, dimension),
                3..6 if slopes => Tile {
                    shape: Some(rng.random_range(0..3)),
                    ..Tile::FULL
                },
                _ => Tile::FULL,
            };
            tiles.push(([x - 2, y - 2, if dimension == 2 { 0 } else { z - 1 }], tile));
        }
    }
    if tiles.is_empty() {
        tiles.push(([0; 3], Tile::FULL));
    }
    let mut union = Union::new(dimension, size, &shapes, tiles);
    union.is_compound = rng.random_bool(0.5);
    union
}

fn random_slope(rng: &mut StdRng, dimension: usize) -> Tile {
    Tile {
        heights: [rng.random_range(0..=8), rng.random_range(1..=8)],
        along_z: dimension == 3 && rng.random_bool(0.5),
        hanging: rng.random_bool(0.3),
        shape: None,
    }
}

/// Returns the corners of a random shape in a cell. Many corners are on a side of the cell.
fn random_shape(rng: &mut StdRng, dimension: usize, size: f64) -> Vec<Vec3> {
    loop {
        let count = rng.random_range(dimension + 1..dimension + 6);
        let mut coordinate = || match rng.random_range(0..10) {
            0..5 => f64::from(rng.random_range(0..2)),
            5..7 => f64::from(rng.random_range(0..=8)) / 8.0,
            7..9 => f64::from(rng.random_range(0..=3)) / 3.0,
            _ => rng.random_range(0.0..1.0),
        };
        let corners: Vec<Vec3> = (0..count)
            .map(|_| {
                let corner = [coordinate(), coordinate(), coordinate()];
                let [x, y, z] = corner.map(|it| ((it - 0.5) * size) as f32);
                Vec3::new(x, y, if dimension == 2 { 0.0 } else { z })
            })
            .collect();
        if volume(dimension, &corners) > 0.01 * size.powi(dimension as i32) {
            return corners;
        }
    }
}

/// Returns the greatest area of a triangle (in 3D, volume of a tetrahedron) of some points, times 2
/// (in 3D, 6).
fn volume(dimension: usize, corners: &[Vec3]) -> f64 {
    let mut greatest = 0.0_f64;
    for (a, b) in corners
        .iter()
        .flat_map(|a| corners.iter().map(move |b| (*a, *b)))
    {
        for c in corners {
            let across = (b - a).as_dvec3().cross((c - a).as_dvec3());
            if dimension == 2 {
                greatest = greatest.max(across.z.abs());
            } else {
                let volumes = corners.iter().map(|d| across.dot((d - a).as_dvec3()).abs());
                greatest = volumes.fold(greatest, f64::max);
            }
        }
    }
    greatest
}

/// Returns a random point in and around a union.
pub fn random_point(rng: &mut StdRng, union: &Union) -> Point {
    let mut coordinate = || rng.random_range(-4.0..5.0) * union.size;
    let point = [coordinate(), coordinate(), coordinate()];
    union.flat(point)
}

/// Returns a random unit vector.
pub fn random_direction(rng: &mut StdRng, dimension: usize) -> Point {
    loop {
        let mut component = || rng.random_range(-1.0..1.0);
        let mut vector = [component(), component(), component()];
        if dimension == 2 {
            vector[2] = 0.0;
        }
        let length = oracle::dot(vector, vector).sqrt();
        if (0.1..1.0).contains(&length) {
            return vector.map(|it| it / length);
        }
    }
}

/// Returns a vector in f32, and the f64 vector that it stands for.
pub fn rounded(point: Point) -> (Vec3, Point) {
    let vector = Vec3::from_array(point.map(|it| it as f32));
    (vector, vector.to_array().map(f64::from))
}

fn in_f64(vector: Vec3) -> Point {
    vector.to_array().map(f64::from)
}

/// Returns a ball of this radius in the dimension of a union.
pub fn ball(dimension: usize, radius: f32) -> Collider {
    if dimension == 2 {
        Collider::circle(radius)
    } else {
        Collider::sphere(radius)
    }
}
