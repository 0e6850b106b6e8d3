//! The path of a proxy from the previous tick to this tick: its translation and its rotation.

use crate::{
    pipeline::{proxy::Proxy, swept::region::PathRegion},
    query::Motion64,
    shape::{Aabb, Affine, Support, WorldPose},
    space::{DVector, Space},
};

/// The path of a proxy in this tick.
#[derive(Clone, Copy, Debug)]
pub struct SweptPath<D: DVector> {
    pub translation: D,
    /// An upper bound on the angle of the rotation, in radians.
    pub max_angle: f64,
    /// The region that the proxy covers while it rotates, or `None` for a half-space.
    pub region: Option<PathRegion<D>>,
    /// The number of pieces, or 1 if the path is not cut.
    pub piece_count: u32,
    /// The linear map of the previous tick.
    start_linear: D::Matrix,
}

/// The motion along a path.
#[derive(Clone, Copy, Debug)]
pub struct PathMotion<D: DVector> {
    /// The pose in the previous tick, with the scale of this tick.
    pub start: WorldPose<D>,
    pub motion: Motion64<D>,
}

impl<D: DVector> SweptPath<D> {
    /// Returns the path of a proxy from `start`, or `None` if the proxy did not move. `aabb` is the
    /// proxy's box at the end of the path.
    pub fn new<V: Space<DVec = D>>(
        proxy: &Proxy<V>,
        aabb: Option<&Aabb>,
        start: &Affine<D>,
        typical_size: f64,
    ) -> Option<Self> {
        // A member of a ground has the pose of the ground, which rests.
        if proxy.member().is_some() {
            return None;
        }
        let end = &proxy.world_pose;
        let translation = end.translation - start.translation;
        let turns = end.linear() != start.linear && !is_ball(proxy);
        let max_angle = if turns {
            max_angle_between::<D>(start.linear, end)
        } else {
            0.0
        };
        if translation == D::ZERO && max_angle <= 0.0 {
            return None;
        }
        let region =
            aabb.map(|aabb| PathRegion::new(aabb, end.translation, max_angle, translation));
        Some(Self {
            translation,
            max_angle,
            region,
            piece_count: region.map_or(1, |region| region.piece_count(typical_size)),
            start_linear: start.linear,
        })
    }

    /// Computes the motion of a proxy along this path. Returns `None` if the proxy did not move.
    pub fn motion<V: Space<DVec = D>>(&self, proxy: &Proxy<V>) -> Option<PathMotion<D>> {
        let end = &proxy.world_pose;
        let rotation = if self.max_angle > 0.0 {
            rotation_between::<D>(self.start_linear, end)
        } else {
            D::IDENTITY
        };
        if self.translation == D::ZERO && rotation == D::IDENTITY {
            return None;
        }
        let mut motion = Motion64::linear(self.translation);
        motion.rotation = D::angle_between(D::IDENTITY, rotation);
        let start = end.before(rotation, self.translation);
        Some(PathMotion { start, motion })
    }
}

/// Returns `true` for a ball, whose rotation does not matter.
fn is_ball<V: Space>(proxy: &Proxy<V>) -> bool {
    let shape = proxy.scaled_shape();
    shape.is_some_and(|shape| shape.core().is_point())
}

/// A bound on the rounding errors of a map that is nearly a rotation.
const MAP_ROUNDING: f64 = 1e-12;

/// Returns an upper bound on the angle of [`rotation_between`], in radians. Computing the rotation
/// itself costs much more.
///
/// Let M be the linear map from the end to the start, and Q its orthogonal factor: the orthogonal
/// map nearest to M. Q has the same angle as the rotation from the start to the end. In the
/// Frobenius norm, |Q - I| <= |M - I| + |Q - M|. Since Q is the nearest orthogonal map,
/// |Q - M| <= |M - I|. Also |Q - M| <= |Mᵀ M - I|, which is 0 if the scale stays the same. For a
/// rotation by the angle θ, |Q - I| = 2 √2 sin(θ/2). The angle is then bounded by θ/2 <= tan(θ/2).
fn max_angle_between<D: DVector>(start: D::Matrix, end: &WorldPose<D>) -> f64 {
    let Some(inverse) = end.inverse_linear() else {
        return core::f64::consts::PI;
    };
    let map = start * inverse;
    let distance_from_identity = |matrix: D::Matrix| {
        let columns = (0..D::DIMENSION).map(|index| D::column(matrix - D::IDENTITY, index));
        columns.map(DVector::length_squared).sum::<f64>().sqrt()
    };
    let distance = distance_from_identity(map);
    let stretch = distance_from_identity(D::transpose(map) * map) + MAP_ROUNDING;
    let squared_sine = (distance + distance.min(stretch)).powi(2) / 8.0;
    let tangent = (squared_sine / (1.0 - squared_sine)).sqrt();
    if squared_sine < 0.5 {
        2.0 * tangent
    } else {
        core::f64::consts::PI
    }
}

/// The maximum number of steps to find a rotation. Once the map is nearly orthogonal, each step
/// squares the error. Until then, each step multiplies the length of a short axis by 1.5. So 64
/// steps suffice for axes down to 1e-9 of the longest axis.
const MAX_ORTHOGONAL_STEPS: usize = 64;

/// The search for a rotation ends if a step changes the matrix by less than this value, a few
/// rounding errors.
const LEAST_ORTHOGONAL_CHANGE: f64 = 1e-14;

/// The squared length of each axis of a rotation differs from 1 by less than this value. If the map
/// is flat, at least one axis fails this test.
const NEARLY_UNIT: f64 = 1e-12;

/// Returns the rotation from a linear map to the linear map of a pose: the orthogonal factor in the
/// polar decomposition of `end * start⁻¹`. The other factor is a change of scale. If an axis is
/// flat or mirrored, there is no rotation, and the result is the identity.
pub fn rotation_between<D: DVector>(start: D::Matrix, end: &WorldPose<D>) -> D::Matrix {
    let Some(inverse) = D::inverse(start) else {
        return D::IDENTITY;
    };
    let map = end.linear() * inverse;
    let columns = |matrix| (0..D::DIMENSION).map(move |index| D::column(matrix, index));
    let squared: f64 = columns(map).map(DVector::length_squared).sum();
    let mut matrix = map * (D::DIMENSION as f64 / squared).sqrt();
    for _ in 0..MAX_ORTHOGONAL_STEPS {
        let next = D::nearer_orthogonal(matrix);
        let steps = columns(next).zip(columns(matrix));
        let is_done = steps.map(|(a, b)| (a - b).extent()).sum::<f64>() < LEAST_ORTHOGONAL_CHANGE;
        matrix = next;
        if is_done {
            break;
        }
    }
    let is_rotation = columns(matrix).all(|axis| (axis.length_squared() - 1.0).abs() < NEARLY_UNIT)
        && !D::is_mirrored(matrix);
    if is_rotation { matrix } else { D::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        math::{DMat3, DVec3},
        space::Pose,
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn vector(random: &mut StdRng) -> DVec3 {
        DVec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
    }

    /// If R is a rotation, and S is symmetric and positive definite, the orthogonal factor of R S⁻¹
    /// is R.
    #[test]
    fn the_bound_of_an_angle_is_at_least_the_angle_whatever_the_change_of_scale() {
        let mut random = StdRng::seed_from_u64(1);
        for _ in 0..10_000 {
            let size = 10_f64.powf(random.random_range(-6.0..0.49));
            let turn = vector(&mut random).normalize() * size;
            let end = WorldPose::from_pose(&Pose {
                rotation: DVec3::rotation(turn),
                translation: DVec3::ZERO,
            });
            let bound = max_angle_between::<DVec3>(DMat3::IDENTITY, &end);
            let is_tight = bound <= 1.3 * size || size > 1.5;
            assert!(bound >= size && is_tight, "{bound} for {turn}");
            let scale = vector(&mut random) * 0.9 + 1.0;
            let bound = max_angle_between::<DVec3>(DMat3::from_diagonal(scale), &end);
            assert!(bound >= size, "{bound} for {turn} and {scale}");
        }
    }
}
