//! The filter that selects the colliders of a spatial query.

use core::fmt;

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    CollisionLayers,
    collision::MAX_ANCESTORS,
    meeting::{LayerMask, PairTraits},
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
    predicate: Option<&'a (dyn Fn(Entity) -> bool + Sync)>,
}

impl fmt::Debug for SpatialQueryFilter<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter
            .debug_struct("SpatialQueryFilter")
            .field("layers", &self.layers)
            .field("excluded", &self.excluded)
            .field("excluded_trees", &self.excluded_trees)
            .field("includes_sensors", &self.includes_sensors)
            .field("has_predicate", &self.predicate.is_some())
            .finish()
    }
}

impl<'a> SpatialQueryFilter<'a> {
    /// Selects the colliders that are on one of the given layers.
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

    /// Excludes an entity. The children of the entity are not excluded: see
    /// [`excluding_tree`](Self::excluding_tree). Repeated calls exclude several entities. Each
    /// candidate is compared with all excluded entities, so use a predicate for a large set.
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

    /// Selects the entities for which `predicate` returns `true`.
    ///
    /// Each query (in a batch, each ray or motion) calls the predicate at most once per entity,
    /// before the shapes are tested. The predicate receives only entities that pass the rest of the
    /// filter and whose bounding boxes the query overlaps.
    #[must_use]
    pub fn with_predicate<'b>(
        self,
        predicate: &'b (dyn Fn(Entity) -> bool + Sync),
    ) -> SpatialQueryFilter<'b>
    where
        'a: 'b,
    {
        SpatialQueryFilter {
            predicate: Some(predicate),
            ..self
        }
    }

    /// Returns `true` if the filter selects a collider. `parent_of` returns the parent of an
    /// entity.
    fn selects(
        &self,
        entity: Entity,
        traits: &PairTraits,
        parent_of: impl Fn(Entity) -> Option<Entity>,
    ) -> bool {
        traits.are_found_by(self.layers, self.includes_sensors)
            && !self.excluded.contains(&entity)
            && !self.is_in_excluded_tree(entity, parent_of)
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

/// A filter, and optionally an entity that is excluded together with its ancestors.
#[derive(Clone, Copy)]
pub struct Selection<'a> {
    filter: &'a SpatialQueryFilter<'a>,
    own: Option<Entity>,
}

impl<'a> Selection<'a> {
    /// Returns a selection that also excludes `own` and its ancestors.
    pub fn except(filter: &'a SpatialQueryFilter<'a>, own: Entity) -> Self {
        let own = Some(own);
        Self { filter, own }
    }

    /// Returns `true` if a collider is selected. `parent_of` returns the parent of an entity.
    pub fn selects(
        &self,
        entity: Entity,
        traits: &PairTraits,
        parent_of: impl Fn(Entity) -> Option<Entity> + Copy,
    ) -> bool {
        let Self { filter, own } = self;
        let is_own = |own| with_ancestors(own, parent_of).any(|ancestor| ancestor == entity);
        !own.is_some_and(is_own) && filter.selects(entity, traits, parent_of)
    }
}

impl<'a> From<&'a SpatialQueryFilter<'a>> for Selection<'a> {
    #[inline]
    fn from(filter: &'a SpatialQueryFilter<'a>) -> Self {
        Self { filter, own: None }
    }
}
