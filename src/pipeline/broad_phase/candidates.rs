//! The results of the broad phase: the pairs that the narrow phase tests. The broad phase fills the
//! lists. Then the system `list_pairs` of the narrow phase calls [`Candidates::sort`].

use core::ops::Range;

use bevy::prelude::*;

use crate::{
    buffer::Buffer,
    parallel::share,
    pipeline::{
        broad_phase::{custom_pairs::CustomPairs, pair_order::PairOrder},
        proxies::{Proxies, ProxyArena, SlotPair},
        swept::SweptPaths,
    },
    space::Space,
};

/// The pairs of proxies to test in this tick.
#[derive(Resource, Default)]
pub struct Candidates {
    pub d2: PairList,
    pub d3: PairList,
    /// The pairs of entities that the app supplies.
    pub custom: CustomPairs,
}

impl Candidates {
    /// Sorts the pairs that the broad phase found, or lists the supplied pairs instead.
    pub fn sort(&mut self, proxies: &Proxies, paths: &SweptPaths) {
        let Self { d2, d3, custom } = self;
        d2.sort(&proxies.d2);
        d3.sort(&proxies.d3);
        if custom.is_changed || proxies.is_restored || proxies.has_changes() {
            custom.list(proxies, paths, [&mut d2.sorted, &mut d3.sorted]);
        }
    }

    /// Returns the number of pairs.
    pub fn count(&self) -> usize {
        self.d2.all.len() + self.d3.all.len() + self.custom.iter().len()
    }
}

/// A list of pairs that tasks fill in parallel.
#[derive(Default)]
pub struct PairList {
    /// All pairs, each once, in no particular order. After the sort, this list has no meaning.
    pub all: Buffer<SlotPair>,
    /// The pairs that each task found.
    by_task: Vec<Buffer<SlotPair>>,
    /// All pairs, sorted by entity, each with the smaller entity first.
    pub sorted: Buffer<SlotPair>,
    order: PairOrder,
}

/// Minimum number of boxes whose overlaps a task finds.
const MIN_QUERIES: usize = 512;

impl PairList {
    /// Splits the `items` into ranges and calls `find` for each range. If there are many `boxes`,
    /// the calls run in parallel. `find` appends the pairs of its range to a list.
    pub fn collect(
        &mut self,
        items: usize,
        boxes: usize,
        find: impl Fn(Range<usize>, &mut Vec<SlotPair>) + Copy + Send + Sync,
    ) {
        let Some((pool, size)) = share(boxes, MIN_QUERIES) else {
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

    /// Removes all pairs. Call this function once per tick.
    pub fn clear(&mut self) {
        self.all.clear();
        self.by_task.iter_mut().for_each(Buffer::clear);
    }

    /// Sorts the pairs by entity. Call this function once per tick.
    fn sort<V: Space>(&mut self, arena: &ProxyArena<V>) {
        self.sorted.clear();
        self.order.sort(arena, &mut self.all, &mut self.sorted);
    }
}
