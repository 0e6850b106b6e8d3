//! [`SpatialQuery`](headbutt::SpatialQuery), its index, sensors and `sync_now`.

mod allocations;
mod batches;
mod brute_force;
mod casters;
mod index;
mod poses;
pub mod random_world;
mod sensors;
mod sync_now;

use bevy::{ecs::system::SystemState, prelude::*};
use headbutt::prelude::*;

/// Runs queries in a world.
pub fn ask<T>(world: &mut World, question: impl FnOnce(SpatialQuery) -> T) -> T {
    let mut state = SystemState::<SpatialQuery>::new(world);
    question(state.get(world).expect("the plugin was added"))
}
