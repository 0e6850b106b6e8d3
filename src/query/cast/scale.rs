//! The size of a pair, and the lengths that decide its cast.

use crate::{
    shape::{Core, Support, core_bounds},
    space::{DVector, Space},
    tolerance::{CAST_MARGIN, CAST_TOUCHING, GRAZING_DEPTH, OFFSET_SCALE, TOUCHING},
};

/// The gap at which the search ends grows by this factor in each step, up to [`CAST_TOUCHING`].
/// Like [`GAP_GROWTH`](crate::tolerance::GAP_GROWTH), this growth limits the number of steps for
/// surfaces that approach each other slowly.
const END_GAP_GROWTH: f64 = 1.3;

/// GJK along a ray ends if the bounds differ by at most a limit, the *band*. In each iteration, the
/// band grows by this factor, for the reason given at [`GAP_GROWTH`](crate::tolerance::GAP_GROWTH).
const BAND_GROWTH: f64 = 1.3;

/// The greatest band, as a fraction of the size. This difference of the bounds leaves an error of
/// √(2e-9) = 4.5e-5 in the normal.
const MAX_BAND: f64 = 1e-9;

/// The distance beyond which shapes certainly do not touch at the start, as a fraction of the size.
/// At this distance, `certified/` finds no contact. The tolerance of a contact is at most twice
/// [`TOUCHING`], because a pair's scale is at most twice its size.
const CLEAR_OF_TOUCHING: f64 = 4.0 * TOUCHING;

/// After a touch, the motion is followed for at least this fraction of the size, to test if the
/// shapes overlap. If necessary, the motion is continued beyond its end.
const PROBED_MOTION: f64 = 1e-3;

/// The depth at which the overlap after a touch is tested first, as a fraction of the size. This
/// depth is far more than the depth of a touch, so a coarse bound on the depth suffices. Most
/// shapes are thicker than this depth.
const PROBED_DEPTH: f64 = 0.01;

/// A box around a core, in the core's frame.
pub struct CoreBox<D> {
    /// The half extents of the smallest box that is centered on the origin.
    pub farthest: D,
    half_diagonal: f64,
}

impl<D: DVector> CoreBox<D> {
    /// Returns the box around the core of a shape. The box of a half-space has no extent.
    pub fn new<S: Support<Vector: Space<DVec = D>> + ?Sized>(shape: &S) -> Self {
        let [min, max] = match shape.core() {
            Core::HalfSpace(_) => [D::ZERO; 2],
            _ => core_bounds(shape, D::IDENTITY),
        };
        Self {
            farthest: (-min).max(max).max(min),
            half_diagonal: 0.5 * (max - min).length(),
        }
    }
}

/// The size of a pair, and the lengths that decide its cast.
#[derive(Clone, Copy, Debug)]
pub struct CastScale {
    /// Half the sum of the diagonals of the boxes around the cores, plus the radii.
    /// [`OFFSET_SCALE`] bounds the size from below.
    pub size: f64,
    /// A bound on the rounding errors of relative positions.
    pub rounding: f64,
    /// The least gap at the time `safe`. Half of this gap exceeds all rounding errors.
    pub margin: f64,
    /// The gap at which a step ends. This gap lies halfway between `margin` and twice `margin`, at
    /// which the search ends. So rounding cannot carry a step past either bound.
    pub stop_gap: f64,
    /// Overlaps deeper than this value are not mere touches.
    pub slack: f64,
}

impl CastScale {
    /// Returns the scale of a cast, or `None` if a length is not finite. `travel` bounds the
    /// distances between the centers during the motion.
    pub fn new<D: DVector>(boxes: &[CoreBox<D>; 2], radius_sum: f64, travel: f64) -> Option<Self> {
        let offset: f64 = boxes.iter().map(|core| core.farthest.extent()).sum();
        let half_diagonal: f64 = boxes.iter().map(|core| core.half_diagonal).sum();
        Self::of_size(
            half_diagonal.max(OFFSET_SCALE * offset) + radius_sum,
            travel,
        )
    }

    /// Returns the scale of a pair of this size.
    #[inline(always)]
    pub fn of_size(size: f64, travel: f64) -> Option<Self> {
        let rounding = 4.0 * f64::EPSILON * (travel + size);
        let margin = CAST_MARGIN * size + rounding;
        rounding.is_finite().then_some(Self {
            size,
            rounding,
            margin,
            stop_gap: 1.5 * margin,
            slack: GRAZING_DEPTH * size + 4.0 * rounding,
        })
    }

    /// Returns the distance beyond which shapes certainly do not touch at the start.
    pub fn clearance(&self) -> f64 {
        CLEAR_OF_TOUCHING * self.size + 4.0 * self.rounding
    }

    /// Returns the gap at which the search ends in the next step. `end_gap` is this gap in the
    /// previous step.
    pub fn next_end_gap(&self, end_gap: f64) -> f64 {
        let limit = (CAST_TOUCHING * self.size).max(2.0 * self.margin);
        (end_gap * END_GAP_GROWTH).min(limit)
    }

    /// Returns the band in the next step, given the band in the previous step.
    pub fn next_band(&self, band: f64) -> f64 {
        (band * BAND_GROWTH).min((MAX_BAND * self.size).max(self.margin))
    }

    /// Returns the time at which shapes touch, a step after the time `safe`. If the shapes may move
    /// farther than the touching tolerance in this step, returns `safe`.
    #[inline]
    pub fn touching_time(&self, safe: f64, step: f64, speed: f64) -> f64 {
        if step > 0.0 && self.is_short(step, speed) {
            (safe + step).min(1.0)
        } else {
            safe
        }
    }

    /// Returns `true` if shapes move by at most the touching tolerance in a step.
    pub fn is_short(&self, step: f64, speed: f64) -> bool {
        step * speed <= CAST_TOUCHING * self.size
    }

    /// Returns the time until which the motion is followed after a touch.
    pub fn probed_end(&self, touch: f64, speed: f64) -> f64 {
        (touch + PROBED_MOTION * self.size / speed).max(1.0)
    }

    /// Returns the time after a touch at which the overlap is tested first.
    pub fn probed_time(&self, touch: f64, closing_speed: f64, end: f64) -> f64 {
        (touch + PROBED_DEPTH * self.size / closing_speed).min(end)
    }
}
