//! The recorder's list of entities: the last written state of all colliders, ancestors and owners.
//!
//! Like the plugin, the recorder reads poses and colliders only if Bevy's change detection reports
//! a change. So a recording ignores the same changes as the plugin. The recorder stores the change
//! ticks of the last written values, and compares them with the present change ticks. So the
//! recorder detects a change even if the recorder did not run in the previous tick.

use std::{collections::HashMap, sync::Arc};

use bevy::{
    ecs::{archetype::Archetype, change_detection::Tick as ChangeTick, entity::EntityHashMap},
    prelude::*,
};

use crate::{
    collider::{Collider, JoinedCollider, Sensor, Swept},
    meeting::{ColliderOf, CollisionLayers, OneWay, PassThrough},
    pipeline::{
        sync::warn,
        unfiltered::{Unfiltered, disabling_components},
    },
    record::{
        cell_changes::CellChanges,
        format::{ColliderId, NodeState, OneWayBits, PoseBits, SavedNode, Tick, WrittenCollider},
    },
    shape::SaveError,
};

/// The query for all colliders, including disabled colliders.
pub type Colliders = Unfiltered<(
    Entity,
    Ref<'static, Collider>,
    Option<Ref<'static, Transform>>,
    Option<&'static ChildOf>,
    Option<&'static CollisionLayers>,
    Option<&'static ColliderOf>,
    Has<Sensor>,
    (
        Has<Swept>,
        Option<&'static OneWay>,
        Has<PassThrough>,
        Option<&'static JoinedCollider>,
    ),
    &'static Archetype,
)>;

/// The present state of an entity in the world.
struct LiveNode<'w> {
    entity: Entity,
    collider: Option<Ref<'w, Collider>>,
    transform: Option<Ref<'w, Transform>>,
    parent: Option<Entity>,
    owner: Option<Entity>,
    /// The state without `parent`, `has_pose` and `collider`, which are set later.
    state: NodeState,
}

/// The last written state of an entity.
#[derive(Default)]
struct RecordedNode {
    id: u32,
    /// The number of the last pass of [`update`](WrittenNodes::update) that found the entity.
    pass: u64,
    node: SavedNode,
    /// The change ticks of the components when they were last written.
    collider_changed: Option<ChangeTick>,
    transform_changed: Option<ChangeTick>,
    is_omitted: bool,
    /// `true` if the entity was omitted in the last written tick.
    was_omitted: bool,
    /// The data of the entity's collider. The table keeps data as long as an entity uses the data.
    data: Option<Arc<[u8]>>,
    /// The last written collider and its number, if the collider has cells.
    cells: Option<(Collider, u32)>,
}

/// All entities of the recording that still exist.
#[derive(Default)]
pub struct WrittenNodes {
    entities: EntityHashMap<RecordedNode>,
    colliders: ColliderTable,
    next_id: u32,
    pass: u64,
    /// `true` if the tick of the previous pass is not written yet: see [`update`](Self::update).
    is_continued: bool,
    /// `true` if any collider of the recording is swept or one-way, so that a replay needs the
    /// poses of previous ticks.
    pub needs_poses: bool,
}

impl WrittenNodes {
    /// Returns the id of an entity in the recording, even if the recording omits its collider.
    pub fn id_with_omitted(&self, entity: Entity) -> Option<u32> {
        self.entities.get(&entity).map(|written| written.id)
    }

    /// Returns the id of an entity in the recording, or `None` if the recording lacks the entity or
    /// omits its collider.
    pub fn id_of(&self, entity: Entity) -> Option<u32> {
        let written = self.entities.get(&entity);
        written.filter(|it| !it.is_omitted).map(|it| it.id)
    }

    /// Returns the id of an entity, or `None` if the recording lacks its events. If a collider
    /// becomes omitted or is no longer omitted, its contacts start or end only in the replay.
    pub fn id_in_events(&self, entity: Entity) -> Option<u32> {
        let was_omitted = self.entities.get(&entity).is_some_and(|it| it.was_omitted);
        self.id_of(entity).filter(|_| !was_omitted)
    }

    /// Writes the differences between the world and this list, and updates the list. If the tick of
    /// the previous call was aborted, this call continues that tick.
    pub fn update(
        &mut self,
        world: &World,
        colliders: &mut Colliders,
        tick: &mut Tick,
        is_continued: bool,
    ) {
        self.pass += 1;
        self.is_continued = is_continued;
        self.needs_poses = false;
        let disabling: Vec<_> = disabling_components(world).collect();
        for (entity, collider, transform, parent, layers, owner, is_sensor, rules, archetype) in
            colliders.0.iter(world)
        {
            let (is_swept, one_way, passes_through, joined) = rules;
            let parent = parent.map(ChildOf::parent);
            let owner = owner.map(|owner| owner.0);
            let found = LiveNode {
                entity,
                collider: Some(collider),
                transform,
                parent,
                owner,
                state: NodeState {
                    layers: layers.copied(),
                    is_sensor,
                    is_swept,
                    one_way: one_way.map(OneWayBits::from),
                    passes_through,
                    ground: joined.map(|joined| joined.0),
                    is_disabled: disabling.iter().any(|id| archetype.contains(*id)),
                    ..NodeState::default()
                },
            };
            self.write(world, &found, tick);
            self.write_ancestors(world, parent, tick);
            self.write_ancestors(world, owner, tick);
        }
        self.write_missing(tick);
        self.colliders.prune();
    }

    /// Writes the entity `next` and its ancestors, except entities with a collider, which
    /// [`update`](Self::update) writes.
    fn write_ancestors(&mut self, world: &World, mut next: Option<Entity>, tick: &mut Tick) {
        while let Some(parent) = next.and_then(|parent| world.get_entity(parent).ok()) {
            let written = self.entities.get(&parent.id());
            let is_written = written.is_some_and(|it| it.pass == self.pass);
            if is_written || parent.contains::<Collider>() {
                return;
            }
            next = parent.get::<ChildOf>().map(ChildOf::parent);
            let found = LiveNode {
                entity: parent.id(),
                collider: None,
                transform: parent.get_ref::<Transform>(),
                parent: next,
                owner: None,
                state: NodeState::default(),
            };
            self.write(world, &found, tick);
        }
    }

    fn write(&mut self, world: &World, found: &LiveNode, tick: &mut Tick) {
        let Self {
            entities,
            colliders,
            next_id,
            needs_poses,
            ..
        } = self;
        let [parent, owner] = [found.parent, found.owner].map(|entity| {
            let entity = entity.filter(|it| world.get_entity(*it).is_ok());
            entity.map(|entity| enter(entities, next_id, entity, tick).id)
        });
        let written = enter(entities, next_id, found.entity, tick);
        written.pass = self.pass;
        if !self.is_continued {
            written.was_omitted = written.is_omitted;
        }
        let SavedNode { state: old, pose } = written.node;
        let mut state = NodeState {
            parent,
            owner,
            has_pose: found.transform.is_some(),
            collider: old.collider.filter(|_| found.collider.is_some()),
            ..found.state
        };
        let changed = found.collider.as_ref().map(Ref::last_changed);
        let is_changed = core::mem::replace(&mut written.collider_changed, changed) != changed;
        if let Some(collider) = &found.collider
            && is_changed
        {
            let old = written.cells.as_ref();
            let edited = old.and_then(|old| colliders.id_of_edited(old, collider, tick));
            let (id, data) = match edited {
                Some(id) => (id, None),
                None => colliders.id_of(collider, tick),
            };
            written.cells = match id {
                ColliderId::Saved(number) if CellChanges::has_cells(collider) => {
                    Some((Collider::clone(collider), number))
                }
                _ => None,
            };
            let is_omitted = id == ColliderId::Omitted;
            if is_omitted && !written.is_omitted {
                warn(world, found.entity, "is not recorded", &SaveError::Custom);
            }
            written.is_omitted = is_omitted;
            written.data = data;
            state.collider = Some(id);
        }
        let changed = found.transform.as_ref().map(Ref::last_changed);
        let is_changed = core::mem::replace(&mut written.transform_changed, changed) != changed;
        let pose = match &found.transform {
            Some(transform) if is_changed => PoseBits::from(&**transform),
            _ => pose,
        };
        let collider = found.collider.as_deref();
        let has_ledges = collider.is_some_and(Collider::has_ledges);
        *needs_poses |= (state.is_swept || state.one_way.is_some() || has_ledges)
            && matches!(state.collider, Some(ColliderId::Saved(_)));
        written.write(SavedNode { state, pose }, tick);
    }

    /// Writes the entities that were despawned, or are no longer colliders, ancestors or owners.
    /// Such entities keep their ids for one tick, in which their contacts end.
    fn write_missing(&mut self, tick: &mut Tick) {
        let (pass, is_continued) = (self.pass, self.is_continued);
        self.entities.retain(|_, written| {
            let is_found = written.pass == pass;
            if !is_found {
                if !is_continued {
                    written.was_omitted = written.is_omitted;
                }
                (written.collider_changed, written.transform_changed) = (None, None);
                (written.data, written.cells) = (None, None);
                let state = NodeState::default();
                let pose = written.node.pose;
                written.write(SavedNode { state, pose }, tick);
            }
            is_found || is_continued || written.pass + 1 == pass
        });
        tick.states.sort_by_key(|(id, _)| *id);
    }
}

impl RecordedNode {
    /// Replaces the state and the pose, and writes the changes.
    fn write(&mut self, new: SavedNode, tick: &mut Tick) {
        if new.state != self.node.state {
            tick.states.push((self.id, new.state));
        }
        let old = &self.node.pose;
        let mask = old.differences_to(&new.pose, &mut tick.differences);
        if mask != 0 {
            tick.moves.push((self.id, mask));
        }
        self.node = new;
    }
}

/// Returns the entry of an entity. An entity without an entry gets a new id.
fn enter<'a>(
    entities: &'a mut EntityHashMap<RecordedNode>,
    next_id: &mut u32,
    entity: Entity,
    tick: &mut Tick,
) -> &'a mut RecordedNode {
    entities.entry(entity).or_insert_with(|| {
        let id = *next_id;
        *next_id += 1;
        tick.entities.push(entity.to_bits());
        RecordedNode {
            id,
            ..RecordedNode::default()
        }
    })
}

/// The numbers of the written colliders. Equal colliders are written only once.
#[derive(Default)]
struct ColliderTable {
    numbers: HashMap<Arc<[u8]>, u32>,
    next: u32,
    /// The number of colliders after the last [`prune`](Self::prune).
    pruned_len: usize,
}

impl ColliderTable {
    /// Returns the number of a collider, and its data. Writes the collider if it is new.
    fn id_of(&mut self, collider: &Collider, tick: &mut Tick) -> (ColliderId, Option<Arc<[u8]>>) {
        if collider.is_inert() {
            return (ColliderId::Inert, None);
        }
        // Only a collider with a custom shape cannot be saved.
        let Ok(bytes) = postcard::to_allocvec(collider) else {
            return (ColliderId::Omitted, None);
        };
        if let Some((data, number)) = self.numbers.get_key_value(&*bytes) {
            return (ColliderId::Saved(*number), Some(data.clone()));
        }
        let (number, data) = (self.next, Arc::<[u8]>::from(&*bytes));
        self.next += 1;
        self.numbers.insert(data.clone(), number);
        tick.colliders.push(WrittenCollider::Whole(bytes));
        (ColliderId::Saved(number), Some(data))
    }

    /// Returns the number of a collider of which only cells changed since it was written. Writes
    /// the changes. Returns `None` if the collider has no cells, or if more than its cells changed.
    fn id_of_edited(
        &mut self,
        (old, number): &(Collider, u32),
        collider: &Collider,
        tick: &mut Tick,
    ) -> Option<ColliderId> {
        let changes = CellChanges::between(old, collider)?;
        if changes.is_empty() {
            return Some(ColliderId::Saved(*number));
        }
        tick.colliders
            .push(WrittenCollider::Edited(*number, changes));
        self.next += 1;
        Some(ColliderId::Saved(self.next - 1))
    }

    /// If the table has more than doubled since the last removal, removes colliders that no entity
    /// has.
    fn prune(&mut self) {
        if self.numbers.len() > 2 * self.pruned_len + 16 {
            self.numbers.retain(|data, _| Arc::strong_count(data) > 1);
            self.pruned_len = self.numbers.len();
        }
    }
}
