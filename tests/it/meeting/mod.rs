//! The rules that decide who meets whom.

mod filters;
mod layers;
mod owners;
mod random;

use bevy::prelude::*;
use headbutt::prelude::*;

use crate::support::tick;

/// Moves a bullet to x = 20, and returns the events of the contacts that begin on its path.
fn shoot(app: &mut App, bullet: Entity) -> Vec<CollisionEvent> {
    let pose = app.world_mut().get_mut::<Transform>(bullet);
    pose.expect("a pose").translation.x = 20.0;
    let messages = tick(app).messages.into_iter();
    messages.filter(|hit| hit.started()).collect()
}
