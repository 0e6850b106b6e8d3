//! Sets of points, and pseudorandom vectors.

use bevy::math::{DVec3, Vec3};

use super::{dimension::Dimension, source::Chooser};

/// Chooses points: in general position, on a lattice, in a plane, nearly in a plane, with
/// duplicates, far from the origin, or many points on a ball.
pub fn points<V: Dimension>(chooser: &mut Chooser, size: f32) -> Vec<V> {
    if chooser.chance(24) {
        let count = chooser.choice([12, 30, 30, 60, 100, 500]);
        let seed = u64::from(chooser.word());
        let on_ball = |number: u64| {
            let mut state = seed ^ (number << 32);
            let vector = [(); 3].map(|()| {
                state = mixed(state);
                (state >> 40) as f64 / (1 << 23) as f64 - 1.0
            });
            let in_space = V::dvec_to_3d(V::dvec_from_3d(DVec3::from(vector)));
            let unit = in_space.try_normalize().unwrap_or(DVec3::X);
            V::from_vec3((unit * f64::from(size)).as_vec3())
        };
        return (0..count).map(on_ball).collect();
    }
    let count = usize::from(chooser.pick(10));
    let lattice = chooser.chance(80);
    let thin = chooser.choice([1.0, 1.0, 1.0, 1e-3, 1e-6, 0.0]);
    let mut points = Vec::new();
    for _ in 0..count {
        let mut point = chooser.vector::<V>(size).to_dvec3().as_vec3();
        if lattice {
            point = (point / (0.5 * size)).round() * (0.5 * size);
        }
        point.y *= thin;
        points.push(point);
    }
    // A rotation takes flat sets out of the planes of the axes.
    if chooser.chance(64) {
        let rotation = V::matrix(chooser.rotation::<V>()).unwrap_or_default();
        for point in &mut points {
            *point = (rotation * point.as_dvec3()).as_vec3();
        }
    }
    if chooser.chance(40) {
        let offset = chooser.vector::<V>(8.0 * size).to_dvec3().as_vec3();
        for point in &mut points {
            *point += offset;
        }
    }
    if let (Some(first), true) = (points.first().copied(), chooser.chance(40)) {
        let sum: Vec3 = points.iter().sum();
        points.push(first);
        points.push(sum / points.len() as f32);
    }
    // A query accepts an empty slice, which touches nothing. This case is rarely of interest.
    if points.is_empty() && !chooser.chance(16) {
        points.push(chooser.vector::<V>(size).to_dvec3().as_vec3());
    }
    points.into_iter().map(V::from_vec3).collect()
}

/// Returns the next output of the generator SplitMix64.
pub fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Returns a pseudorandom vector with components from -1 to 1.
pub fn noise(seed: u64) -> DVec3 {
    let component = |number: u64| (mixed(seed ^ number) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    DVec3::new(component(1), component(2), component(3))
}
