//! Any number of boxes of any sizes: which of them overlap?
//!
//! No size is asked for. Boxes go to levels by their size, see [`Level`]: the largest of a level is up to four times as large
//! as the smallest, and makes its cells.
//!
//! Boxes that have moved a little are still nearly in order: so each level puts its own in order from tick to tick.

use core::{cmp::Ordering, ops::Range};

use super::level::{Level, size_of};
use crate::pipeline::{aabb::Aabb, tasks::share};

/// A level has two octaves of sizes: what is looked through in vain in cells too large, and what is looked up in other
/// levels, are about as much then. The exponent of the power of two at or below a size, in f64's own count, says which.
#[inline]
fn level_for(size: f64) -> u16 {
    (size.to_bits() >> 53) as u16
}

/// No level.
const NONE: u16 = u16::MAX;

/// Boxes, by slot, of which any may be in or not.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// In order of their sizes, with their numbers. Some may be empty.
    levels: Vec<(u16, Level)>,
    /// By slot, the level that it is in.
    level_of: Vec<u16>,
    /// What has outgrown its level in this tick, on its way to another one.
    outgrown: Vec<u32>,
}

impl Rows {
    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.levels.iter().map(|(_, level)| level.len()).sum()
    }

    /// Whether a box is in.
    #[inline]
    pub fn contains(&self, slot: u32) -> bool {
        let level = self.level_of.get(slot as usize);
        level.is_some_and(|level| *level != NONE)
    }

    /// Puts those for which `is_in` says so in order, where they are now. Of what is not in yet, only `newcomers` are asked for.
    pub fn update(
        &mut self,
        boxes: &[Aabb],
        newcomers: impl IntoIterator<Item = u32>,
        is_in: impl Fn(u32) -> bool + Copy + Send + Sync,
    ) {
        let Self {
            levels,
            level_of,
            outgrown,
        } = self;
        level_of.resize(boxes.len(), NONE);
        for (number, level) in levels.iter_mut() {
            let number = *number;
            let stays = move |slot: u32, aabb: &Aabb| {
                let size = is_in(slot).then(|| size_of(aabb));
                size.filter(|size| level_for(*size) == number)
            };
            level.retain(boxes, stays, |slot| {
                if let Some(level_of) = level_of.get_mut(slot as usize) {
                    *level_of = NONE;
                    outgrown.extend(is_in(slot).then_some(slot));
                }
            });
        }
        // What has outgrown its level comes to another one like those that are new.
        for slot in outgrown.drain(..).chain(newcomers) {
            let index = slot as usize;
            let (Some(aabb), Some(level_of)) = (boxes.get(index), level_of.get_mut(index)) else {
                continue;
            };
            if *level_of != NONE || !is_in(slot) {
                continue;
            }
            let size = size_of(aabb);
            let number = level_for(size);
            *level_of = number;
            let place = levels.binary_search_by(|(other, _)| other.cmp(&number));
            let place = place.unwrap_or_else(|place| {
                levels.insert(place, (number, Level::default()));
                place
            });
            if let Some((_, level)) = levels.get_mut(place) {
                level.add(slot, size);
            }
        }
        for (_, level) in levels {
            level.sort(boxes);
        }
    }

    /// Gives back the memory of what has left, where that was most.
    pub fn give_back(&mut self) {
        self.levels
            .iter_mut()
            .for_each(|(_, level)| level.give_back());
    }

    /// Finds each two boxes that overlap, once.
    pub fn meet_within(
        &self,
        dimension: usize,
        pairs: &mut Pairs,
        is_wanted: impl Fn(u32, u32) -> bool + Copy + Send + Sync,
    ) {
        let mut levels = self.levels.as_slice();
        while let Some(((_, level), others)) = levels.split_first() {
            levels = others;
            pairs.find(level.rows(), level.len(), |rows, found| {
                level.meet_within(dimension, rows, |a, b| {
                    if is_wanted(a, b) {
                        found.push((a, b));
                    }
                });
            });
            for (_, other) in others {
                if is_looked_up(level, other) {
                    pairs.look_up(level, other, |_| true, is_wanted);
                } else {
                    pairs.look_up(other, level, |_| true, is_wanted);
                }
            }
        }
    }

    /// Finds each two boxes that overlap, a wanted one of these and a wanted one of others.
    pub fn meet(
        &self,
        other: &Self,
        pairs: &mut Pairs,
        is_wanted: impl Fn(u32) -> bool + Copy + Send + Sync,
        is_wanted_of_other: impl Fn(u32) -> bool + Copy + Send + Sync,
    ) {
        for (number, level) in &self.levels {
            for (of_other, other) in &other.levels {
                let looks_up = match number.cmp(of_other) {
                    Ordering::Less => is_looked_up(level, other),
                    // Of one size: the fewer.
                    Ordering::Equal => level.len() <= other.len(),
                    Ordering::Greater => !is_looked_up(other, level),
                };
                if looks_up {
                    pairs.look_up(level, other, is_wanted, |_, b| is_wanted_of_other(b));
                } else {
                    pairs.look_up(other, level, is_wanted_of_other, |_, b| is_wanted(b));
                }
            }
        }
    }
}

/// Pairs of slots, found on all threads.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pub all: Vec<(u32, u32)>,
    /// Of each task.
    found: Vec<Vec<(u32, u32)>>,
}

/// A task looks at no fewer boxes than this.
const BOXES_OF_A_TASK: usize = 512;

/// To look up a box in a coarser level takes about as long as so many in a finer one: more is in the way there.
const FINER: usize = 8;

/// Whether the boxes of a level are looked up in a coarser one, and not those of that one in this.
fn is_looked_up(finer: &Level, coarser: &Level) -> bool {
    coarser.len() > FINER * finer.len()
}

impl Pairs {
    /// Has `find` called with all of some items, a range at a time: rows or boxes, of which there are so many.
    fn find(
        &mut self,
        items: usize,
        boxes: usize,
        find: impl Fn(Range<usize>, &mut Vec<(u32, u32)>) + Copy + Send + Sync,
    ) {
        let Some((pool, size)) = share(boxes, BOXES_OF_A_TASK) else {
            find(0..items, &mut self.all);
            return;
        };
        let tasks = boxes.div_ceil(size);
        self.found
            .resize_with(tasks.max(self.found.len()), Vec::new);
        pool.scope(|scope| {
            for (task, found) in (0..tasks).zip(&mut self.found) {
                let range = task * items / tasks..(task + 1) * items / tasks;
                scope.spawn(async move { find(range, found) });
            }
        });
        for found in &mut self.found {
            self.all.append(found);
        }
    }

    /// Looks the boxes of a level for which `is_sought` says so up in another one.
    fn look_up(
        &mut self,
        level: &Level,
        other: &Level,
        is_sought: impl Fn(u32) -> bool + Copy + Send + Sync,
        is_wanted: impl Fn(u32, u32) -> bool + Copy + Send + Sync,
    ) {
        self.find(level.len(), level.len(), |entries, found| {
            level.meet_other(entries, other, is_sought, |a, b| {
                if is_wanted(a, b) {
                    found.push((a, b));
                }
            });
        });
    }
}
