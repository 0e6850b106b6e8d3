//! The mouse in the world, and dragging of colliders in 2D and 3D.

use bevy::{ecs::system::SystemParam, prelude::*, window::PrimaryWindow};
use headbutt::{prelude::*, query::Ray};

/// The distance from a 2D collider within which a click hits it, because a polyline has no
/// interior.
const NEAR: f32 = 0.15;

/// The mouse in the world that the camera shows.
#[derive(SystemParam)]
pub struct Pointer<'w, 's> {
    window: Single<'w, 's, &'static Window, With<PrimaryWindow>>,
    buttons: Res<'w, ButtonInput<MouseButton>>,
    camera: Single<'w, 's, (&'static Camera, &'static GlobalTransform)>,
}

impl Pointer<'_, '_> {
    /// Returns the position of the mouse in a 2D world, or `None` if the mouse is outside of the
    /// window.
    pub fn position(&self) -> Option<Vec2> {
        Some(self.ray()?.origin.truncate())
    }

    /// Returns the position of the mouse in a 2D world while the left button is down.
    pub fn pressed_position(&self) -> Option<Vec2> {
        self.position()
            .filter(|_| self.buttons.pressed(MouseButton::Left))
    }

    /// Returns the ray under the mouse, or `None` if the mouse is outside of the window.
    pub fn ray(&self) -> Option<Ray3d> {
        let (camera, pose) = *self.camera;
        let cursor = self.window.cursor_position()?;
        camera.viewport_to_world(pose, cursor).ok()
    }

    /// Returns the point under the mouse in a plane through `point`.
    pub fn in_plane(&self, point: Vec3, normal: Dir3) -> Option<Vec3> {
        // If the mouse is above the horizon, the ray does not meet the plane.
        self.ray()?
            .plane_intersection_point(point, InfinitePlane3d { normal })
    }

    /// Returns the direction in which the camera looks.
    pub fn forward(&self) -> Dir3 {
        self.camera.1.forward()
    }
}

/// The speed at which the keys turn a collider, in radians per second.
const TURN: f32 = 1.5;

/// A collider that the mouse can drag.
#[derive(Component)]
pub struct Draggable;

/// The collider that the mouse drags.
#[derive(Resource, Default)]
pub struct Drag {
    /// The collider that was dragged last.
    pub entity: Option<Entity>,
    /// The point at which the mouse holds the collider, if the button is down.
    held_at: Option<Vec3>,
}

/// Drags the 2D collider under the mouse while the left button is down.
pub fn drag(
    pointer: Pointer,
    buttons: Res<ButtonInput<MouseButton>>,
    query: SpatialQuery,
    mut draggable: Query<&mut Transform, With<Draggable>>,
    mut drag: ResMut<Drag>,
) {
    if buttons.just_pressed(MouseButton::Left)
        && let Some(cursor) = pointer.position()
    {
        let is_draggable = |entity| draggable.contains(entity);
        let filter = SpatialQueryFilter::default().with_predicate(&is_draggable);
        if let Some(near) = query.closest_to_point(cursor, NEAR, &filter) {
            drag.entity = Some(near.entity);
            drag.held_at = Some(cursor.extend(0.0));
        }
    }
    drag.follow(&pointer, Dir3::Z, &buttons, &mut draggable);
}

/// Drags the 3D collider under the mouse while the left button is down. The collider keeps its
/// height, unless the left shift key is down.
pub fn drag_3d(
    pointer: Pointer,
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    query: SpatialQuery,
    mut draggable: Query<&mut Transform, With<Draggable>>,
    mut drag: ResMut<Drag>,
) {
    if buttons.just_pressed(MouseButton::Left)
        && let Some(ray) = pointer.ray()
    {
        let ray = Ray::new(ray.origin, *ray.direction);
        if let Some(hit) = query.cast_ray(ray, &SpatialQueryFilter::default())
            && draggable.contains(hit.entity)
        {
            drag.entity = Some(hit.entity);
            drag.held_at = Some(hit.point);
        }
    }
    let normal = if keys.pressed(KeyCode::ShiftLeft) {
        pointer.forward()
    } else {
        Dir3::Y
    };
    drag.follow(&pointer, normal, &buttons, &mut draggable);
}

impl Drag {
    /// Moves the collider by the motion of the mouse in a plane.
    fn follow(
        &mut self,
        pointer: &Pointer,
        normal: Dir3,
        buttons: &ButtonInput<MouseButton>,
        draggable: &mut Query<&mut Transform, With<Draggable>>,
    ) {
        if !buttons.pressed(MouseButton::Left) {
            self.held_at = None;
        }
        if let (Some(entity), Some(from)) = (self.entity, self.held_at)
            && let Some(to) = pointer.in_plane(from, normal)
            && to != from
            && let Ok(mut pose) = draggable.get_mut(entity)
        {
            pose.translation += to - from;
            self.held_at = Some(to);
        }
    }
}

/// While Q or E is pressed, turns the collider that was dragged last. Runs in `FixedUpdate`.
pub fn turn(
    time: Res<Time>,
    keys: Res<ButtonInput<KeyCode>>,
    drag: Res<Drag>,
    mut draggable: Query<&mut Transform, With<Draggable>>,
) {
    let speed = f32::from(keys.pressed(KeyCode::KeyQ)) - f32::from(keys.pressed(KeyCode::KeyE));
    if speed != 0.0
        && let Some(entity) = drag.entity
        && let Ok(mut pose) = draggable.get_mut(entity)
    {
        pose.rotate_z(speed * TURN * time.delta_secs());
    }
}
