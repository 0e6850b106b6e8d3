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
        cells::cell::{Cell, SLOPES},
        elements::part_face::{PartFace, Polygon, are_of_thick_part, cut},
        hull::hull_faces,
    },
    space::{DVector, Space},
};

/// Coordinates of shapes in a table are rounded to this fraction of the cell. So corners that are
/// meant to be on an eighth of the cell are there, in spite of the rounding of f32.
const COORDINATE_STEP: f64 = 1.0 / (1 << 22) as f64;

/// A corner this close to a side of the cell is on the side. [`hull_faces`] places corners in one
/// face if their heights differ by less than a quarter of this.
const SIDE_TOLERANCE: f64 = 1.0 / (1 << 18) as f64;

/// The least thickness of a shape, as a fraction of the cell.
const LEAST_THICKNESS: f64 = 1.0 / 1024.0;

/// Maximum number of corners of a shape.
const MAX_CORNERS: usize = 64;

/// Points of a side within this fraction of the cell from a face on this side count as covered.
const CUT_TOLERANCE: f64 = 4.0 * COORDINATE_STEP;

/// The number of sides of a cell. The sides 2 * i and 2 * i + 1 are at the lower and the upper end
/// of axis i.
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

/// A convex shape in a cell: the part of the cell behind some faces.
pub struct CellShape {
    /// The faces that are not on a side of the cell.
    pub inner_faces: Vec<PartFace<DVec3>>,
    on_sides: [Option<SideFace>; SIDES],
    pub sides: CellSides,
}

/// A face on a side of the cell.
pub struct SideFace {
    pub corners: Polygon<DVec3>,
    /// The planes through the edges, perpendicular to the side.
    edges: Vec<PartFace<DVec3>>,
    /// For each axis, the range of the face, if the face is all of the side within this range.
    ranges: [Option<[f64; 2]>; 3],
}

impl SideFace {
    fn new(face: &PartFace<DVec3>, side: usize) -> Self {
        let corners = face.corners.clone();
        let middle = DVec3::mean(&corners);
        let edges = corners.iter().zip(corners.iter().cycle().skip(1));
        let edges = edges.filter_map(|(start, end)| {
            let plane = SmallVec::from_slice(&[*start, *end, *end + face.normal]);
            PartFace::new(plane, middle)
        });
        let range = |axis: usize| {
            let across = 3_usize.checked_sub(axis + side / 2)?;
            let along = corners.iter().map(|corner| corner.component(axis));
            let range = [along.clone().fold(1.0, f64::min), along.fold(0.0, f64::max)];
            let is_at_end = |corner: &DVec3| {
                range.contains(&corner.component(axis)) && corner.component(across).fract() == 0.0
            };
            let is_whole = axis != side / 2 && corners.len() == 4 && corners.iter().all(is_at_end);
            is_whole.then_some(range)
        };
        Self {
            edges: edges.collect(),
            ranges: [range(0), range(1), range(2)],
            corners,
        }
    }
}

impl CellShape {
    /// Creates a shape from all its faces.
    fn new(faces: Vec<PartFace<DVec3>>) -> Self {
        let is_on_side = |face: &PartFace<DVec3>, bit: usize| {
            let mut corners = face.corners.iter();
            corners.all(|corner| corner.component(bit / 2) == (bit % 2) as f64)
        };
        let on_sides: [Option<SideFace>; SIDES] = array::from_fn(|bit| {
            let face = faces.iter().find(|face| is_on_side(face, bit));
            face.map(|face| SideFace::new(face, bit))
        });
        let (mut whole, mut none) = (0, 0);
        for (bit, face) in on_sides.iter().enumerate() {
            let is_corner = |it: &&DVec3| it.components().iter().all(|at| at.fract() == 0.0);
            let is_whole = |it: &SideFace| it.corners.iter().filter(is_corner).count() == 4;
            none |= u8::from(face.is_none()) << bit;
            whole |= u8::from(face.as_ref().is_some_and(is_whole)) << bit;
        }
        let is_inner = |face: &PartFace<DVec3>| !(0..SIDES).any(|bit| is_on_side(face, bit));
        Self {
            inner_faces: faces.into_iter().filter(is_inner).collect(),
            on_sides,
            sides: CellSides {
                whole,
                none,
                faces: whole,
            },
        }
    }

    /// Returns the shape of a slope, or `None` for any other cell.
    pub fn of_slope(cell: Cell) -> Option<&'static Self> {
        static SHAPES: [OnceLock<CellShape>; SLOPES] = [const { OnceLock::new() }; SLOPES];
        let shape = SHAPES.get(cell.slope_index()?)?;
        Some(shape.get_or_init(|| Self::between_heights(cell)))
    }

    /// Returns the shape of a cell that fills its box.
    pub fn whole() -> &'static Self {
        static SHAPE: OnceLock<CellShape> = OnceLock::new();
        SHAPE.get_or_init(|| Self::between_heights(Cell::SOLID))
    }

    /// Creates the shape of a cell without a number in the table.
    fn between_heights(cell: Cell) -> Self {
        let base = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]];
        let columns = base.map(|[x, z]| cell.span(x, z).map(|y| DVec3::new(x, y, z)));
        let next = columns.iter().cycle().skip(1);
        let across = columns.iter().zip(next);
        let across = across.map(|([low, high], [next_low, next_high])| {
            SmallVec::from_slice(&[*low, *next_low, *next_high, *high])
        });
        let level = [columns.map(|[low, _]| low), columns.map(|[_, high]| high)];
        let level = level.iter().map(|corners| SmallVec::from_slice(corners));
        Self::new(faces_of(&across.chain(level).collect::<Vec<_>>()))
    }

    /// Returns the face on a side of the cell.
    pub fn on_side(&self, side: usize) -> Option<&SideFace> {
        self.on_sides.get(side)?.as_ref()
    }

    /// Returns the corners of all faces.
    pub fn corners(&self) -> impl Iterator<Item = DVec3> {
        let inner = self.inner_faces.iter().map(|face| &face.corners);
        let on_sides = self.on_sides.iter().flatten().map(|face| &face.corners);
        inner.chain(on_sides).flatten().copied()
    }

    /// Returns `true` if the shape contains a point of the cell, which may be outside by a
    /// tolerance along each axis.
    pub fn contains(&self, point: DVec3, tolerance: DVec3) -> bool {
        let mut faces = self.inner_faces.iter();
        faces.all(|face| face.height(point) <= face.normal.abs().dot(tolerance))
    }

    /// Calls `add` with the corners of each part of a face that this shape does not cover. The face
    /// is on a side of the neighbor, and its corners are in the frame of the neighbor.
    pub fn visit_uncovered(&self, face: &SideFace, side: usize, mut add: impl FnMut(&[DVec3])) {
        let Some(cover) = self.on_side(side ^ 1) else {
            return add(&face.corners);
        };
        let axis = DVec3::axis(side / 2);
        let end = (side % 2) as f64;
        let outward = axis * (2.0 * end - 1.0);
        let mut ranges = (0..3).zip(face.ranges.iter().zip(cover.ranges));
        let common = ranges.find_map(|(along, (own, other))| Some((along, (*own)?, other?)));
        if let Some((along, own, cover)) = common {
            let across = DVec3::ONE - axis - DVec3::axis(along);
            return visit_uncovered_ranges(own, cover, |ends| {
                let [low, high] = ends.map(|it| axis * end + DVec3::axis(along) * it);
                add(&[low, low + across, high + across, high]);
            });
        }
        let moved = face.corners.iter().map(|corner| *corner - outward);
        let moved: Polygon<DVec3> = moved.collect();
        if moved.iter().all(|corner| cover.corners.contains(corner)) {
            return;
        }
        let mut rest = Vec::new();
        // No edge faces the same way as the polygon, so the order of the shapes has no effect.
        cut(
            &cover.edges,
            &moved,
            outward,
            true,
            CUT_TOLERANCE,
            &mut rest,
        );
        for piece in &mut rest {
            piece.iter_mut().for_each(|corner| *corner += outward);
            add(piece);
        }
    }
}

/// Calls `add` with each part of a range that another range does not cover. Does the same as
/// [`cut`].
fn visit_uncovered_ranges(
    [low, high]: [f64; 2],
    [cover_low, cover_high]: [f64; 2],
    mut add: impl FnMut([f64; 2]),
) {
    let is_below = low < cover_low - CUT_TOLERANCE;
    let is_above = high > cover_high + CUT_TOLERANCE;
    if is_below && high <= cover_low + CUT_TOLERANCE
        || is_above && low >= cover_high - CUT_TOLERANCE
    {
        return add([low, high]);
    }
    if is_below {
        add([low, cover_low]);
    }
    if is_above {
        add([cover_high, high]);
    }
}

/// A shape in the table of a grid.
pub struct TableShape<V: Space> {
    /// The shape in the units of the grid, relative to the center of the cell.
    pub hull: ConvexHull<V>,
    pub shape: CellShape,
}

impl<V: Space> TableShape<V> {
    /// Creates a shape in a cell with these side lengths. `shape` is relative to the center of the
    /// cell.
    pub fn new(shape: &Shape<V>, size: V) -> Result<Self, ShapeError> {
        let (size, half) = (size.to_f64(), V::DVec::ONE * 0.5);
        let in_cell = |corner: V::DVec| {
            let fractions = in_cells(corner, size) + half;
            V::DVec::of(fractions.components().map(rounded))
        };
        let corners = shape.vertices().ok_or(ShapeError::NotACellShape)?;
        if corners.len() > MAX_CORNERS {
            return Err(ShapeError::TooManyPoints(MAX_CORNERS));
        }
        let corners: Vec<V::DVec> = corners.into_iter().map(in_cell).collect();
        let is_in_cell = |corner: &V::DVec| corner.min(V::DVec::ONE).max(V::DVec::ZERO) == *corner;
        if !corners.iter().all(is_in_cell) {
            return Err(ShapeError::CellShapeTooLarge);
        }
        let place = |corner: V::DVec| V::from_f64((corner - half).scaled(size));
        let corners: Vec<V> = corners.into_iter().map(place).collect();
        let hull = match shape {
            // A saved shape is already rounded.
            Shape::Hull(hull) if hull.points() == corners => hull.clone(),
            _ => ConvexHull::new(corners)?,
        };
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
        let faces = faces_of(&faces.collect::<Vec<_>>());
        if !are_of_thick_part(&faces, V::DVec::DIMENSION, LEAST_THICKNESS) {
            return Err(ShapeError::NotACellShape);
        }
        let shape = CellShape::new(faces);
        Ok(Self { hull, shape })
    }
}

/// Converts a point to the unit of cells with these side lengths.
pub fn in_cells<D: DVector>(point: D, size: D) -> D {
    let mut coordinates = point.components();
    for (coordinate, size) in coordinates.iter_mut().zip(size.components()) {
        *coordinate /= size;
    }
    D::of(coordinates)
}

/// Returns the faces of a shape with these corners, without those that have no area.
fn faces_of(polygons: &[Polygon<DVec3>]) -> Vec<PartFace<DVec3>> {
    let corners: Vec<DVec3> = polygons.iter().flatten().copied().collect();
    let middle = DVec3::mean(&corners);
    let faces = polygons.iter().filter_map(|corners| {
        let mut corners = corners.clone();
        corners.dedup();
        if corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        PartFace::new(corners, middle)
    });
    faces.collect()
}

/// Rounds a coordinate of a corner, which is a fraction of the cell.
fn rounded(coordinate: f64) -> f64 {
    let rounded = (coordinate / COORDINATE_STEP).round() * COORDINATE_STEP;
    let sides = [0.0, 1.0].into_iter();
    let mut near = sides.filter(|side| (rounded - side).abs() <= SIDE_TOLERANCE);
    near.next().unwrap_or(rounded)
}
