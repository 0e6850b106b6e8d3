//! Detection of aborted ticks.

use bevy::prelude::*;

/// How far the current tick got.
///
/// A panic in a user's `Support` aborts the tick. If the app catches the panic and goes on, Bevy's
/// executor first runs the remaining stages. So each stage does nothing unless the stage before it
/// completed. In the tick after an aborted one, every stage drops its caches.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Progress {
    pub completed: Completed,
    /// `true` if the previous tick was aborted.
    pub is_restart: bool,
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
    /// The whole tick, apart from observers.
    #[default]
    Report,
}
