//! The convex shapes of cells: slopes, and the shapes in the table of a grid.
//!
//! A shape is in the unit cube: its coordinates are fractions of the cell. In 2D, a shape is a
//! prism from z = 0 to z = 1, of which only the points with z = 0 count.

use core::array;
use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::{
    math::DVec3,
    shape::{
        ConvexHull, Shape, ShapeError,
        cells::{
            cell::{Cell, SLOPES},
            grid::CellGrid,
        },
        hull::hull_faces,
        joined::part_faces::{PartFace, Polygon, cut, vertices},
    },
    space::{DVector, Space},
};

/// Coordinates of shapes in a table are rounded to this fraction of the cell. So corners that are
/// meant to be equal are equal, in spite of the rounding of f32.
const COORDINATE_STEP: f64 = 1.0 / (1 << 22) as f64;

/// A corner this close to a side of the cell is on the side. [`hull_faces`] places corners in one
/// face if their heights differ by less.
const SIDE_TOLERANCE: f64 = 1.0 / (1 << 18) as f64;

/// The least thickness of a shape, as a fraction of the cell.
const LEAST_THICKNESS: f64 = 1.0 / 1024.0;

/// Maximum number of corners of a shape.
const MAX_CORNERS: usize = 64;

/// Points within this fraction of the cell from a shape count as covered by it. The tolerance is
/// greater than the rounding of f64, but less than [`COORDINATE_STEP`].
const CUT_TOLERANCE: f64 = 1e-7;

/// The number of sides of a cell. Two sides in a row are the lower and the upper end of an axis.
const SIDES: usize = 6;

/// The sides of a cell that its shape covers as a whole, and those that it does not cover at all,
/// as masks. All other sides are covered in part.
#[derive(Clone, Copy)]
pub struct CellSides {
    pub whole: u8,
    pub none: u8,
    /// The sides on which the cell has a whole face: those in `whole`, and the solid side of a
    /// one-way cell.
    pub faces: u8,
}

impl CellSides {
    pub const EMPTY: Self = Self {
        whole: 0,
        none: 0b11_1111,
        faces: 0,
    };
    pub const SOLID: Self = Self {
        whole: 0b11_1111,
        none: 0,
        faces: 0b11_1111,
    };
}

/// Returns the bit of a side in a mask.
pub fn bit_of_side(axis: usize, end: f64) -> usize {
    2 * axis + usize::from(end == 1.0)
}

/// A convex shape in a cell.
pub struct CellShape {
    /// The faces. Those on a side of the cell come last.
    faces: Vec<PartFace<DVec3>>,
    /// The number of faces that are not on a side of the cell.
    inner: usize,
    /// For each side of the cell, the index of the face on this side.
    on_sides: [Option<usize>; SIDES],
    pub sides: CellSides,
}

impl CellShape {
    /// Creates a shape from its faces, without those that have no area.
    fn new(faces: &[Polygon<DVec3>]) -> Self {
        let corners: Vec<DVec3> = faces.iter().flatten().copied().collect();
        let middle = DVec3::mean(&corners);
        let faces = faces.iter().filter_map(|corners| {
            let mut corners = corners.clone();
            corners.dedup();
            if corners.len() > 1 && corners.first() == corners.last() {
                corners.pop();
            }
            PartFace::new(corners, middle)
        });
        let mut faces: Vec<_> = faces.collect();
        let side_of = |face: &PartFace<DVec3>| {
            (0..SIDES).find(|bit| {
                let mut corners = face.corners.iter();
                corners.all(|corner| corner.component(bit / 2) == (bit % 2) as f64)
            })
        };
        faces.sort_by_key(|face| side_of(face).is_some());
        let inner = faces.partition_point(|face| side_of(face).is_none());
        let on_sides =
            array::from_fn(|bit| faces.iter().position(|face| side_of(face) == Some(bit)));
        let (mut whole, mut none) = (0, 0);
        for (bit, index) in on_sides.iter().enumerate() {
            let face = index.and_then(|index: usize| faces.get(index));
            let is_corner = |it: &&DVec3| it.components().iter().all(|at| at.fract() == 0.0);
            let is_whole = face.is_some_and(|it| it.corners.iter().filter(is_corner).count() == 4);
            none |= u8::from(face.is_none()) << bit;
            whole |= u8::from(is_whole) << bit;
        }
        let sides = CellSides {
            whole,
            none,
            faces: whole,
        };
        Self {
            faces,
            inner,
            on_sides,
            sides,
        }
    }

    /// Returns the shape of a slope, or `None` for any other cell.
    pub fn of_slope(cell: Cell) -> Option<&'static Self> {
        static SHAPES: [OnceLock<CellShape>; SLOPES] = [const { OnceLock::new() }; SLOPES];
        let shape = SHAPES.get(cell.slope_index()?)?;
        Some(shape.get_or_init(|| {
            let base = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]];
            let columns = base.map(|[x, z]| cell.span(x, z).map(|y| DVec3::new(x, y, z)));
            let next = columns.iter().cycle().skip(1);
            let across = columns.iter().zip(next);
            let across = across.map(|([low, high], [next_low, next_high])| {
                SmallVec::from_slice(&[*low, *next_low, *next_high, *high])
            });
            let level = [columns.map(|[low, _]| low), columns.map(|[_, high]| high)];
            let level = level.iter().map(|corners| SmallVec::from_slice(corners));
            Self::new(&across.chain(level).collect::<Vec<_>>())
        }))
    }

    /// Returns the face on a side of the cell.
    pub fn on_side(&self, axis: usize, end: f64) -> Option<&PartFace<DVec3>> {
        let index = self.on_sides.get(bit_of_side(axis, end)).copied()?;
        self.faces.get(index?)
    }

    /// Returns the faces that are not on a side of the cell. The shape is the part of the cell
    /// behind all of them.
    pub fn inner_faces(&self) -> &[PartFace<DVec3>] {
        self.faces.get(..self.inner).unwrap_or_default()
    }

    /// Returns the corners of all faces.
    pub fn corners(&self) -> impl Iterator<Item = DVec3> {
        self.faces.iter().flat_map(|face| face.corners.clone())
    }

    /// Returns `true` if the shape contains a point of the cell, which may be outside by a tolerance
    /// along each axis.
    pub fn contains(&self, point: DVec3, tolerance: DVec3) -> bool {
        let mut faces = self.inner_faces().iter();
        faces.all(|face| face.height(point) <= face.normal.abs().dot(tolerance))
    }

    /// Returns the parts of a polygon that this shape does not cover. The polygon is on the side of
    /// the neighbor at the lower or the upper end of an axis, in the frame of the neighbor.
    pub fn uncovered(
        &self,
        polygon: &Polygon<DVec3>,
        axis: usize,
        end: f64,
    ) -> Vec<Polygon<DVec3>> {
        let normal = DVec3::axis(axis) * (2.0 * end - 1.0);
        let to_own = DVec3::axis(axis) * (1.0 - 2.0 * end);
        let moved: Polygon<DVec3> = polygon.iter().map(|corner| *corner + to_own).collect();
        let mut rest = Vec::new();
        cut(
            self.inner_faces(),
            &moved,
            normal,
            true,
            CUT_TOLERANCE,
            &mut rest,
        );
        let corners = rest.iter_mut().flatten();
        corners.for_each(|corner| *corner -= to_own);
        rest
    }
}

/// A shape in the table of a grid.
pub struct TableShape<V: Space> {
    /// The shape in the units of the grid, relative to the center of the cell.
    pub hull: ConvexHull<V>,
    pub shape: CellShape,
}

impl<V: Space> TableShape<V> {
    /// Creates a shape in a cell of a grid. `shape` is relative to the center of the cell.
    pub fn new(shape: &Shape<V>, grid: &CellGrid<V>) -> Result<Self, ShapeError> {
        let (size, half) = (grid.cell_size().to_f64(), V::DVec::ONE * 0.5);
        let in_cell = |corner: V::DVec| {
            let fractions = grid.in_cells(corner) + half;
            V::DVec::of(fractions.components().map(rounded))
        };
        let corners = vertices(shape).ok_or(ShapeError::NotACellShape)?;
        if corners.len() > MAX_CORNERS {
            return Err(ShapeError::TooManyPoints(MAX_CORNERS));
        }
        let corners: Vec<V::DVec> = corners.into_iter().map(in_cell).collect();
        let is_in_cell = |corner: &V::DVec| corner.min(V::DVec::ONE).max(V::DVec::ZERO) == *corner;
        if !corners.iter().all(is_in_cell) {
            return Err(ShapeError::CellShapeTooLarge);
        }
        let place = |corner: V::DVec| V::from_f64((corner - half).scaled(size));
        let hull = ConvexHull::new(corners.into_iter().map(place))?;
        let corners = hull.points().iter().map(|corner| in_cell(corner.to_f64()));
        let corners: Vec<V::DVec> = corners.collect();
        let faces = hull_faces::<V>(&corners).unwrap_or_default();
        let faces = faces.iter().map(|indices| {
            let around = indices.iter().filter_map(|index| corners.get(*index));
            let around: Polygon<DVec3> = around.map(|it| it.components().into()).collect();
            match *around {
                // In 2D, a side becomes a face of the prism.
                [start, end] => {
                    SmallVec::from_slice(&[start, start + DVec3::Z, end + DVec3::Z, end])
                }
                _ => around,
            }
        });
        let shape = CellShape::new(&faces.collect::<Vec<_>>());
        let is_thick = |face: &PartFace<DVec3>| {
            shape
                .corners()
                .any(|corner| face.height(corner) < -LEAST_THICKNESS)
        };
        if shape.faces.len() > V::DVec::DIMENSION && shape.faces.iter().all(is_thick) {
            Ok(Self { hull, shape })
        } else {
            Err(ShapeError::NotACellShape)
        }
    }
}

/// Rounds a coordinate of a corner, which is a fraction of the cell.
fn rounded(coordinate: f64) -> f64 {
    let rounded = (coordinate / COORDINATE_STEP).round() * COORDINATE_STEP;
    let sides = [0.0, 1.0].into_iter();
    let mut near = sides.filter(|side| (rounded - side).abs() <= SIDE_TOLERANCE);
    near.next().unwrap_or(rounded)
}
