//! Ray casts against convex shapes.
//!
//! An app calls [`cast_ray`]. For a convex collider or a part, `collider_query/ray.rs` calls
//! [`ray_at_shape`] or [`LocalRay::first_hit`].
//!
//! | file | contents |
//! |---|---|
//! | `types.rs` | the public types, and rays and hits in f64 |
//! | `solve.rs` | the hit of a ray, from the chord of its line |
//! | `general.rs` | an end of the chord for any support function |
//!
//! The closed forms of chords are in `shape/elements/chord.rs`.

mod general;
mod solve;
mod types;

use crate::{
    query::{QueryShape, query_partner::PoseOf},
    shape::{DVecOf, Support},
    space::{DVector, Pose, QueryPose, Space},
};
pub(crate) use types::{LocalHit, LocalRay, WorldRay, WorldRayHit};
pub use types::{Ray, RayHit, RaySide};

/// Returns the first hit of a ray on a shape.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query::{self, Ray, RaySide};
///
/// let (cube, at) = (Cuboid::new(2.0, 2.0, 2.0), Isometry3d::from_xyz(0.0, 0.0, -5.0));
/// let hit = query::cast_ray(&cube, at, Ray::new(Vec3::ZERO, Vec3::NEG_Z)).unwrap();
/// assert_eq!((hit.distance, hit.point, hit.normal), (4.0, Vec3::new(0.0, 0.0, -4.0), Vec3::Z));
///
/// // A ray from inside hits a solid shape at once. A hollow ray hits the far side.
/// let from_inside = Ray::new(Vec3::new(0.0, 0.0, -5.0), Vec3::X);
/// let hit = query::cast_ray(&cube, at, from_inside).unwrap();
/// assert_eq!((hit.distance, hit.normal, hit.side), (0.0, Vec3::NEG_X, RaySide::Inside));
/// let hit = query::cast_ray(&cube, at, from_inside.hollow()).unwrap();
/// assert_eq!((hit.distance, hit.normal, hit.side), (1.0, Vec3::NEG_X, RaySide::Back));
/// ```
///
/// A ray hits only a [`Collider`](crate::Collider) of its own dimension.
///
/// # The start of the ray
///
#[cfg_attr(
    doc,
    doc = "![Solid and hollow rays from outside and from inside][rays]\n\n"
)]
#[cfg_attr(doc, doc = include_str!("../../../docs/pictures.md"))]
/// * A ray that begins inside the shape, or on its surface with a direction into the shape, hits a
///   solid shape at distance 0.
/// * A ray that begins on the surface, with a direction outward or along the surface, misses the
///   shape. A shape without volume, such as a segment, has no inside, so a ray that begins on the
///   shape misses.
/// * "On the surface" includes the rounding of the ray's origin along the normal. This rounding is
///   1.2e-7 of each coordinate (one unit in the last place of f32), plus 1.2e-7 of the distance
///   from the shape's origin. So a ray still leaves a surface if rounding has moved the ray's
///   origin behind the surface.
/// * A ray that begins in front of a surface and points to the surface hits the surface, however
///   small the gap is. So no ray passes through a wall. There is one exception: a
///   [hollow](Ray#structfield.hollow) ray that begins in front of a solid, but within the rounding
///   of its surface, hits the far side of the solid.
///
/// A ray can begin where another ray hit: as seen from that ray, [`RayHit::point`] is not behind
/// the tangent plane of the surface. So a ray that begins at this point, and does not point into
/// that plane, never hits the same convex shape or facet again. This holds on both sides of a
/// surface, at any distance from the origin of the world.
///
/// # Precision
///
/// The distance is computed in f64, and its error is the rounding to f32, except where the ray
/// grazes a curved surface. There are closed forms for half-spaces, for 2D hulls of up to 16 edges,
/// and for Bevy's primitives except `Segment3d`, `Triangle2d`, `RegularPolygon` and
/// `ConvexPolygon`. All other shapes are solved by their support functions. A ray hits points,
/// segments in 3D, and flat shapes in the plane of the ray if the ray passes within 1.2e-7 times
/// their size.
///
/// If the shape, its pose or the ray is invalid, the ray misses: see [`Ray`].
pub fn cast_ray<S: RayTarget<V> + ?Sized, V: Space>(
    shape: &S,
    pose: impl Into<PoseOf<S>>,
    ray: impl Into<Ray<V>>,
) -> Option<RayHit<V>> {
    shape.cast_ray(pose.into(), ray.into())
}

/// A shape or a collider for [`cast_ray`]. The vector `V` of the rays is `Vec2` or `Vec3`.
///
/// The trait is sealed. To cast rays at a shape of your own, implement [`Support`].
#[diagnostic::on_unimplemented(
    message = "a ray of `{V}` cannot be cast at `{Self}`",
    label = "not a convex shape of this dimension or a `Collider`",
    note = "a concave shape is a `Collider`: write `Collider::compound`, `Collider::trimesh` or \
        `Collider::polyline`",
    note = "pass a reference to the collider itself: `&*collider` for a `Ref`, `Mut` or `Box`"
)]
pub trait RayTarget<V: Space>: QueryShape {
    /// See [`cast_ray`].
    #[doc(hidden)]
    fn cast_ray(&self, pose: PoseOf<Self>, ray: Ray<V>) -> Option<RayHit<V>>;
}

impl<S: Support + ?Sized> RayTarget<S::Vector> for S {
    fn cast_ray(
        &self,
        pose: QueryPose<S::Vector>,
        ray: Ray<S::Vector>,
    ) -> Option<RayHit<S::Vector>> {
        let (pose, ray) = (pose.0?, ray.in_f64()?);
        let hit = ray_at_shape(self, &pose, &ray)?;
        Some(ray.hit_in_world(&hit))
    }
}

/// Returns the first hit of a ray in the world on a shape in a pose.
pub(crate) fn ray_at_shape<S: Support + ?Sized>(
    shape: &S,
    pose: &Pose<DVecOf<S>>,
    ray: &WorldRay<DVecOf<S>>,
) -> Option<WorldRayHit<DVecOf<S>>> {
    let inverse = DVecOf::<S>::transpose(pose.rotation);
    let rounding = |normal| ray.rounding_along(pose.rotation * normal);
    let hit = ray
        .mapped(inverse, pose.translation)
        .first_hit(shape, 0.0, &rounding)?;
    ray.hit_of_local(&hit, pose.rotation * hit.normal, 0)
}
