//! The plugin's settings: resources that an app may change between ticks.

use core::fmt;

use bevy::prelude::*;

use crate::buffer::Buffer;

/// The source of the candidate pairs. The app may change this resource between ticks.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
pub enum BroadPhase {
    /// The plugin computes the pairs from bounding boxes.
    #[default]
    Automatic,
    /// The app supplies the pairs in [`CandidatePairs`].
    Custom,
}

/// The candidate pairs that the app supplies, as pairs of entities. With [`BroadPhase::Automatic`],
/// the plugin ignores this list.
///
/// Add the pairs in or before [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase).
/// The plugin never changes the list, so pairs stay until the app clears the list.
///
/// * Neither the order of the pairs nor the order within a pair matters. Duplicates are allowed.
/// * A pair is skipped if an entity has no collider, or if both entities are the same.
/// * [`CollisionLayers`](crate::CollisionLayers), owners, exceptions and filters exclude pairs, as
///   with `Automatic`.
/// * Pairs at rest cost little. If a pair was also supplied in the previous tick, the pair is
///   tested only if one of its colliders changed.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Bullet;
/// #[derive(Component)]
/// struct Target;
///
/// fn pair_bullets_with_targets(
///     mut pairs: ResMut<CandidatePairs>,
///     bullets: Query<Entity, With<Bullet>>,
///     targets: Query<Entity, With<Target>>,
/// ) {
///     pairs.clear();
///     for bullet in &bullets {
///         pairs.extend(targets.iter().map(|target| (bullet, target)));
///     }
/// }
///
/// let plugin = HeadbuttPlugin::default().with_broad_phase(BroadPhase::Custom);
/// App::new().add_plugins((MinimalPlugins, plugin)).add_systems(
///     FixedPostUpdate,
///     pair_bullets_with_targets.in_set(HeadbuttSystems::BroadPhase),
/// );
/// ```
#[derive(Resource, Clone, Default)]
pub struct CandidatePairs {
    pub(crate) pairs: Buffer<(Entity, Entity)>,
}

impl fmt::Debug for CandidatePairs {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl CandidatePairs {
    /// Adds a pair.
    pub fn push(&mut self, entity: Entity, other: Entity) {
        self.pairs.push((entity, other));
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        // `Buffer::clear` would also end the buffer's tick, which only the plugin may do.
        Vec::clear(&mut self.pairs);
    }

    /// Returns all pairs in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        self.pairs.iter().copied()
    }

    /// Returns the number of pairs, including duplicates.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns `true` if there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl Extend<(Entity, Entity)> for CandidatePairs {
    fn extend<T: IntoIterator<Item = (Entity, Entity)>>(&mut self, pairs: T) {
        self.pairs.extend(pairs);
    }
}

/// The ticks in which a contact sends a message with the phase `Ongoing`. The app may change this
/// resource between ticks.
///
/// [`HeadbuttPlugin::with_ongoing`](crate::HeadbuttPlugin::with_ongoing) inserts this resource.
/// `Started` and `Ended` are always sent. [`Collisions`](crate::Collisions) lists the current
/// contacts at any time.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
pub enum OngoingEvents {
    /// A contact sends an `Ongoing` message in every tick, even if both colliders are at rest.
    #[default]
    EveryTick,
    /// A contact sends an `Ongoing` message in each tick in which the contact changed, for example
    /// its depth, its normal or a point.
    OnChange,
    /// No contact sends an `Ongoing` message.
    Never,
}
