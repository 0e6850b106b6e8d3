//! Contacts with the facets of a surface: without the normals that only its seams have.
//!
//! Alone, a facet is a thin plate, which is left by its rim or its back as well as by its front, if that is nearer. In a
//! surface it is neither. What departs from the contact of a plate:
//!
//! * The side on which the other shape's centre lies is the side to which it is pushed.
//! * A normal that the surface does not have at the contact point (see [`Surroundings::admits`]) does not count: it leans
//!   towards another facet, which the shape touches there too, and which knows better.
//! * Such a facet may count yet with its own normal, *levelled*, with the depth along it: how far the other shape must move that
//!   way, to clear the facet. It does where the surface pushes that way anyhow, because another facet has this normal: what is
//!   pointed has its tip over one facet, which it would leave sideways, and a flank over the next. And where no facet counts,
//!   because the shape is deeper than all of them are wide. Elsewhere the surface may end or bend next to the seam, so that
//!   what is beside a cliff is not pushed over its edge.

use super::contact::LocalContact;
use crate::{shape::Surroundings, space::Wide};

/// What a contact with a facet is worth in its surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Facing<W> {
    /// Nothing: the other shape is behind a facet of one side.
    Behind,
    /// The surface does not have its normal, but one that is the facet's own, told towards the other shape.
    Seam(W),
    /// The contact counts.
    Counts,
}

/// Judges the contact of a facet, the first of two shapes, as part of its surface.
///
/// `leans` is [`Mesh::leans`](crate::shape::Mesh::leans). All is in the world's axes, and `surroundings` and `centre`, which is
/// the other shape's, are relative to the translation of the facet's shape.
pub fn facing<W: Wide>(
    contact: &LocalContact<W>,
    surroundings: &Surroundings<W>,
    one_sided: bool,
    centre: W,
    leans: impl FnOnce(W, usize) -> bool,
) -> Facing<W> {
    let side = (centre - surroundings.corner).dot(surroundings.normal);
    if side < 0.0 && one_sided {
        return Facing::Behind;
    }
    let outward = if side < 0.0 {
        -surroundings.normal
    } else {
        surroundings.normal
    };
    let normal = contact.normal;
    let places = (contact.offset_a, centre);
    if surroundings.admits(normal, outward, one_sided, places, |corner| {
        leans(normal, corner)
    }) {
        Facing::Counts
    } else {
        Facing::Seam(outward)
    }
}
