//! The contact of two parts, and its conversion to an event.

use crate::{
    collision::{CollisionEvent, CollisionPhase, SurfacePoint},
    pipeline::proxy::{Part, Proxy},
    query::{Contact64, length_to_f32},
    space::{DVector, Space},
};

/// The contact of a part of one proxy and a part of another.
#[derive(Clone, Copy, Debug)]
pub struct PartContact<D> {
    /// The indices of the parts.
    pub parts: (u32, u32),
    /// Its points are relative to the translations of the proxies.
    pub contact: Contact64<D>,
}

impl<D: DVector> PartContact<D> {
    /// Returns the contact of two parts, given with points relative to the parts' translations.
    pub fn of_parts<V: Space<DVec = D>>(
        (a, part_a): (&Proxy<V>, &Part<V>),
        (b, part_b): (&Proxy<V>, &Part<V>),
        contact: &Contact64<D>,
    ) -> Self {
        let offset = |proxy: &Proxy<V>, part: &Part<V>| {
            part.world_pose.translation - proxy.world_pose.translation
        };
        Self {
            parts: (part_a.index, part_b.index),
            contact: contact.moved([offset(a, part_a), offset(b, part_b)]),
        }
    }

    /// Returns the same contact as seen from the second proxy.
    pub fn flipped(&self) -> Self {
        Self {
            parts: (self.parts.1, self.parts.0),
            contact: self.contact.flipped(),
        }
    }
}

/// Returns a contact as an event.
#[inline]
pub fn event<V: Space>(
    a: &Proxy<V>,
    b: &Proxy<V>,
    PartContact { parts, contact }: &PartContact<V::DVec>,
) -> CollisionEvent {
    let surface = |proxy: &Proxy<V>, part: u32, offset: V::DVec| SurfacePoint {
        part,
        translation: V::from_f64(proxy.world_pose.translation).to_vec3(),
        offset: V::from_f64(offset).to_vec3(),
    };
    CollisionEvent {
        entity: a.entity,
        other: b.entity,
        phase: CollisionPhase::Ongoing,
        normal: V::from_f64(contact.normal).to_vec3(),
        depth: length_to_f32(contact.depth),
        surface: surface(a, parts.0, contact.offset_a),
        other_surface: surface(b, parts.1, contact.offset_b),
        are_sensors: [a.markers.is_sensor, b.markers.is_sensor],
        time: 1.0,
    }
}
