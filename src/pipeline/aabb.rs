//! The box around a proxy, as the broad phase has it: along the world's axes, in f32. And a ball, for what is turned has much room
//! in the corners of its box.

use crate::{query::tolerance::TOUCHING, shape::Bounds, space::Wide};

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

/// So much wider, as a part of it, a ball is than what it holds: for what counts as touching, and for rounding.
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
    pub fn around<W: Wide>(bounds: &Bounds<W>, radius: f64) -> Self {
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
    pub fn bounds<W: Wide>(&self) -> Bounds<W> {
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

    /// Whether the two balls have none. (Not inline: few boxes overlap, and those that do not are told apart by a loop that has
    /// no room for this.)
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
        // The other one is no farther away than this one and the way together.
        let far = a[0].abs() + a[1].abs() + a[2].abs();
        let rounding = far * (8.0 * ROUNDING as f32) + f32::MIN_POSITIVE;
        let reach = self.ball + other.ball + rounding;
        // Squares that are too small for all digits are no measure.
        squared > reach * reach + f32::MIN_POSITIVE
    }

    /// Whether what is in the one may meet what is in the other.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        self.overlaps(other) && !self.is_out_of_reach_of(other)
    }
}
