//! The exposed faces of a block of cells.
//!
//! The faces of a block depend only on its cells and on the cells around it. So after a change,
//! only the faces of a few blocks are found again.
//!
//! If all these cells are solid or empty, [`FaceBlock::find`] only finds the exposed sides, which
//! are enough for most rays. The facets are found when they are first needed, because most blocks
//! of a large world are never near a body.

use std::sync::OnceLock;

use crate::{
    shape::{
        Bounds, Box3,
        boxes::{box_search::BoxSearch, wide_node::NO_GROUP, wide_tree::WideTree},
        cells::{
            block_layout::{BlockLayout, CellSet},
            cell::Cell,
            cell_path::CellPath,
            exposed_faces::{BlockCells, BlockFacet, FaceCluster, FacePlane, side_facets},
            grid::{CellGrid, CellPosition, moved},
        },
    },
    space::{DVector, Pose, Space},
};

/// The number of sides of a cell in 3D.
const MAX_SIDES: usize = 6;

/// What a tree of faces knows about each of its nodes.
#[derive(Clone, Copy)]
pub struct FaceSummary {
    /// The number of facets.
    pub len: u32,
    /// The box around all facets.
    pub bounding_box: Box3,
    /// The common group of all facets, or [`NO_GROUP`].
    pub group: u32,
    /// `true` if any face belongs to a one-way cell.
    pub has_ledges: bool,
}

/// The exposed faces of a block.
pub struct FaceBlock<V: Space> {
    pub summary: FaceSummary,
    faces: OnceLock<BlockFaces<V>>,
    /// For each side, the numbers of the cells that are exposed there. All zero if any cell of the
    /// block or around it is neither solid nor empty. Then the facets are already found.
    exposed: [u64; MAX_SIDES],
    /// The solid cells of the block and around it. Empty if any of these cells is neither solid nor
    /// empty.
    solid: CellSet,
    /// The position of the first cell.
    origin: CellPosition,
    /// The size of a cell.
    size: V,
}

struct BlockFaces<V: Space> {
    facets: Box<[BlockFacet<V>]>,
    tree: WideTree,
}

impl<V: Space> BlockFaces<V> {
    fn new(facets: &[BlockFacet<V>]) -> Self {
        let numbered = facets.iter().zip(0_u32..);
        let boxes = numbered.map(|(it, index)| (index.into(), index, it.bounds(), it.group()));
        Self {
            tree: WideTree::of_codes(boxes),
            facets: facets.into(),
        }
    }
}

impl<V: Space> FaceBlock<V> {
    /// The number of facets of a whole side: a segment in 2D, two triangles in 3D.
    const PER_SIDE: u32 = V::DVec::DIMENSION as u32 - 1;

    /// Finds the exposed faces of a block, given by the position of its first cell, which must be
    /// [in range](crate::shape::cells::grid::is_in_range). Returns `None` if there are none.
    pub fn find(block: &mut BlockCells<V>, origin: CellPosition) -> Option<Self> {
        let size = block.grid.cell_size();
        if let Some(solid) = block.read(origin) {
            return Self::of_solid(solid, origin, size);
        }
        let facets = block.find_facets();
        if facets.is_empty() {
            return None;
        }
        let has_ledges = facets.iter().any(|facet| facet.ledge().is_some());
        let faces = BlockFaces::new(facets);
        let summary = FaceSummary {
            len: facets.len() as u32,
            bounding_box: faces.tree.bounding_box(),
            group: faces.tree.group(),
            has_ledges,
        };
        Some(Self {
            summary,
            faces: faces.into(),
            exposed: [0; MAX_SIDES],
            solid: CellSet::default(),
            origin,
            size,
        })
    }

    /// Returns the block with these solid cells, or `None` if there are no exposed faces.
    fn of_solid(solid: CellSet, origin: CellPosition, size: V) -> Option<Self> {
        let layout = BlockLayout::of(V::DVec::DIMENSION);
        let (mut exposed, mut group) = ([0; MAX_SIDES], None);
        let (mut low, mut high) = ([i32::MAX; 3], [i32::MIN; 3]);
        for (side, cells) in exposed.iter_mut().enumerate().take(2 * V::DVec::DIMENSION) {
            *cells = layout.exposed(solid, side);
            let axes = low.iter_mut().zip(&mut high).zip(origin).enumerate();
            for (axis, ((low, high), origin)) in axes.take(V::DVec::DIMENSION) {
                let Some([first, last]) = layout.range(*cells, axis) else {
                    continue;
                };
                let [mut first, mut last] = [first, last].map(|at| at + origin);
                if axis == side / 2 {
                    let is_upper = (side % 2) as i32;
                    (first, last) = (first + is_upper, last + is_upper);
                    let plane = FacePlane::new(side, 8 * first, Cell::SOLID).number();
                    let is_common = first == last && group.is_none_or(|group| group == plane);
                    group = Some(if is_common { plane } else { NO_GROUP });
                } else {
                    last += 1;
                }
                (*low, *high) = (first.min(*low), last.max(*high));
            }
        }
        let [min, max] =
            [low, high].map(|corner| V::DVec::of(corner.map(f64::from)).scaled(size.to_f64()));
        let none = Pose::<V::DVec>::IDENTITY.translation;
        let summary = FaceSummary {
            len: count(exposed) * Self::PER_SIDE,
            bounding_box: Bounds::around_core([min, max], 0.0, none).round_outward(),
            group: group?,
            has_ledges: false,
        };
        Some(Self {
            summary,
            faces: OnceLock::new(),
            exposed,
            solid,
            origin,
            size,
        })
    }

    fn faces(&self) -> &BlockFaces<V> {
        self.faces.get_or_init(|| {
            let count: i32 = BlockLayout::of(V::DVec::DIMENSION).lengths.iter().product();
            let cells = (0..count as usize).map(|index| {
                if self.solid.contains(index) {
                    Cell::SOLID
                } else {
                    Cell::EMPTY
                }
            });
            // Solid and empty cells need no table of shapes.
            let grid = CellGrid::new(self.size);
            let mut block = BlockCells::new(&grid);
            block.origin = self.origin;
            block.cells.extend(cells);
            let faces = BlockFaces::new(block.find_facets());
            debug_assert_eq!(faces.facets.len(), self.summary.len as usize);
            debug_assert_eq!(faces.tree.group(), self.summary.group);
            faces
        })
    }

    /// Returns `true` if all faces are whole sides of solid cells.
    fn has_whole_sides(&self) -> bool {
        self.exposed.iter().fold(0, |all, side| all | side) != 0
    }

    #[inline]
    pub fn facets(&self) -> &[BlockFacet<V>] {
        &self.faces().facets
    }

    /// Runs a search for facets. `visit` is called with indices that count from `start`, and
    /// returns the new limit.
    #[inline]
    pub fn search(
        &self,
        search: &impl BoxSearch,
        limit: f64,
        start: u32,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        let tree = &self.faces().tree;
        tree.visit(search, limit, |index| visit(start + index));
    }

    /// Visits the facets along a path: see [`FaceTree::walk`](super::face_tree::FaceTree::walk).
    #[inline]
    pub fn walk(
        &self,
        path: &CellPath,
        max: f64,
        start: u32,
        visit: &mut dyn FnMut(u32, [V; 3]) -> f64,
    ) -> f64 {
        let mut max = max;
        let Self { exposed, size, .. } = *self;
        if !self.has_whole_sides() {
            let facets = self.facets();
            self.faces().tree.visit(&path.points, max, |index| {
                if let Some(facet) = facets.get(index as usize) {
                    max = visit(start + index, *facet.corners());
                }
                max
            });
            return max;
        }
        let layout = BlockLayout::of(V::DVec::DIMENSION);
        for (side, cells) in exposed.into_iter().enumerate() {
            if max < 0.0 {
                break;
            }
            max = path.visit_side(layout, self.origin, (side, cells), max, |number| {
                let Some((offset, _)) = layout.order.get(number) else {
                    return max;
                };
                let first = start + self.facets_before(number, side);
                let facets = side_facets(moved(self.origin, *offset), side, size, [false; 4]);
                for ((corners, _), index) in facets.zip(first..) {
                    max = visit(index, corners);
                    if max < 0.0 {
                        break;
                    }
                }
                max
            });
        }
        max
    }

    /// Returns the number of facets before those on a side of a cell, given by its number.
    #[inline]
    fn facets_before(&self, number: usize, side: usize) -> u32 {
        let before = self.exposed.iter().enumerate().map(|(other, exposed)| {
            let own_cell = u64::from(other < side) << number;
            exposed & (((1 << number) - 1) | own_cell)
        });
        count(before) * Self::PER_SIDE
    }

    /// Returns the index of the first facet on an exposed side of a solid cell in the block.
    pub fn side_facet(&self, cell: CellPosition, side: usize) -> Option<u32> {
        if !self.has_whole_sides() {
            let at = *cell.get(side / 2)? + (side % 2) as i32;
            let plane = FaceCluster::Plane(FacePlane::new(side, 8 * at, Cell::SOLID));
            let mut facets = self.facets().iter();
            let found = facets.position(|facet| facet.cell() == cell && facet.cluster == plane);
            return u32::try_from(found?).ok();
        }
        let layout = BlockLayout::of(V::DVec::DIMENSION);
        let number = layout.number(moved(cell, self.origin.map(|at| -at)))?;
        Some(self.facets_before(number as usize, side))
    }
}

/// Returns the number of cells in all sets of numbers.
fn count(sets: impl IntoIterator<Item = u64>) -> u32 {
    sets.into_iter().map(u64::count_ones).sum()
}
