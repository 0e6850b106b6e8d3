//! The first touch of a cast, and its conversion to world axes.

use crate::{
    query::{
        cast::{CastHit64, CastStatus, face_normal::face_normal, motion::Moving64},
        minkowski::Pair,
        penetration::Penetration,
        results::Contact64,
    },
    shape::Support,
    space::{DVector, Space},
};

/// The first touch, after which the shapes overlap.
pub struct CertifiedTouch<D> {
    pub safe: f64,
    pub touching: f64,
    /// At the time `safe`.
    pub cores: Penetration<D>,
    /// `true` for a shape of the pair if the normal is certainly that of a face in contact.
    pub is_on_face: [bool; 2],
}

impl<D: DVector> CertifiedTouch<D> {
    /// Returns the touch in world axes. `pair` is in its pose at the time `safe`.
    pub fn in_world<A, B>(
        &self,
        pair: &Pair<A, B>,
        moving: &[Moving64<D>; 2],
        size: f64,
    ) -> CastHit64<D>
    where
        A: Support<Vector: Space<DVec = D>> + ?Sized,
        B: Support<Vector = A::Vector> + ?Sized,
    {
        let contact = pair.touching_contact(&self.cores);
        let [on_first, on_second] = self.is_on_face;
        let is_on_face = if pair.swapped { on_first } else { on_second };
        CastHit64 {
            status: CastStatus::Hit,
            safe: self.safe,
            touching: self.touching,
            contact,
            face_normal: if is_on_face {
                contact.normal
            } else {
                face_normal_at(pair.b, moving, self.safe, size, &contact)
            },
        }
    }
}

/// Returns the face normal of the caller's second shape at a contact.
pub fn face_normal_at<B: Support<Vector: Space<DVec = D>> + ?Sized, D: DVector>(
    b: &B,
    [(_, motion_a), (pose_b, motion_b)]: &[Moving64<D>; 2],
    time: f64,
    size: f64,
    contact: &Contact64<D>,
) -> D {
    let velocity_a = motion_a.velocity_at(time, contact.offset_a);
    let velocity_b = motion_b.velocity_at(time, contact.offset_b);
    let rotation = D::rotation(motion_b.rotation * time) * pose_b.rotation;
    face_normal(b, (velocity_a - velocity_b, rotation), size, contact)
}
