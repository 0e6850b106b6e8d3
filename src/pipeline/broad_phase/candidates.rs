//! The pairs that the broad phase hands to the narrow phase.

use core::ops::Range;

use bevy::prelude::*;

use crate::{buffer::Buffer, parallel::share};

/// The pairs of proxies to test in this tick, each once and in no particular order.
#[derive(Resource, Default)]
pub struct Candidates {
    pub d2: PairList,
    pub d3: PairList,
}

/// The slots of two proxies in the same space.
pub type SlotPair = (u32, u32);

/// A list of pairs that tasks fill in parallel.
#[derive(Clone, Debug, Default)]
pub struct PairList {
    pub all: Buffer<SlotPair>,
    /// One list per task.
    by_task: Vec<Buffer<SlotPair>>,
}

/// Minimum number of boxes per task.
const MIN_BOXES: usize = 512;

impl PairList {
    /// Splits the `items` into ranges and calls `find` for each range, in parallel if there are
    /// many `boxes`. `find` appends the pairs of its range to a list.
    pub fn collect(
        &mut self,
        items: usize,
        boxes: usize,
        find: impl Fn(Range<usize>, &mut Vec<SlotPair>) + Copy + Send + Sync,
    ) {
        let Some((pool, size)) = share(boxes, MIN_BOXES) else {
            find(0..items, &mut self.all);
            return;
        };
        let tasks = boxes.div_ceil(size);
        let lists = tasks.max(self.by_task.len());
        self.by_task.resize_with(lists, Buffer::default);
        pool.scope(|scope| {
            for (task, found) in (0..tasks).zip(&mut self.by_task) {
                let range = task * items / tasks..(task + 1) * items / tasks;
                scope.spawn(async move { find(range, found) });
            }
        });
        for found in &mut self.by_task {
            self.all.append(found);
        }
    }

    /// Removes all pairs. Must be called once per tick.
    pub fn clear(&mut self) {
        self.all.clear();
        self.by_task.iter_mut().for_each(Buffer::clear);
    }
}
