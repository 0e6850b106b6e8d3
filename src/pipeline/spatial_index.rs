//! The index of spatial queries: trees of the proxies' bounding boxes.
//!
//! `sync` calls [`SpatialIndex::update`] in each tick. A spatial query calls [`Trees::get`], and
//! then [`Forest::visit`].
//!
//! Without queries, there is no index. The first query builds the index. While queries continue,
//! the sync stage keeps the index up to date. [`WINDOW`] ticks after the last query, the index is
//! freed.
//!
//! As in the broad phase, boxes that move have a tree of their own. The tree of moving boxes is
//! refitted every tick, and rebuilt when boxes were added or when refitting has degraded the tree.
//! The tree of resting boxes is left unchanged, and may list boxes that have since moved or been
//! removed. Queries skip such boxes.
//!
//! Results of queries do not depend on the trees, only on the proxies.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use bevy::prelude::*;

use crate::{
    buffer::WINDOW,
    pipeline::proxies::{Proxies, ProxyArena},
    shape::{BoxSearch, WideTree},
    space::Space,
};

/// The trees of all colliders, in 2D and in 3D.
#[derive(Resource, Default)]
pub struct SpatialIndex {
    pub d2: Trees,
    pub d3: Trees,
}

impl SpatialIndex {
    /// Updates the trees that were used in recent ticks.
    pub fn update(&mut self, proxies: &Proxies) {
        self.d2.update(&proxies.d2);
        self.d3.update(&proxies.d3);
    }

    /// Ends a tick, and frees the trees that have not been used for long.
    pub fn end_tick(&mut self) {
        self.d2.end_tick();
        self.d3.end_tick();
    }

    /// Returns the number of boxes in all trees.
    pub fn len(&self) -> usize {
        self.d2.len() + self.d3.len()
    }
}

/// The trees of all 2D or all 3D colliders.
#[derive(Default)]
pub struct Trees {
    forest: OnceLock<Forest>,
    /// `true` if there was a query in this tick.
    is_used: AtomicBool,
    /// Number of ticks since the last query.
    idle_ticks: u32,
}

impl Trees {
    /// Returns the trees. If there are no trees, builds the trees first.
    pub fn get<V: Space>(&self, arena: &ProxyArena<V>) -> &Forest {
        // The flag is written only once per tick, so that threads can share its cache line.
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
        self.forest.get_or_init(|| Forest::new(arena))
    }

    fn update<V: Space>(&mut self, arena: &ProxyArena<V>) {
        if let Some(forest) = self.forest.get_mut() {
            forest.update(arena);
        }
    }

    fn end_tick(&mut self) {
        if core::mem::take(self.is_used.get_mut()) {
            self.idle_ticks = 0;
        } else if self.forest.get().is_some() {
            self.idle_ticks += 1;
            if self.idle_ticks >= WINDOW {
                *self = Self::default();
            }
        }
    }

    fn len(&self) -> usize {
        self.forest.get().map_or(0, Forest::len)
    }
}

/// The tree that contains the box of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SlotTree {
    /// No tree contains the slot, because it is free or has a half-space.
    #[default]
    None,
    Resting,
    Moving,
}

/// A tree of resting boxes and a tree of moving boxes.
pub struct Forest {
    /// The resting boxes. The tree may list slots whose boxes are no longer at rest.
    resting: WideTree,
    /// The moving boxes. The tree may list slots that are now free, with empty boxes.
    moving: WideTree,
    /// The tree of each slot.
    slot_trees: Vec<SlotTree>,
    moving_slots: Vec<u32>,
}

/// Let m be the number of boxes at rest in the tree `moving`, c the number of changed boxes, and r
/// the number of boxes in `resting`. If m > c + r / `RESTING_FRACTION`, the m boxes are moved to
/// `resting`, as in the broad phase.
const RESTING_FRACTION: usize = 8;

impl Forest {
    fn new<V: Space>(arena: &ProxyArena<V>) -> Self {
        let slots = arena.slots();
        let tree_of = |slot| match arena.box_of(slot) {
            Some(_) => SlotTree::Resting,
            None => SlotTree::None,
        };
        Self {
            resting: tree(arena, slots.clone()),
            moving: WideTree::default(),
            slot_trees: slots.map(tree_of).collect(),
            moving_slots: Vec::new(),
        }
    }

    fn update<V: Space>(&mut self, arena: &ProxyArena<V>) {
        let changed = arena.changed();
        if changed.is_empty() {
            return;
        }
        self.slot_trees.resize(arena.slots().len(), SlotTree::None);
        let mut has_new = false;
        for slot in changed {
            let Some(slot_tree) = self.slot_trees.get_mut(*slot as usize) else {
                continue;
            };
            if arena.box_of(*slot).is_none() {
                *slot_tree = SlotTree::None;
            } else if *slot_tree != SlotTree::Moving {
                *slot_tree = SlotTree::Moving;
                has_new = true;
                self.moving_slots.push(*slot);
            }
        }
        // `still` is an estimate: a slot that was freed and used again may be listed twice in
        // `moving_slots`.
        let still = self.moving_slots.len().saturating_sub(changed.len());
        if still > changed.len() + self.resting.len() / RESTING_FRACTION {
            self.settle(arena);
        } else if has_new {
            self.rebuild_moving(arena);
        } else {
            self.moving
                .refit(|slot| Some(arena.box_of(slot)?.corners()));
            if self.moving.is_degraded() {
                self.rebuild_moving(arena);
            }
        }
    }

    /// Moves all boxes that did not change in this tick to the tree of resting boxes.
    fn settle<V: Space>(&mut self, arena: &ProxyArena<V>) {
        for (slot, slot_tree) in (0..).zip(&mut self.slot_trees) {
            *slot_tree = match arena.box_of(slot) {
                None => SlotTree::None,
                Some(_) if arena.is_changed(slot) => SlotTree::Moving,
                Some(_) => SlotTree::Resting,
            };
        }
        let slot_trees = &self.slot_trees;
        let resting = arena
            .slots()
            .filter(|slot| slot_tree(slot_trees, *slot) == SlotTree::Resting);
        self.resting = tree(arena, resting);
        self.rebuild_moving(arena);
    }

    fn rebuild_moving<V: Space>(&mut self, arena: &ProxyArena<V>) {
        let is_moving = |slot: &u32| slot_tree(&self.slot_trees, *slot) == SlotTree::Moving;
        self.moving_slots.retain(is_moving);
        self.moving_slots.sort_unstable();
        self.moving_slots.dedup();
        self.moving = tree(arena, self.moving_slots.iter().copied());
    }

    fn len(&self) -> usize {
        self.resting.len() + self.moving.len()
    }

    fn rests(&self, slot: u32) -> bool {
        slot_tree(&self.slot_trees, slot) == SlotTree::Resting
    }

    /// Calls `visit` with the slots whose boxes a search finds: first moving boxes, then resting
    /// boxes. `visit` returns the new limit, or a negative number to stop. Returns the number of
    /// visited nodes.
    pub fn visit(
        &self,
        search: &impl BoxSearch,
        mut limit: f64,
        mut visit: impl FnMut(u32) -> f64,
    ) -> u32 {
        let visits = self.moving.visit(search, limit, |slot| {
            limit = visit(slot);
            limit
        });
        if limit < 0.0 {
            return visits;
        }
        visits
            + self.resting.visit(search, limit, |slot| {
                if self.rests(slot) {
                    limit = visit(slot);
                }
                limit
            })
    }
}

fn slot_tree(slot_trees: &[SlotTree], slot: u32) -> SlotTree {
    slot_trees.get(slot as usize).copied().unwrap_or_default()
}

/// Builds the tree of the slots' boxes.
fn tree<V: Space>(arena: &ProxyArena<V>, slots: impl Iterator<Item = u32>) -> WideTree {
    WideTree::new(slots.filter_map(|slot| Some((slot, arena.box_of(slot)?.corners()))))
}
