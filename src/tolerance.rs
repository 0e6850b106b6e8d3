//! The main tolerances of the queries, with their derivations. Other tolerances and all iteration
//! limits are declared beside the code that uses them.
//!
//! All tolerances are relative. Tolerances of lengths are fractions of the pair's *scale*. So the
//! unit of length, such as a meter, a millimeter or a pixel, has no effect on the precision. A
//! shape is a *core* with a radius around it. The scale is the sum of the two radii and the largest
//! distance from the origin to an evaluated vertex of the cores' Minkowski difference. For a pair
//! that overlaps, the scale lies between half of the larger shape's size and the sum of the two
//! sizes. If GJK ends on its first vertices, the scale can be much smaller than the shapes. In that
//! case, [`OFFSET_SCALE`] bounds the scale from below. For boxes and polygons in closed form, the
//! sum of the two cores' half diagonals replaces the largest distance. A half-space has no size.
//! The scale of a pair with a half-space is half the diagonal of the other core's bounding box,
//! plus both radii.

/// The lower bound on the scale, as a fraction of the coordinates of the support points. Rounding
/// changes the difference of two points by 1e-16 of their coordinates. So a small shape far from
/// its own origin is less precise than its size suggests.
pub const OFFSET_SCALE: f64 = 1e-5;

/// Shapes count as touching, with depth 0, if their distance is at most this fraction of the scale.
/// The value is one unit in the last place of an f32, twice the rounding error: f32 coordinates
/// cannot express smaller gaps.
pub const TOUCHING: f64 = f32::EPSILON as f64;

/// If the gap between two shapes exceeds this fraction of the scale, every solver reports the
/// shapes as separated. If the gap is smaller, the shapes may count as touching, because of
/// [`TOUCHING`] or of rounding.
pub const SURELY_APART: f64 = 8.0 * TOUCHING;

/// Cores closer than this fraction of the scale count as touching, and EPA takes over from GJK. The
/// direction between the cores' nearest points has an error of about 1e-16 of the scale, divided by
/// the distance between these points. For cores at this limit, the error is 1e-6 radians.
pub const CORE_CONTACT: f64 = 1e-10;

/// GJK ends when its upper bound on the distance exceeds its lower bound by at most this fraction
/// of the upper bound. A relative gap of g between the bounds limits the error of the direction to
/// √(2 g), which is 1.4e-5 radians for this value. On polytopes, GJK ends earlier: at the first
/// repeated vertex.
pub const DISTANCE_GAP: f64 = 1e-10;

/// If rounding stops GJK, the last direction may be wrong. Let the last lower bound be below the
/// best lower bound by more than this fraction of the distance. In this case, the direction of the
/// best bound replaces the last direction. Such a loss allows an error of √(2e-6) = 1.4e-3 radians
/// in the last direction. A smaller loss is mere rounding error, and the last direction is better.
pub const LOWER_BOUND_LOSS: f64 = 1e-6;

/// GJK also ends when its bounds on the distance differ by at most a fraction of the scale. The
/// fraction starts at [`ROUNDING`] and grows by this factor in each iteration, to 2e-13 after 20
/// iterations, 4e-11 after 40, and 1.5e-8 after 63. Where curved surfaces nearly touch, each
/// iteration divides the error only by a factor of 2 to 4. An angular error of x changes the
/// distance by x²/2 times the radius of curvature, however near the surfaces are. So
/// [`DISTANCE_GAP`] alone would demand more precision than the result needs.
pub const GAP_GROWTH: f64 = 1.3;

/// The rounding error of a product of two vectors in f64, as a fraction of the product of the
/// vectors' lengths. The value is a few units in the last place.
pub const ROUNDING: f64 = 1e-15;

/// EPA ends when the depth exceeds its lower bound by at most this fraction of the scale. The value
/// is below the precision of f32. The tolerance matters on curved shapes, where EPA never converges
/// exactly, and on polytopes with nearly parallel facets. On all other polytopes, the two bounds
/// meet up to rounding.
pub const DEPTH_GAP: f64 = 1e-7;

/// If the Minkowski difference extends at most this fraction of the scale beyond the origin in some
/// direction, the depth is 0. The value is ten times [`CORE_CONTACT`], because GJK's last simplex
/// contains the origin only to within [`CORE_CONTACT`]. So a vertex beyond this distance is
/// affinely independent of that simplex.
pub const FLAT_DEPTH: f64 = 1e-9;

/// If a new vertex is closer to the plane of a facet than this fraction of the scale, the vertex
/// counts as lying in that plane. EPA then removes the facet as well as the facets that face the
/// vertex. Otherwise EPA would create a sliver, whose normal is dominated by rounding error. The
/// value is well above the rounding error of a facet's plane, and well below [`FLAT_DEPTH`].
pub const COPLANAR_DISTANCE: f64 = 1e-12;

/// The corners of a contact feature are support points in directions that are tilted from the
/// contact normal. This constant is the tangent of the tilt. The tilt exceeds the rounding of a
/// pose to f32, so that a face is recognized. The tilt is also small enough that all corners belong
/// to one face.
pub const CONE_SLOPE: f64 = 0.08;

/// A corner belongs to a feature if the slope from the feature's top to the corner is at most this
/// value. The top is the support point along the contact normal. On a surface of radius r, the
/// support point in a tilted direction is r `CONE_SLOPE` away from the top and r `CONE_SLOPE`² / 2
/// lower. So the slope from the top to this point is `CONE_SLOPE` / 2. The limit, half of that
/// slope, excludes surfaces that are curved in both directions. On a surface that is curved in one
/// direction, the limit excludes both sides of the contact line.
pub const LEVEL_SLOPE: f64 = CONE_SLOPE / 4.0;

/// Points of a manifold are merged if they are closer than this fraction of the scale. The value is
/// eight times the precision of f32, so vertices that only rounding separates are merged, too.
pub const SAME_MANIFOLD_POINT: f64 = 1e-6;

/// The contact lines of two curved surfaces count as overlapping if their distance, as seen along
/// the normal, is at most this fraction of the scale. Rounding a pose to f32 rotates parallel lines
/// by about 1e-7 radians relative to each other. So the contact normal is not exactly perpendicular
/// to both lines. On a surface of radius r, an error of d in the depth moves the contact point by
/// √(2 r d). The constant is this distance for r = 1 and d = 5e-9.
pub const LINE_OVERLAP: f64 = 1e-4;

/// A common point of two contact lines is kept if its distance from each core is at most this
/// fraction of the scale. Over a distance of x, a surface of radius r drops by x² / (2 r). The
/// constant is this drop for x = [`LINE_OVERLAP`] and r = 1/400.
pub const OFF_CORE: f64 = 2e-6;

/// Two edges count as parallel if the squared sine of their angle is at most this value. The cross
/// product of such edges is not precise enough for a depth. Ignoring the product makes the depth
/// too large by at most √1e-15 = 3e-8 of the edges' lengths.
pub const PARALLEL_EDGES: f64 = 1e-15;

/// After an early end of EPA, local searches for a smaller depth start from several directions.
/// This constant is the cosine of the smallest angle between two of these directions, 11 degrees.
pub const DISTINCT_DIRECTIONS: f64 = 0.98;

/// To find the ends of a line on a surface, EPA tilts the normal along the line. This constant is
/// the tangent of the tilt: far above rounding errors, and too small to reach points beyond the
/// line.
pub const LINE_TILT: f64 = 1e-6;

/// A contact normal on a facet counts as equal to the facet's normal if the distance between the
/// two unit vectors is at most this value. A normal counts as parallel to a plane if the sine of
/// their angle is at most this value. The normals of contacts inside a facet have errors of at most
/// 1e-6 (tested by `tests/it/queries/geometry.rs`), because the solvers end exactly on flat faces.
/// Between two curved shapes, the error can reach √[`DEPTH_GAP`], but a facet is flat.
pub const SAME_NORMAL: f64 = 1e-4;

/// A cast ends when the distance between the shapes is at most twice this fraction of the pair's
/// size, which `query/cast/scale.rs` defines. The scale is at most twice the size, so this margin
/// exceeds [`CORE_CONTACT`] of the scale. The value is about 1/500 of [`TOUCHING`].
pub const CAST_MARGIN: f64 = 2.5e-10;

/// If the shapes would move by more than this fraction of the pair's size between the times `safe`
/// and `touching` of a cast, `touching` equals `safe`. The search for a touch ends at the latest
/// when the gap is this fraction of the size. The other half of [`TOUCHING`] allows for the error
/// of the contact.
pub const CAST_TOUCHING: f64 = 0.5 * TOUCHING;

/// If shapes slide along each other, an overlap of at most half of this fraction of the pair's size
/// counts as a miss. Half of this fraction is twice [`TOUCHING`]. Rounding the tangent of a face to
/// f32 gives a slope of 6e-8 over the length of the face. Such a slope increases the overlap of
/// touching shapes, but the shapes still count as a miss.
pub const GRAZING_DEPTH: f64 = 4.0 * TOUCHING;

/// A ray counts as along a surface if the sine of the angle between its direction and the surface
/// is at most this value. The value exceeds the rounding of the direction and of the origin to f32.
pub const TANGENTIAL: f64 = 4.0 * TOUCHING;
