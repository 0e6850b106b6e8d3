//! The tick has four stages. `BroadPhase` and `Report` have one system each. `Sync` also builds the
//! colliders of meshes and runs the casters. `NarrowPhase` has several systems, some of them for
//! swept colliders and for filters of the app. A stage passes its results to the next stage in a
//! resource.
//!
//! `plugin.rs` calls [`build`] once, which adds the systems to a schedule. `plugin.rs` also calls
//! `build` in `spatial/casters.rs`, which adds the casters to `Sync`.
//!
//! ```text
//! stage        system           reads                                    writes
//! Sync         sync             colliders, layers, Transform, ChildOf    Proxies, SweptPaths
//! BroadPhase   find_candidates  Proxies, SweptPaths                      Candidates
//! NarrowPhase  list_pairs       Proxies, SweptPaths, CandidatePairs      Candidates
//!              filter_pairs     Candidates, the parameters of filters    Proxies::rules
//!              narrow_phase     Proxies, Candidates, Collisions          FoundContacts
//!              find_swept_..    the same and SweptPaths                  FoundContacts
//!              filter_contacts  FoundContacts, parameters of filters     the same, Proxies::rules
//! Report       report           all of these                             Collisions, messages
//! ```
//!
//! `find_swept_contacts` runs only if there are swept colliders: see [`swept`]. `filter_pairs` and
//! `filter_contacts` run only if the app has added filters: see [`filters`].
//!
//! If there are spatial queries, the first stage also keeps [`SpatialIndex`] up to date.
//!
//! With the feature `mesh`, [`sync::mesh_assets`] builds the colliders of meshes before the first
//! stage. [`Progress`] shows whether a tick was aborted, and whether the app restored
//! [`Collisions`].
//!
//! `docs/ARCHITECTURE.md` lists the files, and explains how threads keep the order of the events.
//!
//! Stages share data and never call each other. Data cached from earlier ticks only saves work.
//! Events depend only on [`Collisions`], on the pairs and filters of the app, and on the current
//! components of the colliders, their ancestors and their owners: shapes, poses, layers, owners,
//! exceptions, `OneWay` and markers.

pub mod broad_phase;
pub mod filters;
pub mod narrow_phase;
pub mod one_way;
pub mod progress;
pub mod proxies;
pub mod proxy;
pub mod report;
pub mod spatial_index;
pub mod swept;
pub mod sync;
pub mod unfiltered;

use bevy::{
    ecs::{
        schedule::{InternedScheduleLabel, ScheduleConfigs},
        system::ScheduleSystem,
    },
    prelude::*,
};

use crate::{
    collider::Swept,
    collision::{CollisionEvent, Collisions},
    diagnostics::CollisionDiagnostics,
    meeting::AppFilters,
    pipeline::{
        broad_phase::candidates::Candidates,
        narrow_phase::found_contacts::FoundContacts,
        progress::Progress,
        proxies::Proxies,
        spatial_index::SpatialIndex,
        swept::SweptPaths,
        sync::{LastRun, SyncState},
    },
    settings::{BroadPhase, CandidatePairs, OngoingEvents},
};
pub use swept::Teleported;
pub use sync::sync_now;

/// The stages of a tick, in the order in which they run. The stages run in the schedule of the
/// plugin, by default `FixedPostUpdate`.
///
#[cfg_attr(
    doc,
    doc = "![The stages of a tick, and who reads its results][timeline]\n\n"
)]
#[cfg_attr(doc, doc = include_str!("../../docs/pictures.md"))]
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeadbuttSystems {
    /// Reads the colliders, and the transforms of colliders and their ancestors. Systems that move
    /// colliders belong before this set.
    Sync,
    /// Finds the pairs that may touch. An app that supplies the pairs adds them in this set: see
    /// [`BroadPhase::Custom`].
    BroadPhase,
    /// Computes the contacts of the candidate pairs, with closed forms or with GJK and EPA.
    NarrowPhase,
    /// Sends [`CollisionEvent`]s and triggers observers. Systems that respond to collisions belong
    /// after this set.
    Report,
}

/// Adds the stages to a schedule, with their resources. The configurations `sync` and `report`
/// contain the systems [`sync`](sync::sync) and [`report`](report::report).
pub(crate) fn build(
    app: &mut App,
    schedule: InternedScheduleLabel,
    [sync, report]: [ScheduleConfigs<ScheduleSystem>; 2],
) {
    app.add_message::<CollisionEvent>()
        .init_resource::<Progress>()
        .init_resource::<Proxies>()
        .init_resource::<SweptPaths>()
        .init_resource::<SyncState>()
        .init_resource::<LastRun>()
        .init_resource::<SpatialIndex>()
        .init_resource::<Candidates>()
        .init_resource::<FoundContacts>()
        .init_resource::<Collisions>()
        .init_resource::<CollisionDiagnostics>()
        .init_resource::<BroadPhase>()
        .init_resource::<CandidatePairs>()
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
                sync.in_set(HeadbuttSystems::Sync),
                broad_phase::find_candidates.in_set(HeadbuttSystems::BroadPhase),
                (
                    narrow_phase::list_pairs,
                    filters::filter_pairs.run_if(resource_exists::<AppFilters>),
                    narrow_phase::narrow_phase,
                )
                    .chain()
                    .in_set(HeadbuttSystems::NarrowPhase),
                swept::cast::find_swept_contacts
                    .in_set(HeadbuttSystems::NarrowPhase)
                    .after(narrow_phase::narrow_phase)
                    .run_if(any_with_component::<Swept>),
                filters::filter_contacts
                    .in_set(HeadbuttSystems::NarrowPhase)
                    .after(swept::cast::find_swept_contacts)
                    .run_if(resource_exists::<AppFilters>),
                report.in_set(HeadbuttSystems::Report),
            ),
        );
    #[cfg(feature = "mesh")]
    build_mesh_colliders(app, schedule);
}

#[cfg(feature = "mesh")]
fn build_mesh_colliders(app: &mut App, schedule: InternedScheduleLabel) {
    use bevy::asset::AssetEventSystems;
    use sync::mesh_assets::{MeshColliders, drop_changed, resolve};

    app.register_type::<crate::ColliderFromMesh>()
        .init_resource::<MeshColliders>()
        .add_systems(
            PostUpdate,
            drop_changed
                .after(AssetEventSystems)
                .run_if(resource_exists::<Messages<AssetEvent<Mesh>>>),
        )
        .add_systems(
            schedule,
            resolve
                .in_set(HeadbuttSystems::Sync)
                .after(drop_changed)
                .before(sync::sync),
        );
}
