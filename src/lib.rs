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

mod buffer;
mod collider;
mod collision;
mod diagnostics;
mod math;
mod pipeline;
mod plugin;
pub mod query;
mod shape;
mod sorted;
mod space;
mod tolerance;

pub use collider::{Collider, CollisionLayers, PartPose};
#[cfg(feature = "mesh")]
pub use collider::{ColliderFromMesh, MeshShape, MeshSource};
pub use collision::{
    CollidingEntities, CollisionEnded, CollisionEvent, CollisionPhase, CollisionStarted,
    CollisionState, Collisions, EndReason,
};
pub use diagnostics::{CollisionDiagnostics, HeadbuttDiagnosticsPlugin};
pub use pipeline::{BroadPhase, CandidatePairs, HeadbuttSystems, OngoingEvents};
pub use plugin::HeadbuttPlugin;
#[doc(hidden)]
pub use shape::Core;
#[cfg(feature = "mesh")]
pub use shape::MeshError;
pub use shape::{ConvexHull, ConvexShape, Dimension, IntoShape, Rounded, ShapeError, Support};
pub use space::{ShapePose, Space};

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
