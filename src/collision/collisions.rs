//! The contacts of the last tick. Nothing else from earlier ticks affects the events of the plugin.
//! The report calls [`Collisions::update`] once per tick, unless nothing has changed.

use core::cmp::Ordering;

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};

use crate::{
    buffer::reserve_amortized,
    collision::{CollisionEvent, CollisionPhase, PreviousPoses},
    math::{DVec2, DVec3},
    sorted::merge,
};

/// The pairs of entities that touched in the last tick. Systems read this resource as
/// `Res<Collisions>`. Without [`HeadbuttPlugin`](crate::HeadbuttPlugin), such a system panics with
/// Bevy's error *Resource does not exist*.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Player;
///
/// fn is_grounded(collisions: Res<Collisions>, player: Single<Entity, With<Player>>) {
///     // A level that is one mesh has a contact for each touching part, such as floor and wall.
///     let is_ground = |hit: CollisionEvent| hit.is_solid() && hit.normal.y < -0.7;
///     let grounded = collisions.parts_of(*player).any(is_ground);
///     println!("{} contacts, grounded: {grounded}", collisions.deepest_of(*player).count());
/// }
/// ```
///
/// [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report) updates the resource once per tick.
/// Between ticks the resource does not change, so it may list entities that no longer exist.
///
/// # Rollback
///
/// This resource is the plugin's only data from earlier ticks that affect events. The geometry of a
/// contact depends only on the shapes and poses of its tick. Only the phase, and whether a body
/// touches a [`OneWay`](crate::OneWay) collider, depend on the previous tick. If any collider is
/// one-way or [`Swept`](crate::Swept), the resource also has the poses of the previous tick, in
/// which swept paths begin. A rollback that restores this resource and the transforms reproduces
/// the same events.
///
/// A system that restores this resource cannot have a [`SpatialQuery`](crate::SpatialQuery), which
/// reads the resource. Make the queries in another system.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Resource)]
/// struct Saved(Collisions);
///
/// fn save(collisions: Res<Collisions>, mut saved: ResMut<Saved>) {
///     saved.0 = collisions.clone();
/// }
///
/// fn restore(mut collisions: ResMut<Collisions>, saved: Res<Saved>) {
///     *collisions = saved.0.clone();
/// }
/// ```
///
/// After a rollback, the next tick updates [`CollidingEntities`](crate::CollidingEntities). The app
/// itself has to restore its [`CandidatePairs`](crate::CandidatePairs), and to undo the effects of
/// its observers and message readers.
///
/// A rollback that respawns its entities maps a copy of the resource to the new entities:
///
/// ```
/// use bevy::{ecs::entity::{EntityHashMap, MapEntities}, prelude::*};
/// use headbutt::prelude::*;
///
/// /// `spawned` maps each old entity to the respawned entity.
/// fn restore(saved: &Collisions, spawned: &mut EntityHashMap<Entity>) -> Collisions {
///     let mut collisions = saved.clone();
///     collisions.map_entities(spawned);
///     collisions
/// }
/// ```
///
/// Scenes of a whole world omit this resource, because contacts of one world are meaningless in
/// another world. In the first tick after loading, contacts of loaded entities are `Started`.
/// Contacts between entities that existed before loading continue.
///
/// # Unit tests
///
/// To test a system that reads this resource, collect the resource from [`CollisionEvent`]s:
///
/// ```
/// use bevy::{ecs::system::RunSystemOnce, prelude::*};
/// use headbutt::prelude::*;
///
/// let mut world = World::new();
/// let [ball, wall] = [(); 2].map(|()| world.spawn_empty().id());
/// world.insert_resource(Collisions::from_iter([CollisionEvent::new(ball, wall, Dir3::X, 0.5)]));
///
/// let push_out = move |collisions: Res<Collisions>| collisions.push_out(ball, |_| true);
/// let out = world.run_system_once(push_out).unwrap();
/// assert_eq!(out.translation(), Vec3::new(-0.5, 0.0, 0.0));
/// ```
#[derive(Resource, Clone, Debug, Default, PartialEq, Reflect)]
// The type is opaque, because reflection applies lists element by element: the result would not be
// sorted.
#[reflect(opaque, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct Collisions {
    /// One contact per touching pair, sorted by (entity, other). In each contact, `entity` is lower
    /// than `other`.
    contacts: Vec<CollisionEvent>,
    /// The index of the `other` entity and the index of each contact, sorted.
    by_other: Vec<(u32, u32)>,
    /// The contacts of all parts, for pairs with several touching parts. The list is sorted by
    /// pair, then by part.
    parts: Vec<CollisionEvent>,
    pub(crate) poses_2d: PreviousPoses<DVec2>,
    pub(crate) poses_3d: PreviousPoses<DVec3>,
}

impl<'a> IntoIterator for &'a Collisions {
    type Item = CollisionEvent;
    type IntoIter = core::iter::Copied<core::slice::Iter<'a, CollisionEvent>>;

    fn into_iter(self) -> Self::IntoIter {
        self.contacts.iter().copied()
    }
}

impl MapEntities for Collisions {
    fn map_entities<E: EntityMapper>(&mut self, mapper: &mut E) {
        for contact in self.contacts.iter_mut().chain(&mut self.parts) {
            contact.entity = mapper.get_mapped(contact.entity);
            contact.other = mapper.get_mapped(contact.other);
            contact.owners = contact.owners.map(|owner| mapper.get_mapped(owner));
        }
        self.restore_order();
        self.poses_2d.map_entities(mapper);
        self.poses_3d.map_entities(mapper);
    }
}

/// Collects the events of pairs that touch. Events with the phase `Ended` are left out.
///
/// Several events of one pair become contacts of its parts: see [`CollisionEvent::with_parts`]. The
/// event with the greatest depth becomes the contact of the pair.
impl FromIterator<CollisionEvent> for Collisions {
    fn from_iter<I: IntoIterator<Item = CollisionEvent>>(events: I) -> Self {
        let touching = events.into_iter().filter(CollisionEvent::touching);
        let mut parts: Vec<_> = touching.collect();
        parts.sort_by(|a, b| b.depth.total_cmp(&a.depth));
        let mut collisions = Self {
            contacts: parts.clone(),
            by_other: Vec::new(),
            parts,
            ..Self::default()
        };
        collisions.restore_order();
        let pairs = collisions.parts.chunk_by(|a, b| a.pair() == b.pair());
        let several = pairs.filter(|parts| parts.len() > 1);
        collisions.parts = several.flatten().copied().collect();
        collisions
    }
}

impl Collisions {
    /// Flips contacts so that `entity` is lower than `other`, and removes contacts of an entity
    /// with itself. Then sorts all lists, and keeps only the first contact of each pair and of each
    /// pair of parts.
    fn restore_order(&mut self) {
        for list in [&mut self.contacts, &mut self.parts] {
            for contact in &mut *list {
                if contact.other < contact.entity {
                    *contact = contact.flipped();
                }
            }
            list.retain(|contact| contact.entity != contact.other);
        }
        self.contacts.sort_by_key(CollisionEvent::pair);
        self.contacts.dedup_by_key(|contact| contact.pair());
        let key = |hit: &CollisionEvent| (hit.pair(), hit.part(), hit.other_part());
        self.parts.sort_by_key(key);
        self.parts.dedup_by_key(|contact| key(contact));
        let others = self.contacts.iter().map(|hit| hit.other.index_u32());
        self.by_other = others.zip(0..).collect();
        self.by_other.sort_unstable();
    }

    /// Replaces the contacts of the last tick with the contacts of this tick.
    ///
    /// `found` must be sorted by pair, with the phase `Ongoing`, and is used up. If the pair of an
    /// old contact is not in `found`, `phase_of_unfound` returns the new phase of the contact:
    /// `Ongoing` or `Ended`. `report` is called in order with each contact, even if the contact has
    /// ended, and with the pair's old contact, whose phase has no meaning. `report` returns the
    /// phase to store.
    pub(crate) fn update(
        &mut self,
        found: &mut Vec<CollisionEvent>,
        changes: &mut Changes,
        phase_of_unfound: impl Fn(&CollisionEvent) -> CollisionPhase,
        report: impl FnMut(&CollisionEvent, Option<&CollisionEvent>) -> CollisionPhase,
    ) {
        let Self {
            contacts, by_other, ..
        } = self;
        merge_found(contacts, found, changes, phase_of_unfound, report);
        let Changes {
            indices, started, ..
        } = &mut *changes;
        // Ongoing contacts keep their order. `retain_mut` would be slower, because it would copy
        // each entry right after the closure wrote it.
        let mut kept = 0;
        for number in 0..by_other.len() {
            let Some((other, old)) = by_other.get(number).copied() else {
                break;
            };
            let index = indices.get(old as usize).copied().unwrap_or(GONE);
            if index != GONE
                && let Some(slot) = by_other.get_mut(kept)
            {
                *slot = (other, index);
                kept += 1;
            }
        }
        started.sort_unstable();
        merge(by_other, kept, started, |entry| *entry);
        changes.clear();
    }

    /// Changes the indices of parts. `new_of` returns the new index of an entity's part, or `None`
    /// if the index stays. Indices must keep their order.
    pub(crate) fn renumber_parts(&mut self, new_of: impl Fn(Entity, u32) -> Option<u32>) {
        for contact in self.contacts.iter_mut().chain(&mut self.parts) {
            contact.renumber_parts(&new_of);
        }
    }

    /// Returns the total number of contacts, contacts of parts, stored poses and teleported
    /// entities.
    pub(crate) fn item_count(&self) -> usize {
        let poses = self.poses_2d.item_count() + self.poses_3d.item_count();
        self.contacts.len() + self.parts.len() + poses
    }

    /// Frees unused memory.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.contacts.shrink_to_fit();
        self.by_other.shrink_to_fit();
        self.parts.shrink_to_fit();
        self.poses_2d.shrink_to_fit();
        self.poses_3d.shrink_to_fit();
    }

    /// Updates the contacts of parts: adds the sorted contacts in `found`, and keeps old contacts
    /// of other pairs for which `still_holds` returns `true`.
    pub(crate) fn update_parts(
        &mut self,
        found: &[CollisionEvent],
        still_holds: impl Fn(&CollisionEvent) -> bool,
    ) {
        let parts = &mut self.parts;
        parts.retain(|old| {
            let is_found = found.binary_search_by_key(&old.pair(), CollisionEvent::pair);
            is_found.is_err() && still_holds(old)
        });
        let kept = parts.len();
        merge(parts, kept, found, CollisionEvent::pair);
    }

    /// Returns the contact of each touching pair, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = CollisionEvent> {
        self.contacts.iter().copied()
    }

    /// Returns the deepest contact of `entity` with each entity that it touches, in a fixed order.
    /// Each contact is [flipped](CollisionEvent::flipped) if necessary, so that its first entity is
    /// `entity`.
    pub fn deepest_of(&self, entity: Entity) -> impl Iterator<Item = CollisionEvent> {
        let start = self
            .contacts
            .partition_point(|contact| contact.entity < entity);
        let as_entity = self.contacts.iter().skip(start);
        let index = entity.index_u32();
        let start = self.by_other.partition_point(|(other, _)| *other < index);
        let same_index = self.by_other.iter().skip(start);
        let same_index = same_index.take_while(move |(other, _)| *other == index);
        let as_other = same_index.filter_map(|(_, index)| self.contacts.get(*index as usize));
        as_entity
            .take_while(move |contact| contact.entity == entity)
            .copied()
            .chain(
                as_other
                    .filter(move |contact| contact.other == entity)
                    .map(CollisionEvent::flipped),
            )
    }

    /// Returns the deepest contact of two entities, as seen from `entity`, or `None` if they do not
    /// touch.
    pub fn between(&self, entity: Entity, other: Entity) -> Option<CollisionEvent> {
        let pair = (entity.min(other), entity.max(other));
        self.contacts
            .binary_search_by_key(&pair, CollisionEvent::pair)
            .ok()
            .and_then(|index| self.contacts.get(index))
            .and_then(|contact| contact.seen_from(entity))
    }

    /// Returns the contacts of all touching parts of two entities, as seen from `entity`. If both
    /// colliders are single shapes, there is at most one contact.
    ///
    /// The contacts are sorted by the [`part`](CollisionEvent::part) of the lower entity.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn list_parts(collisions: Res<Collisions>, robot: Single<Entity, With<Name>>) {
    ///     for hit in collisions.deepest_of(*robot) {
    ///         for part in collisions.parts(hit.entity, hit.other) {
    ///             println!("part {} touches part {}", part.part(), part.other_part());
    ///         }
    ///     }
    /// }
    /// ```
    pub fn parts(&self, entity: Entity, other: Entity) -> impl Iterator<Item = CollisionEvent> {
        let pair = (entity.min(other), entity.max(other));
        let start = self.parts.partition_point(|contact| contact.pair() < pair);
        let several = self.parts.iter().skip(start);
        let several = several.take_while(move |contact| contact.pair() == pair);
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

    /// Returns the contacts of all touching parts of `entity` with all other entities, as seen from
    /// `entity`.
    ///
    /// If a level is one mesh, the result includes the contacts with its floor and with its wall.
    /// [`deepest_of`](Self::deepest_of) returns only the deepest contact of each pair.
    pub fn parts_of(&self, entity: Entity) -> impl Iterator<Item = CollisionEvent> {
        self.deepest_of(entity)
            .flat_map(move |hit| self.parts(entity, hit.other))
    }

    /// Returns `true` if two entities touch.
    pub fn contains(&self, entity: Entity, other: Entity) -> bool {
        self.between(entity, other).is_some()
    }

    /// Returns the number of touching pairs.
    pub fn len(&self) -> usize {
        self.contacts.len()
    }

    /// Returns `true` if no entities touch.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }
}

/// Reusable buffers of [`Collisions::update`].
#[derive(Default)]
pub(crate) struct Changes {
    /// The new index of each contact of the last tick, or [`GONE`].
    indices: Vec<u32>,
    /// The entry in [`Collisions::by_other`] of each started contact.
    started: Vec<(u32, u32)>,
    /// The contacts of the other list that are added to the new list.
    added: Vec<CollisionEvent>,
}

impl Changes {
    fn clear(&mut self) {
        self.indices.clear();
        self.started.clear();
        self.added.clear();
    }
}

/// The index that stands for an ended contact.
const GONE: u32 = u32::MAX;

/// Updates sorted contacts: see [`Collisions::update`].
///
/// If the number of the found contacts is close to the number of the old contacts, the list of the
/// found contacts becomes the new list, and otherwise the old list stays. So most contacts stay in
/// place in most ticks.
fn merge_found(
    contacts: &mut Vec<CollisionEvent>,
    found: &mut Vec<CollisionEvent>,
    changes: &mut Changes,
    phase_of_unfound: impl Fn(&CollisionEvent) -> CollisionPhase,
    mut report: impl FnMut(&CollisionEvent, Option<&CollisionEvent>) -> CollisionPhase,
) {
    let Changes {
        indices,
        started,
        added,
    } = changes;
    let mut count = 0;
    // Sets the phase of a contact, and reports the contact. Returns `true` if the pair touches.
    // `old` is the old contact of a found pair.
    let mut settle =
        |contact: &mut CollisionEvent, old: Option<&CollisionEvent>, is_found: bool| {
            if !is_found {
                contact.phase = phase_of_unfound(contact);
            } else if old.is_none() {
                contact.phase = CollisionPhase::Started;
            }
            let is_touching = contact.touching();
            if is_found && old.is_none() {
                reserve_amortized(started, 1);
                started.push((contact.other.index_u32(), count));
            } else {
                reserve_amortized(indices, 1);
                indices.push(if is_touching { count } else { GONE });
            }
            count += u32::from(is_touching);
            contact.phase = report(contact, if is_found { old } else { Some(&*contact) });
            is_touching
        };
    let is_swapped = found.len() > contacts.len() / 4 * 3;
    if is_swapped {
        core::mem::swap(contacts, found);
    }
    let mut others = found.iter().peekable();
    let (mut next, mut kept) = (0, 0);
    loop {
        let contact = contacts.get_mut(next);
        let order = match (&contact, others.peek()) {
            (Some(contact), Some(other)) => other.pair().cmp(&contact.pair()),
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (None, None) => break,
        };
        let other = others.next_if(|_| order != Ordering::Greater);
        if order == Ordering::Less {
            if let Some(mut other) = other.copied()
                && settle(&mut other, None, !is_swapped)
            {
                reserve_amortized(added, 1);
                added.push(other);
            }
            continue;
        }
        let Some(contact) = contact else { break };
        let is_touching = match other {
            Some(new) if !is_swapped => {
                let old = core::mem::replace(contact, *new);
                settle(contact, Some(&old), true)
            }
            old => settle(contact, old, is_swapped),
        };
        if is_touching {
            if kept < next {
                contacts.swap(kept, next);
            }
            kept += 1;
        }
        next += 1;
    }
    merge(contacts, kept, added, CollisionEvent::pair);
    found.clear();
}

#[cfg(test)]
mod tests;
