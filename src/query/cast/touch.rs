//! A pair at the start of its cast, and its first touch.

use crate::{
    query::{
        Contact64,
        cast::{
            CastHit64, CastStatus, Motion64, Moving64,
            face_normal::{face_normal, face_normal_of_facet},
        },
        gjk::Penetration,
        minkowski::{Pair, PairFrame},
    },
    shape::{DVecOf, Support, swap_if},
    space::DVector,
};

/// A pair that has not moved yet, and its motions.
pub(in crate::query) struct StartingPair<'a, A: Support + ?Sized, B: ?Sized> {
    pub pair: Pair<'a, A, B>,
    /// The poses at the start and the motions, in the caller's order.
    pub moving: [Moving64<'a, DVecOf<A>>; 2],
    /// The unit normal of the caller's second shape in the world, if the shape is known to be a
    /// facet without a margin. If there is a normal, neither shape rotates.
    pub facet_normal: Option<DVecOf<A>>,
}

/// The error of a fast method for casts if the method can prove neither a hit nor a miss.
#[derive(Clone, Copy, Debug)]
pub struct Uncertain;

/// The outcome of a cast by a fast method: a hit, `None` for a miss, or [`Uncertain`].
pub type FastCast<T> = Result<Option<T>, Uncertain>;

/// A first touch after which the shapes certainly overlap.
pub struct CertifiedTouch<D> {
    pub safe: f64,
    pub touching: f64,
    /// The nearest points of the cores at the time `safe`.
    pub cores: Penetration<D>,
    /// For each shape of the pair, `true` if the normal is certainly the normal of a face in
    /// contact.
    pub is_on_face: [bool; 2],
}

impl<'a, A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> StartingPair<'a, A, B> {
    /// Returns the pair of two shapes, each with its pose at the start and its motion.
    #[inline(always)]
    pub fn new(
        a: &'a A,
        moving_a: Moving64<'a, DVecOf<A>>,
        b: &'a B,
        moving_b: Moving64<'a, DVecOf<A>>,
    ) -> Self {
        Self {
            pair: Pair::new(a, *moving_a.0, b, *moving_b.0),
            moving: [moving_a, moving_b],
            facet_normal: None,
        }
    }

    /// Reorders two values, one for each shape, from the caller's order to the order of the pair.
    pub fn ordered<T>(&self, values: [T; 2]) -> [T; 2] {
        swap_if(self.pair.frame.swapped, values)
    }

    /// Returns the motions in the order of the pair.
    pub fn motions(&self) -> [&'a Motion64<DVecOf<A>>; 2] {
        self.ordered(self.moving.map(|(_, motion)| motion))
    }

    /// Converts a touch to a hit in world axes. `frame` is the frame of the pair at the time
    /// `safe`, and `size` is the size of the pair.
    pub fn hit(
        &self,
        touch: &CertifiedTouch<DVecOf<A>>,
        frame: &PairFrame<DVecOf<A>>,
        size: f64,
    ) -> CastHit64<DVecOf<A>> {
        // The shapes just touch.
        let (contact, depth) = (frame.contact(&touch.cores), 0.0);
        let contact = Contact64 { depth, ..contact };
        let [_, is_on_face] = self.ordered(touch.is_on_face);
        CastHit64 {
            status: CastStatus::Hit,
            safe: touch.safe,
            touching: touch.touching,
            contact,
            face_normal: if is_on_face {
                contact.normal
            } else {
                self.face_normal(touch.safe, size, &contact)
            },
        }
    }

    /// Returns the face normal of the caller's second shape at a contact.
    pub fn face_normal(&self, time: f64, size: f64, contact: &Contact64<DVecOf<A>>) -> DVecOf<A> {
        let [(_, motion_a), (pose_b, motion_b)] = self.moving;
        let velocity_a = motion_a.velocity_at(time, contact.offset_a);
        let velocity_b = motion_b.velocity_at(time, contact.offset_b);
        if let Some(facet) = self.facet_normal {
            return face_normal_of_facet(facet, velocity_a - velocity_b, contact.normal);
        }
        // A surface with a radius has only one normal at each point.
        if self.pair.b.radius() > 0.0 {
            return contact.normal;
        }
        let rotation = DVecOf::<A>::rotation(motion_b.rotation * time) * pose_b.rotation;
        face_normal(
            self.pair.b,
            (velocity_a - velocity_b, rotation),
            size,
            contact,
        )
    }
}
