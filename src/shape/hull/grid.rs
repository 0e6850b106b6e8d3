//! Points rounded to a grid of integers, on which signs of areas and volumes are exact.
//!
//! Source: Fortune and Van Wyk, "Static analysis yields efficient exact integer arithmetic for
//! computational geometry" (1996). The coordinates are integers of at most 2⁴⁰, relative to one of
//! the points. So `f64` holds the coordinates and their differences exactly. `i128` holds six times
//! the volume of a tetrahedron: at most 3 · 2⁴¹ · 2 · 2⁸² < 2¹²⁶.
//!
//! A grid step is at most 2⁻³⁹ of the length of the set. This step is less than 1/60,000 of
//! [`COORDINATE_ROUNDING`], the rounding that the given `f32` coordinates already have.

use crate::math::{DVec3, Vec3};

/// The rounding of `f32` coordinates, relative to the length of the set.
///
/// A point may be dropped if it is outside of the hull of the other points by at most this
/// rounding. A set is flat if its thickness is at most twice the rounding, because both sides are
/// rounded.
const COORDINATE_ROUNDING: f64 = f32::EPSILON as f64;

/// No coordinate exceeds 2 to this power.
const GRID_BITS: i32 = 40;

/// The part of the tolerance that covers rounding to the grid, in grid steps. This rounding moves a
/// dropped point and the hull by half the diagonal of a cell each: by √3 steps together. The rest
/// of the margin covers the rounding of `f64`.
const GRID_MARGIN: f64 = 2.0;

/// Points on a grid. All lengths are in steps of the grid.
pub struct GridPoints {
    pub points: Vec<DVec3>,
    /// The index of the grid's origin, which is a point at an end of the set.
    pub origin: usize,
    /// The index of the point farthest from the origin.
    pub end: usize,
    /// The distance between `origin` and `end`, or 0 if all points are equal.
    pub length: f64,
    /// The tolerance for dropped points: [`COORDINATE_ROUNDING`] times the length, less the margin
    /// for the grid.
    pub tolerance: f64,
}

impl GridPoints {
    /// Rounds points to a grid. Returns `None` if there are no points.
    pub fn new(points: &[Vec3]) -> Option<Self> {
        let squares = |from: &Vec3| {
            let from = from.as_dvec3();
            let points = points.iter();
            points.map(move |point| point.as_dvec3().distance_squared(from))
        };
        // The point farthest from any given point is a vertex. The distance from this vertex to its
        // own farthest point is at least half of the set's diameter.
        let (origin, _) = first_max(squares(points.first()?))?;
        let (end, square) = first_max(squares(points.get(origin)?))?;
        let length = square.sqrt();
        // Clearing the mantissa of an `f64` leaves the greatest power of two that is at most the
        // length.
        let power = f64::from_bits(length.to_bits() & f64::INFINITY.to_bits());
        let scale = if length > 0.0 {
            (1_u64 << (GRID_BITS - 1)) as f64 / power
        } else {
            0.0
        };
        let at_origin = points.get(origin)?.as_dvec3();
        // Adding and subtracting this number rounds to an integer.
        let rounder = DVec3::splat(1.5 / f64::EPSILON);
        let to_grid = |point: &Vec3| (point.as_dvec3() - at_origin) * scale + rounder - rounder;
        let length = length * scale;
        Some(Self {
            points: points.iter().map(to_grid).collect(),
            origin,
            end,
            length,
            tolerance: COORDINATE_ROUNDING * length - GRID_MARGIN,
        })
    }

    /// Returns the index of an outermost point, and the greatest height. Among the points within
    /// the tolerance of this height, the outermost point is the first that is farthest from the
    /// origin.
    ///
    /// If the highest points are on a face or an edge, the farthest of these points is usually a
    /// corner.
    pub fn outermost(&self, height: impl Fn(DVec3) -> f64) -> Option<(usize, f64)> {
        let heights = || self.points.iter().map(|point| height(*point));
        let (_, greatest) = first_max(heights())?;
        // A point of at least half the greatest height is so far from the line or plane that the
        // direction to the point has a small error.
        let least = (greatest - self.tolerance).max(0.5 * greatest);
        let high = self.points.iter().zip(heights());
        let squares = high.map(|(point, height)| {
            if height >= least {
                point.length_squared()
            } else {
                -1.0
            }
        });
        let (index, _) = first_max(squares)?;
        Some((index, greatest))
    }

    /// Returns six times the signed volume of a tetrahedron, exactly. The volume is positive if the
    /// first three points are counter-clockwise as seen from the last point.
    pub fn volume(&self, [a, b, c, d]: [usize; 4]) -> Option<i128> {
        let a = *self.points.get(a)?;
        let difference = |index: usize| {
            let difference = *self.points.get(index)? - a;
            Some(
                difference
                    .to_array()
                    .map(|component| component as i64)
                    .map(i128::from),
            )
        };
        let [[x1, y1, z1], [x2, y2, z2], [x, y, z]] =
            [difference(b)?, difference(c)?, difference(d)?];
        Some(x * (y1 * z2 - z1 * y2) + y * (z1 * x2 - x1 * z2) + z * (x1 * y2 - y1 * x2))
    }
}

/// Returns the first maximum and its index.
pub fn first_max(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    let first =
        |best: (usize, f64), other: (usize, f64)| if other.1 > best.1 { other } else { best };
    values.enumerate().reduce(first)
}

/// Returns twice the signed area of a triangle on the grid, exactly. The area is positive if the
/// triangle is counter-clockwise.
pub fn area([a, b, c]: [[i64; 2]; 3]) -> i128 {
    let difference = |[x, y]: [i64; 2]| [x - a[0], y - a[1]].map(i128::from);
    let ([x1, y1], [x2, y2]) = (difference(b), difference(c));
    x1 * y2 - y1 * x2
}
