//! How far the last tick came.

use bevy::prelude::*;

/// The last stage that a tick has completed.
///
/// A panic in a support function of the app's cuts a tick off. If the app catches it and goes on, the stages that are left may
/// still run, as Bevy's executors do, upon what is half done. So each stage does nothing unless the one before it is
/// complete, and the next tick reads everything anew.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// None, in the midst of the tick.
    Begun,
    /// All proxies are up to date.
    Sync,
    /// All candidate pairs are tested.
    NarrowPhase,
    /// All of the tick, apart from observers.
    #[default]
    Report,
}
