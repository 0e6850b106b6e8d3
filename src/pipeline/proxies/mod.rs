//! The proxies: all colliders of this tick, in the form that the later stages read. `arena.rs`
//! stores the proxies of one dimension by slot, and `mod.rs` has the slot of each entity. The first
//! stage updates [`Proxies`]. The later stages, spatial queries, `explain` and the drawing read the
//! proxies.

mod arena;

pub use arena::{ProxyArena, SlotPair};

use bevy::{ecs::entity::EntityGeneration, math::Affine3A, prelude::*};

use crate::{
    buffer::{Buffer, drop_empty, reserve_amortized},
    math::{Vec2, Vec3},
    meeting::{PairRules, PairTraits, Party},
    pipeline::proxy::Proxy,
    settings::BroadPhase,
};

/// All colliders that take part in this tick.
#[derive(Resource, Default)]
pub struct Proxies {
    pub d2: ProxyArena<Vec2>,
    pub d3: ProxyArena<Vec3>,
    /// The source of this tick's candidate pairs.
    pub source: BroadPhase,
    /// `true` if the app has restored other contacts, or if the previous tick was aborted. Then the
    /// contacts of the previous tick do not belong to these proxies.
    pub is_restored: bool,
    /// `true` if any of these colliders is [`Swept`](crate::Swept).
    pub has_swept: bool,
    /// The rules that decide which of these colliders may touch.
    pub rules: PairRules,
    /// The slot of each collider, by entity index.
    entries: Buffer<Option<SlotEntry>>,
}

#[derive(Clone, Copy, Debug)]
struct SlotEntry {
    generation: EntityGeneration,
    slot: ProxySlot,
}

/// The slot of an entity with a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxySlot {
    D2(u32),
    D3(u32),
    /// The collider has no slot, because it has no shape.
    Inert,
    /// The collider has no slot, because it is invalid. A logged warning gives the reason.
    Invalid,
}

impl Proxies {
    /// Clears the lists of changed proxies, and frees unused memory.
    pub fn begin_tick(&mut self) {
        self.d2.begin_tick();
        self.d3.begin_tick();
        drop_empty(&mut self.entries);
        self.entries.end_tick();
    }

    /// Removes everything except the entries of invalid colliders, so that no warning is repeated.
    pub fn reset(&mut self) {
        let mut entries = core::mem::take(&mut self.entries);
        for entry in entries.iter_mut() {
            *entry = entry.filter(|entry| entry.slot == ProxySlot::Invalid);
        }
        *self = Self {
            entries,
            ..Self::default()
        };
    }

    /// Returns the slot of an entity, or `None` if it has no collider.
    pub fn slot(&self, entity: Entity) -> Option<ProxySlot> {
        let entry = (*self.entries.get(entity.index_u32() as usize)?)?;
        (entry.generation == entity.generation()).then_some(entry.slot)
    }

    /// Returns the pose of an entity's proxy as a map of 3D points. In 2D, the map does not change
    /// z.
    pub fn pose(&self, entity: Entity) -> Option<Affine3A> {
        match self.slot(entity)? {
            ProxySlot::D2(slot) => Some(self.d2.get(slot)?.own_pose().in_3d()),
            ProxySlot::D3(slot) => Some(self.d3.get(slot)?.own_pose().in_3d()),
            ProxySlot::Inert | ProxySlot::Invalid => None,
        }
    }

    /// Returns an entity with its traits, for the rules of `meeting/`. An entity without a proxy
    /// gets the default traits: it interacts with all layers, and is its own owner.
    pub fn party(&self, entity: Entity) -> Party<'_> {
        let party = match self.slot(entity) {
            Some(ProxySlot::D2(slot)) => self.d2.get(slot).map(Proxy::party),
            Some(ProxySlot::D3(slot)) => self.d3.get(slot).map(Proxy::party),
            _ => None,
        };
        let traits = &PairTraits::DEFAULT;
        party.unwrap_or(Party { entity, traits })
    }

    /// Returns `true` if an entity takes part in this tick.
    pub fn contains(&self, entity: Entity) -> bool {
        let slot = self.slot(entity);
        matches!(slot, Some(ProxySlot::D2(_) | ProxySlot::D3(_)))
    }

    /// Returns `true` if an entity takes part in this tick, and has not changed since the previous
    /// tick.
    pub fn is_unchanged(&self, entity: Entity) -> bool {
        match self.slot(entity) {
            Some(ProxySlot::D2(slot)) => !self.d2.is_changed(slot),
            Some(ProxySlot::D3(slot)) => !self.d3.is_changed(slot),
            _ => false,
        }
    }

    /// Returns `true` if the next tick reads the poses of this tick.
    pub fn needs_poses(&self) -> bool {
        let has_ledges = self.d2.has_ledges() || self.d3.has_ledges();
        self.has_swept || has_ledges || !self.rules.one_ways.is_empty()
    }

    /// Returns `true` if any proxy changed, or the cells of a grid.
    pub fn has_changes(&self) -> bool {
        let has_edits = !self.d2.edited().is_empty() || !self.d3.edited().is_empty();
        has_edits || !self.d2.changed().is_empty() || !self.d3.changed().is_empty()
    }

    /// Marks the proxy of an entity as changed, if the entity has a proxy.
    pub fn mark_changed(&mut self, entity: Entity) {
        match self.slot(entity) {
            Some(ProxySlot::D2(slot)) => self.d2.mark_changed(slot),
            Some(ProxySlot::D3(slot)) => self.d3.mark_changed(slot),
            _ => {}
        }
    }

    pub fn set_slot(&mut self, entity: Entity, slot: ProxySlot) {
        let index = entity.index_u32() as usize;
        if self.entries.len() <= index {
            let missing = index + 1 - self.entries.len();
            reserve_amortized(&mut self.entries, missing);
            self.entries.resize(index + 1, None);
        }
        let generation = entity.generation();
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = Some(SlotEntry { generation, slot });
        }
    }

    /// Removes the entry at the index of `entity`, and its proxy. The entry may belong to an
    /// earlier generation of the entity.
    pub fn forget(&mut self, entity: Entity) {
        let entry = self.entries.get_mut(entity.index_u32() as usize);
        if let Some(entry) = entry.and_then(Option::take) {
            self.remove(entry.slot);
        }
    }

    /// Removes the proxy in a slot, if the slot contains a proxy.
    pub fn remove(&mut self, slot: ProxySlot) {
        match slot {
            ProxySlot::D2(slot) => self.d2.remove(slot),
            ProxySlot::D3(slot) => self.d3.remove(slot),
            ProxySlot::Inert | ProxySlot::Invalid => {}
        }
    }
}
