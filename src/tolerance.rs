//! The tolerances of the queries, with their derivations. (Iteration limits are declared beside
//! their loops, and `HIDDEN`, which limits the loss of area of a manifold, beside its use.)
//!
//! All tolerances are relative. Tolerances of lengths are fractions of the pair's *scale*. The
//! scale is the largest distance from the origin to a vertex of the Minkowski difference found so
//! far, plus both radii. For a pair that overlaps, the scale lies between half of the larger
//! shape's size and the sum of both sizes. So the solvers treat metres, pixels and millimetres
//! alike. If GJK ends on its first vertices, the scale can be much smaller. Then [`OFFSET_SCALE`]
//! bounds it from below. A half-space has no size, so the scale of its pair is half the diagonal of
//! the other shape's bounding box, plus both radii.

/// The lower bound on the scale, as a fraction of the distances from the origins of the shapes to
/// their vertices. The difference of two points is rounded by 1e-16 of their coordinates, so a
/// small shape far from its own origin is less precise than its size suggests.
pub const OFFSET_SCALE: f64 = 1e-5;

/// Shapes whose distance is at most this touch, with depth 0. The value is one unit in the last
/// place of an f32 coordinate, twice its rounding error: the input cannot express smaller gaps.
pub const TOUCHING: f64 = f32::EPSILON as f64;

/// Cores closer than this count as touching, and EPA replaces GJK. The direction between the cores'
/// nearest points has an error of about 1e-16 of the scale, divided by their distance. At this
/// limit, the error is 1e-6.
pub const CORE_CONTACT: f64 = 1e-10;

/// GJK ends if the distance exceeds its lower bound by at most this fraction. A relative gap of g
/// between the bounds leaves an error of at most √(2 g) in the direction: here 1.4e-5. For
/// polytopes GJK ends earlier, at the first repeated vertex.
pub const DISTANCE_GAP: f64 = 1e-10;

/// If rounding stops GJK, the last direction may be wrong. The direction with the best lower bound
/// replaces the last direction if the last direction's bound is lower by this fraction of the
/// distance. The error of the last direction can then exceed √(2e-6) = 1.4e-3. (Smaller differences
/// are rounding errors, and later directions are better.)
pub const LOWER_BOUND_LOSS: f64 = 1e-6;

/// GJK also ends if the bounds differ by at most a fraction of the scale. The fraction starts at
/// [`ROUNDING`] and grows by this factor in each iteration: 2e-13 after 20 iterations, 4e-11 after
/// 40, 1.5e-8 after 63. Where curved surfaces nearly touch, each iteration reduces the error only
/// by a factor of 2 to 4. An angular error of x changes the distance by x²/2 of the radius of
/// curvature, not of the gap. So [`DISTANCE_GAP`] alone would demand more precision than the result
/// needs. 99 % of all pairs need at most 20 iterations.
pub const GAP_GROWTH: f64 = 1.3;

/// The rounding error of a product of two vectors of the pair in f64, as a fraction of the product
/// of their lengths: a few units in the last place.
pub const ROUNDING: f64 = 1e-15;

/// EPA ends if the depth exceeds its lower bound by at most this, which is less than one unit in
/// the last place of the result in f32. The tolerance matters for curved shapes, on which EPA never
/// converges exactly, and between nearly parallel facets. The bounds of other polytopes meet.
pub const DEPTH_GAP: f64 = 1e-7;

/// If the Minkowski difference extends at most this far beyond the origin in some direction, the
/// depth is 0. The value is ten times [`CORE_CONTACT`], because GJK's last simplex contains the
/// origin only to within [`CORE_CONTACT`]. So a vertex farther out is independent of that simplex.
pub const FLAT_DEPTH: f64 = 1e-9;

/// A new vertex closer than this to the plane of a facet counts as lying in that plane. EPA then
/// replaces the facet together with the facets that face the vertex, because slivers between nearly
/// coplanar facets would break EPA. The value is well above the rounding error of a facet's plane,
/// and well below [`FLAT_DEPTH`].
pub const COPLANAR_DISTANCE: f64 = 1e-12;

/// The corners of a contact feature are support points in directions that are tilted from the
/// contact normal. This is the tangent of the tilt. It is larger than the rounding of a pose to
/// f32, so that a face is recognized, and small enough that the corners belong to one face only.
pub const CONE_SLOPE: f64 = 0.08;

/// A corner belongs to a feature if the slope from the feature's top to the corner is at most this.
/// On a surface of radius r, the support point in a tilted direction is r `CONE_SLOPE` away from
/// the top and r `CONE_SLOPE`² / 2 lower: a slope of `CONE_SLOPE` / 2. Half of that slope excludes
/// surfaces that are curved in both directions, and both sides of the contact line on a surface
/// that is curved in one direction.
pub const LEVEL_SLOPE: f64 = CONE_SLOPE / 4.0;

/// Points of a manifold closer than this are merged. The value is eight times the precision of f32.
/// So vertices are also merged if only the rounding of a pose separates them.
pub const SAME_MANIFOLD_POINT: f64 = 1e-6;

/// The contact lines of two curved surfaces overlap if their distance, seen along the normal, is at
/// most this. Rounding a pose to f32 rotates parallel lines by about 1e-7 radians relative to each
/// other, so that the contact normal is not exactly perpendicular to both. On a surface of radius
/// r, an error of d in the depth moves the contact point by √(2 r d). The constant is this distance
/// for r = 1 and d = 5e-9.
pub const LINE_OVERLAP: f64 = 1e-4;

/// A common point of two contact lines is kept if its distance from each core is at most this. A
/// surface of radius r drops by x² / 2 r over a distance of x. The constant is this value for x =
/// [`LINE_OVERLAP`] and r = 1/400.
pub const OFF_CORE: f64 = 2e-6;

/// Two edges count as parallel if the squared sine of their angle is at most this. The cross
/// product of such edges is not precise enough for a depth. Without it, the depth is too large by
/// at most √1e-15 = 3e-8 of the edges' lengths.
pub const PARALLEL_EDGES: f64 = 1e-15;

/// After an early end, EPA continues from several directions. This is the cosine of the smallest
/// angle between two of them, 11 degrees.
pub const DISTINCT_DIRECTIONS: f64 = 0.98;

/// To find the ends of a line on a surface, EPA tilts the normal along the line. This is the
/// tangent of the tilt: far above rounding errors, and too small for a support point beyond the
/// line.
pub const LINE_TILT: f64 = 1e-6;

/// A contact normal on a surface equals a facet's normal if the sine of their angle, or the
/// distance of the unit vectors, is at most this. The normals of contacts inside a facet have
/// errors of at most 1e-6 (tested by `tests/it/queries/geometry.rs`), because the solvers end
/// exactly on flat faces. (Between two curved surfaces the error can reach √[`DEPTH_GAP`], but a
/// facet is flat.)
pub const SAME_NORMAL: f64 = 1e-4;

/// A cast ends if the shapes are no farther apart than twice this fraction of the pair's size. This
/// fraction exceeds [`CORE_CONTACT`] of the scale, which is at most twice the size, and is 1/500 of
/// [`TOUCHING`].
pub const CAST_MARGIN: f64 = 2.5e-10;

/// The time `touching` of a cast is later than `safe` only if the shapes move by at most this
/// fraction of the pair's size in between. Otherwise both are equal. The search for a touch ends
/// within the same gap. The other half of [`TOUCHING`] allows for the error of the contact.
pub const CAST_TOUCHING: f64 = 0.5 * TOUCHING;

/// Shapes that slide along each other's surface count as a miss if they overlap by at most half of
/// this fraction of the pair's size: twice [`TOUCHING`]. Rounding the tangent of a face to f32
/// gives a slope of 6e-8 over the length of the face. Such a slope increases the overlap of
/// touching shapes, but they still count as a miss.
pub const GRAZING_DEPTH: f64 = 4.0 * TOUCHING;
