//! Who was listed where in the last tick: so that who has come, gone or changed places is known without a look at the others.
//!
//! Bevy keeps entities in tables, each for those with the same components. A table is added to at its end, and what is taken
//! out of its midst is replaced by the last. So whatever comes and goes, all others are where they were; and what is elsewhere
//! now is missed where it was: another one is there, or the list has ended.
//!
//! (Where Bevy lists them one by one, see [`Chunk::for_each`](super::columns::Chunk::for_each), what comes may shift others of
//! its table. They are looked up then, and found as they were.)

use bevy::prelude::*;

use crate::{
    buffer::{Buffer, Reclaim, reserve_amortized},
    pipeline::sync::ancestors::Links,
};

/// By Bevy's number of the table.
#[derive(Default)]
pub struct Tables(Vec<Table>);

impl Tables {
    /// The table that an entity is in.
    pub fn of(&mut self, world: &World, entity: Entity) -> Option<&mut Table> {
        let location = world.get_entity(entity).ok()?.location();
        let number = location.table_id.as_usize();
        if self.0.len() <= number {
            self.0.resize_with(number + 1, Table::default);
        }
        self.0.get_mut(number)
    }

    /// Ends the tick. Calls `visit` with those that were listed beyond where lists end now.
    pub fn finish(&mut self, mut visit: impl FnMut(Entity)) {
        for table in &mut self.0 {
            let count = core::mem::take(&mut table.count);
            table.entities.note();
            table.links.note();
            table.entities.drain(count..).for_each(&mut visit);
            table.links.truncate(count);
        }
    }

    /// Shrinks the buffers.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        for table in &mut self.0 {
            table.entities.reclaim(reclaim);
            table.links.reclaim(reclaim);
        }
    }
}

/// The entities of a table with a collider, as Bevy lists them.
#[derive(Default)]
pub struct Table {
    entities: Buffer<Entity>,
    /// Of each of them, if they have parents.
    links: Buffer<Links>,
    /// How many there have been in this tick so far.
    count: usize,
}

impl Table {
    /// How many of these come next as they did in the last tick.
    #[inline]
    pub fn count_known(&self, entities: &[Entity]) -> usize {
        let known = self.entities.get(self.count..).unwrap_or_default();
        let pairs = known.iter().zip(entities);
        pairs.take_while(|(known, entity)| known == entity).count()
    }

    /// The links of those that come next, if they have parents.
    pub fn links(&mut self) -> &mut [Links] {
        self.links.get_mut(self.count..).unwrap_or_default()
    }

    /// Goes on behind so many of those that come next.
    pub fn pass(&mut self, count: usize) {
        self.count += count;
    }

    /// Lists the one that comes next, with its links if it has a parent, and returns who was there.
    pub fn list(&mut self, entity: Entity, links: Option<Links>) -> Option<Entity> {
        if let Some(links) = links {
            put(&mut self.links, self.count, links);
        }
        let last = put(&mut self.entities, self.count, entity);
        self.count += 1;
        last
    }
}

/// Puts something at an index of a list, or at its end, and returns what was there.
fn put<T>(list: &mut Vec<T>, index: usize, it: T) -> Option<T> {
    if let Some(place) = list.get_mut(index) {
        return Some(core::mem::replace(place, it));
    }
    reserve_amortized(list, 1);
    list.push(it);
    None
}
