//! The scan of all colliders, which queues moves, and rebuilds the proxies after other changes.
//!
//! In each tick, [`sync`](super::sync()) calls [`Scan::visit`] with the colliders of each table,
//! and then [`Scan::finish`]. Colliders that cannot collide get [`ProxySlot::Invalid`] here, with
//! one warning.

use bevy::prelude::*;

use crate::{
    buffer::Buffer,
    collider::{ColliderError, entity_pose},
    meeting::PairTraits,
    pipeline::{
        proxies::{Proxies, ProxyArena, ProxySlot},
        proxy::Proxy,
        sync::{
            ancestors::AncestorReader,
            change_ticks::{ChangeWindow, Chunk, ColliderRow, Columns},
            moves::MoveQueue,
            table_history::{KnownRows, TableHistory},
        },
    },
    shape::{AnyColliderShape, ColliderShape},
    space::{DVector, Space},
};

/// Number of colliders whose change ticks are tested together.
const BLOCK: usize = 64;

/// One pass over all colliders.
pub struct Scan<'a> {
    pub world: &'a World,
    pub window: ChangeWindow,
    pub ancestors: AncestorReader<'a>,
    pub proxies: &'a mut Proxies,
    /// Entities whose rows of the previous tick either belong to other entities now or no longer
    /// exist.
    pub displaced: &'a mut Buffer<Entity>,
    pub moves: &'a mut MoveQueue,
    /// `true` if there is any ground.
    pub has_grounds: bool,
}

impl Scan<'_> {
    /// Visits the next colliders of a table.
    pub fn visit(&mut self, table: &mut KnownRows, chunk: &Chunk) {
        let mut start = 0;
        while start < chunk.entities.len() {
            let block = chunk.slice(start..chunk.entities.len().min(start + BLOCK));
            let known = table.count_known(block.entities);
            if known > 0 {
                self.visit_known(table, &block.slice(0..known));
                table.skip(known);
                start += known;
            } else {
                if let Some(row) = block.row(0, self.window) {
                    self.visit_unknown(table, &row);
                }
                start += 1;
            }
        }
    }

    /// Visits colliders that were in the same rows in the previous tick.
    fn visit_known(&mut self, table: &mut KnownRows, block: &Chunk) {
        if !block.has_other_changes(self.window) && self.has_same_ancestors(table, block) {
            if !block.has_moves(self.window) {
                return;
            }
            // The proxy of a moved member of a ground is built again.
            if !block.is_joined() {
                self.visit_moved(block);
                return;
            }
        }
        for row in block.rows(self.window) {
            let ancestry = self.ancestors.child_ancestry(row.parent);
            let mut is_changed = row.is_changed || ancestry.is_changed;
            if let Some(known) = table.ancestor_sums().get_mut(row.index) {
                is_changed |= *known != ancestry.sum;
                *known = ancestry.sum;
            }
            if is_changed {
                self.update(&row);
            }
        }
    }

    fn has_same_ancestors(&mut self, table: &mut KnownRows, block: &Chunk) -> bool {
        let mut parents = block.parents().zip(table.ancestor_sums());
        parents.all(|(parent, known)| {
            let ancestry = self.ancestors.child_ancestry(Some(parent));
            !ancestry.is_changed && ancestry.sum == *known
        })
    }

    /// Visits colliders of which at most the transforms and traits have changed.
    fn visit_moved(&mut self, block: &Chunk) {
        let has_parent = block.has_parents();
        for (entity, transform, traits) in block.moved(self.window) {
            match self.proxies.slot(entity) {
                Some(slot @ (ProxySlot::D2(_) | ProxySlot::D3(_))) => {
                    self.queue_move(slot, traits, transform, has_parent);
                }
                // An invalid collider may become valid in its new pose.
                Some(ProxySlot::Invalid) => {
                    let row = block.rows(self.window).find(|row| row.entity == entity);
                    if let Some(row) = row {
                        self.update(&row);
                    }
                }
                Some(ProxySlot::Inert) | None => {}
            }
        }
    }

    /// Visits a collider that is new, or was in another row in the previous tick.
    fn visit_unknown(&mut self, table: &mut KnownRows, row: &ColliderRow) {
        let ancestry = self.ancestors.child_ancestry(row.parent);
        let previous = table.write_row(row.entity, row.parent.map(|_| ancestry.sum));
        self.displaced.extend(previous);
        self.update(row);
    }

    /// Updates the proxy of a collider: queues a move if the shape has not changed, and rebuilds
    /// the proxy otherwise.
    fn update(&mut self, row: &ColliderRow) {
        let slot = self.proxies.slot(row.entity);
        match (slot, row.transform) {
            (Some(slot), Some(transform))
                if !row.is_collider_changed
                    && slot != ProxySlot::Invalid
                    && !self.is_joined(row) =>
            {
                self.queue_move(slot, row.traits, transform, row.parent.is_some());
            }
            _ => self.rebuild(row, slot),
        }
    }

    fn queue_move(
        &mut self,
        slot: ProxySlot,
        traits: PairTraits,
        transform: &Transform,
        has_parent: bool,
    ) {
        if self.moves.add(slot, traits, *transform, has_parent) {
            self.moves.apply(self.world, self.proxies);
        }
    }

    /// Returns `true` if an entity is a member of a ground, now or in the previous tick.
    fn is_joined(&self, row: &ColliderRow) -> bool {
        let was_joined = || self.proxies.party(row.entity).traits.is_joined;
        row.traits.is_joined || self.has_grounds && was_joined()
    }

    fn rebuild(&mut self, row: &ColliderRow, old: Option<ProxySlot>) {
        if old.is_none() {
            // If a despawned entity had the same index, its proxy is removed.
            self.proxies.forget(row.entity);
        }
        let old = old.unwrap_or(ProxySlot::Inert);
        let new = build(self.world, self.proxies, row, old).unwrap_or_else(|error| {
            if old != ProxySlot::Invalid {
                warn(self.world, row.entity, "is ignored", &error);
            }
            ProxySlot::Invalid
        });
        if new != old {
            self.proxies.remove(old);
        }
        self.proxies.set_slot(row.entity, new);
    }

    /// Applies the queued moves, and removes the proxies of entities that are no longer colliders.
    pub fn finish(self, history: &mut TableHistory, colliders: &Query<Columns>) {
        self.moves.apply(self.world, self.proxies);
        for (entity, error) in self.moves.errors.iter() {
            self.proxies.forget(*entity);
            self.proxies.set_slot(*entity, ProxySlot::Invalid);
            warn(self.world, *entity, "is ignored", error);
        }
        self.moves.end_tick();
        history.end_tick(|entity| self.displaced.push(entity));
        for entity in self.displaced.iter().copied() {
            if self.proxies.slot(entity).is_some() && !colliders.contains(entity) {
                self.proxies.forget(entity);
            }
        }
        self.displaced.clear();
    }
}

/// The reason why a collider is ignored.
type InvalidCollider = Box<dyn core::error::Error>;

/// Builds the proxy of an entity, in its old slot if the dimension is the same, and returns the
/// slot of the proxy.
fn build(
    world: &World,
    proxies: &mut Proxies,
    row: &ColliderRow,
    old: ProxySlot,
) -> Result<ProxySlot, InvalidCollider> {
    Ok(match row.collider.shape() {
        AnyColliderShape::Inert | AnyColliderShape::NoCells(_) => ProxySlot::Inert,
        AnyColliderShape::D2(shape) => {
            ProxySlot::D2(build_in(world, &mut proxies.d2, row, shape, old)?)
        }
        AnyColliderShape::D3(shape) => {
            ProxySlot::D3(build_in(world, &mut proxies.d3, row, shape, old)?)
        }
        AnyColliderShape::Rejected(error) => return Err((*error).into()),
    })
}

/// Builds the proxy of an entity in its old slot, or in a new slot, and returns the slot.
fn build_in<V: Space>(
    world: &World,
    arena: &mut ProxyArena<V>,
    row: &ColliderRow,
    shape: &ColliderShape<V>,
    old: ProxySlot,
) -> Result<u32, ColliderError> {
    let pose = entity_pose::<V>(world, row.entity)?;
    let (proxy, aabb) = Proxy::new(row.entity, row.traits, shape, pose)?;
    Ok(match (old, V::DVec::DIMENSION) {
        (ProxySlot::D2(slot), 2) | (ProxySlot::D3(slot), 3) => {
            arena.replace(slot, proxy, aabb);
            slot
        }
        _ => arena.insert(proxy, aabb),
    })
}

/// Logs a warning about a collider: the `effect`, such as "is ignored", and the reason. Callers
/// repeat the warning only after the collider has been valid again.
pub fn warn(world: &World, entity: Entity, effect: &str, reason: &dyn core::fmt::Display) {
    let name = world.get::<Name>(entity);
    let name = name.map_or_else(String::new, |name| format!(" {:?}", name.as_str()));
    log::warn!("the collider of entity {entity}{name} {effect}: {reason}");
}
