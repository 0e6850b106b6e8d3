//! The markers of colliders: [`Sensor`] and [`Swept`].

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};

/// Marks a collider as a sensor, which detects other colliders and is never solid.
///
/// * Contacts of a sensor are reported like all other contacts.
///   [`CollisionEvent`](crate::CollisionEvent) shows which of the two entities is a sensor.
/// * [`Collisions::push_out`](crate::Collisions::push_out) ignores the contacts of sensors.
/// * [`SpatialQuery`](crate::SpatialQuery) ignores sensors, unless
///   [`SpatialQueryFilter::with_sensors`](crate::SpatialQueryFilter::with_sensors) includes them.
///
/// A change takes effect in the next tick, even if the collider is at rest. The component marks
/// only the collider of its own entity, not the colliders of children.
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

/// Marks a collider as swept: its path since the previous tick is tested, so that the collider
/// passes through nothing at any speed.
///
/// Colliders without `Swept` are tested only in their poses at each tick. A bullet that moves
/// farther per tick than the thickness of a wall may then pass through the wall.
///
#[cfg_attr(doc, doc = "![The path of a ball touches a thin wall][swept]\n\n")]
#[cfg_attr(doc, doc = include_str!("../../docs/pictures.md"))]
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn shoot(mut commands: Commands) {
///     commands.spawn((Collider::sphere(0.05), Swept, Transform::from_xyz(0.0, 1.0, 0.0)));
/// }
///
/// fn on_hit(mut hits: MessageReader<CollisionEvent>) {
///     for hit in hits.read().filter(|hit| hit.started()) {
///         println!("hit at {}, after {} of the tick", hit.point(), hit.time());
///     }
/// }
/// ```
///
/// # Events
///
/// * `Started` has the [time](crate::CollisionEvent::time) of the first touch, and the contact at
///   that moment.
/// * If the two colliders are apart at the end of the tick, the tick sends both `Started` and
///   `Ended`. [`Collisions`](crate::Collisions) then does not list the pair.
/// * If the two colliders still touch at the end of the tick, `Collisions` has the contact in the
///   poses of the tick.
/// * The first touches of swept colliders are sent after all other events, sorted by time. If the
///   two colliders are apart again, the `Ended` follows its `Started` directly. So the hits of one
///   path are reported in order of time. A path does not end at a hit: a response that stops the
///   body has to ignore the later hits.
/// * If the two colliders touched in the previous tick, the path may lead through the other
///   collider to its far side. In this case, an `Ongoing` event with the time and the contact
///   precedes `Ended`.
/// * A response may move two colliders apart that touched in the previous tick. If the colliders
///   touch again, the tick sends both `Ended` and `Started`.
///
/// # Paths
///
/// A path leads from the pose in the previous tick to the pose in this tick. On a path, the
/// velocity and the angular velocity are constant. The rotation is at most half a turn. The scale
/// is the scale of this tick. If one of two colliders is swept, the paths of both colliders are
/// tested: two bullets can meet, and a fast wall can meet a bullet. If neither collider is swept,
/// the pair is tested only in the poses of the tick.
///
/// [`Teleported`](crate::Teleported) begins a new path. Insert this marker after a teleport, and
/// after a response has moved the collider.
///
/// A path is straight, even if a parent of the collider rotates. If a parent rotates far in one
/// tick, the paths of its children may touch, although the children keep their distance. To exclude
/// pairs of such children, give the children a common [owner](crate::ColliderOf).
///
/// Without `Teleported`, a collider has no path in its first tick, or in the first tick after it
/// was disabled, invalid or of another dimension. Without `Teleported`, a collider also has no path
/// in the first tick in which any collider is swept or [`OneWay`](crate::OneWay).
///
/// # Cost
///
/// A pair is cast when its colliders begin to touch. A pair is also cast if its bounding boxes meet
/// during the motion, and the relative motion exceeds the inner radius of the swept collider. The
/// inner radius of a ball, a capsule or a box is the radius of the largest ball in the shape. For
/// all other shapes, the value 0 is used. A slower motion cannot take a collider through another
/// collider. If a slower motion only grazes another collider between two ticks, no contact is
/// reported.
///
/// While any collider is swept, the poses of all colliders are stored. Without swept
/// colliders, no pose is stored and no pair is cast.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Swept;
