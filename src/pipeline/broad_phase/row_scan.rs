//! Overlap queries: scans of the sorted rows of a [`Grid`].

use core::ops::Range;

use crate::{
    pipeline::broad_phase::{
        cell_size::SIZE_ROUNDING,
        grid::{Grid, GridBox, GridRow},
        row_key::RowNumber,
    },
    shape::Aabb,
};

/// Relative bound on the rounding errors of a row's limits, in f64.
const ROW_ROUNDING: f64 = 1e-9;

impl Grid {
    /// Calls `visit` with all pairs of overlapping boxes whose first box is in one of `rows`.
    pub fn for_each_overlap(
        &self,
        dimension: usize,
        rows: Range<usize>,
        mut visit: impl FnMut(u32, u32),
    ) {
        // The list has the offsets along z and y to the adjacent rows that come later. Pairs with
        // an earlier row are found when that row is visited. In 2D, all rows have the same z.
        let adjacent: &[(i32, i32)] = match dimension {
            2 => &[(0, 1)],
            _ => &[(0, 1), (1, -1), (1, 0), (1, 1)],
        };
        let mut nexts = [rows.start; 4];
        for index in rows {
            let Some(GridRow { number, .. }) = self.rows.get(index) else {
                break;
            };
            let own = self.row(index);
            let mut rest = own;
            while let Some((entry, others)) = rest.split_first() {
                rest = others;
                scan_row(entry, others, &mut visit);
            }
            for (step, next) in adjacent.iter().zip(&mut nexts) {
                let (z, y) = (number.z + step.0, number.y + step.1);
                let number = RowNumber { z, y };
                while self.rows.get(*next).is_some_and(|row| row.number < number) {
                    *next += 1;
                }
                if let Some(row) = self.rows.get(*next)
                    && row.number == number
                {
                    self.scan_adjacent(own, row, self.row(*next), *step, &mut visit);
                }
            }
        }
    }

    /// Calls `visit` with all pairs of overlapping boxes from a row and an adjacent row. `step` is
    /// the offset of the adjacent row along z and y.
    fn scan_adjacent(
        &self,
        row: &[GridBox],
        adjacent: &GridRow,
        others: &[GridBox],
        step: (i32, i32),
        mut visit: impl FnMut(u32, u32),
    ) {
        // `is_near` skips boxes that do not reach the adjacent row. Most boxes do not reach it.
        let ([cell_y, cell_z], [_, largest_y, _]) = (self.cells, self.largest);
        let begin = |number: i32, cell: f64| {
            let begin = f64::from(number) * cell;
            begin - (begin.abs() + cell) * ROW_ROUNDING
        };
        let (begin_y, begin_z) = (
            begin(adjacent.number.y, cell_y),
            begin(adjacent.number.z, cell_z),
        );
        let end_y = f64::from(adjacent.number.y) * cell_y
            + (cell_y + f64::from(largest_y)) * (1.0 + SIZE_ROUNDING);
        let end_y = end_y + end_y.abs() * ROW_ROUNDING;
        let (step_z, step_y) = step;
        let is_near = |Aabb { min, max, .. }: &Aabb| {
            let is_near_y = match step_y {
                0 => true,
                1 => f64::from(max[1]) >= begin_y,
                _ => f64::from(min[1]) <= end_y,
            };
            is_near_y && (step_z == 0 || f64::from(max[2]) >= begin_z)
        };
        let mut others = others;
        for entry in row.iter().filter(|entry| is_near(&entry.aabb)) {
            let [begin, ..] = overlap_begin(&entry.aabb, self.largest);
            while let Some((first, rest)) = others.split_first()
                && f64::from(first.aabb.min[0]) < begin
            {
                others = rest;
            }
            scan_row(entry, others, &mut visit);
        }
    }

    /// Calls `visit` with all pairs of overlapping boxes. The first box is in `range` and accepted
    /// by `is_wanted`, and the second box is in `other`.
    pub fn for_each_overlap_with(
        &self,
        other: &Self,
        range: Range<usize>,
        is_wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, u32),
    ) {
        let (Some(first), Some(last)) = (other.rows.first(), other.rows.last()) else {
            return;
        };
        let inverse_cells = other.inverse_cells();
        let entries = self.entries.get(range).unwrap_or_default().iter();
        let mut index = 0;
        for entry in entries.filter(|entry| is_wanted(entry.slot)) {
            let begin = overlap_begin(&entry.aabb, other.largest);
            let low = RowNumber::containing(begin, inverse_cells);
            let high = RowNumber::containing(entry.aabb.max.map(f64::from), inverse_cells);
            let mut z = low.z.max(first.number.z);
            while z <= high.z.min(last.number.z) {
                let number = RowNumber { z, y: low.y };
                index = other.seek(index, number);
                while let Some(row) = other.rows.get(index)
                    && (row.number.z, row.number.y) <= (z, high.y)
                {
                    scan_row(entry, other.row_from(index, begin[0]), &mut visit);
                    index += 1;
                }
                // Skips empty layers. A layer consists of all rows with the same z.
                let Some(next) = other.rows.get(index) else {
                    break;
                };
                z = next.number.z.max(z + 1);
            }
        }
    }
}

/// Returns the smallest possible lower corner of a box that overlaps `aabb` and is no larger than
/// `largest`.
#[inline]
fn overlap_begin(aabb: &Aabb, largest: [f32; 3]) -> [f64; 3] {
    let begin =
        |min: f32, largest: f32| f64::from(min) - f64::from(largest) * (1.0 + SIZE_ROUNDING);
    let ([x, y, z], [largest_x, largest_y, largest_z]) = (aabb.min, largest);
    [
        begin(x, largest_x),
        begin(y, largest_y),
        begin(z, largest_z),
    ]
}

#[cfg(test)]
thread_local! {
    /// The number of scans on this thread, plus the number of boxes that they visited.
    pub static SCANNED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// Calls `visit` with `entry` and each of the `others` that overlaps `entry`. The `others` are
/// sorted by their lower x.
fn scan_row(entry: &GridBox, others: &[GridBox], mut visit: impl FnMut(u32, u32)) {
    let [end, ..] = entry.aabb.max;
    #[cfg(test)]
    SCANNED.set(SCANNED.get() + 1);
    for other in others {
        #[cfg(test)]
        SCANNED.set(SCANNED.get() + 1);
        let [begin, ..] = other.aabb.min;
        if begin > end {
            break;
        }
        if entry.aabb.may_touch(&other.aabb) {
            visit(entry.slot, other.slot);
        }
    }
}
