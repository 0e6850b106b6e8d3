//! All tolerances of the queries, with their derivations. (Limits on iterations are beside the
//! loops that they bound.)
//!
//! All tolerances are relative. Lengths are fractions of the *scale* of the pair: the largest
//! distance from the origin to a vertex of the Minkowski difference so far, plus both radii. For a
//! pair that overlaps, the scale lies between half of the larger shape's size and the sum of both
//! sizes. So the solvers treat metres, pixels and millimetres alike. If GJK ends on its first
//! vertices, the scale can be much smaller: then [`OFFSET_SCALE`] bounds it from below. A
//! half-space has no size, so the scale of its pair is half the diagonal of the other shape's
//! bounding box, plus both radii.

/// The scale is at least this fraction of the vertices' distances from the origins of their own
/// shapes. The difference of two points is rounded by 1e-16 of their coordinates, so a small shape
/// far from its own origin is less precise than its size suggests.
pub const OFFSET_SCALE: f64 = 1e-5;

/// Shapes that are no farther apart than this touch, with depth 0. Rounding a single coordinate of
/// the pair to f32 changes the distance by this much, so the input cannot express less.
pub const TOUCHING: f64 = f32::EPSILON as f64;

/// Cores closer than this count as touching, and EPA replaces GJK. The direction between the cores'
/// nearest points has an error of about 1e-16 of the scale over their distance: at this limit,
/// 1e-6.
pub const CORE_CONTACT: f64 = 1e-10;

/// GJK ends if the distance exceeds its lower bound by at most this fraction. A gap of g in the
/// bounds leaves an error of at most √(2 g) in the direction: 1.4e-5. Polytopes end earlier, on the
/// first repeated vertex.
pub const DISTANCE_GAP: f64 = 1e-10;

/// If rounding stops GJK, the last direction is replaced by the one with the best lower bound if
/// its own bound is lower by this fraction of the distance. Its error then exceeds √(2e-6) =
/// 1.4e-3. (Any smaller difference is rounding, and later directions are better.)
pub const LOWER_BOUND_LOSS: f64 = 1e-6;

/// GJK also ends if the bounds differ by at most a fraction of the scale, which starts at
/// [`ROUNDING`] and grows by this factor in each iteration: 2e-13 after 20 iterations, 4e-11 after
/// 40, 1.5e-8 after 63. Where curved surfaces nearly touch, each iteration gains a factor of only 2
/// to 4, and an angular error of x costs x²/2 of the radius of curvature, not of the gap. So
/// [`DISTANCE_GAP`] alone would ask for more than the result needs. Of 100 pairs, 99 need at most
/// 20 iterations.
pub const GAP_GROWTH: f64 = 1.3;

/// The rounding error of a product of two vectors of the pair in f64, as a fraction of the product
/// of their lengths: a few units in the last place.
pub const ROUNDING: f64 = 1e-15;

/// EPA ends if the depth exceeds its lower bound by at most this: less than one unit in the last
/// place of the result in f32. It binds for curved shapes, on which EPA converges without end, and
/// between nearly parallel facets. The bounds of other polytopes meet.
pub const DEPTH_GAP: f64 = 1e-7;

/// If the Minkowski difference extends no farther than this beyond the origin in some direction,
/// the depth is 0. Ten times [`CORE_CONTACT`], so that a vertex beyond it is independent of a
/// simplex that contains the origin to within [`CORE_CONTACT`].
pub const FLAT_DEPTH: f64 = 1e-9;

/// A vertex closer than this to the plane of a facet lies on it, and the facet is replaced together
/// with the facets that the vertex sees: slivers between nearly coplanar facets would break EPA. It
/// is well above the rounding of a facet's plane, and well below [`FLAT_DEPTH`].
pub const COPLANAR_DISTANCE: f64 = 1e-12;

/// The tangent of the angle between the contact normal and the directions in which the corners of a
/// feature are found. Larger than the rounding of a pose to f32, so that a face is recognized, and
/// small enough that only one face is.
pub const CONE_SLOPE: f64 = 0.08;

/// Corners within this slope of the top of a feature belong to the feature. A surface of radius r
/// drops by r `CONE_SLOPE`² / 2 over the r `CONE_SLOPE` to its support point on the cone: a slope
/// of `CONE_SLOPE` / 2. Half of that excludes all surfaces that are curved in both directions, and
/// both sides of the contact line of a surface that is curved in one direction.
pub const LEVEL_SLOPE: f64 = CONE_SLOPE / 4.0;

/// Points of a manifold closer than this are one point: eight times the precision of f32, so that
/// vertices coincide that only the rounding of a pose separates.
pub const SAME_POINT: f64 = 1e-6;

/// The contact lines of two curved surfaces overlap if they are no farther apart than this, as seen
/// along the normal. Rounding a pose to f32 rotates the lines by about 1e-7 against each other, and
/// then no normal is at right angles to both. An error of d in the depth moves the point of contact
/// by √(2 r d) on a surface of radius r: by this much for r = 1 and d = 5e-9.
pub const LINE_OVERLAP: f64 = 1e-4;

/// A point on two such lines belongs to the contact if it is no farther than this from either core:
/// over [`LINE_OVERLAP`], a surface of radius r = 1/400 drops by this much, x² / 2 r.
pub const OFF_CORE: f64 = 2e-6;

/// Two edges are parallel if the square of the sine of their angle is at most this. Such edges have
/// no cross product that is precise enough for a depth. Any other separating direction is longer by
/// at most √1e-15 = 3e-8 of the edges.
pub const PARALLEL_EDGES: f64 = 1e-15;

/// The cosine of the smallest angle between two directions from which EPA continues after an early
/// end: 11 degrees.
pub const DISTINCT_DIRECTIONS: f64 = 0.98;

/// The tangent by which a direction is tilted to find the ends of a line on a surface: far more
/// than rounding, and too little to reach beyond the line.
pub const LINE_TILT: f64 = 1e-6;

/// A normal on a surface is a facet's normal if the sine of their angle, or the distance of the
/// unit vectors, is at most this. Contacts inside a facet have errors of at most 1e-7 (measured by
/// `tests/geometry.rs`), because the facet is a face of the Minkowski difference, on which the
/// solvers end exactly. (Where two curved surfaces touch, the error can be √[`DEPTH_GAP`], but a
/// facet is flat.)
pub const SAME_NORMAL: f64 = 1e-4;

/// A cast ends if the shapes are no farther apart than twice this part of the size of the pair. It
/// exceeds [`CORE_CONTACT`] of the scale, which is at most twice the size, and is 1/500 of
/// [`TOUCHING`].
pub const CAST_MARGIN: f64 = 2.5e-10;

/// Shapes pass along each other if they overlap by at most half of this part of the size of the
/// pair: twice [`TOUCHING`]. So rounding the tangent of a face to f32, which is a slope of 6e-8
/// over the length of the face, adds to the overlap of shapes that touch without making them
/// overlap.
pub const GRAZING_DEPTH: f64 = 4.0 * TOUCHING;
