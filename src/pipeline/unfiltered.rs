//! Queries that see disabled entities.

use bevy::{
    ecs::{
        component::ComponentId,
        entity_disabling::DefaultQueryFilters,
        query::{QueryBuilder, QueryData, QueryFilter},
    },
    prelude::*,
};

/// A query of all entities, whatever component disables them.
///
/// Bevy filters a component out of the queries that do not mention it. So this query mentions every disabling component,
/// as one that may be there or not. (One that is registered later disables nothing in a query that is already there.)
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

/// The components that disable the entities that have them.
pub fn disabling_components(world: &World) -> impl Iterator<Item = ComponentId> {
    let filters = world.get_resource::<DefaultQueryFilters>();
    filters
        .into_iter()
        .flat_map(DefaultQueryFilters::disabling_ids)
}
