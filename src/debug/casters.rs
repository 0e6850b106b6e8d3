//! Casts of the components [`RayCaster`] and [`ShapeCaster`].

use bevy::{
    math::{Affine3A, Mat3A, Vec3A},
    prelude::*,
};

use crate::{
    RayCaster, ShapeCaster,
    debug::{
        layer::{Canvas, ColoredLine, Overlay, arrow, cross},
        settings::ColliderColors,
        shapes::flattened,
    },
    math::{Quat, Vec2, Vec3},
    spatial::QuerySpace,
};

/// The length at which an endless ray is cut.
const FAR: f32 = 1e4;

/// The length of the normal at a hit and the size of the cross, relative to the distance.
const NORMAL: f32 = 0.1;
const MARKER: f32 = 0.02;

type RayCasters<'w, 's, V> = Query<'w, 's, (&'static RayCaster<V>, &'static GlobalTransform)>;

/// Draws all casters of rays and shapes.
pub fn draw_casters(
    rays_2d: RayCasters<Vec2>,
    rays_3d: RayCasters<Vec3>,
    shapes: Query<(&ShapeCaster, &GlobalTransform)>,
    mut overlay: Local<Overlay>,
    mut canvas: Canvas,
) {
    let mut lines = Vec::new();
    if let Some(settings) = canvas.settings().filter(|settings| settings.casters) {
        let colors = &settings.colors;
        let rays_2d = rays_2d
            .iter()
            .flat_map(|(caster, pose)| ray_lines(caster, pose, colors));
        let rays_3d = rays_3d
            .iter()
            .flat_map(|(caster, pose)| ray_lines(caster, pose, colors));
        let shapes = shapes
            .iter()
            .flat_map(|(caster, pose)| shape_lines(caster, pose, colors));
        lines.extend(rays_2d.chain(rays_3d).chain(shapes));
        lines.retain(|(line, _)| line.iter().all(|point| point.is_finite()));
    }
    overlay.update(lines, &mut canvas);
}

/// Returns the ray up to its first hit, and the normal there.
fn ray_lines<V: QuerySpace>(
    caster: &RayCaster<V>,
    pose: &GlobalTransform,
    colors: &ColliderColors,
) -> Vec<ColoredLine> {
    let pose = flattened::<V>(pose.affine());
    let origin = pose.transform_point3(caster.ray.origin.to_vec3());
    let direction = pose
        .transform_vector3(caster.ray.direction.to_vec3())
        .normalize_or_zero();
    let Some(hit) = caster.first() else {
        let end = origin + direction * caster.ray.max_distance.min(FAR);
        return vec![([origin, end], colors.casters.to_linear())];
    };
    let end = origin + direction * hit.distance;
    let tip = end + hit.normal.to_vec3() * (NORMAL * hit.distance);
    let normal = arrow(end, tip, MARKER * hit.distance);
    let lines = normal.into_iter().chain([[origin, end]]);
    let color = colors.caster_hits.to_linear();
    lines.map(|line| (line, color)).collect()
}

/// Returns the shape at the start, and where it hits or ends.
fn shape_lines(
    caster: &ShapeCaster,
    pose: &GlobalTransform,
    colors: &ColliderColors,
) -> Vec<ColoredLine> {
    let is_2d = caster.collider.shape_2d().is_some();
    let (start, rotation) = if is_2d {
        let rotation = Vec3::Z * caster.rotation.z;
        (flattened::<Vec2>(pose.affine()), rotation)
    } else {
        (pose.affine(), caster.rotation)
    };
    let hit = caster.first();
    let time = hit.and_then(|hit| hit.touching_time()).unwrap_or(1.0) as f32;
    let turn = Mat3A::from_quat(Quat::from_scaled_axis(rotation * time));
    let end = Affine3A {
        matrix3: turn * start.matrix3,
        translation: start.translation + Vec3A::from(caster.translation) * time,
    };
    let outline = caster.collider.wireframe();
    let placed = |pose: Affine3A| {
        let lines = outline.iter().copied();
        lines.map(move |line| line.map(|point| pose.transform_point3(point)))
    };
    let path = [start, end].map(|pose| Vec3::from(pose.translation));
    let color = hit
        .map_or(colors.casters, |_| colors.caster_hits)
        .to_linear();
    let ends = placed(start).chain(placed(end));
    let mut lines: Vec<_> = ends.chain([path]).map(|line| (line, color)).collect();
    if let Some(contact) = hit.and_then(|hit| hit.contact().copied()) {
        let arm = MARKER * caster.translation.length();
        let points = cross(contact.point_b, arm, is_2d);
        lines.extend(points.map(|line| (line, color)));
    }
    lines
}
