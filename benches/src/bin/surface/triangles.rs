//! Surfaces, independent of any engine, and bodies on them.

use std::f32::consts::PI;

use bevy::math::{Quat, Vec2, Vec3};
use headbutt_bench::motion::Noise;

pub struct Triangles {
    pub vertices: Vec<Vec3>,
    /// The vertex indices of each triangle.
    pub numbers: Vec<[u32; 3]>,
}

impl Triangles {
    /// A scanned body: a sphere with dents and noise, with triangles of similar size.
    pub fn scan(radius: f32, rings: usize) -> Self {
        // Rings from pole to pole. The number of vertices is proportional to the length.
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
        let mut numbers = Vec::new();
        let mut first = 0;
        for ring in counts.windows(2) {
            let [upper, lower] = [ring[0], ring[1]];
            let second = first + upper;
            let (mut i, mut j) = (0, 0);
            while i < upper || j < lower {
                let [a, b] = [first + i % upper, second + j % lower];
                // Continue along the ring that is behind.
                let next = if j == lower || i < upper && (i + 1) * lower <= (j + 1) * upper {
                    i += 1;
                    first + i % upper
                } else {
                    j += 1;
                    second + j % lower
                };
                numbers.push([a, next, b].map(|it| it as u32));
            }
            first = second;
        }
        Self { vertices, numbers }
    }

    /// Returns the poses of balls of one radius on the surface, about a tenth deep. In each tick
    /// they are somewhere else, or move a little.
    pub fn places(&self, count: usize, radius: f32, tick: u32, is_coherent: bool) -> Vec<Vec3> {
        let place = |ball: u32| {
            let mut noise = Noise::new(ball, if is_coherent { 0 } else { tick + 1 });
            let part = 0.5 + 0.5 * noise.signed();
            let last = self.numbers.len() - 1;
            let number = self.numbers[((part * last as f32) as usize).min(last)];
            let [a, b, c] = number.map(|it| self.vertices[it as usize]);
            let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
            let middle = (a + b + c) / 3.0 + normal * radius * (0.9 + 0.05 * noise.signed());
            if !is_coherent {
                return middle;
            }
            let turn = Quat::from_rotation_arc(Vec3::Y, normal);
            let around = Vec2::from_angle(0.1 * tick as f32);
            middle + turn * Vec3::new(around.x, 0.0, around.y) * 0.1 * radius
        };
        (0..count as u32).map(place).collect()
    }
}
