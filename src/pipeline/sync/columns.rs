//! What Bevy has of colliders, table by table: so that those of which nothing has changed can be passed over many at a
//! time, with nothing of them read but the ticks at which Bevy has noted their last changes.

use core::{ops::Range, slice};

use bevy::{
    ecs::change_detection::{ContiguousRef, Tick},
    prelude::*,
};

use crate::collider::{Collider, CollisionLayers};

/// What is asked of Bevy, of each collider that its default query filters let through.
pub type Columns = (
    Entity,
    Option<Ref<'static, Transform>>,
    Ref<'static, Collider>,
    Option<Ref<'static, CollisionLayers>>,
    Option<Ref<'static, ChildOf>>,
);

/// A time, and the time before from which on a change counts.
#[derive(Clone, Copy)]
pub struct Since {
    last_run: Tick,
    this_run: Tick,
}

impl Since {
    pub fn last_run_of(world: &World) -> Self {
        Self {
            last_run: world.last_change_tick(),
            this_run: world.read_change_tick(),
        }
    }

    #[inline]
    pub fn has(self, changed: Tick) -> bool {
        changed.is_newer_than(self.last_run, self.this_run)
    }
}

/// A component of some entities, with the ticks of its last changes.
struct Column<'a, T> {
    values: &'a [T],
    changed: &'a [Tick],
}

// Whether or not the component is.
impl<T> Copy for Column<'_, T> {}

impl<T> Clone for Column<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, T> Column<'a, T> {
    fn of_table(table: ContiguousRef<'a, T>) -> Self {
        Self {
            changed: table.changed_ticks_slice(),
            values: table.into_inner(),
        }
    }

    fn slice(self, range: Range<usize>) -> Self {
        Self {
            values: self.values.get(range.clone()).unwrap_or_default(),
            changed: self.changed.get(range).unwrap_or_default(),
        }
    }

    #[inline]
    fn has_changes(self, since: Since) -> bool {
        // Without a branch, so that it is done for several at once.
        let ticks = self.changed.iter();
        ticks.fold(false, |any, tick| any | since.has(*tick))
    }

    #[inline]
    fn is_changed(self, index: usize, since: Since) -> bool {
        self.changed.get(index).is_some_and(|it| since.has(*it))
    }
}

/// Colliders that follow one another in a table: what Bevy has of them, in the same order.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    pub entities: &'a [Entity],
    transforms: Option<Column<'a, Transform>>,
    colliders: Column<'a, Collider>,
    layers: Option<Column<'a, CollisionLayers>>,
    parents: Option<Column<'a, ChildOf>>,
}

impl<'a> Chunk<'a> {
    /// Calls `visit` with all colliders.
    pub fn for_each(colliders: &Query<Columns>, mut visit: impl FnMut(Chunk)) {
        if let Ok(tables) = colliders.contiguous_iter() {
            for (entities, transforms, colliders, layers, parents) in tables {
                visit(Chunk {
                    entities,
                    transforms: transforms.map(Column::of_table),
                    colliders: Column::of_table(colliders),
                    layers: layers.map(Column::of_table),
                    parents: parents.map(Column::of_table),
                });
            }
            return;
        }
        // Where a component that disables entities is not kept in tables, as an app's own may be, Bevy lists them one by one.
        for (entity, transform, collider, layers, parent) in colliders {
            let ticks = (
                transform.as_ref().map(Ref::last_changed),
                collider.last_changed(),
                layers.as_ref().map(Ref::last_changed),
                parent.as_ref().map(Ref::last_changed),
            );
            fn of_one<'b, T: Component>(
                it: Option<Ref<'b, T>>,
                tick: Option<&'b Tick>,
            ) -> Option<Column<'b, T>> {
                Some(Column {
                    values: slice::from_ref(it?.into_inner()),
                    changed: slice::from_ref(tick?),
                })
            }
            let Some(colliders) = of_one(Some(collider), Some(&ticks.1)) else {
                continue;
            };
            visit(Chunk {
                entities: slice::from_ref(&entity),
                transforms: of_one(transform, ticks.0.as_ref()),
                colliders,
                layers: of_one(layers, ticks.2.as_ref()),
                parents: of_one(parent, ticks.3.as_ref()),
            });
        }
    }

    /// Some of these.
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            entities: self.entities.get(range.clone()).unwrap_or_default(),
            transforms: self.transforms.map(|it| it.slice(range.clone())),
            colliders: self.colliders.slice(range.clone()),
            layers: self.layers.map(|it| it.slice(range.clone())),
            parents: self.parents.map(|it| it.slice(range.clone())),
        }
    }

    /// Whether the transform or the layers of any of them have changed.
    #[inline]
    pub fn has_moves(&self, since: Since) -> bool {
        self.transforms.is_some_and(|it| it.has_changes(since))
            || self.layers.is_some_and(|it| it.has_changes(since))
    }

    /// Whether anything else has changed of any of them, ancestors left aside.
    #[inline]
    pub fn has_other_changes(&self, since: Since) -> bool {
        self.colliders.has_changes(since) || self.parents.is_some_and(|it| it.has_changes(since))
    }

    /// Those of which the transform or the layers have changed, with both. Where they have no transform, none.
    #[inline]
    pub fn moved(
        &self,
        since: Since,
    ) -> impl Iterator<Item = (usize, &'a Transform, CollisionLayers)> {
        let layers = self.layers;
        let transforms = self.transforms.map_or(&[][..], |it| it.values);
        let ticks = self.transforms.map_or(&[][..], |it| it.changed);
        let each = transforms.iter().zip(ticks).enumerate();
        each.filter_map(move |(index, (transform, changed))| {
            let is_changed =
                since.has(*changed) || layers.is_some_and(|layers| layers.is_changed(index, since));
            let layers = || layers.and_then(|it| it.values.get(index).copied());
            is_changed.then(|| (index, transform, layers().unwrap_or_default()))
        })
    }

    /// Whether all of them have parents, or none.
    pub fn has_parents(&self) -> bool {
        self.parents.is_some()
    }

    /// The parents, if they have any.
    pub fn parents(&self) -> impl Iterator<Item = Entity> {
        let parents = self.parents.map_or(&[][..], |it| it.values);
        parents.iter().map(ChildOf::parent)
    }

    /// One of them.
    #[inline]
    pub fn get(&self, index: usize, since: Since) -> Option<Member<'a>> {
        let of = |column: Column<'a, CollisionLayers>| column.values.get(index).copied();
        let is_changed = self.colliders.is_changed(index, since);
        Some(Member {
            entity: *self.entities.get(index)?,
            transform: self.transforms.and_then(|it| it.values.get(index)),
            collider: self.colliders.values.get(index)?,
            layers: self.layers.and_then(of).unwrap_or_default(),
            parent: self
                .parents
                .and_then(|it| Some(it.values.get(index)?.parent())),
            is_collider_changed: is_changed,
            is_changed: is_changed
                || self
                    .transforms
                    .is_some_and(|it| it.is_changed(index, since))
                || self.layers.is_some_and(|it| it.is_changed(index, since))
                || self.parents.is_some_and(|it| it.is_changed(index, since)),
        })
    }
}

/// A collider, and what else Bevy has of its entity.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    pub entity: Entity,
    pub transform: Option<&'a Transform>,
    pub collider: &'a Collider,
    pub layers: CollisionLayers,
    pub parent: Option<Entity>,
    pub is_collider_changed: bool,
    /// Whether anything has changed, ancestors left aside.
    pub is_changed: bool,
}
