//! Sparse grids of cells.

use core::fmt;
use std::{collections::BTreeMap, sync::Arc};

use bevy::prelude::{Reflect, ReflectDefault};
#[cfg(feature = "serialize")]
use bevy::prelude::{ReflectDeserialize, ReflectSerialize};

use crate::{
    shape::{ShapeError, cells::cell::Cell},
    space::{DVector, Space},
};

/// The position of a cell, or of a chunk. In 2D, the third number is 0.
pub type CellPosition = [i32; 3];

/// The maximum number of cells in all chunks of a collider's grid, empty cells included. These
/// cells take 256 MiB.
const MAX_CELLS: u64 = 1 << 26;

/// A sparse grid of [`Cell`]s, from which [`Collider::cells`](crate::Collider::cells) makes a
/// collider.
///
/// `V` is `Vec2` for tiles, and `Vec3` for voxels. The positions of cells are `IVec2` or `IVec3`.
/// The cell at position p is the box from p * size to (p + 1) * size, in the frame of the collider.
/// All cells that were never set are [`Cell::EMPTY`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// // A floor of 100 tiles, each 16 wide and 16 high, with a step and a slope.
/// let mut grid = CellGrid::new(Vec2::splat(16.0));
/// grid.fill(IVec2::new(0, 0), IVec2::new(99, 0), Cell::SOLID).unwrap();
/// grid.set(IVec2::new(50, 1), Cell::SOLID);
/// grid.set(IVec2::new(49, 1), Cell::slope(0, 8));
/// assert_eq!(grid.len(), 102);
///
/// let ground = Collider::cells(&grid);
/// assert!(ground.contains_point(Vec2::ZERO, Vec2::new(808.0, 24.0)));
/// ```
///
/// # Cost
///
/// A chunk of 32 x 32 cells (in 3D, 8 x 8 x 8) has four bytes for each cell. Chunks without cells
/// take no memory. So a compact area is cheap, but a line of cells takes as much memory as a strip
/// that is 32 cells wide (in 3D, 8 x 8). If the cells are scattered, each cell may take a chunk of
/// its own. A saved grid with such cells needs much more memory than its file has bytes. The chunks
/// of a collider have at most 2²⁶ cells, empty cells included, which take 256 MiB.
///
/// Reading or writing a cell takes a search among the chunks. A clone shares its chunks with the
/// original: only a chunk that is changed later is copied.
#[derive(Clone, Reflect)]
#[reflect(opaque, Clone, Debug, PartialEq, Default)]
#[type_path = "headbutt"]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize, where V: crate::shape::serialize::SerializeSpace))]
pub struct CellGrid<V: Space> {
    size: V,
    /// Chunks without cells are removed, so that equal grids have equal chunks.
    chunks: BTreeMap<CellPosition, Arc<Chunk>>,
}

/// The cells of a cube of positions.
#[derive(Clone, PartialEq)]
struct Chunk {
    /// The number of cells that are not empty.
    count: usize,
    cells: Box<[Cell]>,
}

impl<V: Space> CellGrid<V> {
    /// The number of bits of a position inside a chunk, along each axis.
    const BITS: u32 = if V::DVec::DIMENSION == 2 { 5 } else { 3 };

    /// The bits of a position inside a chunk.
    const MASK: i32 = (1 << Self::BITS) - 1;

    /// The number of cells of a chunk.
    const CHUNK_LEN: usize = 1 << (Self::BITS * V::DVec::DIMENSION as u32);

    /// The maximum number of chunks of a collider's grid.
    const MAX_CHUNKS: u64 = MAX_CELLS / Self::CHUNK_LEN as u64;

    /// Creates an empty grid of cells with these side lengths, which must be finite and greater
    /// than 0. [`Collider::try_cells`](crate::Collider::try_cells) checks the lengths.
    pub fn new(size: V) -> Self {
        Self {
            size,
            chunks: BTreeMap::new(),
        }
    }

    /// Returns the side lengths of a cell, in the units of the collider.
    pub fn cell_size(&self) -> V {
        self.size
    }

    /// Returns an error if the grid would have too many chunks for a collider, after `added` more
    /// chunks.
    pub(super) fn check_len(&self, added: usize) -> Result<(), ShapeError> {
        let is_short = (self.chunks.len() + added) as u64 <= Self::MAX_CHUNKS;
        is_short.then_some(()).ok_or(ShapeError::TooManyCells)
    }

    /// Returns the number of cells that are not empty.
    pub fn len(&self) -> usize {
        self.chunks.values().map(|chunk| chunk.count).sum()
    }

    /// Returns `true` if all cells are empty.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the cell at a position.
    pub fn get(&self, position: V::CellPosition) -> Cell {
        self.at(V::position_to_array(position))
    }

    /// Returns the cell at a position.
    pub(super) fn at(&self, position: CellPosition) -> Cell {
        let (key, index) = Self::split(position);
        let cell = self.chunks.get(&key).and_then(|it| it.cells.get(index));
        cell.copied().unwrap_or_default()
    }

    /// Sets the cell at a position. An empty cell removes the cell: the grid does not keep the
    /// material of an empty cell, so [`get`](Self::get) then returns [`Cell::EMPTY`].
    pub fn set(&mut self, position: V::CellPosition, cell: Cell) {
        self.set_at(V::position_to_array(position), cell);
    }

    /// Sets one cell.
    fn set_at(&mut self, position: CellPosition, cell: Cell) {
        let (key, index) = Self::split(position);
        self.write(key, [index], cell);
    }

    /// Sets the cells of a chunk at these indices.
    fn write(&mut self, key: CellPosition, indices: impl IntoIterator<Item = usize>, cell: Cell) {
        let cell = if cell.is_empty() { Cell::EMPTY } else { cell };
        if cell.is_empty() && !self.chunks.contains_key(&key) {
            return;
        }
        let empty = || Chunk {
            count: 0,
            cells: vec![Cell::EMPTY; Self::CHUNK_LEN].into(),
        };
        let chunk = self.chunks.entry(key).or_insert_with(|| Arc::new(empty()));
        for index in indices {
            // A chunk that does not change stays shared.
            if chunk.cells.get(index) == Some(&cell) {
                continue;
            }
            let Chunk { count, cells } = Arc::make_mut(chunk);
            if let Some(slot) = cells.get_mut(index) {
                *count += usize::from(slot.is_empty());
                *count -= usize::from(cell.is_empty());
                *slot = cell;
            }
        }
        if chunk.count == 0 {
            self.chunks.remove(&key);
        }
    }

    /// Sets all cells from one corner to the opposite corner, both included.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mut cave = CellGrid::new(Vec3::ONE);
    /// cave.fill(IVec3::splat(-8), IVec3::splat(7), Cell::SOLID).unwrap();
    /// cave.fill(IVec3::splat(-4), IVec3::splat(3), Cell::EMPTY).unwrap();
    /// assert_eq!(cave.len(), 16 * 16 * 16 - 8 * 8 * 8);
    /// ```
    ///
    /// # Errors
    ///
    /// [`ShapeError::TooManyCells`]: `cell` is not empty, and the chunks of the grid would have
    /// more than 2²⁶ cells, empty cells included: see [Cost](Self#cost). The grid is unchanged.
    pub fn fill(
        &mut self,
        corner: V::CellPosition,
        opposite: V::CellPosition,
        cell: Cell,
    ) -> Result<(), ShapeError> {
        let [a, b] = [corner, opposite].map(V::position_to_array);
        let range = |axis: usize| {
            let [a, b] = [a, b].map(|corner| corner.get(axis).copied().unwrap_or(0));
            [a.min(b), a.max(b)]
        };
        let ranges = [range(0), range(1), range(2)];
        let keys = ranges.map(|ends| ends.map(|end| end >> Self::BITS));
        let fill_chunk = |grid: &mut Self, key: CellPosition| {
            let mut inner = ranges;
            for (ends, key) in inner.iter_mut().zip(key) {
                let first = key << Self::BITS;
                *ends = ends.map(|end| end.clamp(first, first | Self::MASK));
            }
            let indices = positions_in(inner).map(|position| Self::split(position).1);
            grid.write(key, indices, cell);
        };
        if cell.is_empty() {
            let is_within = |key: &CellPosition| {
                let mut axes = key.iter().zip(keys);
                axes.all(|(key, [start, end])| (start..=end).contains(key))
            };
            let within = self.chunks.keys().copied().filter(is_within);
            let within: Vec<_> = within.collect();
            within.into_iter().for_each(|key| fill_chunk(self, key));
            return Ok(());
        }
        let lengths = keys.map(|[start, end]| u64::from(end.abs_diff(start)) + 1);
        let count = lengths.into_iter().try_fold(1, u64::checked_mul);
        if count.is_none_or(|count| count > Self::MAX_CHUNKS) {
            return Err(ShapeError::TooManyCells);
        }
        let is_new = |key: &CellPosition| !self.chunks.contains_key(key);
        self.check_len(positions_in(keys).filter(is_new).count())?;
        positions_in(keys).for_each(|key| fill_chunk(self, key));
        Ok(())
    }

    /// Removes all cells.
    pub fn clear(&mut self) {
        self.chunks.clear();
    }

    /// Returns the cells that are not empty, with their positions. The order depends only on the
    /// cells, not on the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (V::CellPosition, Cell)> {
        let cells = self.iter_arrays();
        cells.map(|(position, cell)| (V::position_of(position), cell))
    }

    /// Returns the cells in the order of [`iter`](Self::iter).
    fn iter_arrays(&self) -> impl Iterator<Item = (CellPosition, Cell)> {
        self.chunks.iter().flat_map(|(key, chunk)| {
            let cells = chunk.cells.iter().enumerate();
            let cells = cells.filter(|(_, cell)| !cell.is_empty());
            cells.map(|(index, cell)| (Self::join(*key, index), *cell))
        })
    }

    /// Returns the cells in the order of [`iter`](Self::iter), without most of the solid cells that
    /// are surrounded by solid cells. Each chunk with cells has at least one of the returned cells.
    pub(super) fn iter_outer(&self) -> impl Iterator<Item = (CellPosition, Cell)> {
        self.chunks.iter().flat_map(|(key, chunk)| {
            let cells = chunk.cells.iter().enumerate();
            let cells = cells
                .filter(|(index, cell)| !cell.is_empty() && !Self::is_buried(&chunk.cells, *index));
            cells.map(|(index, cell)| (Self::join(*key, index), *cell))
        })
    }

    /// Returns `true` if a cell of a chunk and all its neighbors are solid. Returns `false` at the
    /// boundary of the chunk.
    fn is_buried(cells: &[Cell], index: usize) -> bool {
        let is_solid = |index: usize| cells.get(index).is_some_and(|cell| cell.is_solid());
        is_solid(index)
            && (0..V::DVec::DIMENSION as u32).all(|axis| {
                let shift = axis * Self::BITS;
                let (at, step) = ((index >> shift) as i32 & Self::MASK, 1 << shift);
                (1..Self::MASK).contains(&at) && is_solid(index - step) && is_solid(index + step)
            })
    }

    /// Returns the position of the cell that contains a point in the frame of the grid. On a side
    /// between two cells, the result is the cell with the higher coordinates. Positions beyond the
    /// range of `i32` become the nearest position in this range.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::CellGrid;
    ///
    /// let grid = CellGrid::new(Vec2::splat(16.0));
    /// assert_eq!(grid.position_of(Vec2::new(40.0, -1.0)), IVec2::new(2, -1));
    /// ```
    pub fn position_of(&self, point: V) -> V::CellPosition {
        V::position_of(floor(self.in_cells(point.to_f64())))
    }

    /// Returns the center of a cell in the frame of the grid.
    pub fn center_of(&self, position: V::CellPosition) -> V {
        let corner = V::DVec::of(V::position_to_array(position).map(f64::from));
        V::from_f64((corner + V::DVec::ONE * 0.5).scaled(self.size.to_f64()))
    }

    /// Converts a point to the unit of cells.
    pub(crate) fn in_cells(&self, point: V::DVec) -> V::DVec {
        let size = self.size.to_f64().components();
        let mut coordinates = point.components();
        for (coordinate, size) in coordinates.iter_mut().zip(size) {
            *coordinate /= size;
        }
        V::DVec::of(coordinates)
    }

    /// Splits a position into the position of its chunk and the index in this chunk.
    fn split(position: CellPosition) -> (CellPosition, usize) {
        let [x, y, z] = position.map(|at| (at & Self::MASK) as usize);
        let index = x | y << Self::BITS | z << (2 * Self::BITS);
        (position.map(|at| at >> Self::BITS), index)
    }

    /// Does the inverse of [`split`](Self::split).
    fn join(key: CellPosition, index: usize) -> CellPosition {
        let mut shift = 0;
        key.map(|key| {
            let inner = (index >> shift) as i32 & Self::MASK;
            shift += Self::BITS;
            key << Self::BITS | inner
        })
    }
}

/// Sets the cells at these positions.
impl<V: Space> Extend<(V::CellPosition, Cell)> for CellGrid<V> {
    fn extend<I: IntoIterator<Item = (V::CellPosition, Cell)>>(&mut self, cells: I) {
        for (position, cell) in cells {
            self.set(position, cell);
        }
    }
}

/// Grids are equal if they have the same cells of the same size.
impl<V: Space> PartialEq for CellGrid<V> {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.chunks == other.chunks
    }
}

impl<V: Space> fmt::Debug for CellGrid<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "CellGrid({} cells)", self.len())
    }
}

/// Returns all positions in these ranges, whose ends are included.
pub(super) fn positions_in(ranges: [[i32; 2]; 3]) -> impl Iterator<Item = CellPosition> {
    let [xs, ys, zs] = ranges.map(|[start, end]| start..=end);
    let columns = zs.flat_map(move |z| ys.clone().map(move |y| (y, z)));
    columns.flat_map(move |(y, z)| xs.clone().map(move |x| [x, y, z]))
}

/// Returns the position of the cell that contains a point, in the unit of cells.
pub(super) fn floor<D: DVector>(point: D) -> CellPosition {
    // The conversion saturates, and NaN becomes 0.
    point.components().map(|component| component.floor() as i32)
}

/// The empty grid has cells of size 1.
impl<V: Space> Default for CellGrid<V> {
    fn default() -> Self {
        Self::new(V::from_f64(V::DVec::ONE))
    }
}
