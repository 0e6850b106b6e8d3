//! Colliders from grids of cells.

use crate::{
    Collider,
    math::{IVec2, IVec3, Vec2, Vec3},
    shape::{
        AnyColliderShape, Cell, CellGrid, CellSurface, ColliderShape, Compound, Dimension,
        ShapeError,
    },
};

/// # Worlds of cells
impl Collider {
    /// Creates the union of all cells of a grid, as one solid: a level of tiles in 2D, or a world
    /// of voxels in 3D.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn spawn_level(mut commands: Commands) {
    ///     let mut grid = CellGrid::new(Vec2::splat(16.0));
    ///     let rows = ["#      ##", "#   /####", "#########"];
    ///     for (y, row) in (0..).zip(rows.iter().rev()) {
    ///         for (x, tile) in (0..).zip(row.chars()) {
    ///             let cell = match tile {
    ///                 '#' => Cell::SOLID,
    ///                 '/' => Cell::slope(0, 8),
    ///                 _ => Cell::EMPTY,
    ///             };
    ///             grid.set(IVec2::new(x, y), cell);
    ///         }
    ///     }
    ///     commands.spawn(Collider::cells(&grid));
    /// }
    /// ```
    ///
    /// Only the faces of the union exist: a body never catches between two cells. A body whose
    /// center is inside the union touches the union, and the contact is the shortest way out.
    /// Otherwise, the contacts are those of a [`one_sided`](Self::one_sided) surface of the exposed
    /// faces. A ray that begins inside hits at distance 0, as in any solid shape. A margin from
    /// [`rounded`](Self::rounded) is not part of the inside: a ray that begins in the margin and
    /// points outward hits nothing there.
    ///
    /// For a compound of 2 to 16 parts, the centers of the parts decide whether the compound is
    /// inside. Any other compound or mesh is inside if its own center is inside.
    ///
    /// The event's [`part`](crate::CollisionEvent::part) is the index of an exposed face, of which
    /// [`cell_2d`](Self::cell_2d), [`cell_3d`](Self::cell_3d) and [`material`](Self::material)
    /// return the cell and the material.
    ///
    /// A grid without cells gives an [inert](Self::is_inert) collider, which keeps the grid. The
    /// exposed faces of a block of cells are found, and allocate memory, when a query or a body is
    /// first near the block.
    ///
    /// # Changes of the grid
    ///
    /// The collider keeps a copy of the grid, which shares its memory: see [`grid`](Self::grid). To
    /// change the level, call [`edit_cells`](Self::edit_cells). The next tick then ends the
    /// contacts with removed cells, and starts the contacts with new cells. Replacing the collider
    /// by a new one has the same effect, but finds all exposed faces again.
    ///
    /// [`try_cells`](Self::try_cells) lists the invalid inputs.
    pub fn cells<V: Dimension>(grid: &CellGrid<V>) -> Self {
        Self::try_cells(grid).unwrap_or_else(Self::rejected)
    }

    /// Returns the union of [`cells`](Self::cells), or an error if the grid is invalid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mut grid = CellGrid::new(Vec2::new(1.0, 0.0));
    /// grid.set(IVec2::ZERO, Cell::SOLID);
    /// assert_eq!(Collider::try_cells(&grid).unwrap_err(), ShapeError::Zero("size of a cell"));
    /// ```
    ///
    /// # Errors
    ///
    /// * [`NotFinite`](ShapeError::NotFinite), [`Negative`](ShapeError::Negative),
    ///   [`Zero`](ShapeError::Zero): the size of a cell is NaN, infinite, negative or 0.
    /// * [`CellSize`](ShapeError::CellSize): a side of a cell is shorter than 1e-30, longer than
    ///   1e30, or more than 10,000 times as long as another side.
    /// * [`CellOutOfRange`](ShapeError::CellOutOfRange): a coordinate of a cell that is not empty
    ///   is less than -16384, or greater than 16383.
    /// * [`TooManyCells`](ShapeError::TooManyCells): the chunks of the grid have more than 2²⁶
    ///   cells, empty cells included.
    /// * [`SlopeAlongZ`](ShapeError::SlopeAlongZ): a cell of a 2D grid slopes or is one-way
    ///   along z.
    /// * [`UnknownCellShape`](ShapeError::UnknownCellShape): a cell has a shape that is not in the
    ///   table of the grid.
    pub fn try_cells<V: Dimension>(grid: &CellGrid<V>) -> Result<Self, ShapeError> {
        Self::of_cells(CellSurface::new(grid)?, grid, 0.0)
    }

    /// Creates a union of cells with a margin. If there are no faces, the collider keeps `grid`.
    fn of_cells<V: Dimension>(
        cells: Option<CellSurface<V>>,
        grid: &CellGrid<V>,
        margin: f32,
    ) -> Result<Self, ShapeError> {
        let Some(cells) = cells else {
            let shape = AnyColliderShape::NoCells(V::empty_grid(grid.clone()));
            return Ok(Self { shape });
        };
        let compound = Compound::of_cells(cells, margin)?;
        Ok(Self::of_shape(ColliderShape::Compound(compound)))
    }

    /// Returns the grid of a collider from [`cells`](Self::cells), or `None` for any other collider
    /// and for the other dimension.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mut grid = CellGrid::new(Vec3::ONE);
    /// grid.set(IVec3::X, Cell::SOLID);
    /// let level = Collider::cells(&grid);
    /// assert_eq!(level.grid::<Vec3>(), Some(&grid));
    /// assert_eq!(level.grid::<Vec2>(), None);
    /// ```
    pub fn grid<V: Dimension>(&self) -> Option<&CellGrid<V>> {
        let empty = || V::empty_grid_of(self.shape());
        self.cell_surface().map(CellSurface::grid).or_else(empty)
    }

    /// Changes the cells of a collider from [`cells`](Self::cells) in place, and returns the result
    /// of `edit`.
    ///
    /// Only the faces near changed cells are found again. If the collider keeps its entity and its
    /// pose, the next tick tests only the bodies near these faces again, and the bodies inside the
    /// union. All other contacts stay as they are. The contacts are the same as with a new collider
    /// of the changed grid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// /// Removes the cell at a point of the level.
    /// fn dig(level: &mut Collider, point: Vec3) {
    ///     let removed = level.edit_cells(|grid: &mut CellGrid<Vec3>| {
    ///         grid.set(grid.position_of(point), Cell::EMPTY);
    ///     });
    ///     // Removing a cell never makes a grid invalid.
    ///     debug_assert_eq!(removed, Ok(()));
    /// }
    ///
    /// let mut grid = CellGrid::new(Vec3::ONE);
    /// grid.extend([(IVec3::ZERO, Cell::SOLID), (IVec3::X, Cell::SOLID)]);
    /// let mut level = Collider::cells(&grid);
    /// dig(&mut level, Vec3::splat(0.5));
    /// assert_eq!(level.grid::<Vec3>().unwrap().len(), 1);
    /// // The last cell leaves an empty grid.
    /// dig(&mut level, Vec3::new(1.5, 0.5, 0.5));
    /// assert!(level.is_inert() && level.grid::<Vec3>().unwrap().is_empty());
    /// ```
    ///
    /// Several changes in one call cost less than several calls. A margin from
    /// [`rounded`](Self::rounded) stays, unless all cells are removed.
    ///
    /// # Errors
    ///
    /// [`NotCells`](ShapeError::NotCells) if the collider is not from [`cells`](Self::cells) in
    /// this dimension, in which case `edit` is not called, and the errors of
    /// [`try_cells`](Self::try_cells) for the changed grid. The collider is unchanged.
    pub fn edit_cells<V: Dimension, R>(
        &mut self,
        edit: impl FnOnce(&mut CellGrid<V>) -> R,
    ) -> Result<R, ShapeError> {
        let mut grid = self.grid().cloned().ok_or(ShapeError::NotCells)?;
        let result = edit(&mut grid);
        let compound = self.cell_compound();
        let margin = compound.map_or(0.0, |compound| compound.parts().1);
        let old = compound.and_then(Compound::cells);
        let new = match old.filter(|cells| cells.grid().has_same_cells(&grid)) {
            Some(cells) => {
                let blocks = cells.changed_blocks(&grid)?;
                let compound = compound.cloned();
                // Faces that no other collider shares are changed in place.
                self.shape = AnyColliderShape::Inert;
                let cells = compound.and_then(Compound::into_cells);
                cells.and_then(|cells| cells.changed(&grid, &blocks))
            }
            None => CellSurface::new(&grid)?,
        };
        *self = Self::of_cells(new, &grid, margin)?;
        Ok(result)
    }

    /// Returns the cell that has a part of a 2D collider from [`cells`](Self::cells), and its
    /// position. The parts are in [`CollisionEvent`](crate::CollisionEvent), and in the hits of
    /// rays, casts and slides. Look up a part before the collider is replaced.
    ///
    /// If a body touches several cells in the plane of a contact, each of these cells has a part.
    /// If a ray begins inside the union, the part is the exposed face nearest to the ray's origin,
    /// which may belong to a distant cell. For the cell at a point, use [`CellGrid::position_of`]
    /// and [`CellGrid::get`].
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{prelude::*, query::Ray};
    ///
    /// let mut grid = CellGrid::new(Vec2::ONE);
    /// grid.set(IVec2::new(4, 2), Cell::SOLID.with_material(7));
    /// let level = Collider::cells(&grid);
    /// let ray = Ray::new(Vec2::new(0.0, 2.5), Vec2::X);
    /// let hit = query::cast_ray(&level, Vec2::ZERO, ray).unwrap();
    /// let (position, cell) = level.cell_2d(hit.part).unwrap();
    /// assert_eq!((position, cell.material()), (IVec2::new(4, 2), 7));
    /// ```
    pub fn cell_2d(&self, part: u32) -> Option<(IVec2, Cell)> {
        self.cell_of::<Vec2>(part)
    }

    /// Returns the cell that has a part of a 3D collider from [`cells`](Self::cells), and its
    /// position: see [`cell_2d`](Self::cell_2d).
    pub fn cell_3d(&self, part: u32) -> Option<(IVec3, Cell)> {
        self.cell_of::<Vec3>(part)
    }

    /// Returns the material of the cell that has a part of this collider: see
    /// [`cell_2d`](Self::cell_2d). Returns `None` if the collider is not from
    /// [`cells`](Self::cells).
    pub fn material(&self, part: u32) -> Option<u16> {
        let in_2d = self.cell_2d(part).map(|(_, cell)| cell);
        let cell = in_2d.or_else(|| self.cell_3d(part).map(|(_, cell)| cell));
        cell.map(Cell::material)
    }

    /// Returns `true` if any cell of a grid is one-way.
    #[cfg(feature = "record")]
    pub(crate) fn has_ledges(&self) -> bool {
        let in_2d = self.cell_compound::<Vec2>().map(Compound::has_ledges);
        let in_3d = || self.cell_compound::<Vec3>().map(Compound::has_ledges);
        in_2d.or_else(in_3d) == Some(true)
    }

    fn cell_of<V: Dimension>(&self, part: u32) -> Option<(V::CellPosition, Cell)> {
        let cells = self.cell_surface::<V>()?;
        let position = V::position_of(cells.facet(part)?.cell());
        Some((position, cells.grid().get(position)))
    }

    fn cell_surface<V: Dimension>(&self) -> Option<&CellSurface<V>> {
        self.cell_compound()?.cells()
    }

    /// Returns the compound of a collider from [`cells`](Self::cells).
    pub(crate) fn cell_compound<V: Dimension>(&self) -> Option<&Compound<V>> {
        match V::body_of(self.shape())? {
            ColliderShape::Compound(compound) if compound.cells().is_some() => Some(compound),
            _ => None,
        }
    }
}
