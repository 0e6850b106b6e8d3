//! Swept colliders: their paths, the casts along them, and the events of these casts.

pub mod cast;
pub mod events;
pub mod paths;
mod teleported;

pub use teleported::Teleported;
