//! Moves of proxies, queued during the scan and applied on all threads. The scan calls
//! [`MoveQueue::add`] for each move. It calls [`MoveQueue::apply`] whenever the queue is full, and
//! at its end.

use bevy::prelude::*;

use crate::{
    buffer::Buffer,
    collider::{ColliderError, entity_pose},
    meeting::PairTraits,
    parallel::share,
    pipeline::{
        proxies::{Proxies, ProxyArena, ProxySlot},
        proxy::Proxy,
    },
    shape::{Aabb, WorldPose},
    space::Space,
};

/// The colliders whose poses or traits changed in this tick, but whose shapes did not.
#[derive(Default)]
pub struct MoveQueue {
    d2: Buffer<QueuedMove>,
    d3: Buffer<QueuedMove>,
    /// The entities that cannot collide in their new poses. These entities still have proxies.
    pub errors: Buffer<(Entity, ColliderError)>,
}

struct QueuedMove {
    slot: u32,
    traits: PairTraits,
    transform: Transform,
    has_parent: bool,
    /// `Ok(true)` if the proxy changed, or an error if the collider is invalid in its new pose.
    result: Result<bool, ColliderError>,
}

/// The number of moves in a full queue. The limit bounds the memory of the queue.
const FULL: usize = 4096;

impl MoveQueue {
    /// Queues a move. Returns `true` if the queue is full.
    pub fn add(
        &mut self,
        slot: ProxySlot,
        traits: PairTraits,
        transform: Transform,
        has_parent: bool,
    ) -> bool {
        let (slot, moves) = match slot {
            ProxySlot::D2(slot) => (slot, &mut self.d2),
            ProxySlot::D3(slot) => (slot, &mut self.d3),
            ProxySlot::Inert | ProxySlot::Invalid => return false,
        };
        moves.push(QueuedMove {
            slot,
            traits,
            transform,
            has_parent,
            result: Ok(false),
        });
        moves.len() >= FULL
    }

    /// Applies the queued moves.
    pub fn apply(&mut self, world: &World, proxies: &mut Proxies) {
        let Self { d2, d3, errors } = self;
        apply_all(world, &mut proxies.d2, d2, errors);
        apply_all(world, &mut proxies.d3, d3, errors);
    }

    /// Ends a tick, and removes all errors.
    pub fn end_tick(&mut self) {
        self.d2.end_tick();
        self.d3.end_tick();
        self.errors.clear();
    }
}

/// Minimum number of moves per task.
const MIN_MOVES: usize = 256;

/// Applies the moves of one dimension, lists the errors, and clears the queue.
fn apply_all<V: Space>(
    world: &World,
    arena: &mut ProxyArena<V>,
    moves: &mut Buffer<QueuedMove>,
    errors: &mut Vec<(Entity, ColliderError)>,
) {
    let (mut proxies, mut boxes) = arena.as_mut_slices();
    if let Some((pool, size)) = share(moves.len(), MIN_MOVES) {
        // Each task gets a range of slots, so the moves are sorted by slot.
        moves.sort_unstable_by_key(|item| item.slot);
        let mut first = 0;
        pool.scope(|scope| {
            for moves in moves.chunks_mut(size) {
                let end = moves.last().map_or(first, |item| item.slot as usize + 1);
                let (own_proxies, other_proxies) = proxies.split_at_mut(end - first);
                let (own_boxes, other_boxes) = boxes.split_at_mut(end - first);
                (proxies, boxes) = (other_proxies, other_boxes);
                let offset = first;
                first = end;
                scope.spawn(async move {
                    apply_some(world, own_proxies, own_boxes, offset, moves);
                });
            }
        });
    } else {
        apply_some(world, proxies, boxes, 0, moves);
    }
    for item in moves.iter() {
        match item.result {
            Ok(true) => arena.mark_changed(item.slot),
            Ok(false) => {}
            Err(error) => {
                errors.extend(arena.get(item.slot).map(|proxy| (proxy.entity, error)));
            }
        }
    }
    // `Buffer::clear` would end a tick.
    Vec::clear(moves);
}

/// The number of moves in a batch. All poses of a batch are written before the boxes of the batch
/// are computed. So the processor loads the proxies in parallel, and never waits for a pose that
/// was just written.
const BATCHED_MOVES: usize = 16;

/// Applies moves to proxies and their boxes. The first proxy has the slot `offset`.
fn apply_some<V: Space>(
    world: &World,
    proxies: &mut [Option<Proxy<V>>],
    boxes: &mut [Aabb],
    offset: usize,
    moves: &mut [QueuedMove],
) {
    for batch in moves.chunks_mut(BATCHED_MOVES) {
        for item in batch.iter_mut() {
            if let Some(Some(proxy)) = proxies.get_mut(item.slot as usize - offset) {
                item.result = update(world, proxy, item);
            }
        }
        for item in batch
            .iter_mut()
            .filter(|item| matches!(item.result, Ok(true)))
        {
            let index = item.slot as usize - offset;
            if let Some(Some(proxy)) = proxies.get(index)
                && let Some(aabb) = boxes.get_mut(index)
            {
                item.result = proxy.aabb().map(|new| {
                    *aabb = new;
                    true
                });
            }
        }
    }
}

/// Sets the pose and the traits of a proxy. Returns `true` if any of these values changed.
fn update<V: Space>(
    world: &World,
    proxy: &mut Proxy<V>,
    item: &QueuedMove,
) -> Result<bool, ColliderError> {
    // This fast path has its own call of `Proxy::update`, so that the pose stays in registers.
    if !item.has_parent
        && let Some(pose) = WorldPose::from_similarity(&item.transform)
    {
        return Ok(proxy.update(pose, item.traits));
    }
    let pose = entity_pose::<V>(world, proxy.entity)?;
    Ok(proxy.update(pose, item.traits))
}
