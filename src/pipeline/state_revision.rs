//! Detection of contacts that the app restored.

use bevy::{ecs::change_detection::Tick, prelude::*};

use crate::collision::Collisions;

/// The change tick of [`Collisions`] after the plugin's own last write. If the present change tick
/// differs, the app has written the state since. `None` until the first tick has begun.
#[derive(Resource, Default)]
pub struct StateRevision(pub Option<Tick>);

impl StateRevision {
    /// Returns `true` if the app has not written [`Collisions`] since the last
    /// [`record`](Self::record).
    pub fn is_current(world: &World) -> bool {
        world.resource::<Self>().0 == last_changed(world)
    }

    /// Records the present change tick.
    pub fn record(world: &mut World) {
        world.resource_mut::<Self>().0 = last_changed(world);
    }
}

fn last_changed(world: &World) -> Option<Tick> {
    let state = world.get_resource_ref::<Collisions>()?;
    Some(state.last_changed())
}
