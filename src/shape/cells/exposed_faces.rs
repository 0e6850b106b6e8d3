//! The faces of the union of cells.
//!
//! A face on a side of a cell is exposed where the neighbor across this side does not cover it. The
//! upper side of a slope is inside its own cell, so no neighbor covers it.
//!
//! A one-way cell has a single face, on its solid side, and covers nothing. The faces of one-way
//! cells in a plane with the same outer side form a *ledge*.
//!
//! On a side, a cell covers the points between two lines, which are the lowest and the highest y of
//! its shape. In 3D, the side is a square, and `t` runs along its lower edge from 0 to 1. In 2D,
//! the side is a segment, and only t = 0 counts.
//!
//! Faces are found by *blocks* of 64 cells. The faces of a block depend only on its cells and on
//! the cells around it. So after a change, only the faces of a few blocks are found again.
//!
//! Faces with a common axis-aligned plane and the same outer side form a *cluster*, wherever they
//! are. The vertices of such faces have exactly the same coordinate along the axis, so the number
//! of the plane is enough to identify the cluster. A ledge is a cluster of its own. The two
//! triangles of a slope also form a cluster.

use smallvec::SmallVec;

use crate::{
    shape::{
        Bounds, ShapeError,
        boxes::wide_tree::{NO_GROUP, WideTree},
        cells::{
            cell::Cell,
            grid::{CellGrid, CellPosition},
        },
        elements::facet::{FacetVertices, facet_normal, has_area},
    },
    space::{DVector, Pose, Space},
};

/// The positions of cells in a collider are less than this number, and at least its opposite. If
/// the sides of a cell are equal, the `weld` of a facet is at most a twentieth of a side: see
/// `elements/facet.rs`. For unequal sides, the weld may exceed the shortest side.
const END: i32 = 1 << 14;

/// The index of y among the axes.
const UP: usize = 1;

/// The number of cells of a block.
const BLOCK_LEN: u32 = 64;

/// The exposed faces of a block of 8 x 8 cells (in 3D, 4 x 4 x 4).
pub struct FaceBlock<V: Space> {
    facets: Box<[BlockFacet<V>]>,
    tree: WideTree,
    has_ledges: bool,
}

/// A facet of an exposed face.
#[derive(Clone, Copy)]
pub struct BlockFacet<V> {
    /// The vertices. In 2D, the third vertex repeats the second.
    vertices: [V; 3],
    cell: CellPosition,
    /// The mask of the sides on the boundary of the facet's cluster: see
    /// [`Clusters::rims`](crate::shape::compounds::clusters::Clusters::rims).
    pub rims: u8,
    pub cluster: FaceCluster,
}

/// The cluster of a facet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FaceCluster {
    /// The facets in an axis-aligned plane.
    Plane(FacePlane),
    /// The triangles of a slope, from the facet at this index of the block.
    Slope(u32),
    Single,
}

/// An axis-aligned plane with an outer side, as a number. The faces of one-way cells have planes of
/// their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FacePlane(u32);

impl FacePlane {
    /// The bit that tells the number of a plane from the index of a facet.
    const TAG: u32 = 1 << 31;
    const AXIS: u32 = 21;
    const UPPER: u32 = 20;
    const LEDGE: u32 = 19;
    const ZERO: i32 = 8 * END;

    /// Returns the plane at a coordinate in eighths of a cell, at the lower or the upper end of the
    /// cells behind it, which are like `cell`.
    fn new(axis: usize, end: f64, eighths: i32, cell: Cell) -> Self {
        let upper = u32::from(end == 1.0) << Self::UPPER;
        let ledge = u32::from(cell.one_way_direction().is_some()) << Self::LEDGE;
        let coordinate = (eighths + Self::ZERO) as u32;
        Self(Self::TAG | (axis as u32) << Self::AXIS | upper | ledge | coordinate)
    }

    /// Returns the number of the plane, which no facet has as its index.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Returns `true` if the plane has the faces of one-way cells.
    pub fn is_ledge(self) -> bool {
        self.0 >> Self::LEDGE & 1 == 1
    }

    /// Returns the outward unit normal.
    pub fn normal<D: DVector>(self) -> D {
        let upper = self.0 >> Self::UPPER & 1;
        outward((self.0 >> Self::AXIS & 3) as usize, f64::from(upper))
    }
}

/// A line over t: its y at t = 0 and at t = 1.
type Line = [f64; 2];

/// The part of a side between two lines.
#[derive(Clone, Copy, PartialEq)]
struct Strip {
    low: Line,
    high: Line,
}

/// A point in a cell, as fractions of the cell.
type CellPoint = [f64; 3];

/// An exposed face of a cell.
struct Face {
    cell: CellPosition,
    /// In 3D, the corners run around the face. In 2D, the first and the last corner are the ends of
    /// the face.
    corners: [CellPoint; 4],
    /// The axis to which the outward normal is nearest, and 1 or 0 for its end of the axis.
    axis: usize,
    end: f64,
    /// `None` for a slope.
    plane: Option<FacePlane>,
    /// For each edge, from a corner to the next, `true` if a face of the same plane continues
    /// there. In 2D, the edges 0 and 2 are the ends of the face.
    inner: [bool; 4],
}

/// The cells of a block and the cells around it, with x first and then y.
struct BlockCells {
    cells: Vec<Cell>,
    sides: Vec<CellSides>,
    /// The position of the first cell.
    start: CellPosition,
    /// The difference of the indices of two neighbors along each axis.
    steps: [usize; 3],
}

/// The sides of a cell that its shape covers as a whole, and those that it does not cover at all,
/// as masks. All other sides are covered in part.
#[derive(Clone, Copy)]
struct CellSides {
    whole: u8,
    none: u8,
    /// The sides on which the cell has a whole face: those in `whole`, and the solid side of a
    /// one-way cell.
    faces: u8,
}

impl CellSides {
    fn of(cell: Cell) -> Self {
        const ALL: u8 = 0b11_1111;
        if cell.is_empty() {
            return Self {
                whole: 0,
                none: ALL,
                faces: 0,
            };
        }
        if cell.is_solid() {
            return Self {
                whole: ALL,
                none: 0,
                faces: ALL,
            };
        }
        let (mut whole, mut none, mut faces) = (0, 0, 0);
        for (axis, end) in (0..3).flat_map(|axis| [0.0, 1.0].map(|end| (axis, end))) {
            let (is_whole, is_none) = if axis == UP {
                let fills = if end == 1.0 {
                    cell.fills_top()
                } else {
                    cell.fills_bottom()
                };
                (fills, !fills)
            } else {
                let strip = Strip::of(cell, axis, end);
                (strip == Strip::WHOLE, strip.low == strip.high)
            };
            let has_face = is_whole || cell.is_one_way_at(axis, end);
            whole |= u8::from(is_whole) << bit_of_side(axis, end);
            none |= u8::from(is_none) << bit_of_side(axis, end);
            faces |= u8::from(has_face) << bit_of_side(axis, end);
        }
        Self { whole, none, faces }
    }
}

/// Returns the bit of a side in a mask.
fn bit_of_side(axis: usize, end: f64) -> usize {
    2 * axis + usize::from(end == 1.0)
}

/// Returns `true` if a collider may have a cell at a position.
pub fn is_in_range(position: CellPosition) -> bool {
    position.iter().all(|at| (-END..END).contains(at))
}

/// Returns the binary logarithm of the number of cells of a block along each axis.
pub const fn block_bits(dimension: usize) -> u32 {
    BLOCK_LEN.trailing_zeros() / dimension as u32
}

impl BlockCells {
    /// Returns the cells of the block with this first cell. Returns `None` if all cells are solid.
    fn new<V: Space>(grid: &CellGrid<V>, origin: CellPosition) -> Option<Self> {
        let side = (1 << block_bits(V::DVec::DIMENSION)) + 2;
        let layers = if V::DVec::DIMENSION == 2 { 1 } else { side };
        let [x, y, z] = origin;
        let start = [x - 1, y - 1, if layers == 1 { z } else { z - 1 }];
        let cells = grid.copy_box(start, [side, side, layers]);
        let has_faces = cells.iter().any(|cell| !cell.is_solid());
        has_faces.then(|| Self {
            sides: cells.iter().map(|cell| CellSides::of(*cell)).collect(),
            cells,
            start,
            steps: [1, side as usize, (side * side) as usize],
        })
    }

    /// Returns the index of the cell at a position.
    fn index_of(&self, position: CellPosition) -> usize {
        let axes = position.iter().zip(self.start).zip(self.steps);
        axes.map(|((at, start), step)| (at - start) as usize * step)
            .sum()
    }

    fn at(&self, index: usize) -> Cell {
        self.cells.get(index).copied().unwrap_or_default()
    }

    fn sides(&self, index: usize) -> CellSides {
        let sides = self.sides.get(index).copied();
        sides.unwrap_or_else(|| CellSides::of(Cell::EMPTY))
    }

    /// Returns the index of the neighbor of a cell at the lower or the upper end of an axis.
    fn neighbor(&self, index: usize, axis: usize, end: f64) -> usize {
        let step = self.steps.get(axis).copied().unwrap_or(0);
        if end == 0.0 {
            index.wrapping_sub(step)
        } else {
            index + step
        }
    }

    /// Returns `true` if a cell of the block and its neighbors along the first `count` axes are
    /// solid.
    fn is_buried(&self, index: usize, count: usize) -> bool {
        let is_solid = |index: usize| self.at(index).is_solid();
        let mut steps = self.steps.iter().take(count);
        is_solid(index) && steps.all(|it| is_solid(index.wrapping_sub(*it)) && is_solid(index + it))
    }

    /// Returns `true` if the neighbor of a cell covers a whole side.
    fn is_covered(&self, index: usize, axis: usize, end: f64) -> bool {
        let other = self.sides(self.neighbor(index, axis, end));
        other.whole >> bit_of_side(axis, 1.0 - end) & 1 == 1
    }

    /// Returns `true` if a whole side of a cell is exposed.
    fn is_side_exposed(&self, index: usize, axis: usize, end: f64) -> bool {
        let other = self.sides(self.neighbor(index, axis, end));
        self.sides(index).faces >> bit_of_side(axis, end) & 1 == 1
            && other.none >> bit_of_side(axis, 1.0 - end) & 1 == 1
    }
}

/// Returns the positions of the cells in a block, relative to the first cell. The index of a cell
/// is a Morton code: its lowest bits are the lowest bits of x, y and, in 3D, z.
fn positions_in_block(dimension: usize) -> impl Iterator<Item = CellPosition> {
    (0..BLOCK_LEN).map(move |index| {
        let mut position = [0; 3];
        for bit in 0..block_bits(dimension) {
            for (axis, at) in position.iter_mut().enumerate().take(dimension) {
                let from = bit * dimension as u32 + axis as u32;
                *at |= ((index >> from & 1) << bit) as i32;
            }
        }
        position
    })
}

impl<V: Space> FaceBlock<V> {
    /// Finds the exposed faces of a block, given by the position of its first cell, which must be
    /// [in range](is_in_range). Returns `None` if the block has no faces.
    pub fn new(grid: &CellGrid<V>, origin: CellPosition) -> Result<Option<Self>, ShapeError> {
        let Some(cells) = BlockCells::new(grid, origin) else {
            return Ok(None);
        };
        let mut facets = Vec::with_capacity(BLOCK_LEN as usize);
        for [x, y, z] in positions_in_block(V::DVec::DIMENSION) {
            let position = [origin[0] + x, origin[1] + y, origin[2] + z];
            let index = cells.index_of(position);
            let cell = cells.at(index);
            if cell.is_empty() || cells.is_buried(index, V::DVec::DIMENSION) {
                continue;
            }
            if V::DVec::DIMENSION == 2 && cell.is_only_3d() {
                return Err(ShapeError::SlopeAlongZ);
            }
            let size = grid.cell_size();
            visit_faces::<V::DVec>(&cells, position, |face| face.add_to(size, &mut facets));
        }
        if facets.is_empty() {
            return Ok(None);
        }
        let mut boxes: SmallVec<[_; 32]> = SmallVec::new();
        for (facet, index) in facets.iter().zip(0_u32..) {
            let bounds = facet.bounds()?;
            boxes.push((u64::from(index), index, bounds, facet.group()));
        }
        Ok(Some(Self {
            tree: WideTree::of_codes(boxes),
            has_ledges: facets.iter().any(|facet| facet.ledge().is_some()),
            facets: facets.into(),
        }))
    }

    /// Returns `true` if any face belongs to a one-way cell.
    pub fn has_ledges(&self) -> bool {
        self.has_ledges
    }

    pub fn facets(&self) -> &[BlockFacet<V>] {
        &self.facets
    }

    /// Returns the tree of the facets' boxes.
    pub fn tree(&self) -> &WideTree {
        &self.tree
    }
}

impl<V: Space> BlockFacet<V> {
    /// Returns the vertices. In 2D, the third vertex has no meaning.
    pub fn corners(&self) -> &[V; 3] {
        &self.vertices
    }

    pub fn vertices(&self) -> FacetVertices<V::DVec> {
        let vertices = self.vertices.iter().take(V::DVec::DIMENSION);
        vertices.map(|vertex| vertex.to_f64()).collect()
    }

    /// Returns the cell that has the face.
    pub fn cell(&self) -> CellPosition {
        self.cell
    }

    fn plane(&self) -> Option<FacePlane> {
        match self.cluster {
            FaceCluster::Plane(plane) => Some(plane),
            FaceCluster::Slope(_) | FaceCluster::Single => None,
        }
    }

    /// Returns the plane of a facet of a one-way cell, or `None` for any other facet.
    pub fn ledge(&self) -> Option<FacePlane> {
        self.plane().filter(|plane| plane.is_ledge())
    }

    /// Returns the group of the facet in a tree: the number of its plane.
    fn group(&self) -> u32 {
        self.plane().map_or(NO_GROUP, FacePlane::number)
    }

    /// Returns the box around the facet.
    fn bounds(&self) -> Result<[[f32; 3]; 2], ShapeError> {
        ShapeError::check_points("vertex", &self.vertices)?;
        let Bounds { min, max } = Bounds::of_points(self.vertices());
        let bounds = Bounds::around_core([min, max], 0.0, Pose::<V::DVec>::IDENTITY.translation);
        let bounds = bounds.round_outward();
        let is_finite = bounds.iter().flatten().all(|end| end.is_finite());
        is_finite.then_some(bounds).ok_or(ShapeError::BeyondF32)
    }
}

/// Calls `add` with the exposed faces of a cell.
fn visit_faces<D: DVector>(cells: &BlockCells, position: CellPosition, mut add: impl FnMut(&Face)) {
    let index = cells.index_of(position);
    let cell = cells.at(index);
    let [x, y, z] = position;
    // Returns, for two opposite edges along an axis, whether a face continues beyond them.
    let beyond = |axis: usize, continues: &dyn Fn(usize) -> bool| {
        [0.0, 1.0].map(|end| continues(cells.neighbor(index, axis, end)))
    };
    // A ledge and the faces of other cells in its plane are different clusters.
    let is_exposed = |at: usize, axis: usize, end: f64| {
        cells.at(at).has_inside() == cell.has_inside() && cells.is_side_exposed(at, axis, end)
    };
    for axis in (0..D::DIMENSION).filter(|axis| *axis != UP) {
        for end in [0.0, 1.0] {
            if cells.is_covered(index, axis, end) {
                continue;
            }
            let own = Strip::of_face(cell, axis, end);
            let other = cells.at(cells.neighbor(index, axis, end));
            let other = Strip::of(other, axis, 1.0 - end);
            let across = 2 - axis;
            let mut inner = [false; 4];
            if cells.is_side_exposed(index, axis, end) {
                let continues = |at: usize| is_exposed(at, axis, end);
                let [below, above] = beyond(UP, &continues);
                inner = [below, false, above, false];
                if D::DIMENSION == 3 {
                    [inner[3], inner[1]] = beyond(across, &continues);
                }
            }
            for (t, strip) in own.without(&other) {
                let corners = strip.corners(t).map(|[t, y]| {
                    let mut point = [end, y, end];
                    if let Some(coordinate) = point.get_mut(across) {
                        *coordinate = t;
                    }
                    point
                });
                let at = if axis == 0 { x } else { z };
                add(&Face {
                    cell: position,
                    corners,
                    axis,
                    end,
                    plane: Some(FacePlane::new(axis, end, 8 * (at + end as i32), cell)),
                    inner,
                });
            }
        }
    }
    let level_face = |corners, end, eighths: Option<i32>, continues: &dyn Fn(usize) -> bool| {
        let mut inner = [false; 4];
        if eighths.is_some() {
            [inner[0], inner[2]] = beyond(0, continues);
            if D::DIMENSION == 3 {
                [inner[3], inner[1]] = beyond(2, continues);
            }
        }
        Face {
            cell: position,
            corners,
            axis: UP,
            end,
            plane: eighths.map(|eighths| FacePlane::new(UP, end, eighths, cell)),
            inner,
        }
    };
    for end in [0.0, 1.0] {
        if cells.is_side_exposed(index, UP, end) {
            let eighths = Some(8 * (y + end as i32));
            let continues = |at: usize| is_exposed(at, UP, end);
            add(&level_face(level(|_, _| end), end, eighths, &continues));
        }
    }
    if cell.has_inside() && !cell.is_solid() {
        // The sloped side faces up, or down if the shape hangs.
        let end = if cell.is_hanging() { 0.0 } else { 1.0 };
        let height = |x, z| {
            let [low, high] = cell.span(x, z);
            if cell.is_hanging() { low } else { high }
        };
        let [first, second] = cell.eighths().map(i32::from);
        let eighths = if cell.is_hanging() { 8 - first } else { first };
        let plane = (first == second).then_some(8 * y + eighths);
        let continues = |at: usize| {
            let other = cells.at(at);
            !other.is_solid()
                && other.eighths() == cell.eighths()
                && other.is_hanging() == cell.is_hanging()
        };
        add(&level_face(level(height), end, plane, &continues));
    }
}

impl Face {
    /// Adds the face as facets.
    fn add_to<V: Space>(&self, size: V, facets: &mut Vec<BlockFacet<V>>) {
        let corner = V::DVec::of(self.cell.map(f64::from));
        let size = size.to_f64();
        let place = |point: CellPoint| V::from_f64((corner + V::DVec::of(point)).scaled(size));
        let corners = self.corners.map(place);
        let [a, b, c, d] = corners;
        let edges = [[a, b], [b, c], [c, d], [d, a]].into_iter();
        let edges = edges
            .zip(self.inner)
            .filter(|([start, end], _)| start != end);
        // The corners without repetitions, each with the edge to the next corner.
        let around: SmallVec<[(V, bool); 4]> = edges.map(|([start, _], it)| (start, it)).collect();
        // Each edge of a triangle is opposite to a vertex: a to b is opposite to c.
        let triangles: SmallVec<[([V; 3], [bool; 3]); 2]> = match (V::DVec::DIMENSION, &*around) {
            (2, _) => SmallVec::from_slice(&[([a, d, d], [self.inner[2], self.inner[0], false])]),
            (_, [a, b, c]) => SmallVec::from_slice(&[([a.0, b.0, c.0], [b.1, c.1, a.1])]),
            (_, [a, b, c, d]) => SmallVec::from_slice(&[
                ([a.0, b.0, c.0], [b.1, true, a.1]),
                ([a.0, c.0, d.0], [c.1, d.1, true]),
            ]),
            _ => SmallVec::new(),
        };
        let outward: V::DVec = outward(self.axis, self.end);
        let first = facets.len() as u32;
        let is_split = triangles.len() == 2;
        for (mut vertices, mut inner) in triangles {
            let corners: FacetVertices<V::DVec> = vertices
                .iter()
                .take(V::DVec::DIMENSION)
                .map(|it| it.to_f64())
                .collect();
            if !has_area::<V>(&corners) {
                continue;
            }
            if facet_normal(&corners).is_some_and(|normal| normal.dot(outward) < 0.0) {
                if V::DVec::DIMENSION == 2 {
                    let [a, b, _] = vertices;
                    vertices = [b, a, a];
                    inner.swap(0, 1);
                } else {
                    vertices.swap(1, 2);
                    inner.swap(1, 2);
                }
            }
            let cluster = match self.plane {
                Some(plane) => FaceCluster::Plane(plane),
                None if is_split => FaceCluster::Slope(first),
                None => FaceCluster::Single,
            };
            let sides = inner.iter().take(V::DVec::DIMENSION).enumerate();
            let rims = sides
                .map(|(side, is_inner)| u8::from(!is_inner) << side)
                .sum();
            facets.push(BlockFacet {
                vertices,
                cell: self.cell,
                rims,
                cluster,
            });
        }
    }
}

/// Returns the four corners of a face above or below the whole cell.
fn level(height: impl Fn(f64, f64) -> f64) -> [CellPoint; 4] {
    // In 2D, the first and the last corner have to differ.
    let corners = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]];
    corners.map(|[x, z]| [x, height(x, z), z])
}

impl Strip {
    const WHOLE: Self = Self {
        low: [0.0; 2],
        high: [1.0; 2],
    };

    /// Returns the part of a side on which a cell has a face.
    fn of_face(cell: Cell, axis: usize, end: f64) -> Self {
        if cell.is_one_way_at(axis, end) {
            Self::WHOLE
        } else {
            Self::of(cell, axis, end)
        }
    }

    /// Returns the part of a side that a cell covers.
    fn of(cell: Cell, axis: usize, end: f64) -> Self {
        let [start, finish] = [0.0, 1.0].map(|t| {
            if axis == 0 {
                cell.span(end, t)
            } else {
                cell.span(t, end)
            }
        });
        Self {
            low: [start[0], finish[0]],
            high: [start[1], finish[1]],
        }
    }

    /// Returns the parts of this strip that another strip does not cover, each with its range of t.
    fn without(&self, other: &Self) -> SmallVec<[([f64; 2], Self); 4]> {
        let mut rest = SmallVec::new();
        if other.low == other.high {
            rest.push(([0.0, 1.0], *self));
            return rest;
        }
        let below = (self.low, self.high, other.low);
        // The part above is the part below, upside down.
        let flip = |line: Line| line.map(|y| -y);
        let above = (flip(self.high), flip(self.low), flip(other.high));
        for ((low, high, limit), is_flipped) in [(below, false), (above, true)] {
            let mut ends: SmallVec<[f64; 4]> = SmallVec::from_slice(&[0.0, 1.0]);
            ends.extend(crossing(low, limit));
            ends.extend(crossing(high, limit));
            ends.sort_unstable_by(f64::total_cmp);
            for range in ends.windows(2) {
                let &[start, end] = range else { continue };
                let at = |line: Line| [start, end].map(|t| line[0] + (line[1] - line[0]) * t);
                let (low, high, limit) = (at(low), at(high), at(limit));
                let high = [high[0].min(limit[0]), high[1].min(limit[1])];
                let high = [high[0].max(low[0]), high[1].max(low[1])];
                if high == low {
                    continue;
                }
                let strip = if is_flipped {
                    let (low, high) = (flip(high), flip(low));
                    Self { low, high }
                } else {
                    Self { low, high }
                };
                rest.push(([start, end], strip));
            }
        }
        rest
    }

    /// Returns the corners of the strip over a range of t, each with its t and its y. In 2D, the
    /// first and the last corner are the ends of the strip.
    fn corners(&self, [start, end]: [f64; 2]) -> [[f64; 2]; 4] {
        let ([low, low_end], [high, high_end]) = (self.low, self.high);
        [[start, low], [end, low_end], [end, high_end], [start, high]]
    }
}

/// Returns the t between 0 and 1 at which two lines cross.
fn crossing(a: Line, b: Line) -> Option<f64> {
    let [start, end] = [a[0] - b[0], a[1] - b[1]];
    (start * end < 0.0).then(|| start / (start - end))
}

/// Returns the outward normal of a cell at the lower or the upper end of an axis.
fn outward<D: DVector>(axis: usize, end: f64) -> D {
    let axis = D::axis(axis);
    if end == 0.0 { -axis } else { axis }
}
