//! Collision events, the contacts of the last tick, and translations that resolve them.
//!
//! | file | contents |
//! |---|---|
//! | `event.rs` | [`CollisionEvent`], its phases, and the events for observers |
//! | `collisions.rs` | [`Collisions`], the contacts of the last tick |
//! | `colliding_entities.rs` | [`CollidingEntities`], the entities that one entity touches |
//! | `previous_poses.rs` | the poses of the last tick, for swept colliders |
//! | `push_out.rs` | [`PushOut`], the translation out of everything that an entity touches |
//! | `world_mover.rs` | [`WorldMover`], which moves an entity under any parent |

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
