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
//! * *Few points.* Many points on one plane but for rounding, as on the faces of a rotated box, tangle its surface. It
//!   gets the points that are extreme in some directions first, and only if others are outside of their hull, those too.
//! * *A proof.* Every point that is to be dropped in space is held, in f64, against the surface that the crate returns:
//!   what is outside of it by more than rounding is kept. Where it is no closed surface, which makes the proof void, all
//!   points are kept.
//!
//! So the set never changes by more than the rounding of f32, and what can go wrong is that some points too many are kept.

use std::collections::{BTreeSet, HashMap, HashSet};

use quickhull::{ConvexHull2d, ConvexTriangleMesh};

use super::directions::Directions;
use crate::math::{DMat3, DVec3, Vec2, Vec3};

/// The rounding of f32 coordinates, relative to the length of the whole. A point may be dropped that is so far outside of
/// the hull of the others; and what is no thicker than twice that, because it is rounded on both sides, is flat.
const ROUNDING: f64 = f32::EPSILON as f64;

/// The crate's search ends by itself; should rounding ever make it go in circles, it ends after as many faces per point.
const FACES_PER_POINT: usize = 100;

/// The numbers of the points that are needed for the convex hull, ascending: its vertices, and at times a point that is
/// on it. Of equal points the first. All of `points` must be finite.
pub(super) fn corners(points: &[Vec3]) -> Vec<usize> {
    let mut known = HashSet::with_capacity(points.len());
    let distinct: Vec<(usize, Vec3)> = points
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, point)| known.insert(bits(*point)))
        .collect();
    let mut corners = match Frame::of(&distinct) {
        Frame::Point => distinct.iter().take(1).map(|(number, _)| *number).collect(),
        Frame::Line(along) => ends(&distinct, along),
        Frame::Plane(normal) => flat(&distinct, normal),
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
    /// A plane, by its normal.
    Plane(DVec3),
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
                    _ => Self::Plane(along.cross(across)),
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

    /// The difference of two points for that of their coordinates.
    fn unmap(&self, place: DVec3) -> DVec3 {
        let [a, b, c] = self.directions;
        let [x, y, z] = (place * DVec3::from_array(self.lengths)).to_array();
        a * x + b * y + c * z
    }

    /// Whether a point, relative to the middle as the triangle is, is off it by no more than rounding.
    ///
    /// Its foot on the plane has the barycentric coordinates w; where it is off the triangle, the point of it with the
    /// negative ones left out stands for the nearest, to which it is no farther.
    fn is_on(&self, triangle: &[DVec3; 3], place: DVec3) -> bool {
        let [a, b, c] = *triangle;
        let area = normal(triangle);
        let weights = [[place, b, c], [a, place, c], [a, b, place]]
            .map(|part| normal(&part).dot(area).max(0.0));
        let [u, v, w] = weights.map(|weight| weight / weights.iter().sum::<f64>());
        let near = a * u + b * v + c * w;
        let [longest, ..] = self.lengths;
        self.unmap(place - near).length() <= ROUNDING * longest
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
fn flat(points: &[(usize, Vec3)], normal: DVec3) -> Vec<usize> {
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
        let [x, y] = seen(*point).map(|coordinate| (f64::from(coordinate) / unit) as f32);
        let place = Vec2::new(x, y);
        scaled.push(place);
        numbers.entry(bits(place.extend(0.0))).or_insert(*number);
    }
    // The crate asks for three points.
    if scaled.len() < 3 {
        return points.iter().map(|(number, _)| *number).collect();
    }
    let hull = ConvexHull2d::from_mut_points(&mut scaled);
    let keys = hull
        .vertices()
        .iter()
        .map(|vertex| bits(vertex.extend(0.0)));
    keys.filter_map(|key| numbers.get(&key).copied()).collect()
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
    let all = || (0..places.len()).collect::<BTreeSet<_>>();
    let extremes = extremes(&places);
    let mut kept = enclosing(&places, &extremes, frame).unwrap_or_else(all);
    if !kept.is_subset(&extremes)
        && let Some(again) = enclosing(&places, &kept, frame)
        && again.len() < kept.len()
    {
        kept = again;
    }
    let kept = kept.into_iter().filter_map(|index| points.get(index));
    kept.map(|(number, _)| *number).collect()
}

/// The points farthest in directions spread over all of them: the middles of a grid of cells on each face of a cube.
fn extremes(places: &[DVec3]) -> BTreeSet<usize> {
    let steps = || [-0.75, -0.25, 0.25, 0.75].into_iter();
    let grid = steps().flat_map(|x| steps().map(move |y| (x, y)));
    let upper = grid.flat_map(|(x, y)| [[x, y, 1.0], [1.0, x, y], [y, 1.0, x]]);
    upper
        .map(DVec3::from_array)
        .flat_map(|direction| [direction, -direction])
        .filter_map(|direction| {
            let heights = places.iter().map(|place| place.dot(direction)).enumerate();
            let highest = heights.max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(highest.0)
        })
        .collect()
}

/// Points whose convex hull holds all of `places`: the corners that the crate finds among `some` of them, and whatever is
/// outside of its surface. `None` if that is no surface around the middle.
fn enclosing(
    places: &[DVec3],
    some: &BTreeSet<usize>,
    frame: &SolidFrame,
) -> Option<BTreeSet<usize>> {
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
        rounded.push(place.to_vec3a());
    }
    let mesh =
        ConvexTriangleMesh::try_from_points(&rounded, Some(FACES_PER_POINT * some.len())).ok()?;
    let vertices: Vec<usize> = mesh
        .vertices()
        .iter()
        .map(|vertex| by_place.get(&bits(Vec3::from(*vertex))).copied())
        .collect::<Option<_>>()?;
    let surface = Surface::new(places, &vertices, mesh.indices(), frame)?;
    let corners: BTreeSet<usize> = vertices.into_iter().collect();
    let others = (0..places.len()).filter(|index| !corners.contains(index));
    let outside = others.filter(|index| {
        let place = places.get(*index);
        !place.is_some_and(|place| surface.holds(*place))
    });
    Some(outside.chain(corners.iter().copied()).collect())
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
    triangles: Vec<[DVec3; 3]>,
    polar: Vec<DVec3>,
    directions: Directions,
}

impl<'a> Surface<'a> {
    /// The surface, if it is closed around the middle.
    fn new(
        places: &[DVec3],
        vertices: &[usize],
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
        let directions = Directions::with_error(&polar, ROUNDING);
        Some(Self {
            frame,
            triangles,
            polar,
            directions,
        })
    }

    /// Whether `place` is in the hull of the surface's vertices, or off a triangle by no more than rounding.
    fn holds(&self, place: DVec3) -> bool {
        let place = place - self.frame.middle;
        // No direction at all is the middle itself; there is no other that has no list.
        let Some(candidates) = self.directions.candidates(place) else {
            return true;
        };
        let numbers = || candidates.iter().map(|number| *number as usize);
        let mut polar = numbers().filter_map(|number| self.polar.get(number));
        let mut facing = numbers().filter_map(|number| self.triangles.get(number));
        polar.all(|point| point.dot(place) <= 1.0)
            || facing.any(|triangle| self.frame.is_on(triangle, place))
    }
}

/// Twice the area of a triangle, as a vector at right angles to it.
fn normal([a, b, c]: &[DVec3; 3]) -> DVec3 {
    (*b - *a).cross(*c - *a)
}
