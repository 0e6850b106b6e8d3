//! The solid cells near a body, as sets of bits.
//!
//! If all cells near a body are solid or empty, `surface/` needs no facets for most contacts:
//! [`CellGrid::find_solid`] reads the cells, and
//! [`side_facet`](super::cell_surface::CellSurface::side_facet) returns the facet of a contact.

use smallvec::SmallVec;

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
pub struct NearCells {
    /// The positions of the cells. Cells outside count as empty.
    ranges: CellRanges,
    /// The solid cells of each row along the x axis, with y first and then z.
    rows: [u16; MAX_ROWS],
    /// The solid cells with an exposed side, without the outermost cells of the box.
    pub exposed: SmallVec<[ExposedCell; 32]>,
}

impl Default for NearCells {
    fn default() -> Self {
        Self {
            ranges: [[0, -1]; 3],
            rows: [0; MAX_ROWS],
            exposed: SmallVec::new(),
        }
    }
}

/// A solid cell with an exposed side.
#[derive(Clone, Copy)]
pub struct ExposedCell {
    pub position: CellPosition,
    /// The mask of the exposed sides. The sides 2 * i and 2 * i + 1 are at the lower and the upper
    /// end of axis i.
    sides: u8,
}

impl ExposedCell {
    pub fn is_exposed(&self, side: usize) -> bool {
        self.sides >> side & 1 == 1
    }
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
        near.rows.get_mut(..(ys * zs) as usize)?.fill(0);
        let mut is_simple = true;
        self.visit_rows(near.ranges, |row| {
            is_simple &= row.solid() == row.occupied();
            if let Some(known) = near.rows.get_mut(row.number) {
                *known |= (row.solid() as u16) << row.offset;
            }
        });
        is_simple.then(|| near.find_exposed(V::DVec::DIMENSION))
    }
}

impl NearCells {
    /// Returns the index of a row.
    fn index(&self, [_, y, z]: CellPosition) -> Option<usize> {
        let [_, [first_y, last_y], [first_z, last_z]] = self.ranges;
        let is_inside = first_y <= y && y <= last_y && first_z <= z && z <= last_z;
        is_inside.then(|| ((y - first_y) + (z - first_z) * (last_y - first_y + 1)) as usize)
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

    /// Returns a solid cell with its exposed sides, or `None` if it has none.
    pub fn exposed_at(&self, position: CellPosition) -> Option<ExposedCell> {
        let mut cells = self.exposed.iter();
        cells.find(|it| it.position == position).copied()
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
        let [[x, last], ys, zs] = self.inner_ranges(dimension);
        let inner = (((1_u32 << (last - x + 1)) - 1) << 1) as u16;
        let rows = &self.rows;
        let row = |index: usize| rows.get(index).copied().unwrap_or(0);
        let height = (self.ranges[1][1] - self.ranges[1][0] + 1) as usize;
        for z in zs[0]..zs[1] + 1 {
            for y in ys[0]..ys[1] + 1 {
                let Some(index) = self.index([x, y, z]) else {
                    continue;
                };
                let own = row(index);
                let mut neighbors = [own << 1, own >> 1, row(index - 1), row(index + 1), own, own];
                if dimension == 3 {
                    neighbors[4] = row(index - height);
                    neighbors[5] = row(index + height);
                }
                let sides = neighbors.map(|neighbor| own & !neighbor & inner);
                let exposed = sides.iter().fold(0, |all, side| all | side);
                self.exposed.extend(bits(exposed.into()).map(|bit| {
                    let numbered = sides.iter().enumerate();
                    let masks = numbered.map(|(side, cells)| (cells >> bit & 1) << side);
                    ExposedCell {
                        position: [x + bit as i32 - 1, y, z],
                        sides: masks.sum::<u16>() as u8,
                    }
                }));
            }
        }
    }

    /// Returns a box of solid cells around a solid cell.
    pub fn grown<D: DVector>(&self, position: CellPosition) -> CellRanges {
        let mut ranges = position.map(|at| [at, at]);
        grow::<D>(&mut ranges, |layer| self.are_solid(layer));
        ranges
    }

    /// Returns `true` if all cells of a box are solid.
    fn are_solid(&self, [xs, ys, zs]: CellRanges) -> bool {
        let [first, last] = xs.map(|x| x - self.ranges[0][0]);
        if first < 0 || last >= MAX_LENGTH {
            return false;
        }
        let cells = (u16::MAX << first) & (u16::MAX >> (MAX_LENGTH - 1 - last));
        let mut rows = (zs[0]..zs[1] + 1).flat_map(|z| (ys[0]..ys[1] + 1).map(move |y| [0, y, z]));
        rows.all(|row| self.row(row) & cells == cells)
    }
}
