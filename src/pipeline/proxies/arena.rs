//! Storage for the proxies of one dimension. A proxy keeps its slot until it is removed.
//! `sync/scan.rs` calls [`ProxyArena::insert`], [`ProxyArena::replace`] and [`ProxyArena::remove`].

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use bevy::{ecs::entity::EntityHashMap, prelude::Entity};

use crate::{
    buffer::{Peak, drop_empty, reserve_amortized},
    pipeline::proxy::Proxy,
    placed::{BoundingRegion, CellChange, PlacedCollider},
    shape::Aabb,
    space::Space,
};

/// The slots of two proxies in the same dimension.
pub type SlotPair = (u32, u32);

/// The proxies of one dimension, by slot.
#[derive(Clone, Default)]
pub struct ProxyArena<V: Space> {
    proxies: Vec<Option<Proxy<V>>>,
    /// The bounding box of each slot. The boxes are stored apart from the proxies, because the
    /// broad phase reads hardly any other data.
    boxes: Vec<Aabb>,
    /// For each slot, `true` if the slot is listed in `changed`.
    is_changed: Vec<bool>,
    changed: Vec<u32>,
    /// The slots of grids whose cells changed since the previous tick, each with the change. They
    /// are not listed in `changed`.
    edited: Vec<(u32, CellChange<V>)>,
    /// New proxies of the members of grounds. The last step of `Sync` makes them members.
    replaced: Vec<Proxy<V>>,
    /// `true` if a member of a ground was added or removed.
    has_new_members: bool,
    /// Free slots, the lowest first, so that the slots at the end stay free and can be dropped. The
    /// heap may include dropped slots, which have higher numbers than all existing slots.
    free: BinaryHeap<Reverse<u32>>,
    half_spaces: Vec<u32>,
    /// Number of proxies with ledges.
    with_ledges: usize,
    /// The peak number of slots.
    peak: Peak,
    /// Number of proxies.
    count: usize,
    /// A counter that is incremented whenever a proxy is added or removed.
    revision: u64,
}

impl<V: Space> ProxyArena<V> {
    pub fn get(&self, slot: u32) -> Option<&Proxy<V>> {
        self.proxies.get(slot as usize)?.as_ref()
    }

    /// Returns the bounding box of each slot. Half-spaces and free slots have [`Aabb::EMPTY`].
    pub fn boxes(&self) -> &[Aabb] {
        &self.boxes
    }

    /// Returns the bounding box of a slot, or `None` for a half-space or a free slot.
    pub fn box_of(&self, slot: u32) -> Option<&Aabb> {
        let aabb = self.boxes.get(slot as usize)?;
        (!aabb.is_empty()).then_some(aabb)
    }

    /// Returns `true` unless the bounding boxes of two proxies are separated.
    pub fn may_touch(&self, (a, b): SlotPair) -> bool {
        match (self.box_of(a), self.box_of(b)) {
            (Some(a), Some(b)) => a.may_touch(b),
            _ => true,
        }
    }

    /// Returns the region of the world that contains a proxy, or `None` for a free slot.
    pub fn region(&self, slot: u32) -> Option<BoundingRegion<V::DVec>> {
        let aabb = self.boxes.get(slot as usize)?;
        self.get(slot)?.region_in(aabb)
    }

    /// Returns the number of proxies.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns a counter that is incremented whenever a proxy is added or removed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns all slots, including free slots.
    pub fn slots(&self) -> core::ops::Range<u32> {
        0..self.proxies.len() as u32
    }

    /// Returns the slots whose proxies were added, removed, moved or otherwise changed since the
    /// previous tick.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Returns the grids of which only cells changed since the previous tick, each with its change.
    /// The bodies near the changed cells count as changed.
    pub fn edited(&self) -> &[(u32, CellChange<V>)] {
        &self.edited
    }

    /// Returns `true` if a slot is listed in [`changed`](Self::changed).
    pub fn is_changed(&self, slot: u32) -> bool {
        self.is_changed
            .get(slot as usize)
            .is_none_or(|changed| *changed)
    }

    /// Returns the slots of half-spaces.
    pub fn half_spaces(&self) -> &[u32] {
        &self.half_spaces
    }

    /// Returns `true` if any proxy is a union of cells with one-way cells.
    pub fn has_ledges(&self) -> bool {
        self.with_ledges > 0
    }

    /// Clears the list of changed slots, and frees unused memory.
    pub fn begin_tick(&mut self) {
        if self.peak.end_tick(self.proxies.len()) {
            // Cloning the arena drops its unused capacity.
            *self = self.clone();
        }
        self.edited.clear();
        for slot in self.changed.drain(..) {
            if let Some(is_changed) = self.is_changed.get_mut(slot as usize) {
                *is_changed = false;
            }
        }
        self.drop_free_slots();
    }

    /// Drops the free slots at the end of the arena.
    fn drop_free_slots(&mut self) {
        drop_empty(&mut self.proxies);
        let len = self.proxies.len();
        self.boxes.truncate(len);
        self.is_changed.truncate(len);
        let dropped = self.free.len() - (len - self.count);
        if 2 * dropped > self.free.len() {
            self.free.retain(|Reverse(slot)| (*slot as usize) < len);
        }
    }

    /// Returns the proxies and boxes of all slots. The caller marks each change with
    /// [`mark_changed`](Self::mark_changed).
    pub fn as_mut_slices(&mut self) -> (&mut [Option<Proxy<V>>], &mut [Aabb]) {
        (&mut self.proxies, &mut self.boxes)
    }

    pub fn mark_changed(&mut self, slot: u32) {
        if let Some(is_changed @ false) = self.is_changed.get_mut(slot as usize) {
            *is_changed = true;
            reserve_amortized(&mut self.changed, 1);
            self.changed.push(slot);
        }
    }

    pub fn mark_all_changed(&mut self) {
        self.slots().for_each(|slot| self.mark_changed(slot));
    }

    /// Marks the proxies as changed whose contacts with a grid may have changed with its cells,
    /// from the edit at an index of [`edited`](Self::edited) on.
    pub fn mark_near_edits(&mut self, first: usize) {
        let edits = self.edited.iter().skip(first);
        let near = edits.filter_map(|(slot, change)| {
            let grid = self.get(*slot).filter(|_| !self.is_changed(*slot))?;
            Some(self.near(change, grid, |body| body.entity == grid.entity))
        });
        let near: Vec<u32> = near.flatten().collect();
        near.into_iter().for_each(|slot| self.mark_changed(slot));
    }

    /// Returns a function from an entity and the index of a part before an edit to the index after
    /// the edit, for the edits of [`mark_near_edits`](Self::mark_near_edits). The function returns
    /// `None` if the index stays.
    pub fn renumbering(&self, first: usize) -> impl Fn(Entity, u32) -> Option<u32> {
        let edits = self.edited.iter().skip(first);
        let edits = edits.filter_map(|(slot, change)| Some((self.get(*slot)?, change)));
        let edits: EntityHashMap<_> = edits.map(|edit| (edit.0.entity, edit)).collect();
        move |entity, part| {
            let (grid, change) = edits.get(&entity)?;
            change.renumbered(grid, part)
        }
    }

    /// Returns the new proxies of members of grounds, or `None` if no member was added, removed or
    /// replaced since the last call.
    pub fn take_replaced(&mut self) -> Option<Vec<Proxy<V>>> {
        let has_changes = core::mem::take(&mut self.has_new_members) || !self.replaced.is_empty();
        has_changes.then(|| core::mem::take(&mut self.replaced))
    }

    /// Replaces the proxy in a slot by a member of a ground, and does not mark the slot as changed.
    /// Returns `true` if the box or the traits changed.
    pub fn set_member(&mut self, slot: u32, new: Proxy<V>, new_box: Aabb) -> bool {
        let Some(old) = self.get(slot) else {
            return false;
        };
        let is_same = self.boxes.get(slot as usize) == Some(&new_box) && old.traits == new.traits;
        self.set(slot, Some(new), new_box);
        !is_same
    }

    /// Marks the proxies as changed whose contacts with a ground may have changed with its cells.
    /// `is_member` returns `true` for a member of the ground.
    pub fn mark_near(
        &mut self,
        change: &CellChange<V>,
        ground: &PlacedCollider<V>,
        is_member: impl Fn(&Proxy<V>) -> bool,
    ) {
        let near = self.near(change, ground, is_member);
        near.into_iter().for_each(|slot| self.mark_changed(slot));
    }

    /// Returns the slots of the unchanged proxies whose contacts with a union may have changed with
    /// its cells, except proxies for which `is_own` returns `true`. `union` is the union after the
    /// change.
    fn near(
        &self,
        change: &CellChange<V>,
        union: &PlacedCollider<V>,
        is_own: impl Fn(&Proxy<V>) -> bool,
    ) -> Vec<u32> {
        let boxes = [change.old(), union].map(|placed| placed.aabb().ok());
        let is_near = |slot: &u32| {
            let body = self.get(*slot).filter(|_| !self.is_changed(*slot));
            body.is_some_and(|body| {
                let is_near = self.box_of(*slot).is_none_or(|aabb| {
                    let mut boxes = boxes.iter();
                    boxes.any(|it| it.as_ref().is_none_or(|it| it.may_touch(aabb)))
                        && change.affects(union, body, &aabb.bounds())
                });
                is_near && !is_own(body)
            })
        };
        self.slots().filter(is_near).collect()
    }

    pub fn insert(&mut self, proxy: Proxy<V>, aabb: Aabb) -> u32 {
        self.has_new_members |= proxy.traits.is_joined;
        let len = self.proxies.len() as u32;
        let free = self.free.pop().map(|Reverse(slot)| slot);
        let slot = free.filter(|slot| *slot < len).unwrap_or_else(|| {
            // `free` now lists only dropped slots. New slots may get the same numbers, so `free` is
            // cleared.
            self.free.clear();
            reserve_amortized(&mut self.proxies, 1);
            self.proxies.push(None);
            reserve_amortized(&mut self.boxes, 1);
            self.boxes.push(Aabb::EMPTY);
            self.is_changed.push(false);
            len
        });
        self.count += 1;
        self.revision += 1;
        self.replace_now(slot, proxy, aabb);
        slot
    }

    /// Replaces the proxy in a slot that is in use. A member of a ground is only listed.
    pub fn replace(&mut self, slot: u32, proxy: Proxy<V>, aabb: Aabb) {
        if proxy.traits.is_joined {
            self.replaced.push(proxy);
        } else {
            self.replace_now(slot, proxy, aabb);
        }
    }

    /// Replaces the proxy in a slot that is in use, also the proxy of a member of a ground.
    ///
    /// If only the cells of a grid changed, the proxy does not count as changed: see
    /// [`mark_near_edits`](Self::mark_near_edits).
    pub fn replace_now(&mut self, slot: u32, proxy: Proxy<V>, aabb: Aabb) {
        let old = self.get(slot).filter(|old| {
            let has_same_box = self.boxes.get(slot as usize) == Some(&aabb);
            has_same_box && old.traits == proxy.traits && old.member().is_none()
        });
        match old.and_then(|old| CellChange::between(&old.placed, &proxy.placed)) {
            Some(change) => self.edited.push((slot, change)),
            None => self.mark_changed(slot),
        }
        self.set(slot, Some(proxy), aabb);
    }

    pub fn remove(&mut self, slot: u32) {
        let old = self.get(slot);
        self.has_new_members |= old.is_some_and(|old| old.traits.is_joined);
        self.free.push(Reverse(slot));
        self.count -= 1;
        self.revision += 1;
        self.set(slot, None, Aabb::EMPTY);
        self.mark_changed(slot);
    }

    /// Replaces the proxy in a slot and its box, and does not mark the slot as changed.
    fn set(&mut self, slot: u32, new: Option<Proxy<V>>, new_box: Aabb) {
        self.half_spaces.retain(|other| *other != slot);
        if new.as_ref().is_some_and(|it| it.half_space().is_some()) {
            self.half_spaces.push(slot);
        }
        let index = slot as usize;
        if let Some(proxy) = self.proxies.get_mut(index)
            && let Some(aabb) = self.boxes.get_mut(index)
        {
            let count = |proxy: &Option<Proxy<V>>| {
                usize::from(proxy.as_ref().is_some_and(|it| it.has_ledges()))
            };
            self.with_ledges = self.with_ledges + count(&new) - count(proxy);
            (*proxy, *aabb) = (new, new_box);
        }
    }
}
