//! A convex hull to which points are added one by one.

use arrayvec::ArrayVec;

use crate::{
    math::DVec3,
    shape::hull::{
        affine_hull::SolidFrame,
        candidates::{IndexedPoints, Outside, outermost},
        direction_table::DirectionTable,
    },
    space::simplex::nearest,
};

/// Maximum number of GJK iterations. Usually about as many are needed as a simplex has vertices.
const MAX_HULL_ITERATIONS: usize = 63;

/// The table is rebuilt if the number of points missing from it exceeds this number plus an eighth
/// of the points in it.
const MAX_UNLISTED: usize = 32;

/// Maximum number of heights that are compared to find outermost points. Beyond it, points outside
/// are kept without this search, so some of them may not be needed.
const MAX_HEIGHTS: usize = 1 << 26;

/// Adds points to `kept` until no point of `outside` is outside of their hull by more than
/// rounding.
///
/// A point that is still outside is beyond all kept points in some direction. The outermost point
/// in that direction is added. Except for rounding, it is a vertex of the whole hull (Clarkson,
/// "More output-sensitive geometric algorithms" (1994)). The hull only grows, so a point inside
/// stays inside.
pub fn keep_outside(kept: &mut IndexedPoints, mut outside: Vec<Outside>, frame: &SolidFrame) {
    if outside.is_empty() {
        return;
    }
    outside.sort_by(|a, b| a.height.total_cmp(&b.height));
    let mut hull = GrowingHull::new(frame, kept.values().copied().collect());
    let mut heights_left = MAX_HEIGHTS;
    while let Some(last) = outside.last() {
        let (index, position) = (last.index, last.position);
        let direction = if kept.contains_key(&index) {
            None
        } else {
            hull.direction_to(frame.orthonormal(position), frame.tolerance())
        };
        let Some(direction) = direction else {
            outside.pop();
            continue;
        };
        let mut added = (index, position);
        if heights_left >= outside.len() {
            heights_left -= outside.len();
            let heights = outside.iter().map(|point| {
                let height = frame.orthonormal(point.position).dot(direction);
                (point.index, point.position, height)
            });
            // The loop would not end if it added a point that is already kept.
            let highest = outermost(heights, frame);
            added = highest
                .filter(|(index, _)| !kept.contains_key(index))
                .unwrap_or(added);
        }
        kept.extend([added]);
        hull.add(added.1);
    }
}

/// The convex hull of a growing set of points.
struct GrowingHull<'a> {
    frame: &'a SolidFrame,
    /// In normalized coordinates, in which the normals of thin solids are spread over all
    /// directions.
    points: Vec<DVec3>,
    /// The table of the first `in_table` points.
    table: DirectionTable,
    in_table: usize,
}

impl<'a> GrowingHull<'a> {
    fn new(frame: &'a SolidFrame, points: Vec<DVec3>) -> Self {
        Self {
            frame,
            table: DirectionTable::new(&points),
            in_table: points.len(),
            points,
        }
    }

    /// Adds a point, and rebuilds the table if many points are not in it.
    fn add(&mut self, point: DVec3) {
        self.points.push(point);
        if self.points.len() - self.in_table > self.in_table / 8 + MAX_UNLISTED {
            *self = Self::new(self.frame, core::mem::take(&mut self.points));
        }
    }

    /// Returns the farthest point in a direction, both in orthonormal coordinates.
    fn support(&self, direction: DVec3) -> Option<DVec3> {
        let direction = self.frame.orthonormal(direction);
        let listed = self.table.candidates(direction)?.iter();
        let listed = listed.filter_map(|index| self.points.get(*index as usize));
        let points = listed.chain(self.points.iter().skip(self.in_table));
        let heights = points.map(|point| (point, point.dot(direction)));
        let farthest = heights.max_by(|a, b| a.1.total_cmp(&b.1));
        farthest.map(|(point, _)| self.frame.orthonormal(*point))
    }

    /// Returns a unit vector along which `point` is beyond the hull, or `None` if it is no farther
    /// from the hull than `tolerance`. Both are in orthonormal coordinates.
    ///
    /// This is GJK for a single point. The function returns `None` if it finds a point of the hull
    /// that is near enough. If rounding ends the loop too early, the caller keeps a point that is
    /// not needed.
    fn direction_to(&self, point: DVec3, tolerance: f64) -> Option<DVec3> {
        let mut simplex = Simplex::new();
        simplex.push(self.frame.orthonormal(*self.points.first()?));
        let mut direction = DVec3::X;
        for _ in 0..MAX_HULL_ITERATIONS {
            let offset = offset_from(&mut simplex, point);
            if offset.length() <= tolerance {
                return None;
            }
            direction = offset.try_normalize().unwrap_or(direction);
            let Some(farthest) = self.support(direction) else {
                break;
            };
            let is_known = simplex.contains(&farthest);
            let is_beyond = (point - farthest).dot(direction) > tolerance;
            if is_known || is_beyond || simplex.try_push(farthest).is_err() {
                break;
            }
        }
        Some(direction)
    }
}

/// One to four affinely independent points.
pub type Simplex = ArrayVec<DVec3, 4>;

/// Returns the offset of `point` from the nearest point of a simplex, and removes the vertices that
/// have no weight in that point.
pub fn offset_from(simplex: &mut Simplex, point: DVec3) -> DVec3 {
    let weights = nearest(simplex, |vertex| *vertex - point).weights;
    let mut kept = Simplex::new();
    // Divided by the total weight, the sum is a convex combination. So the point is in the hull,
    // however the weights are rounded. Without vertices, the point is NaN, which never counts as
    // near.
    let (mut sum, mut total) = (DVec3::ZERO, 0.0);
    for (vertex, weight) in simplex.iter().zip(weights) {
        if weight > 0.0 {
            sum += *vertex * weight;
            total += weight;
            kept.push(*vertex);
        }
    }
    *simplex = kept;
    point - sum / total
}
