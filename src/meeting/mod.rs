//! The decision whether two colliders may meet.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`PairTraits`], which the decision reads, and [`exclusion`], which decides |
//! | `layers.rs` | [`CollisionLayers`], [`LayerMask`] for enums of layers, and [`LayerNames`] |
//!
//! The tick, the casts of swept colliders, the report, `explain`, spatial queries and picking all
//! decide here. A new rule needs a file in this folder, a line in [`exclusion`], a variant of
//! [`Exclusion`], and its [`EndReason`]. The compiler then lists the matches to extend.

mod layers;

pub use layers::{CollisionLayers, LayerMask, LayerNames};

use crate::collision::EndReason;

/// The components of a collider that decide which colliders it meets, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairTraits {
    pub layers: CollisionLayers,
    /// `true` if the entity has a [`Sensor`](crate::Sensor).
    pub is_sensor: bool,
    /// `true` if the entity is [`Swept`](crate::Swept).
    pub is_swept: bool,
}

impl PairTraits {
    /// Returns `true` if a query may find this collider. The query has layers of its own, and
    /// decides whether it finds sensors.
    pub fn are_found_by(&self, layers: CollisionLayers, includes_sensors: bool) -> bool {
        layers.interacts_with(self.layers) && (includes_sensors || !self.is_sensor)
    }
}

/// The rule that keeps two colliders from meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// Their [`CollisionLayers`] do not interact.
    Layers,
}

impl From<Exclusion> for EndReason {
    fn from(exclusion: Exclusion) -> Self {
        match exclusion {
            Exclusion::Layers => Self::Filtered,
        }
    }
}

/// Returns the first rule that keeps two colliders from meeting, or `None` if they may meet.
#[inline]
pub fn exclusion(a: &PairTraits, b: &PairTraits) -> Option<Exclusion> {
    (!a.layers.interacts_with(b.layers)).then_some(Exclusion::Layers)
}
