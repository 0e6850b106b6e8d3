//! Views of Bevy's tables: colliders in chunks, with the change ticks of their components.
//!
//! In each tick, `sync` calls [`ChangeWindow::since_last_run`], and then [`Chunk::for_each`].
//!
//! A chunk without changes is recognized by its change ticks alone. The processor compares several
//! ticks with one instruction.

use core::{ops::Range, slice};

use bevy::{
    ecs::{
        change_detection::{ContiguousRef, Tick},
        query::ROQueryItem,
    },
    prelude::*,
};

use crate::{
    collider::{Collider, JoinedCollider, Sensor, Swept},
    meeting::{ColliderOf, CollisionLayers, OneWay, PairTraits, PassThrough},
};

/// The query for colliders. Bevy's default query filters apply.
pub type Columns = (
    Entity,
    Option<Ref<'static, Transform>>,
    Ref<'static, Collider>,
    Option<Ref<'static, CollisionLayers>>,
    Option<Ref<'static, ColliderOf>>,
    Option<Ref<'static, ChildOf>>,
    Markers,
);

/// The markers of a collider, in the order of [`traits_of_markers`].
type Markers = (
    Has<Sensor>,
    Has<Swept>,
    Has<OneWay>,
    Has<PassThrough>,
    Has<JoinedCollider>,
);

/// Returns the traits of an entity with the given markers, without layers and owner.
fn traits_of_markers(
    (is_sensor, is_swept, is_one_way, passes_through, is_joined): (bool, bool, bool, bool, bool),
) -> PairTraits {
    PairTraits {
        is_sensor,
        is_swept,
        is_one_way,
        passes_through,
        is_joined,
        ..PairTraits::default()
    }
}

/// A resource that is marked as changed when the proxies are updated. So its change tick is the
/// tick of the last update. Bevy keeps the ticks of resources from wrapping around.
#[derive(Resource, Default)]
pub struct LastRun;

/// The window of change ticks between two updates of the proxies.
#[derive(Clone, Copy)]
pub struct ChangeWindow {
    last_run: Tick,
    this_run: Tick,
}

impl ChangeWindow {
    /// Returns the window since the last call. Changes after this call belong to the next window.
    pub fn since_last_run(world: &mut World) -> Self {
        let mut stamp = world.resource_mut::<LastRun>();
        let last_run = stamp.last_changed();
        stamp.set_changed();
        let this_run = world.increment_change_tick();
        Self { last_run, this_run }
    }

    /// Returns `true` if a change falls into this window.
    pub fn contains(self, changed: Tick) -> bool {
        changed.is_newer_than(self.last_run, self.this_run)
    }
}

/// The values of a component for consecutive entities, with the ticks of their last changes. If the
/// entities do not have the component, the column is empty.
struct TrackedColumn<'a, T> {
    values: &'a [T],
    changed: &'a [Tick],
}

// Derived implementations would require the component to be `Copy`.
impl<T> Copy for TrackedColumn<'_, T> {}

impl<T> Clone for TrackedColumn<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, T> TrackedColumn<'a, T> {
    fn from_table(table: Option<ContiguousRef<'a, T>>) -> Self {
        Self {
            changed: table
                .as_ref()
                .map_or(&[], ContiguousRef::changed_ticks_slice),
            values: table.map_or(&[], ContiguousRef::into_inner),
        }
    }

    fn slice(self, range: Range<usize>) -> Self {
        Self {
            values: self.values.get(range.clone()).unwrap_or_default(),
            changed: self.changed.get(range).unwrap_or_default(),
        }
    }

    fn has_changes(self, window: ChangeWindow) -> bool {
        // The fold has no branches, so that the compiler can compare several ticks with one
        // instruction.
        let ticks = self.changed.iter();
        ticks.fold(false, |any, tick| any | window.contains(*tick))
    }

    fn is_changed(self, index: usize, window: ChangeWindow) -> bool {
        let tick = self.changed.get(index);
        tick.is_some_and(|tick| window.contains(*tick))
    }
}

/// Consecutive colliders of a table.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    pub entities: &'a [Entity],
    transforms: TrackedColumn<'a, Transform>,
    colliders: TrackedColumn<'a, Collider>,
    layers: TrackedColumn<'a, CollisionLayers>,
    owners: TrackedColumn<'a, ColliderOf>,
    parents: TrackedColumn<'a, ChildOf>,
    /// The traits that all these entities share: the markers. Adding or removing a marker moves an
    /// entity to another table.
    common: PairTraits,
}

impl<'a> Chunk<'a> {
    /// Calls `visit` with all colliders, in chunks.
    pub fn for_each(colliders: &Query<Columns>, mut visit: impl FnMut(Chunk)) {
        if let Ok(tables) = colliders.contiguous_iter() {
            for (entities, transforms, colliders, layers, owners, parents, markers) in tables {
                visit(Chunk {
                    entities,
                    transforms: TrackedColumn::from_table(transforms),
                    colliders: TrackedColumn::from_table(Some(colliders)),
                    layers: TrackedColumn::from_table(layers),
                    owners: TrackedColumn::from_table(owners),
                    parents: TrackedColumn::from_table(parents),
                    common: traits_of_markers(markers),
                });
            }
        } else {
            // If an app's own disabling component uses sparse-set storage, Bevy offers no
            // contiguous iteration. So the rows are visited one by one.
            for row in colliders {
                visit_row(row, &mut visit);
            }
        }
    }

    /// Returns the colliders in a range.
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            entities: self.entities.get(range.clone()).unwrap_or_default(),
            transforms: self.transforms.slice(range.clone()),
            colliders: self.colliders.slice(range.clone()),
            layers: self.layers.slice(range.clone()),
            owners: self.owners.slice(range.clone()),
            parents: self.parents.slice(range.clone()),
            common: self.common,
        }
    }

    /// Returns `true` if the transform, the layers or the owner of any collider changed.
    pub fn has_moves(&self, window: ChangeWindow) -> bool {
        self.transforms.has_changes(window)
            || self.layers.has_changes(window)
            || self.owners.has_changes(window)
    }

    /// Returns `true` if the shape or the parent of any collider changed.
    pub fn has_other_changes(&self, window: ChangeWindow) -> bool {
        self.colliders.has_changes(window) || self.parents.has_changes(window)
    }

    /// Returns the colliders whose transform, layers or owner changed, except colliders without a
    /// transform.
    pub fn moved(
        &self,
        window: ChangeWindow,
    ) -> impl Iterator<Item = (Entity, &'a Transform, PairTraits)> {
        let chunk = *self;
        let rows = self.entities.iter().zip(chunk.transforms.values);
        let rows = rows.zip(chunk.transforms.changed).enumerate();
        rows.filter_map(move |(index, ((entity, transform), changed))| {
            let is_changed = window.contains(*changed) || chunk.have_traits_changed(index, window);
            is_changed.then(|| (*entity, transform, chunk.traits(index)))
        })
    }

    /// Returns `true` if all colliders of the chunk are swept, and `false` if none is.
    pub fn is_swept(&self) -> bool {
        self.common.is_swept
    }

    /// Returns `true` if all colliders of the chunk are members of grounds, and `false` if none is.
    pub fn is_joined(&self) -> bool {
        self.common.is_joined
    }

    /// Returns the traits of one collider.
    fn traits(&self, index: usize) -> PairTraits {
        PairTraits {
            layers: self.layers.values.get(index).copied().unwrap_or_default(),
            owner: self.owners.values.get(index).map(|owner| owner.0),
            ..self.common
        }
    }

    fn have_traits_changed(&self, index: usize, window: ChangeWindow) -> bool {
        self.layers.is_changed(index, window) || self.owners.is_changed(index, window)
    }

    /// Returns `true` if all colliders of the chunk have parents, and `false` if none has.
    pub fn has_parents(&self) -> bool {
        !self.parents.values.is_empty()
    }

    /// Returns the parents. Either all colliders of a chunk have parents, or none has.
    pub fn parents(&self) -> impl Iterator<Item = Entity> {
        self.parents.values.iter().map(ChildOf::parent)
    }

    /// Returns each collider as a row, with its changes in `window`.
    pub fn rows(&self, window: ChangeWindow) -> impl Iterator<Item = ColliderRow<'a>> {
        let chunk = *self;
        (0..self.entities.len()).filter_map(move |index| chunk.row(index, window))
    }

    /// Returns one collider as a row, with its changes in `window`.
    pub fn row(&self, index: usize, window: ChangeWindow) -> Option<ColliderRow<'a>> {
        let is_collider_changed = self.colliders.is_changed(index, window);
        Some(ColliderRow {
            index,
            entity: *self.entities.get(index)?,
            transform: self.transforms.values.get(index),
            collider: self.colliders.values.get(index)?,
            traits: self.traits(index),
            parent: self.parents.values.get(index).map(ChildOf::parent),
            is_collider_changed,
            is_changed: is_collider_changed
                || self.transforms.is_changed(index, window)
                || self.have_traits_changed(index, window)
                || self.parents.is_changed(index, window),
        })
    }
}

/// A collider with the other components of its entity.
#[derive(Clone, Copy)]
pub struct ColliderRow<'a> {
    /// The index of the row in the chunk.
    pub index: usize,
    pub entity: Entity,
    pub transform: Option<&'a Transform>,
    pub collider: &'a Collider,
    pub traits: PairTraits,
    pub parent: Option<Entity>,
    pub is_collider_changed: bool,
    /// `true` if any component of this row changed.
    pub is_changed: bool,
}

/// Calls `visit` with a chunk of one collider.
fn visit_row(
    (entity, transform, collider, layers, owner, parent, markers): ROQueryItem<Columns>,
    visit: &mut impl FnMut(Chunk),
) {
    fn tick<T: Component>(component: &Option<Ref<T>>) -> Option<Tick> {
        component.as_ref().map(Ref::last_changed)
    }
    fn column<'b, T: Component>(
        component: &'b Option<Ref<'_, T>>,
        tick: &'b Option<Tick>,
    ) -> TrackedColumn<'b, T> {
        TrackedColumn {
            values: component.as_deref().map_or(&[], slice::from_ref),
            changed: tick.as_slice(),
        }
    }
    let collider = Some(collider);
    visit(Chunk {
        entities: slice::from_ref(&entity),
        transforms: column(&transform, &tick(&transform)),
        colliders: column(&collider, &tick(&collider)),
        layers: column(&layers, &tick(&layers)),
        owners: column(&owner, &tick(&owner)),
        parents: column(&parent, &tick(&parent)),
        common: traits_of_markers(markers),
    });
}
