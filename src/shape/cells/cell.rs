//! The content of a cell.

/// The height of a full cell.
const FULL: u8 = 8;

/// The bits of a cell without [`IN_TABLE`]: two heights of four bits each, two flags, and the
/// number of a [`CellDirection`] plus 1, or 0 if the cell is not one-way.
const SECOND_HEIGHT: u16 = 4;
const HEIGHT: u16 = 0b1111;
const HEIGHTS: u16 = 0xff;
const ALONG_Z: u16 = 1 << 8;
const HANGING: u16 = 1 << 9;
const ONE_WAY: u16 = 10;

/// The flag of a cell whose other bits are the number of a shape in the table of the grid.
const IN_TABLE: u16 = 1 << 15;

/// The number of different values of [`Cell::slope_index`].
pub(super) const SLOPES: usize = 1 << ONE_WAY;

/// The maximum number of shapes in the table of a grid.
pub(super) const MAX_SHAPES: usize = IN_TABLE as usize - 1;

/// The direction out of the solid side of a [one-way cell](Cell::one_way), along an axis of the
/// grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum CellDirection {
    /// To higher x.
    X,
    /// To lower x.
    NegX,
    /// To higher y: the cell is solid from above.
    Y,
    /// To lower y.
    NegY,
    /// To higher z. An error in a 2D grid.
    Z,
    /// To lower z. An error in a 2D grid.
    NegZ,
}

impl CellDirection {
    /// Returns `true` if the axis is z.
    fn is_only_3d(self) -> bool {
        matches!(self, Self::Z | Self::NegZ)
    }

    /// Returns the bit of the solid side in a mask of sides. The lower end of an axis comes before
    /// its upper end.
    pub(super) fn side_mask(self) -> u8 {
        1 << (self as u8 ^ 1)
    }
}

/// The content of one cell of a [`CellGrid`](crate::CellGrid): its shape and its material, in four
/// bytes.
///
/// A cell is a box, which a slope fills up to a height along y. Heights are in eighths of the box,
/// from 0 to 8. Larger heights count as 8. Other cells have a [shape](Self::shape) of their own, or
/// are [one-way](Self::one_way).
///
/// ```
/// use headbutt::Cell;
///
/// let ramp = Cell::slope(0, 8).with_material(3);
/// assert_eq!(ramp.material(), 3);
/// assert!(!ramp.is_empty() && !ramp.is_solid());
/// // A cell that is filled up to its top is solid, and a cell without height is empty.
/// assert_eq!(Cell::slope(8, 8), Cell::SOLID);
/// assert_eq!(Cell::slope(0, 0), Cell::EMPTY);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", serde(from = "CellData", into = "CellData"))]
pub struct Cell {
    bits: u16,
    material: u16,
}

impl Cell {
    /// The cell without content.
    pub const EMPTY: Self = Self::slope(0, 0);

    /// The cell that fills its box.
    pub const SOLID: Self = Self::slope(FULL, FULL);

    /// Creates a cell whose upper side slopes along x, from the height `left` at the lowest x to
    /// the height `right` at the highest x, in eighths of the cell. Equal heights make a slab.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// // A hill: up, level, and down again.
    /// let cells = [Cell::slope(0, 8), Cell::SOLID, Cell::slope(8, 0)];
    /// let mut grid = CellGrid::new(Vec2::splat(16.0));
    /// grid.extend((0..).zip(cells).map(|(x, cell)| (IVec2::new(x, 0), cell)));
    /// let hill = Collider::cells(&grid);
    /// assert!(hill.contains_point(Vec2::ZERO, Vec2::new(12.0, 8.0)));
    /// assert!(!hill.contains_point(Vec2::ZERO, Vec2::new(4.0, 8.0)));
    /// ```
    pub const fn slope(left: u8, right: u8) -> Self {
        Self::with_heights(left, right, 0)
    }

    /// Creates a cell whose upper side slopes along z, from the height `at_low_z` at the lowest z
    /// to the height `at_high_z` at the highest z, in eighths of the cell. Such a slope is an error
    /// in a 2D grid. Bevy's forward direction is -z, so the end at the highest z is nearer to the
    /// viewer.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mut ramp = CellGrid::new(Vec3::ONE);
    /// ramp.set(IVec3::ZERO, Cell::slope_z(0, 8));
    /// let ramp = Collider::cells(&ramp);
    /// assert!(ramp.contains_point(Vec3::ZERO, Vec3::new(0.5, 0.6, 0.7)));
    /// assert!(!ramp.contains_point(Vec3::ZERO, Vec3::new(0.5, 0.6, 0.5)));
    ///
    /// let mut grid = CellGrid::new(Vec2::ONE);
    /// grid.set(IVec2::ZERO, Cell::slope_z(0, 8));
    /// assert_eq!(Collider::try_cells(&grid).unwrap_err(), ShapeError::SlopeAlongZ);
    /// ```
    pub const fn slope_z(at_low_z: u8, at_high_z: u8) -> Self {
        Self::with_heights(at_low_z, at_high_z, ALONG_Z)
    }

    /// Creates a cell with two heights. A level cell has no flags, so that equal shapes are equal.
    const fn with_heights(first: u8, second: u8, flags: u16) -> Self {
        let first = if first > FULL { FULL } else { first } as u16;
        let second = if second > FULL { FULL } else { second } as u16;
        let flags = if first == second { 0 } else { flags };
        Self {
            bits: first | second << SECOND_HEIGHT | flags,
            material: 0,
        }
    }

    /// Creates a cell that is solid from one side: a ledge through which a player jumps from below,
    /// and on which the player lands. `direction` leads out of the solid side.
    ///
    /// Only the side itself is solid, so the cell has no inside. The rules of
    /// [`OneWay`](crate::OneWay) decide whether a body meets the side or passes through.
    /// `docs/CELLS.md` in this package describes the differences. In a 2D grid, a direction along z
    /// is an error.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{prelude::*, query::Ray};
    ///
    /// // A ledge of 4 tiles, 3 tiles above a floor.
    /// let mut grid = CellGrid::new(Vec2::splat(16.0));
    /// grid.fill(IVec2::new(0, 0), IVec2::new(9, 0), Cell::SOLID).unwrap();
    /// grid.fill(IVec2::new(3, 3), IVec2::new(6, 3), Cell::one_way(CellDirection::Y)).unwrap();
    /// let level = Collider::cells(&grid);
    ///
    /// // A ray from above hits the ledge at the top of its tiles. A ray from below passes.
    /// let down = Ray::new(Vec2::new(80.0, 100.0), Vec2::NEG_Y);
    /// assert_eq!(query::cast_ray(&level, Vec2::ZERO, down).unwrap().distance, 36.0);
    /// let up = Ray::new(Vec2::new(80.0, 20.0), Vec2::Y);
    /// assert!(query::cast_ray(&level, Vec2::ZERO, up).is_none());
    /// ```
    pub const fn one_way(direction: CellDirection) -> Self {
        Self {
            bits: (direction as u16 + 1) << ONE_WAY,
            material: 0,
        }
    }

    /// Creates a cell with a convex shape of its own, by the number of the shape in the table of
    /// the grid, which [`CellGrid::with_shapes`](crate::CellGrid::with_shapes) creates. An unknown
    /// number is an error of [`Collider::try_cells`](crate::Collider::try_cells), and so is each
    /// number above 32766.
    ///
    /// The shape is solid like a slope: where it covers a part of a side of the cell, the union
    /// has no face there. It cannot be one-way.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{ConvexHull, prelude::*};
    ///
    /// // A stalactite, and a rock. The origin is the center of the cell.
    /// let stalactite = [Vec2::new(-4.0, 8.0), Vec2::new(4.0, 8.0), Vec2::new(1.0, -6.0)];
    /// let rock = [
    ///     Vec2::new(-8.0, -8.0),
    ///     Vec2::new(8.0, -8.0),
    ///     Vec2::new(5.0, 0.0),
    ///     Vec2::new(-2.0, 3.0),
    /// ];
    /// let shapes = [ConvexHull::new(stalactite).unwrap(), ConvexHull::new(rock).unwrap()];
    /// let mut grid = CellGrid::with_shapes(Vec2::splat(16.0), shapes).unwrap();
    /// grid.set(IVec2::new(0, 2), Cell::shape(0));
    /// grid.set(IVec2::new(0, 0), Cell::shape(1).with_material(5));
    /// let cave = Collider::cells(&grid);
    /// assert!(cave.contains_point(Vec2::ZERO, Vec2::new(6.0, 10.0)));
    /// assert!(!cave.contains_point(Vec2::ZERO, Vec2::new(1.0, 10.0)));
    ///
    /// grid.set(IVec2::new(1, 0), Cell::shape(2));
    /// assert_eq!(Collider::try_cells(&grid).unwrap_err(), ShapeError::UnknownCellShape);
    /// ```
    pub const fn shape(number: u16) -> Self {
        let last = MAX_SHAPES as u16;
        Self {
            bits: IN_TABLE | if number > last { last } else { number },
            material: 0,
        }
    }

    /// Returns the number of a [shape](Self::shape) in the table of the grid, or `None` for any
    /// other cell.
    pub const fn shape_number(self) -> Option<u16> {
        if self.bits & IN_TABLE == 0 {
            None
        } else {
            Some(self.bits ^ IN_TABLE)
        }
    }

    /// Returns the direction of a [one-way cell](Self::one_way), or `None` for any other cell.
    pub const fn one_way_direction(self) -> Option<CellDirection> {
        match self.bits >> ONE_WAY {
            1 => Some(CellDirection::X),
            2 => Some(CellDirection::NegX),
            3 => Some(CellDirection::Y),
            4 => Some(CellDirection::NegY),
            5 => Some(CellDirection::Z),
            6 => Some(CellDirection::NegZ),
            _ => None,
        }
    }

    /// Returns this cell turned upside down along y: its shape hangs from the top of the cell.
    /// Applied twice, the method returns the same cell. A cell with a [shape](Self::shape) of its
    /// own stays the same.
    ///
    /// ```
    /// use headbutt::Cell;
    ///
    /// let ceiling = Cell::slope(8, 0).hanging();
    /// assert_ne!(ceiling, Cell::slope(8, 0));
    /// assert_eq!(ceiling.hanging(), Cell::slope(8, 0));
    /// assert_eq!(Cell::SOLID.hanging(), Cell::SOLID);
    /// ```
    #[must_use]
    pub const fn hanging(self) -> Self {
        let bits = match self.one_way_direction() {
            Some(CellDirection::Y) => Self::one_way(CellDirection::NegY).bits,
            Some(CellDirection::NegY) => Self::one_way(CellDirection::Y).bits,
            None if self.slope_index().is_some() => self.bits ^ HANGING,
            _ => self.bits,
        };
        Self { bits, ..self }
    }

    /// Returns this cell with another material. Materials have no effect on collisions: for layers
    /// or sensors of a material, see [`CellGrid::filtered`](crate::CellGrid::filtered). The default
    /// is 0. An empty cell with a material differs from [`Cell::EMPTY`], but a
    /// [`CellGrid`](crate::CellGrid) keeps only [`Cell::EMPTY`].
    #[must_use]
    pub const fn with_material(self, material: u16) -> Self {
        Self { material, ..self }
    }

    /// Returns the material.
    pub const fn material(self) -> u16 {
        self.material
    }

    /// Returns `true` if the cell has no content.
    pub const fn is_empty(self) -> bool {
        self.bits == Self::EMPTY.bits
    }

    /// Returns `true` if the cell fills its box.
    pub const fn is_solid(self) -> bool {
        self.bits == Self::SOLID.bits
    }

    /// Returns the cell as a number. Comparisons of numbers need no branch.
    pub(super) fn word(self) -> u32 {
        u32::from(self.bits) | u32::from(self.material) << u16::BITS
    }

    /// Returns `true` if the cell fills a part of its box. A one-way cell does not.
    pub(super) const fn has_inside(self) -> bool {
        self.bits & (HEIGHTS | IN_TABLE) != 0
    }

    /// Returns a number of the shape of a slope, less than [`SLOPES`], or `None` for a cell that is
    /// empty, solid or one-way, or has a shape in the table of the grid.
    pub(super) const fn slope_index(self) -> Option<usize> {
        let is_slope = self.bits & IN_TABLE == 0 && self.has_inside() && !self.is_solid();
        if is_slope {
            Some(self.bits as usize)
        } else {
            None
        }
    }

    /// Returns the heights at both ends of the slope, in eighths of the cell.
    fn eighths(self) -> [u8; 2] {
        [self.bits, self.bits >> SECOND_HEIGHT].map(|height| (height & HEIGHT) as u8)
    }

    /// Returns `true` if the cell slopes along z.
    fn is_along_z(self) -> bool {
        self.bits & (ALONG_Z | IN_TABLE) == ALONG_Z
    }

    /// Returns `true` if the cell slopes or is one-way along z, and so exists only in 3D.
    pub(super) fn is_only_3d(self) -> bool {
        let direction = self.one_way_direction();
        self.is_along_z() || direction.is_some_and(CellDirection::is_only_3d)
    }

    /// Returns `true` if the shape of a slope hangs from the top of the cell.
    fn is_hanging(self) -> bool {
        self.bits & (HANGING | IN_TABLE) == HANGING
    }

    /// Returns the lowest and the highest y of a slope at a position in the cell. All numbers are
    /// fractions of the cell.
    pub(super) fn span(self, x: f64, z: f64) -> [f64; 2] {
        let heights = self.eighths();
        let [first, second] = heights.map(|height| f64::from(height) / f64::from(FULL));
        let height = first + (second - first) * if self.is_along_z() { z } else { x };
        if self.is_hanging() {
            [1.0 - height, 1.0]
        } else {
            [0.0, height]
        }
    }
}

/// A [`Cell`] as data.
#[cfg(feature = "serialize")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Cell", deny_unknown_fields)]
struct CellData {
    heights: [u8; 2],
    along_z: bool,
    hanging: bool,
    one_way: Option<CellDirection>,
    shape: Option<u16>,
    material: u16,
}

#[cfg(feature = "serialize")]
impl From<Cell> for CellData {
    fn from(cell: Cell) -> Self {
        let shape = cell.shape_number();
        Self {
            heights: if shape.is_none() {
                cell.eighths()
            } else {
                [0; 2]
            },
            along_z: cell.is_along_z(),
            hanging: cell.is_hanging(),
            one_way: cell.one_way_direction(),
            shape,
            material: cell.material,
        }
    }
}

#[cfg(feature = "serialize")]
impl From<CellData> for Cell {
    fn from(data: CellData) -> Self {
        let [first, second] = data.heights;
        let cell = match (data.shape, data.one_way) {
            (Some(number), _) => Self::shape(number),
            (None, Some(direction)) => Self::one_way(direction),
            (None, None) if data.along_z => Self::slope_z(first, second),
            (None, None) => Self::slope(first, second),
        };
        let hangs = data.hanging && cell.slope_index().is_some();
        let cell = if hangs { cell.hanging() } else { cell };
        cell.with_material(data.material)
    }
}
