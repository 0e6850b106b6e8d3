//! Which points can be the farthest in a direction: a table by direction, made once for a set of points.
//!
//! The directions are divided into cells, as on the cube map of computer graphics. Direction d goes with
//! d' = d / max |d_i|, which lies on the surface of the cube from -1 to 1; each of its faces is a grid of equal cells. A
//! cell lists, in the order of the points, every point that may be the farthest for some direction in it. A support point
//! is then found by the plain scan of one short list, so the answer is that of the scan over all points, to the bit and
//! with the same one among equals, and depends on nothing that was asked before.
//!
//! *What a cell may leave out.* Point v is beaten by w all over a cell if (w - v) · c > 0 at each corner c of it: d' is a
//! convex combination of the corners, and so (w - v) · d' > 0 too. As the solver computes heights in f64, the margin is
//! not 0 but what rounding can make of both heights. To try all w would cost the square of the number of points; the
//! farthest ones at the corners and in the middle of the cell suffice to keep lists short.
//!
//! *How fine.* Each step halves the cells, and filters the list of a cell from that of the cell it was part of. It ends
//! where lists are as short as is of use, or where the table would outgrow a fixed multiple of the points: on a disc the
//! cells about its axis list much of the rim however small they are.
//!
//! *Why not hill climbing* over the edges of the hull, which is the usual way: where it starts, and over which of several
//! equal vertices it goes, decides what it finds on a flat face, so that a warm start makes the answer depend on history,
//! and rounding can stop it below the top. It needs the hull's edges too, and visits more points than these lists hold.

use crate::space::DVector;

/// Lists this short on average are not divided further: to find one costs as much as to look at as many points.
const SHORT: usize = 8;

/// The most entries of the table per point, cells and lists together, unless it is as coarse as can be.
const ENTRIES_PER_POINT: usize = 32;

/// The relative error of a height d · p, as a multiple of the unit of f64 and of the largest sum of |p_i|: a product and
/// two sums each, for two heights in the query and two at the corner, with room to spare.
const HEIGHT_ERROR: f64 = 16.0 * f64::EPSILON;

/// By how much a cell is larger than its share of the cube: rounding may place a direction in the cell next to its own.
const CELL_SLACK: f64 = 1e-12;

/// The directions for which the error above is relative, by their largest component. Beyond them products may overflow or
/// lose digits below the least normal number, also with coordinates that are as small as f32 can tell (1e-45).
const DIRECTION_SIZES: core::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// For each cell of directions the points that can be the farthest.
#[derive(Clone, Debug)]
pub(super) struct Directions {
    /// Cells along an edge of the cube.
    cells_per_edge: usize,
    /// Where the list of each cell ends in `candidates`; the first one begins at 0 and each begins where the one before
    /// ends.
    ends: Vec<u32>,
    /// Numbers of points, ascending in each list.
    candidates: Vec<u32>,
}

impl Directions {
    /// The table for `points`, fewer than 2³² of them.
    pub(super) fn new<D: DVector>(points: &[D]) -> Self {
        Self::with_error(points, HEIGHT_ERROR)
    }

    /// The table that lists also the points which are lower than the farthest by no more than `error`, relative to the
    /// size of direction and points. It is [`HEIGHT_ERROR`] or more.
    pub(super) fn with_error<D: DVector>(points: &[D], error: f64) -> Self {
        let all = Self {
            cells_per_edge: 1,
            ends: vec![points.len() as u32; 1],
            candidates: (0..points.len() as u32).collect(),
        };
        let extent = points
            .iter()
            .map(|point| point.extent())
            .fold(0.0, f64::max);
        let margin = error * extent;
        let mut scratch = Vec::new();
        // The faces of the cube first, each of which is cut from all.
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

    /// The numbers of the points to look at for `direction`, ascending, or `None` if it is one that only a scan of all
    /// points serves: null, not finite, or of extreme size.
    #[inline]
    pub(super) fn candidates<D: DVector>(&self, direction: D) -> Option<&[u32]> {
        let mut axis = 0;
        let mut major = direction.component(0);
        for index in 1..D::DIMENSION {
            let component = direction.component(index);
            if component.abs() > major.abs() {
                (axis, major) = (index, component);
            }
        }
        if !DIRECTION_SIZES.contains(&major.abs()) {
            return None;
        }
        let scale = 1.0 / major.abs();
        let mut cell = 2 * axis + usize::from(major < 0.0);
        for step in 1..D::DIMENSION {
            let across = direction.component((axis + step) % D::DIMENSION) * scale;
            // From -1..1 to 0..cells; the conversion takes what is below 0 to 0.
            let index = (0.5 * (across + 1.0) * self.cells_per_edge as f64) as usize;
            cell = cell * self.cells_per_edge + index.min(self.cells_per_edge - 1);
        }
        self.list(cell)
    }

    /// The list of a cell.
    #[inline]
    fn list(&self, cell: usize) -> Option<&[u32]> {
        let end = *self.ends.get(cell)? as usize;
        let before = cell.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.map_or(0, |start| *start as usize);
        self.candidates.get(start..end)
    }

    /// This table with `cells_per_edge` cells, as many or twice as many as now.
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
            // The cell's place along each of the other axes, and the cell of this table that it is part of.
            let mut rest = cell % per_face;
            let mut place = [0; 2];
            for index in place.iter_mut().take(across).rev() {
                *index = rest % cells_per_edge;
                rest /= cells_per_edge;
            }
            let parent = if self.ends.len() == 1 {
                0
            } else {
                place.iter().take(across).fold(face, |parent, index| {
                    parent * self.cells_per_edge + index * self.cells_per_edge / cells_per_edge
                })
            };
            let corners = corners::<D>(face, place, cells_per_edge);
            let list = self.list(parent).unwrap_or(&[]);
            let undominated = undominated(points, list, &corners, margin, scratch);
            finer.candidates.extend(undominated);
            finer.ends.push(finer.candidates.len() as u32);
        }
        finer
    }
}

/// The corners of the cell at `place` on a face of the cube: four in space, and in the plane two, each twice.
fn corners<D: DVector>(face: usize, place: [usize; 2], cells_per_edge: usize) -> [D; 4] {
    let (axis, sign) = (face / 2, if face.is_multiple_of(2) { 1.0 } else { -1.0 });
    let side = 2.0 / cells_per_edge as f64;
    [[0, 0], [0, 1], [1, 0], [1, 1]].map(|upper: [usize; 2]| {
        let ends = place.into_iter().zip(upper);
        ends.zip(1..D::DIMENSION)
            .map(|((index, upper), step)| {
                let slack = if upper == 0 { -CELL_SLACK } else { CELL_SLACK };
                let across = side * (index + upper) as f64 - 1.0 + slack;
                D::axis((axis + step) % D::DIMENSION) * across
            })
            .fold(D::axis(axis) * sign, |corner, across| corner + across)
    })
}

/// The heights of a point along the corners of a cell.
type Heights = [f64; 4];

/// Those of `list` that no point is higher than, by more than `margin`, along all of `corners`.
fn undominated<'a, D: DVector>(
    points: &[D],
    list: &[u32],
    corners: &[D; 4],
    margin: f64,
    scratch: &'a mut Vec<(u32, Heights)>,
) -> impl Iterator<Item = u32> + use<'a, D> {
    scratch.clear();
    // The highest along each corner, and along the middle of the cell.
    let mut best = [(f64::NEG_INFINITY, [f64::NEG_INFINITY; 4]); 5];
    for number in list {
        let Some(point) = points.get(*number as usize) else {
            continue;
        };
        let heights = corners.map(|corner| corner.dot(*point));
        let middle = heights.iter().sum();
        for (best, height) in best.iter_mut().zip(heights.into_iter().chain([middle])) {
            if height > best.0 {
                *best = (height, heights);
            }
        }
        scratch.push((*number, heights));
    }
    let higher = move |heights: &Heights| {
        best.iter().any(|(_, best)| {
            let mut pairs = best.iter().zip(heights);
            pairs.all(|(best, height)| best - height > margin)
        })
    };
    scratch
        .iter()
        .filter(move |(_, heights)| !higher(heights))
        .map(|(number, _)| *number)
}
