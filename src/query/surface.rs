//! Contacts with the facets of a surface: without the normals that only its seams have.
//!
//! Alone, a facet is a thin plate, which is left by its rim or its back as well as by its front, if that is nearer. In a
//! surface it is neither. What departs from the contact of a plate:
//!
//! * The side on which the other shape's centre lies is the side to which it is pushed.
//! * A normal that the surface does not have at the contact point (see [`Surroundings::admits`]) does not count: it leans
//!   towards another facet, which the shape touches there too, and which knows better. Where none does, because the shape is
//!   deeper than all of them are wide, the facet's own normal takes its place, with the depth along it: how far the other
//!   shape must move that way, to clear the facet.

use super::contact::LocalContact;
use crate::{shape::Surroundings, space::Wide};

/// What to make of a contact with a seam of a surface, whose normal the surface does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seams {
    /// It does not count.
    Ignored,
    /// The facet's own normal counts.
    Level,
}

/// The contact of a facet, the first of two shapes, as part of its surface; or `None` if it does not count, because the centre
/// of the other shape is behind a facet that is `one_sided`, or because of what to make of `seams`.
///
/// `contact` is that of the facet alone, `leans` is
/// [`Mesh::leans`](crate::shape::Mesh::leans), and `along` finds the contact with a given normal. All is in the world's axes, and
/// `surroundings` and `centre`, which is the other shape's, are relative to the translation of the facet's shape.
#[allow(
    clippy::too_many_arguments,
    reason = "a contact, a facet, a shape, and two questions about them"
)]
pub fn surface_contact<W: Wide>(
    contact: LocalContact<W>,
    surroundings: &Surroundings<W>,
    one_sided: bool,
    centre: W,
    seams: Seams,
    leans: impl FnOnce(W, usize) -> bool,
    along: impl FnOnce(W) -> Option<LocalContact<W>>,
) -> Option<LocalContact<W>> {
    let side = (centre - surroundings.corner).dot(surroundings.normal);
    if side < 0.0 && one_sided {
        return None;
    }
    let outward = if side < 0.0 {
        -surroundings.normal
    } else {
        surroundings.normal
    };
    let LocalContact {
        normal, offset_a, ..
    } = contact;
    let places = (offset_a, centre);
    let leans = |corner| leans(normal, corner);
    if surroundings.admits(normal, outward, one_sided, places, leans) {
        return Some(contact);
    }
    (seams == Seams::Level).then(|| along(outward)).flatten()
}
