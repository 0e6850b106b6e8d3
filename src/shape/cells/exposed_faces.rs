//! The faces of the union of cells.
//!
//! A face on a side of a cell is exposed where the neighbor across this side does not cover it. The
//! upper side of a slope is inside its own cell, so no neighbor covers it.
//!
//! A one-way cell has a single face, on its solid side, and covers nothing. The faces of one-way
//! cells in a plane with the same outer side form a *ledge*.
//!
//! On a side, a cell covers a convex polygon. If two cells cover parts of their common side, each
//! face is cut by the shape of the other cell: see `cell_shape.rs`.
//!
//! Faces are found by *blocks* of 64 cells. The faces of a block depend only on its cells and on
//! the cells around it. So after a change, only the faces of a few blocks are found again.
//!
//! Faces with a common axis-aligned plane and the same outer side form a *cluster*, wherever they
//! are. The vertices of such faces have exactly the same coordinate along the axis, so the number
//! of the plane is enough to identify the cluster. A ledge is a cluster of its own. The triangles
//! of any other face form a cluster if the rounding of their vertices leaves them in one plane.

use core::iter;

use smallvec::SmallVec;

use crate::{
    math::DVec3,
    shape::{
        Bounds, ShapeError,
        boxes::wide_tree::{NO_GROUP, WideTree},
        cells::{
            cell::{Cell, CellDirection},
            cell_shape::{CellSides, bit_of_side},
            grid::{CellGrid, CellPosition},
        },
        elements::facet::{FacetVertices, are_level, facet_normal, has_area},
        joined::part_faces::{PartFace, Polygon},
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
    /// The triangles of a face in another plane, from the facet at this index of the block.
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

/// An exposed face of a cell, or a part of it.
struct Face<'c> {
    cell: CellPosition,
    /// The corners around the face, as fractions of the cell. In 2D, those with z = 0 count.
    corners: &'c [DVec3],
    /// The outward normal.
    normal: DVec3,
    /// `None` for a face that is not level with an eighth of the cell along an axis.
    plane: Option<FacePlane>,
    /// For each edge of a face with four corners, from a corner to the next, `true` if a face of
    /// the same plane continues there. In 2D, the edges 0 and 2 are the ends of the face.
    inner: [bool; 4],
}

/// The vertices of a facet, and a flag for each edge: see [`Face::triangles`].
type Triangle<V> = ([V; 3], [bool; 3]);

/// The cells of a block and the cells around it, with x first and then y.
struct BlockCells<'g, V: Space> {
    grid: &'g CellGrid<V>,
    cells: Vec<Cell>,
    sides: Vec<CellSides>,
    /// The position of the first cell.
    start: CellPosition,
    /// The difference of the indices of two neighbors along each axis.
    steps: [usize; 3],
}

/// Returns `true` if a collider may have a cell at a position.
pub fn is_in_range(position: CellPosition) -> bool {
    position.iter().all(|at| (-END..END).contains(at))
}

/// Returns the binary logarithm of the number of cells of a block along each axis.
pub const fn block_bits(dimension: usize) -> u32 {
    BLOCK_LEN.trailing_zeros() / dimension as u32
}

impl<'g, V: Space> BlockCells<'g, V> {
    /// Returns the cells of the block with this first cell. Returns `None` if all cells are solid.
    fn new(grid: &'g CellGrid<V>, origin: CellPosition) -> Option<Self> {
        let side = (1 << block_bits(V::DVec::DIMENSION)) + 2;
        let layers = if V::DVec::DIMENSION == 2 { 1 } else { side };
        let [x, y, z] = origin;
        let start = [x - 1, y - 1, if layers == 1 { z } else { z - 1 }];
        let cells = grid.copy_box(start, [side, side, layers]);
        let has_faces = cells.iter().any(|cell| !cell.is_solid());
        has_faces.then(|| Self {
            sides: cells.iter().map(|cell| sides_of(grid, *cell)).collect(),
            grid,
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
        sides.unwrap_or(CellSides::EMPTY)
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

    /// Returns `true` if a cell has a face on a whole side.
    fn has_whole_face(&self, index: usize, axis: usize, end: f64) -> bool {
        self.sides(index).faces >> bit_of_side(axis, end) & 1 == 1
    }

    /// Returns `true` if a whole side of a cell is exposed.
    fn is_side_exposed(&self, index: usize, axis: usize, end: f64) -> bool {
        let other = self.sides(self.neighbor(index, axis, end));
        self.has_whole_face(index, axis, end) && other.none >> bit_of_side(axis, 1.0 - end) & 1 == 1
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

/// Returns the covered sides of a cell.
fn sides_of<V: Space>(grid: &CellGrid<V>, cell: Cell) -> CellSides {
    if cell.is_empty() {
        return CellSides::EMPTY;
    }
    if cell.is_solid() {
        return CellSides::SOLID;
    }
    match grid.shape_of(cell) {
        Some(shape) => shape.sides,
        None => CellSides {
            faces: cell.one_way_direction().map_or(0, CellDirection::side_mask),
            ..CellSides::EMPTY
        },
    }
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
            if cell.shape_number().is_some() && grid.table_shape(cell).is_none() {
                return Err(ShapeError::UnknownCellShape);
            }
            let size = grid.cell_size();
            visit_faces(&cells, position, |face| face.add_to(size, &mut facets));
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
fn visit_faces<V: Space>(
    cells: &BlockCells<V>,
    position: CellPosition,
    mut add: impl FnMut(&Face),
) {
    let index = cells.index_of(position);
    let cell = cells.at(index);
    let shape = cells.grid.shape_of(cell);
    // Returns, for each edge of a face whose corners have the order of `square`, whether a face
    // continues there.
    let continues = |axis: usize, is_same: &dyn Fn(usize) -> bool| {
        let [u, w] = other_axes(axis);
        let beyond = |axis: usize, end: f64| {
            axis < V::DVec::DIMENSION && is_same(cells.neighbor(index, axis, end))
        };
        [
            beyond(u, 0.0),
            beyond(w, 1.0),
            beyond(u, 1.0),
            beyond(w, 0.0),
        ]
    };
    for (axis, at) in position.into_iter().enumerate().take(V::DVec::DIMENSION) {
        for end in [0.0, 1.0] {
            if cells.is_covered(index, axis, end) {
                continue;
            }
            let own_face = shape.and_then(|shape| shape.on_side(axis, end));
            let corners: Polygon<DVec3> = if cells.has_whole_face(index, axis, end) {
                SmallVec::from_slice(&square(axis, end))
            } else if let Some(corners) = own_face {
                corners.clone()
            } else {
                continue;
            };
            // A ledge and the faces of other cells in its plane are different clusters.
            let is_exposed = |at: usize| {
                cells.at(at).has_inside() == cell.has_inside()
                    && cells.is_side_exposed(at, axis, end)
            };
            let is_whole = cells.is_side_exposed(index, axis, end);
            let face = |corners, inner| Face {
                cell: position,
                corners,
                normal: outward(axis, end),
                plane: Some(FacePlane::new(axis, end, 8 * (at + end as i32), cell)),
                inner,
            };
            let other = cells.at(cells.neighbor(index, axis, end));
            if is_whole {
                add(&face(&corners, continues(axis, &is_exposed)));
            } else if let Some(other) = cells.grid.shape_of(other)
                && other.on_side(axis, 1.0 - end).is_some()
            {
                let pieces = other.uncovered(&corners, axis, end);
                pieces
                    .iter()
                    .for_each(|piece| add(&face(piece, [false; 4])));
            } else {
                add(&face(&corners, [false; 4]));
            }
        }
    }
    for inner in shape.into_iter().flat_map(|shape| &shape.inner_faces) {
        let plane = level_of(inner).map(|(axis, end, eighths)| {
            let at = position.get(axis).copied().unwrap_or(0);
            FacePlane::new(axis, end, 8 * at + eighths, cell)
        });
        // The face of a level slope ends at the sides of the cell.
        let is_slab = plane.is_some() && cell.slope_index().is_some();
        let is_same = |at: usize| cells.at(at).slope_index() == cell.slope_index();
        add(&Face {
            cell: position,
            corners: &inner.corners,
            normal: inner.normal,
            plane,
            inner: if is_slab {
                continues(UP, &is_same)
            } else {
                [false; 4]
            },
        });
    }
}

/// Returns the axes other than `axis`, in the order of the edges in [`Face::inner`].
fn other_axes(axis: usize) -> [usize; 2] {
    match axis {
        0 => [1, 2],
        1 => [0, 2],
        _ => [1, 0],
    }
}

/// Returns the corners of a side of a cell.
fn square(axis: usize, end: f64) -> [DVec3; 4] {
    let [u, w] = other_axes(axis).map(DVec3::axis);
    let base = DVec3::axis(axis) * end;
    [base, base + w, base + u + w, base + u]
}

/// If a face is level with an eighth of the cell along an axis, returns this axis, the end of the
/// axis to which the normal points, and the number of eighths.
fn level_of(face: &PartFace<DVec3>) -> Option<(usize, f64, i32)> {
    (0..3).find_map(|axis| {
        let mut corners = face.corners.iter();
        let eighths = 8.0 * corners.next()?.component(axis);
        let is_level =
            eighths.fract() == 0.0 && corners.all(|it| 8.0 * it.component(axis) == eighths);
        let end = if face.normal.component(axis) > 0.0 {
            1.0
        } else {
            0.0
        };
        is_level.then_some((axis, end, eighths as i32))
    })
}

impl Face<'_> {
    /// Adds the face as facets.
    fn add_to<V: Space>(&self, size: V, facets: &mut Vec<BlockFacet<V>>) {
        let corner = V::DVec::of(self.cell.map(f64::from));
        let size = size.to_f64();
        let place =
            |point: &DVec3| V::from_f64((corner + V::DVec::of((*point).into())).scaled(size));
        let triangles = if V::DVec::DIMENSION == 2 {
            let mut ends = self.corners.iter().filter(|it| it.z == 0.0).map(place);
            let (Some(a), Some(b)) = (ends.next(), ends.next()) else {
                return;
            };
            let [first, _, last, _] = self.inner;
            SmallVec::from_slice(&[([a, b, b], [last, first, false])])
        } else {
            self.triangles(place)
        };
        let outward = V::DVec::of(self.normal.into());
        let start = facets.len();
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
            let sides = inner.iter().take(V::DVec::DIMENSION).enumerate();
            let rims = sides
                .map(|(side, is_inner)| u8::from(!is_inner) << side)
                .sum();
            facets.push(BlockFacet {
                vertices,
                cell: self.cell,
                rims,
                cluster: self.plane.map_or(FaceCluster::Single, FaceCluster::Plane),
            });
        }
        let added = facets.get_mut(start..).unwrap_or_default();
        if self.plane.is_none() && added.len() > 1 {
            let is_level = are_in_one_plane(added);
            for facet in added {
                if is_level {
                    facet.cluster = FaceCluster::Slope(start as u32);
                } else {
                    facet.rims = u8::MAX;
                }
            }
        }
    }

    /// Returns the triangles of a face in 3D, each with a flag for each of its edges: `true` if a
    /// face of the same plane continues there. Each edge is opposite to a vertex: a to b is
    /// opposite to c.
    fn triangles<V: Space>(&self, place: impl Fn(&DVec3) -> V) -> SmallVec<[Triangle<V>; 2]> {
        let corners: SmallVec<[V; 6]> = self.corners.iter().map(place).collect();
        let edges = corners.iter().zip(corners.iter().cycle().skip(1));
        let inner = self.inner.into_iter().chain(iter::repeat(false));
        // The corners without repetitions, each with the edge to the next corner.
        let around = edges.zip(inner).filter(|((start, end), _)| start != end);
        let around: SmallVec<[(V, bool); 6]> =
            around.map(|((start, _), inner)| (*start, inner)).collect();
        let [a, others @ ..] = &*around else {
            return SmallVec::new();
        };
        let triangles = others.windows(2).enumerate();
        let triangles = triangles.filter_map(|(index, ends)| match ends {
            [b, c] => {
                let is_last = index + 2 == others.len();
                let inner = [b.1, !is_last || c.1, index > 0 || a.1];
                Some(([a.0, b.0, c.0], inner))
            }
            _ => None,
        });
        triangles.collect()
    }
}

/// Returns `true` if the plane of each facet contains all facets.
fn are_in_one_plane<V: Space>(facets: &[BlockFacet<V>]) -> bool {
    facets.iter().all(|facet| {
        let own = facet.vertices();
        let mut others = facets.iter();
        others.all(|other| are_level::<V>(&own, &other.vertices()))
    })
}

/// Returns the outward normal of a cell at the lower or the upper end of an axis.
fn outward<D: DVector>(axis: usize, end: f64) -> D {
    let axis = D::axis(axis);
    if end == 0.0 { -axis } else { axis }
}
