//! [benchmarks]: crate::guide::benchmarks
//! [characters]: crate::guide::characters
//! [demos]: crate::guide::demos
//! [fast-bodies]: crate::guide::fast_bodies
//! [guide]: crate::guide
//! [levels]: crate::guide::levels
//! [migrating]: crate::guide::migrating
//! [queries]: crate::guide::queries
//! [recipes]: crate::guide::recipes
//! [response]: crate::guide::response
//! [shapes]: crate::guide::shapes
//! [testing]: crate::guide::testing
//! [versions]: crate::guide::recipes#versions
#![cfg_attr(
    feature = "debug-plugin",
    doc = "[debugging]: crate::guide::debugging\n"
)]
#![cfg_attr(feature = "record", doc = "[recording]: crate::guide::recording\n")]
#![doc = include_str!("../README.md")]
#![cfg_attr(doc, doc = include_str!("../docs/README.md"))]
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
mod collider_query;
mod collision;
#[cfg(feature = "debug-plugin")]
mod debug;
mod diagnostics;
#[cfg(feature = "explain")]
mod explain;
mod math;
mod meeting;
#[cfg(feature = "overlay")]
mod overlay;
mod parallel;
#[cfg(feature = "picking")]
mod picking;
mod pipeline;
mod placed;
mod plugin;
pub mod query;
#[cfg(feature = "record")]
mod record;
mod run_ticks;
mod settings;
mod shape;
mod sorted;
mod space;
mod spatial;
mod surface;
mod tolerance;

pub use collider::{
    Collider, ColliderError, CompoundView, ConvexView, JoinedCollider, Sensor, ShapeView,
    SurfaceView, Swept,
};
#[cfg(feature = "mesh")]
pub use collider::{ColliderFromMesh, MeshShape, MeshSource};
pub use collider_query::{ClosestPoint, ColliderAabb};
pub use collision::{
    CollidingEntities, CollisionEnded, CollisionEvent, CollisionPhase, CollisionStarted,
    Collisions, Contact2d, EndReason, PushOut, WorldMoveError, WorldMover,
};
#[cfg(feature = "debug-plugin")]
pub use debug::{
    ColliderColors, ColliderGizmo, ExplainedPair, GizmoPoses, HeadbuttDebugPlugin, HeadbuttGizmos,
};
pub use diagnostics::{CollisionDiagnostics, HeadbuttDiagnosticsPlugin};
#[cfg(feature = "explain")]
pub use explain::{Explanation, IgnoredReason, PairStatus, explain};
pub use meeting::{
    AddCollisionFilter, CandidatePair, ColliderOf, Colliders, CollisionLayers, IgnoreCollisions,
    LayerMask, LayerNames, OneWay, PassThrough,
};
#[cfg(feature = "overlay")]
pub use overlay::{HeadbuttOverlay, HeadbuttOverlayPlugin};
#[cfg(feature = "picking")]
pub use picking::{HeadbuttPickingCamera, HeadbuttPickingPlugin, HeadbuttPickingSettings};
pub use pipeline::{HeadbuttSystems, Teleported, sync_now};
pub use plugin::HeadbuttPlugin;
#[cfg(feature = "record")]
pub use record::{
    HeadbuttRecorder, Recording, RecordingError, RecordingFault, Replay, ReplayError, ReplayTick,
    ReplayedTick,
};
pub use run_ticks::run_ticks;
pub use settings::{BroadPhase, CandidatePairs, OngoingEvents};
#[cfg(feature = "mesh")]
pub use shape::MeshError;
pub use shape::{
    Cap, Cell, CellDirection, CellGrid, ConvexHull, IntoShape, Rounded, Shape, ShapeError, Support,
};
#[doc(hidden)]
pub use shape::{Core, Dimension};
pub use space::{PoseKind, QueryPose, Space};
#[doc(hidden)]
pub use spatial::QuerySpace;
pub use spatial::{
    ContactPlane, EntityHit, Ground, MoveAndSlideOutput, MoveAndSlideSettings, RayCaster,
    ShapeCaster, SlideHit, SpatialQuery, SpatialQueryFilter, clip_velocity, solve_planes,
};

/// The user guide: the pages of `docs/` that are for users.
// If a Markdown page defines a link twice, the first definition counts. Rustdoc reads the
// definitions in this file before the page, so the links of the page lead to the pages of this
// module. In the repository, the same links lead to files. Likewise, `pictures.md` defines the
// pictures by their content instead of their files: see `tests/it/rustdoc.rs`.
#[cfg(doc)]
pub mod guide {
    #[doc = include_str!("../docs/pictures.md")]
    #[doc = include_str!("../docs/BENCHMARKS.md")]
    pub mod benchmarks {}

    /// [levels]: crate::guide::levels
    #[cfg_attr(feature = "record", doc = "[recording]: crate::guide::recording\n")]
    #[doc = include_str!("../docs/CELLS.md")]
    pub mod cells {}

    /// [levels]: crate::guide::levels
    #[doc = include_str!("../docs/pictures.md")]
    #[doc = include_str!("../docs/CHARACTERS.md")]
    pub mod characters {}

    #[cfg(feature = "debug-plugin")]
    #[doc = include_str!("../docs/DEBUGGING.md")]
    pub mod debugging {}

    #[cfg_attr(feature = "record", doc = "[recording]: crate::guide::recording\n")]
    #[doc = include_str!("../docs/pictures.md")]
    #[doc = include_str!("../docs/DEMOS.md")]
    pub mod demos {}

    /// [characters]: crate::guide::characters
    /// [queries]: crate::guide::queries
    #[doc = include_str!("../docs/pictures.md")]
    #[doc = include_str!("../docs/FAST_BODIES.md")]
    pub mod fast_bodies {}

    /// [cells]: crate::guide::cells
    /// [fast-bodies]: crate::guide::fast_bodies
    /// [lifts]: crate::guide::response#pushing-out
    #[doc = include_str!("../docs/pictures.md")]
    #[doc = include_str!("../docs/LEVELS.md")]
    pub mod levels {}

    /// [characters]: crate::guide::characters
    /// [fast-bodies]: crate::guide::fast_bodies
    /// [levels]: crate::guide::levels
    /// [queries]: crate::guide::queries
    /// [response]: crate::guide::response
    #[doc = include_str!("../docs/MIGRATING.md")]
    pub mod migrating {}

    /// [characters]: crate::guide::characters
    /// [picking]: crate::guide::recipes#recipes
    #[doc = include_str!("../docs/pictures.md")]
    #[doc = include_str!("../docs/QUERIES.md")]
    pub mod queries {}

    /// [characters]: crate::guide::characters
    /// [fast-bodies]: crate::guide::fast_bodies
    /// [floors]: crate::guide::response#floors
    /// [hitboxes]: crate::guide::response#hitboxes
    /// [levels]: crate::guide::levels
    /// [maps]: crate::guide::cells#maps-of-other-crates
    /// [queries]: crate::guide::queries
    /// [response]: crate::guide::response#pushing-out
    /// [testing]: crate::guide::testing
    /// [when]: crate::guide::response#when-systems-run
    #[cfg_attr(
        feature = "debug-plugin",
        doc = "[debugging]: crate::guide::debugging\n"
    )]
    #[cfg_attr(feature = "record", doc = "[recording]: crate::guide::recording\n")]
    #[doc = include_str!("../docs/RECIPES.md")]
    pub mod recipes {}

    /// [demos]: crate::guide::demos
    #[cfg(feature = "record")]
    #[doc = include_str!("../docs/RECORDING.md")]
    pub mod recording {}

    /// [characters]: crate::guide::characters
    /// [fast-bodies]: crate::guide::fast_bodies
    /// [first-game]: crate#first-game
    #[doc = include_str!("../docs/pictures.md")]
    #[doc = include_str!("../docs/RESPONSE.md")]
    pub mod response {}

    /// [levels]: crate::guide::levels
    #[doc = include_str!("../docs/pictures.md")]
    #[doc = include_str!("../docs/SHAPES.md")]
    pub mod shapes {}

    #[cfg_attr(feature = "record", doc = "[recording]: crate::guide::recording\n")]
    #[doc = include_str!("../docs/TESTING.md")]
    pub mod testing {}
}

/// The names that a game needs: `use headbutt::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "mesh")]
    pub use crate::ColliderFromMesh;
    pub use crate::{
        AddCollisionFilter, BroadPhase, CandidatePair, CandidatePairs, Cell, CellDirection,
        CellGrid, Collider, ColliderOf, Colliders, CollidingEntities, CollisionEnded,
        CollisionEvent, CollisionLayers, CollisionPhase, CollisionStarted, Collisions, ConvexHull,
        EndReason, Ground, HeadbuttPlugin, HeadbuttSystems, IgnoreCollisions, JoinedCollider,
        LayerMask, MoveAndSlideSettings, OneWay, OngoingEvents, PassThrough, PushOut, RayCaster,
        Rounded, Sensor, ShapeCaster, ShapeError, SpatialQuery, SpatialQueryFilter, Support, Swept,
        Teleported, WorldMover,
        query::{self, Motion},
    };
    #[cfg(feature = "debug-plugin")]
    pub use crate::{ColliderGizmo, ExplainedPair, HeadbuttDebugPlugin, HeadbuttGizmos};
    #[cfg(feature = "overlay")]
    pub use crate::{HeadbuttOverlay, HeadbuttOverlayPlugin};
    #[cfg(feature = "picking")]
    pub use crate::{HeadbuttPickingCamera, HeadbuttPickingPlugin, HeadbuttPickingSettings};
}
