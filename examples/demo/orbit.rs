//! A camera that turns around a point: drag with the right mouse button or press the arrow keys,
//! and zoom with the wheel.

use bevy::{
    core_pipeline::tonemapping::Tonemapping,
    input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll},
    light::CascadeShadowConfigBuilder,
    mesh::PrimitiveTopology,
    prelude::*,
};
use headbutt::prelude::*;

use super::fill;

const GROUND: Color = Color::srgb(0.1, 0.115, 0.145);
/// The color of a lit ground that looks like [`GROUND`] under the light.
const LIT_GROUND: Color = Color::srgb(0.075, 0.085, 0.105);
const GRID: Color = Color::srgb(0.17, 0.19, 0.24);

/// The speed at which the arrow keys turn the camera, in radians per second.
const TURN: f32 = 1.2;

/// The point that a camera looks at, and the position of the camera relative to this point.
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

/// The light of a scene.
#[derive(Clone, Copy, PartialEq)]
pub enum Light {
    /// Shapes cast shadows on the ground.
    Shadows,
    /// No shadows and an unlit ground, so that frames are drawn several times as fast.
    Plain,
}

/// Returns a 3D camera, and a light that moves with the camera and shines from the upper left.
pub fn camera(orbit: Orbit, light: Light) -> impl Bundle {
    let light = DirectionalLight {
        illuminance: 4200.0,
        shadow_maps_enabled: light == Light::Shadows,
        ..default()
    };
    (
        lens(orbit, 300.0),
        children![sun(light, 2.0 * orbit.distance)],
    )
}

/// Returns a 3D camera, and the brightness of places that no light reaches.
pub fn lens(orbit: Orbit, brightness: f32) -> impl Bundle {
    let ambient = AmbientLight {
        brightness,
        ..default()
    };
    // Without tone mapping, colors stay as they are, and Bevy needs no lookup tables.
    (
        Camera3d::default(),
        Tonemapping::None,
        ambient,
        orbit,
        orbit.pose(),
    )
}

/// Returns a light that shines from the upper left. Within a distance from the camera, it casts
/// shadows.
pub fn sun(light: DirectionalLight, distance: f32) -> impl Bundle {
    let shadows = CascadeShadowConfigBuilder {
        num_cascades: 1,
        maximum_distance: distance,
        ..default()
    };
    let from = Transform::from_xyz(-1.0, 2.0, 1.5).looking_at(Vec3::ZERO, Vec3::Y);
    (light, shadows.build(), from)
}

/// Returns the ground, a half-space below y = 0 with a grid.
pub fn ground(
    light: Light,
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
) -> impl Bundle {
    let collider = Collider::half_space(Vec3::Y);
    let mut material = |base_color, unlit| {
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color,
            unlit,
            perceptual_roughness: 1.0,
            reflectance: 0.0,
            ..default()
        }))
    };
    let mesh = Mesh3d(meshes.add(fill::mesh_3d(&collider)));
    let grid = (
        Mesh3d(meshes.add(grid())),
        material(GRID, true),
        Transform::from_xyz(0.0, 0.01, 0.0),
    );
    let ground = match light {
        Light::Shadows => material(LIT_GROUND, false),
        Light::Plain => material(GROUND, true),
    };
    (collider, mesh, ground, children![grid])
}

fn grid() -> Mesh {
    let end = 40.0;
    let lines = (-20..=20).flat_map(|index| {
        let at = 2.0 * index as f32;
        [
            [at, 0.0, -end],
            [at, 0.0, end],
            [-end, 0.0, at],
            [end, 0.0, at],
        ]
    });
    Mesh::new(PrimitiveTopology::LineList, default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, lines.collect::<Vec<_>>())
}

/// Turns and zooms the camera.
pub fn orbit(
    time: Res<Time>,
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
    mut camera: Single<(&mut Orbit, &mut Transform)>,
) {
    let (orbit, pose) = &mut *camera;
    if buttons.pressed(MouseButton::Right) {
        orbit.yaw -= 0.006 * motion.delta.x;
        orbit.pitch += 0.006 * motion.delta.y;
    }
    let axis = |less, more| f32::from(keys.pressed(more)) - f32::from(keys.pressed(less));
    let angle = TURN * time.delta_secs();
    orbit.yaw += angle * axis(KeyCode::ArrowLeft, KeyCode::ArrowRight);
    orbit.pitch += angle * axis(KeyCode::ArrowDown, KeyCode::ArrowUp);
    orbit.pitch = orbit.pitch.clamp(-1.5, 1.5);
    orbit.distance = (orbit.distance * (-0.1 * scroll.delta.y).exp()).clamp(1.0, 500.0);
    **pose = orbit.pose();
}
