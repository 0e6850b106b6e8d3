//! What a tick had to do, and how long it took.

use core::time::Duration;

use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic},
    prelude::*,
};

/// What the last tick had to do, and how long each of its stages took.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::CollisionDiagnostics;
///
/// fn show(diagnostics: Res<CollisionDiagnostics>) {
///     println!("{} pairs may touch, {} do", diagnostics.candidates, diagnostics.contacts);
/// }
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollisionDiagnostics {
    /// Colliders that can touch something: those that are neither inert nor at fault.
    pub colliders: usize,
    /// Of these, those that are not what or where they were in the tick before, with those that are gone.
    pub changed: usize,
    /// Ancestors of colliders that were looked at for changes. Each is counted once, however many
    /// colliders are below it. Only one without a parent of its own may be counted again.
    pub ancestors: usize,
    /// Pairs of colliders of which one has changed and whose boxes meet: they are tested, unless layers part them. If the app
    /// supplies pairs, all of these, each once: of them those are tested whose boxes meet, and of which one has changed, or that
    /// were not supplied in the tick before.
    pub candidates: usize,
    /// Support points of pairs that these tests took: one is a point of either shape. Balls, boxes and what else has a closed form
    /// take none, but for half-spaces, which take one or some of the other shape; and a box takes some with a capsule, or with a box
    /// and margins, where only radii and margins overlap.
    pub supports: usize,
    /// Pairs of colliders that touch.
    pub contacts: usize,
    /// How long the reading of colliders and transforms took.
    pub sync: Duration,
    /// How long the search for candidate pairs took: nothing if the app supplies them. (To put those in order is a part of their
    /// tests.)
    pub broad_phase: Duration,
    /// How long the tests of these took.
    pub narrow_phase: Duration,
    /// How long events, state and observers took.
    pub report: Duration,
}

/// Adds [`CollisionDiagnostics`] to Bevy's `DiagnosticsStore`, once a frame: those of the last tick, whether it was in this frame or
/// before. So of several ticks in a frame one is told, and a tick is told again in frames that have none.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{HeadbuttDiagnosticsPlugin, prelude::*};
///
/// App::new().add_plugins((MinimalPlugins, HeadbuttPlugin::default(), HeadbuttDiagnosticsPlugin));
/// ```
///
/// A profiler sees each stage as a span without it: a stage is one system, and Bevy's feature `trace` makes a span of each
/// system. With its feature `debug` as well these have the systems' names, whose last words are `sync`, `find_candidates`,
/// `narrow_phase` and `report`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadbuttDiagnosticsPlugin;

impl HeadbuttDiagnosticsPlugin {
    /// Colliders that can touch something.
    pub const COLLIDERS: DiagnosticPath = DiagnosticPath::const_new("headbutt/colliders");
    /// Of these, those that are not what or where they were, with those that are gone.
    pub const CHANGED: DiagnosticPath = DiagnosticPath::const_new("headbutt/changed");
    /// Ancestors of colliders that were looked at: see [`CollisionDiagnostics::ancestors`].
    pub const ANCESTORS: DiagnosticPath = DiagnosticPath::const_new("headbutt/ancestors");
    /// Pairs that may touch: see [`CollisionDiagnostics::candidates`].
    pub const CANDIDATES: DiagnosticPath = DiagnosticPath::const_new("headbutt/candidates");
    /// Support points that the tests took.
    pub const SUPPORTS: DiagnosticPath = DiagnosticPath::const_new("headbutt/supports");
    /// Pairs that touch.
    pub const CONTACTS: DiagnosticPath = DiagnosticPath::const_new("headbutt/contacts");
    /// Milliseconds of [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync).
    pub const SYNC: DiagnosticPath = DiagnosticPath::const_new("headbutt/sync");
    /// Milliseconds of [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase).
    pub const BROAD_PHASE: DiagnosticPath = DiagnosticPath::const_new("headbutt/broad_phase");
    /// Milliseconds of [`HeadbuttSystems::NarrowPhase`](crate::HeadbuttSystems::NarrowPhase).
    pub const NARROW_PHASE: DiagnosticPath = DiagnosticPath::const_new("headbutt/narrow_phase");
    /// Milliseconds of [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report).
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

fn measure(last: Res<CollisionDiagnostics>, mut diagnostics: Diagnostics) {
    type Paths = HeadbuttDiagnosticsPlugin;
    let mut add = |path: DiagnosticPath, value: f64| {
        diagnostics.add_measurement(&path, || value);
    };
    add(Paths::COLLIDERS, last.colliders as f64);
    add(Paths::CHANGED, last.changed as f64);
    add(Paths::ANCESTORS, last.ancestors as f64);
    add(Paths::CANDIDATES, last.candidates as f64);
    add(Paths::SUPPORTS, last.supports as f64);
    add(Paths::CONTACTS, last.contacts as f64);
    let milliseconds = |time: Duration| 1e3 * time.as_secs_f64();
    add(Paths::SYNC, milliseconds(last.sync));
    add(Paths::BROAD_PHASE, milliseconds(last.broad_phase));
    add(Paths::NARROW_PHASE, milliseconds(last.narrow_phase));
    add(Paths::REPORT, milliseconds(last.report));
}
