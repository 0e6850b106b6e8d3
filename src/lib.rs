#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![deny(clippy::print_stdout, clippy::print_stderr, clippy::todo)]

mod collider;
mod collisions;
mod concave;
#[cfg(feature = "serialize")]
mod data;
mod diagnostics;
mod event;
#[cfg(feature = "mesh")]
mod from_mesh;
mod layers;
mod math;
mod order;
mod pipeline;
mod plugin;
mod push_out;
pub mod query;
mod room;
mod shape;
mod space;
mod state;

pub use collider::Collider;
pub use collisions::{CollidingEntities, Collisions};
pub use concave::PartPose;
pub use diagnostics::{CollisionDiagnostics, HeadbuttDiagnosticsPlugin};
pub use event::{CollisionEnded, CollisionEvent, CollisionPhase, CollisionStarted, EndReason};
#[cfg(feature = "mesh")]
pub use from_mesh::{ColliderFromMesh, MeshShape, MeshSource};
pub use layers::CollisionLayers;
pub use pipeline::{BroadPhase, CandidatePairs, HeadbuttSystems, OngoingEvents};
pub use plugin::HeadbuttPlugin;
#[cfg(feature = "mesh")]
pub use shape::MeshError;
#[doc(hidden)]
pub use shape::Outline;
pub use shape::{ConvexHull, ConvexShape, Dimension, IntoShape, Rounded, ShapeError, Support};
pub use space::Space;
pub use state::CollisionState;

/// What a game needs: `use headbutt::prelude::*;`.
pub mod prelude {
    pub use crate::{
        BroadPhase, CandidatePairs, Collider, CollidingEntities, CollisionEnded, CollisionEvent,
        CollisionLayers, CollisionPhase, CollisionStarted, Collisions, ConvexHull, EndReason,
        HeadbuttPlugin, HeadbuttSystems, OngoingEvents, Rounded, ShapeError, Support, query,
    };
    #[cfg(feature = "mesh")]
    pub use crate::{ColliderFromMesh, MeshShape};
}
