//! The layers that decide which colliders interact.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};

/// The layers that a collider is on, and the layers that it interacts with. Each bit is a layer.
///
/// Two colliders are tested only if each collider is on a layer that the other collider interacts
/// with. A collider without this component is on all layers, and interacts with all layers. A
/// change takes effect in the next tick, even if the colliders are at rest.
///
/// ```
/// use headbutt::CollisionLayers;
///
/// const PLAYER: u32 = 1 << 0;
/// const ENEMY: u32 = 1 << 1;
/// const WALL: u32 = 1 << 2;
///
/// let player = CollisionLayers::new(PLAYER, ENEMY | WALL);
/// let enemy = CollisionLayers::new(ENEMY, PLAYER | WALL);
/// assert!(player.interacts_with(enemy));
/// assert!(!enemy.interacts_with(enemy));
/// assert!(player.interacts_with(CollisionLayers::ALL));
/// assert!(!player.interacts_with(CollisionLayers::NONE));
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct CollisionLayers {
    /// The layers that this collider is on.
    pub memberships: u32,
    /// The layers that this collider interacts with.
    pub filters: u32,
}

impl CollisionLayers {
    /// All layers. A collider without [`CollisionLayers`] behaves the same.
    pub const ALL: Self = Self::new(u32::MAX, u32::MAX);

    /// No layers. A collider with these layers touches nothing.
    pub const NONE: Self = Self::new(0, 0);

    /// Creates layers from two bit masks.
    pub const fn new(memberships: u32, filters: u32) -> Self {
        Self {
            memberships,
            filters,
        }
    }

    /// Returns `true` if each collider is on a layer that the other collider interacts with.
    pub const fn interacts_with(self, other: Self) -> bool {
        self.memberships & other.filters != 0 && other.memberships & self.filters != 0
    }
}

impl Default for CollisionLayers {
    /// Returns [`ALL`](Self::ALL).
    fn default() -> Self {
        Self::ALL
    }
}
