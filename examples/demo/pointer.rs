//! The mouse in a 2D world, and dragging of colliders.

use bevy::{ecs::system::SystemParam, prelude::*, window::PrimaryWindow};
use headbutt::prelude::*;

/// The mouse in the world that the 2D camera shows.
#[derive(SystemParam)]
pub struct Pointer<'w, 's> {
    window: Single<'w, 's, &'static Window, With<PrimaryWindow>>,
    camera: Single<'w, 's, (&'static Camera, &'static GlobalTransform), With<Camera2d>>,
}

impl Pointer<'_, '_> {
    /// Returns the position of the mouse in the world, or `None` if it is outside of the window.
    pub fn position(&self) -> Option<Vec2> {
        let (camera, pose) = *self.camera;
        let cursor = self.window.cursor_position()?;
        camera.viewport_to_world_2d(pose, cursor).ok()
    }
}

/// A collider that the mouse can drag.
#[derive(Component)]
pub struct Draggable;

/// The collider that the mouse holds, and where: the offset of its center from the mouse.
#[derive(Default)]
pub struct Held(Option<(Entity, Vec2)>);

/// Drags the collider under the mouse while the left button is down.
pub fn drag(
    pointer: Pointer,
    buttons: Res<ButtonInput<MouseButton>>,
    query: SpatialQuery,
    mut draggable: Query<&mut Transform, With<Draggable>>,
    mut held: Local<Held>,
    mut under: Local<Vec<Entity>>,
) {
    let Some(cursor) = pointer.position() else {
        return;
    };
    if buttons.just_pressed(MouseButton::Left) {
        query.entities_at(cursor, &SpatialQueryFilter::default(), &mut under);
        held.0 = under.iter().find_map(|&entity| {
            let pose = draggable.get(entity).ok()?;
            Some((entity, pose.translation.truncate() - cursor))
        });
    }
    if !buttons.pressed(MouseButton::Left) {
        held.0 = None;
    }
    if let Some((entity, offset)) = held.0
        && let Ok(mut pose) = draggable.get_mut(entity)
    {
        pose.translation = (cursor + offset).extend(pose.translation.z);
    }
}
