//! Plays a recording.
//!
//! Without one-way colliders, a contact depends only on the data of its tick, such as shapes and
//! poses. A path also depends on the poses of the previous tick. The starts and ends of contacts
//! depend on the pairs that touched in the previous tick. So after a jump to a tick, forward or
//! backward, the tick before the target runs first.
//!
//! A contact with a one-way collider may depend on all earlier ticks. So if the recording has such
//! a collider, all ticks before the target run. After a jump forward, the replay continues after
//! the tick that was played last. Otherwise, the replay begins at the first tick.
//!
//! [`Replay::go_to`] chooses the ticks to run, and compares the hashes of contacts and events with
//! the recorded hashes.

use std::collections::BTreeSet;

use bevy::{
    ecs::{entity::EntityHashMap, entity_disabling::Disabled, schedule::ScheduleLabel},
    prelude::*,
};

use crate::{
    collider::{Collider, JoinedCollider, Sensor, Swept},
    collision::{CollisionEvent, Collisions, PreviousPoses},
    meeting::{
        AppFilters, ColliderOf, ContactKey, IgnoreCollisions, OneWay, PassThrough, Rejections,
    },
    record::{
        error::ReplayError,
        format::{ColliderId, Pairs, PathStart, Rejected, SavedNode, Tick},
        hash::ContactSet,
        recording::{Nodes, Recording},
    },
    settings::{BroadPhase, CandidatePairs},
    shape::serialize::SerializeSpace,
};

/// The schedule of the plugin in an app that replays a recording:
/// `HeadbuttPlugin::in_schedule(ReplayTick)`.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReplayTick;

/// Plays a [`Recording`] in a world, forward and backward.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{Recording, Replay, ReplayTick, prelude::*};
///
/// fn check(bytes: Vec<u8>) -> Result<(), BevyError> {
///     let mut replay = Replay::new(Recording::read(bytes)?);
///     let mut app = App::new();
///     app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
///     for tick in 0..replay.recording().len() {
///         let played = replay.go_to(app.world_mut(), tick)?;
///         assert!(played.is_equal(), "{played:?}");
///     }
///     Ok(())
/// }
/// ```
///
/// The replay spawns all entities of the recording. In each tick, these entities get the colliders,
/// poses, layers, markers, exceptions, owners and parents that they had in the session. An entity
/// that was despawned in the session loses its components. The other entities of the world should
/// have no collider. The replay sets the resources [`BroadPhase`] and [`CandidatePairs`].
#[derive(Resource)]
pub struct Replay {
    recording: Recording,
    /// The entities of the recording after the first `position` ticks.
    nodes: Nodes,
    position: usize,
    /// The entities of the world, by id in the recording, each with its present state.
    shown: Vec<(Entity, SavedNode)>,
    ids: EntityHashMap<u32>,
    /// The ids of the entities that may differ between `nodes` and `shown`.
    changed: BTreeSet<u32>,
    /// The ids of changed entities whose colliders were omitted in the previous tick.
    were_omitted: Vec<u32>,
    tick: Option<usize>,
    /// The exceptions in the world.
    exceptions: Vec<(u32, u32)>,
}

/// The result of a tick of a [`Replay`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayedTick {
    /// The number of the tick, from 0.
    pub tick: usize,
    /// The number of contacts in the replay, including contacts of parts.
    pub contacts: u32,
    /// The number of contacts in the recording.
    pub recorded_contacts: u32,
    /// `true` if the contacts have the recorded number and the recorded hash. The hash covers every
    /// bit of the contacts.
    pub contacts_equal: bool,
    /// `true` if the `Started` and `Ended` events have the recorded hash, which covers every bit of
    /// the events. `None` if the events depend on contacts that the recording lacks: contacts from
    /// before its first tick, or contacts that the app restored.
    pub events_equal: Option<bool>,
}

impl ReplayedTick {
    /// Returns `true` if the hashes of the contacts and of the events equal the recorded hashes. If
    /// no hash of the events was recorded, compares only the contacts.
    pub fn is_equal(&self) -> bool {
        self.contacts_equal && self.events_equal != Some(false)
    }
}

impl Replay {
    /// Creates a replay that has not begun.
    pub fn new(recording: Recording) -> Self {
        Self {
            recording,
            nodes: Nodes::default(),
            position: 0,
            shown: Vec::new(),
            ids: EntityHashMap::default(),
            changed: BTreeSet::new(),
            were_omitted: Vec::new(),
            tick: None,
            exceptions: Vec::new(),
        }
    }

    /// Returns the recording.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Returns the tick that was played last, or `None` before the first tick.
    pub fn tick(&self) -> Option<usize> {
        self.tick
    }

    /// Runs a tick of the recording in a world, and compares the contacts and events.
    ///
    /// If `tick` is the next tick, only this tick runs. Otherwise, the tick before `tick` runs
    /// first. The changes of all earlier ticks are applied without running these ticks. But if the
    /// recording has a [`OneWay`] collider, all ticks before `tick` run, because contacts with such
    /// colliders depend on earlier ticks. If the last played tick is before `tick`, only the ticks
    /// after the last played tick run.
    ///
    /// # Errors
    ///
    /// Returns an error if the recording has no such tick, or the world has no
    /// `HeadbuttPlugin::in_schedule(ReplayTick)`.
    pub fn go_to(&mut self, world: &mut World, tick: usize) -> Result<ReplayedTick, ReplayError> {
        let count = self.recording.len();
        let expected = self.recording.tick(tick);
        let expected = expected.ok_or(ReplayError::NoSuchTick { tick, count })?;
        if !has_plugin(world) {
            return Err(ReplayError::NoPlugin);
        }
        match (self.tick.take(), tick.checked_sub(1)) {
            (last, previous) if last == previous => {}
            (last, Some(_)) if self.recording.has_one_way => {
                let is_later = |last: &usize| *last < tick;
                let next = last.filter(is_later).map(|last| last + 1);
                if next.is_none() {
                    self.rewind(world)?;
                }
                for earlier in next.unwrap_or(0)..tick {
                    let block = self.recording.tick(earlier);
                    self.play(world, earlier, block.as_ref())?;
                }
            }
            (_, Some(previous)) => {
                self.play(world, previous, None)?;
            }
            (_, None) => self.rewind(world)?,
        }
        let events = self.play(world, tick, Some(&expected))?;
        self.tick = Some(tick);
        let contacts = ContactSet::of_contacts(world.resource(), |entity| self.id_of(entity));
        Ok(ReplayedTick {
            tick,
            contacts: contacts.count,
            recorded_contacts: expected.contacts,
            contacts_equal: (contacts.count, contacts.hash)
                == (expected.contacts, expected.contact_hash),
            events_equal: expected.event_hash.map(|hash| hash == events.hash),
        })
    }

    /// Runs a tick without any collider.
    fn rewind(&mut self, world: &mut World) -> Result<(), ReplayError> {
        self.seek(0);
        self.show(world);
        run(world)
    }

    /// Runs a tick, and returns the hash of its `Started` and `Ended` events.
    fn play(
        &mut self,
        world: &mut World,
        tick: usize,
        block: Option<&Tick>,
    ) -> Result<ContactSet, ReplayError> {
        self.seek(tick + 1);
        self.show(world);
        if let Some(block) = block {
            self.begin_paths(world, &block.starts_2d, |it| &mut it.poses_2d);
            self.begin_paths(world, &block.starts_3d, |it| &mut it.poses_3d);
            if block.is_restored
                && let Some(mut collisions) = world.get_resource_mut::<Collisions>()
            {
                collisions.set_changed();
            }
        }
        self.supply_pairs(world, tick);
        self.show_exceptions(world, tick);
        if let Some(rejected) = self.recording.rejected(tick) {
            let rejections = self.rejections(&rejected);
            world.get_resource_or_init::<AppFilters>().replayed = Some(rejections);
        }
        let messages = world.get_resource::<Messages<CollisionEvent>>();
        let mut cursor = messages.ok_or(ReplayError::NoPlugin)?.get_cursor_current();
        run(world)?;
        let mut messages = world.resource_mut::<Messages<CollisionEvent>>();
        let events =
            ContactSet::of_events(cursor.read(&messages), |entity| self.id_in_events(entity));
        // If the app runs no frames, no system drops old messages, so this call drops them.
        messages.update();
        Ok(events)
    }

    /// Returns the recorded rejections of a tick, with the entities of the world in place of ids.
    fn rejections(&self, rejected: &Rejected) -> Rejections {
        // The entities of the world have the same order as the recorded entities, so each pair
        // still has the lower entity first.
        let pair_of = |(a, b)| Some((self.entity(a)?, self.entity(b)?));
        let contacts = rejected.contacts.iter();
        let contacts = contacts.filter_map(|contact| {
            Some(ContactKey {
                pair: pair_of(contact.ids)?,
                is_on_path: contact.is_on_path,
                parts: contact.parts,
            })
        });
        let pairs = rejected.pairs.iter().filter_map(|ids| pair_of(*ids));
        let mut rejections = Rejections::default();
        rejections.contacts.extend(contacts);
        rejections.contacts.sort_unstable();
        rejections.pairs.extend(pairs);
        rejections.pairs.sort_unstable();
        rejections
    }

    /// Sets `nodes` to the entities after the first `position` ticks.
    fn seek(&mut self, position: usize) {
        while self.position != position {
            let is_back = position < self.position;
            let tick = self.position - usize::from(is_back);
            let Some(block) = self.recording.tick(tick) else {
                return;
            };
            // `Recording::read` has applied all ticks, so no error can occur.
            if is_back {
                let undo = self.recording.undo(tick);
                undo.and_then(|undo| self.nodes.undo(&block, undo).ok());
                self.position -= 1;
            } else {
                self.nodes.apply(&block).ok();
                self.position += 1;
            }
            self.changed.extend(block.states.iter().map(|(id, _)| *id));
            self.changed.extend(block.moves.iter().map(|(id, _)| *id));
        }
    }

    /// Spawns an empty entity for each entity of the recording, in the same order. If equal shapes
    /// have the same pose, the order of their entities decides the normal.
    fn spawn_all(&mut self, world: &mut World) {
        let entities = self.recording.entities.iter().zip(0_u32..);
        let mut order: Vec<_> = entities.map(|(entity, id)| (*entity, id)).collect();
        order.sort_unstable();
        let spawned = order.iter().map(|_| world.spawn_empty().id());
        let mut spawned: Vec<_> = spawned.collect();
        spawned.sort_unstable();
        let ids = order.into_iter().map(|(_, id)| id);
        let mut pairs: Vec<_> = ids.zip(spawned).collect();
        pairs.sort_unstable();
        self.ids = pairs.iter().map(|(id, entity)| (*entity, *id)).collect();
        let shown = pairs
            .into_iter()
            .map(|(_, entity)| (entity, SavedNode::default()));
        self.shown = shown.collect();
    }

    /// Changes the entities of the world to match `nodes`.
    fn show(&mut self, world: &mut World) {
        if self.shown.is_empty() {
            self.spawn_all(world);
        }
        self.were_omitted.clear();
        for id in core::mem::take(&mut self.changed) {
            let node = self.nodes.get(id).copied().unwrap_or_default();
            if let Some((entity, old)) = self.shown.get(id as usize).copied() {
                self.update(world, entity, &old, &node);
                if is_omitted(&old) {
                    self.were_omitted.push(id);
                }
            }
            if let Some((_, shown)) = self.shown.get_mut(id as usize) {
                *shown = node;
            }
        }
    }

    /// Changes an entity from one state to another.
    fn update(&self, world: &mut World, entity: Entity, old: &SavedNode, new: &SavedNode) {
        let Ok(mut entity) = world.get_entity_mut(entity) else {
            return;
        };
        let (old_state, state) = (old.state, new.state);
        if state.has_pose && old_state.has_pose {
            if new.pose != old.pose
                && let Some(mut transform) = entity.get_mut::<Transform>()
            {
                *transform = new.pose.into();
            }
        } else if state.has_pose {
            entity.insert(Transform::from(new.pose));
        }
        if state == old_state {
            return;
        }
        if state.collider != old_state.collider {
            set(&mut entity, state.collider.map(|id| self.collider(id)));
        }
        // A `Collider` requires a `Transform`, but the recorded app may have removed the
        // `Transform`.
        if !state.has_pose {
            entity.remove::<Transform>();
        }
        set(&mut entity, state.layers);
        if state.owner != old_state.owner {
            let owner = state.owner.and_then(|owner| self.entity(owner));
            set(&mut entity, owner.map(ColliderOf));
        }
        if state.one_way != old_state.one_way {
            set(&mut entity, state.one_way.map(OneWay::from));
        }
        set(&mut entity, state.passes_through.then_some(PassThrough));
        set(&mut entity, state.ground.map(JoinedCollider));
        set(&mut entity, state.is_sensor.then_some(Sensor));
        set(&mut entity, state.is_swept.then_some(Swept));
        set(&mut entity, state.is_disabled.then_some(Disabled));
        if state.parent != old_state.parent {
            let parent = state.parent.and_then(|parent| self.entity(parent));
            set(&mut entity, parent.map(ChildOf));
        }
    }

    fn collider(&self, id: ColliderId) -> Collider {
        match id {
            ColliderId::Inert | ColliderId::Omitted => Collider::default(),
            ColliderId::Saved(index) => {
                let collider = self.recording.colliders.get(index as usize);
                collider.cloned().unwrap_or_default()
            }
        }
    }

    fn id_of(&self, entity: Entity) -> Option<u32> {
        self.ids.get(&entity).copied()
    }

    /// Returns the id of an entity, or `None` if the recording lacks its events. The recording
    /// lacks the events of a collider that is omitted in this tick or was omitted in the previous
    /// tick.
    fn id_in_events(&self, entity: Entity) -> Option<u32> {
        let id = self.id_of(entity)?;
        let is_recorded = |(_, node): &(Entity, SavedNode)| !is_omitted(node);
        let is_recorded = self.shown.get(id as usize).is_some_and(is_recorded);
        (is_recorded && !self.were_omitted.contains(&id)).then_some(id)
    }

    fn entity(&self, id: u32) -> Option<Entity> {
        self.shown.get(id as usize).map(|(entity, _)| *entity)
    }

    /// Sets the poses in which paths begin, as `Teleported` did in the session.
    fn begin_paths<V: SerializeSpace>(
        &self,
        world: &mut World,
        starts: &[PathStart<V>],
        poses_of: impl Fn(&mut Collisions) -> &mut PreviousPoses<V::DVec>,
    ) {
        for start in starts {
            let Some(entity) = self.entity(start.id) else {
                continue;
            };
            if let Some(mut collisions) = world.get_resource_mut::<Collisions>() {
                // If the contacts were marked as changed, they would count as restored.
                let poses = poses_of(collisions.bypass_change_detection());
                match start.pose {
                    Some(pose) if start.is_teleported => poses.begin(entity, pose),
                    Some(pose) => drop(poses.poses.insert(entity, pose)),
                    None => drop(poses.poses.remove(&entity)),
                }
            }
        }
    }

    /// Inserts the exceptions of a tick, and removes the exceptions of the previous tick.
    fn show_exceptions(&mut self, world: &mut World, tick: usize) {
        let exceptions = self.recording.exceptions(tick);
        if exceptions == self.exceptions {
            return;
        }
        for (holder, _) in core::mem::replace(&mut self.exceptions, exceptions) {
            if let Some(mut holder) = self.entity_mut(world, holder) {
                holder.remove::<IgnoreCollisions>();
            }
        }
        for (holder, ignored) in &self.exceptions {
            if let Some(mut holder) = self.entity_mut(world, *holder)
                && let Some(ignored) = self.entity(*ignored)
            {
                let mut ignored_by = holder.take::<IgnoreCollisions>().unwrap_or_default();
                ignored_by.insert(ignored);
                holder.insert(ignored_by);
            }
        }
    }

    fn entity_mut<'w>(&self, world: &'w mut World, id: u32) -> Option<EntityWorldMut<'w>> {
        world.get_entity_mut(self.entity(id)?).ok()
    }

    fn supply_pairs(&self, world: &mut World, tick: usize) {
        let pairs = self.recording.pairs(tick);
        let source = match pairs {
            Pairs::Custom(_) => BroadPhase::Custom,
            Pairs::Automatic | Pairs::Unchanged => BroadPhase::Automatic,
        };
        world.insert_resource(source);
        if let Pairs::Custom(pairs) = pairs
            && let Some(mut supplied) = world.get_resource_mut::<CandidatePairs>()
        {
            supplied.clear();
            let entity_of = |id| self.entity(id);
            supplied.extend(
                pairs
                    .iter()
                    .filter_map(|(a, b)| Some((entity_of(*a)?, entity_of(*b)?))),
            );
        }
    }
}

fn is_omitted(node: &SavedNode) -> bool {
    node.state.collider == Some(ColliderId::Omitted)
}

fn has_plugin(world: &World) -> bool {
    let schedules = world.get_resource::<Schedules>();
    let has_schedule = schedules.is_some_and(|schedules| schedules.contains(ReplayTick));
    has_schedule && world.contains_resource::<Collisions>()
}

fn run(world: &mut World) -> Result<(), ReplayError> {
    let result = world.try_run_schedule(ReplayTick);
    result.map_err(|_| ReplayError::NoPlugin)
}

/// Inserts a component, or removes it if `component` is `None`.
fn set<T: Component>(entity: &mut EntityWorldMut, component: Option<T>) {
    match component {
        Some(component) => entity.insert(component),
        None => entity.remove::<T>(),
    };
}
