//! Grounds, independent of any engine, and poses of bodies on them.

use std::f32::consts::PI;

use bevy::prelude::*;
use headbutt_bench::motion::Noise;

/// A mesh of triangles.
pub struct Ground {
    pub name: String,
    pub vertices: Vec<Vec3>,
    /// The vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl Ground {
    /// Returns a square of `cells` by `cells` cells around the origin. `width` is the width of a
    /// cell.
    fn grid(name: &str, cells: usize, width: f32, height: impl Fn(Vec2) -> f32) -> Self {
        let row = cells + 1;
        let at = |line: usize| (line as f32 - 0.5 * cells as f32) * width;
        let vertices = (0..row * row).map(|index| {
            let place = Vec2::new(at(index % row), at(index / row));
            Vec3::new(place.x, height(place), place.y)
        });
        let triangles = (0..cells * cells).flat_map(|cell| {
            let corner = (cell / cells * row + cell % cells) as u32;
            let below = corner + row as u32;
            [[corner, below, corner + 1], [corner + 1, below, below + 1]]
        });
        Self {
            name: name.into(),
            vertices: vertices.collect(),
            triangles: triangles.collect(),
        }
    }

    /// Returns a flat floor, cut into cells of the given width.
    pub fn floor(width: f32) -> Self {
        let cells = ((16.0 / width) as usize).max(1);
        Self::grid(&format!("floor, cells of {width}"), cells, width, |_| 0.0)
    }

    /// Returns bumpy hills of `cells` by `cells` cells of the given width.
    pub fn hills(width: f32, cells: usize) -> Self {
        Self::grid(&format!("hills, cells of {width}"), cells, width, |place| {
            let waves = 1.5 * (0.21 * place.x).sin() * (0.17 * place.y).cos();
            let bump = Noise::new(place.x.to_bits() ^ place.y.to_bits().rotate_left(16), 0);
            let mut bump = bump;
            waves + 0.3 * (0.9 * place.x + place.y).sin() + 0.125 * width * bump.signed()
        })
    }

    /// Returns a scanned body: a sphere with dents and noise, with triangles of similar size.
    pub fn scan(radius: f32, rings: usize) -> Self {
        // The vertices form rings from pole to pole. Their number on a ring is proportional to the
        // ring's length.
        let count = |ring: usize| (2 * rings) as f32 * (PI * ring as f32 / rings as f32).sin();
        let counts: Vec<usize> = (0..=rings)
            .map(|ring| (count(ring).round() as usize).max(3))
            .collect();
        let mut vertices = Vec::new();
        for (ring, count) in counts.iter().enumerate() {
            let (sin, cos) = (PI * ring as f32 / rings as f32).sin_cos();
            for step in 0..*count {
                let around = Vec2::from_angle(2.0 * PI * step as f32 / *count as f32);
                let place = Vec3::new(sin * around.x, cos, sin * around.y);
                let noise = Noise::new(vertices.len() as u32, 0).signed();
                let dents = 0.03 * (9.0 * place.x).sin() * (7.0 * place.y).cos()
                    + 0.02 * (13.0 * place.z).sin()
                    + 0.2 / rings as f32 * noise;
                vertices.push(place * radius * (1.0 + dents));
            }
        }
        let mut triangles = Vec::new();
        let mut first = 0;
        for ring in counts.windows(2) {
            let [upper, lower] = [ring[0], ring[1]];
            let second = first + upper;
            let (mut i, mut j) = (0, 0);
            while i < upper || j < lower {
                let [a, b] = [first + i % upper, second + j % lower];
                // The next triangle continues along the ring that is behind.
                let next = if j == lower || i < upper && (i + 1) * lower <= (j + 1) * upper {
                    i += 1;
                    first + i % upper
                } else {
                    j += 1;
                    second + j % lower
                };
                triangles.push([a, next, b].map(|it| it as u32));
            }
            first = second;
        }
        Self {
            name: "scan".into(),
            vertices,
            triangles,
        }
    }

    /// Returns a part like the export of a CAD program: a disc with teeth, made of long thin
    /// triangles.
    pub fn part() -> Self {
        let (teeth, radii) = (24, [6.0, 7.0]);
        let steps = 4 * teeth;
        let mut vertices = vec![Vec3::Y * 0.75, -Vec3::Y * 0.75];
        for step in 0..steps {
            let around = Vec2::from_angle(2.0 * PI * step as f32 / steps as f32);
            let around = around * radii[usize::from(step % 4 > 1)];
            vertices.extend([0.75, -0.75].map(|y| Vec3::new(around.x, y, around.y)));
        }
        let triangles = (0..steps as u32).flat_map(|step| {
            let [upper, lower] = [2 + 2 * step, 3 + 2 * step];
            let next = 2 + 2 * ((step + 1) % steps as u32);
            let [next_upper, next_lower] = [next, next + 1];
            [
                [0, next_upper, upper],
                [1, lower, next_lower],
                [upper, next_upper, lower],
                [lower, next_upper, next_lower],
            ]
        });
        Self {
            name: "part".into(),
            triangles: triangles.collect(),
            vertices,
        }
    }

    /// Returns rooms of size 4 by 4. Each floor and each wall has two triangles. Some walls are
    /// missing.
    pub fn dungeon() -> Self {
        let mut ground = Self {
            name: "dungeon".into(),
            vertices: Vec::new(),
            triangles: Vec::new(),
        };
        let mut quad = |corner: Vec3, one: Vec3, other: Vec3| {
            let first = ground.vertices.len() as u32;
            let corners = [Vec3::ZERO, one, one + other, other];
            ground.vertices.extend(corners.map(|it| corner + it));
            let triangles = [[0, 1, 2], [0, 2, 3]];
            let triangles = triangles.map(|it| it.map(|index| first + index));
            ground.triangles.extend(triangles);
        };
        for x in 0..8 {
            for z in 0..8 {
                let mut noise = Noise::new(8 * x + z, 1);
                let height = if noise.signed() > 0.6 { 0.5 } else { 0.0 };
                let corner = Vec3::new(4.0 * x as f32, height, 4.0 * z as f32);
                quad(corner, Vec3::Z * 4.0, Vec3::X * 4.0);
                if noise.signed() > -0.2 {
                    quad(corner.with_y(0.0), Vec3::X * 4.0, Vec3::Y * 3.0);
                }
                if noise.signed() > -0.2 {
                    quad(corner.with_y(0.0), Vec3::Y * 3.0, Vec3::Z * 4.0);
                }
            }
        }
        ground
    }

    /// Returns poses of bodies that stand on triangles, and overlap these triangles a little.
    /// `half_height` is half of a body's height.
    pub fn poses(&self, count: usize, half_height: f32, tick: u32) -> Vec<Transform> {
        let pose = |body: u32| {
            let mut noise = Noise::new(body, tick + 1);
            let mut part = || 0.5 + 0.5 * noise.signed();
            let last = self.triangles.len() - 1;
            let triangle = self.triangles[((part() * last as f32) as usize).min(last)];
            let [a, b, c] = triangle.map(|it| self.vertices[it as usize]);
            let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
            let (mut u, mut v) = (part(), part());
            if u + v > 1.0 {
                (u, v) = (1.0 - u, 1.0 - v);
            }
            let place = a + (b - a) * u + (c - a) * v + normal * half_height * 0.94;
            let yaw = Quat::from_rotation_y(2.0 * PI * part());
            let rotation = Quat::from_rotation_arc(Vec3::Y, normal) * yaw;
            Transform::from_translation(place).with_rotation(rotation)
        };
        (0..count as u32).map(pose).collect()
    }
}
