//! The contacts of the dragged collider, as text and as lines. The colliders of the scene need
//! names.

use bevy::prelude::*;
use headbutt::prelude::*;

use super::{FAINT, Readout, pointer::Drag};

/// Lists the colliders that the dragged collider touches, or else the distance to the nearest
/// collider.
pub fn describe(
    drag: Res<Drag>,
    collisions: Res<Collisions>,
    query: SpatialQuery,
    shapes: Query<(&Name, &Collider, &Transform)>,
    mut readout: ResMut<Readout>,
    mut gizmos: Gizmos,
) {
    let Some((entity, (name, collider, pose))) = drag
        .entity
        .and_then(|entity| Some((entity, shapes.get(entity).ok()?)))
    else {
        readout.0 = "Drag a shape over the others.".to_owned();
        return;
    };
    let name_of = |entity| shapes.get(entity).map_or("", |(name, ..)| name.as_str());
    let hits = collisions.deepest_of(entity).map(|hit| {
        let (other, depth, normal) = (name_of(hit.other), hit.depth, text_of(hit.normal));
        format!("touches {other}: depth {depth:.3}, normal {normal}")
    });
    let mut lines: Vec<String> = hits.collect();

    let filter = SpatialQueryFilter::default().excluding(entity);
    if lines.is_empty()
        && let Some(near) = query.closest_to_shape(collider, *pose, f32::MAX, &filter)
    {
        gizmos.line(near.point_a, near.point_b, FAINT);
        let other = name_of(near.entity);
        lines.push(format!("is {:.3} away from {other}", near.distance));
    }
    readout.0 = format!("{name} {}", lines.join("\nand "));
}

fn text_of(normal: Vec3) -> String {
    let Vec3 { x, y, z } = normal;
    if z == 0.0 {
        format!("({x:.2}, {y:.2})")
    } else {
        format!("({x:.2}, {y:.2}, {z:.2})")
    }
}
