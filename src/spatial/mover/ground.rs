//! The ground of a character, and platforms that carry it.

use bevy::prelude::*;

use crate::{
    math::{DVec3, Vec2, Vec3},
    pipeline::{proxies::ProxySlot, proxy::Proxy},
    space::{DVector, Space},
    spatial::{SpatialQuery, mover::body::BodyTouch, spatial_query::QuerySpace},
};

/// The ground on which a body stands: a result of
/// [`SpatialQuery::move_and_slide`].
///
/// A `Ground` stores a point in the frame of the collider below the body. If that collider moves,
/// [`SpatialQuery::carry`] returns the translation of the point. In 2D, z is 0.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub struct Ground {
    /// The entity of the ground.
    pub entity: Entity,
    /// The unit normal of the ground, which points upwards. At an edge, this is the normal of the
    /// face on which the body stands.
    pub normal: Vec3,
    /// The point of contact.
    pub point: Vec3,
    /// The point below the origin of the body, at the height of the contact.
    foot: DVec3,
    /// The point `foot` in the frame of the ground's collider.
    anchor: DVec3,
}

impl Ground {
    /// Returns the ground that a body at `position` touches.
    pub(super) fn new<V: QuerySpace>(
        query: &SpatialQuery,
        touch: &BodyTouch<V::DVec>,
        position: V::DVec,
        up: V::DVec,
    ) -> Self {
        let foot = position + up * (touch.point - position).dot(up);
        let anchor = proxy_of::<V>(query, touch.entity).and_then(|proxy| {
            let pose = proxy.own_pose();
            Some(pose.inverse_linear()? * (foot - pose.translation))
        });
        Self {
            entity: touch.entity,
            normal: V::from_f64(touch.face_normal).to_vec3(),
            point: V::from_f64(touch.point).to_vec3(),
            foot: DVec3::from(foot.components()),
            anchor: anchor.map_or(DVec3::NAN, |anchor| DVec3::from(anchor.components())),
        }
    }

    /// Returns the translation of the anchor since the ground was found, or 0 if the ground is
    /// gone.
    pub(super) fn translation<V: QuerySpace>(&self, query: &SpatialQuery) -> V::DVec {
        let moved = proxy_of::<V>(query, self.entity).map(|proxy| {
            let pose = proxy.own_pose();
            let anchor = V::DVec::of(self.anchor.to_array());
            let foot = V::DVec::of(self.foot.to_array());
            pose.linear() * anchor + (pose.translation - foot)
        });
        let is_finite = |moved: &V::DVec| V::from_f64(*moved).is_finite();
        moved.filter(is_finite).unwrap_or_default()
    }
}

/// # Moving platforms
impl SpatialQuery<'_, '_> {
    /// Returns the translation of the ground below a body since `ground` was found, including the
    /// effect of the ground's rotation. The result is 0 if the ground was despawned, or if the
    /// translation is not finite. In 2D, z is 0, and `.xy()` returns the `Vec2`.
    ///
    /// [`move_and_slide`](Self::move_and_slide) carries a body without this method if the settings
    /// contain the ground of the previous move.
    pub fn carry(&self, ground: &Ground) -> Vec3 {
        match self.proxies.slot(ground.entity) {
            Some(ProxySlot::D2(_)) => Vec2::from_f64(ground.translation::<Vec2>(self)).to_vec3(),
            Some(ProxySlot::D3(_)) => Vec3::from_f64(ground.translation::<Vec3>(self)),
            _ => Vec3::ZERO,
        }
    }
}

/// Returns the proxy of an entity's collider.
fn proxy_of<'a, V: QuerySpace>(query: &'a SpatialQuery, entity: Entity) -> Option<&'a Proxy<V>> {
    let slot = match query.proxies.slot(entity)? {
        ProxySlot::D2(slot) | ProxySlot::D3(slot) => slot,
        ProxySlot::Inert | ProxySlot::Invalid => return None,
    };
    let proxy = V::arena(&query.proxies).get(slot)?;
    (proxy.entity == entity).then_some(proxy)
}
