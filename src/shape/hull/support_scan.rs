//! The farthest of some points, looked at side by side.
//!
//! A processor computes as many heights at a time as numbers fit in its registers, and twice as many in f32 as in f64. So the
//! points are kept by coordinates, eight of each next to one another, and all heights are computed in f32 first. That is
//! enough to tell nearly all points from the farthest one: only those within rounding of the highest are looked at in f64.
//! The answer is that of the plain scan in f64, to the bit and with the same one among equals. It is without a branch for
//! each point, and reads memory in one piece: with many shapes, waiting for memory costs more than the work does.

use core::{array::from_fn, ops::RangeInclusive};
use std::sync::Arc;

use crate::{shape::points::Highest, space::DVector};

/// Points in a block.
const WIDTH: usize = 8;

/// The most points that are looked at in this way. For more, a table by direction is as fast.
pub const FEW: usize = 64;

/// By how much heights in f32 may be off, of the largest sum of |p_i| and the largest |d_i|: each component of the direction is
/// rounded, each product and each of two sums, which is 4 units of 2⁻²⁴ for a height. The highest and another one are off by 8
/// then, a ninth is that of the threshold between them, and one is to spare.
const HEIGHT_ERROR: f32 = 10.0 * 0.5 * f32::EPSILON;

/// The sizes of points and of directions with which nothing gets too large or too small for f32: the products of
/// [`HEIGHT_ERROR`] with both of them neither.
const POINT_SIZES: RangeInclusive<f64> = 1e-12..=1e12;
const DIRECTION_SIZES: RangeInclusive<f32> = 1e-16..=1e16;

/// How many points there are and the sum of their numbers, in one number: what each lane of the first block adds to it.
const CODES: [u32; WIDTH] = [
    ONE,
    ONE + 1,
    ONE + 2,
    ONE + 3,
    ONE + 4,
    ONE + 5,
    ONE + 6,
    ONE + 7,
];
const ONE: u32 = 1 << COUNT_SHIFT;
const COUNT_SHIFT: u32 = 16;

/// Eight points: their first coordinates, their second ones, and their third ones, which the plane does not look at.
type Block = [[f32; WIDTH]; 3];

/// Some points by their coordinates.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// The last one is filled up with NaN, which is higher than nothing.
    blocks: Arc<[Block]>,
    /// [`HEIGHT_ERROR`] of the points.
    error: f32,
}

impl Lanes {
    /// The lanes of points that are finite, or `None` if they are too many, all null, or of extreme size.
    pub fn new<D: DVector>(points: &[D]) -> Option<Self> {
        let sizes = points.iter().map(|point| point.extent());
        let size = sizes.fold(0.0, f64::max);
        if points.len() > FEW || !POINT_SIZES.contains(&size) {
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
            blocks: points.chunks(WIDTH).map(block).collect(),
            error: HEIGHT_ERROR * size as f32,
        })
    }

    /// The point with the greatest component along `direction`, the first one among equals, or `None` if it is a direction
    /// that only a scan in f64 serves: null, not finite, or of extreme size.
    #[inline]
    pub fn farthest<D: DVector>(&self, direction: D) -> Option<D> {
        let [x, y, z] = direction.components();
        let narrow = [x as f32, y as f32, z as f32];
        let size = narrow.iter().fold(0.0, |size: f32, it| size.max(it.abs()));
        if !DIRECTION_SIZES.contains(&size) {
            return None;
        }
        let mut heights = [[0.0_f32; WIDTH]; FEW / WIDTH];
        let mut highest = [f32::NEG_INFINITY; WIDTH];
        for (heights, block) in heights.iter_mut().zip(&*self.blocks) {
            for (row, component) in block.iter().zip(narrow).take(D::DIMENSION) {
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
        // Nearly always there is but one, and then the sum tells its number.
        let mut sums = [0_u32; WIDTH];
        for (number, heights) in heights.iter().enumerate().take(self.blocks.len()) {
            let before = (number * WIDTH) as u32;
            for ((sum, height), code) in sums.iter_mut().zip(heights).zip(CODES) {
                *sum += if *height >= threshold {
                    code + before
                } else {
                    0
                };
            }
        }
        let sum: u32 = sums.iter().sum();
        if sum >> COUNT_SHIFT == 1 {
            return self.point((sum & (ONE - 1)) as usize);
        }
        let mut best = Highest::NONE;
        let heights = heights.as_flattened().iter().enumerate();
        for (number, height) in heights.take(self.blocks.len() * WIDTH) {
            if *height >= threshold
                && let Some(point) = self.point::<D>(number)
            {
                best.see(number, point.dot(direction));
            }
        }
        self.point(best.number)
    }

    /// The point of a number.
    #[inline]
    fn point<D: DVector>(&self, number: usize) -> Option<D> {
        let [x, y, z] = self.blocks.get(number / WIDTH)?;
        let coordinate = |row: &[f32; WIDTH]| Some(f64::from(*row.get(number % WIDTH)?));
        Some(D::of([coordinate(x)?, coordinate(y)?, coordinate(z)?]))
    }
}

/// Without a branch, and without a thought for what is no number.
#[inline(always)]
fn higher(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        math::{Vec2, Vec3},
        shape::points::farthest,
        space::Space,
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    /// What heights in f32 cannot tell apart, f64 does: points far from the origin, and directions along which many are as high.
    fn is_that_of_a_scan<V: Space>(of: impl Fn([f32; 3]) -> V) {
        let mut random = StdRng::seed_from_u64(1);
        let mut found = 0;
        for count in [1, 7, 8, 9, 63, FEW] {
            for away in [0.0, 1e3, 1e6] {
                for _ in 0..20 {
                    let mut place = || [(); 3].map(|()| random.random_range(-1.0..1.0_f32) + away);
                    let points: Vec<V> = (0..count).map(|_| of(place())).collect();
                    let wide: Vec<_> = points.iter().map(|it| it.to_f64()).collect();
                    let lanes = Lanes::new(&wide);
                    for length in [1e-15, 1.0, 1e15] {
                        let mut side = || if random.random() { 1.0 } else { -1.0 };
                        let signs: [f64; 3] = [(); 3].map(|()| side());
                        let turned = signs.map(|it| it * random.random_range(0.2..1.0));
                        let [x, y, z] = turned.map(|it| it * length);
                        for direction in [[x, y, z], [x, y * 1e-9, z * 1e-9], [-1.0, 1.0, 0.0]] {
                            let direction = DVector::of(direction);
                            let best = lanes.as_ref().and_then(|it| it.farthest(direction));
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
    fn the_farthest_point_is_that_of_a_scan() {
        is_that_of_a_scan(|[x, y, _]| Vec2::new(x, y));
        is_that_of_a_scan(Vec3::from_array);
    }

    #[test]
    fn what_f32_cannot_hold_is_left_to_a_scan() {
        let one = |size: f32| Lanes::new(&[Vec3::new(size, 0.0, 0.0).to_f64()]);
        assert!(one(0.0).is_none() && one(1e-20).is_none() && one(1e20).is_none());
        let along = |size: f64| one(1.0).map(|lanes| lanes.farthest(Vec3::X.to_f64() * size));
        for size in [0.0, 1e-20, 1e20, f64::INFINITY] {
            assert_eq!(along(size), Some(None), "{size}");
        }
        assert_eq!(along(2.0), Some(Some(Vec3::X.to_f64())));
    }
}
