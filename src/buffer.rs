//! Lists that are reused from tick to tick: how they grow, and how they free memory after a burst.
//!
//! Each list records its greatest length in windows of [`WINDOW`] ticks. It is shrunk if its
//! capacity is several times its greatest length in the current and the previous window. So a load
//! that recurs in every window never allocates again. A stage frees at most [`STEP`] bytes per
//! tick, because the operating system unmaps pages slowly. The exceptions free their unused memory
//! at once: hash maps, binary heaps, Bevy's message lists, and lists that the allocator moves when
//! they shrink.

use core::ops::{Deref, DerefMut};

/// Reserves capacity for `additional` more items. Grows by 25 % instead of doubling, to bound
/// unused capacity.
#[inline]
pub fn reserve_amortized<T>(list: &mut Vec<T>, additional: usize) {
    if list.capacity() - list.len() < additional {
        list.reserve_exact(additional.max(list.len() / 4 + 16));
    }
}

/// Number of ticks in a window.
pub const WINDOW: u32 = 64;

/// Maximum number of bytes that a stage frees in one tick.
const STEP: usize = 4 << 20;

/// Lists with a capacity of at most this many items are not shrunk.
const SMALL: usize = 64;

/// Maximum number of empty entries that [`drop_empty`] drops in one call.
const MAX_DROPS: usize = 1024;

/// Returns `true` if a capacity is several times the number of items that are needed.
pub fn is_excessive(capacity: usize, needed: usize) -> bool {
    capacity > SMALL.max(4 * needed)
}

/// The greatest length of a list in this window of ticks and in the previous one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peak {
    current: usize,
    previous: usize,
}

impl Peak {
    /// Records a length.
    #[inline]
    pub fn note(&mut self, len: usize) {
        self.current = self.current.max(len);
    }

    /// Returns the greatest recorded length.
    pub fn get(self) -> usize {
        self.current.max(self.previous)
    }

    /// Ends the window.
    pub fn end_window(&mut self) {
        self.previous = core::mem::take(&mut self.current);
    }

    /// Shrinks a list with an excessive capacity by at most `max_bytes`, or fully if the allocator
    /// moves the list. Returns the number of bytes freed.
    pub fn shrink<T>(self, list: &mut Vec<T>, max_bytes: usize) -> usize {
        let (capacity, needed) = (list.capacity(), self.get());
        if !is_excessive(capacity, needed) {
            return 0;
        }
        let size = size_of::<T>().max(1);
        let address = list.as_ptr();
        list.shrink_to((2 * needed).max(capacity.saturating_sub(max_bytes / size)));
        if list.as_ptr() != address {
            // Shrinking in steps would copy the list in each step.
            list.shrink_to(2 * needed);
        }
        capacity.saturating_sub(list.capacity()) * size
    }
}

/// Schedules and limits the shrinking of a stage's buffers.
#[derive(Default)]
pub struct Reclaim {
    ticks: u32,
    /// Number of bytes that may still be freed in this tick.
    budget: usize,
}

impl Reclaim {
    /// Begins a tick.
    pub fn begin_tick(&mut self) {
        self.ticks = self.ticks.wrapping_add(1);
        self.budget = STEP;
    }

    /// Returns `true` if nothing has been freed in this tick yet.
    pub fn is_idle(&self) -> bool {
        self.budget == STEP
    }

    /// Returns `true` in the last tick of a window.
    pub fn ends_window(&self) -> bool {
        self.is_turn_of(0)
    }

    /// Returns `true` once per window, in the tick given by `index` modulo [`WINDOW`]. This spreads
    /// work over the window.
    pub fn is_turn_of(&self, index: u32) -> bool {
        self.ticks % WINDOW == index % WINDOW
    }

    /// Shrinks a list if its capacity is excessive. Must be called once per tick, with the peak of
    /// this list.
    pub fn shrink<T>(&mut self, list: &mut Vec<T>, peak: &mut Peak) {
        peak.note(list.len());
        self.budget = self.budget.saturating_sub(peak.shrink(list, self.budget));
        if self.ends_window() {
            peak.end_window();
        }
    }
}

/// A list that is reused from tick to tick. [`reclaim`](Self::reclaim) frees its unused memory.
#[derive(Clone, Debug)]
pub struct Buffer<T> {
    items: Vec<T>,
    peak: Peak,
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            peak: Peak::default(),
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = Vec<T>;

    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for Buffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<T> Buffer<T> {
    /// Records the length. Must be called before items are removed by other methods than
    /// [`clear`](Self::clear).
    #[inline]
    pub fn note(&mut self) {
        self.peak.note(self.items.len());
    }

    /// Returns the greatest recorded length.
    pub fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Removes all items.
    #[inline]
    pub fn clear(&mut self) {
        self.note();
        self.items.clear();
    }

    /// Shrinks the buffer if its capacity is excessive. Must be called once per tick.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        reclaim.shrink(&mut self.items, &mut self.peak);
    }
}

/// Drops empty entries at the end of a list, at most [`MAX_DROPS`] per call.
pub fn drop_empty<T>(list: &mut Vec<Option<T>>) {
    let tail = list.iter().rev().take(MAX_DROPS);
    let empty = tail.take_while(|entry| entry.is_none()).count();
    list.truncate(list.len() - empty);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the capacity of a list after each tick, if the list has `len(tick)` items in that
    /// tick.
    fn capacities(ticks: usize, len: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut reclaim = Reclaim::default();
        let mut list = Buffer::default();
        let tick = |tick| {
            list.clear();
            list.resize(len(tick), 0_u64);
            reclaim.begin_tick();
            list.reclaim(&mut reclaim);
            list.capacity()
        };
        (0..ticks).map(tick).collect()
    }

    #[test]
    fn memory_of_a_burst_is_released_in_steps() {
        let step = STEP / size_of::<u64>();
        let all = capacities(600, |tick| if tick == 70 { 100 * step } else { 1000 });
        let each = all.iter().zip(all.iter().skip(1));
        let freed = each.map(|(before, after)| before.saturating_sub(*after));
        assert_eq!(all.iter().max(), Some(&(100 * step)));
        assert_eq!(freed.max(), Some(step));
        assert!(all.last().is_some_and(|last| (1000..=4000).contains(last)));
        // The capacity is kept for a window.
        assert!(
            all.iter()
                .skip(70)
                .take(64)
                .all(|capacity| *capacity == 100 * step)
        );
    }

    #[test]
    fn memory_of_a_recurring_load_is_kept() {
        let recurring = |tick: usize| match tick % 64 {
            5 => 20_000,
            _ => 10,
        };
        let all = capacities(1000, recurring);
        assert!(all.iter().skip(64).all(|capacity| *capacity == 20_000));
    }

    #[test]
    fn empty_entries_are_dropped_only_at_the_end() {
        let mut list = vec![None, Some(1), None, Some(2)];
        list.resize(4 + MAX_DROPS + 10, None);
        drop_empty(&mut list);
        assert_eq!(list.len(), 4 + 10);
        drop_empty(&mut list);
        drop_empty(&mut list);
        assert_eq!(list, [None, Some(1), None, Some(2)]);
    }
}
