//! Sparse grids of cells.

use core::{fmt, iter};
use std::{collections::BTreeMap, sync::Arc};

use bevy::prelude::{Reflect, ReflectDefault};
#[cfg(feature = "serialize")]
use bevy::prelude::{ReflectDeserialize, ReflectSerialize};

use crate::{
    shape::{
        Bounds, ConvexHull, IntoShape, ShapeError,
        cells::{
            cell::{Cell, MAX_SHAPES},
            cell_shape::{CellShape, TableShape, in_cells},
            chunk::{CellRow, Chunk, NO_CELLS},
        },
    },
    space::{DVector, Space},
};

/// The position of a cell, or of a chunk. In 2D, the third number is 0.
pub type CellPosition = [i32; 3];

/// The first and the last position of a box of cells along each axis. In 2D, the third range is
/// [0, 0].
pub type CellRanges = [[i32; 2]; 3];

/// The positions of cells in a collider are less than this number, and at least its opposite. If
/// the sides of a cell are equal, the `weld` of a facet is at most a twentieth of a side: see
/// `elements/facet.rs`. For unequal sides, the weld may exceed the shortest side.
pub const END: i32 = 1 << 14;

/// The shortest and the longest side of a cell in a collider. So the vertices of faces are in the
/// range of f32, and are not subnormal, which would make them imprecise.
const LEAST_SIDE: f64 = 1e-30_f32 as f64;
const GREATEST_SIDE: f64 = 1e30_f32 as f64;

/// The greatest ratio of two sides of a cell in a collider, plus the rounding of the sides to f32.
/// So the `weld` of a face of a cell at the origin is at most a fiftieth of the shortest side.
const MAX_RATIO: f64 = 1e4 * (1.0 + 1e-6);

/// The maximum number of cells in all chunks of a collider's grid, empty cells included. These
/// cells take at most 400 MiB.
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
/// A chunk of 32 x 32 cells (in 3D, 8 x 8 x 8) takes about 300 bytes if all of its cells are
/// [`Cell::EMPTY`] or [`Cell::SOLID`]. Otherwise, it takes another four bytes for each cell. A
/// region of 64 chunks takes another 500 bytes. Chunks and regions without cells take no memory of
/// their own. So a compact area is cheap, but a line of cells takes as much memory as a strip that
/// is 32 cells wide (in 3D, 8 x 8). If the cells are scattered, each cell may take a chunk of its
/// own. A saved grid with such cells needs much more memory than its file has bytes. The chunks of
/// a collider have at most 2²⁶ cells, empty cells included, which take at most 400 MiB.
///
/// Reading or writing a cell takes a search among the regions. A clone shares its chunks with the
/// original: only a chunk that is changed later is copied.
#[derive(Clone, Reflect)]
#[reflect(opaque, Clone, Debug, PartialEq, Default)]
#[type_path = "headbutt"]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize, where V: crate::shape::serialize::SerializeSpace))]
pub struct CellGrid<V: Space> {
    size: V,
    shapes: Arc<[TableShape<V>]>,
    /// Chunks and regions without cells are removed, so that equal grids have equal regions.
    regions: Arc<Regions>,
}

/// A grid, and the offset of its cells in a larger grid.
pub type OffsetCells<'g, V> = (&'g CellGrid<V>, CellPosition);

/// The number of chunks of a region.
const REGION_LEN: usize = 1 << 6;

/// The chunks of a cube of positions. A change copies the list of a region, and not the list of all
/// chunks.
#[derive(Clone, PartialEq)]
struct Region {
    /// The number of chunks with cells.
    count: usize,
    chunks: [Option<Arc<Chunk>>; REGION_LEN],
}

static NO_CHUNKS: Region = Region {
    count: 0,
    chunks: [const { None }; REGION_LEN],
};

impl<V: Space> CellGrid<V> {
    /// The number of bits of a position inside a chunk, along each axis.
    const BITS: u32 = if V::DVec::DIMENSION == 2 { 5 } else { 3 };

    /// The greatest coordinate inside a chunk.
    const LAST: i32 = (1 << Self::BITS) - 1;

    /// The number of bits of a chunk's position inside a region, along each axis.
    const REGION_BITS: u32 = REGION_LEN.trailing_zeros() / V::DVec::DIMENSION as u32;

    /// The number of cells of a chunk.
    const CHUNK_LEN: usize = 1 << (Self::BITS * V::DVec::DIMENSION as u32);

    /// The maximum number of chunks of a collider's grid.
    const MAX_CHUNKS: u64 = MAX_CELLS / Self::CHUNK_LEN as u64;

    /// Creates an empty grid of cells with these side lengths, which must be finite and greater
    /// than 0. [`Collider::try_cells`](crate::Collider::try_cells) checks the lengths.
    pub fn new(size: V) -> Self {
        Self {
            size,
            shapes: Arc::default(),
            regions: Arc::default(),
        }
    }

    /// Creates an empty grid with a table of shapes for [`Cell::shape`], whose numbers start at 0.
    /// The shapes are in the units of the collider, and their origin is the center of the cell. For
    /// example, if the sides of a cell are 16 long, the coordinates are from -8 to 8.
    ///
    /// The shapes are boxes, polygons and polyhedrons, with up to 64 corners. A
    /// [`ConvexHull`](crate::ConvexHull) can be each of them. Coordinates are rounded to 2⁻²² of
    /// the cell, and corners within 2⁻¹⁸ of a side are on the side.
    ///
    /// Clones of a grid share its table. The chunks of a world can all be clones of an empty grid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let roofs = [
    ///     Triangle2d::new(Vec2::new(-8.0, -8.0), Vec2::new(8.0, -8.0), Vec2::new(0.0, 2.0)),
    ///     Triangle2d::new(Vec2::new(-8.0, -8.0), Vec2::new(8.0, -8.0), Vec2::new(0.0, 8.0)),
    /// ];
    /// let mut grid = CellGrid::with_shapes(Vec2::splat(16.0), roofs).unwrap();
    /// grid.set(IVec2::new(3, 5), Cell::shape(1));
    /// let roof = Collider::cells(&grid);
    /// assert!(roof.contains_point(Vec2::ZERO, Vec2::new(56.0, 95.0)));
    ///
    /// let large = CellGrid::with_shapes(Vec2::ONE, roofs);
    /// assert_eq!(large.unwrap_err(), ShapeError::CellShapeTooLarge);
    /// ```
    ///
    /// # Errors
    ///
    /// * [`NotFinite`](ShapeError::NotFinite), [`Negative`](ShapeError::Negative),
    ///   [`Zero`](ShapeError::Zero): the size of a cell is NaN, infinite, negative or 0.
    /// * [`CellSize`](ShapeError::CellSize): a side of a cell is shorter than 1e-30, longer than
    ///   1e30, or more than 10,000 times as long as another side.
    /// * [`NotACellShape`](ShapeError::NotACellShape): a shape has a curved side, or is thinner
    ///   than 1/1024 of the cell.
    /// * [`CellShapeTooLarge`](ShapeError::CellShapeTooLarge): a shape is not inside the cell.
    /// * [`TooManyPoints`](ShapeError::TooManyPoints): a shape has more than 64 corners.
    /// * [`TooManyCellShapes`](ShapeError::TooManyCellShapes): there are more than 32767 shapes.
    /// * The errors of [`Collider::try_new`](crate::Collider::try_new) for each shape.
    pub fn with_shapes<S: IntoShape<Vector = V>>(
        size: V,
        shapes: impl IntoIterator<Item = S>,
    ) -> Result<Self, ShapeError> {
        let mut grid = Self::new(size);
        grid.check_size()?;
        let shapes = shapes.into_iter().take(MAX_SHAPES + 1);
        let shapes = shapes.map(|shape| TableShape::new(&shape.into_shape()?, size));
        let shapes = shapes.collect::<Result<Arc<[_]>, _>>()?;
        if shapes.len() > MAX_SHAPES {
            return Err(ShapeError::TooManyCellShapes);
        }
        grid.shapes = shapes;
        Ok(grid)
    }

    /// Returns an empty grid with the same size of a cell and the same table of shapes.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            size: self.size,
            shapes: self.shapes.clone(),
            regions: Arc::default(),
        }
    }

    /// Returns an error if the size of a cell is invalid.
    pub(super) fn check_size(&self) -> Result<(), ShapeError> {
        ShapeError::check_lengths("size of a cell", self.size)?;
        let size = self.size.to_f64().components();
        let (mut least, mut greatest) = (f64::INFINITY, 0.0);
        for side in size.into_iter().take(V::DVec::DIMENSION) {
            least = side.min(least);
            greatest = side.max(greatest);
        }
        if least == 0.0 {
            return Err(ShapeError::Zero("size of a cell"));
        }
        let is_usual = least >= LEAST_SIDE && greatest <= GREATEST_SIDE.min(MAX_RATIO * least);
        is_usual.then_some(()).ok_or(ShapeError::CellSize)
    }

    /// Returns an error if a collider cannot have this grid.
    pub(in crate::shape) fn check(&self) -> Result<(), ShapeError> {
        self.check_size()?;
        self.check_len(0)?;
        self.chunks().try_for_each(|(key, chunk)| {
            let is_in_range = is_in_range(Self::join(key, 0));
            if is_in_range && !chunk.has_special() {
                return Ok(());
            }
            let mut cells = chunk.iter();
            cells.try_for_each(|(_, cell)| self.check_cell(cell, is_in_range))
        })
    }

    /// Returns an error if a collider cannot have a cell, whose position is in range or not.
    pub(super) fn check_cell(&self, cell: Cell, is_in_range: bool) -> Result<(), ShapeError> {
        let is_unknown = || cell.shape_number().is_some() && self.table_shape(cell).is_none();
        if cell.is_empty() || cell.is_solid() && is_in_range {
            Ok(())
        } else if !is_in_range {
            Err(ShapeError::CellOutOfRange)
        } else if V::DVec::DIMENSION == 2 && cell.is_only_3d() {
            Err(ShapeError::SlopeAlongZ)
        } else if is_unknown() {
            Err(ShapeError::UnknownCellShape)
        } else {
            Ok(())
        }
    }

    /// Returns the shapes in the table, relative to the center of the cell.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = &ConvexHull<V>> {
        self.shapes.iter().map(|it| &it.hull)
    }

    /// Returns `true` if the cells of both grids have the same size and the same table of shapes.
    pub(crate) fn has_same_cells(&self, other: &Self) -> bool {
        self.size == other.size
            && (Arc::ptr_eq(&self.shapes, &other.shapes) || self.shapes().eq(other.shapes()))
    }

    /// Returns the shape in the table of a cell.
    pub(super) fn table_shape(&self, cell: Cell) -> Option<&TableShape<V>> {
        self.shapes.get(usize::from(cell.shape_number()?))
    }

    /// Returns the shape of a cell that is neither empty nor solid nor one-way.
    pub(super) fn shape_of(&self, cell: Cell) -> Option<&CellShape> {
        let of_table = || self.table_shape(cell).map(|it| &it.shape);
        CellShape::of_slope(cell).or_else(of_table)
    }

    /// Returns the side lengths of a cell, in the units of the collider.
    pub fn cell_size(&self) -> V {
        self.size
    }

    /// Returns an error if the grid would have too many chunks for a collider, after `added` more
    /// chunks.
    pub(in crate::shape) fn check_len(&self, added: usize) -> Result<(), ShapeError> {
        let count: usize = self.regions.values().map(|region| region.count).sum();
        let is_short = (count + added) as u64 <= Self::MAX_CHUNKS;
        is_short.then_some(()).ok_or(ShapeError::TooManyCells)
    }

    /// Returns the chunks with cells, each with its position.
    fn chunks(&self) -> impl Iterator<Item = (CellPosition, &Chunk)> {
        self.regions.iter().flat_map(|(region_key, region)| {
            let chunks = region.chunks.iter().enumerate();
            chunks.filter_map(|(index, chunk)| {
                let key = joined(*region_key, index, Self::REGION_BITS);
                Some((key, chunk.as_deref()?))
            })
        })
    }

    /// Returns a chunk, or `None` if the chunk has no cells.
    fn chunk(&self, key: CellPosition) -> Option<&Chunk> {
        let (region, index) = divided(key, Self::REGION_BITS);
        let region = self.regions.get(&region)?;
        region.chunks.get(index)?.as_deref()
    }

    /// Returns the number of cells that are not empty.
    pub fn len(&self) -> usize {
        self.chunks().map(|(_, chunk)| chunk.len()).sum()
    }

    /// Returns `true` if all cells are empty.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    /// Returns the cell at a position.
    pub fn get(&self, position: V::CellPosition) -> Cell {
        self.at(V::position_to_array(position))
    }

    /// Returns the cell at a position.
    pub(super) fn at(&self, position: CellPosition) -> Cell {
        let (key, index) = Self::split(position);
        self.chunk(key).unwrap_or(&NO_CELLS).get(index)
    }

    /// Sets the cell at a position. An empty cell removes the cell: the grid does not keep the
    /// material of an empty cell, so [`get`](Self::get) then returns [`Cell::EMPTY`].
    pub fn set(&mut self, position: V::CellPosition, cell: Cell) {
        self.set_at(V::position_to_array(position), cell);
    }

    /// Sets one cell.
    fn set_at(&mut self, position: CellPosition, cell: Cell) {
        let (key, index) = Self::split(position);
        self.write(key, iter::once(index), cell);
    }

    /// Sets the cells of a chunk at these indices.
    fn write(
        &mut self,
        key: CellPosition,
        indices: impl Iterator<Item = usize> + Clone,
        cell: Cell,
    ) {
        let cell = if cell.is_empty() { Cell::EMPTY } else { cell };
        // A chunk that does not change stays shared.
        let old = self.chunk(key).unwrap_or(&NO_CELLS);
        if indices.clone().all(|index| old.get(index) == cell) {
            return;
        }
        self.change_chunk(key, |slot| {
            let chunk = Arc::make_mut(slot.get_or_insert_default());
            indices.for_each(|index| chunk.set(index, cell, Self::CHUNK_LEN));
        });
    }

    /// Calls `change` with a chunk, which is `None` if it has no cells.
    fn change_chunk(&mut self, key: CellPosition, change: impl FnOnce(&mut Option<Arc<Chunk>>)) {
        let (region_key, index) = divided(key, Self::REGION_BITS);
        let regions = Arc::make_mut(&mut self.regions);
        let region = regions.entry(region_key);
        let Region { count, chunks } =
            Arc::make_mut(region.or_insert_with(|| Arc::new(NO_CHUNKS.clone())));
        let Some(slot) = chunks.get_mut(index) else {
            return;
        };
        *count -= usize::from(slot.is_some());
        change(slot);
        if slot.as_ref().is_some_and(|chunk| chunk.is_empty()) {
            *slot = None;
        }
        *count += usize::from(slot.is_some());
        if *count == 0 {
            regions.remove(&region_key);
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
        let ranges = ranges_between(a, b).map(|[a, b]| [a.min(b), a.max(b)]);
        let keys = ranges.map(|ends| ends.map(|end| end >> Self::BITS));
        let mut whole = None;
        let mut fill_chunk = |grid: &mut Self, key: CellPosition| {
            let mut inner = ranges;
            for (ends, key) in inner.iter_mut().zip(key) {
                let first = key << Self::BITS;
                *ends = ends.map(|end| end.clamp(first, first + Self::LAST));
            }
            let lengths = inner.map(|[first, last]| (last - first + 1) as usize);
            // All whole chunks share one chunk.
            if !cell.is_empty() && lengths.iter().product::<usize>() == Self::CHUNK_LEN {
                let filled = || Arc::new(Chunk::filled(cell, Self::CHUNK_LEN));
                let whole = whole.get_or_insert_with(filled);
                // A chunk that does not change stays shared.
                if grid.chunk(key) != Some(&**whole) {
                    grid.change_chunk(key, |slot| *slot = Some(whole.clone()));
                }
                return;
            }
            let indices = positions_in(inner).map(|position| Self::split(position).1);
            grid.write(key, indices, cell);
        };
        if cell.is_empty() {
            let is_within = |key: &CellPosition| {
                let mut axes = key.iter().zip(keys);
                axes.all(|(key, [start, end])| (start..=end).contains(key))
            };
            let within = self.chunks().map(|(key, _)| key).filter(is_within);
            let within: Vec<_> = within.collect();
            within.into_iter().for_each(|key| fill_chunk(self, key));
            return Ok(());
        }
        let lengths = keys.map(|[start, end]| u64::from(end.abs_diff(start)) + 1);
        let count = lengths.into_iter().try_fold(1, u64::checked_mul);
        if count.is_none_or(|count| count > Self::MAX_CHUNKS) {
            return Err(ShapeError::TooManyCells);
        }
        let is_new = |key: &CellPosition| self.chunk(*key).is_none();
        self.check_len(positions_in(keys).filter(is_new).count())?;
        positions_in(keys).for_each(|key| fill_chunk(self, key));
        Ok(())
    }

    /// Removes all cells.
    pub fn clear(&mut self) {
        self.regions = Arc::default();
    }

    /// Returns the grid of all cells for which `keep` returns `true`. For example, a level can have
    /// one collider for the ground, and a [`Sensor`](crate::Sensor) for the water.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// const WATER: u16 = 1;
    ///
    /// let mut level = CellGrid::new(Vec2::ONE);
    /// level.fill(IVec2::new(0, 0), IVec2::new(9, 0), Cell::SOLID).unwrap();
    /// level.fill(IVec2::new(0, 1), IVec2::new(9, 3), Cell::SOLID.with_material(WATER)).unwrap();
    /// let water = level.filtered(|cell| cell.material() == WATER);
    /// let ground = level.filtered(|cell| cell.material() != WATER);
    /// assert_eq!((water.len(), ground.len()), (30, 10));
    /// ```
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(Cell) -> bool) -> Self {
        let mut filtered = self.emptied();
        filtered.extend(self.iter().filter(|(_, cell)| keep(*cell)));
        filtered
    }

    /// Returns the cells that are not empty, with their positions. The order depends only on the
    /// cells, not on the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (V::CellPosition, Cell)> {
        let cells = self.iter_arrays();
        cells.map(|(position, cell)| (V::position_of(position), cell))
    }

    /// Returns the cells in the order of [`iter`](Self::iter).
    fn iter_arrays(&self) -> impl Iterator<Item = (CellPosition, Cell)> {
        self.chunks().flat_map(|(key, chunk)| {
            let cells = chunk.iter();
            cells.map(move |(index, cell)| (Self::join(key, index), cell))
        })
    }

    /// Returns the first positions of the cubes with `1 << bits` cells along each axis that are in
    /// chunks with cells.
    pub(super) fn cubes(&self, bits: u32) -> impl Iterator<Item = CellPosition> {
        let last = (1 << (Self::BITS - bits)) - 1;
        let last_z = if V::DVec::DIMENSION == 2 { 0 } else { last };
        let cubes = ranges_between([0; 3], [last, last, last_z]);
        self.chunks().flat_map(move |(key, _)| {
            let first = Self::join(key, 0);
            positions_in(cubes).map(move |cube| moved(first, cube.map(|at| at << bits)))
        })
    }

    /// Calls `visit` with the rows of cells along the x axis in a box of cells. Skips rows in
    /// chunks without cells.
    pub(super) fn visit_rows(&self, ranges: CellRanges, mut visit: impl FnMut(&CellRow)) {
        let [xs, ys, zs] = ranges;
        let chunks = ranges.map(|range| range.map(|at| at >> Self::BITS));
        // Most chunks are in the region of the chunk before.
        let mut last_region: Option<(CellPosition, Option<&Region>)> = None;
        positions_in(chunks).for_each(|key| {
            let (region_key, index) = divided(key, Self::REGION_BITS);
            let region = match last_region {
                Some((last_key, region)) if last_key == region_key => region,
                _ => self.regions.get(&region_key).map(|region| &**region),
            };
            last_region = Some((region_key, region));
            let Some(chunk) = region.and_then(|it| it.chunks.get(index)?.as_deref()) else {
                return;
            };
            let mut own = ranges;
            for (range, key) in own.iter_mut().zip(key) {
                let first = key << Self::BITS;
                *range = [range[0].max(first), range[1].min(first + Self::LAST)];
            }
            let ([[x, last], [y, last_y], [z, last_z]], len) = (own, 1 << Self::BITS);
            let first = Self::split([x, y, z]).1;
            let [offset, before_y, before_z] = [x - xs[0], y - ys[0], z - zs[0]];
            let height = ys[1] - ys[0] + 1;
            for z in 0..last_z - z + 1 {
                for y in 0..last_y - y + 1 {
                    visit(&CellRow {
                        number: (before_y + y + (before_z + z) * height) as usize,
                        offset: offset as usize,
                        chunk,
                        first: first + (y + z * len) as usize * len as usize,
                        len: (last - x + 1) as usize,
                    });
                }
            }
        });
    }

    /// Calls `visit` with the position and the new content of each cell that differs in `new`.
    /// Chunks that both grids share are skipped.
    pub(crate) fn visit_changes(&self, new: &Self, mut visit: impl FnMut(CellPosition, Cell)) {
        self.visit_unshared(new, |key, [old, new]| {
            let changes = old.changes(new);
            changes.for_each(|(index, cell)| visit(Self::join(key, index), cell));
        });
    }

    /// Returns a box around all cells that differ in `new`, in the frame of the grid.
    pub(crate) fn changed_box(&self, new: &Self) -> Bounds<V::DVec> {
        let mut corners = Vec::new();
        self.visit_unshared(new, |key, _| {
            let first = Self::join(key, 0);
            let ends = [first, first.map(|at| at + Self::LAST + 1)];
            corners.extend(ends.map(|end| V::DVec::of(end.map(f64::from))));
        });
        let Bounds { min, max } = Bounds::of_points(corners);
        let size = self.size.to_f64();
        Bounds {
            min: min.scaled(size),
            max: max.scaled(size),
        }
    }

    /// Calls `visit` with each chunk that two grids do not share.
    fn visit_unshared(&self, new: &Self, mut visit: impl FnMut(CellPosition, [&Chunk; 2])) {
        for (region_key, regions) in unshared(&self.regions, &new.regions) {
            let [old, new] = regions.map(|region| region.map_or(&NO_CHUNKS, |it| &**it));
            for (index, chunks) in old.chunks.iter().zip(&new.chunks).enumerate() {
                let is_shared = match chunks {
                    (Some(old), Some(new)) => Arc::ptr_eq(old, new),
                    (old, new) => old.is_none() && new.is_none(),
                };
                if !is_shared {
                    let chunks = [chunks.0, chunks.1].map(|it| it.as_deref().unwrap_or(&NO_CELLS));
                    visit(joined(region_key, index, Self::REGION_BITS), chunks);
                }
            }
        }
    }

    /// Returns `true` if the grid has a cell at a position minus an offset.
    pub(in crate::shape) fn has_cell(&self, position: CellPosition, offset: CellPosition) -> bool {
        !self.at(moved(position, offset.map(|at| -at))).is_empty()
    }

    /// Replaces the cells of one of the `members` of this grid. If several members have a cell at a
    /// position, the first member counts.
    pub(crate) fn replace_cells(
        &mut self,
        old: Option<OffsetCells<V>>,
        new: Option<OffsetCells<V>>,
        members: &[OffsetCells<V>],
    ) {
        let mut positions = Vec::new();
        match (old, new) {
            (Some((old, offset)), Some((new, same))) if offset == same => {
                old.visit_changes(new, |position, _| positions.push(moved(position, offset)));
            }
            _ => {
                for (grid, offset) in [old, new].into_iter().flatten() {
                    let cells = grid.iter_arrays();
                    positions.extend(cells.map(|(position, _)| moved(position, offset)));
                }
            }
        }
        for position in positions {
            let cells = members.iter();
            let mut cells = cells.map(|(grid, offset)| {
                let own = moved(position, offset.map(|at| -at));
                grid.at(own)
            });
            let cell = cells.find(|cell| !cell.is_empty());
            self.set_at(position, cell.unwrap_or_default());
        }
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
        in_cells(point, self.size.to_f64())
    }

    /// Splits a position into the position of its chunk and the index in this chunk.
    fn split(position: CellPosition) -> (CellPosition, usize) {
        divided(position, Self::BITS)
    }

    /// Does the inverse of [`split`](Self::split).
    fn join(key: CellPosition, index: usize) -> CellPosition {
        joined(key, index, Self::BITS)
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

/// Grids are equal if they have the same cells of the same size, and the same table of shapes.
impl<V: Space> PartialEq for CellGrid<V> {
    fn eq(&self, other: &Self) -> bool {
        self.has_same_cells(other) && self.regions == other.regions
    }
}

impl<V: Space> fmt::Debug for CellGrid<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (cells, shapes) = (self.len(), self.shapes.len());
        write!(formatter, "CellGrid({cells} cells, {shapes} shapes)")
    }
}

/// The regions of a grid.
type Regions = BTreeMap<CellPosition, Arc<Region>>;

/// Returns the keys of two maps with their values, without the keys whose values are shared.
fn unshared<'m>(
    old: &'m Regions,
    new: &'m Regions,
) -> impl Iterator<Item = (CellPosition, [Option<&'m Arc<Region>>; 2])> {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    iter::from_fn(move || {
        loop {
            match (old.peek().copied(), new.peek().copied()) {
                // Most keys are equal, and this comparison is the fastest.
                (Some((key, before)), Some((other, after))) if key == other => {
                    old.next();
                    new.next();
                    if !Arc::ptr_eq(before, after) {
                        return Some((*key, [Some(before), Some(after)]));
                    }
                }
                (Some((key, before)), after) if after.is_none_or(|after| key < after.0) => {
                    old.next();
                    return Some((*key, [Some(before), None]));
                }
                (_, after) => {
                    new.next();
                    return after.map(|(key, after)| (*key, [None, Some(after)]));
                }
            }
        }
    })
}

/// Divides positions into cubes of `1 << bits` positions along each axis. Returns the position of
/// the cube, and the index in the cube.
fn divided(position: CellPosition, bits: u32) -> (CellPosition, usize) {
    let [x, y, z] = position.map(|at| (at & ((1 << bits) - 1)) as usize);
    let index = x | y << bits | z << (2 * bits);
    (position.map(|at| at >> bits), index)
}

/// Does the inverse of [`divided`].
fn joined(cube: CellPosition, index: usize, bits: u32) -> CellPosition {
    let mut shift = 0;
    cube.map(|cube| {
        let inner = (index >> shift) as i32 & ((1 << bits) - 1);
        shift += bits;
        cube << bits | inner
    })
}

/// Returns `true` if a collider may have a cell at a position.
pub fn is_in_range(position: CellPosition) -> bool {
    position.iter().all(|at| (-END..END).contains(at))
}

/// Returns a position plus an offset.
pub fn moved([x, y, z]: CellPosition, offset: CellPosition) -> CellPosition {
    let [by_x, by_y, by_z] = offset;
    [x + by_x, y + by_y, z + by_z]
}

/// Returns the ranges from one corner of a box of cells to the opposite corner.
pub fn ranges_between([x, y, z]: CellPosition, opposite: CellPosition) -> CellRanges {
    let [last_x, last_y, last_z] = opposite;
    [[x, last_x], [y, last_y], [z, last_z]]
}

/// Returns all positions in these ranges, whose ends are included.
pub fn positions_in(ranges: CellRanges) -> impl Iterator<Item = CellPosition> + Clone {
    let [xs, ys, zs] = ranges.map(|[start, end]| start..=end);
    let columns = zs.flat_map(move |z| ys.clone().map(move |y| (y, z)));
    columns.flat_map(move |(y, z)| xs.clone().map(move |x| [x, y, z]))
}

/// Returns `true` if a position is in these ranges.
pub fn has_position(ranges: &CellRanges, position: CellPosition) -> bool {
    let mut axes = ranges.iter().zip(position);
    axes.all(|([first, last], at)| (*first..=*last).contains(&at))
}

/// Returns the position of the cell that contains a point, in the unit of cells.
pub(super) fn floor<D: DVector>(point: D) -> CellPosition {
    // The conversion rounds toward 0 and saturates, and NaN becomes 0.
    let [x, y, z] = point.components();
    let floor = |at: f64| (at as i32).saturating_sub(i32::from(f64::from(at as i32) > at));
    [floor(x), floor(y), floor(z)]
}

/// The empty grid has cells of size 1.
impl<V: Space> Default for CellGrid<V> {
    fn default() -> Self {
        Self::new(V::from_f64(V::DVec::ONE))
    }
}
