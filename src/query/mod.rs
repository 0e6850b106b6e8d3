//! Plain functions for contacts, distances and casts of two shapes or colliders, and for ray casts.
//! The functions need no app.
//!
//! | question | function |
//! |---|---|
//! | do they touch? | [`intersects`], [`touch()`] |
//! | where, and how deep? | [`contact()`], [`manifold()`] |
//! | how far apart are they? | [`distance()`] |
//! | when do they first touch in motion? | [`cast_shape`], [`cast_motion`] |
//! | will they hit, and which correction of the motion prevents it? | [`forecast`] |
//! | where does a ray hit? | [`cast_ray`] |
//! | which steps do the algorithms take? | [`steps`] |
//!
//! Both shapes have the same dimension. Each shape has a pose, such as an `Isometry3d`, a `Vec2` or
//! a `Transform`: see [`QueryPose`](crate::QueryPose).
//!
//! * A shape is one of Bevy's primitives, a [`ConvexHull`](crate::ConvexHull), a slice of points,
//!   or a [`Support`](crate::Support) of your own.
//! * A [`Collider`](crate::Collider) is convex, a compound, a surface or a half-space. All
//!   functions except [`touch()`], [`forecast`] and the functions of [`steps`] take colliders.
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
//! * **Frame and units:** all results are in the frame and the units of the world. The solvers
//!   compute in f64, relative to one of the shapes. So the precision depends on the sizes of the
//!   shapes and not on their distance from the origin.
//! * **Touching** counts as a hit, with depth 0 and distance 0. Shapes that are separated by at
//!   most 1.2e-7 of the size of the pair may count as touching, because f32 is no more precise.
//! * **The size of a pair** is the unit of every stated precision. For shapes that touch, this size
//!   lies between half of the larger shape's size and the sum of the two sizes.
//! * **Half-spaces** (`Plane2d`, `InfinitePlane3d`) are solid on the side opposite to their normal.
//!   A half-space has no size: the size of the pair is the size of the other shape. Two half-spaces
//!   never touch, and their distance is infinite.
//! * **The functions agree**: `intersects` returns `true` exactly when `contact` returns a contact,
//!   and exactly when the distance is 0.
//! * **The depth** separates the shapes: moving the second shape by the depth along the normal
//!   leaves the two shapes just touching. The depth exceeds the minimum depth by at most a
//!   millionth of the size of the pair. There is one exception. If both shapes are rotationally
//!   symmetric about the same axis or center, and one shape is deep inside the other, nearly all
//!   directions have the same depth. In a million such cases (`tests/it/queries/grid.rs`), the
//!   depth exceeds the minimum depth by less than 1e-5 of the size.
//! * **The normal** points from the first shape to the second.
//! * **Swapping** the arguments gives the mirror image bit for bit: the normal is negated and the
//!   points are exchanged. The exception is a pair of equal shapes in equal poses, for which both
//!   calls return the same result. Shapes count as equal if their radii and their support points in
//!   fixed directions (25 in 2D, 14 in 3D) are equal.
//! * **No errors:** no query fails or panics. If a pose is not finite, if a support function
//!   returns NaN, or if a radius is negative or NaN, the shapes do not touch, and the distance is
//!   infinite. If a support function returns NaN in some directions only, the query uses the other
//!   directions. Such shapes may touch, and their contact has the minimum depth among the evaluated
//!   directions.
//! * **Finite results:** a length or a vector beyond the range of f32 is shortened to that range.
//!   Only invalid input and two half-spaces have an infinite distance.
//! * **Scale**: the scale of a `Transform` applies to a collider, and is ignored for a shape: see
//!   [`QueryPose`](crate::QueryPose).
//! * **Cost**: every query has a bounded number of iterations. Only contacts and manifolds of
//!   surfaces allocate memory, and the first query near a block of cells.

mod analytic;
mod cast;
mod epa;
mod forecast;
mod functions;
mod gjk;
mod manifold;
mod minkowski;
mod query_partner;
mod ray;
mod results;
mod solver;
pub mod steps;

pub(crate) use analytic::nearest_on_segment;
pub use cast::{CastHit, CastOptions, CastStatus, Motion};
pub(crate) use cast::{CastHit64, Motion64, cast_moving};
pub use forecast::{Forecast, forecast};
pub use functions::{
    Touch, cast_motion, cast_shape, contact, distance, intersects, manifold, touch,
};
pub(crate) use minkowski::{Counter, Pair};
pub use query_partner::{MotionOf, PoseOf, QueryPartner, QueryShape};
pub(crate) use query_partner::{QueryPair, sealed};
pub(crate) use ray::{LocalHit, LocalRay, WorldRay, WorldRayHit, ray_at_shape};
pub use ray::{Ray, RayHit, RaySide, RayTarget, cast_ray};
pub use results::{Contact, Distance, Manifold, ManifoldPoint};
pub(crate) use results::{Contact64, length_to_f32};
pub(crate) use solver::Solver;
