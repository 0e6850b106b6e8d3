//! Filters of pairs that the app adds as functions.

use bevy::{
    ecs::system::{ReadOnlySystemParam, SystemParamItem, SystemState},
    prelude::*,
};

use crate::buffer::Buffer;

/// A pair of colliders that a filter decides on. The bounding boxes of the two overlap, or those of
/// their swept paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CandidatePair {
    /// The entity with the marker of the filter. If both have the marker, the lower entity.
    pub entity: Entity,
    /// The other entity.
    pub other: Entity,
    /// The owner of `entity`: see [`ColliderOf`](crate::ColliderOf).
    pub owner: Entity,
    /// The owner of `other`.
    pub other_owner: Entity,
}

impl CandidatePair {
    fn flipped(self) -> Self {
        Self {
            entity: self.other,
            other: self.entity,
            owner: self.other_owner,
            other_owner: self.owner,
        }
    }
}

/// Adds filters of pairs to an [`App`].
pub trait AddPairFilter {
    /// Adds a filter for the colliders with the component `M`: two colliders do not meet in a tick
    /// if the filter returns `false`.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component, PartialEq)]
    /// struct Team(u8);
    ///
    /// #[derive(Component)]
    /// struct Bullet;
    ///
    /// let mut app = App::new();
    /// app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
    /// // Friendly fire is off.
    /// app.add_pair_filter::<Bullet, Query<&Team>>(|pair, teams| {
    ///     let [bullet, other] = [pair.entity, pair.other].map(|entity| teams.get(entity).ok());
    ///     bullet.is_none() || bullet != other
    /// });
    /// ```
    ///
    /// `P` is any read-only system parameter, such as a `Query`, a `Res`, or a tuple of these.
    ///
    /// * Only pairs with a marked collider are passed to the filter, at most once per tick, after
    ///   [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase). Their layers, owners
    ///   and exceptions let them meet.
    /// * The filter is called in each tick, even if the pair is at rest. So a change of anything
    ///   that it reads takes effect in the next tick. To this end, marked colliders are tested as
    ///   if they moved. A contact of a rejected pair ends with the reason
    ///   [`Rejected`](crate::EndReason::Rejected).
    /// * A pair meets if all filters accept it. A filter accepts all pairs while its parameters are
    ///   not available, for example if a resource is missing.
    /// * Swept paths are filtered, too. Spatial queries do not call the filter: pass the same
    ///   decision to [`with_predicate`](crate::SpatialQueryFilter::with_predicate).
    ///
    /// The result must depend only on the world. Otherwise, ticks do not repeat after a rollback.
    fn add_pair_filter<M: Component, P: ReadOnlySystemParam + 'static>(
        &mut self,
        filter: impl Fn(CandidatePair, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
    ) -> &mut Self;
}

impl AddPairFilter for App {
    fn add_pair_filter<M: Component, P: ReadOnlySystemParam + 'static>(
        &mut self,
        filter: impl Fn(CandidatePair, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
    ) -> &mut Self {
        let filter = MarkedFilter::<M, P, _> {
            filter,
            state: None,
        };
        let mut filters = self.world_mut().get_resource_or_init::<PairFilters>();
        filters.filters.push(Box::new(filter));
        self
    }
}

/// All filters that the app has added.
#[derive(Resource, Default)]
pub struct PairFilters {
    filters: Vec<Box<dyn PairFilter>>,
    /// The rejected pairs of a replayed tick, which take the place of the filters.
    pub replayed: Option<Vec<(Entity, Entity)>>,
    /// The pairs of this tick that the filters decide on.
    pub asked: Buffer<CandidatePair>,
}

impl PairFilters {
    /// Calls `mark` with all entities that have the marker of a filter.
    pub fn mark(&mut self, world: &mut World, mark: &mut dyn FnMut(Entity)) {
        for filter in &mut self.filters {
            filter.mark(world, mark);
        }
    }

    /// Adds the pairs that a filter rejects to an empty list, which is sorted afterwards. In
    /// `pairs`, each pair has the lower entity first.
    pub fn reject(
        &mut self,
        world: &mut World,
        pairs: &[CandidatePair],
        rejected: &mut Vec<(Entity, Entity)>,
    ) {
        for filter in &mut self.filters {
            filter.reject(world, pairs, rejected);
        }
        rejected.sort_unstable();
        rejected.dedup();
    }
}

trait PairFilter: Send + Sync {
    /// Calls `mark` with all marked entities.
    fn mark(&mut self, world: &mut World, mark: &mut dyn FnMut(Entity));

    /// Adds the rejected pairs to `rejected`.
    fn reject(
        &mut self,
        world: &mut World,
        pairs: &[CandidatePair],
        rejected: &mut Vec<(Entity, Entity)>,
    );
}

/// A filter with its marker and its system parameters.
struct MarkedFilter<M: Component, P: ReadOnlySystemParam + 'static, F> {
    filter: F,
    /// The first tick creates the state.
    state: Option<FilterState<M, P>>,
}

struct FilterState<M: Component, P: ReadOnlySystemParam + 'static> {
    marked: QueryState<Entity, With<M>>,
    params: SystemState<P>,
}

impl<M: Component, P: ReadOnlySystemParam + 'static, F> MarkedFilter<M, P, F> {
    fn state(&mut self, world: &mut World) -> (&F, &mut FilterState<M, P>) {
        let state = self.state.get_or_insert_with(|| FilterState {
            marked: world.query_filtered(),
            params: SystemState::new(world),
        });
        (&self.filter, state)
    }
}

impl<M, P, F> PairFilter for MarkedFilter<M, P, F>
where
    M: Component,
    P: ReadOnlySystemParam + 'static,
    F: Fn(CandidatePair, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
{
    fn mark(&mut self, world: &mut World, mark: &mut dyn FnMut(Entity)) {
        let (_, state) = self.state(world);
        state.marked.iter(world).for_each(mark);
    }

    fn reject(
        &mut self,
        world: &mut World,
        pairs: &[CandidatePair],
        rejected: &mut Vec<(Entity, Entity)>,
    ) {
        let (filter, FilterState { params, .. }) = self.state(world);
        let world: &World = world;
        let is_marked = |entity| world.get::<M>(entity).is_some();
        let Ok(params) = params.get(world) else {
            return;
        };
        for pair in pairs {
            let seen = match (is_marked(pair.entity), is_marked(pair.other)) {
                (true, _) => *pair,
                (false, true) => pair.flipped(),
                (false, false) => continue,
            };
            if !filter(seen, &params) {
                rejected.push((pair.entity, pair.other));
            }
        }
    }
}
