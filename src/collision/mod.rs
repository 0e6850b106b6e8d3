//! What touches: the event of one pair, and the contacts of this tick.

mod colliding_entities;
mod collisions;
mod event;
mod least_move;
mod push_out;
mod world_mover;

pub use colliding_entities::CollidingEntities;
pub(crate) use collisions::Changes;
pub use collisions::Collisions;
pub(crate) use event::Surface;
pub use event::{
    CollisionEnded, CollisionEvent, CollisionPhase, CollisionStarted, Contact2d, EndReason,
};
pub(crate) use least_move::{onto_three, onto_two};
pub use world_mover::{WorldMoveError, WorldMover};
