//! Collision events, the contacts of the last tick, and translations that resolve them.

mod colliding_entities;
mod collisions;
mod event;
mod previous_poses;
mod push_out;
mod world_mover;

pub use colliding_entities::CollidingEntities;
pub(crate) use collisions::Changes;
pub use collisions::Collisions;
pub(crate) use event::SurfacePoint;
pub use event::{
    CollisionEnded, CollisionEvent, CollisionPhase, CollisionStarted, Contact2d, EndReason,
};
pub(crate) use previous_poses::PreviousPoses;
pub use push_out::PushOut;
pub(crate) use world_mover::MAX_ANCESTORS;
pub use world_mover::{WorldMoveError, WorldMover};
