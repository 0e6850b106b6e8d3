//! The choice of a grid's cell size.
//!
//! If a box overlaps a few other boxes of its row along x, scanning the row takes about as long as
//! finding the row. So the cells are sized for a few such neighbors. Let n boxes fill a space of
//! size w_x × w_y × w_z evenly, and let l be the length of a box along x. In a row with
//! cross-section a, n (l / w_x) (a / w_y w_z) boxes overlap a box along x. For k such neighbors, a
//! = k w_x w_y w_z / n l. In 2D, w_z and the cell size along z are left out.
//!
//! If the boxes are crowded, each box has more neighbors. [`Crowding`] then shrinks the cells
//! according to the measured number of neighbors.

use core::ops::Range;

use smallvec::SmallVec;

use crate::shape::Aabb;

/// The intended mean number of neighbors of a box: boxes that come later in its row, and overlap it
/// along x.
pub const NEIGHBORS: f64 = 5.0;

/// Boxes are crowded if their mean number of neighbors exceeds this multiple of [`NEIGHBORS`].
pub const CROWDED: f64 = 3.0;

/// The ratio of a new cell size to its target. The target is the size by the formula above, but at
/// least the size of the largest box.
const CELL_ENLARGEMENT: f64 = 1.1;

/// A cell size is kept while its ratio to the target is in this range. So cells seldom change while
/// boxes move and rotate.
const KEPT: Range<f64> = 0.5..1.3;

/// Relative bound on the rounding errors of box sizes, which are differences of f32 coordinates.
pub const SIZE_ROUNDING: f64 = 1e-6;

/// The number of boxes that are sampled for an estimate.
pub const SAMPLED_BOXES: usize = 64;

/// The factor by which crowding reduces the cross-section of cells.
#[derive(Clone, Copy, Debug)]
pub struct Crowding(f64);

impl Default for Crowding {
    fn default() -> Self {
        Self(1.0)
    }
}

impl Crowding {
    /// Adapts to the mean number of neighbors in a grid whose cells have the size `cells` along y
    /// and z. `largest` is the largest size of a box along each axis. Returns `true` if the cells
    /// must shrink, so that the boxes have to be sorted again at once.
    pub fn adapt(&mut self, neighbors: f64, cells: [f64; 2], largest: [f64; 3]) -> bool {
        let ([cell_y, cell_z], [_, largest_y, largest_z]) = (cells, largest);
        let least = largest_y * largest_z * CELL_ENLARGEMENT * CELL_ENLARGEMENT;
        let area = cell_y * cell_z;
        let is_crowded = neighbors > CROWDED * NEIGHBORS && area > least * CELL_ENLARGEMENT;
        if is_crowded {
            self.0 *= (NEIGHBORS / neighbors).max(least / area);
        } else if neighbors * CROWDED < NEIGHBORS {
            // In each tick, the factor at most doubles, to avoid oscillation.
            self.0 = (2.0 * self.0).min(1.0);
        }
        is_crowded
    }
}

/// Estimates, from a sample, the size along each axis of the space that holds nearly all boxes. The
/// estimate is twice the distance between the quartiles, so that outliers do not count.
pub fn spread(sample: impl Iterator<Item = Aabb>) -> [f64; 3] {
    let sample: SmallVec<[Aabb; SAMPLED_BOXES]> = sample.take(SAMPLED_BOXES).collect();
    let along = |coordinate: fn(&Aabb) -> f32| {
        let mut sorted: SmallVec<[f32; SAMPLED_BOXES]> = sample.iter().map(coordinate).collect();
        sorted.sort_unstable_by(f32::total_cmp);
        let quartile = |number: usize| sorted.get(sorted.len() * number / 4);
        let quartiles = quartile(1).zip(quartile(3));
        quartiles.map_or(0.0, |(low, high)| {
            2.0 * (f64::from(*high) - f64::from(*low))
        })
    };
    [
        along(|aabb| aabb.min[0]),
        along(|aabb| aabb.min[1]),
        along(|aabb| aabb.min[2]),
    ]
}

/// Returns the cell size along y and z for `count` boxes in a space of size `x` × `y` × `z`: see
/// the head of this file. `largest_x`, `largest_y` and `largest_z` are the largest sizes of a box.
pub fn choose(
    cells: [f64; 2],
    [x, y, z]: [f64; 3],
    count: usize,
    [largest_x, largest_y, largest_z]: [f64; 3],
    Crowding(crowding): Crowding,
) -> [f64; 2] {
    let length = crowding * NEIGHBORS / count as f64 * x / largest_x;
    let best = if z > 0.0 {
        let z = z.max(largest_z);
        // No cell may be smaller than the largest box.
        let cell_z = (length * z).max(largest_z);
        // A cell twice as long as the estimated space already holds nearly all boxes, so longer
        // cells would gain nothing.
        [(length * y * z / cell_z).min(2.0 * y), cell_z]
    } else {
        [length * y, largest_z]
    };
    let ([cell_y, cell_z], [best_y, best_z]) = (cells, best);
    [
        settle(cell_y, largest_y, best_y),
        settle(cell_z, largest_z, best_z),
    ]
}

/// Returns the current cell size if that size is suitable, and otherwise a new cell size.
fn settle(cell: f64, largest: f64, best: f64) -> f64 {
    let target = largest.max(best);
    if cell >= largest * (1.0 + SIZE_ROUNDING) && KEPT.contains(&(cell / target)) {
        cell
    } else {
        target * CELL_ENLARGEMENT
    }
}
