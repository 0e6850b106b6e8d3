//! The grounds: all colliders with the same [`JoinedCollider`]. At the end of `Sync`,
//! [`Grounds::update`] makes their proxies members of a ground, if any member changed.

use std::collections::{BTreeMap, BTreeSet};

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use crate::{
    collider::JoinedCollider,
    math::{Vec2, Vec3},
    meeting::ComponentCopies,
    pipeline::{
        proxies::{Proxies, ProxyArena, ProxySlot},
        proxy::Proxy,
        sync::scan::warn,
        unfiltered::Unfiltered,
    },
    placed::{
        CellChange, CellLattice, MemberCells, NotJoined, PlacedCollider, join_parts,
        parts_of_member,
    },
    shape::{Aabb, CellPosition, MemberElements, PosedShapes, ShapeError},
    space::Space,
};

/// The query for the members of grounds.
pub type JoinedQuery = Unfiltered<(Entity, Ref<'static, JoinedCollider>)>;

/// The members whose parts got other indices, each with a function of the old index. The function
/// returns `None` if the part no longer exists.
pub type RenumberedParts = EntityHashMap<Box<dyn Fn(u32) -> Option<u32>>>;

/// All grounds.
#[derive(Default)]
pub struct Grounds {
    copies: ComponentCopies<JoinedCollider>,
    d2: GroundTable<Vec2>,
    d3: GroundTable<Vec3>,
}

/// The grounds of one dimension, by the number in [`JoinedCollider`].
type GroundTable<V> = BTreeMap<u32, Ground<V>>;

/// The members of a ground in one dimension.
#[derive(Default)]
struct Ground<V: Space> {
    members: BTreeMap<Entity, Member<V>>,
    /// The previous state of the members that changed in this tick, or are gone.
    old: BTreeMap<Entity, Member<V>>,
    /// The whole ground as one collider, or `None` if no member is joined.
    placed: Option<PlacedCollider<V>>,
}

/// A collider with a [`JoinedCollider`].
struct Member<V: Space> {
    slot: u32,
    /// The proxy of the collider by itself.
    own: Proxy<V>,
    joint: Result<Joint<V>, NotJoined>,
    /// `true` if the member changed in this tick, or is new.
    is_new: bool,
}

/// The contribution of a member to its ground.
enum Joint<V: Space> {
    /// The offset of the cells.
    Cells(CellPosition),
    /// The parts, and the margin around them.
    Parts(PosedShapes<V>, f32),
}

impl<V: Space> Member<V> {
    /// Returns the cells of a joined member.
    fn cells(&self) -> Option<MemberCells<'_, V>> {
        match self.joint {
            Ok(Joint::Cells(offset)) => Some(MemberCells {
                cells: self.own.own_cells()?,
                offset,
            }),
            _ => None,
        }
    }
}

impl Grounds {
    /// Returns `true` if no entity has a [`JoinedCollider`].
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Updates the grounds. Marks the proxies as changed whose contacts may have changed, and warns
    /// of members that are not joined. Call this function when all other proxies are up to date.
    pub fn update(
        &mut self,
        world: &World,
        query: &mut JoinedQuery,
        proxies: &mut Proxies,
    ) -> RenumberedParts {
        let has_changes = !self.copies.update(query.0.iter(world)).is_empty();
        let replaced_2d = proxies.d2.take_replaced();
        let replaced_3d = proxies.d3.take_replaced();
        let mut renumbered = RenumberedParts::default();
        if !has_changes && replaced_2d.is_none() && replaced_3d.is_none() {
            return renumbered;
        }
        let (mut in_2d, mut in_3d) = (Vec::new(), Vec::new());
        for (entity, JoinedCollider(number)) in self.copies.iter() {
            match proxies.slot(entity) {
                Some(ProxySlot::D2(slot)) => in_2d.push((*number, entity, slot)),
                Some(ProxySlot::D3(slot)) => in_3d.push((*number, entity, slot)),
                _ => {}
            }
        }
        let Proxies { d2, d3, .. } = proxies;
        list_members(&mut self.d2, d2, in_2d, replaced_2d);
        list_members(&mut self.d3, d3, in_3d, replaced_3d);
        rebuild_changed(&mut self.d2, world, d2, &mut renumbered);
        rebuild_changed(&mut self.d3, world, d3, &mut renumbered);
        renumbered
    }
}

/// Lists the members of each ground. `members` has the number of the ground, the entity and the
/// slot of each member. `replaced` has the new proxies of changed members.
fn list_members<V: Space>(
    grounds: &mut GroundTable<V>,
    arena: &ProxyArena<V>,
    members: Vec<(u32, Entity, u32)>,
    replaced: Option<Vec<Proxy<V>>>,
) {
    let replaced = replaced.into_iter().flatten();
    let replaced = replaced.map(|proxy| (proxy.entity, proxy));
    let mut replaced: EntityHashMap<Proxy<V>> = replaced.collect();
    let mut known: EntityHashMap<(u32, Member<V>)> = EntityHashMap::default();
    for (number, ground) in grounds.iter_mut() {
        let members = core::mem::take(&mut ground.members).into_iter();
        known.extend(members.map(|(entity, member)| (entity, (*number, member))));
    }
    for (number, entity, slot) in members {
        let Some(current) = arena.get(slot) else {
            continue;
        };
        let is_joined = current.member().is_some();
        let is_same = |(old_number, member): &(u32, Member<V>)| {
            *old_number == number && member.slot == slot && member.joint.is_ok() == is_joined
        };
        let member = match (replaced.remove(&entity), known.remove(&entity)) {
            (None, Some(old)) if is_same(&old) => old.1,
            (new, old) => {
                let known = old.as_ref().filter(|_| is_joined).map(|(_, it)| &it.own);
                let own = new.as_ref().or(known).unwrap_or(current).clone();
                if let Some((old_number, member)) = old {
                    let ground = grounds.entry(old_number).or_default();
                    ground.old.insert(entity, member);
                }
                Member {
                    slot,
                    joint: joint_of(&own),
                    own,
                    is_new: true,
                }
            }
        };
        let ground = grounds.entry(number).or_default();
        ground.members.insert(entity, member);
    }
    for (entity, (number, member)) in known {
        let ground = grounds.entry(number).or_default();
        ground.old.insert(entity, member);
    }
}

/// Returns the contribution of a collider to its ground, apart from the offset of cells.
fn joint_of<V: Space>(proxy: &Proxy<V>) -> Result<Joint<V>, NotJoined> {
    if proxy.traits.is_one_way || proxy.has_ledges() {
        return Err(NotJoined::OneWay);
    }
    if proxy.grid().is_some() {
        return Err(NotJoined::OffLattice);
    }
    let (parts, margin) = parts_of_member(proxy)?;
    Ok(Joint::Parts(parts, margin))
}

/// Joins the members of each changed ground again.
fn rebuild_changed<V: Space>(
    grounds: &mut GroundTable<V>,
    world: &World,
    arena: &mut ProxyArena<V>,
    renumbered: &mut RenumberedParts,
) {
    grounds.retain(|_, ground| {
        let mut members = ground.members.values();
        if !ground.old.is_empty() || members.any(|member| member.is_new) {
            ground.rebuild(world, arena, renumbered);
        }
        !ground.members.is_empty()
    });
}

impl<V: Space> Ground<V> {
    /// Joins all members again, and updates their proxies.
    fn rebuild(
        &mut self,
        world: &World,
        arena: &mut ProxyArena<V>,
        renumbered: &mut RenumberedParts,
    ) {
        let old = core::mem::take(&mut self.old);
        let is_rejected = |(_, member): &(&Entity, &Member<V>)| member.joint.is_err();
        let kept = self.members.iter().filter(|it| !it.1.is_new);
        let rejected = old.iter().chain(kept).filter(is_rejected);
        let rejected: BTreeSet<Entity> = rejected.map(|(entity, _)| *entity).collect();
        let (lattice, are_kept_same) = self.find_joints();
        let before = self.placed.take();
        let is_same = |placed: &&PlacedCollider<V>| {
            are_kept_same && lattice.as_ref().is_some_and(|it| it.is_of(placed))
        };
        let before = before.as_ref().filter(is_same);
        match self.join(lattice.as_ref(), before, &old) {
            Ok(placed) => self.placed = placed,
            Err(error) => {
                let members = self.members.values_mut();
                members
                    .filter(|it| it.joint.is_ok())
                    .for_each(|it| it.joint = Err(error));
            }
        }
        let change = before.zip(self.placed.as_ref());
        let change = change.and_then(|(before, after)| CellChange::between(before, after));
        let mut first_part = 0;
        for (entity, member) in &mut self.members {
            let is_new = core::mem::take(&mut member.is_new);
            let joint = member.joint.as_ref().map_err(|error| *error);
            let placed = joint.and_then(|joint| {
                let elements = match joint {
                    Joint::Cells(offset) => MemberElements::Cells(*offset),
                    Joint::Parts(parts, _) => {
                        let first = first_part;
                        first_part += parts.len() as u32;
                        MemberElements::Parts(first..first_part)
                    }
                };
                let ground = self.placed.as_ref();
                let placed = ground.and_then(|ground| {
                    let placed = PlacedCollider::of_member(ground, &member.own, elements)?;
                    let aabb = placed.aabb().ok()?;
                    Some((placed, aabb))
                });
                placed.ok_or(NotJoined::Shape(ShapeError::BeyondF32))
            });
            match placed {
                Ok((placed, aabb)) => {
                    let proxy = Proxy {
                        placed,
                        ..member.own.clone()
                    };
                    let has_moved = is_new
                        && !old.get(entity).is_some_and(|old| {
                            old.joint.is_ok()
                                && old.own.world_pose.has_same_bits(&member.own.world_pose)
                        });
                    let is_changed = arena.set_member(member.slot, proxy, aabb);
                    if is_changed || has_moved || change.is_none() {
                        arena.mark_changed(member.slot);
                    }
                }
                Err(error) => {
                    let current = arena.get(member.slot);
                    if is_new || current.is_some_and(|proxy| proxy.member().is_some()) {
                        let aabb = member.own.aabb().unwrap_or(Aabb::EMPTY);
                        arena.replace_now(member.slot, member.own.clone(), aabb);
                    }
                    if !rejected.contains(entity) {
                        warn(world, *entity, "is not joined with others", &error);
                    }
                }
            }
        }
        if let (Some(change), Some(placed)) = (&change, &self.placed) {
            arena.mark_near(change, placed, |proxy| {
                let member = self.members.get(&proxy.entity);
                proxy.traits.is_joined && member.is_some_and(|member| member.joint.is_ok())
            });
        }
        for (entity, before) in &old {
            if let Some(after) = self.members.get(entity).filter(|it| it.joint.is_ok())
                && let Some(change) = CellChange::between(&before.own, &after.own)
            {
                let after = after.own.clone();
                let new_of = move |part| change.renumbered(&after, part);
                renumbered.insert(*entity, Box::new(new_of));
            }
        }
    }

    /// Finds the offsets of the cells of all members. Returns the lattice of the cells, unless the
    /// ground has parts. Also returns `true` if the members that did not change keep their offsets.
    fn find_joints(&mut self) -> (Option<CellLattice<V>>, bool) {
        let mut common = None;
        for member in self.members.values_mut() {
            if let Err(NotJoined::Shape(ShapeError::PartMargins)) = member.joint {
                member.joint = joint_of(&member.own);
            }
            if let Ok(Joint::Parts(_, margin)) = member.joint
                && *common.get_or_insert(margin) != margin
            {
                member.joint = Err(NotJoined::Shape(ShapeError::PartMargins));
            }
        }
        let grids = self.members.values_mut();
        let grids = grids.filter(|member| {
            let is_one_way = member.joint.as_ref().err() == Some(&NotJoined::OneWay);
            member.own.grid().is_some() && !is_one_way
        });
        let mut grids: Vec<&mut Member<V>> = grids.collect();
        let mut lattices = grids
            .iter()
            .filter_map(|member| CellLattice::of(&member.own));
        let mut lattice = lattices.next().filter(|_| common.is_none());
        if let Some(lattice) = &mut lattice {
            lattices.for_each(|other| lattice.take_shapes(other));
        }
        let mut are_kept_same = true;
        for member in &mut grids {
            let old = member.cells().map(|cells| cells.offset);
            member.joint = match &lattice {
                Some(lattice) => lattice.offset(&member.own).map(Joint::Cells),
                None if common.is_some() => Err(NotJoined::MixedKinds),
                None => Err(NotJoined::OtherCells),
            };
            let new = member.cells().map(|cells| cells.offset);
            are_kept_same &= member.is_new || old == new;
        }
        (lattice, are_kept_same)
    }

    /// Returns the union of all members, or `None` if no member is joined. `before` is the ground
    /// before the change, if only the cells of members changed.
    fn join(
        &self,
        lattice: Option<&CellLattice<V>>,
        before: Option<&PlacedCollider<V>>,
        old: &BTreeMap<Entity, Member<V>>,
    ) -> Result<Option<PlacedCollider<V>>, NotJoined> {
        if self.members.values().all(|member| member.joint.is_err()) {
            return Ok(None);
        }
        let Some(lattice) = lattice else {
            let (mut all, mut common) = (Vec::new(), 0.0);
            for member in self.members.values() {
                if let Ok(Joint::Parts(parts, margin)) = &member.joint {
                    all.extend_from_slice(parts);
                    common = *margin;
                }
            }
            return join_parts(all.into(), common).map(Some);
        };
        let all: Vec<_> = self.members.values().filter_map(Member::cells).collect();
        let new = self
            .members
            .iter()
            .filter(|it| it.1.is_new || before.is_none());
        let changed: BTreeSet<_> = old.keys().chain(new.map(|(entity, _)| entity)).collect();
        let changes = changed.into_iter().map(|entity| {
            let members = [old.get(entity), self.members.get(entity)];
            members.map(|member| member.and_then(Member::cells))
        });
        let changes: Vec<_> = changes.collect();
        lattice.join(before, &changes, &all).map(Some)
    }
}
