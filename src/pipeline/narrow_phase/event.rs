//! Conversion of a contact to an event.

use crate::{
    collision::{CollisionEvent, CollisionPhase, SurfacePoint},
    pipeline::proxy::Proxy,
    query::{LocalContact, length_to_f32},
    space::{Pose, Space},
};

/// Returns the contact of two parts as an event, given their part indices and poses.
#[inline]
pub fn event<V: Space>(
    (a, part_a, pose_a): (&Proxy<V>, u32, Pose<V::DVec>),
    (b, part_b, pose_b): (&Proxy<V>, u32, Pose<V::DVec>),
    contact: &LocalContact<V::DVec>,
) -> CollisionEvent {
    let surface = |proxy: &Proxy<V>, part: u32, pose: Pose<V::DVec>, offset: V::DVec| {
        let translation = proxy.world_pose.translation;
        SurfacePoint {
            part,
            translation: V::from_f64(translation).to_vec3(),
            offset: V::from_f64(offset + (pose.translation - translation)).to_vec3(),
        }
    };
    CollisionEvent {
        entity: a.entity,
        other: b.entity,
        phase: CollisionPhase::Ongoing,
        normal: V::from_f64(contact.normal).to_vec3(),
        depth: length_to_f32(contact.depth),
        surface: surface(a, part_a, pose_a, contact.offset_a),
        other_surface: surface(b, part_b, pose_b, contact.offset_b),
    }
}
