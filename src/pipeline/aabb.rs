//! The box around a proxy, as the broad phase has it: along the world's axes, in f32.

use crate::{shape::Bounds, space::Wide};

/// A box in f32, rounded outward, so that it holds what the one in f64 holds. In the plane, z is around 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    pub min: [f32; 3],
    pub max: [f32; 3],
}

/// More than half of the distance between neighbouring numbers in f32, as a part of them: what rounding may add.
const ROUNDING: f64 = 1.0 / (1_u32 << 23) as f64;

impl Aabb {
    /// Overlaps nothing.
    pub const NONE: Self = Self {
        min: [f32::INFINITY; 3],
        max: [f32::NEG_INFINITY; 3],
    };

    #[inline]
    pub fn around<W: Wide>(bounds: &Bounds<W>) -> Self {
        // What is less than all normal numbers is rounded by more than a part of it.
        let below =
            |value: f64| (value - value.abs() * ROUNDING - f64::from(f32::MIN_POSITIVE)) as f32;
        let (min, max) = (bounds.min.components(), bounds.max.components());
        Self {
            min: [below(min[0]), below(min[1]), below(min[2])],
            max: [-below(-max[0]), -below(-max[1]), -below(-max[2])],
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
        let wide = |corner: [f32; 3]| {
            let components = corner.iter().enumerate().take(W::DIMENSION);
            components.fold(W::ZERO, |sum, (index, value)| {
                sum + W::axis(index) * f64::from(*value)
            })
        };
        Bounds {
            min: wide(self.min),
            max: wide(self.max),
        }
    }

    /// Whether the two boxes have a point in common.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self, other);
        // Without branches: which of these fails first is anybody's guess.
        (a.min[0] <= b.max[0])
            & (b.min[0] <= a.max[0])
            & (a.min[1] <= b.max[1])
            & (b.min[1] <= a.max[1])
            & (a.min[2] <= b.max[2])
            & (b.min[2] <= a.max[2])
    }
}
