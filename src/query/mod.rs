//! Plain functions for two shapes or colliders: do they touch, where, at what distance, and when if
//! they move? What does a ray hit? No app is needed.
//!
//! | question | function |
//! |---|---|
//! | do they touch? | [`intersects`], [`touch()`] |
//! | where, and how deep? | [`contact()`], [`manifold()`] |
//! | how far apart are they? | [`distance()`] |
//! | when do they first touch in motion? | [`cast_shape`], [`cast_motion`] |
//! | will they hit, and which correction of the motion prevents it? | [`forecast`] |
//! | where does a ray hit? | [`cast_ray`] |
//! | how do the algorithms find that out? | [`steps`] |
//!
//! Both arguments are of the same dimension, each with its pose, such as `Isometry3d`, `Vec2` or
//! `Transform`: see [`ShapePose`].
//!
//! * A shape is one of Bevy's primitives, a [`ConvexHull`](crate::ConvexHull), a slice of points,
//!   or a [`Support`] of your own.
//! * A [`Collider`](crate::Collider) is convex, a compound, a surface or a half-space, and its pose
//!   is a [`ColliderPose`](crate::ColliderPose). All functions except [`touch()`] and
//!   [`forecast`] take colliders.
//!
//! ```
//! use bevy::prelude::*;
//! use headbutt::query;
//!
//! let (ball, pose_a) = (Sphere::new(1.0), Isometry3d::IDENTITY);
//! let (cube, pose_b) = (Cuboid::new(2.0, 2.0, 2.0), Isometry3d::from_xyz(1.5, 0.0, 0.0));
//!
//! assert!(query::intersects(&ball, pose_a, &cube, pose_b));
//! let contact = query::contact(&ball, pose_a, &cube, pose_b).unwrap();
//! assert_eq!(contact.normal, Vec3::X); // from the ball to the cube
//! assert_eq!(contact.depth, 0.5);
//! assert_eq!(query::distance(&ball, pose_a, &cube, pose_b).distance, 0.0);
//! ```
//!
//! # Guarantees
//!
//! * **Frames and units** are those of the world. The solvers compute in f64, relative to one of
//!   the shapes. So the precision depends on the sizes of the shapes and not on their distance from
//!   the origin.
//! * **Touching** counts as a hit, with depth 0 and distance 0. Shapes that are separated by at
//!   most 1.2e-7 of the size of the pair may count as touching, because f32 is no more precise than
//!   that.
//! * **The size of a pair** is the unit of every stated precision. For shapes that touch, it is a
//!   length between half of the larger shape's size and the sum of both sizes.
//! * **Half-spaces** (`Plane2d`, `InfinitePlane3d`) are solid on the side opposite to their normal.
//!   They have no size: the size of the pair is the size of the other shape. Two half-spaces never
//!   touch, and their distance is infinite.
//! * **The functions agree**: `intersects` is true exactly if `contact` returns a contact, and
//!   exactly if `distance` is 0.
//! * **The depth** separates the shapes: moving the second shape by the depth along the normal
//!   leaves both just touching. No shorter translation does, to a millionth of the size of the pair
//!   or better. There is one exception: if a shape is deep inside another one that is rotationally
//!   symmetric about the same axis or center, nearly all directions have the same depth. In a
//!   million such cases (`tests/it/queries/grid.rs`), the depth exceeds the minimum by less than
//!   1e-5 of the size.
//! * **The normal** points from the first shape to the second.
//! * **Swapping** the arguments gives the mirror image bit for bit: the normal is negated and the
//!   points are exchanged. The exception is a pair of equal shapes in equal poses, for which both
//!   calls return the same result. (Shapes count as equal if their support points are equal in a
//!   fixed set of directions: 25 in 2D, 14 in 3D.)
//! * **No errors:** no query fails or panics. If a pose is not finite, if a support function
//!   returns NaN, or if a radius is negative or NaN, nothing touches, and the distance is infinite.
//!   If a support function returns NaN in some directions only, the others count. Then shapes may
//!   touch, with the contact of minimum depth among the directions that were evaluated.
//! * **Finite results:** a length or vector beyond the range of f32 is shortened to it. Only the
//!   distance of shapes that have none is infinite.
//! * **Scale**: the scale of a `Transform` counts for a collider. It is ignored for a shape, whose
//!   pose has no scale: see [`ShapePose`].
//! * **Cost**: a bounded number of iterations, and no allocation, except for contacts and manifolds
//!   of surfaces.

mod analytic;
mod cast;
mod counter;
mod epa;
mod epa_refine;
mod forecast;
mod gjk;
mod manifold;
pub(crate) mod minkowski;
pub(crate) mod pair_queries;
mod penetration;
mod point_distance;
mod query_partner;
mod ray;
mod results;
pub(crate) mod simplex;
mod solver;
pub mod steps;
mod traced_pair;

use crate::{shape::Support, space::ShapePose};
pub use cast::{Cast, CastOptions, Motion, cast_motion, cast_shape};
pub(crate) use cast::{Cast64, Motion64, cast_moving};
pub(crate) use counter::Counter;
pub use forecast::{Forecast, forecast};
pub(crate) use minkowski::Pair;
pub(crate) use pair_queries::contact64;
use pair_queries::{contact_of, manifold_of};
pub use query_partner::QueryPartner;
pub(crate) use query_partner::sealed;
pub(crate) use ray::{LocalHit, LocalRay, WorldRay, WorldRayHit, ray_at_shape};
pub use ray::{Ray, RayHit, RaySide, RayTarget, cast_ray};
pub use results::{Contact, Distance, Manifold, ManifoldPoint};
pub(crate) use results::{Contact64, length_to_f32};
pub(crate) use solver::Solver;

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
pub fn intersects<A, B>(
    a: &A,
    pose_a: impl Into<A::Pose>,
    b: &B,
    pose_b: impl Into<A::OtherPose>,
) -> bool
where
    A: QueryPartner<B> + ?Sized,
    B: ?Sized,
{
    a.intersects(pose_a.into(), b, pose_b.into())
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
/// // The minimum translation: moving the first tile by it leaves both just touching.
/// let moved = at(0.0, 0.0).translation - contact.normal * contact.depth;
/// assert_eq!(query::contact(&tile, moved, &tile, at(1.5, 0.25)).unwrap().depth, 0.0);
/// ```
pub fn contact<A, B>(
    a: &A,
    pose_a: impl Into<A::Pose>,
    b: &B,
    pose_b: impl Into<A::OtherPose>,
) -> Option<Contact<A::Vector>>
where
    A: QueryPartner<B> + ?Sized,
    B: ?Sized,
{
    a.contact(pose_a.into(), b, pose_b.into())
}

/// Returns the contact of two shapes with up to four points (two in 2D), or `None` if they do not
/// touch.
///
/// Use it for a physics response of bodies that rest on each other. To push one shape out of
/// another, [`contact`] is enough and cheaper.
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
/// On a half-space, the points are corners of the other shape's face that are not above the plane:
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
/// The points come from the support functions alone, so manifolds work for every shape, including
/// your own.
///
/// * A face or an edge that is tilted by more than 0.02 radians against the contact plane counts as
///   its deepest edge or vertex.
/// * A surface that curves by less than 0.02 radians, such as a hull of hundreds of points, counts
///   as flat. The points are on the plane through its corners, up to 1 % of the shape's size
///   below the surface.
/// * On a tilted edge with a radius, the points have errors of up to 2.2e-4 of the radius.
///
/// If the intersection of the faces has at most four corners, the manifold consists of its corners.
/// If it has more, or a round rim, the manifold has the four points that span the largest area. The
/// deepest point is always included. [`Manifold::points`] documents the order. If the faces are
/// flat and parallel, the area is at least 99 % of the area of the largest quadrilateral in the
/// intersection. If they are tilted by less than 0.02 radians and touch everywhere, it is at least
/// 90 % of the area of the largest one that has the deepest point as a corner, in 20,000 random
/// pairs (`tests/it/queries/manifold_area.rs`).
pub fn manifold<A, B>(
    a: &A,
    pose_a: impl Into<A::Pose>,
    b: &B,
    pose_b: impl Into<A::OtherPose>,
) -> Option<Manifold<A::Vector>>
where
    A: QueryPartner<B> + ?Sized,
    B: ?Sized,
{
    a.manifold(pose_a.into(), b, pose_b.into())
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
pub fn distance<A, B>(
    a: &A,
    pose_a: impl Into<A::Pose>,
    b: &B,
    pose_b: impl Into<A::OtherPose>,
) -> Distance<A::Vector>
where
    A: QueryPartner<B> + ?Sized,
    B: ?Sized,
{
    a.distance(pose_a.into(), b, pose_b.into())
}

/// Tests whether two shapes touch, and returns a [`Touch`] that can compute the contact later. That
/// computation continues where the test ended, and repeats none of its work.
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
/// It takes only convex shapes, not a [`Collider`](crate::Collider).
pub fn touch<'a, A, B>(
    a: &'a A,
    pose_a: impl Into<ShapePose<A::Vector>>,
    b: &'a B,
    pose_b: impl Into<ShapePose<A::Vector>>,
) -> Option<Touch<'a, A, B>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let mut solver = Solver::new(query_partner::pair(a, pose_a.into(), b, pose_b.into())?);
    solver.hit().then_some(Touch(solver))
}

/// Two shapes that touch, the result of [`touch()`].
pub struct Touch<'a, A: Support + ?Sized, B: ?Sized>(Solver<'a, A, B>);

impl<A, B> Touch<'_, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    /// Returns the contact.
    pub fn contact(self) -> Contact<A::Vector> {
        let Self(mut solver) = self;
        contact_of(&mut solver)
    }

    /// Returns the contact with its points: see [`manifold()`].
    pub fn manifold(self) -> Manifold<A::Vector> {
        let Self(mut solver) = self;
        manifold_of(&mut solver)
    }
}
