//! Which of a set of points its convex hull needs.
//!
//! The hull itself is computed by the `quickhull` crate: in the plane with exact predicates, in space in f32 with a
//! tolerance of 1e-5 of the size. What is added here makes its answer fit for every input:
//!
//! * *The dimension first.* A point, a line and a plane are told from a solid by relative lengths, and the crate is asked
//!   only for what it is good at: it indexes beyond a list of one or two points, and in space it takes a slab or needle of
//!   1:1000 for flat (the set is smaller by 1e-3 then).
//! * *A frame that fits.* The convex hull commutes with affine maps: a vertex stays a vertex. So a solid is given to the
//!   crate in coordinates in which it is about as long as it is wide and high, and that begin on it: thin solids and those
//!   far from the origin are as good as a ball then. In the plane, where it is exact, it gets the very coordinates.
//! * *Few points, and corners first.* A face of a part holds thousands of points that are on one
//!   plane but for rounding. They tangle the crate's surface, and each that it takes for a vertex
//!   is one too many. So the crate gets the points that are extreme in some directions, and then
//!   the highest above each triangle of their hull. Of points that are equally high but for
//!   rounding the farthest from the middle is taken, which is a corner of the face. Only if there
//!   are points above most triangles, as on a ball, it gets all that are outside.
//! * *A proof.* Every point that is to be dropped in space is held, in f64, against the surface
//!   that the crate returns. Where that is no closed surface, which makes the proof void, the
//!   surface before it counts, or none.
//! * *The rest one by one.* What is outside of that surface by more than rounding is held against
//!   the convex hull of what is kept, which needs no surface. If a point is outside of it too, one
//!   is added. The proof is against points that are kept in the end, so errors do not add up.
//! * *Sides of polygons.* In the plane exact predicates keep every point that rounding has moved
//!   outwards on a side. Corners are dropped from the polygon while all dropped ones stay near the
//!   side that takes their place.
//!
//! So the set never changes by more than the rounding of f32, and what can go wrong is that some points too many are kept.
//!
//! Points go to the crate and come back as arrays: its `glam` may be of another version than Bevy's.

use std::collections::{BTreeSet, HashMap, HashSet};

use quickhull::{ConvexHull2d, ConvexTriangleMesh};

use crate::{
    math::{DMat3, DVec2, DVec3, Vec2, Vec3},
    query::{
        minkowski::Vertex,
        simplex::{Simplex, nearest_to},
    },
    shape::hull::direction_table::Directions,
    space::Space,
};

/// The rounding of f32 coordinates, relative to the length of the whole. A point may be dropped that is so far outside of
/// the hull of the others; and what is no thicker than twice that, because it is rounded on both sides, is flat.
const ROUNDING: f64 = f32::EPSILON as f64;

/// The crate's search ends by itself; should rounding ever make it go in circles, it ends after as many faces per point.
const FACES_PER_POINT: usize = 100;

/// The most hulls that the crate computes for one set of points.
const CRATE_ROUNDS: usize = 3;

/// The points outside of the first surface are few if there are fewer of them for each vertex.
const FEW_OUTSIDE: usize = 4;

/// The most steps of GJK, which needs about as many as a simplex has vertices.
const MAX_STEPS: usize = 63;

/// The number of added points, beside an eighth of the others, for which no new table is made.
const UNLISTED: usize = 256;

/// The most heights that are compared to find outermost points. Beyond that number, the next best
/// point that is outside is kept, which may be one that is not needed.
const MAX_HEIGHTS: usize = 1 << 26;

/// Drops the points that are given a second time. 0 and -0 are the same.
pub(super) fn without_copies<V: Space>(points: impl Iterator<Item = V>) -> impl Iterator<Item = V> {
    let mut known = HashSet::new();
    points.filter(move |point| known.insert(bits(point.to_vec3())))
}

/// The numbers of the points that are needed for the convex hull, ascending: its vertices, and at times a point that is
/// on it. All of `points` must be finite and different from each other.
pub(super) fn corners(points: &[Vec3]) -> Vec<usize> {
    let distinct: Vec<(usize, Vec3)> = points.iter().copied().enumerate().collect();
    let mut corners = match Frame::of(&distinct) {
        Frame::Point => distinct.iter().take(1).map(|(number, _)| *number).collect(),
        Frame::Line(along) => ends(&distinct, along),
        Frame::Plane(normal, allowed) => flat(&distinct, normal, allowed),
        Frame::Solid(frame) => solid(&distinct, &frame),
    };
    corners.sort_unstable();
    corners.dedup();
    corners
}

/// The coordinates as a key; 0 and -0 are the same.
fn bits(point: Vec3) -> [u32; 3] {
    (point + Vec3::ZERO).to_array().map(f32::to_bits)
}

/// The smallest flat that holds a set of points, to rounding.
enum Frame {
    Point,
    /// A line, by its direction.
    Line(DVec3),
    /// A plane, by its normal, and the distance by which its outline may shrink.
    Plane(DVec3, f64),
    Solid(SolidFrame),
}

/// Coordinates u in which a solid reaches as far in all three directions: x = origin + sum of l_i u_i a_i.
struct SolidFrame {
    origin: DVec3,
    /// The orthonormal a_i.
    directions: [DVec3; 3],
    /// The l_i, the longest first.
    lengths: [f64; 3],
    /// In these coordinates: a point well inside.
    middle: DVec3,
}

impl Frame {
    /// Grows a simplex from a point, each time by the point farthest from what is spanned so far.
    ///
    /// With a₁, a₂, a₃ the orthonormal directions of its heights l₁ >= l₂ >= l₃, no point is farther from the origin than
    /// l_i along a_i, so that all coordinates are between -1 and 1. The simplex has the corners 0, (1, 0, 0),
    /// (s, 1, 0) and (t, u, 1) then, and so at least a sixth of the volume of a cube of side 1.
    fn of(points: &[(usize, Vec3)]) -> Self {
        let Some((_, first)) = points.first() else {
            return Self::Point;
        };
        // From an end of the set rather than from within, so that the first height is nearly its length.
        let from_first = |point: &(usize, Vec3)| {
            let offset = point.1.as_dvec3() - first.as_dvec3();
            (offset.length_squared(), point.1)
        };
        let from_first = points.iter().map(from_first);
        let end = from_first.max_by(|a, b| a.0.total_cmp(&b.0));
        let origin = end.map_or(*first, |(_, end)| end).as_dvec3();
        let mut directions = [DVec3::ZERO; 3];
        let mut lengths = [0.0; 3];
        let mut simplex = [origin; 3];
        for step in 0..3 {
            let height = |point: DVec3| {
                let mut height = point - origin;
                // Twice, because the first rest of a point far along the line has much of its rounding left in it.
                for direction in directions.iter().chain(&directions) {
                    height -= *direction * direction.dot(height);
                }
                height
            };
            let mut farthest = (0.0, origin, DVec3::ZERO);
            for (_, point) in points {
                let point = point.as_dvec3();
                let rest = height(point);
                if rest.length() > farthest.0 {
                    farthest = (rest.length(), point, rest);
                }
            }
            let (length, point, rest) = farthest;
            let [longest, ..] = lengths;
            // Of a plane both sides count: what is dropped and what is kept are no farther apart than it is thick. About a
            // line they are by no more than twice the greatest distance from it.
            let thickness = if step == 2 {
                let heights = points.iter().map(|(_, point)| height(point.as_dvec3()));
                let heights = heights.map(|height| height.dot(rest) / length);
                heights.clone().fold(0.0, f64::max) - heights.fold(0.0, f64::min)
            } else {
                2.0 * length
            };
            if length == 0.0 || thickness <= 2.0 * ROUNDING * longest {
                let [along, across, _] = directions;
                return match step {
                    0 => Self::Point,
                    1 => Self::Line(along),
                    _ => {
                        // What is left of the bound by seeing it as flat.
                        let left = 2.0 * ROUNDING * longest - thickness;
                        Self::Plane(along.cross(across), left.min(ROUNDING * longest))
                    }
                };
            }
            let found = directions.iter_mut().zip(&mut lengths).zip(&mut simplex);
            for ((direction, height), corner) in found.skip(step).take(1) {
                (*direction, *height, *corner) = (rest * (1.0 / length), length, point);
            }
        }
        let mut frame = SolidFrame {
            origin,
            directions,
            lengths,
            middle: DVec3::ZERO,
        };
        let corners = simplex.map(|corner| frame.map(corner));
        frame.middle = corners.into_iter().sum::<DVec3>() * 0.25;
        Self::Solid(frame)
    }
}

impl SolidFrame {
    /// The coordinates u of a point x.
    fn map(&self, point: DVec3) -> DVec3 {
        let along = self.directions.map(|along| along.dot(point - self.origin));
        DVec3::from_array(along) / DVec3::from_array(self.lengths)
    }

    /// Converts a point, or the difference of two, from the coordinates u to orthonormal ones.
    fn measured(&self, place: DVec3) -> DVec3 {
        place * DVec3::from_array(self.lengths)
    }

    /// The gradient, in orthonormal coordinates, of the height along `direction` in coordinates u.
    fn covector(&self, direction: DVec3) -> DVec3 {
        direction / DVec3::from_array(self.lengths)
    }

    /// The distance from the hull of the others at which a point may be dropped.
    fn rounding(&self) -> f64 {
        let [longest, ..] = self.lengths;
        ROUNDING * longest
    }
}

/// The ends of points on a line.
fn ends(points: &[(usize, Vec3)], along: DVec3) -> Vec<usize> {
    let place = |point: &&(usize, Vec3)| along.dot(point.1.as_dvec3());
    let least = points.iter().min_by(|a, b| place(a).total_cmp(&place(b)));
    let most = points.iter().max_by(|a, b| place(a).total_cmp(&place(b)));
    least.into_iter().chain(most).map(|end| end.0).collect()
}

/// The corners of points in a plane.
///
/// Seen along an axis, a polygon keeps its corners; along the largest component of the normal it is seen least aslant.
/// The two coordinates that remain are the given ones, times a power of two that brings them near 1: the crate squares
/// them in f32.
fn flat(points: &[(usize, Vec3)], normal: DVec3, allowed: f64) -> Vec<usize> {
    let slope = normal.abs();
    let seen = |point: Vec3| {
        if slope.z >= slope.x && slope.z >= slope.y {
            [point.x, point.y]
        } else if slope.x >= slope.y {
            [point.y, point.z]
        } else {
            [point.z, point.x]
        }
    };
    let sizes = points.iter().flat_map(|(_, point)| seen(*point));
    let size = f64::from(sizes.fold(0.0, |size: f32, coordinate| size.max(coordinate.abs())));
    // The power of two at or below the size: an f64 without its digits.
    let unit = f64::from_bits(size.to_bits() & f64::INFINITY.to_bits());
    let mut numbers = HashMap::with_capacity(points.len());
    let mut scaled = Vec::with_capacity(points.len());
    for (number, point) in points {
        let place = seen(*point).map(|coordinate| (f64::from(coordinate) / unit) as f32);
        scaled.push(place.into());
        let place = Vec2::from(place);
        let key = bits(place.extend(0.0));
        numbers.entry(key).or_insert(PlaneCorner {
            number: *number,
            seen: place.as_dvec2(),
            place: point.as_dvec3(),
        });
    }
    // The crate asks for three points.
    if scaled.len() < 3 {
        return points.iter().map(|(number, _)| *number).collect();
    }
    let hull = ConvexHull2d::from_mut_points(&mut scaled);
    let keys = hull
        .vertices()
        .iter()
        .map(|vertex| bits(Vec2::from(vertex.to_array()).extend(0.0)));
    let found = keys.filter_map(|key| numbers.get(&key).copied());
    without_flat_corners(&outline(found.collect()), allowed)
}

/// A corner of points in a plane.
#[derive(Clone, Copy)]
struct PlaneCorner {
    number: usize,
    /// As seen along an axis.
    seen: DVec2,
    place: DVec3,
}

/// The corners of a convex polygon in their order, each once (Andrew's monotone chain).
///
/// Of points that are on a side but for rounding, the crate returns some in any order, and more
/// than once.
fn outline(mut corners: Vec<PlaneCorner>) -> Vec<PlaneCorner> {
    corners.sort_by(|a, b| {
        let by_x = a.seen.x.total_cmp(&b.seen.x);
        by_x.then(a.seen.y.total_cmp(&b.seen.y))
    });
    corners.dedup_by_key(|corner| corner.number);
    let mut outline: Vec<PlaneCorner> = Vec::with_capacity(corners.len());
    for _ in 0..2 {
        let start = outline.len();
        for corner in &corners {
            while let Some([.., a, b]) = outline.get(start..)
                && (b.seen - a.seen).perp_dot(corner.seen - b.seen) <= 0.0
            {
                outline.pop();
            }
            outline.push(*corner);
        }
        // The last one begins the way back.
        outline.pop();
        corners.reverse();
    }
    outline
}

/// The numbers of the corners of a convex polygon that are needed.
///
/// Each step drops the corner that changes the polygon least: by the greatest distance from the new
/// side of any corner dropped there. Given points are measured, so errors do not add up.
fn without_flat_corners(outline: &[PlaneCorner], allowed: f64) -> Vec<usize> {
    let count = outline.len();
    let (mut previous, mut next): (Vec<usize>, Vec<usize>) = (0..count)
        .map(|corner| ((corner + count - 1) % count, (corner + 1) % count))
        .unzip();
    let place = |corner: usize| outline.get(corner).map(|corner| corner.place);
    // The change in bits, which have the order of the numbers that are not negative.
    let change = |start: usize, end: usize| {
        let (from, to) = (place(start)?, place(end)?);
        let side = to - from;
        let span = if start < end { end } else { end + count };
        let between = (start + 1..span).filter_map(|corner| place(corner % count));
        let distances = between.map(|corner| {
            let along = (corner - from).dot(side) / side.length_squared();
            corner.distance(from + side * along.clamp(0.0, 1.0))
        });
        Some(distances.fold(0.0, f64::max).to_bits())
    };
    let ends = |corner: usize, previous: &[usize], next: &[usize]| {
        Some((*previous.get(corner)?, *next.get(corner)?))
    };
    let mut changes: Vec<Option<u64>> = (0..count)
        .map(|corner| {
            let (start, end) = ends(corner, &previous, &next)?;
            change(start, end)
        })
        .collect();
    let queued = changes.iter().enumerate();
    let mut queue: BTreeSet<(u64, usize)> = queued
        .filter_map(|(corner, change)| Some(((*change)?, corner)))
        .collect();
    // Of a triangle each corner is needed.
    while queue.len() > 3
        && let Some((least, corner)) = queue.pop_first()
    {
        if f64::from_bits(least) > allowed {
            queue.insert((least, corner));
            break;
        }
        let Some((start, end)) = ends(corner, &previous, &next) else {
            continue;
        };
        for (link, neighbour) in [(next.get_mut(start), end), (previous.get_mut(end), start)] {
            if let Some(link) = link {
                *link = neighbour;
            }
        }
        for neighbour in [start, end] {
            let new = ends(neighbour, &previous, &next).and_then(|(from, to)| change(from, to));
            if let (Some(new), Some(Some(old))) = (new, changes.get_mut(neighbour)) {
                queue.remove(&(*old, neighbour));
                queue.insert((new, neighbour));
                *old = new;
            }
        }
    }
    let kept = queue.into_iter();
    kept.filter_map(|(_, corner)| outline.get(corner).map(|corner| corner.number))
        .collect()
}

/// The corners of a solid.
fn solid(points: &[(usize, Vec3)], frame: &SolidFrame) -> Vec<usize> {
    if points.len() <= 4 {
        return points.iter().map(|(number, _)| *number).collect();
    }
    let places: Vec<DVec3> = points
        .iter()
        .map(|(_, point)| frame.map(point.as_dvec3()))
        .collect();
    let mut kept = extremes(&places, frame);
    let others = (0..places.len()).filter(|index| !kept.contains(index));
    let mut outside: Vec<Outside> = others.map(Outside::unknown).collect();
    let mut candidates = kept.clone();
    for round in 0..CRATE_ROUNDS {
        let Some(surface) = Surface::around(&places, &candidates, frame) else {
            break;
        };
        outside = surface.outside(&places);
        candidates = surface.vertices.iter().copied().collect();
        kept.clone_from(&candidates);
        if outside.is_empty() {
            break;
        }
        let highest = highest(&outside, &places, frame);
        // If there are points above most triangles, many of them are vertices.
        let many = 2 * highest.len() > surface.triangles.len();
        if many && (round > 0 || outside.len() < FEW_OUTSIDE * kept.len()) {
            candidates.extend(outside.iter().map(|outside| outside.index));
        } else {
            candidates.extend(highest);
        }
    }
    keep_outside(&mut kept, outside, &places, frame);
    let kept = kept.into_iter().filter_map(|index| points.get(index));
    kept.map(|(number, _)| *number).collect()
}

/// A point that may be outside of the hull of the kept points by more than rounding.
struct Outside {
    index: usize,
    /// The triangle of the crate's surface that the point is above.
    triangle: usize,
    /// The height over the plane of that triangle.
    height: f64,
}

impl Outside {
    /// A point that has not been held against a surface.
    fn unknown(index: usize) -> Self {
        Self {
            index,
            triangle: 0,
            height: 0.0,
        }
    }
}

/// Returns the highest of some points. Of points that are equally high but for rounding it returns
/// the one farthest from the middle.
///
/// Along the normal of a face all of its points are equally high. The farthest is a corner of it.
fn outermost(
    heights: impl Iterator<Item = (usize, f64)>,
    places: &[DVec3],
    frame: &SolidFrame,
) -> Option<usize> {
    let mut greatest = f64::NEG_INFINITY;
    // The point found so far, its height, and the square of its distance from the middle.
    let mut found: Option<(usize, f64, f64)> = None;
    for (index, height) in heights {
        if height < greatest - frame.rounding() {
            continue;
        }
        greatest = greatest.max(height);
        let Some(place) = places.get(index) else {
            continue;
        };
        let distance = frame.measured(*place - frame.middle).length_squared();
        let is_outermost = found.is_none_or(|(_, found_height, found_distance)| {
            found_height < greatest - frame.rounding() || found_distance < distance
        });
        if is_outermost {
            found = Some((index, height, distance));
        }
    }
    found.map(|(index, ..)| index)
}

/// The outermost points in directions spread over the sphere: the middles of a grid of cells on
/// each face of a cube.
fn extremes(places: &[DVec3], frame: &SolidFrame) -> BTreeSet<usize> {
    let steps = || [-0.75, -0.25, 0.25, 0.75].into_iter();
    let grid = steps().flat_map(|x| steps().map(move |y| (x, y)));
    let upper = grid.flat_map(|(x, y)| [[x, y, 1.0], [1.0, x, y], [y, 1.0, x]]);
    upper
        .map(DVec3::from_array)
        .flat_map(|direction| [direction, -direction])
        .filter_map(|direction| {
            let unit = direction * (1.0 / frame.covector(direction).length());
            let heights = places.iter().map(|place| place.dot(unit));
            outermost(heights.enumerate(), places, frame)
        })
        .collect()
}

/// The outermost of the points above each triangle.
fn highest(outside: &[Outside], places: &[DVec3], frame: &SolidFrame) -> Vec<usize> {
    let mut by_triangle: Vec<&Outside> = outside.iter().collect();
    by_triangle.sort_by_key(|outside| outside.triangle);
    let groups = by_triangle.chunk_by(|a, b| a.triangle == b.triangle);
    let highest = groups.filter_map(|group| {
        let heights = group.iter().map(|outside| (outside.index, outside.height));
        outermost(heights, places, frame)
    });
    highest.collect()
}

/// Keeps more of the points outside, until none is outside of the hull by more than rounding.
///
/// A point that is still outside is beyond all kept points in some direction. The outermost point
/// in that direction is added: but for rounding, a vertex of the whole hull (Clarkson, "More
/// output-sensitive geometric algorithms" (1994)). The hull only grows, so a point inside stays so.
fn keep_outside(
    kept: &mut BTreeSet<usize>,
    mut outside: Vec<Outside>,
    places: &[DVec3],
    frame: &SolidFrame,
) {
    if outside.is_empty() {
        return;
    }
    outside.sort_by(|a, b| a.height.total_cmp(&b.height));
    let measured = |index: usize| {
        let place = places.get(index)?;
        Some((index, frame.measured(*place)))
    };
    let vertices = kept.iter().filter_map(|index| places.get(*index).copied());
    let mut hull = GrowingHull::new(frame, vertices.collect());
    let left = outside.iter().map(|outside| outside.index);
    let mut left: Vec<(usize, DVec3)> = left.filter_map(measured).collect();
    let mut heights_left = MAX_HEIGHTS;
    while let Some((index, place)) = left.last().copied() {
        let direction = if kept.contains(&index) {
            None
        } else {
            hull.direction_to(place, frame.rounding())
        };
        let Some(direction) = direction else {
            left.pop();
            continue;
        };
        let heights = left
            .iter()
            .map(|(index, place)| (*index, place.dot(direction)));
        let added = if heights_left < left.len() {
            index
        } else {
            heights_left -= left.len();
            outermost(heights, places, frame).unwrap_or(index)
        };
        // To add a kept point again would never end.
        let added = if kept.contains(&added) { index } else { added };
        kept.insert(added);
        hull.add(places.get(added).copied());
    }
}

/// The convex hull of points to which others are added.
struct GrowingHull<'a> {
    frame: &'a SolidFrame,
    /// In the coordinates u, in which the normals of thin solids vary as much as those of others.
    points: Vec<DVec3>,
    /// Finds the farthest of the first so many points.
    table: Directions,
    in_table: usize,
}

impl<'a> GrowingHull<'a> {
    fn new(frame: &'a SolidFrame, points: Vec<DVec3>) -> Self {
        Self {
            frame,
            table: Directions::new(&points),
            in_table: points.len(),
            points,
        }
    }

    /// Adds a point, and makes the table anew if many points are not in it.
    fn add(&mut self, point: Option<DVec3>) {
        self.points.extend(point);
        if 8 * self.points.len() > 9 * self.in_table + UNLISTED {
            *self = Self::new(self.frame, core::mem::take(&mut self.points));
        }
    }

    /// The farthest point along a direction, both in orthonormal coordinates.
    fn support(&self, direction: DVec3) -> Option<DVec3> {
        let direction = self.frame.measured(direction);
        let listed = self.table.candidates(direction)?.iter();
        let listed = listed.filter_map(|number| self.points.get(*number as usize));
        let all = listed.chain(self.points.get(self.in_table..)?);
        let heights = all.map(|point| (point, point.dot(direction)));
        let farthest = heights.max_by(|a, b| a.1.total_cmp(&b.1));
        farthest.map(|(point, _)| self.frame.measured(*point))
    }

    /// A unit vector along which `place` is beyond the hull, or `None` if it is no farther from it
    /// than allowed.
    ///
    /// This is GJK for a point. `None` is proved by a point of the hull that is near enough. If
    /// rounding ends the loop too early, a point is kept that is not needed.
    fn direction_to(&self, place: DVec3, allowed: f64) -> Option<DVec3> {
        let mut simplex = Simplex::new();
        let first = self.frame.measured(*self.points.first()?);
        simplex.push(vertex(first))?;
        let mut direction = DVec3::X;
        for _ in 0..MAX_STEPS {
            let offset = offset_from(&mut simplex, place);
            if offset.length() <= allowed {
                return None;
            }
            direction = offset.try_normalize().unwrap_or(direction);
            let Some(farthest) = self.support(direction) else {
                break;
            };
            let known = simplex.iter().any(|old| old.point == farthest);
            let is_beyond = (place - farthest).dot(direction) > allowed;
            if known || is_beyond || simplex.push(vertex(farthest)).is_none() {
                break;
            }
        }
        Some(direction)
    }
}

/// A vertex of a simplex.
fn vertex(point: DVec3) -> Vertex<DVec3> {
    Vertex {
        point,
        ..Vertex::default()
    }
}

/// The offset of `place` from the nearest point of a simplex, from which the vertices that take no
/// part are removed.
fn offset_from(simplex: &mut Simplex<DVec3>, place: DVec3) -> DVec3 {
    let weights = nearest_to(place, simplex).weights;
    let mut kept = Simplex::new();
    // A convex combination is in the hull however its weights are rounded. Of no vertices it is
    // NaN, which is near nothing.
    let (mut sum, mut total) = (DVec3::ZERO, 0.0);
    for (vertex, weight) in simplex.iter().zip(weights) {
        if weight > 0.0 {
            sum += vertex.point * weight;
            total += weight;
            let _ = kept.push(*vertex);
        }
    }
    *simplex = kept;
    place - sum / total
}

/// A linear map after which points vary by 1, 2 and 4 along the axes, and apart from each other, or `None` if there is none.
///
/// The crate asks for the principal axes of the points, by a way that divides by 0 where two of them are alike. With the
/// Cholesky factor L of the covariance C = L Lᵀ, the points L⁻¹ x have the covariance L⁻¹ C L⁻ᵀ = 1.
fn spread(places: &[DVec3]) -> Option<DMat3> {
    let mean = places.iter().sum::<DVec3>() / places.len() as f64;
    let outer = |from: DVec3| DMat3::from_cols(from * from.x, from * from.y, from * from.z);
    let covariance = places.iter().fold(DMat3::ZERO, |sum, place| {
        sum + outer(*place - mean) / places.len() as f64
    });
    let [x, y, z] = covariance.to_cols_array_2d();
    let a = x[0].sqrt();
    let (b, c) = (x[1] / a, x[2] / a);
    let d = (y[1] - b * b).sqrt();
    let e = (y[2] - b * c) / d;
    let f = (z[2] - c * c - e * e).sqrt();
    let factor = DMat3::from_cols(DVec3::new(a, b, c), DVec3::new(0.0, d, e), DVec3::Z * f);
    let inverse = (a * d * f > 0.0).then(|| factor.inverse())?;
    let apart = DVec3::new(1.0, 2.0_f64.sqrt(), 2.0);
    inverse
        .is_finite()
        .then(|| DMat3::from_diagonal(apart) * inverse)
}

/// A closed surface of triangles around the middle of a frame, each of which is seen from there on its inner side.
///
/// A point p behind the planes of all triangles is in the convex hull of the vertices. For were it not, then a plane
/// would part it from all of the surface, which would not wind round it: the solid angles of the triangles, as seen from
/// p with their signs, would add up to 0. All are seen from behind or edge on, so each would be 0, and p on the planes
/// of all; yet the middle, which the surface does wind round, is on none. (So the surface need not be convex: nothing is
/// asked of the crate but that it is closed.)
///
/// With the middle as origin, triangle f in the plane n_f · x = h_f, h_f > 0: p is behind all of them if
/// max { (n_f / h_f) · p | f } <= 1, and that is the support of the points n_f / h_f, of the polar body, in direction p.
struct Surface<'a> {
    frame: &'a SolidFrame,
    /// The points that it is made of.
    vertices: Vec<usize>,
    triangles: Vec<[DVec3; 3]>,
    polar: Vec<DVec3>,
}

impl<'a> Surface<'a> {
    /// The hull that the crate finds of `some` of the places, if it is a closed surface around the
    /// middle.
    fn around(places: &[DVec3], some: &BTreeSet<usize>, frame: &'a SolidFrame) -> Option<Self> {
        let some_places: Vec<DVec3> = some
            .iter()
            .filter_map(|index| places.get(*index).copied())
            .collect();
        let spread = spread(&some_places)?;
        let mut rounded = Vec::with_capacity(some.len());
        let mut by_place = HashMap::with_capacity(some.len());
        for (index, place) in some.iter().zip(some_places) {
            let place = (spread * place).as_vec3();
            by_place.entry(bits(place)).or_insert(*index);
            rounded.push(place.to_array().into());
        }
        let mesh =
            ConvexTriangleMesh::try_from_points(&rounded, Some(FACES_PER_POINT * some.len()))
                .ok()?;
        let vertices: Vec<usize> = mesh
            .vertices()
            .iter()
            .map(|vertex| by_place.get(&bits(Vec3::from(vertex.to_array()))).copied())
            .collect::<Option<_>>()?;
        Self::new(places, vertices, mesh.indices(), frame)
    }

    /// The surface, if it is closed around the middle.
    fn new(
        places: &[DVec3],
        vertices: Vec<usize>,
        indices: &[[u32; 3]],
        frame: &'a SolidFrame,
    ) -> Option<Self> {
        // Closed and oriented: each edge is gone along once in either direction.
        let edges = || {
            indices
                .iter()
                .flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)])
        };
        let forth: HashSet<_> = edges().collect();
        let closed = edges().all(|(start, end)| forth.contains(&(end, start)));
        if indices.is_empty() || !closed || forth.len() != 3 * indices.len() {
            return None;
        }
        let mut triangles = Vec::with_capacity(indices.len());
        let mut polar = Vec::with_capacity(indices.len());
        for triangle in indices {
            let corner = |index: u32| {
                let vertex = vertices.get(index as usize)?;
                Some(*places.get(*vertex)? - frame.middle)
            };
            let [a, b, c] = *triangle;
            let triangle = [corner(a)?, corner(b)?, corner(c)?];
            let normal = normal(&triangle);
            let [a, ..] = triangle;
            let height = normal.dot(a);
            let point = normal * (1.0 / height);
            if !(height > 0.0 && point.is_finite()) {
                return None;
            }
            triangles.push(triangle);
            polar.push(point);
        }
        Some(Self {
            frame,
            vertices,
            triangles,
            polar,
        })
    }

    /// The places that are not in the hull of the surface's vertices, nor off a triangle by no more
    /// than rounding.
    fn outside(&self, places: &[DVec3]) -> Vec<Outside> {
        let mut known = vec![false; places.len()];
        for vertex in &self.vertices {
            if let Some(known) = known.get_mut(*vertex) {
                *known = true;
            }
        }
        let others = places.iter().zip(known).enumerate();
        let mut others = others.filter(|(_, (_, known))| !known).peekable();
        if others.peek().is_none() {
            return Vec::new();
        }
        let table = Directions::with_error(&self.polar, ROUNDING);
        others
            .filter_map(|(index, (place, _))| self.above(&table, index, *place - self.frame.middle))
            .collect()
    }

    /// A place, relative to the middle, that is neither in the hull of the vertices nor near a
    /// triangle.
    fn above(&self, table: &Directions, index: usize, place: DVec3) -> Option<Outside> {
        // No direction at all is the middle itself; there is no other that has no list.
        let candidates = table.candidates(place)?;
        let facing = || candidates.iter().map(|number| *number as usize);
        let heights =
            facing().filter_map(|number| Some((number, self.polar.get(number)?.dot(place))));
        let (triangle, height) = heights.max_by(|a, b| a.1.total_cmp(&b.1))?;
        if height <= 1.0 {
            return None;
        }
        let normal = self.frame.covector(*self.polar.get(triangle)?);
        let height = (height - 1.0) / normal.length();
        let allowed = self.frame.rounding();
        let place = self.frame.measured(place);
        let is_near = |triangle: &[DVec3; 3]| {
            let mut simplex = Simplex::new();
            for corner in triangle {
                let _ = simplex.push(vertex(self.frame.measured(*corner)));
            }
            offset_from(&mut simplex, place).length() <= allowed
        };
        let mut triangles = facing().filter_map(|number| self.triangles.get(number));
        if height <= allowed && triangles.any(is_near) {
            return None;
        }
        Some(Outside {
            index,
            triangle,
            height,
        })
    }
}

/// Twice the area of a triangle, as a vector at right angles to it.
fn normal([a, b, c]: &[DVec3; 3]) -> DVec3 {
    (*b - *a).cross(*c - *a)
}
