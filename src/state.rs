//! What lasts from tick to tick.

use bevy::prelude::*;

use crate::{event::CollisionEvent, order::merge};

/// What touches what, as of the last tick: all of the state that lasts from one tick to the next.
///
/// A contact is a function of this tick's shapes and poses alone; only `Started` and `Ended` depend on the tick before.
/// So a rollback that restores this resource, together with the transforms, plays the same events again.
///
/// Two things are derived from it and are brought up to date by the next tick: [`CollidingEntities`](crate::CollidingEntities),
/// and what observers and readers of messages have made of the ticks that were undone, which
/// is theirs to undo. Candidate pairs that the app supplies are the app's as well.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::CollisionState;
///
/// #[derive(Resource)]
/// struct Saved(CollisionState);
///
/// fn save(state: Res<CollisionState>, mut saved: ResMut<Saved>) {
///     saved.0 = state.clone();
/// }
///
/// fn restore(mut state: ResMut<CollisionState>, saved: Res<Saved>) {
///     *state = saved.0.clone();
/// }
/// ```
///
/// Systems read it through [`Collisions`](crate::Collisions), in which it is the same.
#[derive(Resource, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct CollisionState {
    /// In order of (entity, other), and each pair once, with the lesser entity first.
    contacts: Vec<CollisionEvent>,
    /// The `other`s with the numbers of their contacts, in order.
    by_other: Vec<(Entity, u32)>,
    /// All contacts of the pairs of which more than one part touches, in the same order, then in that of the parts.
    parts: Vec<CollisionEvent>,
}

impl<'a> IntoIterator for &'a CollisionState {
    type Item = CollisionEvent;
    type IntoIter = core::iter::Copied<core::slice::Iter<'a, CollisionEvent>>;

    fn into_iter(self) -> Self::IntoIter {
        self.contacts.iter().copied()
    }
}

impl CollisionState {
    /// The contacts, in order.
    pub(crate) fn contacts(&self) -> &[CollisionEvent] {
        &self.contacts
    }

    /// The contacts of parts, in order.
    pub(crate) fn parts_of_all(&self) -> &[CollisionEvent] {
        &self.parts
    }

    /// Takes the contacts of a tick, and those of the pairs of which several parts touch, for which it gives back the old ones.
    /// Both are in order. `numbers` has the number that each of the old contacts has among the new ones; too large a number if
    /// it has ended.
    pub(crate) fn replace(
        &mut self,
        (contacts, parts): (&mut Vec<CollisionEvent>, &mut Vec<CollisionEvent>),
        numbers: &[u32],
        newcomers: &mut Vec<(Entity, u32)>,
    ) {
        core::mem::swap(&mut self.contacts, contacts);
        core::mem::swap(&mut self.parts, parts);
        let Self {
            contacts, by_other, ..
        } = self;
        // Contacts that go on keep their order.
        by_other.retain_mut(|(_, number)| {
            *number = numbers.get(*number as usize).copied().unwrap_or(u32::MAX);
            (*number as usize) < contacts.len()
        });
        newcomers.clear();
        let started = contacts.iter().zip(0..).filter(|(it, _)| it.started());
        newcomers.extend(started.map(|(contact, number)| (contact.other, number)));
        newcomers.sort_unstable();
        let kept = by_other.len();
        merge(by_other, kept, newcomers);
    }

    /// Each touching pair once, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = CollisionEvent> {
        self.contacts.iter().copied()
    }

    /// The contacts of one entity, each turned so that it is their `entity`, in a fixed order.
    pub fn of(&self, entity: Entity) -> impl Iterator<Item = CollisionEvent> {
        let start = self
            .contacts
            .partition_point(|contact| contact.entity < entity);
        let as_entity = self.contacts.iter().skip(start);
        let start = self.by_other.partition_point(|(other, _)| *other < entity);
        let as_other = self
            .by_other
            .iter()
            .skip(start)
            .filter_map(|(_, number)| self.contacts.get(*number as usize));
        as_entity
            .take_while(move |contact| contact.entity == entity)
            .copied()
            .chain(
                as_other
                    .take_while(move |contact| contact.other == entity)
                    .map(CollisionEvent::flipped),
            )
    }

    /// The contact of two entities, turned so that the first one is its `entity`, or `None` if they do not touch.
    pub fn between(&self, entity: Entity, other: Entity) -> Option<CollisionEvent> {
        let pair = (entity.min(other), entity.max(other));
        self.contacts
            .binary_search_by_key(&pair, |contact| (contact.entity, contact.other))
            .ok()
            .and_then(|number| self.contacts.get(number))
            .and_then(|contact| contact.seen_from(entity))
    }

    /// The contacts of all parts of two entities that touch, turned so that the first one is their `entity`, in the order of
    /// their [`part`](CollisionEvent::part)s in the lesser of the two entities. Colliders of one shape have one at most.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn touched_parts(collisions: Collisions, robot: Single<Entity, With<Name>>) {
    ///     for hit in collisions.of(*robot) {
    ///         for part in collisions.parts(hit.entity, hit.other) {
    ///             println!("part {} is {} deep in part {}", part.part(), part.depth, part.other_part());
    ///         }
    ///     }
    /// }
    /// ```
    pub fn parts(&self, entity: Entity, other: Entity) -> impl Iterator<Item = CollisionEvent> {
        let pair = (entity.min(other), entity.max(other));
        let of = |contact: &CollisionEvent| (contact.entity, contact.other);
        let start = self.parts.partition_point(|contact| of(contact) < pair);
        let several = self.parts.iter().skip(start);
        let several = several.take_while(move |contact| of(contact) == pair);
        let only = self.between(entity, other);
        let has_several = several.clone().next().is_some();
        let phase = only.map(|contact| contact.phase);
        several
            .filter_map(move |contact| {
                let phase = phase?;
                CollisionEvent { phase, ..*contact }.seen_from(entity)
            })
            .chain(only.filter(|_| !has_several))
    }

    /// The contacts of all parts of one entity that touch, and of all parts of what it touches, each turned so that it is their
    /// `entity`: of a level that is one mesh, the floor as well as the wall. [`of`](Self::of) has the deepest of each pair alone.
    pub fn parts_of(&self, entity: Entity) -> impl Iterator<Item = CollisionEvent> {
        self.of(entity)
            .flat_map(move |hit| self.parts(entity, hit.other))
    }

    /// Whether two entities touch.
    pub fn contains(&self, entity: Entity, other: Entity) -> bool {
        self.between(entity, other).is_some()
    }

    /// How many pairs touch.
    pub fn len(&self) -> usize {
        self.contacts.len()
    }

    /// Whether nothing touches.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }
}
