//! A set of boxes of similar sizes, sorted for the queries of [`row_scan`](super::row_scan).
//!
//! The set is a uniform grid (Ericson, "Real-Time Collision Detection" (2005), chapter 7.1). The
//! cells are rows, unbounded along x, with sort and sweep in each row (chapter 7.5). Boxes are
//! sorted by the row of their lower corner, then by their lower x. No box is larger than a cell
//! along y or z. So a box overlaps only boxes of its own row and of the adjacent rows, each of
//! which is a sorted list.
//!
//! Departures from the book:
//!
//! * *No table of cells.* Rows are stored in order. A pass over all rows finds the adjacent rows by
//!   indices that only increase.
//! * *Cells are not cubes.* [`cell_size`](super::cell_size) chooses the size along each axis.

use crate::{
    buffer::{Peak, reserve_amortized},
    parallel::{for_chunks, share},
    pipeline::broad_phase::{
        cell_size::{self, Crowding, SAMPLED_BOXES},
        row_key::{RowKey, RowNumber},
    },
    shape::Aabb,
    sorted::restore,
};

/// Maximum number of times that the boxes are sorted in a tick, until the cell size is suitable. If
/// the cell size was suitable in the previous tick, one sort is usually enough.
const MAX_SORTS: usize = 8;

/// Minimum number of boxes per task.
const MIN_SORTED_BOXES: usize = 2048;

#[inline]
fn box_in(boxes: &[Aabb], slot: u32) -> Aabb {
    boxes.get(slot as usize).copied().unwrap_or(Aabb::EMPTY)
}

#[inline]
fn max([x, y, z]: [f32; 3], [u, v, w]: [f32; 3]) -> [f32; 3] {
    [x.max(u), y.max(v), z.max(w)]
}

/// A box with its slot.
#[derive(Clone, Copy, Debug)]
pub struct GridBox {
    pub aabb: Aabb,
    pub slot: u32,
}

/// A row with the index of its first entry.
#[derive(Clone, Copy, Debug)]
pub struct GridRow {
    pub number: RowNumber,
    start: u32,
}

/// A set of boxes of similar sizes.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// The cell size along y and z. No box is larger than a cell.
    pub cells: [f64; 2],
    /// The sorted [`RowKey`]s of all boxes.
    keys: Vec<u128>,
    /// All boxes, in the order of the keys.
    pub entries: Vec<GridBox>,
    pub rows: Vec<GridRow>,
    /// The largest size of a box along each axis.
    pub largest: [f32; 3],
    /// The size along each axis of the space that holds nearly all boxes.
    spread: [f64; 3],
    crowding: Crowding,
    /// The slots that the next sort adds.
    added: Vec<u32>,
    spare: Vec<u128>,
    /// The peak number of boxes.
    peak: Peak,
}

impl Grid {
    /// Returns the number of boxes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Adds a box. [`sort`](Self::sort) must be called afterwards.
    #[inline]
    pub fn add(&mut self, slot: u32, size: [f32; 3]) {
        self.added.push(slot);
        self.largest = max(self.largest, size);
    }

    /// Updates the keys of all boxes. `size_if_kept` returns the size of a box, or `None` if the
    /// box leaves the grid. Calls `on_leave` with the slot of each box that leaves.
    /// [`sort`](Self::sort) must be called afterwards.
    pub fn retain(
        &mut self,
        boxes: &[Aabb],
        size_if_kept: impl Fn(u32, &Aabb) -> Option<[f32; 3]> + Copy + Send + Sync,
        mut on_leave: impl FnMut(u32),
    ) {
        let inverse_cells = self.inverse_cells();
        // Updates `keys`, and returns the largest size of the boxes that stay.
        let update = move |keys: &mut [u128]| {
            let mut largest = [0.0; 3];
            for key in keys {
                let slot = RowKey::slot(*key);
                let aabb = box_in(boxes, slot);
                *key = match size_if_kept(slot, &aabb) {
                    Some(size) => {
                        largest = max(largest, size);
                        RowKey::encode(&aabb, slot, inverse_cells)
                    }
                    None => RowKey::LEAVES | u128::from(slot),
                };
            }
            largest
        };
        let keys = &mut self.keys;
        self.largest = match share(keys.len(), MIN_SORTED_BOXES) {
            Some((pool, size)) => {
                let largest = pool.scope(|scope| {
                    for keys in keys.chunks_mut(size) {
                        scope.spawn(async move { update(keys) });
                    }
                });
                largest.into_iter().fold([0.0; 3], max)
            }
            None => update(keys),
        };
        keys.retain(|key| {
            let is_kept = *key < RowKey::LEAVES;
            if !is_kept {
                on_leave(RowKey::slot(*key));
            }
            is_kept
        });
    }

    /// Sorts all boxes, and adapts the cell size.
    pub fn sort(&mut self, boxes: &[Aabb]) {
        for _ in 0..MAX_SORTS {
            self.sort_into_rows(boxes);
            let neighbors = self.mean_neighbors();
            let largest = self.largest.map(f64::from);
            if !self.crowding.adapt(neighbors, self.cells, largest) {
                break;
            }
        }
    }

    /// Estimates, from a sample, the mean number of [neighbors](cell_size::NEIGHBORS) of a box.
    fn mean_neighbors(&self) -> f64 {
        let (mut sum, mut count) = (0, 0_u32);
        for start in (0..self.entries.len()).step_by(self.entries.len() / SAMPLED_BOXES + 1) {
            let next_row = self.rows.partition_point(|row| row.start as usize <= start);
            let row = self.entries.get(start..self.row_start(next_row));
            if let Some((first, others)) = row.and_then(<[GridBox]>::split_first) {
                let [end, ..] = first.aabb.max;
                sum += others.partition_point(|other| other.aabb.min[0] <= end);
                count += 1;
            }
        }
        sum as f64 / f64::from(count.max(1))
    }

    fn sort_into_rows(&mut self, boxes: &[Aabb]) {
        let slots = self.keys.iter().map(|key| RowKey::slot(*key));
        let slots = slots.chain(self.added.iter().copied());
        let count = self.keys.len() + self.added.len();
        let sample = slots.step_by(count / SAMPLED_BOXES + 1);
        self.spread = cell_size::spread(sample.map(|slot| box_in(boxes, slot)));
        let largest = self.largest.map(f64::from);
        let cells = cell_size::choose(self.cells, self.spread, count, largest, self.crowding);
        let is_same = cells == self.cells;
        self.cells = cells;
        let inverse_cells = self.inverse_cells();
        let encode = |slot: u32| RowKey::encode(&box_in(boxes, slot), slot, inverse_cells);
        if !is_same {
            self.keys
                .iter_mut()
                .for_each(|key| *key = encode(RowKey::slot(*key)));
        }
        self.spare.extend(self.added.drain(..).map(encode));
        restore(&mut self.keys, &mut self.spare);
        self.spare.clear();
        self.fill_entries(boxes);
        self.rows.clear();
        for (key, start) in self.keys.iter().zip(0..) {
            let number = RowKey::row(*key);
            if self.rows.last().is_none_or(|row| row.number != number) {
                self.rows.push(GridRow { number, start });
            }
        }
    }

    /// Writes the entries in the order of the keys.
    fn fill_entries(&mut self, boxes: &[Aabb]) {
        let Self { keys, entries, .. } = self;
        let missing = keys.len().saturating_sub(entries.len());
        reserve_amortized(entries, missing);
        let aabb = Aabb::EMPTY;
        entries.resize(keys.len(), GridBox { aabb, slot: 0 });
        for_chunks(
            keys,
            entries,
            MIN_SORTED_BOXES,
            || {},
            |keys, entries| {
                for (key, entry) in keys.iter().zip(entries) {
                    let slot = RowKey::slot(*key);
                    let aabb = box_in(boxes, slot);
                    *entry = GridBox { aabb, slot };
                }
            },
        );
    }

    /// Ends a tick, and frees unused memory. Returns `true` if the grid had boxes recently: see
    /// [`Peak`].
    pub fn end_tick(&mut self) -> bool {
        if self.peak.end_tick(self.len()) {
            // Cloning the grid drops its unused capacity.
            *self = self.clone();
        }
        !self.peak.is_unused()
    }

    /// Returns the reciprocals of the cell size along y and z.
    pub fn inverse_cells(&self) -> [f64; 2] {
        self.cells.map(|cell| 1.0 / cell)
    }

    /// Returns the index of a row's first entry.
    #[inline]
    fn row_start(&self, row: usize) -> usize {
        let row = self.rows.get(row);
        row.map_or(self.entries.len(), |row| row.start as usize)
    }

    /// Returns the entries of a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[GridBox] {
        let entries = self
            .entries
            .get(self.row_start(row)..self.row_start(row + 1));
        entries.unwrap_or_default()
    }

    /// Returns the entries of a row whose lower x is `begin` or greater.
    #[inline]
    pub fn row_from(&self, row: usize, begin: f64) -> &[GridBox] {
        let row = self.row(row);
        let before = row.partition_point(|entry| f64::from(entry.aabb.min[0]) < begin);
        row.get(before..).unwrap_or_default()
    }

    /// Returns the index of the first row at `number` or after it. The search starts at the index
    /// `near`, and doubles its steps.
    pub fn seek(&self, near: usize, number: RowNumber) -> usize {
        let is_before = |index: usize| self.rows.get(index).is_some_and(|row| row.number < number);
        let (mut start, mut end) = (near, near);
        let mut step = 1;
        if is_before(near) {
            while is_before(end) {
                start = end + 1;
                end += step;
                step *= 2;
            }
        } else {
            while start > 0 && !is_before(start - 1) {
                end = start - 1;
                start = start.saturating_sub(step);
                step *= 2;
            }
        }
        let range = self.rows.get(start..end.min(self.rows.len()));
        start
            + range
                .unwrap_or_default()
                .partition_point(|row| row.number < number)
    }

    /// Estimates the fraction of the boxes of `other` that a query with one box of this grid
    /// visits. The estimate assumes that the boxes are spread evenly.
    pub fn visited_fraction_of(&self, other: &Self) -> f64 {
        let ([x, y, z], [other_x, other_y, other_z]) =
            (self.largest.map(f64::from), other.largest.map(f64::from));
        let [cell_y, cell_z] = other.cells;
        let visited = [x + other_x, y + other_y + cell_y, z + other_z + cell_z];
        let fractions = visited.iter().zip(other.spread);
        fractions
            .map(|(visited, spread)| (visited / spread).min(1.0))
            .product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        math::DVec2,
        pipeline::broad_phase::cell_size::{CROWDED, NEIGHBORS},
        shape::Bounds,
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn square(x: f64, y: f64, half: f64) -> Aabb {
        let (center, half) = (DVec2::new(x, y), DVec2::splat(half));
        let bounds = Bounds {
            min: center - half,
            max: center + half,
        };
        Aabb::around(&bounds, f64::INFINITY)
    }

    fn sorted(boxes: &[Aabb]) -> Grid {
        let mut grid = Grid::default();
        for (slot, aabb) in (0..).zip(boxes) {
            grid.add(slot, aabb.size());
        }
        grid.sort(boxes);
        grid
    }

    /// However the boxes are spread, the mean number of neighbors in a row stays small.
    #[test]
    fn cells_adapt_to_crowds() {
        let mut random = StdRng::seed_from_u64(1);
        for (crowds, along_y, away) in [
            (1, true, 0.0),
            (2, true, 1e3),
            (2, false, 1e3),
            (10, true, 1e3),
            (100, false, 1e5),
            (2, true, 1e6),
        ] {
            let boxes: Vec<Aabb> = (0..10_000)
                .map(|number| {
                    let side = (10_000.0 / f64::from(crowds)).sqrt();
                    let [x, y] = [(); 2].map(|()| random.random_range(0.0..side));
                    let from = away * f64::from(number % crowds);
                    if along_y {
                        square(x, y + from, 0.5)
                    } else {
                        square(x + from, y, 0.5)
                    }
                })
                .collect();
            let grid = sorted(&boxes);
            let found = grid.mean_neighbors();
            assert!(
                found < CROWDED * NEIGHBORS,
                "{found} neighbors in {crowds} crowds {away} apart"
            );
        }
    }

    /// Some rows are so far from the origin that they contain few f32 numbers.
    #[test]
    fn no_overlap_is_missed_far_from_the_origin() {
        let mut random = StdRng::seed_from_u64(2);
        for row in [0, 1_000, 1_000_000, -1_000_000, 1 << 24, -(1 << 29)] {
            let boxes: Vec<Aabb> = (0..200)
                .map(|_| {
                    let [x, y] = [(); 2].map(|()| random.random_range(-4.0..4.0));
                    square(x, y + f64::from(row), 0.5)
                })
                .collect();
            let grid = sorted(&boxes);
            let mut found = Vec::new();
            grid.for_each_overlap(2, 0..grid.row_count(), |a, b| {
                found.push((a.min(b), a.max(b)));
            });
            found.sort_unstable();
            let pairs = boxes.iter().zip(0..).flat_map(|(a, slot)| {
                let others = boxes.iter().zip(0..).skip(slot as usize + 1);
                let others = others.filter(|(b, _)| a.may_touch(b));
                others.map(move |(_, other)| (slot, other))
            });
            assert_eq!(found, pairs.collect::<Vec<(u32, u32)>>(), "{row}");
        }
    }
}
