//! The content of a cell.

/// The height of a full cell.
const FULL: u8 = 8;

/// The bits of [`Cell::shape`]: two heights of four bits each, two flags, and the number of a
/// [`CellDirection`] plus 1, or 0 if the cell is not one-way.
const SECOND_HEIGHT: u16 = 4;
const HEIGHT: u16 = 0b1111;
const HEIGHTS: u16 = 0xff;
const ALONG_Z: u16 = 1 << 8;
const HANGING: u16 = 1 << 9;
const ONE_WAY: u16 = 10;

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
    /// Returns the index of the axis, and the end of the axis to which the direction leads: 0 or 1.
    fn side(self) -> (usize, f64) {
        let number = self as usize;
        (number / 2, f64::from(number.is_multiple_of(2)))
    }
}

/// The content of one cell of a [`CellGrid`](crate::CellGrid): its shape and its material, in four
/// bytes.
///
/// A cell is a box, which the shape fills up to a height along y. Heights are in eighths of the
/// box, from 0 to 8. Larger heights count as 8.
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
    shape: u16,
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
            shape: first | second << SECOND_HEIGHT | flags,
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
            shape: (direction as u16 + 1) << ONE_WAY,
            material: 0,
        }
    }

    /// Returns the direction of a [one-way cell](Self::one_way), or `None` for any other cell.
    pub const fn one_way_direction(self) -> Option<CellDirection> {
        match self.shape >> ONE_WAY {
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
    /// Applied twice, the method returns the same cell.
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
        let shape = match self.one_way_direction() {
            Some(CellDirection::Y) => Self::one_way(CellDirection::NegY).shape,
            Some(CellDirection::NegY) => Self::one_way(CellDirection::Y).shape,
            None if self.has_inside() && !self.is_solid() => self.shape ^ HANGING,
            _ => self.shape,
        };
        Self { shape, ..self }
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
        self.shape == Self::EMPTY.shape
    }

    /// Returns `true` if the cell fills its box.
    pub const fn is_solid(self) -> bool {
        self.shape == Self::SOLID.shape
    }

    /// Returns `true` if the cell fills a part of its box. A one-way cell does not.
    pub(super) const fn has_inside(self) -> bool {
        self.shape & HEIGHTS != 0
    }

    /// Returns the heights at both ends of the slope, in eighths of the cell.
    pub(super) fn eighths(self) -> [u8; 2] {
        [self.shape, self.shape >> SECOND_HEIGHT].map(|height| (height & HEIGHT) as u8)
    }

    /// Returns the heights at both ends of the slope, as fractions of the cell.
    pub(super) fn heights(self) -> [f64; 2] {
        self.eighths()
            .map(|height| f64::from(height) / f64::from(FULL))
    }

    /// Returns `true` if the cell slopes along z.
    pub(super) fn is_along_z(self) -> bool {
        self.shape & ALONG_Z != 0
    }

    /// Returns `true` if the cell slopes or is one-way along z, and so exists only in 3D.
    pub(super) fn is_only_3d(self) -> bool {
        let direction = self.one_way_direction();
        self.is_along_z() || direction.is_some_and(|it| it.side().0 == 2)
    }

    /// Returns `true` if the cell is one-way, and its solid side is at this end of an axis.
    pub(super) fn is_one_way_at(self, axis: usize, end: f64) -> bool {
        let direction = self.one_way_direction();
        direction.is_some_and(|it| it.side() == (axis, end))
    }

    /// Returns `true` if the shape hangs from the top of the cell.
    pub(super) fn is_hanging(self) -> bool {
        self.shape & HANGING != 0
    }

    /// Returns the lowest and the highest y of the shape at a position in the cell. All numbers are
    /// fractions of the cell.
    pub(super) fn span(self, x: f64, z: f64) -> [f64; 2] {
        let [first, second] = self.heights();
        let height = first + (second - first) * if self.is_along_z() { z } else { x };
        if self.is_hanging() {
            [1.0 - height, 1.0]
        } else {
            [0.0, height]
        }
    }

    /// Returns `true` if the shape covers the bottom of the cell.
    pub(super) fn fills_bottom(self) -> bool {
        self.has_inside() && !self.is_hanging()
    }

    /// Returns `true` if the shape covers the top of the cell.
    pub(super) fn fills_top(self) -> bool {
        self.is_hanging() || self.is_solid()
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
    material: u16,
}

#[cfg(feature = "serialize")]
impl From<Cell> for CellData {
    fn from(cell: Cell) -> Self {
        Self {
            heights: cell.eighths(),
            along_z: cell.is_along_z(),
            hanging: cell.is_hanging(),
            one_way: cell.one_way_direction(),
            material: cell.material,
        }
    }
}

#[cfg(feature = "serialize")]
impl From<CellData> for Cell {
    fn from(data: CellData) -> Self {
        let [first, second] = data.heights;
        let cell = match data.one_way {
            Some(direction) => Self::one_way(direction),
            None if data.along_z => Self::slope_z(first, second),
            None => Self::slope(first, second),
        };
        let hangs = data.hanging && cell.has_inside();
        let cell = if hangs { cell.hanging() } else { cell };
        cell.with_material(data.material)
    }
}
