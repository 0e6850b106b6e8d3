//! Do two shapes touch, how deep, how far apart? Plain functions on shapes and poses; no app is needed.
//!
//! Each takes any two shapes of the same space: Bevy's primitives, a [`ConvexHull`](crate::ConvexHull), a slice of
//! points, a [`Support`] of your own; and their poses, `Isometry2d` or `Isometry3d`.
//!
//! ```
//! use bevy::prelude::*;
//! use headbutt::query;
//!
//! let (ball, pose_a) = (Sphere::new(1.0), Isometry3d::IDENTITY);
//! let (block, pose_b) = (Cuboid::new(2.0, 2.0, 2.0), Isometry3d::from_xyz(1.5, 0.0, 0.0));
//!
//! assert!(query::intersects(&ball, pose_a, &block, pose_b));
//! let contact = query::contact(&ball, pose_a, &block, pose_b).unwrap();
//! assert_eq!(contact.normal, Vec3::X); // from the ball to the block
//! assert_eq!(contact.depth, 0.5);
//! assert_eq!(query::distance(&ball, pose_a, &block, pose_b).distance, 0.0);
//! ```
//!
//! # What holds for all of them
//!
//! * **Frames and units** are the world's. Inside, a pair is solved in f64 and in the frame of one of the two shapes, so
//!   that precision depends on their sizes and not on the distance from the origin.
//! * **Half-spaces** (`Plane2d`, `InfinitePlane3d`) are solid on the side opposite to their normal, which is the way out of
//!   them. They have no size: that of the pair is the other shape's. Of two half-spaces nothing is asked: they touch
//!   nothing, and their distance is infinite.
//! * **Touching** counts as hit, with depth 0 and distance 0. Shapes that overlap or touch do; so may shapes that are
//!   apart by no more than 1.2e-7 (the relative precision of f32) of the size of the pair, unless the first support points
//!   prove the gap. Here and wherever an accuracy is told, the size of a pair that touches is a length between half of
//!   the larger shape's extent and the sum of both.
//! * **The functions agree**: `intersects` is true exactly where `contact` is some and where `distance` is 0.
//! * **The depth** is a way out: moving the second shape by it along the normal leaves the two touching. No shorter way does,
//!   to a millionth of the size of the pair or better; but of what is deep inside a shape that is round about one axis or
//!   centre, where nearly all ways out are as long, it may exceed the least by more: by less than 1e-5 of the size in all of a
//!   million hard cases (`tests/it/queries/grid.rs`).
//! * **The normal** points from the first shape to the second.
//! * **Swapping** the arguments gives the mirror image to the bit: the normal negated, the points exchanged. Where both
//!   are the same shape in the same pose (or cannot be told apart by their support points in 25 fixed directions, in space 14),
//!   the two calls are one and the same, and so is the normal.
//! * **Errors**: none, and no panic. With a pose that is not finite, a shape that answers NaN, or a radius that is
//!   negative or no number, nothing is hit and the distance is infinite.
//! * **Scale** is not part of an isometry: `Isometry3d::new(transform.translation, transform.rotation)` is where a
//!   `Transform` puts a shape that is not scaled.
//! * **Cost**: no allocation; a bounded number of iterations.

mod analytic;
mod counter;
mod epa;
mod gjk;
mod manifold;
pub(crate) mod minkowski;
mod off_core;
pub(crate) mod simplex;
mod solver;

use crate::{
    shape::{DVecOf, Support},
    space::Space,
};
use analytic::boxes::Blocks;
pub(crate) use counter::Counter;
pub use manifold::{Manifold, ManifoldPoint};
use minkowski::MinkowskiDifference;
pub(crate) use minkowski::Pair;
pub use solver::{Contact, Distance};
pub(crate) use solver::{LocalContact, Solver};

/// Whether two shapes touch.
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
    pose_a: impl Into<<A::Vector as Space>::Isometry>,
    b: &B,
    pose_b: impl Into<<A::Vector as Space>::Isometry>,
) -> bool
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let Some(pair) = pair(a, pose_a, b, pose_b) else {
        return false;
    };
    match Blocks::new(&pair) {
        Some(blocks) => blocks.hit(pair.radius_sum()),
        None => Solver::of_no_blocks(pair).hit(),
    }
}

/// The contact of two shapes, or `None` if they are apart.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let (tile, at) = (Rectangle::new(2.0, 2.0), Isometry2d::from_xy);
/// let contact = query::contact(&tile, at(0.0, 0.0), &tile, at(1.5, 0.25)).unwrap();
/// assert_eq!((contact.normal, contact.depth), (Vec2::X, 0.5));
///
/// // The minimum translation: moving the first tile by it leaves the two touching.
/// let moved = at(0.0, 0.0).translation - contact.normal * contact.depth;
/// assert_eq!(query::contact(&tile, moved, &tile, at(1.5, 0.25)).unwrap().depth, 0.0);
/// ```
pub fn contact<A, B>(
    a: &A,
    pose_a: impl Into<<A::Vector as Space>::Isometry>,
    b: &B,
    pose_b: impl Into<<A::Vector as Space>::Isometry>,
) -> Option<Contact<A::Vector>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let pair = pair(a, pose_a, b, pose_b)?;
    match Blocks::new(&pair) {
        Some(blocks) => {
            let contact = pair.contact_of_blocks(&blocks)?;
            Some(pair.in_world_and_f32(&contact))
        }
        None => {
            let mut solver = Solver::of_no_blocks(pair);
            solver.hit().then(|| contact_of(&mut solver))
        }
    }
}

/// The contact of a pair in f64, or `None` if the shapes are apart.
#[inline]
pub(crate) fn local_contact<A, B>(pair: Pair<A, B>) -> Option<LocalContact<DVecOf<A>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    match Blocks::new(&pair) {
        Some(blocks) => pair.contact_of_blocks(&blocks),
        None => {
            let mut solver = Solver::of_no_blocks(pair);
            solver.hit().then(|| solver.contact())
        }
    }
}

/// The contact of two shapes with the points that hold them apart, up to four of them (two in 2D),
/// or `None` if they are apart.
///
/// For who writes a response of bodies that rest on each other; to push one shape out of another, [`contact`] is enough
/// and cheaper.
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
/// On a half-space, all corners of the other shape's feature count that are not above it:
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
/// The points come of the support functions alone, so every shape has them, your own included. A
/// face or edge that is tilted by more than 0.02 radians against the plane across the normal counts
/// as the edge or vertex that is deepest in it. A surface that bulges by less than 0.02 radians, as
/// that of a hull of hundreds of points, counts as flat: the points are on the plane through its
/// corners, up to a hundredth of the shape's size beneath it. Points of a tilted edge with a radius
/// are off by up to 2.2e-4 of it.
///
/// If the intersection of the faces has at most four corners, the manifold has all of them. If it
/// has more, or a round rim, the manifold has the four points that span the largest area, but
/// always the deepest point. [`Manifold::points`] tells their order. If the faces are flat and
/// parallel, this area is at least 99 % of the largest quadrilateral in the intersection.
pub fn manifold<A, B>(
    a: &A,
    pose_a: impl Into<<A::Vector as Space>::Isometry>,
    b: &B,
    pose_b: impl Into<<A::Vector as Space>::Isometry>,
) -> Option<Manifold<A::Vector>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let pair = pair(a, pose_a, b, pose_b)?;
    let mut solver = match Blocks::new(&pair) {
        Some(blocks) if pair.has_point() => {
            let contact = pair.contact_of_blocks(&blocks)?;
            return Some(Manifold::of(pair.in_world_and_f32(&contact)));
        }
        Some(blocks) if !blocks.hit(pair.radius_sum()) => return None,
        Some(blocks) => Solver::of_blocks(pair, blocks),
        None => Solver::of_no_blocks(pair),
    };
    solver.hit().then(|| manifold_of(&mut solver))
}

/// The distance of two shapes, and their nearest points.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let at = Isometry3d::from_xyz;
/// let apart = query::distance(
///     &Sphere::new(1.0), at(-3.0, 0.0, 0.0),
///     &Capsule3d::new(0.5, 4.0), at(0.0, 1.0, 0.0),
/// );
/// assert_eq!(apart.distance, 1.5);
/// assert_eq!(apart.point_a, Vec3::new(-2.0, 0.0, 0.0));
/// assert_eq!(apart.point_b, Vec3::new(-0.5, 0.0, 0.0));
/// ```
///
/// If a pose is not finite, or a shape answers NaN, or both are half-spaces, the distance is infinite and the points are NaN.
pub fn distance<A, B>(
    a: &A,
    pose_a: impl Into<<A::Vector as Space>::Isometry>,
    b: &B,
    pose_b: impl Into<<A::Vector as Space>::Isometry>,
) -> Distance<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let found = pair(a, pose_a, b, pose_b).and_then(|pair| {
        let mut solver = Solver::new(pair);
        let (distance, nearest) = solver.distance()?;
        let [point_a, point_b] = solver.in_space(&nearest);
        Some(Distance {
            // What is apart is not 0, however little f32 has left of it.
            distance: if distance > 0.0 {
                length_to_f32(distance).max(f32::from_bits(1))
            } else {
                0.0
            },
            point_a,
            point_b,
        })
    });
    found.unwrap_or_else(|| {
        let nowhere = A::Vector::from_f64(A::Vector::default().to_f64() * f64::NAN);
        Distance {
            distance: f32::INFINITY,
            point_a: nowhere,
            point_b: nowhere,
        }
    })
}

/// Tests whether two shapes touch; the [`Hit`] can be asked for the contact afterwards, which then goes on from where
/// the test ended and pays for nothing twice.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query;
///
/// let (a, b, at) = (Circle::new(2.0), Circle::new(1.0), Isometry2d::from_xy);
/// let hit = query::test(&a, at(0.0, 0.0), &b, at(2.0, 0.0)).expect("they overlap");
/// // ... whatever else decides whether the contact matters ...
/// assert_eq!(hit.contact().depth, 1.0);
/// assert!(query::test(&a, at(0.0, 0.0), &b, at(4.0, 0.0)).is_none());
/// ```
pub fn test<'a, A, B>(
    a: &'a A,
    pose_a: impl Into<<A::Vector as Space>::Isometry>,
    b: &'a B,
    pose_b: impl Into<<A::Vector as Space>::Isometry>,
) -> Option<Hit<'a, A, B>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let mut solver = Solver::new(pair(a, pose_a, b, pose_b)?);
    solver.hit().then_some(Hit(solver))
}

/// Two shapes of which [`test()`] has found that they touch.
pub struct Hit<'a, A: Support + ?Sized, B: ?Sized>(Solver<'a, A, B>);

impl<A, B> Hit<'_, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    /// The contact of the two.
    pub fn contact(self) -> Contact<A::Vector> {
        let Self(mut solver) = self;
        contact_of(&mut solver)
    }

    /// The contact of the two with its points: see [`manifold`].
    pub fn manifold(self) -> Manifold<A::Vector> {
        let Self(mut solver) = self;
        manifold_of(&mut solver)
    }
}

/// The manifold of two shapes of which the solver has found that they touch.
#[inline]
fn manifold_of<A, B>(solver: &mut Solver<A, B>) -> Manifold<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let mut manifold = Manifold::empty();
    for contact in &solver.manifold() {
        let [point_a, point_b] = solver.in_space(contact);
        manifold.normal = A::Vector::from_f64(contact.normal);
        manifold.points.push(ManifoldPoint {
            depth: length_to_f32(contact.depth),
            point_a,
            point_b,
        });
    }
    manifold
}

/// The contact of two shapes of which the solver has found that they touch.
#[inline]
fn contact_of<A, B>(solver: &mut Solver<A, B>) -> Contact<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let contact = solver.contact();
    solver.in_world_and_f32(&contact)
}

/// Two shapes in the world, or `None` if a pose is none.
#[inline(always)]
fn pair<'a, A, B>(
    a: &'a A,
    pose_a: impl Into<<A::Vector as Space>::Isometry>,
    b: &'a B,
    pose_b: impl Into<<A::Vector as Space>::Isometry>,
) -> Option<Pair<'a, A, B>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let pose_a = A::Vector::pose(pose_a.into())?;
    let pose_b = A::Vector::pose(pose_b.into())?;
    Some(Pair::new(a, pose_a, b, pose_b))
}

/// A length in f32; what is beyond it is the largest one, because an infinite depth times a normal is NaN.
pub(crate) fn length_to_f32(length: f64) -> f32 {
    length.min(f64::from(f32::MAX)) as f32
}
