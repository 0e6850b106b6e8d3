//! Rays against colliders.

use crate::{
    pipeline::Proxy,
    query::{RayHitLocal, RayLocal},
    space::Space,
};

/// Returns the first hit of a ray in the world on a collider.
pub(crate) fn ray_at_proxy<V: Space>(
    proxy: &Proxy<V>,
    ray: &RayLocal<V::DVec>,
) -> Option<RayHitLocal<V::DVec>> {
    let mut first = None;
    visit_ray_at_proxy(proxy, ray, &mut |hit| {
        first = Some(hit);
        hit.distance
    });
    first
}

/// Calls `visit` with the first hit of a ray on each part of a collider that it hits. `visit`
/// returns the new maximum distance.
pub(crate) fn visit_ray_at_proxy<V: Space>(
    _proxy: &Proxy<V>,
    _ray: &RayLocal<V::DVec>,
    _visit: &mut dyn FnMut(RayHitLocal<V::DVec>) -> f64,
) {
}
