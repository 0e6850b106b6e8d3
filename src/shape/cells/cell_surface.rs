//! The surface of a union of cells: the grid, and the tree of its exposed faces.
//!
//! `collider/cells.rs` calls [`CellSurface::new`] for a new collider, and [`CellSurface::changed`]
//! for a change, which finds only the faces near changed cells again.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use smallvec::SmallVec;

use crate::{
    shape::{
        Bounds, Box3, BoxSearch, ShapeError,
        cells::{
            block_layout::block_bits,
            exposed_faces::{BlockCells, BlockFacet, FaceCluster, FacePlane, other_axes},
            face_block::FaceBlock,
            face_tree::{BlockChange, FaceIndex, FaceTree, code_of_block},
            grid::{
                CellGrid, CellPosition, floor, is_in_range, moved, positions_in, ranges_between,
            },
        },
        elements::facet::{FacetIndices, FacetVertices},
    },
    space::{DVector, Space},
};

/// If a search reaches at most this number of blocks, the blocks are found without the tree.
const MAX_BLOCKS: i32 = 8;

/// Rounding and the tolerance of touching move the box of a facet by less than this fraction of the
/// sum of a cell's sides, because cells are [in range](is_in_range).
pub(super) const BOX_ROUNDING: f64 = 1.0 / 64.0;

/// A union of cells with its exposed faces.
pub struct CellSurface<V: Space> {
    grid: CellGrid<V>,
    faces: Arc<FaceTree<V>>,
    /// The vertices and facets as lists. They are made only for views.
    lists: OnceLock<FaceLists<V>>,
}

/// A block: its Morton code, and the position of its first cell.
pub type BlockPosition = (u64, CellPosition);

/// All vertices, and the indices of each facet's vertices.
type FaceLists<V> = (Box<[V]>, Box<[FacetIndices]>);

impl<V: Space> CellSurface<V> {
    /// Finds the exposed faces of a grid. Returns `None` if all cells are empty.
    pub fn new(grid: &CellGrid<V>) -> Result<Option<Self>, ShapeError> {
        grid.check()?;
        let mut cells = BlockCells::new(grid);
        let blocks = grid.cubes(block_bits(V::DVec::DIMENSION));
        let blocks = blocks.filter_map(|origin| {
            let block = FaceBlock::find(&mut cells, origin)?;
            let code = code_of_block(V::DVec::DIMENSION, origin);
            Some((code, Some(Arc::new(block))))
        });
        let mut blocks: Vec<BlockChange<V>> = blocks.collect();
        blocks.sort_unstable_by_key(|(code, _)| *code);
        let faces = FaceTree::new(&blocks);
        Ok(faces.map(|faces| Self::of_faces(grid, faces.into())))
    }

    /// Returns this surface without its lists. Both surfaces share their chunks and faces.
    pub fn shared(&self) -> Self {
        Self::of_faces(&self.grid, self.faces.clone())
    }

    /// Returns the blocks whose faces differ on another grid with the same size and shapes of
    /// cells, or an error if the grid is invalid.
    pub fn changed_blocks(&self, grid: &CellGrid<V>) -> Result<Vec<BlockPosition>, ShapeError> {
        let dimension = V::DVec::DIMENSION;
        let mut blocks = Vec::new();
        // Duplicates are removed whenever the list has doubled, because a change of many cells
        // lists each block many times.
        let mut most_blocks = 1024;
        let mut checked = grid.check_len(0);
        self.grid.visit_changes(grid, |position, cell| {
            let can_exist = is_in_range(position);
            checked = checked.and_then(|()| grid.check_cell(cell, can_exist));
            if checked.is_err() || !can_exist {
                return;
            }
            // The faces of a block depend on the cells around it.
            let around = [-1, 1].map(|side| {
                let depth = if dimension == 2 { 0 } else { side };
                moved(position, [side, side, depth]).map(|at| at >> block_bits(dimension))
            });
            let ranges = ranges_between(around[0], around[1]);
            positions_in(ranges).for_each(|block| {
                let origin = block.map(|at| at << block_bits(dimension));
                if is_in_range(origin) {
                    blocks.push((code_of_block(dimension, origin), origin));
                }
            });
            if blocks.len() > most_blocks {
                sort_and_dedup(&mut blocks);
                most_blocks = most_blocks.max(2 * blocks.len());
            }
        });
        checked?;
        sort_and_dedup(&mut blocks);
        Ok(blocks)
    }

    /// Returns the surface of another grid, given the [changed blocks](Self::changed_blocks).
    /// Returns `None` if all cells of the grid are empty.
    pub fn changed(mut self, grid: &CellGrid<V>, blocks: &[BlockPosition]) -> Option<Self> {
        let mut cells = BlockCells::new(grid);
        let changes = blocks.iter().map(|(code, origin)| {
            let block = FaceBlock::find(&mut cells, *origin);
            (*code, block.map(Arc::new))
        });
        let changes: SmallVec<[BlockChange<V>; 4]> = changes.collect();
        let has_faces = Arc::make_mut(&mut self.faces).change(&changes);
        has_faces.then(|| Self::of_faces(grid, self.faces))
    }

    fn of_faces(grid: &CellGrid<V>, faces: Arc<FaceTree<V>>) -> Self {
        Self {
            grid: grid.clone(),
            faces,
            lists: OnceLock::new(),
        }
    }

    pub fn grid(&self) -> &CellGrid<V> {
        &self.grid
    }

    pub fn faces(&self) -> &FaceTree<V> {
        &self.faces
    }

    /// Runs a search for facets. `visit` returns the new limit.
    pub fn search(&self, search: &impl BoxSearch, limit: f64, visit: &mut dyn FnMut(u32) -> f64) {
        let near = search.near_box();
        let near = near.and_then(|bounds| Some((self.blocks_near(&bounds, limit)?, bounds)));
        let Some((blocks, bounds)) = near else {
            return self.faces.search(search, limit, 0, visit);
        };
        let bounds_of = |[min, max]: &Box3| Bounds::<V::DVec>::of_f32(*min, *max);
        let bounds = bounds_of(&bounds);
        // A block that is out of reach must not find its facets.
        let is_within = |block: &Box3, limit: f64| bounds.gap(&bounds_of(block)) <= limit;
        let mut limit = limit;
        for block in blocks {
            if let Some((block, start)) = self.faces.block(block)
                && limit >= 0.0
                && is_within(&block.summary.bounding_box, limit)
            {
                block.search(search, limit, start, &mut |index| {
                    limit = visit(index);
                    limit
                });
            }
        }
    }

    /// Returns the Morton codes of the blocks within a distance of a box. Returns `None` if the box
    /// is out of range, or if there are so many blocks that the tree is faster.
    fn blocks_near(
        &self,
        [min, max]: &Box3,
        distance: f64,
    ) -> Option<impl Iterator<Item = u64> + use<V>> {
        let (dimension, bits) = (V::DVec::DIMENSION, block_bits(V::DVec::DIMENSION));
        let [min, max] = [min, max].map(|corner| V::DVec::of(corner.map(f64::from)));
        let reach = distance + BOX_ROUNDING * self.grid.cell_size().to_f64().extent();
        let reach = V::DVec::ONE * reach;
        let [first, last] = [min - reach, max + reach].map(|it| floor(self.grid.in_cells(it)));
        if !is_in_range(first) || !is_in_range(last) {
            return None;
        }
        let ranges = ranges_between(first, last).map(|range| range.map(|at| at >> bits));
        let counts = ranges.map(|[first, last]| last - first + 1);
        let is_few = counts.iter().all(|count| (1..=MAX_BLOCKS).contains(count))
            && counts.iter().product::<i32>() <= MAX_BLOCKS;
        is_few.then(|| {
            let blocks = positions_in(ranges);
            blocks.map(move |block| code_of_block(dimension, block.map(|at| at << bits)))
        })
    }

    /// Returns the number of facets.
    pub fn len(&self) -> usize {
        self.faces.len() as usize
    }

    /// Returns a facet.
    #[inline]
    pub fn facet(&self, index: u32) -> Option<&BlockFacet<V>> {
        self.faces.facet(index)?.facet()
    }

    /// Returns the plane of a facet of a one-way cell, or `None` for any other facet.
    pub fn ledge(&self, index: u32) -> Option<FacePlane> {
        // A block without ledges need not find its facets.
        let found = self.faces.facet(index)?;
        found
            .block
            .summary
            .has_ledges
            .then(|| found.facet()?.ledge())?
    }

    /// Returns the index of the facet at a point of an exposed side of a solid cell. The point is
    /// relative to the cell's lowest corner, as fractions of the sides.
    pub fn side_facet(&self, cell: CellPosition, side: usize, point: V::DVec) -> Option<u32> {
        let (block, start) = self.faces.block(code_of_block(V::DVec::DIMENSION, cell))?;
        let first = start + block.side_facet(cell, side)?;
        let [u, w] = other_axes(side / 2);
        // In 3D, the second triangle has the points with a greater component along u.
        let is_second = V::DVec::DIMENSION == 3 && point.component(u) > point.component(w);
        Some(first + u32::from(is_second))
    }

    /// Returns the number of a facet's cluster: the number of its plane, or else the index of a
    /// facet of the cluster.
    pub fn cluster(&self, index: u32) -> Option<u32> {
        Some(with_cluster(&self.faces.facet(index)?, index)?.1)
    }

    /// Returns the vertices of a facet, its cluster and its rims.
    pub fn clustered_facet(&self, index: u32) -> Option<(FacetVertices<V::DVec>, u32, u8)> {
        let found = self.faces.facet(index)?;
        let (facet, cluster) = with_cluster(&found, index)?;
        Some((facet.vertices(), cluster, facet.rims))
    }

    /// Returns a box around all cells and faces that only one of two surfaces has.
    pub fn changed_box(&self, other: &Self) -> Bounds<V::DVec> {
        let cells = self.grid.changed_box(&other.grid);
        // The faces beside a change belong to the same block, or to a neighbor.
        let length = f64::from(1 << block_bits(V::DVec::DIMENSION));
        let block = self.grid.cell_size().to_f64() * length;
        Bounds {
            min: cells.min - block,
            max: cells.max + block,
        }
    }

    /// Returns `true` if a box may overlap faces that only one of two surfaces has.
    pub fn differs(&self, other: &Self, bounds: &Bounds<V::DVec>) -> bool {
        !Arc::ptr_eq(&self.faces, &other.faces) && self.faces.differs(&other.faces, bounds)
    }

    /// Returns the index in another surface of a facet that both have.
    pub fn renumbered(&self, other: &Self, index: u32) -> Option<u32> {
        self.faces.renumbered(&other.faces, index)
    }

    /// Returns all vertices, and the indices of each facet's vertices.
    pub fn lists(&self) -> &FaceLists<V> {
        self.lists.get_or_init(|| {
            let mut vertices = Vec::new();
            let mut indices = HashMap::new();
            let mut index = |vertex: &V| {
                let bits = vertex.to_f64().components().map(f64::to_bits);
                *indices.entry(bits).or_insert_with(|| {
                    vertices.push(*vertex);
                    vertices.len() as u32 - 1
                })
            };
            let blocks = self.faces.blocks().into_iter();
            let facets = blocks.flat_map(FaceBlock::facets);
            let facets = facets.map(|facet| facet.corners().each_ref().map(&mut index));
            let facets = facets.collect();
            (vertices.into(), facets)
        })
    }
}

/// Sorts blocks by their codes, and removes duplicates.
fn sort_and_dedup(blocks: &mut Vec<BlockPosition>) {
    blocks.sort_unstable_by_key(|(code, _)| *code);
    blocks.dedup_by_key(|(code, _)| *code);
}

/// Returns a facet and the number of its cluster, given the facet's place and index.
fn with_cluster<'f, V: Space>(
    found: &FaceIndex<'f, V>,
    index: u32,
) -> Option<(&'f BlockFacet<V>, u32)> {
    let facet = found.facet()?;
    let cluster = match facet.cluster {
        FaceCluster::Plane(plane) => plane.number(),
        FaceCluster::Slope(first) => index - found.index + first,
        FaceCluster::Single => index,
    };
    Some((facet, cluster))
}

#[cfg(test)]
#[expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]
mod tests {
    use super::CellSurface;
    use crate::{
        math::{DVec3, IVec3, Vec3},
        shape::{Bounds, BoxSearch, Cell, CellGrid, Nearest, Overlapping},
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    /// Returns `true` for each facet that a search finds.
    fn found_by(surface: &CellSurface<Vec3>, search: &impl BoxSearch, limit: f64) -> Vec<bool> {
        let mut found = vec![false; surface.len()];
        surface.search(search, limit, &mut |index| {
            found[index as usize] = true;
            limit
        });
        found
    }

    /// Searches a surface for the faces near random boxes, and compares with a test of all faces.
    fn finds_all_faces_near_boxes(size: Vec3, first: IVec3) {
        let mut rng = StdRng::seed_from_u64(1);
        let mut grid = CellGrid::<Vec3>::new(size);
        for _ in 0..300 {
            let at = [(); 3].map(|()| rng.random_range(0..12));
            grid.set(first + IVec3::from(at), Cell::SOLID);
        }
        let surface = CellSurface::new(&grid).ok().flatten().expect("some cells");
        let (vertices, facets) = surface.lists();
        let boxes: Vec<_> = facets
            .iter()
            .map(|facet| {
                let corners = facet.map(|index| vertices[index as usize].as_dvec3());
                Bounds::of_points(corners)
            })
            .collect();
        let (size, first) = (size.as_dvec3(), first.as_dvec3());
        let mut total = 0;
        for _ in 0..2_000 {
            // Every third coordinate is on a border of cells.
            let mut coordinate = || {
                let at = rng.random_range(-2.0..14.0_f64);
                if rng.random_bool(0.3) { at.round() } else { at }
            };
            let min = DVec3::new(coordinate(), coordinate(), coordinate());
            let length = DVec3::new(coordinate(), coordinate(), coordinate()).abs() * 0.2;
            let bounds = Bounds {
                min: (min + first) * size,
                max: (min + length + first) * size,
            };
            let rounded = bounds.round_outward();
            let (radius, center) = (length.y * size.y, Bounds::at(bounds.min).round_outward());
            let overlapping = found_by(&surface, &Overlapping::new(rounded), 0.0);
            let nearest = found_by(&surface, &Nearest::new(center), radius);
            for (found, limit, near) in [
                (overlapping, 0.0, bounds),
                (nearest, radius, Bounds::at(bounds.min)),
            ] {
                for (own, is_found) in boxes.iter().zip(&found) {
                    let gap = own.gap(&near);
                    total += u32::from(*is_found);
                    assert!(*is_found || gap > limit, "{own:?} is near {near:?}");
                    let slack = 1e-3 * (size.length() + own.max.length());
                    assert!(
                        !is_found || gap <= limit + slack,
                        "{own:?} is far from {near:?}"
                    );
                }
            }
        }
        assert!(total > 10_000, "{total}");
    }

    #[test]
    fn all_faces_near_boxes_are_found() {
        finds_all_faces_near_boxes(Vec3::ONE, IVec3::ZERO);
        finds_all_faces_near_boxes(Vec3::new(0.1, 7.0, 1.0), IVec3::new(-7, -5, 1000));
        finds_all_faces_near_boxes(Vec3::new(0.3, 0.3, 0.3), IVec3::splat((1 << 14) - 12));
        finds_all_faces_near_boxes(Vec3::new(0.02, 1.0, 1e2), IVec3::splat(-(1 << 14)));
    }
}
