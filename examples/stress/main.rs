//! Thousands of moving colliders, and the time of each stage of a tick.
//!
//! ```text
//! cargo run --release --example stress --features demo
//! ```

#[path = "../demo/mod.rs"]
mod demo;
mod scene;

use bevy::{
    diagnostic::{DiagnosticPath, DiagnosticsStore},
    platform::time::Instant,
    prelude::*,
    window::PresentMode,
};
use demo::{Readout, light::light_up, orbit::Orbit};
use headbutt::{HeadbuttDiagnosticsPlugin, prelude::*};

const COUNTS: [(KeyCode, usize); 5] = [
    (KeyCode::Digit1, 1_000),
    (KeyCode::Digit2, 2_000),
    (KeyCode::Digit3, 5_000),
    (KeyCode::Digit4, 10_000),
    (KeyCode::Digit5, 20_000),
];

/// The number and the dimension of the colliders.
#[derive(Resource, Clone, Copy)]
struct Setup {
    count: usize,
    in_3d: bool,
}

fn main() -> AppExit {
    let keys = "1 to 5: 1,000, 2,000, 5,000, 10,000, 20,000 colliders    D: 2D or 3D    L: lines";
    demo::app("Stress", keys)
        .add_plugins(HeadbuttDiagnosticsPlugin)
        .insert_resource(Setup {
            count: 5_000,
            in_3d: false,
        })
        .add_systems(Startup, (style, scene::add_materials))
        .add_systems(FixedUpdate, scene::travel)
        .add_systems(
            Update,
            (
                choose,
                scene::build.run_if(resource_changed::<Setup>),
                light_up::<MeshMaterial2d<ColorMaterial>>,
                light_up::<MeshMaterial3d<StandardMaterial>>,
                demo::orbit::orbit.run_if(any_with_component::<Orbit>),
                describe,
            )
                .chain(),
        )
        .run()
}

fn style(mut store: ResMut<GizmoConfigStore>, mut window: Single<&mut Window>) {
    let (_, gizmos) = store.config_mut::<HeadbuttGizmos>();
    *gizmos = HeadbuttGizmos::none();
    // With vertical synchronization, the display would limit the frame rate.
    window.present_mode = PresentMode::AutoNoVsync;
}

fn choose(
    keys: Res<ButtonInput<KeyCode>>,
    mut setup: ResMut<Setup>,
    mut store: ResMut<GizmoConfigStore>,
) {
    for (key, count) in COUNTS {
        if keys.just_pressed(key) {
            setup.count = count;
        }
    }
    if keys.just_pressed(KeyCode::KeyD) {
        setup.in_3d = !setup.in_3d;
    }
    if keys.just_pressed(KeyCode::KeyL) {
        let (_, gizmos) = store.config_mut::<HeadbuttGizmos>();
        gizmos.shapes = !gizmos.shapes;
    }
}

/// Shows the counts and times of the ticks, and the mean duration of the last frames. The duration
/// does not come from Bevy's clock: in pictures, each frame of that clock lasts for a tick.
fn describe(
    setup: Res<Setup>,
    diagnostics: Res<DiagnosticsStore>,
    mut readout: ResMut<Readout>,
    mut last: Local<Option<Instant>>,
    mut frame: Local<f64>,
) {
    let now = Instant::now();
    if let Some(last) = last.replace(now) {
        *frame += 0.1 * ((now - last).as_secs_f64() - *frame);
    }
    type Paths = HeadbuttDiagnosticsPlugin;
    let latest = |path: &DiagnosticPath| {
        let value = diagnostics
            .get(path)
            .and_then(|diagnostic| diagnostic.value());
        value.unwrap_or_default()
    };
    let average = |path: &DiagnosticPath| {
        let value = diagnostics
            .get(path)
            .and_then(|diagnostic| diagnostic.smoothed());
        value.unwrap_or_default()
    };
    let stages = [
        ("sync", Paths::SYNC),
        ("broad phase", Paths::BROAD_PHASE),
        ("narrow phase", Paths::NARROW_PHASE),
        ("report", Paths::REPORT),
    ]
    .map(|(name, path)| (name, average(&path)));
    let total: f64 = stages.iter().map(|(_, time)| time).sum();
    let rows = stages.map(|(name, time)| format!("{name:<12} {time:6.2} ms"));

    readout.0 = format!(
        "{} colliders in {}, all moving\n{} candidate pairs, {} contacts\n\n{}\n\
         one tick     {total:6.2} ms\n{:.0} frames a second",
        setup.count,
        if setup.in_3d { "3D" } else { "2D" },
        latest(&Paths::CANDIDATES),
        latest(&Paths::CONTACTS),
        rows.join("\n"),
        1.0 / frame.max(1e-3),
    );
}
