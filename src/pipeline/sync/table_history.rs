//! The rows of Bevy's tables in the previous tick, used to detect spawned, removed and moved
//! entities.
//!
//! Bevy keeps all entities with the same components in one table. Bevy adds entities at the end,
//! and fills a gap with the last entity. So most entities keep their rows. If an entity left its
//! row, the row now has another entity, or the table has become shorter.
//!
//! Bevy may list entities one by one: see
//! [`Chunk::for_each`](super::change_ticks::Chunk::for_each). In that case, a new entity may shift
//! other entities, which are then updated without effect.

use bevy::prelude::*;

use crate::{
    buffer::{Buffer, reserve_amortized},
    pipeline::sync::ancestors::AncestorSum,
};

/// The tables of the previous tick, by Bevy's table id.
#[derive(Default)]
pub struct TableHistory(Vec<KnownRows>);

impl TableHistory {
    /// Returns the table that contains an entity.
    pub fn table(&mut self, world: &World, entity: Entity) -> Option<&mut KnownRows> {
        let location = world.get_entity(entity).ok()?.location();
        let id = location.table_id.as_usize();
        if self.0.len() <= id {
            self.0.resize_with(id + 1, KnownRows::default);
        }
        self.0.get_mut(id)
    }

    /// Ends the tick. Calls `visit` with the entities of all rows that no longer exist.
    pub fn end_tick(&mut self, mut visit: impl FnMut(Entity)) {
        for table in &mut self.0 {
            let len = core::mem::take(&mut table.next);
            table.entities.drain(len..).for_each(&mut visit);
            table.ancestor_sums.truncate(len);
            table.entities.end_tick();
            table.ancestor_sums.end_tick();
        }
    }
}

/// The colliders of a table. The rows before `next` are from this tick, and all other rows from the
/// previous tick.
#[derive(Default)]
pub struct KnownRows {
    entities: Buffer<Entity>,
    /// The ancestor sum of each row. If the entities have no parents, the list is empty.
    ancestor_sums: Buffer<AncestorSum>,
    next: usize,
}

impl KnownRows {
    /// Returns the length of the prefix of `entities` that matches the next rows.
    pub fn count_known(&self, entities: &[Entity]) -> usize {
        let known = self.entities.get(self.next..).unwrap_or_default();
        let pairs = known.iter().zip(entities);
        pairs.take_while(|(known, entity)| known == entity).count()
    }

    /// Returns the ancestor sums of the next rows. If the entities have no parents, the list is
    /// empty.
    pub fn ancestor_sums(&mut self) -> &mut [AncestorSum] {
        self.ancestor_sums.get_mut(self.next..).unwrap_or_default()
    }

    /// Moves past the next rows, which are unchanged.
    pub fn skip(&mut self, rows: usize) {
        self.next += rows;
    }

    /// Writes the next row, and returns its previous entity.
    pub fn write_row(&mut self, entity: Entity, sum: Option<AncestorSum>) -> Option<Entity> {
        if let Some(sum) = sum {
            set_or_push(&mut self.ancestor_sums, self.next, sum);
        }
        let previous = set_or_push(&mut self.entities, self.next, entity);
        self.next += 1;
        previous
    }
}

/// Replaces an item of a list and returns the old item, or appends the new item.
fn set_or_push<T>(list: &mut Vec<T>, index: usize, new: T) -> Option<T> {
    if let Some(old) = list.get_mut(index) {
        return Some(core::mem::replace(old, new));
    }
    reserve_amortized(list, 1);
    list.push(new);
    None
}
