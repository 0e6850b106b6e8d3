//! Entity events for observers. The report calls [`trigger_observers`] at its end.

use bevy::{ecs::event::EntityEvent, prelude::*};

use crate::collision::{CollisionEnded, CollisionEvent, CollisionStarted};

/// For each contact that started or ended, triggers an event on each of the two entities, and on
/// the owner of each entity. Skips entities that no longer exist, and events without observers.
pub fn trigger_observers(world: &mut World, transitions: &[CollisionEvent]) {
    if !has_observers(world) {
        return;
    }
    for event in transitions {
        let sides = [*event, event.flipped()];
        let targets = sides.into_iter().flat_map(|event| {
            let owner = event.owner();
            let owner = (owner != event.entity).then_some(owner);
            [Some(event.entity), owner].map(|target| Some((event, target?)))
        });
        for (event, target) in targets.flatten() {
            // An earlier observer may have despawned the entity or added an observer.
            if world.get_entity(target).is_err() {
                continue;
            }
            if let Some(reason) = event.end_reason()
                && is_observed::<CollisionEnded>(world)
            {
                world.trigger(CollisionEnded::new(event, reason).at(target));
            } else if event.started() && is_observed::<CollisionStarted>(world) {
                world.trigger(CollisionStarted::new(event).at(target));
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
