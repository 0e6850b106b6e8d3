//! The face of the second shape at a contact that opposes the motion most.

use crate::{
    query::{cast::moving_pair::MovingPair, results::LocalContact},
    shape::{DVecOf, Support},
    space::DVector,
};

/// Returns the negated normal of the face.
pub fn face_normal<A, B>(
    pair: &MovingPair<A, B>,
    time: f64,
    contact: &LocalContact<DVecOf<A>>,
) -> DVecOf<A>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let _ = pair.relative_motion(time, contact).0.length();
    contact.normal
}
