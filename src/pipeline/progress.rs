//! The number of the tick, and detection of aborted ticks.

use bevy::prelude::*;

/// The progress of the current tick.
///
/// A panic in a user's `Support` aborts the tick. If the app catches the panic and continues,
/// Bevy's executor first runs the remaining stages. So the broad and the narrow phase return early
/// unless `Sync` completed, and the report unless the narrow phase completed. (The broad phase
/// calls no user code.) In the next tick, every stage drops its caches.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Progress {
    pub completed: Completed,
    /// `true` if the previous tick was aborted.
    pub is_restart: bool,
    /// The number of ticks that have begun.
    pub begun: u64,
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
