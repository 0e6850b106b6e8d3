//! What touches: the event of one pair, and the contacts of this tick.

mod collisions;
mod event;
mod push_out;
mod state;

pub use collisions::{CollidingEntities, Collisions};
pub(crate) use event::Surface;
pub use event::{CollisionEnded, CollisionEvent, CollisionPhase, CollisionStarted, EndReason};
pub(crate) use state::Changes;
pub use state::CollisionState;
