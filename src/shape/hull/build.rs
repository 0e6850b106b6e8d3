//! Selects the points that a convex hull needs.
//!
//! The `quickhull` crate computes hulls: in 2D with exact predicates, in 3D in `f32` with a
//! tolerance of 1e-5 of the size. The code around it handles every input:
//!
//! * **Dimension first** (`affine_hull`). A set of points is classified as a point, a line, a plane
//!   or a solid by relative lengths. `quickhull` is only called for the last two: it panics on one
//!   or two points, and in 3D it treats a slab or needle of 1:1000 as flat.
//! * **A frame that fits** (`affine_hull`). Convex hulls commute with affine maps. So `quickhull`
//!   gets a solid in coordinates in which it has similar extents along all axes. Thin solids and
//!   solids far from the origin become as easy as a ball. In 2D, coordinates are only scaled by a
//!   power of two.
//! * **Few points, corners first.** A face of a part may contain thousands of points that are
//!   coplanar up to rounding. Given all of them, `quickhull` makes a surface that intersects
//!   itself, and returns too many vertices. So it first gets the extreme points in some directions,
//!   and then the highest point above each triangle. Among points that are equally high up to
//!   rounding, the one farthest from the center is selected, because it is a corner of the face. If
//!   there are points above most triangles, as on a ball, `quickhull` gets all points outside.
//! * **A proof** (`closed_surface`). In 3D each point to be dropped is tested in `f64` against the
//!   surface that `quickhull` returns. If that surface is not closed, the proof does not hold, and
//!   the previous surface remains in use, if any.
//! * **The rest one by one** (`growing_hull`). A point outside of that surface by more than
//!   rounding is tested against the convex hull of the kept points, for which no surface is needed.
//!   If it is outside of that hull too, a point is added to the kept points. No kept point is
//!   dropped later, so errors do not add up.
//! * **Sides of polygons** (`planar`). Exact predicates keep every point of a side that rounding
//!   has moved outward. Such corners are dropped as long as all dropped corners are near the side
//!   that replaces them.
//!
//! So the hull never changes by more than the rounding of `f32`. If a step fails, more points are
//! kept than needed.
//!
//! Points are converted to arrays for `quickhull` and back, because its version of `glam` may
//! differ from Bevy's.

use crate::{
    math::{DVec3, Vec3},
    shape::hull::{
        affine_hull::{AffineHull, SolidFrame},
        candidates::{IndexedPoints, Outside, outermost},
        closed_surface::ClosedSurface,
        growing_hull::keep_outside,
        planar,
    },
};

/// Maximum number of surfaces that `quickhull` computes for one set of points.
const MAX_SURFACES: usize = 3;

/// The points outside of the first surface count as few below this number per vertex.
const FEW_OUTSIDE: usize = 4;

/// Returns the indices of the vertices of the convex hull, in ascending order. In rare cases they
/// include another point on the hull. All of `points` must be finite and distinct.
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

/// Returns the indices of the two ends of a set of points on a line.
fn ends(points: &[Vec3], direction: DVec3) -> Vec<usize> {
    let heights = points.iter().map(|point| direction.dot(point.as_dvec3()));
    let heights = || heights.clone().enumerate();
    let first = heights().min_by(|a, b| a.1.total_cmp(&b.1));
    let last = heights().max_by(|a, b| a.1.total_cmp(&b.1));
    first.into_iter().chain(last).map(|end| end.0).collect()
}

/// Returns the indices of the vertices of a solid.
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
        // If there are points above most triangles, many of the points are vertices.
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

/// Returns the extreme points in directions that are spread over the sphere: toward the centers of
/// a grid of cells on each face of a cube.
pub fn extremes(points: &[DVec3], frame: &SolidFrame) -> IndexedPoints {
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

/// Returns the [`outermost`] point above each triangle.
fn highest(outside: &[Outside], frame: &SolidFrame) -> IndexedPoints {
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
