//! Contact points and normals.

use bevy::prelude::*;

use crate::{
    Collider, CollisionEvent, Collisions,
    debug::layer::{Canvas, ColoredLine, Overlay, arrow, cross},
    math::Vec3,
};

/// The size of a cross and of an arrowhead, relative to the smaller collider.
const MARKER: f32 = 0.04;

/// Draws the contacts of the last tick.
pub fn draw_contacts(
    colliders: Query<(&Collider, &GlobalTransform)>,
    collisions: Option<Res<Collisions>>,
    mut overlay: Local<Overlay>,
    mut canvas: Canvas,
) {
    let settings = canvas.settings();
    let settings = settings.filter(|it| it.contact_points || it.contact_normals);
    let mut lines: Vec<ColoredLine> = Vec::new();
    if let Some((settings, collisions)) = settings.zip(collisions) {
        for pair in collisions.iter() {
            let Ok(sides) = colliders.get_many([pair.entity, pair.other]) else {
                continue;
            };
            let sizes = sides.map(|(collider, pose)| size_of(collider, pose));
            let marker = MARKER * sizes.into_iter().flatten().fold(f32::MAX, f32::min);
            let [(collider, pose), _] = sides;
            let plane = collider.shape_2d().map(|_| pose.translation().z);
            for hit in collisions.parts(pair.entity, pair.other) {
                if settings.contact_points {
                    let points = points_of(&hit, plane).into_iter();
                    let crosses = points.flat_map(|point| cross(point, marker, plane.is_some()));
                    lines.extend(crosses.map(|line| (line, settings.colors.contact_points)));
                }
                if settings.contact_normals && hit.depth > 0.0 {
                    let [end, start] = points_of(&hit, plane);
                    let arrow = arrow(start, end, marker);
                    lines.extend(arrow.map(|line| (line, settings.colors.contact_normals)));
                }
            }
        }
    }
    overlay.update(lines, &mut canvas);
}

/// Returns both points of a contact. In 2D, in the plane in which the first collider is drawn.
fn points_of(hit: &CollisionEvent, plane: Option<f32>) -> [Vec3; 2] {
    [hit.point(), hit.other_point()].map(|point| plane.map_or(point, |z| point.with_z(z)))
}

/// Returns the longest side of a collider's bounding box, or `None` for a half-space.
fn size_of(collider: &Collider, pose: &GlobalTransform) -> Option<f32> {
    let aabb = collider.aabb(pose)?;
    Some((aabb.max - aabb.min).max_element())
}
