//! The common parts of the demos: a window (or pictures without a window), a title, a line of text,
//! and colors. This folder does not show how to use headbutt: for that, read the demos.
//!
//! | file | contents |
//! |---|---|
//! | `options.rs` | the command line |
//! | `capture.rs` | pictures without a window |
//! | `script.rs` | scripted input of keyboard and mouse |
//! | `pointer.rs` | the mouse in the world, and dragging |
//! | `orbit.rs` | a camera that turns around a point, for 3D |
//! | `labels.rs` | text that follows an entity |
//! | `fill.rs` | filled shapes, and meshes of colliders |
//! | `cells.rs` | meshes of worlds of cells |
//! | `game.rs` | the score, the keys and the looks of the games |
//! | `light.rs` | colors of colliders that touch something |
//! | `report.rs` | the contacts of the dragged collider |

#![allow(dead_code, reason = "no demo uses all of it")]

mod capture;
pub mod cells;
pub mod fill;
pub mod game;
pub mod labels;
pub mod light;
pub mod options;
pub mod orbit;
pub mod pointer;
pub mod report;
mod script;

use bevy::{camera::ScalingMode, prelude::*};
use headbutt::prelude::*;

use options::Options;

/// The size of the window and of pictures, in pixels.
pub const SIZE: UVec2 = UVec2::new(1280, 720);

pub const BACKGROUND: Color = Color::srgb(0.075, 0.085, 0.11);
pub const INK: Color = Color::srgb(0.9, 0.91, 0.94);
pub const FAINT: Color = Color::srgb(0.55, 0.58, 0.65);
pub const BLUE: Color = Color::srgb(0.25, 0.5, 0.85);
pub const ORANGE: Color = Color::srgb(0.92, 0.55, 0.2);
pub const YELLOW: Color = Color::srgb(0.96, 0.8, 0.32);
pub const GREEN: Color = Color::srgb(0.35, 0.72, 0.4);
pub const RED: Color = Color::srgb(0.88, 0.3, 0.32);
pub const GRAY: Color = Color::srgb(0.27, 0.3, 0.36);
pub const EARTH: Color = Color::srgb(0.17, 0.185, 0.23);

/// The text below the title, in which a demo describes the current state.
#[derive(Resource, Default)]
pub struct Readout(pub String);

#[derive(Component)]
struct ReadoutText;

/// Returns an app with a window, headbutt and its debug drawing, which F1 shows or hides. The text
/// `keys` is shown at the bottom.
///
/// With `--screenshot FILE`, the app opens no window and writes a picture.
pub fn app(title: &'static str, keys: &'static str) -> App {
    let mut app = with_options(title, keys, &Options::from_env(None));
    app.add_plugins(HeadbuttPlugin::default());
    app
}

/// Returns an app like [`app`], but without `HeadbuttPlugin`.
pub fn with_options(title: &'static str, keys: &'static str, options: &Options) -> App {
    let mut app = App::new();
    match &options.screenshot {
        Some(file) => capture::build(&mut app, title, file, options),
        None => {
            app.add_plugins(DefaultPlugins.set(window(title)));
        }
    }
    app.add_plugins(HeadbuttDebugPlugin)
        .insert_resource(ClearColor(BACKGROUND))
        .init_resource::<Readout>()
        .init_resource::<pointer::Drag>()
        .add_observer(fill::draw)
        .add_systems(Startup, move |commands: Commands| {
            spawn_text(commands, title, keys)
        })
        .add_systems(Update, switch_gizmos)
        .add_systems(
            PostUpdate,
            (write_readout, labels::place).before(bevy::ui::UiSystems::Content),
        );
    app
}

/// Hides the debug drawing, for demos that look better without it.
pub fn hide_gizmos(mut store: ResMut<GizmoConfigStore>) {
    store.config_mut::<HeadbuttGizmos>().0.enabled = false;
}

/// Shows or hides the debug drawing.
fn switch_gizmos(keys: Res<ButtonInput<KeyCode>>, mut store: ResMut<GizmoConfigStore>) {
    if keys.just_pressed(KeyCode::F1) {
        let (config, _) = store.config_mut::<HeadbuttGizmos>();
        config.enabled = !config.enabled;
    }
}

fn window(title: &str) -> WindowPlugin {
    WindowPlugin {
        primary_window: Some(Window {
            title: format!("headbutt: {title}"),
            resolution: SIZE.into(),
            canvas: Some("#demo".to_owned()),
            fit_canvas_to_parent: true,
            ..default()
        }),
        ..default()
    }
}

/// Returns a 2D camera that shows `height` units of the world from top to bottom. If the window is
/// narrower than [`SIZE`], as is possible in a browser, the camera shows more.
pub fn camera_2d(height: f32) -> impl Bundle {
    let scaling_mode = ScalingMode::AutoMin {
        min_width: height * SIZE.x as f32 / SIZE.y as f32,
        min_height: height,
    };
    let projection = OrthographicProjection {
        scaling_mode,
        ..OrthographicProjection::default_2d()
    };
    (Camera2d, Projection::Orthographic(projection))
}

fn spawn_text(mut commands: Commands, title: &str, keys: &str) {
    let at = |top: Val, bottom: Val| {
        let node = Node {
            position_type: PositionType::Absolute,
            left: px(16),
            padding: UiRect::axes(px(8), px(4)),
            top,
            bottom,
            ..default()
        };
        // The background keeps the text legible over the scene.
        (node, BackgroundColor(BACKGROUND))
    };
    let text = |text: &str, size: f32, color: Color| {
        let font = TextFont::from_font_size(size);
        (Text::new(text), font, TextColor(color))
    };
    commands.spawn((text(title, 26.0, INK), at(px(14), Val::Auto)));
    commands.spawn((text("", 18.0, INK), at(px(52), Val::Auto), ReadoutText));
    commands.spawn((text(keys, 16.0, FAINT), at(Val::Auto, px(14))));
}

fn write_readout(readout: Res<Readout>, mut text: Single<&mut Text, With<ReadoutText>>) {
    if text.0 != readout.0 {
        text.0.clone_from(&readout.0);
    }
}
