//! The exceptions between single colliders.

use bevy::prelude::*;

use crate::{
    meeting::{Colliders, IgnoreCollisions},
    pipeline::{proxies::Proxies, unfiltered::Unfiltered},
};

/// The query for exceptions. Disabled entities are included, because a disabled entity may own
/// enabled colliders.
pub type ExceptionQuery = Unfiltered<(Entity, Ref<'static, IgnoreCollisions>)>;

/// Updates the exceptions of the tick, and marks the colliders of each entity whose set changed. If
/// one collider of a pair is marked, the pair is tested again, so the other collider needs no mark.
/// From each changed set, removes the entities that no longer exist.
pub fn update_exceptions(world: &mut World, query: &mut ExceptionQuery, proxies: &mut Proxies) {
    let changed = proxies.rules.exceptions.update(query.0.iter(world));
    for entity in changed {
        proxies.mark_changed(entity);
        if let Some(colliders) = world.get::<Colliders>(entity) {
            colliders.iter().for_each(|it| proxies.mark_changed(it));
        }
        if let Some(mut ignored) = world.get_mut::<IgnoreCollisions>(entity) {
            let mut set = core::mem::take(&mut ignored.bypass_change_detection().0);
            let exists = |other: &Entity| world.get_entity(*other).is_ok();
            set.retain(exists);
            proxies.rules.exceptions.retain(entity, exists);
            if let Some(mut ignored) = world.get_mut::<IgnoreCollisions>(entity) {
                ignored.bypass_change_detection().0 = set;
            }
        }
    }
}
