//! Tests worlds of cells against a brute-force oracle in f64, which tests each cell by itself and
//! shares no code with the library. Half of the random unions are joined compounds, with a part for
//! each cell.
//!
//! `cargo test` runs a small number of random grids. To run more, for each test and dimension:
//!
//! ```text
//! HEADBUTT_CELLS=1000000 cargo test --release --test it cells:: -- --nocapture
//! ```

mod contacts;
pub mod edits;
mod exits;
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

/// Returns a random union near the origin. If `slopes` is `false`, all tiles are full.
pub fn random_union(rng: &mut StdRng, dimension: usize, slopes: bool) -> Union {
    let size = [1.0, 16.0, 0.3][rng.random_range(0..3)];
    let extent = if dimension == 2 { 5 } else { 3 };
    let density = rng.random_range(0.2..0.95);
    let mut tiles = Vec::new();
    let depth = if dimension == 2 { 1 } else { extent };
    for (x, y, z) in
        (0..extent).flat_map(|x| (0..extent).flat_map(move |y| (0..depth).map(move |z| (x, y, z))))
    {
        if rng.random_bool(density) {
            let tile = if slopes && rng.random_bool(0.4) {
                random_slope(rng, dimension)
            } else {
                Tile::FULL
            };
            tiles.push(([x - 2, y - 2, if dimension == 2 { 0 } else { z - 1 }], tile));
        }
    }
    if tiles.is_empty() {
        tiles.push(([0; 3], Tile::FULL));
    }
    let mut union = Union::new(dimension, size, tiles);
    union.is_compound = rng.random_bool(0.5);
    union
}

fn random_slope(rng: &mut StdRng, dimension: usize) -> Tile {
    Tile {
        heights: [rng.random_range(0..=8), rng.random_range(1..=8)],
        along_z: dimension == 3 && rng.random_bool(0.5),
        hanging: rng.random_bool(0.3),
    }
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
