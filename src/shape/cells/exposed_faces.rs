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
//! Faces with a common axis-aligned plane and the same outer side form a *cluster*, wherever they
//! are. The vertices of such faces have exactly the same coordinate along the axis, so the number
//! of the plane is enough to identify the cluster. A ledge is a cluster of its own. The triangles
//! of any other face form a cluster if the rounding of their vertices leaves them in one plane.

use core::iter;

use smallvec::SmallVec;

use crate::{
    math::DVec3,
    shape::{
        Bounds, Box3,
        boxes::wide_node::NO_GROUP,
        cells::{
            block_layout::{BlockLayout, CellSet},
            cell::{Cell, CellDirection},
            cell_shape::{CellShape, CellSides},
            chunk::CellRow,
            grid::{CellGrid, CellPosition, END, moved},
        },
        elements::{
            facet::{FacetVertices, are_level, facet_normal, has_area},
            part_face::PartFace,
        },
    },
    space::{DVector, Pose, Space},
};

/// The index of y among the axes.
const UP: usize = 1;

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
    const SIDE: u32 = 20;
    const LEDGE: u32 = 19;
    const ZERO: i32 = 8 * END;

    /// Returns the plane at a coordinate in eighths of a cell, on a side of the cells behind it,
    /// which are like `cell`.
    pub fn new(side: usize, eighths: i32, cell: Cell) -> Self {
        let ledge = u32::from(cell.one_way_direction().is_some()) << Self::LEDGE;
        let coordinate = (eighths + Self::ZERO) as u32;
        Self(Self::TAG | (side as u32) << Self::SIDE | ledge | coordinate)
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
        outward((self.0 >> Self::SIDE & 7) as usize)
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
pub type Triangle<V> = ([V; 3], [bool; 3]);

/// The cells of a block and the cells around it.
pub struct BlockCells<'g, V: Space> {
    /// The grid of the cells, which must be [valid](CellGrid::check).
    pub grid: &'g CellGrid<V>,
    /// The position of the block's first cell.
    pub origin: CellPosition,
    /// The cells, in the order of their indices in the [layout](BlockLayout).
    pub cells: Vec<Cell>,
    sides: Vec<CellSides>,
    facets: Vec<BlockFacet<V>>,
}

impl<'g, V: Space> BlockCells<'g, V> {
    /// The number of sides of a cell.
    const SIDES: usize = 2 * V::DVec::DIMENSION;

    pub fn new(grid: &'g CellGrid<V>) -> Self {
        Self {
            grid,
            origin: [0; 3],
            cells: Vec::new(),
            sides: Vec::new(),
            facets: Vec::new(),
        }
    }

    /// Reads the cells of a block, given by the position of its first cell, and the cells around
    /// it. If all of them are solid or empty, returns the solid cells, and stores no cells.
    pub fn read(&mut self, origin: CellPosition) -> Option<CellSet> {
        let layout = BlockLayout::of(V::DVec::DIMENSION);
        let ranges = layout.ranges(origin);
        let index = |row: &CellRow| row.number * layout.row_len() + row.offset;
        let (mut solid, mut is_simple) = (CellSet::default(), true);
        self.grid.visit_rows(ranges, |row| {
            solid.insert_row(index(row), row.solid());
            is_simple &= row.solid() == row.occupied();
        });
        if is_simple {
            return Some(solid);
        }
        self.origin = origin;
        self.cells.clear();
        let count: i32 = layout.lengths.iter().product();
        self.cells.resize(count as usize, Cell::EMPTY);
        self.grid.visit_rows(ranges, |row| {
            let cells = self.cells.iter_mut().skip(index(row));
            cells.zip(row.cells()).for_each(|(slot, cell)| *slot = cell);
        });
        None
    }

    /// Finds the facets of all exposed faces of the block.
    pub fn find_facets(&mut self) -> &[BlockFacet<V>] {
        let layout = BlockLayout::of(V::DVec::DIMENSION);
        self.sides.clear();
        let sides = self.cells.iter().map(|cell| sides_of(self.grid, *cell));
        self.sides.extend(sides);
        self.facets.clear();
        for (offset, index) in &layout.order {
            self.add_faces(layout, *offset, *index);
        }
        &self.facets
    }

    fn at(&self, index: usize) -> Cell {
        self.cells.get(index).copied().unwrap_or_default()
    }

    fn sides(&self, index: usize) -> CellSides {
        let sides = self.sides.get(index).copied();
        sides.unwrap_or(CellSides::EMPTY)
    }

    /// Returns `true` if a cell has a face on a whole side, and the neighbor covers no part of it.
    fn is_side_exposed(&self, layout: &BlockLayout, index: usize, side: usize) -> bool {
        let other = self.sides(layout.neighbor(index, side));
        self.sides(index).faces >> side & 1 == 1 && other.none >> (side ^ 1) & 1 == 1
    }

    /// Adds the exposed faces of a cell, given by its position in the block and its index.
    fn add_faces(&mut self, layout: &BlockLayout, offset: CellPosition, index: usize) {
        let (cell, grid, size) = (self.at(index), self.grid, self.grid.cell_size());
        if cell.is_empty() {
            return;
        }
        let position = moved(self.origin, offset);
        let shape = grid.shape_of(cell);
        // For each edge of a face whose corners have the order of [`Face::inner`], returns `true`
        // if `is_same` is `true` for the neighbor beyond this edge.
        let continues = |axis: usize, is_same: &dyn Fn(usize) -> bool| {
            let [u, w] = other_axes(axis);
            [2 * u, 2 * w + 1, 2 * u + 1, 2 * w]
                .map(|side| side < Self::SIDES && is_same(layout.neighbor(index, side)))
        };
        for side in 0..Self::SIDES {
            let neighbor = layout.neighbor(index, side);
            if self.sides(neighbor).whole >> (side ^ 1) & 1 == 1 {
                continue;
            }
            let has_whole_face = self.sides(index).faces >> side & 1 == 1;
            let own_shape = if has_whole_face {
                Some(CellShape::whole())
            } else {
                shape
            };
            let Some(own_face) = own_shape.and_then(|shape| shape.on_side(side)) else {
                continue;
            };
            let at = position.get(side / 2).copied().unwrap_or(0) + (side % 2) as i32;
            let plane = FacePlane::new(side, 8 * at, cell);
            if self.is_side_exposed(layout, index, side) {
                // A ledge and the faces of other cells in its plane are different clusters.
                let is_same = |other: usize| {
                    self.at(other).has_inside() == cell.has_inside()
                        && self.is_side_exposed(layout, other, side)
                };
                let inner = continues(side / 2, &is_same);
                self.add_side(position, side, plane, inner);
                continue;
            }
            let other = grid.shape_of(self.at(neighbor));
            let mut add = |corners: &[DVec3]| {
                let face = Face {
                    cell: position,
                    corners,
                    normal: outward(side),
                    plane: Some(plane),
                    inner: [false; 4],
                };
                face.add_to(size, &mut self.facets);
            };
            match other {
                Some(other) => other.visit_uncovered(own_face, side, add),
                None => add(&own_face.corners),
            }
        }
        for inner in shape.into_iter().flat_map(|shape| &shape.inner_faces) {
            let plane = level_of(inner).map(|(side, eighths)| {
                let at = position.get(side / 2).copied().unwrap_or(0);
                FacePlane::new(side, 8 * at + eighths, cell)
            });
            // The face of a level slope ends at the sides of the cell.
            let is_slab = plane.is_some() && cell.slope_index().is_some();
            let is_same =
                |other: usize| is_slab && self.at(other).slope_index() == cell.slope_index();
            let face = Face {
                cell: position,
                corners: &inner.corners,
                normal: inner.normal,
                plane,
                inner: continues(UP, &is_same),
            };
            face.add_to(size, &mut self.facets);
        }
    }

    /// Adds a whole side of a cell as facets.
    fn add_side(&mut self, cell: CellPosition, side: usize, plane: FacePlane, inner: [bool; 4]) {
        let triangles = side_facets(cell, side, self.grid.cell_size(), inner);
        self.facets
            .extend(triangles.map(|(vertices, inner)| BlockFacet {
                vertices,
                cell,
                rims: rims(&inner, V::DVec::DIMENSION == 2),
                cluster: FaceCluster::Plane(plane),
            }));
    }
}

/// Returns the facets of a whole side of a cell. `inner` is [`Face::inner`].
pub fn side_facets<V: Space>(
    cell: CellPosition,
    side: usize,
    size: V,
    inner: [bool; 4],
) -> impl Iterator<Item = Triangle<V>> {
    let [u, w] = other_axes(side / 2).map(V::DVec::axis);
    let corner = V::DVec::of(cell.map(f64::from)) + V::DVec::axis(side / 2) * (side % 2) as f64;
    let size = size.to_f64();
    let at = |corner: V::DVec| V::from_f64(corner.scaled(size));
    // The corners and edges have the order of [`Face::inner`]. In 2D, the edges 0 and 2 are the
    // ends.
    let (a, d) = (at(corner), at(corner + u));
    let [ab, bc, cd, da] = inner;
    let is_flat = V::DVec::DIMENSION == 2;
    // The order of the corners is the same for both sides of an axis.
    let is_reversed = (side < 2) ^ (side % 2 == 1) ^ !is_flat;
    let [b, c] = if is_flat {
        [d, d]
    } else {
        [at(corner + w), at(corner + u + w)]
    };
    let first = if is_flat {
        ([a, d, d], [cd, ab, true])
    } else {
        ([a, b, c], [bc, true, ab])
    };
    let triangles = [first, ([a, c, d], [cd, da, true])].into_iter();
    let triangles = triangles.take(V::DVec::DIMENSION - 1);
    triangles.map(move |triangle| {
        if is_reversed {
            reversed(triangle, is_flat)
        } else {
            triangle
        }
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

/// Returns a triangle with the other side outward. In 2D, the triangle is a segment.
fn reversed<V: Copy>((vertices, inner): Triangle<V>, is_flat: bool) -> Triangle<V> {
    let ([a, b, c], [first, second, third]) = (vertices, inner);
    if is_flat {
        ([b, a, a], [second, first, third])
    } else {
        ([a, c, b], [first, third, second])
    }
}

/// Returns the mask of the sides of a facet where no face of the same plane continues.
fn rims(inner: &[bool; 3], is_flat: bool) -> u8 {
    let [first, second, third] = inner.map(|is_inner| u8::from(!is_inner));
    first | second << 1 | if is_flat { 0 } else { third << 2 }
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
    pub fn group(&self) -> u32 {
        self.plane().map_or(NO_GROUP, FacePlane::number)
    }

    /// Returns the box around the facet.
    pub fn bounds(&self) -> Box3 {
        let vertices = self.vertices.iter().take(V::DVec::DIMENSION);
        let Bounds { min, max } = Bounds::of_points(vertices.map(|it| it.to_f64()));
        let bounds = Bounds::around_core([min, max], 0.0, Pose::<V::DVec>::IDENTITY.translation);
        bounds.round_outward()
    }
}

/// Returns the axes other than `axis`, in the order of the edges in [`Face::inner`].
pub fn other_axes(axis: usize) -> [usize; 2] {
    match axis {
        0 => [1, 2],
        1 => [0, 2],
        _ => [1, 0],
    }
}

/// If a face is level with an eighth of the cell along an axis, returns the side of the cell to
/// which the normal points, and the number of eighths.
fn level_of(face: &PartFace<DVec3>) -> Option<(usize, i32)> {
    (0..3).find_map(|axis| {
        let mut corners = face.corners.iter();
        let eighths = 8.0 * corners.next()?.component(axis);
        let is_level =
            eighths.fract() == 0.0 && corners.all(|it| 8.0 * it.component(axis) == eighths);
        let is_upper = face.normal.component(axis) > 0.0;
        is_level.then_some((2 * axis + usize::from(is_upper), eighths as i32))
    })
}

impl Face<'_> {
    /// Adds the face as facets.
    fn add_to<V: Space>(&self, size: V, facets: &mut Vec<BlockFacet<V>>) {
        let (corner, size) = (V::DVec::of(self.cell.map(f64::from)), size.to_f64());
        let place =
            |point: &DVec3| V::from_f64((corner + V::DVec::of((*point).into())).scaled(size));
        let is_flat = V::DVec::DIMENSION == 2;
        let triangles: SmallVec<[Triangle<V>; 4]> = if is_flat {
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
        for triangle in triangles {
            let corners: FacetVertices<V::DVec> = triangle
                .0
                .iter()
                .take(V::DVec::DIMENSION)
                .map(|it| it.to_f64())
                .collect();
            if !has_area::<V>(&corners) {
                continue;
            }
            let is_inward = facet_normal(&corners).is_some_and(|it| it.dot(outward) < 0.0);
            let (vertices, inner) = if is_inward {
                reversed(triangle, is_flat)
            } else {
                triangle
            };
            facets.push(BlockFacet {
                vertices,
                cell: self.cell,
                rims: rims(&inner, is_flat),
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
    fn triangles<V: Space>(&self, place: impl Fn(&DVec3) -> V) -> SmallVec<[Triangle<V>; 4]> {
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

/// Returns the outward normal of a side of a cell.
fn outward<D: DVector>(side: usize) -> D {
    let axis = D::axis(side / 2);
    if side % 2 == 1 { axis } else { -axis }
}
