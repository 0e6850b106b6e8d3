//! The functions that take two shapes or colliders: [`intersects`], [`contact()`], [`manifold()`],
//! [`distance()`], [`cast_shape`], [`cast_motion`] and [`touch()`].
//!
//! An app calls these functions at any time. Each function except [`touch()`] calls
//! [`QueryPartner::pair`] for its arguments, and then a method of [`QueryPair`].

use crate::{
    query::{
        CastHit, CastOptions, Contact, Distance, Manifold, Motion, Pair, QueryPartner, QueryShape,
        Solver,
        query_partner::{MotionOf, PoseOf, QueryPair, pair},
    },
    shape::Support,
    space::QueryPose,
};

/// Returns `true` if two shapes overlap or touch.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let triangle = [Vec2::ZERO, Vec2::X, Vec2::Y];
/// let circle = Circle::new(0.5);
/// let at = Isometry2d::from_xy;
/// assert!(query::intersects(&triangle, at(0.0, 0.0), &circle, at(-0.5, 0.5)));
/// assert!(!query::intersects(&triangle, at(0.0, 0.0), &circle, at(1.0, 1.0)));
/// ```
pub fn intersects<A: QueryPartner<B> + ?Sized, B: QueryShape + ?Sized>(
    a: &A,
    pose_a: impl Into<PoseOf<A>>,
    b: &B,
    pose_b: impl Into<PoseOf<B>>,
) -> bool {
    let pair = a.pair(Motion::still(pose_a), b, Motion::still(pose_b));
    pair.is_some_and(QueryPair::intersects)
}

/// Returns the contact of two shapes, or `None` if they do not touch.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let (tile, at) = (Rectangle::new(2.0, 2.0), Isometry2d::from_xy);
/// let contact = query::contact(&tile, at(0.0, 0.0), &tile, at(1.5, 0.25)).unwrap();
/// assert_eq!((contact.normal, contact.depth), (Vec2::X, 0.5));
///
/// // After moving the first tile by the minimum translation, the tiles just touch.
/// let moved = at(0.0, 0.0).translation - contact.normal * contact.depth;
/// assert_eq!(query::contact(&tile, moved, &tile, at(1.5, 0.25)).unwrap().depth, 0.0);
/// ```
pub fn contact<A: QueryPartner<B> + ?Sized, B: QueryShape + ?Sized>(
    a: &A,
    pose_a: impl Into<PoseOf<A>>,
    b: &B,
    pose_b: impl Into<PoseOf<B>>,
) -> Option<Contact<A::Vector>> {
    let pair = a.pair(Motion::still(pose_a), b, Motion::still(pose_b));
    pair.and_then(QueryPair::contact)
}

/// Returns the contact of two shapes with up to four points (two in 2D), or `None` if they do not
/// touch.
///
/// Use a manifold for the physics response of bodies that rest on each other. To push one shape out
/// of another, [`contact`] is enough and takes less time.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let (floor, crate_) = (Cuboid::new(10.0, 1.0, 10.0), Cuboid::new(1.0, 1.0, 1.0));
/// let resting = Isometry3d::from_xyz(0.0, 0.75, 0.0);
/// let manifold = query::manifold(&floor, Isometry3d::IDENTITY, &crate_, resting).unwrap();
/// assert_eq!(manifold.normal, Vec3::Y);
/// assert_eq!(manifold.points().len(), 4); // the corners of the crate's lower face
/// assert!(manifold.points().iter().all(|point| point.depth == 0.25));
/// ```
///
/// On a half-space, the points are those corners of the other shape's face that are not above the
/// plane:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let (ground, crate_) = (InfinitePlane3d::new(Vec3::Y), Cuboid::new(1.0, 1.0, 1.0));
/// let resting = Isometry3d::from_xyz(1e4, 0.25, 0.0);
/// let manifold = query::manifold(&ground, Isometry3d::IDENTITY, &crate_, resting).unwrap();
/// assert_eq!(manifold.points().len(), 4);
/// assert!(manifold.points().iter().all(|point| point.depth == 0.25));
/// ```
///
/// # Precision
///
/// A support function is enough to compute a manifold, so every shape has manifolds, including your
/// own.
///
/// * If a face or an edge is tilted by more than 0.02 radians against the contact plane, the
///   manifold uses only its deepest edge or vertex.
/// * A surface that curves by less than 0.02 radians, such as a hull of hundreds of points, counts
///   as flat. The points are on the plane through the surface's corners, up to 1 % of the shape's
///   size below the surface.
/// * On a tilted edge with a radius, the points have errors of up to 2.2e-4 of the radius.
///
/// If the intersection of the faces has at most four corners, these corners are the manifold. If
/// the intersection has more corners or a round rim, the manifold has the four points that span the
/// largest area. The deepest point is always included. [`Manifold::points`] documents the order of
/// the points. If the faces are flat and parallel, the manifold spans at least 99 % of the area of
/// the largest quadrilateral in the intersection. For faces that are tilted by less than 0.02
/// radians and touch everywhere, only quadrilaterals with the deepest point as a corner are
/// compared. In 20,000 random pairs (`tests/it/queries/manifold_area.rs`), the manifold spans at
/// least 90 % of the area of the largest such quadrilateral.
pub fn manifold<A: QueryPartner<B> + ?Sized, B: QueryShape + ?Sized>(
    a: &A,
    pose_a: impl Into<PoseOf<A>>,
    b: &B,
    pose_b: impl Into<PoseOf<B>>,
) -> Option<Manifold<A::Vector>> {
    let pair = a.pair(Motion::still(pose_a), b, Motion::still(pose_b));
    pair.and_then(QueryPair::manifold)
}

/// Returns the distance between two shapes, and their nearest points.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let at = Isometry3d::from_xyz;
/// let separated = query::distance(
///     &Sphere::new(1.0), at(-3.0, 0.0, 0.0),
///     &Capsule3d::new(0.5, 4.0), at(0.0, 1.0, 0.0),
/// );
/// assert_eq!(separated.distance, 1.5);
/// assert_eq!(separated.point_a, Vec3::new(-2.0, 0.0, 0.0));
/// assert_eq!(separated.point_b, Vec3::new(-0.5, 0.0, 0.0));
/// ```
///
/// If a pose is not finite, if a shape is invalid, or if both shapes are half-spaces, the distance
/// is infinite and the points are NaN.
pub fn distance<A: QueryPartner<B> + ?Sized, B: QueryShape + ?Sized>(
    a: &A,
    pose_a: impl Into<PoseOf<A>>,
    b: &B,
    pose_b: impl Into<PoseOf<B>>,
) -> Distance<A::Vector> {
    let pair = a.pair(Motion::still(pose_a), b, Motion::still(pose_b));
    pair.map_or_else(Distance::infinite, QueryPair::distance)
}

/// Returns the first touch of two shapes under linear motion.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query::{self, CastOptions};
///
/// let (ball, wall) = (Sphere::new(1.0), Cuboid::new(2.0, 10.0, 10.0));
/// let hit = query::cast_shape(
///     &ball, Vec3::ZERO, Vec3::X * 8.0,
///     &wall, Vec3::X * 6.0, Vec3::ZERO,
///     CastOptions::default(),
/// );
/// let hit = hit.expect("the wall is in the way");
/// assert!((hit.touching - 0.5).abs() < 1e-9); // after 4 of 8 units
/// assert_eq!(hit.contact.normal, Vec3::X);
/// ```
///
/// Returns `None` if the shapes do not touch during the motion, or if they only slide along each
/// other's surface without overlapping. Invalid shapes, poses and motions never hit.
#[inline(always)]
pub fn cast_shape<A: QueryPartner<B> + ?Sized, B: QueryShape + ?Sized>(
    a: &A,
    pose_a: impl Into<PoseOf<A>>,
    translation_a: A::Vector,
    b: &B,
    pose_b: impl Into<PoseOf<B>>,
    translation_b: A::Vector,
    options: CastOptions,
) -> Option<CastHit<A::Vector>> {
    let motion_a = Motion::linear(pose_a, translation_a);
    let motion_b = Motion::linear(pose_b, translation_b);
    a.pair(motion_a, b, motion_b)?.cast(options)
}

/// Returns the first touch of two shapes under linear and angular motion, or `None` in the same
/// cases as [`cast_shape`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query::{self, CastOptions, Motion};
///
/// // A door of width 2 swings around its hinge by a quarter turn, and hits a ball.
/// let door = [Vec2::ZERO, Vec2::X * 2.0];
/// let swing = Motion::still(Vec2::ZERO).rotated(core::f32::consts::FRAC_PI_2);
/// let (ball, center) = (Circle::new(0.5), Vec2::Y);
/// let hit = query::cast_motion(&door, swing, &ball, center, CastOptions::default());
/// let hit = hit.expect("the ball is in the way");
/// // At 60 degrees, the ball's center is at a distance of cos(60°) = 0.5 from the door.
/// assert!((hit.safe - 2.0 / 3.0).abs() < 1e-6);
/// ```
///
/// # Precision
///
/// * Whatever the rotation, the motion up to the time `safe` is certainly free of hits: a
///   separating plane proves each step. The error of `touching` is about 1e-9 of the size of the
///   pair, divided by the closing speed.
/// * Shapes that slide along each other are a miss if they overlap by at most 2.4e-7 of the size of
///   the pair. Such shapes are a hit if they overlap by 4.8e-7 or more. If a motion ends at the
///   touch, the cast decides as if the motion continued.
/// * An f64 resolves times to 1e-16 of the motion. Shapes that move farther than the touching
///   tolerance in 1e-16 of the motion may not yet touch at `touching`.
/// * A motion with a rotation of more than 10,000 radians is invalid.
/// * The number of steps is limited to 8,192. Only shapes that rotate thousands of times within the
///   touching tolerance reach the limit. In that case, the result is a hit, and `safe` is the time
///   of the last step that was proved.
#[inline(always)]
pub fn cast_motion<A: QueryPartner<B> + ?Sized, B: QueryShape + ?Sized>(
    a: &A,
    motion_a: impl Into<MotionOf<A>>,
    b: &B,
    motion_b: impl Into<MotionOf<B>>,
    options: CastOptions,
) -> Option<CastHit<A::Vector>> {
    a.pair(motion_a.into(), b, motion_b.into())?.cast(options)
}

/// Tests if two shapes touch. If they touch, returns a [`Touch`], which can compute the contact
/// later without repeating the work of the test.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let (a, b, at) = (Circle::new(2.0), Circle::new(1.0), Isometry2d::from_xy);
/// let hit = query::touch(&a, at(0.0, 0.0), &b, at(2.0, 0.0)).expect("they overlap");
/// // ... decide whether the contact is needed ...
/// assert_eq!(hit.contact().depth, 1.0);
/// assert!(query::touch(&a, at(0.0, 0.0), &b, at(4.0, 0.0)).is_none());
/// ```
///
/// This function takes only convex shapes, not a [`Collider`](crate::Collider).
pub fn touch<'a, A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &'a A,
    pose_a: impl Into<QueryPose<A::Vector>>,
    b: &'a B,
    pose_b: impl Into<QueryPose<A::Vector>>,
) -> Option<Touch<'a, A, B>> {
    let mut solver = Solver::new(pair(a, pose_a.into(), b, pose_b.into())?);
    solver.hit().then_some(Touch(solver))
}

/// Two shapes that touch: the result of [`touch()`].
pub struct Touch<'a, A, B>(Solver<Pair<'a, A, B>>)
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized;

impl<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> Touch<'_, A, B> {
    /// Returns the contact of the two shapes.
    pub fn contact(self) -> Contact<A::Vector> {
        let Self(mut solver) = self;
        solver.contact_in_world()
    }

    /// Returns the contact of the two shapes with up to four points: see [`manifold()`].
    pub fn manifold(self) -> Manifold<A::Vector> {
        let Self(mut solver) = self;
        solver.manifold_in_world()
    }
}
