//! Memory that is reused from tick to tick: how it grows, and when it is freed after a temporary
//! peak.
//!
//! The owner of a list calls [`Buffer::end_tick`] or [`Peak::end_tick`] once per tick.
//!
//! A [`Peak`] records the greatest number of items in each window of [`WINDOW`] ticks. At the end
//! of a window, a list frees its unused memory if it has memory for more than four times the
//! recorded number of items. So if the same number of items recurs in every window, the list never
//! allocates again.

use core::ops::{Deref, DerefMut};

/// Reserves capacity for `additional` more items. To bound unused capacity, the list grows by 25 %
/// instead of doubling.
pub fn reserve_amortized<T>(list: &mut Vec<T>, additional: usize) {
    if list.capacity() - list.len() < additional {
        list.reserve_exact(additional.max(list.len() / 4 + 16));
    }
}

/// The number of ticks in a window.
pub const WINDOW: u32 = 64;

/// The number of items up to which memory is never freed.
const SMALL: usize = 64;

/// The maximum number of empty entries that [`drop_empty`] drops in one call.
const MAX_DROPS: usize = 1024;

/// The greatest number of items in a window of ticks. Several lists can share a peak if the length
/// of each list is at most a fixed multiple of the recorded number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peak {
    current: usize,
    previous: usize,
    /// The number of items for which memory may still be allocated.
    held: usize,
    /// The number of ticks so far in the current window.
    ticks: u32,
}

impl Peak {
    /// Records the present number of items, which may be the greatest number in the window.
    pub fn record_len(&mut self, len: usize) {
        self.current = self.current.max(len);
    }

    /// Returns `true` if there were no items in this window and the previous window.
    pub fn is_unused(self) -> bool {
        self.current.max(self.previous) == 0
    }

    /// Ends a tick with `len` items. Returns `true` if the caller must free unused memory.
    #[must_use]
    pub fn end_tick(&mut self, len: usize) -> bool {
        self.record_len(len);
        self.ticks += 1;
        self.ticks >= WINDOW && self.end_window(len)
    }

    /// Ends a window with `len` items. Returns `true` if the caller must free unused memory.
    #[must_use]
    pub fn end_window(&mut self, len: usize) -> bool {
        self.record_len(len);
        let needed = self.current;
        let held = self.held.max(needed);
        let is_excessive = held > SMALL.max(4 * needed);
        *self = Self {
            current: 0,
            previous: needed,
            held: if is_excessive { needed } else { held },
            ticks: 0,
        };
        is_excessive
    }
}

/// A list that is reused from tick to tick. [`clear`](Self::clear) and [`end_tick`](Self::end_tick)
/// free unused memory. Call one of these two functions once per tick.
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

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for Buffer<T> {
    /// Records the length before the access, because the caller may remove items.
    fn deref_mut(&mut self) -> &mut Vec<T> {
        self.peak.record_len(self.items.len());
        &mut self.items
    }
}

impl<T> Buffer<T> {
    /// Ends a tick, and removes all items.
    pub fn clear(&mut self) {
        self.end_tick();
        self.items.clear();
    }

    /// Ends a tick, and keeps all items.
    pub fn end_tick(&mut self) {
        if self.peak.end_tick(self.items.len()) {
            self.items.shrink_to(self.peak.held);
        }
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

    /// Returns the capacity after each tick of a list that has `len(tick)` items in that tick.
    fn capacities(ticks: usize, len: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut list = Buffer::default();
        let tick = |tick| {
            list.clear();
            list.resize(len(tick), 0_u64);
            list.capacity()
        };
        (0..ticks).map(tick).collect()
    }

    #[test]
    fn memory_of_a_burst_is_kept_for_a_window_and_then_freed() {
        let all = capacities(300, |tick| if tick == 70 { 100_000 } else { 1000 });
        let kept = all.iter().skip(70).take(64);
        assert!(kept.copied().all(|capacity| capacity == 100_000));
        let freed = all.iter().skip(70 + 2 * 64);
        assert!(freed.copied().all(|capacity| capacity == 1000));
    }

    /// Within a tick, the list is longest before its items are removed.
    #[test]
    fn items_count_that_are_removed_within_a_tick() {
        let mut list = Buffer::default();
        for _ in 0..500 {
            list.clear();
            list.resize(20_000, 0_u64);
            list.drain(10..);
        }
        assert_eq!(list.capacity(), 20_000);
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
