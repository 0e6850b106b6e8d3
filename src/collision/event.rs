//! The message that reports a collision, and the entity events for observers.
//! `pipeline/narrow_phase/event.rs` creates an event for each contact.

use core::cmp::Ordering;

use bevy::prelude::*;

/// The message for a pair of colliders that touch or no longer touch. By default, each tick sends
/// one message per touching pair, and one message per pair that has just separated.
///
#[cfg_attr(
    doc,
    doc = "![The normal leads from `entity` to `other`][two-blocks]\n\n"
)]
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Player;
///
/// fn announce(mut hits: MessageReader<CollisionEvent>, player: Single<Entity, With<Player>>) {
///     for hit in hits.read().filter_map(|hit| hit.seen_from(*player)) {
///         if hit.started() {
///             println!("hit {}, {} deep along {}", hit.other, hit.depth, hit.normal);
///         }
///     }
/// }
/// ```
///
/// `entity`, `other`, `phase`, `normal` and `depth` are fields. The points are methods:
/// [`point`](Self::point), [`other_point`](Self::other_point). An event stores the
/// [offset](Self::offset) of each point from the translation of its entity, because an offset stays
/// precise far from the origin. Values that are computed from the fields are methods, too, such as
/// [`minimum_translation`](Self::minimum_translation) and [`started`](Self::started).
///
/// All vectors are in the world's frame and units. In 2D, z is 0, and [`in_2d`](Self::in_2d)
/// returns the same contact in `Vec2`. To move an entity out of the entities that it touches, see
/// [`Collisions::push_out`](crate::Collisions::push_out) and [`WorldMover`](crate::WorldMover).
///
/// # When to read
///
/// [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report) writes the messages.
///
#[cfg_attr(doc, doc = "![Which events a reader receives][timeline]\n\n")]
#[cfg_attr(doc, doc = include_str!("../../docs/pictures.md"))]
/// | a reader in | receives the events of |
/// |---|---|
/// | the same schedule, after `Report`, or `FixedLast` | this tick (best for a response) |
/// | `FixedUpdate` | the previous tick |
/// | `Update` | all ticks of this frame: none, one or several |
///
/// For paused games, see [`HeadbuttPlugin::in_schedule`](crate::HeadbuttPlugin::in_schedule).
/// Without the plugin, a reader panics with Bevy's error *Message not initialized*.
///
/// # Unit tests
///
/// ```
/// use bevy::{ecs::system::RunSystemOnce, prelude::*};
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
///
/// fn hurt(mut hits: MessageReader<CollisionEvent>, mut healths: Query<&mut Health>) {
///     for hit in hits.read().filter(|hit| hit.started()) {
///         if let Ok(mut health) = healths.get_mut(hit.entity) {
///             health.0 -= 10.0 * hit.depth;
///         }
///     }
/// }
///
/// let mut world = World::new();
/// world.init_resource::<Messages<CollisionEvent>>();
/// let player = world.spawn(Health(100.0)).id();
/// let spike = world.spawn_empty().id();
/// world.write_message(CollisionEvent::new(player, spike, Dir3::NEG_Y, 0.5));
/// world.run_system_once(hurt).unwrap();
/// assert_eq!(world.get::<Health>(player).unwrap().0, 95.0);
/// ```
#[derive(Message, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Message, Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
pub struct CollisionEvent {
    /// One of the two entities of the contact. The choice is arbitrary, but always the same for a
    /// pair. Use [`seen_from`](Self::seen_from) or [`seen_by`](Self::seen_by) to choose the entity
    /// yourself.
    pub entity: Entity,
    /// The other entity.
    pub other: Entity,
    /// The phase of the contact: started, ongoing or ended.
    pub phase: CollisionPhase,
    /// Unit vector from `entity` to `other`: the direction of the shortest translation that moves
    /// `other` out of `entity`. An ended contact keeps the geometry of its last tick.
    pub normal: Vec3,
    /// Penetration depth along the normal, at least 0. The depth is 0 if the shapes only touch.
    pub depth: f32,
    pub(crate) surface: SurfacePoint,
    pub(crate) other_surface: SurfacePoint,
    /// The results of [`owner`](Self::owner) and [`other_owner`](Self::other_owner).
    pub(crate) owners: [Entity; 2],
    /// The results of [`is_sensor`](Self::is_sensor) and
    /// [`other_is_sensor`](Self::other_is_sensor). The two flags need no extra memory, because they
    /// fit into the padding of the event.
    pub(crate) are_sensors: [bool; 2],
    /// The result of [`time`](Self::time). An `f32` also fits into the padding of the event.
    pub(crate) time: f32,
}

/// A contact point on the surface of a collider. The point is stored as an offset from the
/// collider's translation, because an offset stays precise far from the origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
pub(crate) struct SurfacePoint {
    /// The index of the part that the point is on.
    pub part: u32,
    /// The translation of the collider at the time of the contact.
    pub translation: Vec3,
    /// The point relative to the translation, in the world's axes.
    pub offset: Vec3,
}

/// The phase of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, PartialEq, Hash)]
#[type_path = "headbutt"]
pub enum CollisionPhase {
    /// The first tick in which the two colliders touch.
    Started,
    /// Every further tick in which the colliders touch, even if neither collider moves.
    Ongoing,
    /// The first tick in which the colliders no longer touch. Exactly one `Ended` follows each
    /// `Started`.
    Ended(EndReason),
}

/// The reason why a contact ended.
///
/// If several reasons apply, the event has the first applicable reason in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Reflect)]
#[reflect(Clone, Debug, PartialEq, Hash)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub enum EndReason {
    /// One of the entities was despawned. The components of this entity no longer exist. For
    /// example, a reader that needs the entity's `Name` has to store the name while the contact
    /// lasts.
    Despawned,
    /// One of the entities is disabled: it has `Disabled` or another component of Bevy's
    /// `DefaultQueryFilters`.
    Disabled,
    /// The collider of one of the entities was removed.
    ColliderRemoved,
    /// One of the colliders is now inert, or its pose is not finite. Or one of the colliders is a
    /// half-space with a scale of 0 along an axis.
    Invalid,
    /// The entities' [`CollisionLayers`](crate::CollisionLayers) no longer let them interact.
    Filtered,
    /// Both colliders now have the same owner: see [`ColliderOf`](crate::ColliderOf).
    SameOwner,
    /// [`IgnoreCollisions`](crate::IgnoreCollisions) now excludes the pair.
    Ignored,
    /// One of the colliders is [`OneWay`](crate::OneWay), and the other entity now has
    /// [`PassThrough`](crate::PassThrough).
    PassThrough,
    /// A [filter](crate::AddCollisionFilter) of the app now rejects the pair or its contact.
    Rejected,
    /// The pair is no longer among the [`CandidatePairs`](crate::CandidatePairs) of the app.
    NotCandidate,
    /// The shapes no longer touch, because of a new pose, scale, parent, shape or dimension. Or a
    /// [`OneWay`](crate::OneWay) collider no longer supports the other collider.
    Separated,
}

impl CollisionEvent {
    /// Creates an event for a unit test. The plugin creates its own events.
    ///
    /// `normal` points from `entity` to `other`. A negative or NaN `depth` counts as 0, and an
    /// infinite `depth` as `f32::MAX`. The phase is `Started`, the contact point is the origin, the
    /// part indices are 0, and the time is 1. Each entity is its own owner, and neither entity is a
    /// sensor. [`with_phase`](Self::with_phase), [`with_point`](Self::with_point),
    /// [`with_parts`](Self::with_parts), [`with_owners`](Self::with_owners),
    /// [`with_sensors`](Self::with_sensors) and [`with_time`](Self::with_time) change these values.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mut world = World::new();
    /// let [ball, floor] = [(); 2].map(|()| world.spawn_empty().id());
    /// let hit = CollisionEvent::new(ball, floor, Dir3::NEG_Y, 0.25)
    ///     .with_phase(CollisionPhase::Ongoing)
    ///     .with_point(Vec3::new(3.0, -0.25, 0.0));
    /// assert_eq!(hit.minimum_translation(), Vec3::new(0.0, 0.25, 0.0));
    /// assert_eq!(hit.other_point(), Vec3::new(3.0, 0.0, 0.0));
    /// ```
    pub fn new(entity: Entity, other: Entity, normal: Dir3, depth: f32) -> Self {
        let event = Self {
            entity,
            other,
            phase: CollisionPhase::Started,
            normal: *normal,
            depth: if depth > 0.0 {
                depth.min(f32::MAX)
            } else {
                0.0
            },
            surface: SurfacePoint::default(),
            other_surface: SurfacePoint::default(),
            owners: [entity, other],
            are_sensors: [false; 2],
            time: 1.0,
        };
        event.with_point(Vec3::ZERO)
    }

    /// Returns this event with another phase.
    #[must_use]
    pub fn with_phase(self, phase: CollisionPhase) -> Self {
        Self { phase, ..self }
    }

    /// Returns this event with another contact point, for a unit test.
    ///
    /// `point` is on the surface of `entity`, in the world's frame. The point on the surface of
    /// `other` is `point - normal * depth`. The offsets are computed for entities at the origin.
    #[must_use]
    pub fn with_point(mut self, point: Vec3) -> Self {
        let at_origin = |part: u32, offset: Vec3| SurfacePoint {
            part,
            translation: Vec3::ZERO,
            offset,
        };
        self.surface = at_origin(self.surface.part, point);
        let other_point = point - self.normal * self.depth;
        self.other_surface = at_origin(self.other_surface.part, other_point);
        self
    }

    /// Returns this event with other part indices, for a unit test: see [`part`](Self::part).
    #[must_use]
    pub fn with_parts(mut self, part: u32, other_part: u32) -> Self {
        self.surface.part = part;
        self.other_surface.part = other_part;
        self
    }

    /// Returns this event with other owners, for a unit test: see [`owner`](Self::owner).
    #[must_use]
    pub fn with_owners(self, owner: Entity, other_owner: Entity) -> Self {
        let owners = [owner, other_owner];
        Self { owners, ..self }
    }

    /// Returns this event with other sensor flags, for a unit test: see
    /// [`is_sensor`](Self::is_sensor).
    #[must_use]
    pub fn with_sensors(self, is_sensor: bool, other_is_sensor: bool) -> Self {
        let are_sensors = [is_sensor, other_is_sensor];
        Self {
            are_sensors,
            ..self
        }
    }

    /// Returns this event with another time, for a unit test: see [`time`](Self::time). The time
    /// is clamped to 0..=1, and NaN counts as 1.
    #[must_use]
    pub fn with_time(self, time: f32) -> Self {
        let time = if time < 1.0 { time.max(0.0) } else { 1.0 };
        Self { time, ..self }
    }

    /// Returns the two entities, which are the key by which contacts are sorted.
    pub(crate) fn pair(&self) -> (Entity, Entity) {
        (self.entity, self.other)
    }

    /// Changes the indices of both parts: see [`Collisions`](crate::Collisions).
    pub(crate) fn renumber_parts(&mut self, new_of: impl Fn(Entity, u32) -> Option<u32>) {
        let sides = [
            (self.entity, &mut self.surface),
            (self.other, &mut self.other_surface),
        ];
        for (entity, surface) in sides {
            surface.part = new_of(entity, surface.part).unwrap_or(surface.part);
        }
    }

    /// Compares contacts by their pairs, then by their parts. If a body leaves a union of cells
    /// across two planes, both contacts may name the same part, so depths and normals decide.
    pub(crate) fn cmp_parts(&self, other: &Self) -> Ordering {
        let key = |it: &Self| (it.pair(), it.part(), it.other_part());
        let normal = |it: &Self| it.normal.to_array().map(f32::to_bits);
        let keys = key(self).cmp(&key(other));
        keys.then_with(|| other.depth.total_cmp(&self.depth))
            .then_with(|| normal(self).cmp(&normal(other)))
    }

    /// Returns `true` if the events are equal, ignoring `phase`.
    pub(crate) fn equals_except_phase(&self, other: &Self) -> bool {
        *self == other.with_phase(self.phase)
    }

    /// Returns `true` if the contact started in this tick.
    pub fn started(&self) -> bool {
        self.phase == CollisionPhase::Started
    }

    /// Returns `true` if the contact started in an earlier tick and has not ended.
    pub fn ongoing(&self) -> bool {
        self.phase == CollisionPhase::Ongoing
    }

    /// Returns `true` if the two entities touch: the contact started in this tick, or is ongoing.
    pub fn touching(&self) -> bool {
        !self.ended()
    }

    /// Returns `true` if the contact has ended.
    pub fn ended(&self) -> bool {
        self.end_reason().is_some()
    }

    /// Returns the reason why the contact ended, or `None` if the entities touch.
    pub fn end_reason(&self) -> Option<EndReason> {
        match self.phase {
            CollisionPhase::Ended(reason) => Some(reason),
            CollisionPhase::Started | CollisionPhase::Ongoing => None,
        }
    }

    /// Returns the shortest translation of `entity` that resolves this contact: `-normal * depth`.
    /// If both colliders are convex, they just touch afterwards.
    ///
    /// A compound or a surface may have other contacts, which this translation does not resolve.
    /// Likewise, if an entity is equally deep in two floor tiles, applying both translations moves
    /// the entity twice as far as needed. [`Collisions::push_out`](crate::Collisions::push_out)
    /// resolves all contacts of an entity together.
    pub fn minimum_translation(&self) -> Vec3 {
        self.minimum_translation_with_slop(0.0)
    }

    /// Returns the [`minimum_translation`](Self::minimum_translation), longer by `slop`. After this
    /// translation, a gap of width `slop` remains, or an overlap if `slop` is negative.
    pub fn minimum_translation_with_slop(&self, slop: f32) -> Vec3 {
        Vec3::ZERO - self.normal * (self.depth + slop)
    }

    /// Returns the translation of `entity` in the world at the [`time`](Self::time) of the contact.
    /// To stop a swept body at the touch, a response moves the body to this translation.
    pub fn translation(&self) -> Vec3 {
        self.surface.translation
    }

    /// Returns the point of `entity`'s surface that is deepest in `other`, in the world's frame.
    /// The point does not follow later moves of the entity.
    pub fn point(&self) -> Vec3 {
        self.surface.translation + self.surface.offset
    }

    /// Returns the point of `other`'s surface that is deepest in `entity`, in the world's frame:
    /// [`point`](Self::point)` - normal * depth`.
    pub fn other_point(&self) -> Vec3 {
        self.other_surface.translation + self.other_surface.offset
    }

    /// Returns [`point`](Self::point) relative to the translation of `entity`, in the world's axes.
    /// Far from the origin, the offset is more precise than the point.
    pub fn offset(&self) -> Vec3 {
        self.surface.offset
    }

    /// Returns [`other_point`](Self::other_point) relative to the translation of `other`, in the
    /// world's axes.
    pub fn other_offset(&self) -> Vec3 {
        self.other_surface.offset
    }

    /// Returns the index of the touching part of `entity`'s collider. For a surface, the result is
    /// the index of the facet. For a single shape, the index is 0.
    ///
    /// If several parts touch, the result is the index of the deepest part.
    /// [`Collisions::parts`](crate::Collisions::parts) returns the contacts of all parts.
    pub fn part(&self) -> u32 {
        self.surface.part
    }

    /// Returns the index of the touching part of `other`'s collider: see [`part`](Self::part).
    pub fn other_part(&self) -> u32 {
        self.other_surface.part
    }

    /// Returns the owner of `entity`: the entity in its [`ColliderOf`](crate::ColliderOf), or
    /// `entity` itself.
    pub fn owner(&self) -> Entity {
        self.owners[0]
    }

    /// Returns the owner of `other`: see [`owner`](Self::owner).
    pub fn other_owner(&self) -> Entity {
        self.owners[1]
    }

    /// Returns `true` if `entity` has a [`Sensor`](crate::Sensor).
    pub fn is_sensor(&self) -> bool {
        self.are_sensors[0]
    }

    /// Returns `true` if `other` has a [`Sensor`](crate::Sensor).
    pub fn other_is_sensor(&self) -> bool {
        self.are_sensors[1]
    }

    /// Returns `true` if neither entity has a [`Sensor`](crate::Sensor), so that both colliders are
    /// solid.
    pub fn is_solid(&self) -> bool {
        !self.is_sensor() && !self.other_is_sensor()
    }

    /// Returns the time of the contact as a fraction of the tick. The time is 0 in the poses of the
    /// previous tick, and 1 in the poses of this tick.
    ///
    /// The time is less than 1 only for a touch on the path of a [`Swept`](crate::Swept) collider,
    /// before the end of the tick. In that case, the normal, the depth and the points are computed
    /// for this time. [`remaining_time`](Self::remaining_time) returns the fraction of the motion
    /// that is left.
    pub fn time(&self) -> f32 {
        self.time
    }

    /// Returns `1 - time`, the fraction of the tick that is left after the contact. To reflect a
    /// swept body, a response moves the body to [`translation`](Self::translation), and then by the
    /// new velocity times this fraction of the time step.
    pub fn remaining_time(&self) -> f32 {
        1.0 - self.time
    }

    /// Returns the same contact as seen from `other`.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Self {
            entity: self.other,
            other: self.entity,
            // `-normal` would turn 0 into -0.
            normal: Vec3::ZERO - self.normal,
            surface: self.other_surface,
            other_surface: self.surface,
            owners: [self.other_owner(), self.owner()],
            are_sensors: [self.other_is_sensor(), self.is_sensor()],
            ..*self
        }
    }

    /// Returns the same contact as seen from `entity`, or `None` if the contact does not involve
    /// `entity`.
    pub fn seen_from(&self, entity: Entity) -> Option<Self> {
        self.seen_by(|side| side == entity)
    }

    /// Returns the same contact as seen from the entity for which `predicate` returns `true`, or
    /// `None` if there is no such entity. If both entities match, the event is returned unchanged.
    pub fn seen_by(&self, mut predicate: impl FnMut(Entity) -> bool) -> Option<Self> {
        if predicate(self.entity) {
            Some(*self)
        } else if predicate(self.other) {
            Some(self.flipped())
        } else {
            None
        }
    }

    /// Returns the same contact as seen from the collider of an owner: see [`owner`](Self::owner).
    /// Returns `None` if `owner` owns neither collider.
    pub fn seen_from_owner(&self, owner: Entity) -> Option<Self> {
        let sides = [*self, self.flipped()];
        sides.into_iter().find(|side| side.owner() == owner)
    }

    /// Returns only one event for each pair of owners: the earliest event. Among equally early
    /// events, the event with the greatest depth is returned. So if a bullet touches the head and
    /// the body of an enemy in one tick, the result has one event.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(i32);
    /// #[derive(Component)]
    /// struct Sword;
    ///
    /// /// Runs in `FixedPostUpdate`, after `HeadbuttSystems::Report`.
    /// fn hurt(
    ///     mut hits: MessageReader<CollisionEvent>,
    ///     swords: Query<(), With<Sword>>,
    ///     mut healths: Query<&mut Health>,
    /// ) {
    ///     let started = hits.read().filter(|hit| hit.started());
    ///     for hit in CollisionEvent::once_per_owners(started) {
    ///         // Seen from the sword, the other owner is hurt. Two swords hurt nobody.
    ///         if let Some(hit) = hit.seen_by(|entity| swords.contains(entity))
    ///             && !swords.contains(hit.other)
    ///             && let Ok(mut health) = healths.get_mut(hit.other_owner())
    ///         {
    ///             health.0 -= 10;
    ///         }
    ///     }
    /// }
    /// # let _ = hurt;
    /// ```
    ///
    /// A bullet's owner is its shooter. So two bullets of one shooter that hit one enemy in a tick
    /// count once. To count each bullet, skip repeated pairs `(hit.entity, hit.other_owner())`, as
    /// in the [guide](crate::guide::response#hitboxes).
    ///
    /// The returned events keep their order. Pass only the events of a single tick. If a bullet
    /// touches the body in one tick and the head in the next tick, each of the two ticks sends a
    /// `Started`.
    pub fn once_per_owners<'a>(
        events: impl IntoIterator<Item = &'a Self>,
    ) -> impl Iterator<Item = Self> {
        let owners = |event: &Self| {
            let [a, b] = event.owners;
            (a.min(b), a.max(b))
        };
        let mut events: Vec<_> = events.into_iter().copied().zip(0_usize..).collect();
        events.sort_by(|(a, _), (b, _)| {
            let pairs = owners(a).cmp(&owners(b));
            pairs
                .then(a.time.total_cmp(&b.time))
                .then(b.depth.total_cmp(&a.depth))
        });
        events.dedup_by_key(|(event, _)| owners(event));
        events.sort_unstable_by_key(|(_, number)| *number);
        events.into_iter().map(|(event, _)| event)
    }

    /// Returns the contact in `Vec2`: the x and y of each vector.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Velocity(Vec2);
    ///
    /// fn bounce(mut hits: MessageReader<CollisionEvent>, mut balls: Query<&mut Velocity>) {
    ///     for hit in hits.read().filter(|hit| hit.started()) {
    ///         for side in [*hit, hit.flipped()] {
    ///             if let Ok(mut velocity) = balls.get_mut(side.entity) {
    ///                 velocity.0 = velocity.0.reflect(side.in_2d().normal);
    ///             }
    ///         }
    ///     }
    /// }
    /// # let mut world = World::new();
    /// # let [ball, wall] = [(); 2].map(|()| world.spawn(Velocity(Vec2::ONE)).id());
    /// # world.init_resource::<Messages<CollisionEvent>>();
    /// # world.write_message(CollisionEvent::new(ball, wall, Dir3::X, 0.5));
    /// # use bevy::ecs::system::RunSystemOnce;
    /// # world.run_system_once(bounce).unwrap();
    /// # assert_eq!(world.get::<Velocity>(ball).unwrap().0, Vec2::new(-1.0, 1.0));
    /// ```
    pub fn in_2d(&self) -> Contact2d {
        Contact2d {
            normal: self.normal.truncate(),
            depth: self.depth,
            minimum_translation: self.minimum_translation().truncate(),
            point: self.point().truncate(),
            other_point: self.other_point().truncate(),
            offset: self.offset().truncate(),
            other_offset: self.other_offset().truncate(),
        }
    }
}

/// The contact of a [`CollisionEvent`] in `Vec2`: see [`CollisionEvent::in_2d`].
///
/// All vectors are in the world's frame and units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contact2d {
    /// Unit vector from `entity` to `other`.
    pub normal: Vec2,
    /// Penetration depth along the normal, at least 0.
    pub depth: f32,
    /// The shortest translation of `entity` that resolves this contact: see
    /// [`CollisionEvent::minimum_translation`].
    pub minimum_translation: Vec2,
    /// The point of `entity`'s surface that is deepest in `other`.
    pub point: Vec2,
    /// The point of `other`'s surface that is deepest in `entity`.
    pub other_point: Vec2,
    /// `point` relative to the translation of `entity`.
    pub offset: Vec2,
    /// `other_point` relative to the translation of `other`.
    pub other_offset: Vec2,
}

/// An event for an entity that started to touch another entity. An earlier observer may have
/// despawned the other entity.
///
/// This event dereferences to the [`CollisionEvent`] as seen from the observed entity. The event is
/// triggered on each of the two entities. Each is directly followed by its
/// [owner](crate::ColliderOf), if the owner is a different entity. So an observer of all entities
/// (`App::add_observer`) runs at least twice for each collision. In an observer of an owner,
/// `hit.entity` is the collider, and `hit.owner()` is the observed entity.
///
/// Observers run in [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report), after the messages
/// are written and [`Collisions`](crate::Collisions) is updated. Observers may mutate the world
/// freely.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn break_on_hit(hit: On<CollisionStarted>, mut commands: Commands) {
///     println!("hit {} along {}", hit.other, hit.normal);
///     commands.entity(hit.entity).despawn();
/// }
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn(Collider::circle(1.0)).observe(break_on_hit);
/// }
///
/// // A unit test of the observer:
/// let mut world = World::new();
/// let vase = world.spawn_empty().observe(break_on_hit).id();
/// let floor = world.spawn_empty().id();
/// let hit = CollisionEvent::new(vase, floor, Dir3::NEG_Y, 0.1);
/// world.trigger(CollisionStarted::new(hit));
/// world.flush();
/// assert!(world.get_entity(vase).is_err());
/// ```
#[derive(EntityEvent, Deref, Clone, Copy, Debug, PartialEq)]
pub struct CollisionStarted {
    #[event_target]
    target: Entity,
    #[deref]
    hit: CollisionEvent,
}

/// An event for an entity that no longer touches another entity. The other entity may no longer
/// exist.
///
/// This event dereferences to the [`CollisionEvent`] as seen from the observed entity. The event
/// has the geometry of the last tick of the contact, and [`end_reason`](CollisionEvent::end_reason)
/// returns the reason for the end. Observers run in the same system set as the observers of
/// [`CollisionStarted`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn on_end(hit: On<CollisionEnded>, mut commands: Commands) {
///     if hit.end_reason() == Some(EndReason::Despawned) {
///         commands.entity(hit.entity).insert(Name::new("lonely"));
///     }
/// }
///
/// let mut world = World::new();
/// let [plant, pot] = [(); 2].map(|()| world.spawn_empty().id());
/// world.entity_mut(plant).observe(on_end);
/// let hit = CollisionEvent::new(plant, pot, Dir3::NEG_Y, 0.0);
/// world.trigger(CollisionEnded::new(hit, EndReason::Despawned));
/// world.flush();
/// assert!(world.get::<Name>(plant).is_some());
/// ```
#[derive(EntityEvent, Deref, Clone, Copy, Debug, PartialEq)]
pub struct CollisionEnded {
    #[event_target]
    target: Entity,
    #[deref]
    hit: CollisionEvent,
}

impl CollisionStarted {
    /// Creates the event for `hit.entity`, with the phase `Started`, for a unit test: see the
    /// example in [`CollisionStarted`].
    pub fn new(hit: CollisionEvent) -> Self {
        Self {
            target: hit.entity,
            hit: hit.with_phase(CollisionPhase::Started),
        }
    }

    /// Returns this event for another entity, such as the owner of `hit.entity`.
    #[must_use]
    pub fn at(self, target: Entity) -> Self {
        Self { target, ..self }
    }
}

impl CollisionEnded {
    /// Creates the event for `hit.entity`, with the phase `Ended`, for a unit test: see the example
    /// in [`CollisionEnded`].
    pub fn new(hit: CollisionEvent, reason: EndReason) -> Self {
        Self {
            target: hit.entity,
            hit: hit.with_phase(CollisionPhase::Ended(reason)),
        }
    }

    /// Returns this event for another entity, such as the owner of `hit.entity`.
    #[must_use]
    pub fn at(self, target: Entity) -> Self {
        Self { target, ..self }
    }
}
