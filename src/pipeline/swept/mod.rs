//! Swept colliders, which touch everything on their paths from the previous tick to this tick.
//!
//! | when | what | file |
//! |---|---|---|
//! | at the end of `Sync` | `SweptPaths::find` | [`paths`], [`path_table`], [`path`], [`region`] |
//! | in the broad phase | uses boxes around paths and their pieces | [`path_table`] |
//! | after the narrow phase | `find_swept_contacts` casts pairs that may have touched | [`cast`] |
//! | in the report | `SweptEvents::send` sends the events in the order of time | [`events`] |
//! | at the end of the report | `store_poses` stores the poses for the next tick | [`paths`] |
//!
//! Inserting [`Teleported`] begins a new path in the current pose.

pub mod cast;
pub mod events;
mod path;
pub mod path_table;
mod paths;
mod region;
mod teleported;

pub use path::{PathMotion, SweptPath, rotation_between};
pub use path_table::PathTable;
pub use paths::{SweptPaths, store_poses};
pub use teleported::{Teleported, remove_teleported};
