//! Contacts with the facets of a surface: without the normals that only its seams have.
//!
//! Alone, a facet is a thin plate, which is left by its rim or its back as well as by its front, if that is nearer. In a
//! surface it is neither. What departs from the contact of a plate:
//!
//! * The side on which the other shape's centre lies is the side to which it is pushed. A surface that is much smaller has one as
//!   well: a crate on a level. Otherwise it is the side to which the contact pushes. Of two surfaces each contact has to count in
//!   both.
//! * A normal that the surface does not have at the contact point (see [`Surroundings::admits`]) does not count: it leans
//!   towards another facet, which the shape touches there too, and which knows better.
//! * Such a facet may count yet with its own normal, *levelled*, with the depth along it: how far the other shape must move that
//!   way, to clear the facet. It does where the surface pushes that way anyhow, because another facet has this normal: what is
//!   pointed has its tip over one facet, which it would leave sideways, and a flank over the next. And where no facet counts,
//!   because the shape is deeper than all of them are wide. Elsewhere the surface may end or bend next to the seam, so that
//!   what is beside a cliff is not pushed over its edge.

use super::tolerance::SAME_NORMAL;
use crate::{shape::Surroundings, space::Wide};

/// What a contact with a facet is worth in its surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// Nothing: the other shape is behind a facet of one side.
    Nothing,
    /// The surface does not have its normal.
    Seam,
    /// The contact counts.
    Counts,
}

/// What a facet meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Opposite<W> {
    /// Something with a centre.
    Body(W),
    /// A facet of another surface, which may be all around, or much larger: the side is the one to which it is pushed.
    Surface,
}

/// Judges the contact of a facet, the first of two shapes, as part of its surface, and tells the facet's own normal towards the
/// other shape.
///
/// `around` is as in [`Surroundings::admits`]. All is in the world's axes, and `surroundings`, the centre of the opposite, and
/// `point`, which is the contact's on the facet without any margin, are relative to the translation of the surface.
pub fn facing<W: Wide>(
    normal: W,
    point: W,
    surroundings: &Surroundings<W>,
    opposite: Opposite<W>,
    around: impl FnOnce([f64; 3], &mut dyn FnMut(&[W])),
) -> (Worth, W) {
    let is_behind = match opposite {
        Opposite::Body(centre) => (centre - surroundings.corner()).dot(surroundings.normal) < 0.0,
        // What is pushed along the facet is on neither side.
        Opposite::Surface => normal.dot(surroundings.normal) < -SAME_NORMAL,
    };
    let outward = if is_behind {
        -surroundings.normal
    } else {
        surroundings.normal
    };
    let toward = |rim: W| match opposite {
        Opposite::Body(centre) => centre - rim,
        Opposite::Surface => normal,
    };
    let worth = if is_behind && surroundings.one_sided {
        Worth::Nothing
    } else if surroundings.admits(normal, outward, point, toward, around) {
        Worth::Counts
    } else {
        Worth::Seam
    };
    (worth, outward)
}
