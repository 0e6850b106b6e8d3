//! Queries of a [`Grid`] along a path: the boxes that a moving box may meet.
//!
//! The box around a long diagonal path has far more space than the path. So the path is clipped to
//! each layer of rows, then to each row, and only that part is looked up along x (as a line is
//! drawn in a raster).

use crate::{
    pipeline::broad_phase::{
        grid::{Entry, Grid},
        row_key::RowNumber,
        sweep::ROW_ROUNDING,
    },
    shape::Bounds,
    space::DVector,
};

/// A box that moves along a line, in the time from 0 to 1.
pub struct MovingBox {
    x: MovingInterval,
    y: MovingInterval,
    z: MovingInterval,
}

/// The extent of a moving box along an axis.
struct MovingInterval {
    /// At the time 0.
    min: f64,
    max: f64,
    translation: f64,
}

/// A part of the time.
type Times = [f64; 2];

impl MovingBox {
    /// `bounds` is the box at the time 0.
    pub fn new<D: DVector>(bounds: &Bounds<D>, translation: D) -> Self {
        let [min, max] = [bounds.min.components(), bounds.max.components()];
        let translation = translation.components();
        Self {
            x: MovingInterval {
                min: min[0],
                max: max[0],
                translation: translation[0],
            },
            y: MovingInterval {
                min: min[1],
                max: max[1],
                translation: translation[1],
            },
            z: MovingInterval {
                min: min[2],
                max: max[2],
                translation: translation[2],
            },
        }
    }

    /// Returns the same box with a margin around it.
    fn grown(&self, margin: f64) -> Self {
        Self {
            x: self.x.grown(margin),
            y: self.y.grown(margin),
            z: self.z.grown(margin),
        }
    }
}

impl MovingInterval {
    /// Returns the same interval with a margin around it, enlarged for all rounding.
    fn grown(&self, margin: f64) -> Self {
        let Self {
            min,
            max,
            translation,
        } = *self;
        let margin = margin + (min.abs() + max.abs() + translation.abs()) * ROW_ROUNDING;
        Self {
            min: min - margin,
            max: max + margin,
            translation,
        }
    }

    /// Returns the range that the interval covers during some time.
    fn range(&self, times: Times) -> [f64; 2] {
        let [start, end] = times.map(|time| self.translation * time);
        [self.min + start.min(end), self.max + start.max(end)]
    }

    /// Returns the part of the time during which the interval touches a range.
    fn times_in(&self, [begin, end]: [f64; 2], [start, stop]: Times) -> Option<Times> {
        let (before, behind) = (begin - self.max, end - self.min);
        let speed = self.translation;
        let [enter, leave] = if speed > 0.0 {
            [before / speed, behind / speed]
        } else if speed < 0.0 {
            [behind / speed, before / speed]
        } else if before <= 0.0 && behind >= 0.0 {
            [start, stop]
        } else {
            return None;
        };
        let (enter, leave) = (enter.max(start), leave.min(stop));
        (enter <= leave).then_some([enter, leave])
    }
}

impl Grid {
    /// Calls `visit` with all boxes that a moving box may meet if it is grown by `growth` times
    /// the largest size of a box. Also visits other boxes nearby.
    pub fn for_each_along(&self, moving: &MovingBox, growth: f64, mut visit: impl FnMut(&Entry)) {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else {
            return;
        };
        let inverse_cells = self.inverse_cells();
        let [cell_y, cell_z] = self.cells;
        let [largest_x, largest_y, largest_z] = self.largest.map(f64::from);
        let moving = moving.grown(growth * largest_x.max(largest_y).max(largest_z));
        let row_at = |y: f64, z: f64| RowNumber::of([0.0, y, z], inverse_cells);
        // The space that the boxes of a row may cover.
        let row_range = |number: i32, cell: f64, largest: f64| {
            let begin = f64::from(number) * cell;
            [begin, begin + cell + largest]
        };
        let all = [0.0, 1.0];
        let [begin, end] = moving.z.range(all);
        let (low, high) = (row_at(0.0, begin - largest_z).z, row_at(0.0, end).z);
        let mut index = 0;
        let mut z = low.max(first.number.z);
        while z <= high.min(last.number.z) {
            let layer = row_range(z, cell_z, largest_z);
            let times = moving.z.times_in(layer, all).unwrap_or(all);
            let [begin, end] = moving.y.range(times);
            let (low, high) = (row_at(begin - largest_y, 0.0).y, row_at(end, 0.0).y);
            index = self.seek(index, RowNumber { z, y: low });
            while let Some(row) = self.rows.get(index)
                && (row.number.z, row.number.y) <= (z, high)
            {
                let range = row_range(row.number.y, cell_y, largest_y);
                if let Some(times) = moving.y.times_in(range, times) {
                    let [begin, end] = moving.x.range(times);
                    let entries = self.row_from(index, begin - largest_x).iter();
                    let is_before_end = |entry: &&Entry| f64::from(entry.aabb.min[0]) <= end;
                    entries.take_while(is_before_end).for_each(&mut visit);
                }
                index += 1;
            }
            // Skip empty layers.
            let Some(next) = self.rows.get(index) else {
                break;
            };
            z = next.number.z.max(z + 1);
        }
    }
}
