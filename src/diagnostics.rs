//! Measurements of each tick. The stages of the tick set the fields of [`CollisionDiagnostics`].
//! [`HeadbuttDiagnosticsPlugin`] and the overlay call [`measurements`] for the list of all values.

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
    /// Number of colliders, excluding inert and invalid colliders.
    pub colliders: usize,
    /// Number of colliders that were added, removed, moved or otherwise changed since the previous
    /// tick.
    pub changed: usize,
    /// Number of ancestors that were checked for changes. An ancestor with a parent counts once,
    /// however many colliders are below it. A root ancestor may count several times.
    pub ancestors: usize,
    /// Number of bounding boxes in the index of [`SpatialQuery`](crate::SpatialQuery), or 0 if
    /// there was no query in the last 64 ticks.
    pub indexed: usize,
    /// Number of candidate pairs. The bounding boxes of a candidate pair overlap, and at least one
    /// of its colliders changed. The pair is tested unless its layers, owners, exceptions or
    /// filters exclude it.
    ///
    /// If the app supplies the pairs, this field is the number of distinct pairs. A distinct pair
    /// is tested only if its boxes overlap, and either one of its colliders changed or the pair is
    /// new. Layers, owners, exceptions and filters may also exclude the pair.
    pub candidates: usize,
    /// Number of support points computed in the tests of all pairs, for both shapes of each pair.
    ///
    /// Pairs with a closed form, such as balls and boxes, need no support points. A half-space
    /// needs a few support points of the other shape. A box against a capsule or a rounded box
    /// needs support points if the shapes overlap but their cores do not.
    pub supports: usize,
    /// Number of pairs with a [`Swept`](crate::Swept) collider that were cast along their paths.
    pub casts: usize,
    /// Number of pairs that touch.
    pub contacts: usize,
    /// Duration of [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync).
    pub sync: Duration,
    /// Duration of [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase). If the app
    /// supplies the pairs, this duration is close to zero.
    pub broad_phase: Duration,
    /// Duration of [`HeadbuttSystems::NarrowPhase`](crate::HeadbuttSystems::NarrowPhase), including
    /// the sorting of the candidate pairs.
    pub narrow_phase: Duration,
    /// Duration of [`HeadbuttSystems::Report`](crate::HeadbuttSystems::Report), including
    /// observers.
    pub report: Duration,
}

/// Adds [`CollisionDiagnostics`] to Bevy's `DiagnosticsStore` once a frame. If a frame has several
/// ticks, only the last tick counts. A frame without a tick repeats the previous values.
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
    /// [`CollisionDiagnostics::sync`] in milliseconds.
    pub const SYNC: DiagnosticPath = DiagnosticPath::const_new("headbutt/sync");
    /// [`CollisionDiagnostics::broad_phase`] in milliseconds.
    pub const BROAD_PHASE: DiagnosticPath = DiagnosticPath::const_new("headbutt/broad_phase");
    /// [`CollisionDiagnostics::narrow_phase`] in milliseconds.
    pub const NARROW_PHASE: DiagnosticPath = DiagnosticPath::const_new("headbutt/narrow_phase");
    /// [`CollisionDiagnostics::report`] in milliseconds.
    pub const REPORT: DiagnosticPath = DiagnosticPath::const_new("headbutt/report");
}

/// The path, the unit, and the value of a measurement.
pub type Measurement = (
    DiagnosticPath,
    &'static str,
    fn(&CollisionDiagnostics) -> f64,
);

/// Returns all measurements of a tick: counts, then times in milliseconds.
pub fn measurements() -> [Measurement; 11] {
    fn milliseconds(time: Duration) -> f64 {
        1e3 * time.as_secs_f64()
    }
    type Plugin = HeadbuttDiagnosticsPlugin;
    [
        (Plugin::COLLIDERS, "", |tick| tick.colliders as f64),
        (Plugin::CHANGED, "", |tick| tick.changed as f64),
        (Plugin::ANCESTORS, "", |tick| tick.ancestors as f64),
        (Plugin::CANDIDATES, "", |tick| tick.candidates as f64),
        (Plugin::SUPPORTS, "", |tick| tick.supports as f64),
        (Plugin::CASTS, "", |tick| tick.casts as f64),
        (Plugin::CONTACTS, "", |tick| tick.contacts as f64),
        (Plugin::SYNC, "ms", |tick| milliseconds(tick.sync)),
        (Plugin::BROAD_PHASE, "ms", |tick| {
            milliseconds(tick.broad_phase)
        }),
        (Plugin::NARROW_PHASE, "ms", |tick| {
            milliseconds(tick.narrow_phase)
        }),
        (Plugin::REPORT, "ms", |tick| milliseconds(tick.report)),
    ]
}

impl Plugin for HeadbuttDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        for (path, unit, _) in measurements() {
            app.register_diagnostic(Diagnostic::new(path).with_suffix(unit));
        }
        app.init_resource::<CollisionDiagnostics>()
            .add_systems(Last, measure);
    }
}

fn measure(latest: Res<CollisionDiagnostics>, mut diagnostics: Diagnostics) {
    for (path, _, value) in measurements() {
        diagnostics.add_measurement(&path, || value(&latest));
    }
}
