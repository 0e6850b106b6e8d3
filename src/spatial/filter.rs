//! The filter that selects the colliders of a spatial query. `SpatialQuery::search` calls
//! [`Selection::selects`] for each collider that it finds.

use core::fmt;

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    CollisionLayers,
    collision::MAX_ANCESTORS,
    meeting::{CandidatePair, LayerMask, Party},
    pipeline::proxies::Proxies,
};

/// Selects the colliders that a [`SpatialQuery`](crate::SpatialQuery) considers. The [`Default`]
/// filter selects all colliders except [sensors](crate::Sensor).
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// const WALL: u32 = 1 << 2;
///
/// #[derive(Component)]
/// struct Player;
/// #[derive(Component)]
/// struct Glass;
///
/// fn look(
///     query: SpatialQuery,
///     player: Single<Entity, With<Player>>,
///     glass: Query<(), With<Glass>>,
/// ) {
///     let is_opaque = |entity: Entity| !glass.contains(entity);
///     let filter = SpatialQueryFilter::default()
///         .with_mask(WALL)
///         .excluding_tree(*player)
///         .with_predicate(&is_opaque);
///     let sight = query::Ray::new(Vec2::ZERO, Vec2::X).with_max_distance(100.0);
///     if let Some(hit) = query.cast_ray(sight, &filter) {
///         println!("{} is {} away", hit.entity, hit.distance);
///     }
/// }
/// ```
#[derive(Clone, Default)]
pub struct SpatialQueryFilter<'a> {
    layers: CollisionLayers,
    excluded: SmallVec<[Entity; 4]>,
    excluded_trees: SmallVec<[Entity; 4]>,
    includes_sensors: bool,
    asker: Option<Entity>,
    pair_filter: Option<&'a (dyn Fn(CandidatePair) -> bool + Sync)>,
    predicate: Option<&'a (dyn Fn(Entity) -> bool + Sync)>,
}

impl fmt::Debug for SpatialQueryFilter<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter
            .debug_struct("SpatialQueryFilter")
            .field("layers", &self.layers)
            .field("excluded", &self.excluded)
            .field("excluded_trees", &self.excluded_trees)
            .field("asker", &self.asker)
            .field("includes_sensors", &self.includes_sensors)
            .field("has_pair_filter", &self.pair_filter.is_some())
            .field("has_predicate", &self.predicate.is_some())
            .finish()
    }
}

impl<'a> SpatialQueryFilter<'a> {
    /// Selects the colliders that an entity may touch in a tick, except sensors. The query uses the
    /// [layers](crate::CollisionLayers), the [owner](crate::ColliderOf) and the
    /// [`IgnoreCollisions`](crate::IgnoreCollisions) that the entity had in the last `Sync`. The
    /// entity itself and all colliders of its owner are excluded.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Player;
    ///
    /// type Body = (Entity, &'static Collider, &'static mut Transform);
    ///
    /// fn walk(query: SpatialQuery, player: Single<Body, With<Player>>) {
    ///     let (player, body, mut pose) = player.into_inner();
    ///     let (settings, filter) = (default(), SpatialQueryFilter::of(player));
    ///     let slide = query.move_and_slide(body, *pose, Vec3::X * 0.1, &settings, &filter);
    ///     pose.translation += slide.translation;
    /// }
    /// # let _ = walk;
    /// ```
    ///
    /// [`OneWay`](crate::OneWay) colliders are solid from one side only, as in a tick. Without this
    /// call, they are solid from all sides, except in the queries of
    /// [`RayCaster`](crate::RayCaster) and [`ShapeCaster`](crate::ShapeCaster).
    ///
    /// An entity without a collider is on all layers, and is its own owner.
    pub fn of(entity: Entity) -> Self {
        Self {
            asker: Some(entity),
            ..Self::default()
        }
    }

    /// Selects the colliders that are on at least one of the given layers.
    ///
    /// This call is equivalent to [`with_layers`](Self::with_layers) with
    /// `CollisionLayers::new(u32::MAX, mask)`.
    #[must_use]
    pub fn with_mask(self, mask: impl LayerMask) -> Self {
        self.with_layers(CollisionLayers::new(u32::MAX, mask))
    }

    /// Selects the colliders whose layers [interact with](CollisionLayers::interacts_with)
    /// `layers`. By default, the query is on all layers and interacts with all layers.
    #[must_use]
    pub fn with_layers(self, layers: CollisionLayers) -> Self {
        Self { layers, ..self }
    }

    /// Excludes an entity, and all colliders that it [owns](crate::ColliderOf). Other children of
    /// the entity are not excluded: see [`excluding_tree`](Self::excluding_tree). Repeated calls
    /// exclude several entities. Each candidate is compared with all excluded entities, so use a
    /// predicate for a large set.
    #[must_use]
    pub fn excluding(mut self, entity: Entity) -> Self {
        self.excluded.push(entity);
        self
    }

    /// Excludes an entity and all its descendants, for example a character and the colliders of its
    /// limbs. Repeated calls exclude several trees.
    ///
    /// The hierarchy is read at the time of the query, not in the last tick. The tree includes
    /// disabled entities and their descendants, if the entities are disabled by Bevy's `Disabled`
    /// and no other component.
    #[must_use]
    pub fn excluding_tree(mut self, root: Entity) -> Self {
        self.excluded_trees.push(root);
        self
    }

    /// Includes [sensors](crate::Sensor).
    #[must_use]
    pub fn with_sensors(self) -> Self {
        Self {
            includes_sensors: true,
            ..self
        }
    }

    /// Selects the colliders for which a pair filter returns `true`, usually the function that was
    /// registered with [`add_pair_filter`](crate::AddCollisionFilter::add_pair_filter).
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component, PartialEq)]
    /// struct Team(u8);
    ///
    /// fn are_enemies(pair: CandidatePair, teams: &Query<&Team>) -> bool {
    ///     let [team, other] = [pair.owner, pair.other_owner].map(|owner| teams.get(owner).ok());
    ///     team.is_none() || team != other
    /// }
    ///
    /// fn look(query: SpatialQuery, teams: Query<&Team>, soldiers: Query<Entity, With<Collider>>) {
    ///     let accepts = |pair: CandidatePair| are_enemies(pair, &teams);
    ///     for soldier in &soldiers {
    ///         let filter = SpatialQueryFilter::of(soldier).with_pair_filter(&accepts);
    ///         let sight = query::Ray::new(Vec2::ZERO, Vec2::X).with_max_distance(100.0);
    ///         println!("{:?}", query.cast_ray(sight, &filter));
    ///     }
    /// }
    ///
    /// let mut app = App::new();
    /// app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
    /// app.add_pair_filter::<Team, Query<&Team>>(are_enemies).add_systems(Update, look);
    /// # app.world_mut().spawn((Collider::circle(1.0), Team(1)));
    /// # app.update();
    /// ```
    ///
    /// The filter is called only in queries [of](Self::of) an entity, with this entity as
    /// [`CandidatePair::entity`] and a candidate as [`CandidatePair::other`]. Unlike a tick, a
    /// query ignores the marker component of the filter, so the filter decides on all candidates.
    /// In a tick, the marker must be on the collider itself, as on the soldiers in the example.
    /// Like a [predicate](Self::with_predicate), the filter is called at most once per entity.
    #[must_use]
    pub fn with_pair_filter(self, filter: &'a (dyn Fn(CandidatePair) -> bool + Sync)) -> Self {
        Self {
            pair_filter: Some(filter),
            ..self
        }
    }

    /// Selects the entities for which `predicate` returns `true`.
    ///
    /// Each query (in a batch, each ray or motion) calls the predicate at most once per entity,
    /// before the shapes are tested. The predicate receives only entities that pass the rest of the
    /// filter and whose bounding boxes the query overlaps.
    #[must_use]
    pub fn with_predicate(self, predicate: &'a (dyn Fn(Entity) -> bool + Sync)) -> Self {
        Self {
            predicate: Some(predicate),
            ..self
        }
    }

    /// Returns `true` if the filter selects a collider. `parent_of` returns the parent of an
    /// entity.
    fn selects(
        &self,
        proxies: &Proxies,
        party: Party,
        parent_of: impl Fn(Entity) -> Option<Entity>,
    ) -> bool {
        let entity = party.entity;
        let is_excluded = |entity| self.excluded.contains(&entity);
        let asker = self.asker.map(|asker| proxies.party(asker));
        let may_meet = |asker| {
            let rules = &proxies.rules;
            rules.exclusion_by_component(asker, party).is_none()
        };
        let accepts = |filter: &(dyn Fn(CandidatePair) -> bool + Sync)| {
            asker.is_none_or(|asker| filter(CandidatePair::new(asker, party)))
        };
        party
            .traits
            .are_found_by(self.layers, self.includes_sensors)
            && !is_excluded(entity)
            && !is_excluded(party.owner())
            && asker.is_none_or(may_meet)
            && !self.is_in_excluded_tree(entity, parent_of)
            && self.pair_filter.is_none_or(accepts)
            && self.predicate.is_none_or(|predicate| predicate(entity))
    }

    fn is_in_excluded_tree(
        &self,
        entity: Entity,
        parent_of: impl Fn(Entity) -> Option<Entity>,
    ) -> bool {
        if self.excluded_trees.is_empty() {
            return false;
        }
        let mut ancestors = with_ancestors(entity, parent_of);
        ancestors.any(|ancestor| self.excluded_trees.contains(&ancestor))
    }
}

fn with_ancestors(
    entity: Entity,
    parent_of: impl Fn(Entity) -> Option<Entity>,
) -> impl Iterator<Item = Entity> {
    let ancestors = core::iter::successors(Some(entity), move |entity| parent_of(*entity));
    ancestors.take(MAX_ANCESTORS + 1)
}

/// A filter, with the data that a query adds to it.
#[derive(Clone, Copy)]
pub struct Selection<'a> {
    pub(super) filter: &'a SpatialQueryFilter<'a>,
    /// An entity whose collider is excluded.
    pub(super) except: Option<Entity>,
    /// The entity of a caster. The query excludes this entity, its ancestors, the colliders of its
    /// owner, and the entities that it ignores.
    caster: Option<Entity>,
    /// A body that overlaps a one-way collider by at most this distance counts as above the
    /// collider.
    pub one_way_skin: f64,
}

impl<'a> Selection<'a> {
    /// Returns the selection of a caster.
    pub fn of_caster(filter: &'a SpatialQueryFilter<'a>, entity: Entity) -> Self {
        Self {
            caster: Some(entity),
            ..filter.into()
        }
    }

    /// Returns the entity of the query: the entity of the caster, or the entity that was passed to
    /// [`SpatialQueryFilter::of`].
    pub fn asker(&self) -> Option<Entity> {
        self.caster.or(self.filter.asker)
    }

    /// Returns `true` if a collider is selected. `parent_of` returns the parent of an entity.
    pub fn selects(
        &self,
        proxies: &Proxies,
        party: Party,
        parent_of: impl Fn(Entity) -> Option<Entity> + Copy,
    ) -> bool {
        let is_ignored = |caster| {
            let mut own = with_ancestors(caster, parent_of);
            let caster = proxies.party(caster);
            own.any(|ancestor| ancestor == party.entity)
                || proxies.rules.exclusion_by_entity(caster, party).is_some()
        };
        self.except != Some(party.entity)
            && !self.caster.is_some_and(is_ignored)
            && self.filter.selects(proxies, party, parent_of)
    }
}

impl<'a> From<&'a SpatialQueryFilter<'a>> for Selection<'a> {
    fn from(filter: &'a SpatialQueryFilter<'a>) -> Self {
        Self {
            filter,
            except: None,
            caster: None,
            one_way_skin: 0.0,
        }
    }
}
