//! Debug drawing, without a renderer: the lines of each shape, and the drawing of an app.

mod explanation;
mod gizmos;
mod motions;
mod overlays;
mod wireframes;

use bevy::{asset::AssetPlugin, color::LinearRgba, prelude::*};
use headbutt::prelude::*;

use crate::support;

type Line = [Vec3; 2];

/// Returns an app that draws gizmos into assets, and has run its first frame.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        HeadbuttDebugPlugin,
        MinimalPlugins,
        AssetPlugin::default(),
        TransformPlugin,
        HeadbuttPlugin::default(),
    ))
    // The drawing needs only this part of Bevy's gizmo plugin. With the feature `mesh`, that plugin
    // needs a renderer.
    .init_asset::<GizmoAsset>();
    support::start(&mut app);
    app
}

/// Changes the settings.
fn set(app: &mut App, change: impl FnOnce(&mut HeadbuttGizmos)) {
    let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
    change(store.config_mut::<HeadbuttGizmos>().1);
}

/// Returns all lines that a renderer would draw, with their colors. The points are in the world.
fn drawn(app: &mut App) -> Vec<(Line, Color)> {
    let mut gizmos = app.world_mut().query::<(&Gizmo, &GlobalTransform)>();
    let world = app.world();
    let assets = world.resource::<Assets<GizmoAsset>>();
    let mut lines = Vec::new();
    for (gizmo, pose) in gizmos.iter(world) {
        let buffer = assets
            .get(&gizmo.handle)
            .expect("the asset of a gizmo")
            .buffer()
            .buffer();
        let positions = buffer.list_positions.chunks_exact(2);
        for (ends, color) in positions.zip(buffer.list_colors.iter().step_by(2)) {
            let ends = [ends[0], ends[1]].map(|end| pose.transform_point(end));
            lines.push((ends, Color::from(*color)));
        }
    }
    lines
}

/// Runs a frame with a tick, and returns all drawn lines.
fn tick(app: &mut App) -> Vec<(Line, Color)> {
    support::tick(app);
    drawn(app)
}

/// Returns the lines of one color.
fn of_color(lines: &[(Line, Color)], color: Color) -> Vec<Line> {
    let color = LinearRgba::from(color);
    let same = lines
        .iter()
        .filter(|(_, other)| LinearRgba::from(*other) == color);
    same.map(|(line, _)| *line).collect()
}

/// Returns the number of entities with gizmos, and of their assets.
fn gizmo_counts(app: &mut App) -> [usize; 2] {
    let entities = app.world_mut().query::<&Gizmo>().iter(app.world()).count();
    [entities, app.world().resource::<Assets<GizmoAsset>>().len()]
}
