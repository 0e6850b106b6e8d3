//! Sensors: colliders that detect, and are never solid.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};

/// Marks a collider as a sensor: it detects other colliders and is never solid.
///
/// * Contacts of a sensor are reported like all other contacts.
///   [`CollisionEvent`](crate::CollisionEvent) shows which of the two entities is a sensor.
/// * [`Collisions::push_out`](crate::Collisions::push_out) ignores the contacts of sensors.
/// * [`SpatialQuery`](crate::SpatialQuery) ignores sensors, unless
///   [`SpatialQueryFilter::with_sensors`](crate::SpatialQueryFilter::with_sensors) includes them.
///
/// A change takes effect in the next tick, even at rest. The component marks only the collider of
/// its own entity, not the colliders of children.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Coin;
///
/// fn spawn_coin(mut commands: Commands) {
///     commands.spawn((Coin, Collider::circle(8.0), Sensor));
/// }
///
/// fn collect(mut commands: Commands, mut hits: MessageReader<CollisionEvent>) {
///     for hit in hits.read().filter(|hit| hit.started()) {
///         if hit.other_is_sensor() {
///             commands.entity(hit.other).try_despawn();
///         }
///     }
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Sensor;
