//! What a collision is to its readers: the message, and the entity events for observers.

use bevy::prelude::*;

/// Two colliders touch, or have ceased to: one message per touching pair and tick.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// /// Moves the player out of all that it touches. It has no parent, so that its frame is the world's.
/// fn push_out(
///     mut hits: MessageReader<CollisionEvent>,
///     player: Single<(Entity, &mut Transform), With<Player>>,
/// ) {
///     let (player, mut transform) = player.into_inner();
///     let mut moved = Vec3::ZERO;
///     for hit in hits.read().filter_map(|hit| hit.seen_from(player)) {
///         if hit.touching() {
///             moved += hit.minimum_translation_after(moved);
///         }
///     }
///     transform.translation += moved;
/// }
///
/// #[derive(Component)]
/// struct Player;
/// ```
///
/// In the world's frame and units; in 2D, z is 0, so that all of it applies as it stands to the `Transform` of an entity
/// without a parent. (That of a child is in its parent's frame.)
///
/// # When to read
///
/// Written by [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report). A response belongs after that set in the same
/// schedule, or in `FixedLast`. A reader in `Update` sees the events of all ticks of the frame, however many there were.
/// A reader in `FixedUpdate` sees them one tick late. In a pause, see
/// [`HeadbuttPlugin::in_schedule`](crate::HeadbuttPlugin::in_schedule).
#[derive(Message, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Message, Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
pub struct CollisionEvent {
    /// One of the two. Which one is not meaningful, but always the same: [`seen_from`](Self::seen_from) and
    /// [`seen_by`](Self::seen_by) turn the event round where needed.
    pub entity: Entity,
    /// The other one.
    pub other: Entity,
    /// Whether the contact began, goes on, or ended.
    pub phase: CollisionPhase,
    /// Unit vector from `entity` to `other`: the direction in which `other` gets out by the shortest way. After the end:
    /// as of the last contact, like all that follows.
    pub normal: Vec3,
    /// How deep they are in each other, along the normal; 0 if they only touch.
    pub depth: f32,
    pub(crate) surface: Surface,
    pub(crate) other_surface: Surface,
}

/// A contact point on a collider, relative to the translation that the collider had: exact far from the origin.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
pub(crate) struct Surface {
    /// The number of the part of the collider that it is on.
    pub part: u32,
    pub translation: Vec3,
    pub offset: Vec3,
}

/// The phase of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, PartialEq, Hash)]
#[type_path = "headbutt"]
pub enum CollisionPhase {
    /// The first tick in which the two touch.
    Started,
    /// Every further tick in which they do, also at rest.
    Ongoing,
    /// They no longer touch, and why. Exactly one for each `Started`.
    Ended(EndReason),
}

/// Why a contact ended.
///
/// If there is more than one reason, the first one in the order of this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Reflect)]
#[reflect(Clone, Debug, PartialEq, Hash)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub enum EndReason {
    /// An entity of the two was despawned. Nothing of it can be looked up any more: what a reader wants to know of it,
    /// such as its `Name`, has to be kept since the contact began.
    Despawned,
    /// An entity of the two is disabled: it has `Disabled` or another component of Bevy's `DefaultQueryFilters`.
    Disabled,
    /// A collider was removed from its entity.
    ColliderRemoved,
    /// A collider has become inert, or its pose is no longer finite or gone, or flattens the half-space that it is.
    Invalid,
    /// Their [`CollisionLayers`](crate::CollisionLayers) no longer let them meet.
    Filtered,
    /// The candidate pairs, which the app supplies itself, no longer contain the two.
    NotCandidate,
    /// Their shapes no longer touch, by whatever change of pose, scale, parent, shape or dimension.
    Separated,
}

impl CollisionEvent {
    /// What contacts are ordered by.
    pub(crate) fn pair(&self) -> (Entity, Entity) {
        (self.entity, self.other)
    }

    /// Whether it tells the same but for the phase.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        let phase = self.phase;
        *self == Self { phase, ..*other }
    }

    /// Whether the contact began in this tick.
    pub fn started(&self) -> bool {
        self.phase == CollisionPhase::Started
    }

    /// Whether the contact began in an earlier tick and goes on.
    pub fn ongoing(&self) -> bool {
        self.phase == CollisionPhase::Ongoing
    }

    /// Whether the two touch: the contact began in this tick or goes on.
    pub fn touching(&self) -> bool {
        !self.ended()
    }

    /// Whether the contact has ended.
    pub fn ended(&self) -> bool {
        self.end_reason().is_some()
    }

    /// Why the contact has ended, if it has.
    pub fn end_reason(&self) -> Option<EndReason> {
        match self.phase {
            CollisionPhase::Ended(reason) => Some(reason),
            CollisionPhase::Started | CollisionPhase::Ongoing => None,
        }
    }

    /// The shortest vector that moves `entity` out of `other`, so that they just touch: `-normal * depth`.
    ///
    /// For one contact. An entity that touches two floor tiles at once is as deep in each of them, and would be moved
    /// twice: see [`minimum_translation_after`](Self::minimum_translation_after).
    pub fn minimum_translation(&self) -> Vec3 {
        self.minimum_translation_with_slop(0.0)
    }

    /// The same, and `slop` beyond it, so that a gap of that width remains; with a negative slop, an overlap.
    pub fn minimum_translation_with_slop(&self, slop: f32) -> Vec3 {
        Vec3::ZERO - self.normal * (self.depth + slop)
    }

    /// What is missing of the minimum translation when `entity` has been moved already, for the sake of other contacts of
    /// the same tick: along the normal, and nothing if that move has sufficed.
    ///
    /// `moved` is in the world's frame. Adding up over the contacts of an entity, each after what came before, moves it
    /// out of all of them where their normals are alike or at right angles. For any others, and the shortest way, see
    /// [`CollisionState::push_out`](crate::CollisionState::push_out).
    pub fn minimum_translation_after(&self, moved: Vec3) -> Vec3 {
        Vec3::ZERO - self.normal * (self.depth + moved.dot(self.normal)).max(0.0)
    }

    /// The point of `entity`'s surface that is deepest in `other`, where it was in this tick: it does not follow later
    /// moves.
    pub fn point(&self) -> Vec3 {
        self.surface.translation + self.surface.offset
    }

    /// The point of `other`'s surface that is deepest in `entity`: [`point`](Self::point)` - normal * depth`.
    pub fn other_point(&self) -> Vec3 {
        self.other_surface.translation + self.other_surface.offset
    }

    /// [`point`](Self::point) relative to the translation of `entity`, in the world's axes. Far from the origin it keeps
    /// the digits that a point in the world loses.
    pub fn offset(&self) -> Vec3 {
        self.surface.offset
    }

    /// [`other_point`](Self::other_point) relative to the translation of `other`, in the world's axes.
    pub fn other_offset(&self) -> Vec3 {
        self.other_surface.offset
    }

    /// Which part of `entity`'s collider this contact is on: its number in the order in which the parts (the facets of a mesh)
    /// were given, and 0 for a collider of one shape.
    ///
    /// Of all parts that touch (of all pairs of parts, if both have some) it is the deepest;
    /// [`CollisionState::parts`](crate::CollisionState::parts) has them all.
    pub fn part(&self) -> u32 {
        self.surface.part
    }

    /// Which part of `other`'s collider this contact is on.
    pub fn other_part(&self) -> u32 {
        self.other_surface.part
    }

    /// The same contact as seen from `other`.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Self {
            entity: self.other,
            other: self.entity,
            phase: self.phase,
            // Not -normal, which makes -0 of 0.
            normal: Vec3::ZERO - self.normal,
            depth: self.depth,
            surface: self.other_surface,
            other_surface: self.surface,
        }
    }

    /// The same contact with `entity` as [`entity`](Self::entity), or `None` if it is neither of the two.
    pub fn seen_from(&self, entity: Entity) -> Option<Self> {
        self.seen_by(|side| side == entity)
    }

    /// The same contact with a side that fulfils `predicate` as [`entity`](Self::entity), or `None` if neither does. If
    /// both do, it stays as it is.
    pub fn seen_by(&self, mut predicate: impl FnMut(Entity) -> bool) -> Option<Self> {
        if predicate(self.entity) {
            Some(*self)
        } else if predicate(self.other) {
            Some(self.flipped())
        } else {
            None
        }
    }
}

/// Observed on an entity: it has begun to touch another one. That one may have been despawned since, by an observer
/// before.
///
/// Derefs to the [`CollisionEvent`], turned so that the observed entity is its `entity`. Both sides are told: an observer
/// of all entities (`App::add_observer`) hears of each collision twice, once from each side.
///
/// Observers run in [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report), after the messages are written and
/// [`Collisions`](crate::Collisions) is up to date. They may do to the world what they like.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     commands
///         .spawn(Collider::from(Circle::new(1.0)))
///         .observe(|hit: On<CollisionStarted>, mut commands: Commands| {
///             println!("hit {} along {}", hit.other, hit.normal);
///             commands.entity(hit.entity).despawn();
///         });
/// }
/// ```
#[derive(EntityEvent, Deref, Clone, Copy, Debug, PartialEq)]
pub struct CollisionStarted {
    #[event_target]
    target: Entity,
    #[deref]
    hit: CollisionEvent,
}

/// Observed on an entity: it has ceased to touch another one, which may no longer exist.
///
/// Derefs to the [`CollisionEvent`], turned so that the observed entity is its `entity`; it carries the last contact,
/// and [`end_reason`](CollisionEvent::end_reason) says why it ended. For the rest see [`CollisionStarted`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     commands
///         .spawn(Collider::from(Circle::new(1.0)))
///         .observe(|hit: On<CollisionEnded>| {
///             if hit.end_reason() == Some(EndReason::Despawned) {
///                 println!("{} is gone", hit.other);
///             }
///         });
/// }
/// ```
#[derive(EntityEvent, Deref, Clone, Copy, Debug, PartialEq)]
pub struct CollisionEnded {
    #[event_target]
    target: Entity,
    #[deref]
    hit: CollisionEvent,
}

impl CollisionStarted {
    pub(crate) fn new(hit: CollisionEvent) -> Self {
        Self {
            target: hit.entity,
            hit,
        }
    }
}

impl CollisionEnded {
    pub(crate) fn new(hit: CollisionEvent) -> Self {
        Self {
            target: hit.entity,
            hit,
        }
    }
}
