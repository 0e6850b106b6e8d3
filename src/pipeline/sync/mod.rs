//! First stage: what collides in this tick, and where it is.
//!
//! Of the colliders that are as they were, nothing is read but the ticks at which Bevy has noted their last change: so what
//! rests costs next to nothing. Which entities there are is told by where Bevy lists them: who is listed where it was in the
//! last tick has neither come nor gone nor got or lost a component, by whatever way, and all others are looked up. Of
//! ancestors the changes are noted likewise, and that a link to one has gone shows in their number.
//!
//! What has only moved, as most of what changes has, is moved on all threads, some thousands for each at a time.

mod ancestors;
mod columns;
#[cfg(feature = "mesh")]
pub mod mesh_assets;
mod tables;

use bevy::{ecs::entity::EntityGeneration, platform::time::Instant, prelude::*};

use crate::{
    buffer::{Buffer, Reclaim, drop_empty, reserve_amortized},
    collider::CollisionLayers,
    diagnostics::CollisionDiagnostics,
    math::{Vec2, Vec3},
    pipeline::{
        aabb::Aabb,
        broad_phase::{BroadPhase, Candidates},
        narrow_phase::FoundContacts,
        parallel::{share, threads},
        progress::Progress,
        proxies::Slots,
        proxy::{Fault, Proxy},
        report::Written,
        sync::{
            ancestors::{Ancestors, Chains},
            columns::{Chunk, Columns, Member, Since},
            tables::{Table, Tables},
        },
        world_pose::Placement,
    },
    shape::{AnyColliderShape, ShapeError},
    space::Space,
};

/// All colliders that take part in this tick.
#[derive(Resource, Default)]
pub struct Proxies {
    pub plane: Slots<Vec2>,
    pub solid: Slots<Vec3>,
    /// Where the candidate pairs of this tick come from.
    pub source: BroadPhase,
    /// Whether the contacts of the last tick are not those of its proxies: the app has restored
    /// others, or the tick was aborted.
    pub is_restored: bool,
    /// By the index of an entity with a collider.
    known: Buffer<Option<Known>>,
}

/// What is known of an entity with a collider.
#[derive(Clone, Copy, Debug)]
struct Known {
    generation: EntityGeneration,
    place: Place,
}

/// Where in [`Proxies`] an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Plane(u32),
    Solid(u32),
    /// Nowhere: it touches nothing by choice.
    Inert,
    /// Nowhere, and a warning has said why.
    Faulty,
}

impl Proxies {
    /// Removes everything but the note of which colliders were warned about.
    fn reset(&mut self) {
        let mut known = core::mem::take(&mut self.known);
        for entry in known.iter_mut() {
            *entry = entry.filter(|known| known.place == Place::Faulty);
        }
        *self = Self {
            known,
            ..Self::default()
        };
    }

    /// Whether the entity takes part in this tick.
    pub fn contains(&self, entity: Entity) -> bool {
        matches!(self.place(entity), Some(Place::Plane(_) | Place::Solid(_)))
    }

    /// Where an entity with a collider is.
    #[inline]
    pub fn place(&self, entity: Entity) -> Option<Place> {
        let known = (*self.known.get(entity.index_u32() as usize)?)?;
        (known.generation == entity.generation()).then_some(known.place)
    }

    /// Who is there.
    fn entity_at(&self, place: Place) -> Option<Entity> {
        match place {
            Place::Plane(slot) => self.plane.get(slot).map(|it| it.entity),
            Place::Solid(slot) => self.solid.get(slot).map(|it| it.entity),
            Place::Inert | Place::Faulty => None,
        }
    }

    /// Notes where an entity with a collider is.
    fn set_place(&mut self, entity: Entity, place: Place) {
        let index = entity.index_u32() as usize;
        if self.known.len() <= index {
            let missing = index + 1 - self.known.len();
            reserve_amortized(&mut self.known, missing);
            self.known.resize(index + 1, None);
        }
        let generation = entity.generation();
        if let Some(known) = self.known.get_mut(index) {
            *known = Some(Known { generation, place });
        }
    }

    /// Removes what is known of any entity with the index of this one.
    fn forget(&mut self, entity: Entity) {
        let known = self.known.get_mut(entity.index_u32() as usize);
        if let Some(known) = known.and_then(Option::take) {
            self.remove(known.place);
        }
    }

    fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.plane.reclaim(reclaim);
        self.solid.reclaim(reclaim);
        drop_empty(&mut self.known);
        self.known.reclaim(reclaim);
    }

    fn remove(&mut self, place: Place) {
        match place {
            Place::Plane(slot) => self.plane.remove(slot),
            Place::Solid(slot) => self.solid.remove(slot),
            Place::Inert | Place::Faulty => {}
        }
    }

    /// Makes the proxy of an entity anew, and tells where it is.
    fn remake(&mut self, world: &World, member: &Member, place: Place) -> Result<Place, Refusal> {
        let Member { entity, layers, .. } = *member;
        let body = member.collider.body()?;
        Ok(match body {
            None => {
                self.remove(place);
                Place::Inert
            }
            Some(AnyColliderShape::D2(body)) => {
                let at = Placement::of::<Vec2>(world, entity)?;
                let (proxy, aabb) = Proxy::new(entity, body, layers, at)?;
                if let Place::Plane(slot) = place {
                    self.plane.set(slot, proxy, aabb);
                    return Ok(place);
                }
                self.remove(place);
                Place::Plane(self.plane.insert(proxy, aabb))
            }
            Some(AnyColliderShape::D3(body)) => {
                let at = Placement::of::<Vec3>(world, entity)?;
                let (proxy, aabb) = Proxy::new(entity, body, layers, at)?;
                if let Place::Solid(slot) = place {
                    self.solid.set(slot, proxy, aabb);
                    return Ok(place);
                }
                self.remove(place);
                Place::Solid(self.solid.insert(proxy, aabb))
            }
        })
    }
}

/// Brings [`Proxies`] up to date with the colliders that Bevy's default query filters let through.
pub fn sync(
    world: &mut World,
    colliders: &mut QueryState<Columns>,
    mut tables: Local<Tables>,
    mut displaced: Local<Buffer<Entity>>,
    mut moves: Local<Moves>,
    mut chains: Local<Chains>,
    mut reclaim: Local<Reclaim>,
) {
    let start = Instant::now();
    let progress = core::mem::replace(&mut *world.resource_mut::<Progress>(), Progress::Begun);
    let is_cut_off = progress != Progress::Report;
    world.resource_scope(|world, mut proxies: Mut<Proxies>| {
        let proxies = &mut *proxies;
        if is_cut_off {
            // The last tick was aborted: see `Progress`.
            proxies.reset();
            *world.resource_mut::<Candidates>() = Candidates::default();
            *world.resource_mut::<FoundContacts>() = FoundContacts::default();
            *tables = Tables::default();
            *moves = Moves::default();
            displaced.clear();
        }
        proxies.plane.begin_tick();
        proxies.solid.begin_tick();
        let source = *world.resource::<BroadPhase>();
        proxies.is_restored = is_cut_off || !Written::are_own(world);
        if source != proxies.source || proxies.is_restored {
            // Pairs that were no candidates have not been tested, and contacts that the app has restored are not those of what
            // rests.
            Written::accept(world);
            proxies.source = source;
            proxies.plane.note_all();
            proxies.solid.note_all();
        }
        let since = Since::last_run_of(world);
        let colliders = colliders.query(world);
        let mut scan = Scan {
            world,
            since,
            ancestors: Ancestors::new(world, since, &mut chains),
            proxies,
            displaced: &mut displaced,
            moves: &mut moves,
            moves_at_a_time: MOVES_OF_A_THREAD * threads() - BLOCK,
        };
        Chunk::for_each(&colliders, |chunk| {
            let first = chunk.entities.first();
            if let Some(table) = first.and_then(|it| tables.of(world, *it)) {
                scan.look_at(table, &chunk);
            }
        });
        let ancestors = scan.ancestors.count();
        scan.finish(&mut tables, &colliders);
        reclaim.begin_tick();
        proxies.reclaim(&mut reclaim);
        tables.reclaim(&mut reclaim);
        displaced.reclaim(&mut reclaim);
        moves.reclaim(&mut reclaim);
        chains.reclaim(&mut reclaim);
        let mut diagnostics = world.resource_mut::<CollisionDiagnostics>();
        diagnostics.colliders = proxies.plane.count() + proxies.solid.count();
        diagnostics.changed = proxies.plane.changed().len() + proxies.solid.changed().len();
        diagnostics.ancestors = ancestors;
        diagnostics.sync = start.elapsed();
    });
    *world.resource_mut::<Progress>() = Progress::Sync;
}

/// So many colliders are passed over at once, if nothing has changed of any of them.
const BLOCK: usize = 64;

/// Goes through all colliders once.
struct Scan<'a> {
    world: &'a World,
    since: Since,
    ancestors: Ancestors<'a>,
    proxies: &'a mut Proxies,
    /// Who is not listed any more where it was in the last tick.
    displaced: &'a mut Buffer<Entity>,
    moves: &'a mut Moves,
    moves_at_a_time: usize,
}

impl Scan<'_> {
    /// Looks at those that come next in a table.
    fn look_at(&mut self, table: &mut Table, chunk: &Chunk) {
        let mut start = 0;
        while start < chunk.entities.len() {
            if self.moves.len() >= self.moves_at_a_time {
                self.moves.carry_out(self.world, self.proxies);
            }
            let block = chunk.slice(start..chunk.entities.len().min(start + BLOCK));
            let known = table.count_known(block.entities);
            if known > 0 {
                self.look_at_known(table, &block.slice(0..known));
                table.pass(known);
                start += known;
            } else {
                if let Some(member) = block.get(0, self.since) {
                    self.look_at_other(table, &member);
                }
                start += 1;
            }
        }
    }

    /// Looks at those that were listed here in the last tick.
    fn look_at_known(&mut self, table: &mut Table, block: &Chunk) {
        if !block.has_other_changes(self.since) && self.has_same_ancestors(table, block) {
            if block.has_moves(self.since) {
                self.look_at_moved(block);
            }
            return;
        }
        for index in 0..block.entities.len() {
            let Some(member) = block.get(index, self.since) else {
                continue;
            };
            let (links, have_changed) = self.ancestors.look(member.parent);
            let mut is_changed = member.is_changed || have_changed;
            if let Some(known) = table.links().get_mut(index) {
                is_changed |= *known != links;
                *known = links;
            }
            if is_changed {
                self.update(&member);
            }
        }
    }

    fn has_same_ancestors(&mut self, table: &mut Table, block: &Chunk) -> bool {
        let parents = block.parents().zip(table.links());
        let mut same = parents.map(|(parent, known)| {
            let (links, have_changed) = self.ancestors.look(Some(parent));
            !have_changed && links == *known
        });
        same.all(|it| it)
    }

    /// Looks at those of which nothing but transforms and layers has changed.
    fn look_at_moved(&mut self, block: &Chunk) {
        for (index, transform, layers) in block.moved(self.since) {
            let Some(entity) = block.entities.get(index) else {
                continue;
            };
            match self.proxies.place(*entity) {
                // It may be sound where it is now.
                Some(Place::Faulty) => {
                    if let Some(member) = block.get(index, self.since) {
                        self.update(&member);
                    }
                }
                Some(place) => {
                    let is_led = block.has_parents();
                    self.moves.add(place, layers, *transform, is_led);
                }
                None => {}
            }
        }
    }

    /// Looks at one that was not listed here in the last tick: it is new, or was elsewhere.
    fn look_at_other(&mut self, table: &mut Table, member: &Member) {
        let (links, _) = self.ancestors.look(member.parent);
        let last = table.list(member.entity, member.parent.map(|_| links));
        self.displaced.extend(last);
        self.update(member);
    }

    /// Brings the proxy of an entity up to date.
    fn update(&mut self, member: &Member) {
        let old = self.proxies.place(member.entity);
        match (old, member.transform) {
            (Some(place), Some(transform))
                if !member.is_collider_changed && place != Place::Faulty =>
            {
                let is_led = member.parent.is_some();
                self.moves.add(place, member.layers, *transform, is_led);
            }
            _ => self.remake(member, old),
        }
    }

    fn remake(&mut self, member: &Member, old: Option<Place>) {
        if old.is_none() {
            // Whoever had its index is gone.
            self.proxies.forget(member.entity);
        }
        let place = old.unwrap_or(Place::Inert);
        let remade = self.proxies.remake(self.world, member, place);
        let place = remade.unwrap_or_else(|refusal| {
            self.proxies.remove(place);
            if place != Place::Faulty {
                warn_of(self.world, member.entity, refusal);
            }
            Place::Faulty
        });
        self.proxies.set_place(member.entity, place);
    }

    /// Carries out the last moves, and removes what is gone.
    fn finish(self, tables: &mut Tables, colliders: &Query<Columns>) {
        self.moves.carry_out(self.world, self.proxies);
        self.moves.remove_faulty(self.world, self.proxies);
        tables.finish(|entity| self.displaced.push(entity));
        self.displaced.note();
        for entity in self.displaced.drain(..) {
            if self.proxies.place(entity).is_some() && !colliders.contains(entity) {
                self.proxies.forget(entity);
            }
        }
    }
}

/// What has only moved, or changed its layers.
#[derive(Default)]
pub struct Moves {
    plane: Buffer<Move>,
    solid: Buffer<Move>,
    /// Of what takes no part where it has moved to.
    faults: Buffer<(Place, Fault)>,
}

/// Small, as thousands lie between reading and moving.
struct Move {
    slot: u32,
    layers: CollisionLayers,
    transform: Transform,
    /// Whether it has ancestors, whose transforms count too.
    is_led: bool,
    /// Whether it is not what it was, or why it takes no part there.
    outcome: Result<bool, Fault>,
}

/// So many moves for each thread are carried out together: so many that threads seldom wait for each other, and so few that they
/// are still near when their turn comes.
const MOVES_OF_A_THREAD: usize = 4096;

impl Moves {
    fn len(&self) -> usize {
        self.plane.len() + self.solid.len()
    }

    fn add(&mut self, place: Place, layers: CollisionLayers, transform: Transform, is_led: bool) {
        let (slot, moves) = match place {
            Place::Plane(slot) => (slot, &mut self.plane),
            Place::Solid(slot) => (slot, &mut self.solid),
            Place::Inert | Place::Faulty => return,
        };
        moves.push(Move {
            slot,
            layers,
            transform,
            is_led,
            outcome: Ok(false),
        });
    }

    fn carry_out(&mut self, world: &World, proxies: &mut Proxies) {
        move_all(world, &mut proxies.plane, &mut self.plane);
        move_all(world, &mut proxies.solid, &mut self.solid);
        self.plane.note();
        self.solid.note();
        let plane = self.plane.drain(..);
        let solid = self.solid.drain(..);
        let plane = plane.map(|it| (Place::Plane(it.slot), it.outcome));
        let solid = solid.map(|it| (Place::Solid(it.slot), it.outcome));
        let faults = plane.chain(solid);
        let faults = faults.filter_map(|(place, outcome)| Some((place, outcome.err()?)));
        self.faults.extend(faults);
    }

    /// Removes what takes no part where it has moved to. In the end, so that it does not depend on how many are carried out
    /// together, and so on threads, whose slot is free for what comes in this tick.
    fn remove_faulty(&mut self, world: &World, proxies: &mut Proxies) {
        self.faults.note();
        for (place, fault) in self.faults.drain(..) {
            if let Some(entity) = proxies.entity_at(place) {
                proxies.remove(place);
                proxies.set_place(entity, Place::Faulty);
                warn_of(world, entity, fault);
            }
        }
    }

    fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.plane.reclaim(reclaim);
        self.solid.reclaim(reclaim);
        self.faults.reclaim(reclaim);
    }
}

/// A task moves no fewer than these.
const MOVES_OF_A_TASK: usize = 256;

fn move_all<V: Space>(world: &World, slots: &mut Slots<V>, moves: &mut [Move]) {
    let (mut proxies, mut boxes) = slots.as_mut_slices();
    if let Some((pool, size)) = share(moves.len(), MOVES_OF_A_TASK) {
        // So that each task has proxies of its own.
        if !moves.is_sorted_by_key(|it| it.slot) {
            moves.sort_unstable_by_key(|it| it.slot);
        }
        let mut first = 0;
        pool.scope(|scope| {
            for moves in moves.chunks_mut(size) {
                let end = moves.last().map_or(first, |it| it.slot as usize + 1);
                let (own_proxies, rest) = proxies.split_at_mut(proxies.len().min(end - first));
                let (own_boxes, other_boxes) = boxes.split_at_mut(boxes.len().min(end - first));
                (proxies, boxes) = (rest, other_boxes);
                let offset = first;
                first = end;
                scope.spawn(async move {
                    move_some(world, (own_proxies, own_boxes), offset, moves);
                });
            }
        });
    } else {
        move_some(world, (proxies, boxes), 0, moves);
    }
    for it in moves.iter() {
        if let Ok(true) = it.outcome {
            slots.note_change(it.slot);
        }
    }
}

/// So many proxies are put where they have moved to before the boxes around them are made: memory is asked for all of them at
/// once, and what has just been written can be read without waiting.
const MOVES_AT_ONCE: usize = 16;

/// Moves proxies of which the first has the slot `offset`.
fn move_some<V: Space>(
    world: &World,
    (proxies, boxes): (&mut [Option<Proxy<V>>], &mut [Aabb]),
    offset: usize,
    moves: &mut [Move],
) {
    for moves in moves.chunks_mut(MOVES_AT_ONCE) {
        for it in &mut *moves {
            if let Some(Some(proxy)) = proxies.get_mut(it.slot as usize - offset) {
                it.outcome = put(world, proxy, it);
            }
        }
        for it in moves {
            let index = it.slot as usize - offset;
            if let (Ok(true), Some(Some(proxy)), Some(aabb)) =
                (it.outcome, proxies.get(index), boxes.get_mut(index))
            {
                it.outcome = proxy.aabb().map(|around| {
                    *aabb = around;
                    true
                });
            }
        }
    }
}

/// Puts a proxy where it has moved to. Whether it is not what it was.
#[inline]
fn put<V: Space>(world: &World, proxy: &mut Proxy<V>, to: &Move) -> Result<bool, Fault> {
    if !to.is_led
        && let Some(place) = Placement::turned::<V>(&to.transform)
    {
        // Apart from what follows, so that the place need not go through memory.
        return Ok(proxy.put(place, to.layers));
    }
    let place = if to.is_led {
        Placement::of::<V>(world, proxy.entity)?
    } else {
        Placement::scaled::<V>(&to.transform)?
    };
    Ok(proxy.put(place, to.layers))
}

/// Why a collider takes no part.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error(transparent)]
    Place(#[from] Fault),
}

/// One warning for as long as it lasts.
fn warn_of(world: &World, entity: Entity, fault: impl Into<Refusal>) {
    let name = world.get::<Name>(entity);
    let name = name.map_or_else(String::new, |name| format!(" {:?}", name.as_str()));
    log::warn!(
        "the collider of entity {entity}{name} touches nothing: {}",
        fault.into()
    );
}
