//! The proxies of a space, where all stages find them: by their slot, a number that each keeps for as long as it lives.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{
    buffer::{Buffer, Peak, Reclaim, drop_empty, is_excessive, reserve_amortized},
    pipeline::{
        aabb::Aabb,
        proxy::{BoundingRegion, Proxy},
    },
    space::Space,
};

/// The proxies of a space.
pub struct Slots<V: Space> {
    proxies: Buffer<Option<Proxy<V>>>,
    /// By slot, around the proxy. Apart from them, because the broad phase looks at nothing else.
    boxes: Buffer<Aabb>,
    /// Where in this tick a proxy has come or gone. A slot may be listed twice.
    turned: Buffer<u32>,
    /// How often that was before this tick.
    turns: u32,
    /// By slot, whether it is listed in `changed`.
    is_changed: Buffer<bool>,
    changed: Buffer<u32>,
    /// The free slots, the lowest one first: so those at the end stay free, and can be dropped. It
    /// may still list slots that have been dropped, which are beyond all others.
    free: BinaryHeap<Reverse<u32>>,
    free_peak: Peak,
    half_spaces: Buffer<u32>,
    /// How many proxies there are.
    count: usize,
}

impl<V: Space> Default for Slots<V> {
    fn default() -> Self {
        Self {
            proxies: Buffer::default(),
            boxes: Buffer::default(),
            turned: Buffer::default(),
            turns: 0,
            is_changed: Buffer::default(),
            changed: Buffer::default(),
            free: BinaryHeap::new(),
            free_peak: Peak::default(),
            half_spaces: Buffer::default(),
            count: 0,
        }
    }
}

impl<V: Space> Slots<V> {
    pub fn get(&self, slot: u32) -> Option<&Proxy<V>> {
        self.proxies.get(slot as usize)?.as_ref()
    }

    /// By slot: the boxes around the proxies, and [`Aabb::NONE`] for what has none.
    pub fn boxes(&self) -> &[Aabb] {
        &self.boxes
    }

    /// The slots to which in this tick a proxy has come, or from which one has gone; some of them twice. And how many that were
    /// in all ticks before.
    pub fn turned(&self) -> (u32, &[u32]) {
        (self.turns, &self.turned)
    }

    /// Whether two proxies may meet, as far as their boxes tell.
    pub fn may_meet(&self, (a, b): (u32, u32)) -> bool {
        let around = |slot: u32| self.boxes.get(slot as usize).filter(|it| it.is_some());
        match (around(a), around(b)) {
            (Some(a), Some(b)) => a.meets(b),
            _ => true,
        }
    }

    /// Where a proxy can be met. (A compound's own box is that of all of its parts, and is known.)
    pub fn extent(&self, slot: u32) -> Option<BoundingRegion<V::DVec>> {
        match self.boxes.get(slot as usize)? {
            aabb if aabb.is_some() => Some(BoundingRegion::Box(aabb.bounds())),
            _ => self.get(slot)?.extent().ok(),
        }
    }

    /// How many proxies there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.proxies.len()
    }

    /// The slots whose proxies are not what they were in the last tick: new, moved, otherwise different, or gone.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Whether a slot is one of these.
    #[inline]
    pub fn is_changed(&self, slot: u32) -> bool {
        self.is_changed.get(slot as usize).is_none_or(|it| *it)
    }

    /// The slots of half-spaces.
    pub fn half_spaces(&self) -> &[u32] {
        &self.half_spaces
    }

    /// Forgets what has changed in the last tick.
    pub fn begin_tick(&mut self) {
        self.turns = self.turns.wrapping_add(self.turned.len() as u32);
        self.turned.clear();
        for slot in self.changed.drain(..) {
            if let Some(is_changed) = self.is_changed.get_mut(slot as usize) {
                *is_changed = false;
            }
        }
        self.drop_free();
    }

    /// Drops free slots at the end. Before anything comes or goes in a tick, so that a slot that is
    /// listed in [`turned`](Self::turned) is still there in all of its tick.
    fn drop_free(&mut self) {
        drop_empty(&mut self.proxies);
        let count = self.proxies.len();
        self.boxes.truncate(count);
        self.is_changed.truncate(count);
        let dropped = self.free.len() - (count - self.count);
        if 2 * dropped > self.free.len() {
            self.free_peak.note(self.free.len());
            self.free.retain(|Reverse(slot)| (*slot as usize) < count);
        }
    }

    /// Shrinks the buffers.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.proxies.reclaim(reclaim);
        self.boxes.reclaim(reclaim);
        self.is_changed.reclaim(reclaim);
        for list in [&mut self.turned, &mut self.changed, &mut self.half_spaces] {
            list.reclaim(reclaim);
        }
        self.free_peak.note(self.free.len());
        if is_excessive(self.free.capacity(), self.free_peak.get()) {
            self.free.shrink_to(2 * self.free_peak.get());
        }
        if reclaim.ends_window() {
            self.free_peak.end_window();
        }
    }

    /// The proxies and their boxes, to be changed by slot. What has been is noted by [`note_change`](Self::note_change).
    pub fn as_mut_slices(&mut self) -> (&mut [Option<Proxy<V>>], &mut [Aabb]) {
        (&mut self.proxies, &mut self.boxes)
    }

    #[inline]
    pub fn note_change(&mut self, slot: u32) {
        if let Some(is_changed) = self.is_changed.get_mut(slot as usize)
            && !*is_changed
        {
            *is_changed = true;
            self.changed.push(slot);
        }
    }

    pub fn note_all(&mut self) {
        for slot in 0..self.proxies.len() as u32 {
            self.note_change(slot);
        }
    }

    pub fn insert(&mut self, proxy: Proxy<V>, aabb: Aabb) -> u32 {
        let slot = match self.free.pop() {
            Some(Reverse(slot)) if (slot as usize) < self.proxies.len() => slot,
            _ => {
                // What the heap still has was dropped, and is about to be there again.
                self.free.clear();
                reserve_amortized(&mut self.proxies, 1);
                self.proxies.push(None);
                reserve_amortized(&mut self.boxes, 1);
                self.boxes.push(Aabb::NONE);
                self.is_changed.push(false);
                (self.proxies.len() - 1) as u32
            }
        };
        self.count += 1;
        self.turned.push(slot);
        self.set(slot, proxy, aabb);
        slot
    }

    pub fn set(&mut self, slot: u32, proxy: Proxy<V>, aabb: Aabb) {
        self.half_spaces.retain(|other| *other != slot);
        if proxy.half_space().is_some() {
            self.half_spaces.push(slot);
        }
        self.put(slot, Some(proxy), aabb);
    }

    pub fn remove(&mut self, slot: u32) {
        self.half_spaces.retain(|other| *other != slot);
        self.free.push(Reverse(slot));
        self.count -= 1;
        self.turned.push(slot);
        self.put(slot, None, Aabb::NONE);
    }

    fn put(&mut self, slot: u32, proxy: Option<Proxy<V>>, aabb: Aabb) {
        let index = slot as usize;
        if let (Some(place), Some(around)) =
            (self.proxies.get_mut(index), self.boxes.get_mut(index))
        {
            (*place, *around) = (proxy, aabb);
            self.note_change(slot);
        }
    }
}
