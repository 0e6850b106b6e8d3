//! The tolerances of the queries, with their reasons. (Bounds on iterations stand where they bind.)
//!
//! All are relative. Those that are lengths count in the *scale* of the pair: the largest distance from the origin to
//! a vertex of the Minkowski difference met so far, plus both radii. For a pair that overlaps, it lies between half of
//! the larger shape's size and the sum of both sizes, so that metres, pixels and millimetres are the same to the
//! solvers. It can be far less where GJK ends on its first vertices: then [`OFFSET`] bounds it. A half-space has no size:
//! the scale of a pair with one is half of the diagonal of a box around the other shape, plus both radii.

/// The scale is at least this part of the vertices' distances from the origins of their own shapes. A difference of two
/// points is rounded by 1e-16 of their coordinates: for a small shape far from its own origin, more than of its size.
pub const OFFSET: f64 = 1e-5;

/// Shapes no farther apart than this touch, with depth 0. It is what rounding one coordinate of the pair to f32 can do:
/// below it, the input itself cannot tell touching from apart.
pub const TOUCHING: f64 = f32::EPSILON as f64;

/// Cores nearer than this count as in contact, and EPA takes over from GJK. The direction between the nearest points
/// of two cores is known to about 1e-16 of the scale over their distance: here still to 1e-6.
pub const CORE_CONTACT: f64 = 1e-10;

/// GJK ends when the distance exceeds its lower bound by no more than this fraction. For a gap g the direction is off by at
/// most the square root of 2 g: 1.4e-5 here. Polytopes end earlier, on the first vertex that comes twice.
pub const DISTANCE_GAP: f64 = 1e-10;

/// Where rounding stops GJK, a direction whose lower bound is less than the best one by this fraction of the distance is given
/// up for that: it is off by more than 1e-3. Others are better than the best one, because they come later.
pub const PROOF_GAP: f64 = 1e-6;

/// GJK also ends when the bounds differ by no more than some part of the scale, which begins at ROUNDING and grows by this
/// factor with each iteration: to 2e-13 after 20 of them, 4e-11 after 40, 1.5e-8 after 63. Where curved surfaces nearly
/// touch, each iteration gains but a factor of 2 to 4, and a direction that is off by x costs x²/2 of the radius of
/// curvature and not of the gap, so that DISTANCE_GAP alone would ask for more than the direction is worth. Ninety-nine
/// of a hundred pairs end within 20 iterations.
pub const PATIENCE: f64 = 1.3;

/// What f64 leaves undetermined of a product of two vectors of the pair, as a fraction of the product of their lengths:
/// some units in the last place.
pub const ROUNDING: f64 = 1e-15;

/// EPA ends when the depth that it found exceeds its lower bound by no more than this: less than the result, in f32, can
/// show. It binds for smooth shapes, on which EPA converges without end, and between nearly parallel facets; elsewhere
/// the two bounds of a polytope meet.
pub const DEPTH_GAP: f64 = 1e-7;

/// A direction along which the Minkowski difference reaches no farther than this from the origin is the answer: no
/// depth is less than 0. Some times CORE_CONTACT, so that a vertex beyond it is independent of a simplex that holds
/// the origin.
pub const FLAT: f64 = 1e-9;

/// A vertex nearer than this to a facet's plane lies on it, and the facet is replaced along with those that it can be
/// seen from: slivers between nearly coplanar facets are what breaks EPA.
pub const COPLANAR: f64 = 1e-12;

/// The tangent of the angle between a contact's normal and the directions in which the corners of its features are
/// looked for. Wide enough that f32 rounding of a pose does not hide a face, narrow enough to see only one.
pub const CONE: f64 = 0.08;

/// Corners that lie within this slope of the feature's top belong to it. A surface of radius r drops by r CONE² / 2
/// over r CONE to where the cone looks, a slope of CONE / 2: half of that is beyond every surface that is curved both ways,
/// and on both sides of the line along which one touches that is curved one way.
pub const SLOPE: f64 = CONE / 4.0;

/// Points of a manifold nearer than this are one.
pub const SAME_POINT: f64 = 1e-6;

/// The lines along which two curved surfaces touch are on each other if seen no farther apart than this. Where the shapes
/// are turned against each other by as little as rounding a pose does, a normal that is at right angles to one of the lines is
/// off for the other, and where they barely touch, they are seen so far apart.
pub const ASTRAY: f64 = 1e-4;

/// So far off a core a point of two such lines may be.
pub const OFF_SURFACE: f64 = 2e-6;

/// The square of the angle by which two edges are turned from each other at least, to have a direction at right angles to
/// both that is good for a depth. Any other way out is longer by no more than a 3e-8th of the edges.
pub const PARALLEL: f64 = 1e-15;

/// The cosine of the angle that lies at least between two directions from which EPA seeks the way out after an early end: 11
/// degrees.
pub const OPEN_APART: f64 = 0.98;

/// By as much, as a tangent, a direction is tilted to see the ends of a line. Far more than rounding, and little enough to
/// see no more than this line.
pub const LINE_TILT: f64 = 1e-6;

/// The sine of an angle, or the distance of two unit vectors, up to which a normal on a surface is that of a facet. A contact
/// with the inside of a facet has a normal that is off by less: the difference of a facet and any shape has the facet for a
/// face of its own, on which the solvers end. Nothing is left but rounding: 1e-7, as `tests/it/queries/geometry.rs` finds. (Where two curved
/// surfaces touch a normal may be off by more, by the root of [`DEPTH_GAP`]; but a facet has none.)
pub const SAME_NORMAL: f64 = 1e-4;
