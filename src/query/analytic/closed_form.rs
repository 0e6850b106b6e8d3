//! The result of a closed form.

use crate::{query::gjk::Penetration, tolerance::TOUCHING};

/// The result of a closed form for two cores.
pub enum ClosedForm<D> {
    /// The contact of the cores. If the cores are separated, the depth is negative.
    Contact(Penetration<D>),
    /// `true` if the shapes touch. The points were not computed.
    Verdict(bool),
}

impl<D> ClosedForm<D> {
    /// Returns `true` if the shapes touch.
    pub fn hit(&self, radius_sum: f64) -> bool {
        match self {
            Self::Contact(cores) => -cores.depth <= radius_sum + TOUCHING * cores.scale,
            Self::Verdict(hit) => *hit,
        }
    }
}
