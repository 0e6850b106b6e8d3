//! Detection of aborted ticks, and of contacts that the app restored. `sync` calls
//! [`Progress::begin_tick`] first in each tick. The other stages read [`Progress::completed`].

use bevy::{ecs::change_detection::Tick, prelude::*};

use crate::collision::Collisions;

/// The progress of the current tick.
///
/// A panic in a user's `Support` aborts the tick. If the app catches the panic and continues,
/// Bevy's executor first runs the remaining stages. So the broad and the narrow phase return early
/// unless `Sync` completed, and the report returns early unless the narrow phase completed.
/// [`Completed`] has no value for the broad phase, which calls no user code. In the next tick,
/// every stage drops its caches.
#[derive(Resource, Debug, Default)]
pub struct Progress {
    pub completed: Completed,
    /// `true` if the previous tick was aborted.
    pub is_restart: bool,
    /// The number of ticks that have begun.
    pub begun: u64,
    /// The change tick of [`Collisions`] after the plugin's own last write.
    own_write: Option<Tick>,
}

/// The last stage that completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completed {
    /// The tick has begun, and no stage has completed.
    Nothing,
    /// All proxies are up to date.
    Sync,
    /// All candidate pairs are tested.
    NarrowPhase,
    /// The tick is complete, apart from observers.
    #[default]
    Report,
}

impl Progress {
    /// Begins a tick. Returns `true` if the previous tick was aborted.
    pub fn begin_tick(&mut self) -> bool {
        self.is_restart = self.completed != Completed::Report;
        self.completed = Completed::Nothing;
        self.begun = self.begun.wrapping_add(1);
        self.is_restart
    }

    /// Returns `true` if the app has not written [`Collisions`] since the plugin's last write.
    pub fn has_own_contacts(world: &World) -> bool {
        world.resource::<Self>().own_write == last_write(world)
    }

    /// Records that the plugin itself has written [`Collisions`], or has read the contacts that the
    /// app wrote.
    pub fn record_own_contacts(world: &mut World) {
        world.resource_mut::<Self>().own_write = last_write(world);
    }
}

fn last_write(world: &World) -> Option<Tick> {
    let contacts = world.get_resource_ref::<Collisions>()?;
    Some(contacts.last_changed())
}
