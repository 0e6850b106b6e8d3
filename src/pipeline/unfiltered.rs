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
/// Bevy filters entities with a disabling component out of each query that does not mention it. So
/// this query mentions all of them, as components that may be there or not. Components registered
/// later do not filter existing queries.
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
