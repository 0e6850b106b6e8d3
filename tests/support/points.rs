//! Random points for the tests of hulls.

use std::f32::consts::PI;

use bevy::math::{Quat, Vec3};
use rand::{Rng, rngs::StdRng};

/// Returns a random point of the cube from -1 to 1.
pub fn random_point(random: &mut StdRng) -> Vec3 {
    Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..=1.0)))
}

/// Returns points of one of 64 kinds: clouds, spheres, boxes, lattices, prisms, slabs, needles or
/// clusters. The points may be rotated, moved or scaled, and may have copies, near copies and both
/// zeros.
pub fn points_of_kind(kind: usize, random: &mut StdRng) -> Vec<Vec3> {
    let [x, y, z] = random_point(random).to_array();
    let turn = Quat::from_xyzw(x, y, z, random.random_range(0.1..1.0)).normalize();
    let steps = random.random_range(1..4) as f32;
    let [flat, thin] = [(); 2].map(|()| 10.0_f32.powf(random.random_range(-9.0..0.0)));
    let count = random.random_range(1..60);
    let point = |index: usize| {
        let point = random_point(random);
        let angle = (index / 2) as f32 / count as f32 * 4.0 * PI;
        match kind % 8 {
            0 => point,
            1 => point.normalize_or(Vec3::X),
            2 => (point * steps).round(),
            3 => Vec3::new(
                point.x.signum(),
                [point.y, point.y.signum()][index % 2],
                point.z,
            ),
            4 => Vec3::new(angle.cos(), angle.sin(), [1.0, -1.0][index % 2]),
            5 => point * Vec3::new(1.0, 1.0, flat),
            6 => point * Vec3::new(1.0, flat, thin),
            _ => (point * steps).round() + random_point(random) * flat,
        }
    };
    let mut points: Vec<Vec3> = (0..count).map(point).collect();
    if (kind / 8).is_multiple_of(2) {
        points = points.into_iter().map(|point| turn * point).collect();
    }
    let copies: Vec<Vec3> = match kind / 16 % 4 {
        0 => points.clone(),
        1 => points.iter().map(|point| point.map(f32::next_up)).collect(),
        2 => points
            .iter()
            .map(|point| point.map(|it| if it == 0.0 { -it } else { it }))
            .collect(),
        _ => Vec::new(),
    };
    points.extend(copies);
    let scale = [1.0, 1e-30, 1e30, 1e-42][random.random_range(0..4)];
    let offset = random_point(random) * [0.0, 0.0, 10.0, 1e6][random.random_range(0..4)];
    points
        .into_iter()
        .map(|point| (point + offset) * scale)
        .collect()
}
