//! The drawing of the casts of [`RayCaster`] and [`ShapeCaster`].

use bevy::prelude::*;

use crate::{
    RayCaster, ShapeCaster,
    debug::{
        layer::{Canvas, ColoredLine, LineLayer},
        layers::{
            motion::{self, Colors},
            shapes::{drawn_pose, flattened},
        },
        settings::ColliderColors,
    },
    math::{Vec2, Vec3},
    space::DVector,
    spatial::QuerySpace,
};

type RayCasters<'w, 's, V> = Query<'w, 's, (&'static RayCaster<V>, &'static GlobalTransform)>;

/// Draws all casters of rays and shapes.
pub fn draw_casters(
    rays_2d: RayCasters<Vec2>,
    rays_3d: RayCasters<Vec3>,
    shapes: Query<(&ShapeCaster, &GlobalTransform)>,
    mut layer: Local<LineLayer>,
    mut canvas: Canvas,
) {
    let mut lines = Vec::new();
    if let Some(settings) = canvas.settings().filter(|settings| settings.casters) {
        let colors = &settings.colors;
        for (caster, pose) in &rays_2d {
            lines.extend(ray_lines(caster, pose, colors));
        }
        for (caster, pose) in &rays_3d {
            lines.extend(ray_lines(caster, pose, colors));
        }
        for (caster, pose) in &shapes {
            lines.extend(shape_lines(caster, pose, colors));
        }
    }
    layer.update(lines, &mut canvas);
}

/// Returns the ray up to its first hit, and the normal at the hit.
fn ray_lines<V: QuerySpace>(
    caster: &RayCaster<V>,
    pose: &GlobalTransform,
    colors: &ColliderColors,
) -> Vec<ColoredLine> {
    let pose = flattened(pose.affine(), V::DVec::DIMENSION == 2);
    let origin = pose.transform_point3(caster.ray.origin.to_vec3());
    let direction = pose.transform_vector3(caster.ray.direction.to_vec3());
    let hit = caster.first();
    let length = hit.map_or(caster.ray.max_distance, |hit| hit.distance);
    let normal = hit.map(|hit| hit.normal.to_vec3());
    let colors = choose_colors(hit.is_some(), colors);
    motion::ray_lines(origin, direction, length, normal, colors)
}

/// Returns the outlines of the shape at the start, and at the first hit or the end of the motion.
fn shape_lines(
    caster: &ShapeCaster,
    pose: &GlobalTransform,
    colors: &ColliderColors,
) -> Vec<ColoredLine> {
    let start = drawn_pose(&caster.collider, pose);
    let hit = caster.first().map(|first| first.hit);
    let colors = choose_colors(hit.is_some(), colors);
    let motion = [caster.translation, caster.rotation];
    motion::cast_lines(&caster.collider, start, motion, hit, colors)
}

fn choose_colors(is_hit: bool, colors: &ColliderColors) -> Colors {
    let color = if is_hit {
        colors.caster_hits
    } else {
        colors.casters
    };
    [color.to_linear(); 2]
}
