//! The one-way colliders.

use bevy::prelude::*;

use crate::{
    math::{Vec2, Vec3},
    meeting::OneWay,
    pipeline::{
        proxies::{Proxies, ProxySlot},
        sync::scan::warn,
        unfiltered::Unfiltered,
    },
};

/// The query for one-way colliders.
pub type OneWayQuery = Unfiltered<(Entity, Ref<'static, OneWay>)>;

/// Updates the one-way colliders of the tick, and marks each collider whose component changed.
/// Warns of invalid directions. Call this function when the proxies are up to date.
pub fn update_one_ways(world: &World, query: &mut OneWayQuery, proxies: &mut Proxies) {
    for entity in proxies.rules.one_ways.update(query.0.iter(world)) {
        proxies.mark_changed(entity);
        let one_way = proxies.rules.one_ways.get(entity);
        if one_way.is_some_and(|one_way| !is_valid(one_way, entity, proxies)) {
            let error = "the direction of its `OneWay` is 0 or not finite";
            warn(world, entity, "is solid from all sides", &error);
        }
    }
}

/// Returns `false` if the direction of a collider is 0 or not finite in the pose of its proxy.
fn is_valid(one_way: &OneWay, entity: Entity, proxies: &Proxies) -> bool {
    match proxies.slot(entity) {
        Some(ProxySlot::D2(_)) => one_way.unit_direction::<Vec2>().is_some(),
        Some(ProxySlot::D3(_)) => one_way.unit_direction::<Vec3>().is_some(),
        _ => true,
    }
}
