//! A scan of a few points for the farthest point in a direction, eight points at a time.
//!
//! The compiler turns a loop over eight `f32` into SIMD instructions. So the points are stored in
//! blocks of eight x, eight y and eight z, and all heights are first computed in `f32`. Then only
//! points within the rounding error of the greatest height are compared in `f64`. The result equals
//! the result of a scan in `f64` to the bit, with the same choice among equal heights. The scan has
//! no branch per point and reads memory in order.

use core::{array::from_fn, ops::RangeInclusive};
use std::sync::Arc;

use crate::{shape::elements::points::RunningMax, space::DVector};

/// The number of points in a block.
const BLOCK_LEN: usize = 8;

/// The maximum number of points to scan. From this number on, a direction table is as fast as a
/// scan.
pub const MAX_SCANNED: usize = 64;

/// The error of two heights in `f32` and of the threshold, relative to the greatest Σ |p_i| times
/// the greatest |d_i|. In each height, the direction's component, the product and the two sums are
/// rounded: 4 units of 2⁻²⁴, so 8 for two heights. The threshold adds 1 unit, and 1 unit is a
/// margin.
const F32_HEIGHT_ERROR: f32 = 10.0 * 0.5 * f32::EPSILON;

/// The sizes of points and directions for which neither the heights nor their errors overflow or
/// underflow in `f32`.
const POINT_SIZES: RangeInclusive<f64> = 1e-12..=1e12;
const SCAN_DIRECTION_SIZES: RangeInclusive<f32> = 1e-16..=1e16;

/// A count of points in the upper 16 bits, and the sum of their indices in the lower 16 bits.
type CountAndSum = u32;
const COUNT_SHIFT: u32 = 16;
const ONE: CountAndSum = 1 << COUNT_SHIFT;

/// The coordinates of eight points: every x, every y, and every z. In 2D, z is ignored.
type PointBlock = [[f32; BLOCK_LEN]; 3];

/// Points in blocks.
#[derive(Clone, Debug)]
pub struct PointBlocks {
    /// The last block is padded with NaN, which never compares as higher.
    blocks: Arc<[PointBlock]>,
    /// [`F32_HEIGHT_ERROR`] times the greatest Σ |p_i|.
    error: f32,
}

impl PointBlocks {
    /// Stores finite points. Returns `None` if there are too many points, or if the greatest size
    /// is zero or extreme.
    pub fn new<D: DVector>(points: &[D]) -> Option<Self> {
        let sizes = points.iter().map(|point| point.extent());
        let size = sizes.fold(0.0, f64::max);
        if points.len() > MAX_SCANNED || !POINT_SIZES.contains(&size) {
            return None;
        }
        let block = |points: &[D]| {
            let row = |axis: usize| {
                let coordinate = |point: &D| point.component(axis) as f32;
                from_fn(|lane| points.get(lane).map_or(f32::NAN, coordinate))
            };
            [0, 1, 2].map(row)
        };
        Some(Self {
            blocks: points.chunks(BLOCK_LEN).map(block).collect(),
            error: F32_HEIGHT_ERROR * size as f32,
        })
    }

    /// Returns the farthest point in a direction, or the first such point if several points are
    /// equally far. Returns `None` for a direction that is zero, not finite or of extreme size.
    /// Such a direction requires a scan in `f64`.
    #[inline]
    pub fn farthest<D: DVector>(&self, direction: D) -> Option<D> {
        let [x, y, z] = direction.components();
        let rounded = [x as f32, y as f32, z as f32];
        let size = rounded
            .iter()
            .fold(0.0, |size: f32, component| size.max(component.abs()));
        if !SCAN_DIRECTION_SIZES.contains(&size) {
            return None;
        }
        let mut heights = [[0.0_f32; BLOCK_LEN]; MAX_SCANNED / BLOCK_LEN];
        let mut highest = [f32::NEG_INFINITY; BLOCK_LEN];
        for (heights, block) in heights.iter_mut().zip(&*self.blocks) {
            for (row, component) in block.iter().zip(rounded).take(D::DIMENSION) {
                for (height, coordinate) in heights.iter_mut().zip(row) {
                    *height += component * coordinate;
                }
            }
            for (highest, height) in highest.iter_mut().zip(heights) {
                *highest = higher(*highest, *height);
            }
        }
        let [a, b, c, d, e, f, g, h] = highest;
        let (a, b, c, d) = (higher(a, e), higher(b, f), higher(c, g), higher(d, h));
        let threshold = higher(higher(a, c), higher(b, d)) - self.error * size;
        // Nearly always, only one point remains. Then the sum of the indices is the index of this
        // point.
        let mut sums: [CountAndSum; BLOCK_LEN] = [0; BLOCK_LEN];
        for (block, heights) in heights.iter().enumerate().take(self.blocks.len()) {
            let first = (block * BLOCK_LEN) as u32;
            for ((sum, height), offset) in sums.iter_mut().zip(heights).zip(0..) {
                let is_near = *height >= threshold;
                *sum += if is_near { ONE + first + offset } else { 0 };
            }
        }
        let sum: CountAndSum = sums.iter().sum();
        if sum >> COUNT_SHIFT == 1 {
            return self.point((sum & (ONE - 1)) as usize);
        }
        let mut best = RunningMax::NONE;
        let heights = heights.as_flattened().iter().enumerate();
        for (index, height) in heights.take(self.blocks.len() * BLOCK_LEN) {
            if *height >= threshold
                && let Some(point) = self.point::<D>(index)
            {
                best.update(index, point.dot(direction));
            }
        }
        self.point(best.index)
    }

    fn point<D: DVector>(&self, index: usize) -> Option<D> {
        let [x, y, z] = self.blocks.get(index / BLOCK_LEN)?;
        let coordinate = |row: &[f32; BLOCK_LEN]| Some(f64::from(*row.get(index % BLOCK_LEN)?));
        Some(D::of([coordinate(x)?, coordinate(y)?, coordinate(z)?]))
    }
}

/// Returns the greater number, without a branch. Returns `a` if `b` is NaN.
#[inline(always)]
fn higher(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        math::{Vec2, Vec3},
        shape::elements::points::farthest,
        space::Space,
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    /// Asserts that the blocks find the same point as a scan. Some heights are equal in `f32`: the
    /// heights of points far from the origin, and of equally high points.
    fn equals_a_scan<V: Space>(of: impl Fn([f32; 3]) -> V) {
        let mut random = StdRng::seed_from_u64(1);
        let mut found = 0;
        for count in [1, 7, 8, 9, 63, MAX_SCANNED] {
            for offset in [0.0, 1e3, 1e6] {
                for _ in 0..20 {
                    let mut point =
                        || [(); 3].map(|()| random.random_range(-1.0..1.0_f32) + offset);
                    let points: Vec<V> = (0..count).map(|_| of(point())).collect();
                    let vertices: Vec<_> = points.iter().map(|point| point.to_f64()).collect();
                    let blocks = PointBlocks::new(&vertices);
                    for length in [1e-15, 1.0, 1e15] {
                        let mut side = || if random.random() { 1.0 } else { -1.0 };
                        let signs: [f64; 3] = [(); 3].map(|()| side());
                        let unscaled = signs.map(|sign| sign * random.random_range(0.2..1.0));
                        let [x, y, z] = unscaled.map(|component| component * length);
                        for direction in [[x, y, z], [x, y * 1e-9, z * 1e-9], [-1.0, 1.0, 0.0]] {
                            let direction = DVector::of(direction);
                            let best = blocks
                                .as_ref()
                                .and_then(|blocks| blocks.farthest(direction));
                            assert_eq!(best, Some(farthest(&points, direction)));
                            found += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(found, 6 * 3 * 20 * 9);
    }

    #[test]
    fn the_farthest_point_equals_a_scan() {
        equals_a_scan(|[x, y, _]| Vec2::new(x, y));
        equals_a_scan(Vec3::from_array);
    }

    #[test]
    fn extreme_sizes_are_left_to_a_scan() {
        let one = |size: f32| PointBlocks::new(&[Vec3::new(size, 0.0, 0.0).to_f64()]);
        assert!(one(0.0).is_none() && one(1e-20).is_none() && one(1e20).is_none());
        let farthest_at =
            |size: f64| one(1.0).map(|blocks| blocks.farthest(Vec3::X.to_f64() * size));
        for size in [0.0, 1e-20, 1e20, f64::INFINITY] {
            assert_eq!(farthest_at(size), Some(None), "{size}");
        }
        assert_eq!(farthest_at(2.0), Some(Some(Vec3::X.to_f64())));
    }
}
