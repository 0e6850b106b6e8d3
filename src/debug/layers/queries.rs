//! The drawing of the rays and moving shapes of all [`SpatialQuery`](crate::SpatialQuery)s.

use bevy::prelude::*;

use crate::{
    debug::{
        layer::{Canvas, ColoredLine, LineLayer},
        layers::motion::{cast_lines, ray_lines},
        settings::ColliderColors,
    },
    math::{Vec2, Vec3},
    query::Motion,
    space::Space,
    spatial::query_log::{LoggedQuery, QueryLog},
};

/// Draws the queries of the last fixed step, and the other queries since the last frame.
pub fn draw_queries(log: Res<QueryLog>, mut layer: Local<LineLayer>, mut canvas: Canvas) {
    let mut lines = Vec::new();
    if let Some(settings) = canvas.settings().filter(|settings| settings.queries) {
        for query in log.take() {
            lines.extend(query_lines(&query, &settings.colors));
        }
    } else {
        log.turn_off();
    }
    layer.update(lines, &mut canvas);
}

fn query_lines(query: &LoggedQuery, colors: &ColliderColors) -> Vec<ColoredLine> {
    let colors = [colors.queries, colors.query_hits].map(|color| color.to_linear());
    match query {
        LoggedQuery::Ray {
            origin,
            direction,
            length,
            normal,
        } => ray_lines(*origin, *direction, *length, *normal, colors),
        LoggedQuery::Cast(logged) => {
            let (collider, Motion { start, change }, hit) = &**logged;
            let start = if collider.shape_2d().is_some() {
                start.world_pose::<Vec2>().map(|pose| pose.in_3d())
            } else {
                start.world_pose::<Vec3>().map(|pose| pose.in_3d())
            };
            // A cast from an invalid pose has no lines.
            start.map_or_else(Vec::new, |start| {
                let vectors = [change.translation, change.rotation].map(Vec3::from_f64);
                cast_lines(collider, start, vectors, *hit, colors)
            })
        }
    }
}
