//! A list of lines that Bevy keeps drawing: an entity with Bevy's `Gizmo`.

use bevy::{color::LinearRgba, ecs::system::SystemParam, prelude::*};

use crate::{
    debug::{lines::LineSegment, settings::HeadbuttGizmos},
    math::Vec3,
};

/// A line in the world and its color.
pub type ColoredLine = (LineSegment, LinearRgba);

/// The parameters of a system that draws layers.
#[derive(SystemParam)]
pub struct Canvas<'w, 's> {
    commands: Commands<'w, 's>,
    store: Res<'w, GizmoConfigStore>,
    assets: ResMut<'w, Assets<GizmoAsset>>,
    changes: MessageWriter<'w, AssetEvent<GizmoAsset>>,
    gizmos: Query<'w, 's, &'static mut Gizmo>,
}

impl Canvas<'_, '_> {
    /// Returns the settings, or `None` if the gizmos are disabled.
    pub fn settings(&self) -> Option<HeadbuttGizmos> {
        let (config, settings) = self.store.get_config::<HeadbuttGizmos>()?;
        config.enabled.then_some(*settings)
    }

    fn config(&self) -> GizmoConfig {
        let config = self.store.get_config::<HeadbuttGizmos>();
        config.map(|(config, _)| config.clone()).unwrap_or_default()
    }
}

/// Lines in the world that are drawn until they are replaced.
#[derive(Default)]
pub struct GizmoLayer(Option<(Entity, Handle<GizmoAsset>)>);

impl GizmoLayer {
    /// Returns `true` if the app has despawned the entity of the lines.
    pub fn is_lost(&self, canvas: &Canvas) -> bool {
        self.0
            .as_ref()
            .is_some_and(|(entity, _)| !canvas.gizmos.contains(*entity))
    }

    /// Removes the old lines, and draws the lines that `fill` adds.
    pub fn draw(&mut self, canvas: &mut Canvas, fill: impl FnOnce(&mut GizmoAsset)) {
        let mut asset = GizmoAsset::new();
        fill(&mut asset);
        if asset.list_positions.is_empty() {
            return self.clear(canvas);
        }
        if let Some((entity, handle)) = &self.0
            && canvas.gizmos.contains(*entity)
            && let Some(old) = canvas.assets.get_mut_untracked(handle)
        {
            *old = asset;
            // The event is sent here, because Bevy's assets may send it only in the next frame.
            let id = handle.id();
            canvas.changes.write(AssetEvent::Modified { id });
            return;
        }
        let handle = canvas.assets.add(asset);
        let config = canvas.config();
        let gizmo = Gizmo {
            handle: handle.clone(),
            line_config: config.line,
            depth_bias: config.depth_bias,
        };
        let name = Name::new("headbutt gizmos");
        let entity = canvas
            .commands
            .spawn((gizmo, config.render_layers, name))
            .id();
        self.0 = Some((entity, handle));
    }

    /// Removes the lines.
    pub fn clear(&mut self, canvas: &mut Canvas) {
        if let Some((entity, _)) = self.0.take() {
            canvas.commands.entity(entity).try_despawn();
        }
    }

    /// If Bevy's gizmo settings changed, applies their line style, depth bias and render layers.
    pub fn update_style(&self, canvas: &mut Canvas) {
        let Some((entity, _)) = self.0.as_ref().filter(|_| canvas.store.is_changed()) else {
            return;
        };
        let config = canvas.config();
        if let Ok(mut gizmo) = canvas.gizmos.get_mut(*entity) {
            gizmo.line_config = config.line;
            gizmo.depth_bias = config.depth_bias;
            canvas
                .commands
                .entity(*entity)
                .try_insert(config.render_layers);
        }
    }
}

/// Adds lines of one color, but omits lines that are not finite. `place` maps a point to the world.
pub fn add_lines(
    asset: &mut GizmoAsset,
    lines: &[LineSegment],
    color: LinearRgba,
    place: impl Fn(Vec3) -> Vec3,
) {
    // Whole lists are extended, because this function takes most of the time for drawing moving
    // shapes.
    let points = lines.as_flattened().iter().map(|point| place(*point));
    let start = asset.list_positions.len();
    asset.list_positions.extend(points);
    let mut added = asset.list_positions.iter().skip(start);
    // With a huge scale, points may exceed the range of f32.
    if !added.all(|point| point.is_finite()) {
        let lines = lines.iter().map(|line| line.map(&place));
        let finite = lines.filter(|line| line.iter().all(|point| point.is_finite()));
        asset.list_positions.truncate(start);
        asset.list_positions.extend(finite.flatten());
    }
    let count = asset.list_positions.len();
    asset.list_colors.resize(count, color);
}

/// Lines that are computed in each frame, but drawn again only when they change.
#[derive(Default)]
pub struct LineLayer {
    layer: GizmoLayer,
    lines: Vec<ColoredLine>,
}

impl LineLayer {
    /// Replaces the previous lines by `lines`, but omits lines that are not finite.
    pub fn update(&mut self, mut lines: Vec<ColoredLine>, canvas: &mut Canvas) {
        lines.retain(|(line, _)| line.iter().all(|point| point.is_finite()));
        if lines != self.lines || self.layer.is_lost(canvas) {
            self.layer.draw(canvas, |asset| {
                for ([start, end], color) in &lines {
                    asset.line(*start, *end, *color);
                }
            });
            self.lines = lines;
        }
        self.layer.update_style(canvas);
    }
}
