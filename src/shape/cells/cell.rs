//! The content of a cell.

/// The height of a full cell.
const FULL: u8 = 8;

/// The bits of [`Cell::shape`]: two heights of four bits each, and two flags.
const SECOND_HEIGHT: u16 = 4;
const HEIGHT: u16 = 0b1111;
const ALONG_Z: u16 = 1 << 8;
const HANGING: u16 = 1 << 9;

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
        if self.is_empty() || self.is_solid() {
            return self;
        }
        Self {
            shape: self.shape ^ HANGING,
            ..self
        }
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
        !self.is_empty() && !self.is_hanging()
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
    material: u16,
}

#[cfg(feature = "serialize")]
impl From<Cell> for CellData {
    fn from(cell: Cell) -> Self {
        Self {
            heights: cell.eighths(),
            along_z: cell.is_along_z(),
            hanging: cell.is_hanging(),
            material: cell.material,
        }
    }
}

#[cfg(feature = "serialize")]
impl From<CellData> for Cell {
    fn from(data: CellData) -> Self {
        let [first, second] = data.heights;
        let cell = if data.along_z {
            Self::slope_z(first, second)
        } else {
            Self::slope(first, second)
        };
        let cell = if data.hanging { cell.hanging() } else { cell };
        cell.with_material(data.material)
    }
}
