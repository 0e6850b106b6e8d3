//! Swept colliders: first touches on the paths between two ticks.
//!
//! | module | what it tests |
//! |---|---|
//! | [`shots`] | random shots and spinning rods: no missed or false hit, times by closed forms |
//! | [`floors`] | bodies that have sunk into a floor, and its walls, by closed forms |
//! | [`events`] | the events of a path, in order |
//! | [`pairs`] | the pairs that meet on their paths: none is missing, on any number of threads |
//! | [`paths`] | which ticks have a path: spawns, teleports, rollback, aborted ticks |

mod events;
mod floors;
mod pairs;
mod paths;
mod shots;

use crate::support::tick;
use bevy::prelude::*;
use headbutt::prelude::*;

/// Moves an entity.
fn place(app: &mut App, entity: Entity, pose: Transform) {
    *app.world_mut()
        .get_mut(entity)
        .expect("an entity with a pose") = pose;
}

/// Moves an entity, and returns the messages of the next tick.
fn move_to(app: &mut App, entity: Entity, x: f32) -> Vec<CollisionEvent> {
    place(app, entity, Transform::from_xyz(x, 0.0, 0.0));
    tick(app).messages
}

/// Returns the phase, the time and the two entities of events, for comparisons.
fn summary(messages: &[CollisionEvent]) -> Vec<(CollisionPhase, f32, Entity, Entity)> {
    let row = |hit: &CollisionEvent| (hit.phase, hit.time(), hit.entity, hit.other);
    messages.iter().map(row).collect()
}
