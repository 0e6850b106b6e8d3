//! Swept colliders, whose paths between two ticks are tested.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};

/// Marks a collider as swept: its path since the previous tick is tested, so that it does not pass
/// through anything, however fast it is.
///
/// Without it, colliders are tested in their poses of each tick only, and a bullet that moves by
/// more than the thickness of a wall may pass through it.
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
/// * If the two are apart again at the end of the tick, `Started` and `Ended` come in the same
///   tick, and [`Collisions`](crate::Collisions) does not list the pair.
/// * If they still touch, `Collisions` has the contact in the poses of the tick.
/// * The first touches of swept colliders are sent after all other events, sorted by time, each
///   followed by its `Ended` if the two are apart again. So the hits of one path come in order. A
///   path does not end at a hit: a response that stops the body ignores its later hits.
/// * If the two touched in the previous tick, the path may lead through the other collider to its
///   far side. Then an `Ongoing` event with the time and the contact precedes `Ended`.
/// * If they touched in the previous tick, and a response has moved them apart since, `Ended` and
///   `Started` come in the tick in which they touch again.
///
/// # Paths
///
/// A path leads from the pose in the previous tick to the pose in this tick. The velocity and the
/// angular velocity are constant, the rotation is at most half a turn, and the scale is the scale
/// of this tick. While any collider is swept, the paths of all colliders count: two bullets meet,
/// and a fast wall meets a bullet. If neither of two colliders is swept, they are tested in their
/// poses of the tick only.
///
/// [`Teleported`](crate::Teleported) begins a new path: after a teleport, and after a response has
/// moved the collider.
///
/// A path is straight, even for the child of a parent that turns. If a parent turns far in one
/// tick, the paths of its children may touch, although the children keep their distance. Exclude
/// such pairs with layers.
///
/// There is no path in the first tick of a collider, also after the collider was disabled, invalid
/// or of another dimension. There is also none in the first tick in which any collider is swept.
///
/// # Cost
///
/// A pair is cast when it begins to touch. A pair is also cast if the boxes of the two colliders
/// meet during the motion, and if the relative motion exceeds the inner radius of the swept
/// collider. The inner radius is 0 for all shapes except balls, capsules and boxes. While any
/// collider is swept, the poses of all moving colliders are stored. Slower motions cannot pass
/// through anything. A contact that a slower motion only grazes between two ticks is not reported.
///
/// Without swept colliders, no pose is stored and no pair is cast.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Swept;
