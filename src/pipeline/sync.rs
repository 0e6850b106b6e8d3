//! First stage: what collides in this tick, and where it is.
//!
//! Of the colliders that are as they were, nothing is read but the ticks at which Bevy has noted their last change: so what
//! rests costs next to nothing. Which entities there are is told by the order in which Bevy lists them. Where it is the same
//! as in the last tick, entity for entity, none has come or gone, by whatever way; from the first difference on, each is
//! looked up. Of ancestors the changes are noted likewise, and that a link to one has gone shows in their number.
//!
//! What has only moved, as most of what changes has, is moved on all threads, some thousands at a time.

use bevy::{platform::time::Instant, prelude::*};

use super::{
    aabb::Aabb,
    broad_phase::BroadPhase,
    columns::{Ancestors, Chunk, Columns, Has, Links, Member, Since},
    place::Placement,
    proxy::{Fault, Proxy},
    report::Written,
    room::make_room,
    slots::Slots,
    tasks::share,
};
use crate::{
    diagnostics::CollisionDiagnostics,
    layers::CollisionLayers,
    math::{Vec2, Vec3},
    shape::AnyBody,
    space::Space,
};

/// All colliders that take part in this tick.
#[derive(Resource, Default)]
pub struct Proxies {
    pub plane: Slots<Vec2>,
    pub solid: Slots<Vec3>,
    /// Where the candidate pairs of this tick come from.
    pub source: BroadPhase,
    /// Whether the app has restored the contacts of some other tick.
    pub is_restored: bool,
    /// In the order in which Bevy lists them: the entities with a collider,
    entities: Vec<Entity>,
    /// and what is known of them.
    rows: Vec<Row>,
    /// By the index of an entity: its row, if the entity there is this one.
    row_of: Vec<u32>,
}

/// What is known of an entity with a collider.
#[derive(Clone, Copy, Debug)]
struct Row {
    place: Place,
    has: Has,
    links: Links,
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
    /// Whether the entity takes part in this tick.
    pub fn contains(&self, entity: Entity) -> bool {
        matches!(self.place(entity), Some(Place::Plane(_) | Place::Solid(_)))
    }

    /// Where an entity with a collider is.
    pub fn place(&self, entity: Entity) -> Option<Place> {
        let row = *self.row_of.get(entity.index_u32() as usize)? as usize;
        // A number that another entity has left behind may lead anywhere.
        let is_it = self.entities.get(row) == Some(&entity);
        self.rows.get(row).filter(|_| is_it).map(|row| row.place)
    }

    fn push(&mut self, entity: Entity, row: Row) {
        let index = entity.index_u32() as usize;
        if self.row_of.len() <= index {
            self.row_of.resize(index + 1, u32::MAX);
        }
        if let Some(row_of) = self.row_of.get_mut(index) {
            *row_of = self.rows.len() as u32;
        }
        make_room(&mut self.entities);
        self.entities.push(entity);
        make_room(&mut self.rows);
        self.rows.push(row);
    }

    fn remove(&mut self, place: Place) {
        match place {
            Place::Plane(slot) => self.plane.remove(slot),
            Place::Solid(slot) => self.solid.remove(slot),
            Place::Inert | Place::Faulty => {}
        }
    }

    /// Makes the proxy of an entity anew, and tells where it is.
    fn remake(&mut self, world: &World, member: &Member, place: Place) -> Result<Place, Fault> {
        let Member { entity, layers, .. } = *member;
        let body = member.collider.body().map_err(Fault::Shape)?;
        Ok(match body {
            None => {
                self.remove(place);
                Place::Inert
            }
            Some(AnyBody::Plane(body)) => {
                let at = Placement::of::<Vec2>(world, entity)?;
                let (proxy, aabb) = Proxy::new(entity, body, layers, at)?;
                if let Place::Plane(slot) = place {
                    self.plane.set(slot, proxy, aabb);
                    return Ok(place);
                }
                self.remove(place);
                Place::Plane(self.plane.insert(proxy, aabb))
            }
            Some(AnyBody::Solid(body)) => {
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
    mut last: Local<Vec<Listed>>,
    mut moves: Local<Moves>,
) {
    let start = Instant::now();
    world.resource_scope(|world, mut proxies: Mut<Proxies>| {
        let proxies = &mut *proxies;
        proxies.plane.begin_tick();
        proxies.solid.begin_tick();
        let source = *world.resource::<BroadPhase>();
        proxies.is_restored = !Written::are_own(world);
        if source != proxies.source || proxies.is_restored {
            // Pairs that were no candidates have not been tested, and contacts that the app has restored are not those of what
            // rests.
            Written::accept(world);
            proxies.source = source;
            proxies.plane.note_all();
            proxies.solid.note_all();
        }
        last.clear();
        let since = Since::last_run_of(world);
        let mut scan = Scan {
            world,
            since,
            ancestors: Ancestors::new(world, since),
            proxies,
            last: &mut last,
            shifted: None,
            count: 0,
            moves: &mut moves,
        };
        Chunk::for_each(world, colliders, |chunk| scan.look_at(&chunk));
        scan.finish();
        let mut diagnostics = world.resource_mut::<CollisionDiagnostics>();
        diagnostics.colliders = proxies.plane.count() + proxies.solid.count();
        diagnostics.changed = proxies.plane.changed().len() + proxies.solid.changed().len();
        diagnostics.sync = start.elapsed();
    });
}

/// An entity as it was listed in the last tick.
pub struct Listed {
    entity: Entity,
    row: Row,
    /// Whether it is listed in this tick again.
    is_found: bool,
}

/// So many colliders are passed over at once, if nothing has changed of any of them.
const BLOCK: usize = 64;

/// Goes through all colliders once, in Bevy's order.
struct Scan<'a> {
    world: &'a World,
    since: Since,
    ancestors: Ancestors<'a>,
    proxies: &'a mut Proxies,
    /// From the first row on that differs, the rows of the last tick.
    last: &'a mut Vec<Listed>,
    /// The number of that row.
    shifted: Option<usize>,
    /// How many there have been.
    count: usize,
    moves: &'a mut Moves,
}

impl Scan<'_> {
    fn look_at(&mut self, chunk: &Chunk) {
        for start in (0..chunk.entities.len()).step_by(BLOCK) {
            if self.moves.len() >= MOVES_AT_A_TIME {
                self.moves.carry_out(self.world, self.proxies);
            }
            let block = chunk.slice(start..chunk.entities.len().min(start + BLOCK));
            if self.lists(&block) {
                if block.has_changes(self.since) {
                    self.look_at_moved(&block);
                }
                self.count += block.entities.len();
                continue;
            }
            for index in 0..block.entities.len() {
                if let Some(member) = block.get(index, self.since) {
                    self.look_at_one(&member);
                }
            }
        }
    }

    /// Whether these were listed here in the last tick, and are what they were but for their transforms and layers.
    fn lists(&mut self, block: &Chunk) -> bool {
        let range = self.count..self.count + block.entities.len();
        let has = block.has();
        self.shifted.is_none()
            && self.proxies.entities.get(range.clone()) == Some(block.entities)
            && self.proxies.rows.get(range).is_some_and(|rows| {
                let is_it = |row: &Row| row.has == has && row.place != Place::Faulty;
                rows.iter().all(is_it)
            })
            && !block.has_other_changes(self.since)
            && self.has_same_ancestors(block)
    }

    fn has_same_ancestors(&mut self, block: &Chunk) -> bool {
        let rows = self.proxies.rows.get(self.count..).unwrap_or_default();
        block.parents().zip(rows).all(|(parent, row)| {
            let (links, is_led) = self.ancestors.look(Some(parent));
            !is_led && links == row.links
        })
    }

    fn look_at_moved(&mut self, block: &Chunk) {
        let rows = self.proxies.rows.get(self.count..).unwrap_or_default();
        for (index, transform, layers) in block.moved(self.since) {
            let (Some(row), Some(entity)) = (rows.get(index), block.entities.get(index)) else {
                continue;
            };
            let to = if row.has.parent {
                Target::Led(*entity)
            } else {
                Target::Own(*transform)
            };
            self.moves.add(row.place, self.count + index, layers, to);
        }
    }

    /// The row of an entity in the last tick, which is noted as found.
    fn find(&mut self, entity: Entity) -> Option<Row> {
        let first = match self.shifted {
            Some(first) => first,
            None if self.proxies.entities.get(self.count) == Some(&entity) => {
                return self.proxies.rows.get(self.count).copied();
            }
            None => {
                self.set_rest_aside();
                self.count
            }
        };
        let number = *self.proxies.row_of.get(entity.index_u32() as usize)? as usize;
        let listed = self.last.get_mut(number.checked_sub(first)?)?;
        // A number that another entity has left behind may lead anywhere.
        if listed.entity != entity {
            return None;
        }
        listed.is_found = true;
        Some(listed.row)
    }

    /// Takes the rows from here on away.
    fn set_rest_aside(&mut self) {
        self.shifted = self.shifted.or(Some(self.count));
        let entities = self.proxies.entities.drain(self.count..);
        let rows = self.proxies.rows.drain(self.count..);
        self.last
            .extend(entities.zip(rows).map(|(entity, row)| Listed {
                entity,
                row,
                is_found: false,
            }));
    }

    fn look_at_one(&mut self, member: &Member) {
        let entity = member.entity;
        let (links, is_led) = self.ancestors.look(member.parent);
        let old = self.find(entity);
        let is_as_it_was = |old: &Row| (old.has, old.links) == (member.has, links);
        let mut row = Row {
            place: old.map_or(Place::Inert, |old| old.place),
            has: member.has,
            links,
        };
        if member.is_changed || is_led || !old.is_some_and(|old| is_as_it_was(&old)) {
            let is_listed = old.is_some();
            row.place = self.update(member, row.place, is_listed);
        }
        if self.shifted.is_some() {
            self.proxies.push(entity, row);
        } else if let Some(known) = self.proxies.rows.get_mut(self.count) {
            *known = row;
        }
        self.count += 1;
    }

    /// Brings the proxy of an entity up to date, and tells where it is.
    fn update(&mut self, member: &Member, place: Place, is_listed: bool) -> Place {
        if is_listed && !member.is_collider_changed && place != Place::Faulty {
            let to = match (member.transform, member.parent) {
                (Some(transform), None) => Target::Own(*transform),
                _ => Target::Led(member.entity),
            };
            self.moves.add(place, self.count, member.layers, to);
            return place;
        }
        let remade = self.proxies.remake(self.world, member, place);
        remade.unwrap_or_else(|fault| {
            self.proxies.remove(place);
            if place != Place::Faulty {
                warn_of(self.world, member.entity, fault);
            }
            Place::Faulty
        })
    }

    /// Carries out the last moves, and removes what is gone.
    fn finish(mut self) {
        self.moves.carry_out(self.world, self.proxies);
        self.set_rest_aside();
        for listed in self.last.iter().filter(|it| !it.is_found) {
            self.proxies.remove(listed.row.place);
        }
    }
}

/// What has only moved, or changed its layers.
#[derive(Default)]
pub struct Moves {
    plane: Vec<Move>,
    solid: Vec<Move>,
}

struct Move {
    slot: u32,
    row: u32,
    layers: CollisionLayers,
    to: Target,
    /// Whether it is not what it was.
    outcome: Result<bool, Fault>,
}

/// Where to.
enum Target {
    /// To where its own transform says.
    Own(Transform),
    /// To where that and those of its ancestors say.
    Led(Entity),
}

/// So many moves are carried out together: enough for some tasks of each thread, and so few that they are still near when
/// their turn comes.
const MOVES_AT_A_TIME: usize = 4096 - BLOCK;

impl Moves {
    fn len(&self) -> usize {
        self.plane.len() + self.solid.len()
    }

    fn add(&mut self, place: Place, row: usize, layers: CollisionLayers, to: Target) {
        let (slot, moves) = match place {
            Place::Plane(slot) => (slot, &mut self.plane),
            Place::Solid(slot) => (slot, &mut self.solid),
            Place::Inert | Place::Faulty => return,
        };
        moves.push(Move {
            slot,
            row: row as u32,
            layers,
            to,
            outcome: Ok(false),
        });
    }

    fn carry_out(&mut self, world: &World, proxies: &mut Proxies) {
        move_all(world, &mut proxies.plane, &mut self.plane);
        move_all(world, &mut proxies.solid, &mut self.solid);
        for it in self.plane.drain(..).chain(self.solid.drain(..)) {
            let Err(fault) = it.outcome else { continue };
            let row = it.row as usize;
            if let (Some(row), Some(entity)) =
                (proxies.rows.get_mut(row), proxies.entities.get(row))
            {
                let place = core::mem::replace(&mut row.place, Place::Faulty);
                warn_of(world, *entity, fault);
                proxies.remove(place);
            }
        }
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

/// Moves proxies of which the first has the slot `offset`.
fn move_some<V: Space>(
    world: &World,
    (proxies, boxes): (&mut [Option<Proxy<V>>], &mut [Aabb]),
    offset: usize,
    moves: &mut [Move],
) {
    for it in moves {
        let index = it.slot as usize - offset;
        if let (Some(Some(proxy)), Some(aabb)) = (proxies.get_mut(index), boxes.get_mut(index)) {
            it.outcome = move_one(world, proxy, aabb, it.layers, &it.to);
        }
    }
}

#[inline]
fn move_one<V: Space>(
    world: &World,
    proxy: &mut Proxy<V>,
    aabb: &mut Aabb,
    layers: CollisionLayers,
    to: &Target,
) -> Result<bool, Fault> {
    let place = match to {
        Target::Own(transform) => Placement::alone::<V>(transform)?,
        Target::Led(entity) => Placement::of::<V>(world, *entity)?,
    };
    if proxy.place.is(&place) && proxy.layers == layers {
        return Ok(false);
    }
    proxy.layers = layers;
    *aabb = proxy.put(place)?;
    Ok(true)
}

/// One warning for as long as the fault lasts.
fn warn_of(world: &World, entity: Entity, fault: Fault) {
    let name = world.get::<Name>(entity);
    let name = name.map_or_else(String::new, |name| format!(" {:?}", name.as_str()));
    log::warn!("the collider of entity {entity}{name} touches nothing: {fault}");
}
