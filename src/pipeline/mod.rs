//! The tick, one file a stage:
//!
//! ```text
//! sync          poses in          colliders and transforms  ->  Proxies
//! broad_phase   candidate pairs   Proxies                   ->  Candidates
//! narrow_phase  contacts          Candidates, Proxies       ->  FoundContacts
//! report        events out        FoundContacts             ->  Collisions, messages, observers
//! ```
//!
//! With the feature `mesh`, `meshes.rs` has the colliders of meshes made at the beginning of the first stage.
//!
//! Each stage reads what the one before it left in a resource. What is there from the tick before saves the work of making
//! it again, and is what that work would make: only on [`Collisions`] (and on the pairs that the app supplies) do events
//! depend.

mod aabb;
mod broad_phase;
mod narrow_phase;
mod parallel;
mod progress;
mod proxies;
mod proxy;
mod report;
mod sync;
mod unfiltered;
mod world_pose;

pub use broad_phase::{BroadPhase, CandidatePairs};
pub use report::OngoingEvents;

use bevy::{
    ecs::schedule::{InternedScheduleLabel, IntoScheduleConfigs},
    prelude::*,
};

use crate::{
    collision::{CollisionEvent, Collisions},
    diagnostics::CollisionDiagnostics,
};

/// The stages of the tick, in this order, in the schedule that the plugin was given (`FixedPostUpdate` by default).
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeadbuttSystems {
    /// Reads colliders and the transforms of them and their ancestors. What moves colliders belongs before.
    Sync,
    /// Finds the pairs that may touch, or is where the app supplies them: see [`BroadPhase::Custom`].
    BroadPhase,
    /// Runs GJK and EPA on the candidate pairs.
    NarrowPhase,
    /// Writes [`CollisionEvent`]s and triggers observers. What responds to collisions belongs after.
    Report,
}

/// Adds the tick to a schedule.
pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_message::<CollisionEvent>()
        .init_resource::<progress::Progress>()
        .init_resource::<sync::Proxies>()
        .init_resource::<broad_phase::Candidates>()
        .init_resource::<CandidatePairs>()
        .init_resource::<narrow_phase::FoundContacts>()
        .init_resource::<report::Written>()
        .init_resource::<Collisions>()
        .init_resource::<CollisionDiagnostics>()
        .init_resource::<BroadPhase>()
        .init_resource::<OngoingEvents>()
        .configure_sets(
            schedule,
            (
                HeadbuttSystems::Sync,
                HeadbuttSystems::BroadPhase,
                HeadbuttSystems::NarrowPhase,
                HeadbuttSystems::Report,
            )
                .chain(),
        )
        .add_systems(
            schedule,
            (
                sync::sync.in_set(HeadbuttSystems::Sync),
                broad_phase::find_candidates
                    .in_set(HeadbuttSystems::BroadPhase)
                    .run_if(is_automatic),
                narrow_phase::narrow_phase.in_set(HeadbuttSystems::NarrowPhase),
                report::report.in_set(HeadbuttSystems::Report),
            ),
        );
    #[cfg(feature = "mesh")]
    sync::mesh_assets::build(app, schedule);
}

fn is_automatic(proxies: Res<sync::Proxies>) -> bool {
    proxies.source == BroadPhase::Automatic
}
