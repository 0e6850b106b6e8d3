//! Measurements of each tick.

use core::time::Duration;

use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic},
    prelude::*,
};

/// The work of the latest tick, and the duration of each stage.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::CollisionDiagnostics;
///
/// fn show(diagnostics: Res<CollisionDiagnostics>) {
///     println!("{} of {} pairs touch", diagnostics.contacts, diagnostics.candidates);
/// }
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollisionDiagnostics {
    /// Number of colliders, except inert and invalid ones.
    pub colliders: usize,
    /// Number of colliders that were added, moved, otherwise changed or removed since the previous
    /// tick.
    pub changed: usize,
    /// Number of ancestors that were checked for changes. An ancestor with a parent counts once,
    /// however many colliders are below it. A root may count several times.
    pub ancestors: usize,
    /// Number of bounding boxes in the index of [`SpatialQuery`](crate::SpatialQuery): 0 if there
    /// was no query in the last 64 ticks.
    pub indexed: usize,
    /// Number of candidate pairs. The bounding boxes of such a pair overlap, and at least one of
    /// its colliders changed. The pair is tested if the layers interact.
    ///
    /// If the app supplies the pairs, this is the number of distinct pairs. A pair is tested if the
    /// layers interact, the boxes overlap, and a collider changed or the pair is new.
    pub candidates: usize,
    /// Number of support points computed in the tests of all pairs, for both shapes.
    ///
    /// Pairs with a closed form, such as balls and boxes, need none. A half-space needs a few
    /// support points of the other shape. A box against a capsule or a rounded box needs some if
    /// the shapes overlap but their cores do not.
    pub supports: usize,
    /// Number of pairs with a [`Swept`](crate::Swept) collider whose paths were tested.
    pub casts: usize,
    /// Number of pairs that touch.
    pub contacts: usize,
    /// Duration of [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync).
    pub sync: Duration,
    /// Duration of [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase). Close to
    /// zero if the app supplies the pairs.
    pub broad_phase: Duration,
    /// Duration of [`HeadbuttSystems::NarrowPhase`](crate::HeadbuttSystems::NarrowPhase), including
    /// the sorting of the candidate pairs.
    pub narrow_phase: Duration,
    /// Duration of [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report), including
    /// observers.
    pub report: Duration,
}

/// Adds [`CollisionDiagnostics`] to Bevy's `DiagnosticsStore` once a frame. Frames with several
/// ticks report only the last. Frames without a tick repeat the previous values.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{HeadbuttDiagnosticsPlugin, prelude::*};
///
/// App::new().add_plugins((MinimalPlugins, HeadbuttPlugin::default(), HeadbuttDiagnosticsPlugin));
/// ```
///
/// A profiler does not need this plugin: each stage is a system, and Bevy's feature `trace` creates
/// a span for each system. With Bevy's feature `debug`, the spans have the systems' names, which
/// contain `::sync`, `find_candidates`, `narrow_phase`, `find_swept_contacts` and `::report`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadbuttDiagnosticsPlugin;

impl HeadbuttDiagnosticsPlugin {
    /// See [`CollisionDiagnostics::colliders`].
    pub const COLLIDERS: DiagnosticPath = DiagnosticPath::const_new("headbutt/colliders");
    /// See [`CollisionDiagnostics::changed`].
    pub const CHANGED: DiagnosticPath = DiagnosticPath::const_new("headbutt/changed");
    /// See [`CollisionDiagnostics::ancestors`].
    pub const ANCESTORS: DiagnosticPath = DiagnosticPath::const_new("headbutt/ancestors");
    /// See [`CollisionDiagnostics::candidates`].
    pub const CANDIDATES: DiagnosticPath = DiagnosticPath::const_new("headbutt/candidates");
    /// See [`CollisionDiagnostics::supports`].
    pub const SUPPORTS: DiagnosticPath = DiagnosticPath::const_new("headbutt/supports");
    /// See [`CollisionDiagnostics::casts`].
    pub const CASTS: DiagnosticPath = DiagnosticPath::const_new("headbutt/casts");
    /// See [`CollisionDiagnostics::contacts`].
    pub const CONTACTS: DiagnosticPath = DiagnosticPath::const_new("headbutt/contacts");
    /// See [`CollisionDiagnostics::sync`]. In milliseconds.
    pub const SYNC: DiagnosticPath = DiagnosticPath::const_new("headbutt/sync");
    /// See [`CollisionDiagnostics::broad_phase`]. In milliseconds.
    pub const BROAD_PHASE: DiagnosticPath = DiagnosticPath::const_new("headbutt/broad_phase");
    /// See [`CollisionDiagnostics::narrow_phase`]. In milliseconds.
    pub const NARROW_PHASE: DiagnosticPath = DiagnosticPath::const_new("headbutt/narrow_phase");
    /// See [`CollisionDiagnostics::report`]. In milliseconds.
    pub const REPORT: DiagnosticPath = DiagnosticPath::const_new("headbutt/report");
}

impl Plugin for HeadbuttDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        let counts = [
            Self::COLLIDERS,
            Self::CHANGED,
            Self::ANCESTORS,
            Self::CANDIDATES,
            Self::SUPPORTS,
            Self::CASTS,
            Self::CONTACTS,
        ];
        let times = [
            Self::SYNC,
            Self::BROAD_PHASE,
            Self::NARROW_PHASE,
            Self::REPORT,
        ];
        for path in counts {
            app.register_diagnostic(Diagnostic::new(path));
        }
        for path in times {
            app.register_diagnostic(Diagnostic::new(path).with_suffix("ms"));
        }
        app.init_resource::<CollisionDiagnostics>()
            .add_systems(Last, measure);
    }
}

fn measure(latest: Res<CollisionDiagnostics>, mut diagnostics: Diagnostics) {
    type Paths = HeadbuttDiagnosticsPlugin;
    let mut add = |path: DiagnosticPath, value: f64| {
        diagnostics.add_measurement(&path, || value);
    };
    add(Paths::COLLIDERS, latest.colliders as f64);
    add(Paths::CHANGED, latest.changed as f64);
    add(Paths::ANCESTORS, latest.ancestors as f64);
    add(Paths::CANDIDATES, latest.candidates as f64);
    add(Paths::SUPPORTS, latest.supports as f64);
    add(Paths::CASTS, latest.casts as f64);
    add(Paths::CONTACTS, latest.contacts as f64);
    let milliseconds = |time: Duration| 1e3 * time.as_secs_f64();
    add(Paths::SYNC, milliseconds(latest.sync));
    add(Paths::BROAD_PHASE, milliseconds(latest.broad_phase));
    add(Paths::NARROW_PHASE, milliseconds(latest.narrow_phase));
    add(Paths::REPORT, milliseconds(latest.report));
}
