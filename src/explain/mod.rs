//! [`explain`]: why two entities do or do not collide.
//!
//! The function repeats the decisions of the plugin in order, and names the first decision that
//! excludes the pair. The order is: an ignored collider, dimensions, two half-spaces, the rules of
//! `meeting/`, candidate pairs, bounding boxes, shapes. The function reads the data of the last
//! tick:
//!
//! | data | question |
//! |---|---|
//! | [`Progress`] | Is the last tick complete? |
//! | [`Collisions`] | Do the two entities touch? |
//! | [`FoundContacts`] | Did the two entities touch on the path of a swept collider? |
//! | [`Proxies`] | Which dimensions, layers, boxes and shapes did the tick use? |
//! | [`Candidates`] | Which pairs did the app supply? |
//! | [`SyncState`] | Are the proxies newer than the contacts, because of `sync_now`? |
//! | [`LastRun`] | Has a shape changed since that tick? |
//!
//! `text.rs` has the text of each status.
//!
//! If an entity has no proxy, the reason is derived from its present components.
//!
//! The world may have changed since that tick. Changes are detected by comparison with the proxies,
//! not by change ticks, because a pose also depends on the ancestors. (Only a changed shape is
//! detected by its change tick, because comparing shapes may take long.) After
//! [`sync_now`](crate::sync_now), the proxies are newer than the contacts. In this case, the status
//! of a pair with a changed proxy is [`PairStatus::Unseen`].

mod text;

use bevy::prelude::*;

use crate::{
    Collider, ColliderOf, CollisionEvent, CollisionLayers, Collisions, IgnoreCollisions,
    JoinedCollider, LayerNames, OneWay, PassThrough, Sensor, ShapeError,
    collider::{ColliderError, entity_pose},
    collider_query::pair::{intersects, nearest_points, one_sided_surface},
    math::Vec3,
    meeting::Exclusion,
    pipeline::{
        broad_phase::candidates::Candidates,
        narrow_phase::found_contacts::FoundContacts,
        progress::{Completed, Progress},
        proxies::{Proxies, ProxyArena, ProxySlot},
        proxy::Proxy,
        sync::{LastRun, SyncState},
        unfiltered::disabling_components,
    },
    placed::{Placed, PlacedCollider},
    query::length_to_f32,
    shape::{AnyColliderShape, ColliderShape},
    space::Space,
};

/// Explains why two entities collide or do not collide, based on the data of the last tick.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{PairStatus, explain, prelude::*};
///
/// let mut app = App::new();
/// app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
/// let world = app.world_mut();
/// let ball = world.spawn((Name::new("Ball"), Collider::circle(1.0))).id();
/// let pose = Transform::from_xyz(3.0, 0.0, 0.0);
/// let wall = world.spawn((Name::new("Wall"), Collider::rectangle(2.0, 2.0), pose)).id();
/// assert_eq!(explain(world, ball, wall).status, PairStatus::NoTick);
///
/// world.run_schedule(FixedPostUpdate);
/// let explanation = explain(world, ball, wall);
/// assert!(matches!(explanation.status, PairStatus::BoxesApart { .. }));
/// println!("{explanation}");
/// ```
///
/// Call this function after [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report), for
/// example in `FixedLast` or `Update`. For a pair that touches, the status is the
/// [contact](PairStatus::Touching). Otherwise, the status is the first reason that applies, in the
/// order of [`PairStatus`].
///
/// This function is meant for debugging, and costs as much as a test of all facets of both
/// colliders.
pub fn explain(world: &World, entity: Entity, other: Entity) -> Explanation {
    let pair = [entity, other];
    let mut explanation = Explanation {
        entity,
        other,
        status: PairStatus::NoPlugin,
        changed: [false; 2],
        is_2d: false,
        surface: None,
        cells: [None; 2],
        names: pair.map(|entity| world.get::<Name>(entity).cloned()),
        layer_names: world.get_resource().cloned().unwrap_or_default(),
    };
    if let Some(proxies) = world.get_resource::<Proxies>() {
        let tick = LastTick { world, proxies };
        if let Some(status) = tick.without_answer(pair) {
            explanation.status = status;
        } else {
            explanation.changed = pair.map(|entity| tick.has_changed(entity));
            explanation.is_2d = matches!(proxies.slot(entity), Some(ProxySlot::D2(_)));
            let (status, parts) = tick.status(pair);
            explanation.status = status;
            explanation.surface = tick.surrounding_surface(pair);
            if let Some(parts) = parts {
                let cell = |index: usize| tick.cell(*pair.get(index)?, *parts.get(index)?);
                explanation.cells = [0, 1].map(cell);
            }
        }
    }
    explanation
}

/// The reason why two entities collide or do not collide: the result of [`explain`]. The displayed
/// text has one or two sentences that name the entities and the remedy. Numbers in the text are
/// rounded to four digits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The first entity.
    pub entity: Entity,
    /// The second entity.
    pub other: Entity,
    /// The contact, or the reason why there is no contact.
    pub status: PairStatus,
    /// For each entity, `true` if its pose, shape, layers, owner, [`IgnoreCollisions`], [`OneWay`],
    /// [`PassThrough`] or [`Sensor`] changed since the last tick, or if its [`JoinedCollider`] was
    /// inserted or removed. The status does not include such changes. (After a change through
    /// `bypass_change_detection`, the value stays `true`, because no tick detects such a change.)
    pub changed: [bool; 2],
    /// `true` if vectors are displayed in 2D.
    is_2d: bool,
    /// A surface whose bounding box contains the bounding box of the other collider. A union of
    /// cells is solid, so it does not count.
    surface: Option<Entity>,
    /// The touched cell of each collider that is a union of cells, or the nearest cell.
    cells: [Option<NamedCell>; 2],
    names: [Option<Name>; 2],
    layer_names: LayerNames,
}

/// The contact of two entities in the last tick, or the reason why there is no contact. If several
/// reasons apply, the status is the first such reason in the order of this list.
///
/// Directions point from the first entity to the second. In 2D, z is 0.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PairStatus {
    /// The world has no [`HeadbuttPlugin`](crate::HeadbuttPlugin).
    NoPlugin,
    /// No tick has run yet.
    NoTick,
    /// The present contacts do not belong to a complete tick. Either a tick is in progress, a panic
    /// has aborted the last tick, or the app has written [`Collisions`] since the last tick.
    Interrupted,
    /// The two arguments of [`explain`] are the same entity.
    SameEntity,
    /// In its present state, one of the entities cannot touch anything.
    Ignored {
        /// The ignored entity.
        entity: Entity,
        /// The reason why this entity cannot touch anything.
        reason: IgnoredReason,
    },
    /// The two entities touch. The first entity is the `entity` of the event.
    Touching(CollisionEvent),
    /// The two entities touched on the path of a [`Swept`](crate::Swept) collider, and were apart
    /// again at the end of the tick. The event is the first event of the pair in that tick, and the
    /// first entity is the `entity` of the event.
    PassedThrough(CollisionEvent),
    /// The last tick did not include one of the entities, because the collider of this entity was
    /// added, enabled or made valid since then. After [`sync_now`](crate::sync_now), a changed
    /// collider also has this status.
    Unseen {
        /// The unseen entity.
        entity: Entity,
    },
    /// One collider is in 2D, and the other collider is in 3D.
    Dimensions {
        /// The entity in 2D.
        in_2d: Entity,
        /// The entity in 3D.
        in_3d: Entity,
    },
    /// Both colliders are half-spaces, which never collide with each other.
    HalfSpaces,
    /// The [`CollisionLayers`] of the two entities do not interact.
    Layers {
        /// The layers of the first entity.
        layers: CollisionLayers,
        /// The layers of the second entity.
        other_layers: CollisionLayers,
    },
    /// Both colliders have the same owner: see [`ColliderOf`].
    SameOwner {
        /// The owner.
        owner: Entity,
    },
    /// The [`IgnoreCollisions`] of an entity excludes the pair.
    Exception {
        /// The entity with the component: one of the two colliders, or the owner of this collider.
        holder: Entity,
        /// The entity in the set: the other collider, or the owner of the other collider.
        ignored: Entity,
    },
    /// One collider is [`OneWay`] or has one-way cells, and the other entity has [`PassThrough`].
    PassThrough {
        /// The entity with `PassThrough`.
        body: Entity,
    },
    /// A [filter](crate::AddCollisionFilter) of the app rejected the pair.
    Rejected,
    /// A [filter](crate::AddCollisionFilter) of the app rejected all contacts of the pair.
    ContactRejected,
    /// The app supplies the pairs ([`BroadPhase::Custom`](crate::BroadPhase::Custom)), and this
    /// pair was not among the [`CandidatePairs`](crate::CandidatePairs).
    NotCandidate,
    /// The bounding boxes are separated.
    BoxesApart {
        /// The axis along which the boxes are farthest apart.
        axis: Vec3,
        /// The gap between the boxes along this axis.
        gap: f32,
    },
    /// The two colliders overlap, but one collider is [`OneWay`] or has one-way cells, and the
    /// other collider did not come from the solid side.
    NotFromAbove {
        /// The one-way collider. If both colliders are one-way, the first entity of the pair.
        platform: Entity,
    },
    /// A one-sided surface ignores the other collider, whose center is behind the surface.
    BehindSurface {
        /// The entity with the surface.
        surface: Entity,
    },
    /// The shapes are separated.
    ShapesApart {
        /// The unit vector from the first shape to the second, along the shortest line between
        /// them.
        normal: Vec3,
        /// The distance between the shapes.
        distance: f32,
        /// The point of the first shape that is nearest to the second shape.
        point: Vec3,
        /// The point of the second shape that is nearest to the first shape.
        other_point: Vec3,
    },
    /// The shapes have no contact and no distance: a [`Support`](crate::Support) is wrong, or a
    /// body touches a surface only within rounding.
    NoDistance,
}

/// The reason why an entity cannot touch anything. The displayed text is the end of a sentence
/// about the entity.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IgnoredReason {
    /// The entity does not exist.
    #[error("does not exist, or no longer exists")]
    Despawned,
    /// The entity has `Disabled` or another component of Bevy's `DefaultQueryFilters`.
    #[error("is disabled. Remove its component `Disabled`, or the app's own disabling component")]
    Disabled,
    /// The entity has a `ColliderFromMesh` whose mesh is missing or not loaded yet.
    #[cfg(feature = "mesh")]
    #[error(
        "waits for its mesh. Check that the mesh is loaded, and that the entity has a `Mesh2d` or \
         `Mesh3d`"
    )]
    WaitsForMesh,
    /// The entity has no [`Collider`].
    #[error("has no `Collider`. Insert one, or use the child entity that has it")]
    NoCollider,
    /// The entity has the default collider, which has no shape.
    #[error("has a default `Collider`, which has no shape. Replace it")]
    NoShape,
    /// The collider is a grid without cells.
    #[error("has a grid without cells. Set cells, and replace the `Collider`")]
    NoCells,
    /// The collider was created from an invalid shape.
    #[error("has an invalid shape: {0}")]
    InvalidShape(ShapeError),
    /// The entity has no `Transform`.
    #[error("has no `Transform`. Insert one")]
    NoTransform,
    /// The collider cannot collide in its pose.
    #[error("has a collider that is ignored: {0}")]
    InvalidPose(ColliderError),
}

/// A cell of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NamedCell {
    position: [i32; 3],
    material: u16,
}

/// The status of a pair, and the touching parts of the two colliders, or the nearest parts.
type StatusOfParts = (PairStatus, Option<[u32; 2]>);

/// The last tick of a world, if any tick has run.
struct LastTick<'w> {
    world: &'w World,
    proxies: &'w Proxies,
}

impl LastTick<'_> {
    /// Returns the reason why the last tick has no result for a pair, or `None` if there is a
    /// result.
    fn without_answer(&self, pair: [Entity; 2]) -> Option<PairStatus> {
        let world = self.world;
        if world.resource::<Progress>().begun == 0 {
            return Some(PairStatus::NoTick);
        }
        let is_complete = world.resource::<Progress>().completed == Completed::Report;
        if !is_complete || !Progress::has_own_contacts(world) {
            return Some(PairStatus::Interrupted);
        }
        let [entity, other] = pair;
        if entity == other {
            return Some(PairStatus::SameEntity);
        }
        pair.into_iter().find_map(|entity| {
            let reason = ignored_reason(world, entity)?;
            Some(PairStatus::Ignored { entity, reason })
        })
    }

    /// Returns the status of two entities that can touch other entities.
    fn status(&self, pair: [Entity; 2]) -> StatusOfParts {
        let [entity, other] = pair;
        if let Some(contact) = self.world.resource::<Collisions>().between(entity, other) {
            let parts = [contact.part(), contact.other_part()];
            return (PairStatus::Touching(contact), Some(parts));
        }
        if let Some(contact) = self.contact_on_path(entity, other) {
            return (PairStatus::PassedThrough(contact), None);
        }
        let Proxies { d2, d3, .. } = self.proxies;
        let status = match pair.map(|entity| self.seen_slot(entity)) {
            [None, _] => PairStatus::Unseen { entity },
            [_, None] => PairStatus::Unseen { entity: other },
            [Some(ProxySlot::D2(a)), Some(ProxySlot::D2(b))] => return self.status_in(d2, a, b),
            [Some(ProxySlot::D3(a)), Some(ProxySlot::D3(b))] => return self.status_in(d3, a, b),
            [Some(ProxySlot::D2(_)), _] => PairStatus::Dimensions {
                in_2d: entity,
                in_3d: other,
            },
            _ => PairStatus::Dimensions {
                in_2d: other,
                in_3d: entity,
            },
        };
        (status, None)
    }

    /// Returns a surface that surrounds the other collider and may look solid.
    fn surrounding_surface(&self, pair: [Entity; 2]) -> Option<Entity> {
        let Proxies { d2, d3, .. } = self.proxies;
        match pair.map(|entity| self.seen_slot(entity)) {
            [Some(ProxySlot::D2(a)), Some(ProxySlot::D2(b))] => surface_around(d2, a, b),
            [Some(ProxySlot::D3(a)), Some(ProxySlot::D3(b))] => surface_around(d3, a, b),
            _ => None,
        }
    }

    /// Returns the first touch on the paths of two entities.
    fn contact_on_path(&self, entity: Entity, other: Entity) -> Option<CollisionEvent> {
        let pair = (entity.min(other), entity.max(other));
        let swept = &self.world.resource::<FoundContacts>().swept;
        let index = swept.binary_search_by_key(&pair, |contact| contact.event.pair());
        swept.get(index.ok()?)?.event.seen_from(entity)
    }

    /// Returns the slot of a collider, or `None` if the last tick has not seen the collider's
    /// proxy.
    fn seen_slot(&self, entity: Entity) -> Option<ProxySlot> {
        let has_early_changes = self.world.resource::<SyncState>().has_early_changes;
        let is_seen = !has_early_changes || self.proxies.is_unchanged(entity);
        let is_seen = is_seen && self.proxies.contains(entity);
        self.proxies.slot(entity).filter(|_| is_seen)
    }

    /// Returns the cell of a part, if the collider of an entity is a union of cells.
    fn cell(&self, entity: Entity, part: u32) -> Option<NamedCell> {
        match self.seen_slot(entity)? {
            ProxySlot::D2(slot) => cell_of(self.proxies.d2.get(slot)?, part),
            ProxySlot::D3(slot) => cell_of(self.proxies.d3.get(slot)?, part),
            _ => None,
        }
    }

    /// Returns the status of two colliders without a contact, given their slots.
    fn status_in<V: Space>(&self, arena: &ProxyArena<V>, a: u32, b: u32) -> StatusOfParts {
        let (Some(first), Some(second)) = (arena.get(a), arena.get(b)) else {
            return (PairStatus::NoDistance, None);
        };
        let pair = (
            first.entity.min(second.entity),
            first.entity.max(second.entity),
        );
        let custom = &self.world.resource::<Candidates>().custom;
        let rules = &self.proxies.rules;
        let status = if first.is_half_space() && second.is_half_space() {
            PairStatus::HalfSpaces
        } else if let Some(exclusion) = rules.exclusion(first.party(), second.party()) {
            match exclusion {
                Exclusion::Layers => PairStatus::Layers {
                    layers: first.traits.layers,
                    other_layers: second.traits.layers,
                },
                Exclusion::SameOwner(owner) => PairStatus::SameOwner { owner },
                Exclusion::Exception { holder, ignored } => {
                    PairStatus::Exception { holder, ignored }
                }
                Exclusion::PassThrough { body } => PairStatus::PassThrough { body },
                Exclusion::Rejected => PairStatus::Rejected,
            }
        } else if rules
            .rejections
            .contacts_between(pair.0, pair.1)
            .next()
            .is_some()
        {
            PairStatus::ContactRejected
        } else if !custom.allows(pair) {
            PairStatus::NotCandidate
        } else if let Some((axis, gap)) = boxes_of(arena, a, b).and_then(gap_between) {
            PairStatus::BoxesApart { axis, gap }
        } else {
            return status_of_shapes(first, second);
        };
        (status, None)
    }

    /// Returns `true` if an entity has changed since the last tick.
    fn has_changed(&self, entity: Entity) -> bool {
        let Proxies { d2, d3, .. } = self.proxies;
        match self.seen_slot(entity) {
            Some(ProxySlot::D2(slot)) => d2.get(slot).is_none_or(|proxy| self.differs(proxy)),
            Some(ProxySlot::D3(slot)) => d3.get(slot).is_none_or(|proxy| self.differs(proxy)),
            _ => true,
        }
    }

    /// Returns `true` if an entity differs from its proxy.
    fn differs<V: Space>(&self, proxy: &Proxy<V>) -> bool {
        let (world, entity) = (self.world, proxy.entity);
        let last_run = world.resource_ref::<LastRun>().last_changed();
        let has_same_shape = world.get_entity(entity).is_ok_and(|found| {
            let collider = found.get_ref::<Collider>();
            collider.is_some_and(|collider| {
                let now = world.read_change_tick();
                !collider.last_changed().is_newer_than(last_run, now)
            })
        });
        let pose = entity_pose::<V>(world, entity);
        let layers = world.get::<CollisionLayers>(entity);
        let ignored = world
            .get::<IgnoreCollisions>(entity)
            .map(|ignored| &ignored.0);
        !has_same_shape
            || world.get::<ColliderOf>(entity).map(|owner| owner.0) != proxy.traits.owner
            || ignored != self.proxies.rules.exceptions.of(entity)
            || !pose.is_ok_and(|pose| pose.has_same_bits(proxy.own_pose()))
            || layers.copied().unwrap_or_default() != proxy.traits.layers
            || world.get::<Sensor>(entity).is_some() != proxy.traits.is_sensor
            || world.get::<PassThrough>(entity).is_some() != proxy.traits.passes_through
            || world.get::<JoinedCollider>(entity).is_some() != proxy.traits.is_joined
            || world.get::<OneWay>(entity) != self.proxies.rules.one_ways.get(entity)
    }
}

/// Returns the reason why an entity cannot touch anything, or `None` if the entity can touch
/// others.
fn ignored_reason(world: &World, entity: Entity) -> Option<IgnoredReason> {
    let Ok(found) = world.get_entity(entity) else {
        return Some(IgnoredReason::Despawned);
    };
    if disabling_components(world).any(|id| found.contains_id(id)) {
        return Some(IgnoredReason::Disabled);
    }
    let Some(collider) = found.get::<Collider>() else {
        return Some(IgnoredReason::NoCollider);
    };
    match collider.shape() {
        // Until the mesh is loaded, an entity with `ColliderFromMesh` may have a `Collider` without
        // a shape.
        #[cfg(feature = "mesh")]
        AnyColliderShape::Inert if found.contains::<crate::ColliderFromMesh>() => {
            Some(IgnoredReason::WaitsForMesh)
        }
        AnyColliderShape::Inert => Some(IgnoredReason::NoShape),
        AnyColliderShape::NoCells(_) => Some(IgnoredReason::NoCells),
        AnyColliderShape::Rejected(error) => Some(IgnoredReason::InvalidShape(*error)),
        _ if !found.contains::<Transform>() => Some(IgnoredReason::NoTransform),
        AnyColliderShape::D2(shape) => invalid_pose(world, entity, shape),
        AnyColliderShape::D3(shape) => invalid_pose(world, entity, shape),
    }
}

fn invalid_pose<V: Space>(
    world: &World,
    entity: Entity,
    shape: &ColliderShape<V>,
) -> Option<IgnoredReason> {
    let pose = entity_pose::<V>(world, entity);
    let placed = pose.and_then(|pose| PlacedCollider::new(shape, pose));
    placed.err().map(IgnoredReason::InvalidPose)
}

/// Returns the bounding boxes of two colliders, given their slots. Returns `None` if a collider is
/// a half-space, which has no box.
fn boxes_of<V: Space>(arena: &ProxyArena<V>, a: u32, b: u32) -> Option<[[Vec3; 2]; 2]> {
    let boxes = [arena.box_of(a)?, arena.box_of(b)?];
    Some(boxes.map(|aabb| aabb.corners().map(Vec3::from)))
}

/// Returns the entity of a surface without an interior whose box contains the other box.
fn surface_around<V: Space>(arena: &ProxyArena<V>, a: u32, b: u32) -> Option<Entity> {
    let [box_a, box_b] = boxes_of(arena, a, b)?;
    let is_hollow = |proxy: &Proxy<V>| proxy.is_surface() && !proxy.is_solid_surface();
    let mut pairs = [(arena.get(a)?, box_a, box_b), (arena.get(b)?, box_b, box_a)].into_iter();
    let found = pairs.find(|(proxy, outer, inner)| is_hollow(proxy) && contains(*outer, *inner));
    found.map(|(proxy, ..)| proxy.entity)
}

/// Returns `true` if a box contains another box.
fn contains([min, max]: [Vec3; 2], [inner_min, inner_max]: [Vec3; 2]) -> bool {
    min.cmple(inner_min).all() && inner_max.cmple(max).all()
}

/// Returns the axis along which two boxes are farthest apart, and the gap. The axis points from the
/// first box to the second box. Returns `None` if the boxes overlap.
fn gap_between([[min, max], [other_min, other_max]]: [[Vec3; 2]; 2]) -> Option<(Vec3, f32)> {
    let (above, below) = (other_min - max, min - other_max);
    let gaps = above.max(below);
    let axis = Vec3::AXES
        .into_iter()
        .max_by(|first, second| gaps.dot(*first).total_cmp(&gaps.dot(*second)))?;
    let gap = gaps.dot(axis);
    let is_above = above.dot(axis) > 0.0;
    (gap > 0.0).then_some((if is_above { axis } else { -axis }, gap))
}

/// Returns the cell of a part, if a collider is a union of cells.
fn cell_of<V: Space>(proxy: &Proxy<V>, part: u32) -> Option<NamedCell> {
    let cells = proxy.own_cells()?;
    let position = cells.facet(part)?.cell();
    let cell = cells.grid().get(V::position_of(position));
    let material = cell.material();
    Some(NamedCell { position, material })
}

/// Returns the status if one collider passes a ledge of the other.
fn passed_ledges<V: Space>(first: &Proxy<V>, second: &Proxy<V>) -> Option<PairStatus> {
    let orders = [(first, second), (second, first)];
    let mut orders = orders.into_iter();
    let (body, platform) = orders.find(|(body, platform)| {
        let origin = body.world_pose.translation;
        let ledges = body
            .region()
            .map(|region| platform.ledges_near(&region, origin));
        let units = ledges.into_iter().flatten();
        let mut units = units.map(|ledge| Placed::Ledge(platform, ledge.plane));
        units.any(|unit| intersects((&body.placed).into(), unit))
    })?;
    Some(if body.traits.passes_through {
        PairStatus::PassThrough { body: body.entity }
    } else {
        let platform = platform.entity;
        PairStatus::NotFromAbove { platform }
    })
}

/// Returns the status of two colliders that were tested and have no contact.
fn status_of_shapes<V: Space>(first: &Proxy<V>, second: &Proxy<V>) -> StatusOfParts {
    let (a, b) = (&first.placed, &second.placed);
    let nearest = nearest_points(a.into(), b.into());
    // If `nearest_points` ignores all facets, the distance is unknown. In this case, the search for
    // a one-sided surface has no maximum distance.
    let limit = nearest.map_or(f64::INFINITY, |_| 0.0);
    if let Some(surface) = one_sided_surface(a, b, limit).filter(|it| !it.is_solid_surface()) {
        let is_first = core::ptr::eq(surface, a);
        let surface = if is_first { first } else { second }.entity;
        return (PairStatus::BehindSurface { surface }, None);
    }
    if let Some(status) = passed_ledges(first, second) {
        return (status, None);
    }
    let Some((distance, nearest)) = nearest.filter(|(distance, _)| *distance > 0.0) else {
        let platform = [first, second]
            .into_iter()
            .find(|proxy| proxy.traits.is_one_way);
        let status = platform.map_or(PairStatus::NoDistance, |proxy| PairStatus::NotFromAbove {
            platform: proxy.entity,
        });
        return (status, None);
    };
    let origins = [first, second].map(|proxy| proxy.world_pose.translation);
    let [point, other_point]: [V; 2] = nearest.contact.points_in_world(origins);
    let status = PairStatus::ShapesApart {
        normal: V::from_f64(nearest.contact.normal).to_vec3(),
        distance: length_to_f32(distance),
        point: point.to_vec3(),
        other_point: other_point.to_vec3(),
    };
    let (part, other_part) = nearest.parts;
    let parts = [first.own_part(part), second.own_part(other_part)];
    (status, Some(parts))
}
