//! The contact of two parts. [`PartContact::of_parts`] is called for each contact of two parts. The
//! function makes the points relative to the translations of the colliders.

use crate::{
    placed::PlacedShape,
    query::{Contact64, length_to_f32},
    shape::swap_if,
    space::{DVector, Space},
};

/// The contact of a part of one collider and a part of another collider.
#[derive(Clone, Copy, Debug)]
pub struct PartContact<D> {
    /// The indices of the parts.
    pub parts: (u32, u32),
    /// The contact, with points relative to the translations of the colliders.
    pub contact: Contact64<D>,
}

impl<D: DVector> PartContact<D> {
    /// Creates the contact of two parts from `contact`, whose points are relative to the parts'
    /// translations. `origins` are the translations of the colliders.
    pub fn of_parts<V: Space<DVec = D>, S>(
        origins: [D; 2],
        parts: [&PlacedShape<V, S>; 2],
        contact: &Contact64<D>,
    ) -> Self {
        Self {
            parts: parts.map(|part| part.index).into(),
            contact: contact.moved(offsets(origins, parts)),
        }
    }

    /// If `is_swapped`, returns the contact as seen from the second collider. Otherwise returns the
    /// contact unchanged.
    pub fn flipped_if(&self, is_swapped: bool) -> Self {
        Self {
            parts: swap_if(is_swapped, self.parts.into()).into(),
            contact: self.contact.flipped_if(is_swapped),
        }
    }

    /// Returns the deeper one of two contacts. Depths are compared in f32, as in events. If the
    /// contacts are equally deep, returns the contact of the parts with the lower indices.
    pub fn deeper(self, other: Self) -> Self {
        let [own, others] = [&self, &other].map(|found| length_to_f32(found.contact.depth));
        if own > others || own == others && self.parts < other.parts {
            self
        } else {
            other
        }
    }
}

/// Returns the translations of parts relative to the translations of their colliders.
pub fn offsets<V: Space, S>(origins: [V::DVec; 2], parts: [&PlacedShape<V, S>; 2]) -> [V::DVec; 2] {
    let [a, b] = parts.map(|part| part.world_pose.translation);
    let [origin_a, origin_b] = origins;
    [a - origin_a, b - origin_b]
}
