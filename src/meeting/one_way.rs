//! Colliders that are solid from one side, and bodies that pass through them.

#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};
use bevy::{math::Vec3, prelude::*};

use crate::{
    meeting::ComponentCopies,
    shape::WorldPose,
    space::{DVector, Space},
};

/// Makes a collider solid from one side: a platform through which a player jumps from below, and on
/// which the player lands.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// /// `jumps` and `drops` are true while the player holds the key for it.
/// #[derive(Component, Default)]
/// struct Player {
///     jumps: bool,
///     drops: bool,
///     velocity: Vec2,
///     ground: Option<Ground>,
/// }
///
/// fn spawn_level(mut commands: Commands) {
///     commands.spawn((Collider::rectangle(200.0, 20.0), Transform::from_xyz(0.0, -10.0, 0.0)));
///     let pose = Transform::from_xyz(0.0, 60.0, 0.0);
///     commands.spawn((Collider::rectangle(80.0, 10.0), pose, OneWay::default()));
///     commands.spawn((Collider::rectangle(10.0, 20.0), Player::default()));
/// }
///
/// fn jump_and_drop(mut commands: Commands, player: Single<(Entity, &mut Player)>) {
///     let (entity, mut player) = player.into_inner();
///     if player.jumps && player.ground.is_some() {
///         player.velocity.y = 400.0;
///     }
///     if player.drops {
///         commands.entity(entity).insert(PassThrough);
///     } else {
///         commands.entity(entity).remove::<PassThrough>();
///     }
/// }
///
/// /// Runs in `FixedPostUpdate`, after `HeadbuttSystems::Sync`.
/// fn walk(
///     query: SpatialQuery,
///     time: Res<Time>,
///     player: Single<(Entity, &Collider, &mut Transform, &mut Player)>,
/// ) {
///     let (entity, body, mut pose, mut player) = player.into_inner();
///     player.velocity.y -= 1000.0 * time.delta_secs();
///     let wanted = player.velocity * time.delta_secs();
///     let settings = MoveAndSlideSettings { ground: player.ground, ..default() };
///     let filter = SpatialQueryFilter::of(entity);
///     let slide = query.move_and_slide(body, *pose, wanted, &settings, &filter);
///     pose.translation += slide.translation;
///     player.velocity = slide.clip_velocity(player.velocity);
///     player.ground = slide.ground;
/// }
/// # let _ = (spawn_level, jump_and_drop, walk);
/// ```
///
/// # Which bodies land
///
/// Seen along its direction, from above, only the upper side of the collider is solid. A body that
/// touches the collider either *meets* it, or *passes* it without an event. The *sink* of a body is
/// the shortest distance by which the body has to rise to leave the collider. A body that touches
/// the collider meets it in one of these cases:
///
/// 1. **Above:** the sink is at most the [margin](Self::margin).
/// 2. **Met before:** the body met the collider in the previous tick. Since then, its sink has
///    grown by at most its own height plus the distance that it fell.
/// 3. **From above:** in the previous tick, the body was above the place where it is now. If other
///    colliders supported the body at some depth, it may have been as deep in this one. The height
///    counts relative to the collider, which may move and turn.
/// 4. **Uphill:** the body moved against the upper side from outside, as against a ramp.
/// 5. **New:** one of the two was spawned or enabled since the previous tick, and the shortest way
///    out of the overlap leads to the upper side. So a body that is spawned on the collider, and
///    falls before its first tick, lands. The rule applies to every pair if no collider was one-way
///    or [`Swept`](crate::Swept) in the previous tick. The rule also applies to every pair if the
///    app replaced [`Collisions`](crate::Collisions) by an empty value.
///
/// In all other cases, the body passes. These rules have some consequences:
///
/// * **A body is not caught half way.** It passes until it has left the collider, or is above it.
///   Two exceptions follow: slopes without a rim, and ground out of which the body is not pushed.
/// * **Rims:** beside a corner of the upper side, a body counts as above only if its lowest point
///   is above the corner. So a round body half way through a row of tiles is not caught by the next
///   tile. A ball whose center is beside the collider falls past the rim, unless it falls so fast
///   that its lowest point was above the rim in the previous tick.
/// * **Slopes without a rim:** the ends of a surface and the corners of a
///   [rounded](crate::Collider::rounded) collider count as slopes. So a body beside them may be
///   caught half way.
/// * **Ground:** each solid contact of the body counts as support in case 3. If the app does not
///   push the body out of a contact, a collider beside it may catch the body half way. Make the
///   other collider a [`Sensor`](crate::Sensor), or reject the contact.
/// * **Teleports:** a [teleported](crate::Teleported) body forgets what it met. It passes a
///   collider into which it is teleported. Insert `Teleported` before
///   [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync), or together with the move. Between
///   `Sync` and the narrow phase, the marker already affects the running tick. If a response of the
///   app inserts `Teleported`, but does not move the body out completely, set a margin of the
///   remaining depth.
/// * **Growth:** a body passes a collider that grows around it. A body that grows downward into a
///   collider passes, unless it met the collider before. Raise such a body while it grows.
///
/// # Contacts
///
/// The contact of a body that meets the collider is the contact that the body would have after
/// rising by the sink. So it always leads up: the
/// [minimum translation](crate::CollisionEvent::minimum_translation) has a component along the
/// direction. At an edge of the upper side, the contact of a round body also leads outward, as with
/// an ordinary collider.
///
/// A contact that a filter of the app
/// [rejects](crate::AddCollisionFilter::add_contact_filter) does not count as met: a body that was
/// rejected while it landed passes until it has left the collider. The filter gets one contact for
/// each part of the one-way collider that supports the body, not for each part of the body.
///
/// Contacts with a [`Sensor`](crate::Sensor) are reported on all sides, because a sensor is never
/// solid. The parts of a compound are one-way each by itself. A surface is one-way as a whole, so
/// give each storey of a level its own surface, or use [one-way cells](crate::Cell::one_way). If
/// both colliders are one-way, it is enough that one of them supports the other. If each supports
/// the other, the contact with the smaller sink is reported.
///
/// # Queries
///
/// Casts, [`move_and_slide`](crate::SpatialQuery::move_and_slide),
/// [`push_out`](crate::SpatialQuery::push_out), overlaps, contacts and rays
/// [of an entity](crate::SpatialQueryFilter::of) pass as the entity does. A
/// [`RayCaster`](crate::RayCaster) or a [`ShapeCaster`](crate::ShapeCaster) casts as its own
/// entity. All other queries see an ordinary collider: a ray finds the platform from below.
/// Distances and overlaps of a point also see an ordinary collider.
///
/// # Cost
///
/// While any collider or cell is one-way, the poses of all colliders are stored, as for
/// [`Swept`](crate::Swept). Each tick compares all `OneWay` components with their copies. A change
/// of the component takes effect in the next tick, even at rest. A tick may allocate memory for
/// contacts with one-way surfaces.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct OneWay {
    /// The direction out of the solid side, as a vector of any length in the frame of the entity: y
    /// by default. The direction turns with the entity. In 2D, z is ignored. If the direction is 0
    /// or not finite, a warning is logged, and the collider is solid from all sides.
    pub direction: Vec3,
    /// The greatest sink, in the world's units, at which a body meets the collider wherever it came
    /// from: 0 by default. A greater margin lifts bodies onto uneven tiles and low edges. Beside a
    /// corner, the lowest point of the body may be lower than the corner by the margin. Beside the
    /// end of a surface or a rounded corner, only the sink counts. A negative or NaN margin counts
    /// as 0.
    pub margin: f32,
}

impl OneWay {
    /// Creates a one-way collider that is solid from the side to which `direction` leads.
    pub const fn new(direction: Vec3) -> Self {
        Self {
            direction,
            margin: 0.0,
        }
    }

    /// Replaces the [margin](Self#structfield.margin).
    #[must_use]
    pub const fn with_margin(self, margin: f32) -> Self {
        Self { margin, ..self }
    }

    /// Returns the direction as a unit vector, or `None` if the direction is invalid.
    pub(crate) fn unit_direction<V: Space>(&self) -> Option<V::DVec> {
        V::projected(self.direction).to_f64().unit()
    }

    /// Returns the side of a collider in a pose, or `None` if the direction is invalid.
    pub(crate) fn side<V: Space>(&self, pose: &WorldPose<V::DVec>) -> Option<OneWaySide<V::DVec>> {
        let local = self.unit_direction::<V>()?;
        // A collider that is flat along its direction keeps the direction.
        let flat = || (pose.pose().rotation * local).unit();
        Some(OneWaySide {
            up: (pose.linear() * local).unit().or_else(flat)?,
            margin: f64::from(self.margin.max(0.0)),
        })
    }
}

impl Default for OneWay {
    fn default() -> Self {
        Self::new(Vec3::Y)
    }
}

/// The solid side of a [`OneWay`] collider in the world.
#[derive(Clone, Copy, Debug)]
pub struct OneWaySide<D> {
    /// The unit vector out of the solid side.
    pub up: D,
    pub margin: f64,
}

/// Lets a body pass all [`OneWay`] colliders and all [one-way cells](crate::Cell::one_way), for
/// example while a key is held to drop through a platform.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn drop_through(mut commands: Commands, player: Entity, is_down: bool) {
///     if is_down {
///         commands.entity(player).insert(PassThrough);
///     } else {
///         commands.entity(player).remove::<PassThrough>();
///     }
/// }
/// # let _ = drop_through;
/// ```
///
/// The marker belongs on the entity of the collider. On an owner without a collider, it does
/// nothing.
///
/// A change takes effect in the next tick, even at rest. A contact with a `OneWay` collider ends
/// with the reason [`PassThrough`](crate::EndReason::PassThrough). A contact with one-way cells
/// ends like that of a body that leaves, and not before the body leaves the solid cells of the
/// grid. If the component is removed while the body is half way through, the body still passes
/// until it has left the collider.
///
/// Keep the component until the lowest point of the body has been below the upper side, by more
/// than the margin, for one whole tick. If the component is removed earlier,
/// [`move_and_slide`](crate::SpatialQuery::move_and_slide) puts the body back onto the collider. A
/// slow fall takes several ticks: with a gravity of 9.81 and the default tick of 1/64 s, about 4
/// ticks from the resting gap. So keep the component for 0.1 s, or while a key is held.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct PassThrough;

/// The [`OneWay`] component of each entity in a tick.
pub type OneWays = ComponentCopies<OneWay>;
