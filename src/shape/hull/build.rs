//! Selects the points that a convex hull needs.
//!
//! The `quickhull` crate computes hulls: in 2D with exact predicates, in 3D in `f32` with a
//! tolerance of 1e-5 of the size. The code around it accepts every input:
//!
//! * **Dimension first** (`affine_hull`). A set of points is classified as a point, a line, a plane
//!   or a solid by relative lengths. `quickhull` is only called for the last two: it panics on one
//!   or two points, and in 3D it treats a slab or needle of 1:1000 as flat.
//! * **A frame that fits** (`affine_hull`). Convex hulls commute with affine maps. So a solid is
//!   given to `quickhull` in coordinates in which it is as long as it is wide and high: thin solids
//!   and those far from the origin become as easy as a ball. In 2D the coordinates stay as they
//!   are.
//! * **Few points, corners first.** A face of a part may hold thousands of points that are coplanar
//!   up to rounding. They tangle the surface of `quickhull`, and it returns too many as vertices.
//!   So it gets the extreme points of some directions first, and then the highest point above each
//!   triangle. Of points that are equally high up to rounding, the farthest from the center is
//!   taken: a corner of the face. If there are points above most triangles, as on a ball, it gets
//!   all points outside.
//! * **A proof** (`closed_surface`). In 3D each point to be dropped is tested in `f64` against the
//!   surface that `quickhull` returns. If that surface is not closed, the proof is void, and the
//!   previous surface counts, or none.
//! * **The rest one by one** (`growing_hull`). A point outside of that surface by more than
//!   rounding is tested against the convex hull of the kept points, for which no surface is needed.
//!   If it is outside of that too, one point is added. The test is against points that are kept in
//!   the end, so errors do not add up.
//! * **Sides of polygons** (`planar`). Exact predicates keep every point that rounding has moved
//!   outward on a side. Such corners are dropped as long as all dropped ones stay near the new
//!   side.
//!
//! So the set never changes by more than the rounding of `f32`. If something fails, too many points
//! are kept.
//!
//! Points go to `quickhull` and come back as arrays: its `glam` may have another version than
//! Bevy's.

use crate::{
    math::{DVec3, Vec3},
    shape::hull::{
        affine_hull::{AffineHull, SolidFrame},
        candidates::{Outside, Points, outermost},
        closed_surface::ClosedSurface,
        growing_hull::keep_outside,
        planar,
    },
};

/// Maximum number of surfaces that `quickhull` computes for one set of points.
const MAX_SURFACES: usize = 3;

/// The points outside of the first surface are few if there are fewer of them per vertex.
const FEW_OUTSIDE: usize = 4;

/// Returns the indices, ascending, of the vertices of the convex hull, and rarely of a point on it.
/// All of `points` must be finite and distinct.
pub fn needed_points(points: &[Vec3]) -> Vec<usize> {
    let mut needed = match AffineHull::of(points) {
        AffineHull::Point => (0..points.len().min(1)).collect(),
        AffineHull::Line { direction } => ends(points, direction),
        AffineHull::Plane { normal, tolerance } => planar::corners(points, normal, tolerance),
        AffineHull::Solid(frame) => vertices(points, &frame),
    };
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// Returns the ends of points on a line.
fn ends(points: &[Vec3], direction: DVec3) -> Vec<usize> {
    let heights = points.iter().map(|point| direction.dot(point.as_dvec3()));
    let heights = || heights.clone().enumerate();
    let first = heights().min_by(|a, b| a.1.total_cmp(&b.1));
    let last = heights().max_by(|a, b| a.1.total_cmp(&b.1));
    first.into_iter().chain(last).map(|end| end.0).collect()
}

/// Returns the vertices of a solid.
fn vertices(points: &[Vec3], frame: &SolidFrame) -> Vec<usize> {
    if points.len() <= 4 {
        return (0..points.len()).collect();
    }
    let normalized = points
        .iter()
        .map(|point| frame.normalized(point.as_dvec3()));
    let points: Vec<DVec3> = normalized.collect();
    let mut kept = extremes(&points, frame);
    let others = points.iter().enumerate();
    let others = others.filter(|(index, _)| !kept.contains_key(index));
    let mut outside: Vec<Outside> = others.map(Outside::untested).collect();
    let mut candidates = kept.clone();
    for round in 0..MAX_SURFACES {
        let Some(surface) = ClosedSurface::around(&candidates, frame) else {
            break;
        };
        outside = surface.outside(&points);
        kept.clone_from(&surface.vertices);
        candidates = surface.vertices;
        if outside.is_empty() {
            break;
        }
        let highest = highest(&outside, frame);
        // If there are points above most triangles, many of them are vertices.
        let are_many = 2 * highest.len() > surface.faces.len();
        if are_many && (round > 0 || outside.len() < FEW_OUTSIDE * kept.len()) {
            candidates.extend(outside.iter().map(|point| (point.index, point.position)));
        } else {
            candidates.extend(highest);
        }
    }
    keep_outside(&mut kept, outside, frame);
    kept.into_keys().collect()
}

/// Returns the extreme points of directions that are spread over the sphere: the centers of a grid
/// of cells on each face of a cube.
fn extremes(points: &[DVec3], frame: &SolidFrame) -> Points {
    let steps = || [-0.75, -0.25, 0.25, 0.75].into_iter();
    let grid = steps().flat_map(|x| steps().map(move |y| (x, y)));
    let upper = grid.flat_map(|(x, y)| [[x, y, 1.0], [1.0, x, y], [y, 1.0, x]]);
    let directions = upper
        .map(DVec3::from_array)
        .flat_map(|upper| [upper, -upper]);
    let extremes = directions.filter_map(|direction| {
        let unit = direction * (1.0 / frame.gradient(direction).length());
        let points = points.iter().enumerate();
        outermost(
            points.map(|(index, point)| (index, *point, point.dot(unit))),
            frame,
        )
    });
    extremes.collect()
}

/// Returns the outermost of the points above each triangle.
fn highest(outside: &[Outside], frame: &SolidFrame) -> Points {
    let mut by_face: Vec<&Outside> = outside.iter().collect();
    by_face.sort_by_key(|point| point.face);
    let groups = by_face.chunk_by(|a, b| a.face == b.face);
    let highest = groups.filter_map(|group| {
        let heights = group
            .iter()
            .map(|point| (point.index, point.position, point.height));
        outermost(heights, frame)
    });
    highest.collect()
}
