//! A table of the points that can be the farthest in a direction.
//!
//! The directions are divided into cells, as in a cube map. A direction d is scaled to d' = d / max
//! |d_i| on the surface of the cube from -1 to 1. Each face of the cube is a grid of equal cells. A
//! cell lists, in order, each point that may be the farthest in some direction of the cell. A query
//! scans one short list for the support point. The result equals the result of a scan of all points
//! bit for bit, with the same choice among equally far points. The result does not depend on
//! earlier queries.
//!
//! **Points that a cell leaves out.** If (w - v) · c > 0 at each corner c of the cell, then point w
//! is farther than v in the whole cell. The reason is that d' is a convex combination of the
//! corners, so (w - v) · d' > 0. Instead of comparing with 0, the code compares with the rounding
//! error of the dot products. Testing every w against every v would take quadratic time. The lists
//! are short enough if only the farthest points at the corners and at the center of the cell are
//! tested as w.
//!
//! **Refinement.** Each step halves the sides of the cells. The points of each cell are selected
//! from the list of the larger cell that contains the cell. The refinement ends when the lists are
//! short, or when the table would exceed a fixed multiple of the number of points. For a disc, the
//! cells around the disc's axis list much of the rim, however small the cells are.
//!
//! **Why not hill climbing?** The usual method climbs along the edges of the hull. On a flat face,
//! the result depends on where the climb starts, so a warm start would make results depend on
//! earlier queries. Rounding can also stop the climb before the farthest vertex. Hill climbing also
//! needs the edges, and visits more points than these lists contain.

use core::ops::RangeInclusive;

use arrayvec::ArrayVec;

use crate::space::DVector;

/// If the lists contain at most this many points on average, the cells are not divided further.
/// Finding a list costs as much as scanning this many points.
const SHORT: usize = 8;

/// The maximum number of entries per point in a refined table. Each cell and each list item is an
/// entry.
const ENTRIES_PER_POINT: usize = 32;

/// The error of a height d · p, relative to the greatest Σ |p_i|. This error, which includes a
/// margin, bounds the rounding in four heights: two in the query and two at a corner. In each
/// height, a product and two sums are rounded.
const F64_HEIGHT_ERROR: f64 = 16.0 * f64::EPSILON;

/// Each cell extends this far beyond its own sides, because rounding may put a direction into a
/// neighboring cell.
const CELL_MARGIN: f64 = 1e-12;

/// The range of a direction's largest component in which [`F64_HEIGHT_ERROR`] holds. Outside of
/// this range, products with `f32` coordinates (1e-45 to 3e38) may overflow or underflow.
const TABLE_DIRECTION_SIZES: RangeInclusive<f64> = 1e-200..=1e200;

/// For each cell of directions, the points that can be the farthest.
#[derive(Clone, Debug)]
pub struct DirectionTable {
    /// The number of cells along an edge of the cube.
    cells_per_edge: usize,
    /// The end of each cell's list in `candidates`. Each list begins where the previous list ends.
    ends: Vec<u32>,
    /// The indices of points, ascending in each list.
    candidates: Vec<u32>,
}

impl DirectionTable {
    /// Builds the table for fewer than 2³² points.
    pub fn new<D: DVector>(points: &[D]) -> Self {
        let all = Self {
            cells_per_edge: 1,
            ends: vec![points.len() as u32; 1],
            candidates: (0..points.len() as u32).collect(),
        };
        let extents = points.iter().map(|point| point.extent());
        let margin = F64_HEIGHT_ERROR * extents.fold(0.0, f64::max);
        let mut scratch = Vec::new();
        // The first table has one cell for each face of the cube. The lists of this table are
        // selected from all points.
        let mut table = all.refined(points, 1, margin, &mut scratch);
        while table.candidates.len() > SHORT * table.ends.len() {
            let finer = table.refined(points, 2 * table.cells_per_edge, margin, &mut scratch);
            if finer.candidates.len() + finer.ends.len() > ENTRIES_PER_POINT * points.len() {
                break;
            }
            table = finer;
        }
        table.candidates.shrink_to_fit();
        table
    }

    /// Returns the indices, ascending, of the points that can be the farthest in `direction`.
    /// Returns `None` for a direction that is zero, not finite or of extreme size.
    pub fn candidates<D: DVector>(&self, direction: D) -> Option<&[u32]> {
        let mut axis = 0;
        let mut major = direction.component(0);
        for index in 1..D::DIMENSION {
            let component = direction.component(index);
            if component.abs() > major.abs() {
                (axis, major) = (index, component);
            }
        }
        if !TABLE_DIRECTION_SIZES.contains(&major.abs()) {
            return None;
        }
        let scale = 1.0 / major.abs();
        let mut cell = 2 * axis + usize::from(major < 0.0);
        for step in 1..D::DIMENSION {
            let across = direction.component((axis + step) % D::DIMENSION) * scale;
            // Maps -1..1 to 0..cells_per_edge. The cast to `usize` maps negative numbers to 0.
            let index = (0.5 * (across + 1.0) * self.cells_per_edge as f64) as usize;
            cell = cell * self.cells_per_edge + index.min(self.cells_per_edge - 1);
        }
        self.list(cell)
    }

    /// Returns the list of a cell.
    fn list(&self, cell: usize) -> Option<&[u32]> {
        let end = *self.ends.get(cell)? as usize;
        let previous = cell
            .checked_sub(1)
            .and_then(|previous| self.ends.get(previous));
        let start = previous.map_or(0, |start| *start as usize);
        self.candidates.get(start..end)
    }

    /// Returns this table with `cells_per_edge` cells per edge: as many as this table has, or twice
    /// as many.
    fn refined<D: DVector>(
        &self,
        points: &[D],
        cells_per_edge: usize,
        margin: f64,
        scratch: &mut Vec<(u32, Heights)>,
    ) -> Self {
        let across = D::DIMENSION - 1;
        let per_face = cells_per_edge.pow(across as u32);
        let mut finer = Self {
            cells_per_edge,
            ends: Vec::new(),
            candidates: Vec::new(),
        };
        for cell in 0..2 * D::DIMENSION * per_face {
            let face = cell / per_face;
            // Computes the position of the new cell along the other axes, and then `parent`, the
            // cell of this table that contains the new cell.
            let mut rest = cell % per_face;
            let mut position = [0; 2];
            for index in position.iter_mut().take(across).rev() {
                *index = rest % cells_per_edge;
                rest /= cells_per_edge;
            }
            let parent = if self.ends.len() == 1 {
                0
            } else {
                position.iter().take(across).fold(face, |parent, index| {
                    parent * self.cells_per_edge + index * self.cells_per_edge / cells_per_edge
                })
            };
            let corners = corners::<D>(face, position, cells_per_edge);
            let list = self.list(parent).unwrap_or_default();
            let undominated = undominated(points, list, &corners, margin, scratch);
            finer.candidates.extend(undominated);
            finer.ends.push(finer.candidates.len() as u32);
        }
        finer
    }
}

/// Returns the four corners of a cell on a face of the cube. In 2D, a cell has two corners, and
/// each corner is listed twice.
fn corners<D: DVector>(face: usize, position: [usize; 2], cells_per_edge: usize) -> [D; 4] {
    let (axis, sign) = (face / 2, if face.is_multiple_of(2) { 1.0 } else { -1.0 });
    let side = 2.0 / cells_per_edge as f64;
    [[0, 0], [0, 1], [1, 0], [1, 1]].map(|upper: [usize; 2]| {
        let ends = position.into_iter().zip(upper);
        ends.zip(1..D::DIMENSION)
            .map(|((index, upper), step)| {
                let margin = if upper == 0 {
                    -CELL_MARGIN
                } else {
                    CELL_MARGIN
                };
                let across = side * (index + upper) as f64 - 1.0 + margin;
                D::axis((axis + step) % D::DIMENSION) * across
            })
            .fold(D::axis(axis) * sign, |corner, across| corner + across)
    })
}

/// The heights of a point in the directions of a cell's corners.
type Heights = [f64; 4];

/// Returns the points of `list` that may be the farthest. A point is left out if one of the highest
/// points is higher by more than `margin` in the directions of all corners.
fn undominated<'a, D: DVector>(
    points: &[D],
    list: &[u32],
    corners: &[D; 4],
    margin: f64,
    scratch: &'a mut Vec<(u32, Heights)>,
) -> impl Iterator<Item = u32> + use<'a, D> {
    scratch.clear();
    // The greatest heights in the directions of the cell's center and of each corner, and the
    // positions of their points in `scratch`.
    let mut best = [(f64::NEG_INFINITY, 0); 5];
    for index in list {
        let Some(point) = points.get(*index as usize) else {
            continue;
        };
        let heights = corners.map(|corner| corner.dot(*point));
        let [a, b, c, d] = heights;
        for (best, height) in best.iter_mut().zip([a + b + c + d, a, b, c, d]) {
            if height > best.0 {
                *best = (height, scratch.len());
            }
        }
        scratch.push((*index, heights));
    }
    let mut best = best.map(|(_, position)| position);
    best.sort_unstable();
    let different = best
        .chunk_by(|a, b| a == b)
        .filter_map(|equal| scratch.get(*equal.first()?));
    let best: ArrayVec<Heights, 5> = different.map(|(_, heights)| *heights).collect();
    let is_dominated = move |heights: &Heights| {
        best.iter().any(|best| {
            let pairs = best.iter().zip(heights);
            // `&` avoids the branch of `&&` at each corner.
            pairs.fold(true, |all, (best, height)| all & (best - height > margin))
        })
    };
    scratch
        .iter()
        .filter(move |(_, heights)| !is_dominated(heights))
        .map(|(index, _)| *index)
}
