//! A camera that turns around a point: drag with the right mouse button, zoom with the wheel.

use bevy::{
    input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll},
    prelude::*,
};

/// The point that a camera looks at, and from where.
#[derive(Component, Clone, Copy)]
pub struct Orbit {
    pub center: Vec3,
    pub distance: f32,
    /// The angle around the up axis, in radians.
    pub yaw: f32,
    /// The angle above the horizon, in radians.
    pub pitch: f32,
}

impl Orbit {
    /// Returns the pose of the camera.
    pub fn pose(self) -> Transform {
        let rotation = Quat::from_euler(EulerRot::YXZ, self.yaw, -self.pitch, 0.0);
        let back = rotation * Vec3::Z * self.distance;
        Transform::from_translation(self.center + back).with_rotation(rotation)
    }
}

/// Turns and zooms the camera.
pub fn orbit(
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
    mut camera: Single<(&mut Orbit, &mut Transform)>,
) {
    let (orbit, pose) = &mut *camera;
    if buttons.pressed(MouseButton::Right) {
        orbit.yaw -= 0.006 * motion.delta.x;
        orbit.pitch = (orbit.pitch + 0.006 * motion.delta.y).clamp(-1.5, 1.5);
    }
    orbit.distance = (orbit.distance * (-0.1 * scroll.delta.y).exp()).clamp(1.0, 500.0);
    **pose = orbit.pose();
}
