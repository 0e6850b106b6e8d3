//! The rules that decide whether two colliders may *meet*. A pair that may not meet gets no
//! contact, even if its shapes overlap.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`PairRules`], which decides, and [`PairTraits`], which the decision reads |
//! | `layers.rs` | [`CollisionLayers`], [`LayerMask`] for enums of layers, and [`LayerNames`] |
//! | `owner.rs` | [`ColliderOf`] and [`Colliders`]: colliders with the same owner |
//! | `exceptions.rs` | [`IgnoreCollisions`]: single pairs |
//! | `one_way.rs` | [`OneWay`] colliders, and bodies that [`PassThrough`] them |
//! | `copies.rs` | copies of components, which show changes |
//! | `app_filters.rs` | [`AddCollisionFilter`]: functions of the app for pairs and contacts |
//! | `rejections.rs` | [`Rejections`]: what these functions reject in a tick |
//!
//! The tick, the casts of swept colliders, the app's filters, the report, `explain` and the queries
//! of an entity call [`PairRules`] for each pair. Picking and all other queries have no second
//! collider, and call only [`PairTraits::are_found_by`].
//!
//! A new rule needs a file in this folder, a test in [`PairRules::exclusion_by_entity`], a variant
//! of [`Exclusion`], and its [`EndReason`]. The compiler then lists the matches to extend, and
//! `docs/ARCHITECTURE.md` lists the other steps.

mod app_filters;
mod copies;
mod exceptions;
mod layers;
mod one_way;
mod owner;
mod rejections;

pub use app_filters::{AddCollisionFilter, AppFilters, CandidatePair, EntityBits};
pub use copies::ComponentCopies;
pub use exceptions::{Exceptions, IgnoreCollisions};
pub use layers::{CollisionLayers, LayerMask, LayerNames};
pub use one_way::{OneWay, OneWaySide, OneWays, PassThrough};
pub use owner::{ColliderOf, Colliders};
pub use rejections::{ContactKey, Rejections};

use bevy::ecs::entity::Entity;

use crate::collision::EndReason;

/// The components of a collider that decide which colliders it meets, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairTraits {
    pub layers: CollisionLayers,
    /// The entity in [`ColliderOf`].
    pub owner: Option<Entity>,
    /// `true` if the entity has a [`Sensor`](crate::Sensor).
    pub is_sensor: bool,
    /// `true` if the entity is [`Swept`](crate::Swept).
    pub is_swept: bool,
    /// `true` if the entity is [`OneWay`].
    pub is_one_way: bool,
    /// `true` if the entity has [`PassThrough`].
    pub passes_through: bool,
    /// `true` if the entity has a [`JoinedCollider`](crate::JoinedCollider).
    pub is_joined: bool,
}

impl PairTraits {
    /// The traits of a collider whose entity has no component that a rule reads.
    pub const DEFAULT: Self = Self {
        layers: CollisionLayers::ALL,
        owner: None,
        is_sensor: false,
        is_swept: false,
        is_one_way: false,
        passes_through: false,
        is_joined: false,
    };

    /// Returns `true` if a query may find this collider. `layers` are the layers of the query. The
    /// query finds a sensor only if `includes_sensors` is `true`.
    pub fn are_found_by(&self, layers: CollisionLayers, includes_sensors: bool) -> bool {
        layers.interacts_with(self.layers) && (includes_sensors || !self.is_sensor)
    }
}

/// One of the two colliders for which a rule is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Party<'a> {
    pub entity: Entity,
    pub traits: &'a PairTraits,
}

impl Party<'_> {
    /// Returns the owner of the collider, which may be its own entity.
    pub fn owner(self) -> Entity {
        self.traits.owner.unwrap_or(self.entity)
    }
}

/// The rule that keeps two colliders from meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// The [`CollisionLayers`] of the two colliders do not interact.
    Layers,
    /// Both colliders have this owner.
    SameOwner(Entity),
    /// The [`IgnoreCollisions`] of `holder` lists `ignored`. `holder` is one of the two colliders
    /// or its owner, and `ignored` is the other collider or its owner.
    Exception { holder: Entity, ignored: Entity },
    /// `body` has [`PassThrough`], and the other collider is [`OneWay`].
    PassThrough { body: Entity },
    /// A filter of the app rejects the pair, not just its contact.
    Rejected,
}

impl From<Exclusion> for EndReason {
    fn from(exclusion: Exclusion) -> Self {
        match exclusion {
            Exclusion::Layers => Self::Filtered,
            Exclusion::SameOwner(_) => Self::SameOwner,
            Exclusion::Exception { .. } => Self::Ignored,
            Exclusion::PassThrough { .. } => Self::PassThrough,
            Exclusion::Rejected => Self::Rejected,
        }
    }
}

/// All rules of a tick, with the data that the rules read apart from [`PairTraits`].
#[derive(Debug, Default)]
pub struct PairRules {
    pub exceptions: Exceptions,
    pub one_ways: OneWays,
    /// The pairs and contacts that the app's filters reject.
    pub rejections: Rejections,
}

impl PairRules {
    /// Returns the first rule that keeps two colliders from meeting, or `None` if they may meet.
    pub fn exclusion(&self, a: Party, b: Party) -> Option<Exclusion> {
        let is_rejected = || self.rejections.rejects_pair(a.entity, b.entity);
        let exclusion = self.exclusion_by_component(a, b);
        exclusion.or_else(|| is_rejected().then_some(Exclusion::Rejected))
    }

    /// Returns the first rule, apart from the filters of the app, that keeps two colliders from
    /// meeting.
    pub fn exclusion_by_component(&self, a: Party, b: Party) -> Option<Exclusion> {
        if a.traits.layers.interacts_with(b.traits.layers) {
            self.exclusion_by_entity(a, b)
        } else {
            Some(Exclusion::Layers)
        }
    }

    /// Returns the first rule, apart from filters and layers, that keeps two colliders from
    /// meeting.
    pub fn exclusion_by_entity(&self, a: Party, b: Party) -> Option<Exclusion> {
        if a.owner() == b.owner() {
            return Some(Exclusion::SameOwner(a.owner()));
        }
        if let Some((holder, ignored)) = self.exceptions.between(a, b) {
            return Some(Exclusion::Exception { holder, ignored });
        }
        let passes =
            |body: &Party, other: &Party| body.traits.passes_through && other.traits.is_one_way;
        let body = if passes(&a, &b) {
            a.entity
        } else if passes(&b, &a) {
            b.entity
        } else {
            return None;
        };
        Some(Exclusion::PassThrough { body })
    }
}
