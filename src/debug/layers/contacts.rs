//! The drawing of contact points and normals.

use bevy::prelude::*;

use crate::{
    Collider, CollisionEvent, Collisions, HeadbuttGizmos,
    debug::{
        layer::{Canvas, ColoredLine, LineLayer},
        lines::{arrow, cross},
    },
};

/// The size of a cross and of an arrowhead, relative to the smaller collider.
const CONTACT_MARKER: f32 = 0.04;

/// Draws the contacts of the last tick.
pub fn draw_contacts(
    colliders: Query<(&Collider, &GlobalTransform)>,
    collisions: Res<Collisions>,
    mut layer: Local<LineLayer>,
    mut canvas: Canvas,
) {
    let settings = canvas.settings();
    let settings = settings.filter(|it| it.contact_points || it.contact_normals);
    let mut lines = Vec::new();
    if let Some(settings) = settings {
        for pair in collisions.iter() {
            // An entity may have been despawned since the tick.
            let Ok(sides) = colliders.get_many([pair.entity, pair.other]) else {
                continue;
            };
            let (marker, plane) = (marker_size(sides), drawn_plane(sides));
            for hit in collisions.parts(pair.entity, pair.other) {
                add_contact(&hit, marker, plane, &settings, &mut lines);
            }
        }
    }
    layer.update(lines, &mut canvas);
}

type ColliderAndPose<'a> = (&'a Collider, &'a GlobalTransform);

/// Returns the size of the crosses and arrowheads for a pair.
pub fn marker_size(sides: [ColliderAndPose; 2]) -> f32 {
    let sizes = sides.map(|(collider, pose)| longest_side(collider, pose));
    CONTACT_MARKER * sizes.into_iter().flatten().fold(f32::MAX, f32::min)
}

/// Returns the z of the first collider, at which a 2D pair is drawn. Returns `None` in 3D.
pub fn drawn_plane([(collider, pose), _]: [ColliderAndPose; 2]) -> Option<f32> {
    collider.shape_2d().map(|_| pose.translation().z)
}

/// Adds the lines of a contact. In 2D, `plane` is the z at which the first collider is drawn.
pub fn add_contact(
    hit: &CollisionEvent,
    marker: f32,
    plane: Option<f32>,
    settings: &HeadbuttGizmos,
    lines: &mut Vec<ColoredLine>,
) {
    let points = [hit.point(), hit.other_point()];
    let points = points.map(|point| plane.map_or(point, |z| point.with_z(z)));
    if settings.contact_points {
        let color = settings.colors.contact_points.to_linear();
        let crosses = points
            .into_iter()
            .flat_map(|point| cross(point, marker, plane.is_some()));
        lines.extend(crosses.map(|line| (line, color)));
    }
    if settings.contact_normals && hit.depth > 0.0 {
        let color = settings.colors.contact_normals.to_linear();
        let [end, start] = points;
        lines.extend(arrow(start, end, marker).map(|line| (line, color)));
    }
}

/// Returns the longest side of a collider's bounding box, or `None` for a half-space.
fn longest_side(collider: &Collider, pose: &GlobalTransform) -> Option<f32> {
    let aabb = collider.aabb(pose)?;
    Some((aabb.max - aabb.min).max_element())
}
