//! All 3D shapes except points and segments. Drag a shape over others: touching shapes light up.
//!
//! ```text
//! cargo run --example gallery_3d --features demo
//! ```

#[path = "../demo/mod.rs"]
mod demo;
mod shapes;

use bevy::prelude::*;
use demo::{
    BLUE, ORANGE, fill, labels,
    light::{Materials, light_up},
    orbit::{self, Light, Orbit},
    pointer::*,
    report,
};
use headbutt::prelude::*;

fn main() -> AppExit {
    let keys = "mouse: drag a shape, with shift up and down    Q, E: turn it    L: lines    \
        right button or arrows: turn the camera    wheel: zoom";
    demo::app("3D shapes", keys)
        .add_systems(Startup, (style, spawn))
        .add_systems(
            Update,
            (
                drag_3d,
                orbit::orbit,
                show_lines,
                light_up::<MeshMaterial3d<StandardMaterial>>,
                report::describe,
            ),
        )
        .add_systems(FixedUpdate, turn)
        .run()
}

fn style(mut store: ResMut<GizmoConfigStore>) {
    let (config, gizmos) = store.config_mut::<HeadbuttGizmos>();
    gizmos.shapes = false;
    gizmos.colors.moving = gizmos.colors.resting;
    config.line.width = 2.0;
    // Contacts are inside of the shapes, so they are drawn over everything.
    config.depth_bias = -1.0;
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let orbit = Orbit {
        center: Vec3::new(0.0, -0.2, 0.6),
        distance: 16.5,
        yaw: 0.0,
        pitch: 0.85,
    };
    commands.spawn(orbit::camera(orbit, Light::Shadows));
    let mut material = |color: Color| {
        materials.add(StandardMaterial {
            base_color: color,
            perceptual_roughness: 0.8,
            // Triangles and surfaces have no inside, so both of their sides are drawn.
            double_sided: true,
            cull_mode: None,
            ..default()
        })
    };
    let colors = Materials {
        resting: MeshMaterial3d(material(BLUE)),
        touching: MeshMaterial3d(material(ORANGE)),
    };

    for (index, (name, collider, scale)) in shapes::all().into_iter().enumerate() {
        let (row, column) = ((index / 6) as f32, (index % 6) as f32);
        let place = Vec3::new(3.2 * (column - 2.5), 0.0, 4.1 * (row - 1.0));
        let pose = Transform::from_translation(place)
            .with_rotation(Quat::from_rotation_y(0.5))
            .with_scale(scale);
        let mesh = Mesh3d(meshes.add(fill::mesh_3d(&collider)));
        let fill = (mesh, colors.resting.clone());
        let touched = CollidingEntities::default();
        let shape = commands.spawn((collider, pose, Name::new(name), fill, touched, Draggable));
        let shape = shape.id();
        commands.spawn(labels::label(name, shape, 1.15));
    }

    let ground = orbit::ground(Light::Shadows, &mut meshes, &mut materials);
    // The origin is in front of the shapes, where the label is legible.
    let pose = Transform::from_xyz(0.0, -1.3, 5.7);
    let name = "half_space";
    let ground = commands
        .spawn((ground, pose, Name::new(name), ColliderGizmo::Hidden))
        .id();
    commands.spawn(labels::label(name, ground, 0.0));
    commands.insert_resource(colors);
}

fn show_lines(keys: Res<ButtonInput<KeyCode>>, mut store: ResMut<GizmoConfigStore>) {
    if keys.just_pressed(KeyCode::KeyL) {
        let (_, gizmos) = store.config_mut::<HeadbuttGizmos>();
        gizmos.shapes = !gizmos.shapes;
    }
}
