//! Entity events for observers.

use bevy::{ecs::event::EntityEvent, prelude::*};

use crate::collision::{CollisionEnded, CollisionEvent, CollisionStarted};

/// Triggers an event on each entity of each pair. Skips entities that no longer exist, and events
/// without observers.
pub fn trigger_observers(world: &mut World, transitions: &[CollisionEvent]) {
    if !has_observers(world) {
        return;
    }
    for event in transitions {
        for event in [*event, event.flipped()] {
            // An earlier observer may have despawned the entity or added an observer.
            if world.get_entity(event.entity).is_err() {
                continue;
            }
            if let Some(reason) = event.end_reason()
                && is_observed::<CollisionEnded>(world)
            {
                world.trigger(CollisionEnded::new(event, reason));
            } else if event.started() && is_observed::<CollisionStarted>(world) {
                world.trigger(CollisionStarted::new(event));
            } else {
                continue;
            }
            // `flush` applies the observers' commands before the next observer runs.
            world.flush();
        }
    }
}

/// Returns `true` if [`CollisionStarted`] or [`CollisionEnded`] has observers.
pub fn has_observers(world: &World) -> bool {
    is_observed::<CollisionStarted>(world) || is_observed::<CollisionEnded>(world)
}

fn is_observed<E: EntityEvent>(world: &World) -> bool {
    let observers = world
        .event_key::<E>()
        .and_then(|key| world.observers().try_get_observers(key));
    observers.is_some_and(|observers| {
        !observers.global_observers().is_empty() || !observers.entity_observers().is_empty()
    })
}
