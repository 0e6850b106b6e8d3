//! The conversion of a contact to an event. The narrow phase and the casts of swept colliders call
//! [`event`] for each contact.

use crate::{
    collision::{CollisionEvent, CollisionPhase, SurfacePoint},
    pipeline::proxy::Proxy,
    placed::PartContact,
    query::length_to_f32,
    space::Space,
};

/// Returns the event that reports a contact.
#[inline]
pub fn event<V: Space>(
    a: &Proxy<V>,
    b: &Proxy<V>,
    PartContact { parts, contact }: &PartContact<V::DVec>,
) -> CollisionEvent {
    let surface = |proxy: &Proxy<V>, part: u32, offset: V::DVec| {
        let own = proxy.own_pose().translation;
        SurfacePoint {
            part: proxy.own_part(part),
            translation: V::from_f64(own).to_vec3(),
            offset: V::from_f64(offset + (proxy.world_pose.translation - own)).to_vec3(),
        }
    };
    CollisionEvent {
        entity: a.entity,
        other: b.entity,
        phase: CollisionPhase::Ongoing,
        normal: V::from_f64(contact.normal).to_vec3(),
        depth: length_to_f32(contact.depth),
        surface: surface(a, parts.0, contact.offset_a),
        other_surface: surface(b, parts.1, contact.offset_b),
        owners: [a.party().owner(), b.party().owner()],
        are_sensors: [a.traits.is_sensor, b.traits.is_sensor],
        time: 1.0,
    }
}
