//! Axis-aligned bounding boxes in f32, for the broad phase. Each box also stores the diameter of a
//! bounding ball, because the box of a rotated shape has much empty space in its corners.
//! `placed/collider.rs` calls [`Aabb::around`] for each collider in a new pose.

use crate::{shape::Bounds, space::DVector, tolerance::TOUCHING};

/// A box in f32, rounded outward from f64. In 2D, the box includes z = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    pub min: [f32; 3],
    pub max: [f32; 3],
    /// The diameter of a bounding ball around the center of the box, or infinity if unknown.
    diameter: f32,
}

/// A bound on the relative error of rounding to f32: twice the actual maximum.
const F32_ROUNDING: f64 = 1.0 / (1_u32 << 23) as f64;

/// The factor by which the bounding ball is enlarged. The factor covers the touching tolerance and
/// the relative part of the rounding in [`Aabb::balls_are_apart`].
const BALL_ENLARGEMENT: f64 = 1.0 + 16.0 * TOUCHING + 16.0 * F32_ROUNDING;

impl Aabb {
    /// A box without points, which overlaps nothing.
    pub const EMPTY: Self = Self {
        min: [f32::INFINITY; 3],
        max: [f32::NEG_INFINITY; 3],
        diameter: 0.0,
    };

    /// Returns a box around `bounds`. The contents of the box must also fit in a ball of the given
    /// radius around the center of `bounds`.
    #[inline]
    pub fn around<D: DVector>(bounds: &Bounds<D>, radius: f64) -> Self {
        // The rounding error of subnormal numbers is absolute, not relative, so `MIN_POSITIVE` is
        // subtracted, too.
        let round_down =
            |value: f64| (value - value.abs() * F32_ROUNDING - f64::from(f32::MIN_POSITIVE)) as f32;
        let ([x, y, z], [max_x, max_y, max_z]) = (bounds.min.components(), bounds.max.components());
        Self {
            min: [round_down(x), round_down(y), round_down(z)],
            max: [
                -round_down(-max_x),
                -round_down(-max_y),
                -round_down(-max_z),
            ],
            diameter: (2.0 * BALL_ENLARGEMENT * radius) as f32,
        }
    }

    /// Returns `true` if the box has no points.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let ([min, ..], [max, ..]) = (self.min, self.max);
        min > max
    }

    /// Returns the size along each axis, in f32. The cells of the broad phase's grids allow for the
    /// rounding of this subtraction.
    ///
    /// Each size is at least 2^-24 of a coordinate and not 0, because [`around`](Self::around)
    /// rounds outward. So the row numbers of these grids have at most 25 bits.
    #[inline]
    pub fn size(&self) -> [f32; 3] {
        let ([x, y, z], [max_x, max_y, max_z]) = (self.min, self.max);
        [max_x - x, max_y - y, max_z - z]
    }

    /// Returns `true` if no coordinate is NaN or exceeds `limit` in magnitude.
    #[inline]
    pub fn is_within(&self, limit: f32) -> bool {
        self.min.iter().all(|min| *min >= -limit) && self.max.iter().all(|max| *max <= limit)
    }

    /// Returns the minimum and the maximum corner.
    pub fn corners(&self) -> [[f32; 3]; 2] {
        [self.min, self.max]
    }

    /// Returns the bounds of the box in f64.
    pub fn bounds<D: DVector>(&self) -> Bounds<D> {
        Bounds::of_f32(self.min, self.max)
    }

    /// Returns the center and the radius of the bounding ball, with a margin for all rounding.
    pub fn ball<D: DVector>(&self) -> (D, f64) {
        let Bounds { min, max } = self.bounds::<D>();
        let center = (min + max) * 0.5;
        let rounding = (min.extent() + max.extent()) * (4.0 * F32_ROUNDING);
        (center, 0.5 * f64::from(self.diameter) + rounding)
    }

    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self, other);
        // `&` avoids the branches of `&&`, which the processor could not predict.
        (a.min[0] <= b.max[0])
            & (b.min[0] <= a.max[0])
            & (a.min[1] <= b.max[1])
            & (b.min[1] <= a.max[1])
            & (a.min[2] <= b.max[2])
            & (b.min[2] <= a.max[2])
    }

    /// Returns `true` if the bounding balls are separated, with a margin for all rounding.
    ///
    /// Let u be the rounding unit of f32, which is half of [`F32_ROUNDING`]. Let a and b be twice
    /// the centers, w = a - b, and h_a and h_b the half extents. Rounding outward has moved each
    /// coordinate of a corner by up to 3u times the coordinate. The sums of two corners are
    /// rounded, and the difference of these sums is also rounded. On each axis, the error of w is
    /// at most
    ///
    /// ```text
    /// 2u |a| + 2u |b| + u |w| + 4u (h_a + h_b)  <=  4u |a| + 3u |w| + 4u (h_a + h_b)
    /// ```
    ///
    /// since |b| <= |a| + |w|. So 16u times the sum of |a| over the axes is added to the sum of the
    /// diameters. The comparison is close only if |w| is about as large as the sum of the
    /// diameters. Then the remaining error, including the squares and sums that follow, is less
    /// than 12u times the sum of the diameters. [`BALL_ENLARGEMENT`] allows for 32u.
    #[inline(never)]
    fn balls_are_apart(&self, other: &Self) -> bool {
        let double_center = |Self { min, max, .. }: &Self| -> [f32; 3] {
            [min[0] + max[0], min[1] + max[1], min[2] + max[2]]
        };
        let (a, b) = (double_center(self), double_center(other));
        let offset = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        let squared = offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2];
        let magnitude = a[0].abs() + a[1].abs() + a[2].abs();
        let rounding = magnitude * (8.0 * F32_ROUNDING as f32) + f32::MIN_POSITIVE;
        let diameters = self.diameter + other.diameter + rounding;
        // `MIN_POSITIVE` exceeds the rounding errors of subnormal squares.
        squared > diameters * diameters + f32::MIN_POSITIVE
    }

    /// Returns `true` if the contents of the two boxes may touch. If the contents touch, the result
    /// is always `true`. Otherwise rounding may make the result depend on the order of the boxes.
    #[inline]
    pub fn may_touch(&self, other: &Self) -> bool {
        self.overlaps(other) && !self.balls_are_apart(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::DVec3;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn ball(center: DVec3, radius: f64) -> Aabb {
        let half = DVec3::splat(radius);
        let (min, max) = (center - half, center + half);
        Aabb::around(&Bounds { min, max }, radius)
    }

    /// Touching balls are tested at all distances from the origin. Balls that are separated by a
    /// thousandth of their size are tested only near the origin, where rounding is small.
    #[test]
    fn touching_balls_may_touch_and_separated_balls_may_not() {
        let mut random = StdRng::seed_from_u64(1);
        for far in [0.0, 1.0, 1e3, 1e6, 1e9, 1e30] {
            for _ in 0..10_000 {
                let mut vector = || DVec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)));
                let (center, direction) = (vector() * far, vector().normalize());
                let [one, other] = [(); 2].map(|()| 10_f64.powf(random.random_range(-2.0..2.0)));
                let gap = |part: f64| direction * ((one + other) * (1.0 + part));
                let a = ball(center, one);
                let b = ball(center + gap(0.0), other);
                assert!(a.may_touch(&b) && b.may_touch(&a), "{a:?} {b:?}");
                let b = ball(center + gap(1e-3), other);
                assert!(
                    far > 1.0 || !(a.may_touch(&b) || b.may_touch(&a)),
                    "{a:?} {b:?}"
                );
            }
        }
    }
}
