//! The solid cells near a body, as sets of bits.
//!
//! If all cells near a body are solid or empty, `surface/` needs no facets for most contacts:
//! [`CellGrid::find_solid`] reads the cells, and
//! [`side_facet`](super::cell_surface::CellSurface::side_facet) returns the facet of a contact.

use crate::{
    shape::{
        Bounds,
        cells::{
            block_layout::bits,
            cell_surface::BOX_ROUNDING,
            grid::{CellGrid, CellPosition, CellRanges, floor, is_in_range},
            pieces::grow,
        },
    },
    space::{DVector, Space},
};

/// The greatest number of cells along the x axis, and the number of bits of a row.
const MAX_LENGTH: i32 = 16;

/// The greatest number of rows of cells.
const MAX_ROWS: usize = 144;

/// The solid cells in a small box of cells. The other cells of the box are empty.
#[derive(Default)]
pub struct NearCells {
    /// The positions of the cells. Cells outside count as empty.
    ranges: CellRanges,
    /// The solid cells of each row along the x axis, with y first and then z.
    rows: Vec<u16>,
    /// The solid cells with an exposed side, without the outermost cells of the box.
    pub exposed: Vec<CellPosition>,
}

impl<V: Space> CellGrid<V> {
    /// Finds the solid cells near a box in the frame of the grid, and the cells around them.
    /// Returns `None` if any of these cells is neither solid nor empty, or if they are too many.
    pub fn find_solid(&self, bounds: &Bounds<V::DVec>, near: &mut NearCells) -> Option<()> {
        let reach = V::DVec::ONE * (BOX_ROUNDING * self.cell_size().to_f64().extent());
        let ends = [bounds.min - reach, bounds.max + reach];
        let [first, last] = ends.map(|end| floor(self.in_cells(end)));
        if !is_in_range(first) || !is_in_range(last) {
            return None;
        }
        near.ranges = [[0; 2]; 3];
        let axes = near.ranges.iter_mut().zip(first).zip(last);
        for ((range, first), last) in axes.take(V::DVec::DIMENSION) {
            *range = [first - 1, last + 1];
        }
        let [length, ys, zs] = near.ranges.map(|[first, last]| last - first + 1);
        if length > MAX_LENGTH || i64::from(ys) * i64::from(zs) > MAX_ROWS as i64 {
            return None;
        }
        near.rows.clear();
        near.rows.resize((ys * zs) as usize, 0);
        let mut is_simple = true;
        self.visit_rows(near.ranges, |row| {
            let (solid, start) = (row.solid(), near.ranges[0][0]);
            is_simple &= solid == row.occupied();
            if let Some(known) = near.row_mut(row.position) {
                *known |= (solid as u16) << (row.position[0] - start);
            }
        });
        is_simple.then(|| near.find_exposed(V::DVec::DIMENSION))
    }
}

impl NearCells {
    /// Returns the index of a row.
    fn index(&self, [_, y, z]: CellPosition) -> Option<usize> {
        let [_, ys, zs] = self.ranges;
        let is_inside = (ys[0]..=ys[1]).contains(&y) && (zs[0]..=zs[1]).contains(&z);
        is_inside.then(|| ((y - ys[0]) + (z - zs[0]) * (ys[1] - ys[0] + 1)) as usize)
    }

    fn row_mut(&mut self, position: CellPosition) -> Option<&mut u16> {
        let index = self.index(position)?;
        self.rows.get_mut(index)
    }

    fn row(&self, position: CellPosition) -> u16 {
        let row = self.index(position).and_then(|index| self.rows.get(index));
        row.copied().unwrap_or(0)
    }

    /// Returns `true` if the cell at a position is solid.
    pub fn is_solid(&self, position: CellPosition) -> bool {
        let bit = position[0] - self.ranges[0][0];
        (0..MAX_LENGTH).contains(&bit) && self.row(position) >> bit & 1 == 1
    }

    /// Returns `true` if a solid cell is exposed at a side. The sides 2 * i and 2 * i + 1 are at
    /// the lower and the upper end of axis i.
    pub fn is_exposed(&self, position: CellPosition, side: usize) -> bool {
        let mut beyond = position;
        if let Some(at) = beyond.get_mut(side / 2) {
            *at += 2 * (side % 2) as i32 - 1;
        }
        self.is_solid(position) && !self.is_solid(beyond)
    }

    /// Returns the positions without the outermost ones, whose neighbors are not known.
    pub fn inner_ranges(&self, dimension: usize) -> CellRanges {
        let mut ranges = self.ranges;
        for range in ranges.iter_mut().take(dimension) {
            *range = [range[0] + 1, range[1] - 1];
        }
        ranges
    }

    fn find_exposed(&mut self, dimension: usize) {
        self.exposed.clear();
        let [[x, last], [y, last_y], [z, last_z]] = self.inner_ranges(dimension);
        let inner = ((1_u32 << (last - x + 1)) - 1) << 1;
        for z in z..=last_z {
            for y in y..=last_y {
                let row = self.row([x, y, z]);
                let mut covered = row << 1 & row >> 1;
                covered &= self.row([x, y - 1, z]) & self.row([x, y + 1, z]);
                if dimension == 3 {
                    covered &= self.row([x, y, z - 1]) & self.row([x, y, z + 1]);
                }
                let cells = bits(u64::from(row & !covered & inner as u16));
                self.exposed
                    .extend(cells.map(|bit| [x + bit as i32 - 1, y, z]));
            }
        }
    }

    /// Returns a box of solid cells around a solid cell.
    pub fn grown<D: DVector>(&self, position: CellPosition) -> CellRanges {
        let mut ranges = position.map(|at| [at, at]);
        grow::<D>(&mut ranges, |position| self.is_solid(position));
        ranges
    }
}
