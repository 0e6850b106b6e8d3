//! Rays against convex shapes.

mod types;

use crate::{
    shape::{DVecOf, Support},
    space::{Pose, ShapePose},
};
pub use types::{Ray, RayHit, RaySide};
pub(crate) use types::{RayHitLocal, RayLocal};

/// Returns the first hit of a ray on a shape.
pub fn cast_ray<S: Support + ?Sized>(
    shape: &S,
    pose: impl Into<ShapePose<S::Vector>>,
    ray: impl Into<Ray<S::Vector>>,
) -> Option<RayHit<S::Vector>> {
    let (pose, ray) = (pose.into().valid()?, ray.into().local()?);
    let hit = ray_at_shape(shape, &pose, &ray)?;
    Some(ray.hit_in_world(&hit))
}

/// Returns the first hit of a ray in the world on a shape in a pose.
pub(crate) fn ray_at_shape<S: Support + ?Sized>(
    _shape: &S,
    _pose: &Pose<DVecOf<S>>,
    _ray: &RayLocal<DVecOf<S>>,
) -> Option<RayHitLocal<DVecOf<S>>> {
    None
}
