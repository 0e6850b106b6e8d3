//! A bumpy terrain.

use bevy::math::{Vec2, Vec3};
use headbutt_bench::motion::Noise;

use crate::triangles::Triangles;

/// The edge of a cell.
const CELL: f32 = 0.4;

pub struct Terrain {
    cells: usize,
    pub triangles: Triangles,
}

impl Terrain {
    /// Creates a terrain of hills with bumps.
    pub fn new(cells: usize) -> Self {
        let edge = cells as f32 * CELL;
        let row = cells + 1;
        let vertices = (0..row * row).map(|number| {
            let at = |line: usize| line as f32 * CELL - 0.5 * edge;
            let place = Vec2::new(at(number % row), at(number / row));
            let bump = 0.05 * Noise::new(number as u32, 0).signed();
            Vec3::new(place.x, hills(place) + bump, place.y)
        });
        let triangles = (0..cells * cells).flat_map(|cell| {
            let corner = (cell / cells * row + cell % cells) as u32;
            let below = corner + row as u32;
            [[corner, below, corner + 1], [corner + 1, below, below + 1]]
        });
        Self {
            cells,
            triangles: Triangles {
                vertices: vertices.collect(),
                numbers: triangles.collect(),
            },
        }
    }

    /// The coordinates x and z.
    pub fn edge(&self) -> f32 {
        self.cells as f32 * CELL
    }

    /// The height of the hills, without bumps.
    pub fn height(&self, place: Vec2) -> f32 {
        hills(place)
    }
}

fn hills(place: Vec2) -> f32 {
    1.5 * (0.21 * place.x).sin() * (0.17 * place.y).cos() + 0.3 * (0.9 * place.x + place.y).sin()
}
