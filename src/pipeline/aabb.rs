//! The box around a proxy, as the broad phase has it: along the world's axes, in f32. And a ball, for what is turned has much room
//! in the corners of its box.

use crate::{shape::Bounds, space::DVector, tolerance::TOUCHING};

/// A box in f32, rounded outward, so that it holds what the one in f64 holds. In the plane, z is around 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    pub min: [f32; 3],
    pub max: [f32; 3],
    /// The width of a ball around the middle of the box that holds the same; infinite where that is not known.
    ball: f32,
}

/// More than half of the distance between neighbouring numbers in f32, as a part of them: what rounding may add.
const ROUNDING: f64 = 1.0 / (1_u32 << 23) as f64;

/// So much wider, as a part of it, a ball is than what it holds: for what counts as touching, and for the part of the rounding that
/// is in proportion to it, see [`Aabb::is_out_of_reach_of`].
const WIDER: f64 = 1.0 + 16.0 * TOUCHING + 16.0 * ROUNDING;

impl Aabb {
    /// Overlaps nothing.
    pub const NONE: Self = Self {
        min: [f32::INFINITY; 3],
        max: [f32::NEG_INFINITY; 3],
        ball: 0.0,
    };

    /// Around what these bounds hold, if a ball of this radius around their middle holds the same.
    #[inline]
    pub fn around<D: DVector>(bounds: &Bounds<D>, radius: f64) -> Self {
        // What is less than all normal numbers is rounded by more than a part of it.
        let below =
            |value: f64| (value - value.abs() * ROUNDING - f64::from(f32::MIN_POSITIVE)) as f32;
        let (min, max) = (bounds.min.components(), bounds.max.components());
        Self {
            min: [below(min[0]), below(min[1]), below(min[2])],
            max: [-below(-max[0]), -below(-max[1]), -below(-max[2])],
            ball: (2.0 * WIDER * radius) as f32,
        }
    }

    /// Whether it is any box at all.
    #[inline]
    pub fn is_some(&self) -> bool {
        let ([min, ..], [max, ..]) = (self.min, self.max);
        min <= max
    }

    /// Whether no coordinate is beyond this, or no number.
    #[inline]
    pub fn is_within(&self, most: f32) -> bool {
        self.min.iter().all(|it| *it >= -most) && self.max.iter().all(|it| *it <= most)
    }

    /// The same in f64.
    pub fn bounds<D: DVector>(&self) -> Bounds<D> {
        Bounds::of_f32(self.min, self.max)
    }

    /// Whether the two boxes have a point in common.
    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self, other);
        // Without branches: which of these fails first is anybody's guess.
        (a.min[0] <= b.max[0])
            & (b.min[0] <= a.max[0])
            & (a.min[1] <= b.max[1])
            & (b.min[1] <= a.max[1])
            & (a.min[2] <= b.max[2])
            & (b.min[2] <= a.max[2])
    }

    /// Whether the two balls have none.
    ///
    /// Let u be the rounding of f32 (half of [`ROUNDING`]), a and b twice the middles, w the way between them, and h_a and h_b half
    /// sizes. Corners have been moved by up to 3u of them; the sums of two, and the difference of these, are rounded. On each axis
    /// w is off by up to
    ///
    /// ```text
    /// 2u |a| + 2u |b| + u |w| + 4u (h_a + h_b)  <=  4u |a| + 3u |w| + 4u (h_a + h_b)
    /// ```
    ///
    /// for |b| <= |a| + |w|: so the place of one of the two is enough. 16u of the sum of |a| are added to the reach. Where w is about
    /// as long as that, the rest is less than 12u of it, with the squares and sums that follow: [`WIDER`] has 32u.
    // Not inline: few boxes overlap, and those that do not are told apart by a loop that has no room for this.
    #[inline(never)]
    fn is_out_of_reach_of(&self, other: &Self) -> bool {
        // Twice the middles.
        let middle = |it: &Self| -> [f32; 3] {
            let Self { min, max, .. } = it;
            [min[0] + max[0], min[1] + max[1], min[2] + max[2]]
        };
        let (a, b) = (middle(self), middle(other));
        let way = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        let squared = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
        let far = a[0].abs() + a[1].abs() + a[2].abs();
        let rounding = far * (8.0 * ROUNDING as f32) + f32::MIN_POSITIVE;
        let reach = self.ball + other.ball + rounding;
        // Squares that are too small for all digits are no measure.
        squared > reach * reach + f32::MIN_POSITIVE
    }

    /// Whether what is in the one may meet what is in the other. (By rounding it may depend on the order of the two; it errs to the
    /// safe side in both.)
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        self.overlaps(other) && !self.is_out_of_reach_of(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::DVec3;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn ball(centre: DVec3, radius: f64) -> Aabb {
        let half = DVec3::splat(radius);
        let (min, max) = (centre - half, centre + half);
        Aabb::around(&Bounds { min, max }, radius)
    }

    /// Wherever they are; and near the origin, those that are apart by a thousandth of their sizes are told apart, whose boxes
    /// overlap.
    #[test]
    fn balls_that_touch_meet() {
        let mut random = StdRng::seed_from_u64(1);
        for far in [0.0, 1.0, 1e3, 1e6, 1e9, 1e30] {
            for _ in 0..10_000 {
                let mut vector = || DVec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)));
                let (centre, way) = (vector() * far, vector().normalize());
                let [one, other] = [(); 2].map(|()| 10_f64.powf(random.random_range(-2.0..2.0)));
                let gap = |part: f64| way * ((one + other) * (1.0 + part));
                let a = ball(centre, one);
                let b = ball(centre + gap(0.0), other);
                assert!(a.meets(&b) && b.meets(&a), "{a:?} {b:?}");
                let b = ball(centre + gap(1e-3), other);
                assert!(far > 1.0 || !(a.meets(&b) || b.meets(&a)), "{a:?} {b:?}");
            }
        }
    }
}
