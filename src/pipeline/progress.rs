//! How far the last tick came.

use bevy::prelude::*;

/// The last stage that a tick has completed.
///
/// A panic in a user's `Support` aborts the tick. If the app catches it and goes on, Bevy's
/// executor runs the remaining stages first. So each stage does nothing unless the one before it is
/// complete, and the next tick reads everything anew.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// None: the tick has begun.
    Begun,
    /// All proxies are up to date.
    Sync,
    /// All candidate pairs are tested.
    NarrowPhase,
    /// All of the tick, apart from observers.
    #[default]
    Report,
}
