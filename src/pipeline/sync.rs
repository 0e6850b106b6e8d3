//! First stage: what collides in this tick, and where it is.
//!
//! Of the colliders that are as they were, nothing is read but the ticks at which Bevy has noted their last change: so what
//! rests costs next to nothing. Which entities there are is told by the order in which Bevy lists them. Where it is the same
//! as in the last tick, entity for entity, none has come or gone, by whatever way; from the first difference on, each is
//! looked up. Of ancestors the changes are noted likewise, and that a link to one has gone shows in their number.

use bevy::{ecs::change_detection::Tick, platform::time::Instant, prelude::*};

use super::{
    broad_phase::BroadPhase,
    place::{MAX_ANCESTORS, affine_of},
    proxy::{Fault, Proxy},
};
use crate::{
    collider::Collider,
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
    /// In the order in which Bevy lists the entities with a collider.
    rows: Vec<Row>,
    /// By the index of an entity: its row, if the entity there is this one.
    row_of: Vec<u32>,
}

/// What is known of an entity with a collider.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    entity: Entity,
    place: Place,
    has_transform: bool,
    has_layers: bool,
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

/// The proxies of a space, each in a slot that it keeps.
pub struct Slots<V: Space> {
    slots: Vec<Option<Proxy<V>>>,
    free: Vec<u32>,
    /// By slot, whether it is listed in `changed`.
    is_changed: Vec<bool>,
    changed: Vec<u32>,
    half_spaces: Vec<u32>,
}

impl<V: Space> Default for Slots<V> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            is_changed: Vec::new(),
            changed: Vec::new(),
            half_spaces: Vec::new(),
        }
    }
}

impl<V: Space> Slots<V> {
    pub fn get(&self, slot: u32) -> Option<&Proxy<V>> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// How many proxies there are.
    fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// All proxies with their slots.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Proxy<V>)> {
        let numbered = (0..).zip(&self.slots);
        numbered.filter_map(|(slot, proxy)| Some((slot, proxy.as_ref()?)))
    }

    /// The slots whose proxies are not what they were in the last tick: new, moved, otherwise different, or gone.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Whether a slot is one of these.
    pub fn is_changed(&self, slot: u32) -> bool {
        self.is_changed.get(slot as usize).is_none_or(|it| *it)
    }

    /// The slots of half-spaces.
    pub fn half_spaces(&self) -> &[u32] {
        &self.half_spaces
    }

    fn begin_tick(&mut self) {
        for slot in self.changed.drain(..) {
            if let Some(is_changed) = self.is_changed.get_mut(slot as usize) {
                *is_changed = false;
            }
        }
    }

    fn note_change(&mut self, slot: u32) {
        if let Some(is_changed) = self.is_changed.get_mut(slot as usize)
            && !*is_changed
        {
            *is_changed = true;
            self.changed.push(slot);
        }
    }

    fn note_all(&mut self) {
        for slot in 0..self.slots.len() as u32 {
            self.note_change(slot);
        }
    }

    fn insert(&mut self, proxy: Proxy<V>) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.is_changed.push(false);
            (self.slots.len() - 1) as u32
        });
        self.set(slot, proxy);
        slot
    }

    fn set(&mut self, slot: u32, proxy: Proxy<V>) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            self.half_spaces.retain(|other| *other != slot);
            if proxy.extent.half_space().is_some() {
                self.half_spaces.push(slot);
            }
            *place = Some(proxy);
            self.note_change(slot);
        }
    }

    fn remove(&mut self, slot: u32) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            self.half_spaces.retain(|other| *other != slot);
            *place = None;
            self.free.push(slot);
            self.note_change(slot);
        }
    }
}

impl Proxies {
    /// Whether the entity takes part in this tick.
    pub fn contains(&self, entity: Entity) -> bool {
        matches!(self.place(entity), Some(Place::Plane(_) | Place::Solid(_)))
    }

    /// Where an entity with a collider is.
    pub fn place(&self, entity: Entity) -> Option<Place> {
        let row = self.row_of.get(entity.index_u32() as usize)?;
        let row = self.rows.get(*row as usize)?;
        (row.entity == entity).then_some(row.place)
    }

    fn push(&mut self, row: Row) {
        let index = row.entity.index_u32() as usize;
        if self.row_of.len() <= index {
            self.row_of.resize(index + 1, u32::MAX);
        }
        if let Some(row_of) = self.row_of.get_mut(index) {
            *row_of = self.rows.len() as u32;
        }
        self.rows.push(row);
    }

    /// The row of an entity among those of the last tick from the number `first` on, which is noted as found.
    fn find(&self, entity: Entity, first: usize, last: &mut [(Row, bool)]) -> Option<Row> {
        let number = *self.row_of.get(entity.index_u32() as usize)? as usize;
        let (row, found) = last.get_mut(number.checked_sub(first)?)?;
        // A number that another entity has left behind may lead anywhere.
        if row.entity != entity {
            return None;
        }
        *found = true;
        Some(*row)
    }

    fn remove(&mut self, place: Place) {
        match place {
            Place::Plane(slot) => self.plane.remove(slot),
            Place::Solid(slot) => self.solid.remove(slot),
            Place::Inert | Place::Faulty => {}
        }
    }

    /// Brings the proxy of an entity up to date, and tells where it is.
    fn update(
        &mut self,
        world: &World,
        entity: Entity,
        collider: &Ref<Collider>,
        layers: CollisionLayers,
        place: Place,
    ) -> Result<Place, Fault> {
        let body = collider.body().map_err(Fault::Shape)?;
        let affine = || affine_of(world, entity).ok_or(Fault::NoPose);
        Ok(match (body, place) {
            (None, _) => {
                self.remove(place);
                Place::Inert
            }
            (Some(AnyBody::Plane(body)), Place::Plane(slot)) => {
                let proxy = Proxy::new(entity, body, layers, &affine()?)?;
                let old = self.plane.get(slot);
                if collider.is_changed() || old.is_none_or(|old| !proxy.is_as(old)) {
                    self.plane.set(slot, proxy);
                }
                place
            }
            (Some(AnyBody::Solid(body)), Place::Solid(slot)) => {
                let proxy = Proxy::new(entity, body, layers, &affine()?)?;
                let old = self.solid.get(slot);
                if collider.is_changed() || old.is_none_or(|old| !proxy.is_as(old)) {
                    self.solid.set(slot, proxy);
                }
                place
            }
            (Some(AnyBody::Plane(body)), _) => {
                let proxy = Proxy::new(entity, body, layers, &affine()?)?;
                self.remove(place);
                Place::Plane(self.plane.insert(proxy))
            }
            (Some(AnyBody::Solid(body)), _) => {
                let proxy = Proxy::new(entity, body, layers, &affine()?)?;
                self.remove(place);
                Place::Solid(self.solid.insert(proxy))
            }
        })
    }
}

/// The ancestors of an entity, as far as they show without being followed one by one: an ancestor or a link that comes
/// is noted as a change, one that goes is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Links {
    ancestors: u32,
    /// Of these.
    transforms: u32,
}

/// Looks at the ancestors of entities for changes.
struct Ancestors<'w> {
    world: &'w World,
    last_run: Tick,
    this_run: Tick,
    /// The last parent that was asked for: siblings often follow one another.
    known: Option<(Entity, Links, bool)>,
}

impl<'w> Ancestors<'w> {
    fn new(world: &'w World) -> Self {
        Self {
            world,
            last_run: world.last_change_tick(),
            this_run: world.read_change_tick(),
            known: None,
        }
    }

    /// The ancestors that begin with `parent`, and whether any of them has changed.
    fn look(&mut self, parent: Entity) -> (Links, bool) {
        if let Some((known, links, changed)) = self.known
            && known == parent
        {
            return (links, changed);
        }
        let (mut links, mut changed) = (Links::default(), false);
        let mut next = Some(parent);
        for _ in 0..MAX_ANCESTORS {
            let Some(ancestor) = next.and_then(|next| self.world.get_entity(next).ok()) else {
                break;
            };
            links.ancestors += 1;
            if let Some(ticks) = ancestor.get_change_ticks::<Transform>() {
                links.transforms += 1;
                changed |= ticks.is_changed(self.last_run, self.this_run);
            }
            let up = ancestor.get_ref::<ChildOf>();
            changed |= up.as_ref().is_some_and(Ref::is_changed);
            next = up.map(|up| up.parent());
        }
        self.known = Some((parent, links, changed));
        (links, changed)
    }
}

/// What Bevy tells of each collider.
type Columns = (
    Entity,
    Option<Ref<'static, Transform>>,
    Ref<'static, Collider>,
    Option<Ref<'static, CollisionLayers>>,
    Option<Ref<'static, ChildOf>>,
);

/// Brings [`Proxies`] up to date with the colliders that Bevy's default query filters let through.
pub fn sync(
    world: &mut World,
    colliders: &mut QueryState<Columns>,
    mut last: Local<Vec<(Row, bool)>>,
) {
    let start = Instant::now();
    world.resource_scope(|world, mut proxies: Mut<Proxies>| {
        let proxies = &mut *proxies;
        proxies.plane.begin_tick();
        proxies.solid.begin_tick();
        let source = *world.resource::<BroadPhase>();
        if source != proxies.source {
            // Pairs that were no candidates have not been tested.
            proxies.source = source;
            proxies.plane.note_all();
            proxies.solid.note_all();
        }
        let mut ancestors = Ancestors::new(world);
        // From the first row on that differs, the rows of the last tick, and whether they were found again.
        let mut shifted = None;
        last.clear();
        let mut count = 0;
        for (entity, transform, collider, layers, child_of) in colliders.iter(world) {
            let (links, is_led) = child_of
                .as_ref()
                .map_or_else(Default::default, |up| ancestors.look(up.parent()));
            let old = proxies.rows.get(count).filter(|row| row.entity == entity);
            let old = match (shifted, old) {
                (None, Some(row)) => Some(*row),
                (None, None) => {
                    shifted = Some(count);
                    last.extend(proxies.rows.drain(count..).map(|row| (row, false)));
                    proxies.find(entity, count, &mut last)
                }
                (Some(first), _) => proxies.find(entity, first, &mut last),
            };
            let (has_transform, has_layers) = (transform.is_some(), layers.is_some());
            let is_other = |old: &Row| {
                (old.has_transform, old.has_layers, old.links) != (has_transform, has_layers, links)
            };
            let is_changed = is_led
                || collider.is_changed()
                || transform.is_some_and(|it| it.is_changed())
                || layers.as_ref().is_some_and(Ref::is_changed)
                || child_of.is_some_and(|it| it.is_changed())
                || old.as_ref().is_none_or(is_other);
            if is_changed {
                let was = old.map_or(Place::Inert, |old| old.place);
                let layers = layers.map_or_else(Default::default, |it| *it);
                let place = proxies.update(world, entity, &collider, layers, was);
                let place = place.unwrap_or_else(|fault| {
                    proxies.remove(was);
                    if was != Place::Faulty {
                        warn_of(world, entity, fault);
                    }
                    Place::Faulty
                });
                let row = Row {
                    entity,
                    place,
                    has_transform,
                    has_layers,
                    links,
                };
                match proxies.rows.get_mut(count) {
                    Some(known) => *known = row,
                    None => proxies.push(row),
                }
            } else if let (Some(_), Some(old)) = (shifted, old) {
                proxies.push(old);
            }
            count += 1;
        }
        last.extend(proxies.rows.drain(count..).map(|row| (row, false)));
        for (row, found) in last.iter() {
            if !found {
                proxies.remove(row.place);
            }
        }
        let mut diagnostics = world.resource_mut::<CollisionDiagnostics>();
        diagnostics.colliders = proxies.plane.count() + proxies.solid.count();
        diagnostics.changed = proxies.plane.changed().len() + proxies.solid.changed().len();
        diagnostics.sync = start.elapsed();
    });
}

/// One warning for as long as the fault lasts.
fn warn_of(world: &World, entity: Entity, fault: Fault) {
    let name = world.get::<Name>(entity).map_or("", Name::as_str);
    log::warn!("the collider of entity {entity} {name:?} touches nothing: {fault}");
}
