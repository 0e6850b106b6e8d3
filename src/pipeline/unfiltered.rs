//! Queries that include disabled entities, and the components that disable them.

use bevy::{
    ecs::{
        component::ComponentId,
        entity_disabling::DefaultQueryFilters,
        query::{QueryBuilder, QueryData, QueryFilter},
    },
    prelude::*,
};

/// A query of all entities, including disabled entities.
///
/// Bevy excludes entities with a disabling component from each query that does not mention that
/// component. So this query mentions every disabling component as optional. A disabling component
/// that is registered later does not affect existing queries.
pub struct Unfiltered<D: QueryData + 'static, F: QueryFilter + 'static = ()>(pub QueryState<D, F>);

impl<D: QueryData + 'static, F: QueryFilter + 'static> FromWorld for Unfiltered<D, F> {
    fn from_world(world: &mut World) -> Self {
        let disabling: Vec<ComponentId> = disabling_components(world).collect();
        let mut query = QueryBuilder::new(world);
        for id in disabling {
            query.or(|either| {
                either.with_id(id).without_id(id);
            });
        }
        Self(query.build())
    }
}

/// Returns the components that disable an entity.
pub fn disabling_components(world: &World) -> impl Iterator<Item = ComponentId> {
    let filters = world.get_resource::<DefaultQueryFilters>();
    filters
        .into_iter()
        .flat_map(DefaultQueryFilters::disabling_ids)
}
