//! How lists that last from tick to tick grow, and how they give back memory after a burst.
//!
//! Each list notes how long it has been in a window of [`WINDOW`] ticks. A list that has room for
//! several times the greatest length of the last two windows is shrunk: so what recurs within a
//! window never allocates again. In one tick, each stage frees [`STEP`] bytes at most, because the
//! operating system unmaps pages slowly. There are three exceptions: an allocator that moves a list
//! when it shrinks frees all of it at once, and so do hash maps and the lists of Bevy's messages.

use core::ops::{Deref, DerefMut};

/// Makes room for one more.
#[inline]
pub fn make_room<T>(list: &mut Vec<T>) {
    make_room_for(list, 1);
}

/// Makes room for so many more, by a fourth at a time: of a list that has grown by doubling half may be empty.
#[inline]
pub fn make_room_for<T>(list: &mut Vec<T>, count: usize) {
    if list.capacity() - list.len() < count {
        list.reserve_exact(count.max(list.len() / 4 + 16));
    }
}

/// Number of ticks in which a list notes its greatest length.
const WINDOW: u32 = 64;

/// Number of bytes that a stage frees in one tick at most.
const STEP: usize = 4 << 20;

/// Lists with room for no more items than this are left alone.
const SMALL: usize = 64;

/// Number of empty entries that [`drop_empty`] drops in one tick at most.
const DROPS: usize = 1024;

/// Returns `true` if there is room for several times the number of items that are needed.
pub fn is_excessive(held: usize, needed: usize) -> bool {
    held > SMALL.max(4 * needed)
}

/// The greatest length of a list in this window of ticks and in the one before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peak {
    current: usize,
    previous: usize,
}

impl Peak {
    /// Notes a length.
    #[inline]
    pub fn note(&mut self, len: usize) {
        self.current = self.current.max(len);
    }

    /// Returns the greatest length that was noted.
    pub fn get(self) -> usize {
        self.current.max(self.previous)
    }

    /// Ends the window.
    pub fn end_window(&mut self) {
        self.previous = core::mem::take(&mut self.current);
    }

    /// Shrinks a list that has room for more than it needs, and frees `most` bytes at most, unless
    /// the allocator moves the list. Returns the number of bytes freed.
    pub fn shrink<T>(self, list: &mut Vec<T>, most: usize) -> usize {
        let (held, needed) = (list.capacity(), self.get());
        if !is_excessive(held, needed) {
            return 0;
        }
        let size = size_of::<T>().max(1);
        let address = list.as_ptr();
        list.shrink_to((2 * needed).max(held - held.min(most / size)));
        if list.as_ptr() != address {
            // An allocator that copies what it shrinks would do so in each step.
            list.shrink_to(2 * needed);
        }
        held.saturating_sub(list.capacity()) * size
    }
}

/// Shrinks the buffers of a stage.
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

    /// Returns `true` if nothing was freed in this tick so far.
    pub fn is_idle(&self) -> bool {
        self.budget == STEP
    }

    /// Returns `true` in the last tick of a window.
    pub fn ends_window(&self) -> bool {
        self.is_turn_of(0)
    }

    /// Returns `true` once a window, in the tick that `number` modulo [`WINDOW`] selects: so the
    /// work is spread.
    pub fn is_turn_of(&self, number: u32) -> bool {
        self.ticks % WINDOW == number % WINDOW
    }

    /// Has a list give back memory. Called once a tick, with the peak of this list.
    pub fn shrink<T>(&mut self, list: &mut Vec<T>, peak: &mut Peak) {
        peak.note(list.len());
        self.budget -= peak.shrink(list, self.budget).min(self.budget);
        if self.ends_window() {
            peak.end_window();
        }
    }
}

/// A list that lasts from tick to tick, and gives back memory by [`reclaim`](Self::reclaim).
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
    /// Notes the length, before items are removed in the midst of a tick.
    #[inline]
    pub fn note(&mut self) {
        self.peak.note(self.items.len());
    }

    /// Returns the greatest length that was noted.
    pub fn peak(&self) -> usize {
        self.peak.get()
    }

    /// Removes all items.
    #[inline]
    pub fn clear(&mut self) {
        self.note();
        self.items.clear();
    }

    /// Shrinks the buffer. Called once a tick.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        reclaim.shrink(&mut self.items, &mut self.peak);
    }
}

/// Drops empty entries from the end of a list, some in each tick: each has to be looked at.
pub fn drop_empty<T>(list: &mut Vec<Option<T>>) {
    let tail = list.iter().rev().take(DROPS);
    let empty = tail.take_while(|it| it.is_none()).count();
    list.truncate(list.len() - empty);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the capacity after each tick, in which the list has the length that `len` returns
    /// for it.
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
    fn room_for_a_burst_is_given_back_in_steps() {
        let step = STEP / size_of::<u64>();
        let all = capacities(600, |tick| if tick == 70 { 100 * step } else { 1000 });
        let each = all.iter().zip(all.iter().skip(1));
        let freed = each.map(|(before, after)| before.saturating_sub(*after));
        assert_eq!(all.iter().max(), Some(&(100 * step)));
        assert_eq!(freed.max(), Some(step));
        assert!(all.last().is_some_and(|it| (1000..=4000).contains(it)));
        // All of it is kept for a window.
        assert!(all.iter().skip(70).take(64).all(|it| *it == 100 * step));
    }

    #[test]
    fn room_for_what_recurs_within_a_window_is_kept() {
        let recurring = |tick: usize| match tick % 64 {
            5 => 20_000,
            _ => 10,
        };
        let all = capacities(1000, recurring);
        assert!(all.iter().skip(64).all(|it| *it == 20_000));
    }

    #[test]
    fn empty_entries_are_dropped_from_the_end_alone() {
        let mut list = vec![None, Some(1), None, Some(2)];
        list.resize(4 + DROPS + 10, None);
        drop_empty(&mut list);
        assert_eq!(list.len(), 4 + 10);
        drop_empty(&mut list);
        drop_empty(&mut list);
        assert_eq!(list, [None, Some(1), None, Some(2)]);
    }
}
