//! Recordings of a session, and their replay. `plugin.rs` calls [`stages`] once, to add the
//! recorder to the tick.
//!
//! | file | contents |
//! |---|---|
//! | `recorder.rs` | [`HeadbuttRecorder`], which writes the input and hashes of each tick |
//! | `nodes.rs` | the recorder's list of entities, and the changes of this list |
//! | `format.rs` | the blocks of a file |
//! | `cell_changes.rs` | the changed cells of a grid |
//! | `recording.rs` | [`Recording`], the contents of a file |
//! | `replay.rs` | [`Replay`], which plays a recording |
//! | `hash.rs` | hashes of contacts |
//! | `error.rs` | errors from reading and replaying |
//!
//! **A recording has the input of each tick:**
//!
//! * the colliders, their ancestors and their owners, with poses, layers and markers,
//! * the pairs that the app supplies,
//! * the exceptions, and the pairs that the app's filters reject,
//! * the starts of paths that differ from the poses of the previous tick, as after a teleport.
//!
//! The recorder reads this input directly before the first stage, in the same system. It reads the
//! contacts directly after the last stage, in the same system: see [`stages`]. Changes that other
//! systems make between the first and the last stage belong to the next tick. A recording numbers
//! entities in the order of their first appearance.
//!
//! **Contacts are hashed, not written.** A replay computes the contacts anyway. The hashes show
//! whether the contacts of the replay equal the contacts of the session.

mod cell_changes;
mod error;
mod format;
mod hash;
mod nodes;
mod recorder;
mod recording;
mod replay;

use bevy::{
    ecs::{schedule::ScheduleConfigs, system::ScheduleSystem},
    prelude::*,
};

use crate::pipeline::{report, sync};
pub use error::{RecordingError, RecordingFault, ReplayError};
pub use recorder::HeadbuttRecorder;
pub use recording::Recording;
pub use replay::{Replay, ReplayTick, ReplayedTick};

/// Returns the first and the last stage of a tick. The first system also reads the input of the
/// tick, and the last system also writes the block of the tick. So no system of the app can run
/// between a stage and the recorder.
pub(crate) fn stages() -> [ScheduleConfigs<ScheduleSystem>; 2] {
    [
        recorder::begin_tick.pipe(sync::sync).into_configs(),
        report::report.pipe(recorder::end_tick).into_configs(),
    ]
}
