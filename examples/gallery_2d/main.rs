//! All 2D shapes. Drag a shape over others: touching shapes light up.
//!
//! ```text
//! cargo run --example gallery_2d --features demo
//! ```

#[path = "../demo/mod.rs"]
mod demo;

use bevy::{math::DVec2, prelude::*};
use demo::{
    BLUE, GRAY, ORANGE, fill, labels,
    light::{Materials, light_up},
    pointer::*,
    report,
};
use headbutt::prelude::*;

/// The set of points (x, y) with x⁴ + y⁴ <= r⁴, for the radius r.
struct Squircle(f64);

/// The farthest point in a direction is where the gradient of x⁴ + y⁴ has that direction.
impl Support for Squircle {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        let root = DVec2::new(direction.x.cbrt(), direction.y.cbrt());
        self.0 * root / (root.x.powi(4) + root.y.powi(4)).powf(0.25)
    }
}

fn main() -> AppExit {
    let keys = "mouse: drag a shape    Q, E: turn it    B: boxes";
    demo::app("2D shapes", keys)
        .add_systems(Startup, (style, spawn))
        .add_systems(
            Update,
            (
                drag,
                show_boxes,
                light_up::<MeshMaterial2d<ColorMaterial>>,
                report::describe,
            ),
        )
        .add_systems(FixedUpdate, turn)
        .run()
}

/// Returns the shapes with their names and scales.
fn shapes() -> [(&'static str, Collider, Vec2); 18] {
    let hull = [
        (-0.9, -0.3),
        (-0.2, -0.75),
        (0.8, -0.4),
        (0.7, 0.5),
        (-0.3, 0.75),
    ];
    let line = [
        (-0.9, -0.5),
        (-0.45, 0.5),
        (0.0, -0.5),
        (0.45, 0.5),
        (0.9, -0.5),
    ];
    let zigzag = || Collider::polyline(line.map(Vec2::from));
    let [a, b, c] = [(-0.9, -0.6), (0.9, -0.6), (-0.3, 0.8)].map(Vec2::from);
    let corner = [
        (Vec2::new(-0.45, 0.0), Collider::rectangle(0.6, 1.5)),
        (Vec2::new(0.3, -0.45), Collider::rectangle(0.9, 0.6)),
    ];
    let squeezed = Vec2::new(1.0, 0.5);
    let plain = |name, collider| (name, collider, Vec2::ONE);
    [
        plain("circle", Collider::circle(0.8)),
        plain("ellipse", Collider::ellipse(0.95, 0.55)),
        plain("capsule_2d", Collider::capsule_2d(0.42, 0.9)),
        plain("rectangle", Collider::rectangle(1.7, 1.1)),
        plain("Rhombus", Collider::from(Rhombus::new(1.8, 1.2))),
        plain("triangle", Collider::triangle(a, b, c)),
        plain("regular_polygon", Collider::regular_polygon(0.85, 6)),
        plain("convex_hull", Collider::convex_hull(hull.map(Vec2::from))),
        plain("CircularSegment", CircularSegment::new(0.9, 1.3).into()),
        plain("CircularSector", CircularSector::new(0.95, 0.8).into()),
        plain("segment", Collider::segment(a, c)),
        plain("rounded Vec2", Collider::from(Vec2::ZERO).rounded(0.3)),
        plain("rounded", Collider::regular_polygon(0.6, 3).rounded(0.25)),
        plain("polyline", zigzag()),
        plain("rounded polyline", zigzag().rounded(0.12)),
        plain("compound", Collider::compound(corner)),
        plain("custom", Collider::custom(Squircle(0.75))),
        (
            "scale (1.0, 0.5)",
            Collider::regular_polygon(0.95, 5),
            squeezed,
        ),
    ]
}

fn style(mut store: ResMut<GizmoConfigStore>) {
    let (config, gizmos) = store.config_mut::<HeadbuttGizmos>();
    config.line.width = 2.5;
    // Moving and resting shapes have the same color.
    gizmos.colors.moving = gizmos.colors.resting;
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut colors: ResMut<Assets<ColorMaterial>>,
) {
    commands.spawn(demo::camera_2d(10.0));
    let materials = Materials {
        resting: MeshMaterial2d(colors.add(BLUE.with_alpha(0.4))),
        touching: MeshMaterial2d(colors.add(ORANGE.with_alpha(0.5))),
    };

    for (index, (name, collider, scale)) in shapes().into_iter().enumerate() {
        let (row, column) = ((index / 6) as f32, (index % 6) as f32);
        let place = Vec3::new(2.75 * (column - 2.5), 2.5 - 2.3 * row, 0.0);
        let mesh = Mesh2d(meshes.add(fill::mesh_2d(&collider)));
        let fill = (mesh, materials.resting.clone());
        let pose = Transform::from_translation(place).with_scale(scale.extend(1.0));
        let touched = CollidingEntities::default();
        let shape = commands.spawn((collider, pose, Name::new(name), fill, touched, Draggable));
        let shape = shape.id();
        commands.spawn(labels::label(name, shape, 1.0));
    }

    let ground = Collider::half_space(Vec2::Y);
    let mesh = Mesh2d(meshes.add(fill::mesh_2d(&ground)));
    let fill = (mesh, MeshMaterial2d(colors.add(GRAY.with_alpha(0.5))));
    let pose = Transform::from_xyz(0.0, -3.7, -1.0);
    let name = "half_space";
    commands.spawn((ground, pose, Name::new(name), fill));
    // The label is between two of the lines that hatch the half-space.
    let between = commands.spawn(Transform::from_xyz(-2.4, -3.65, 0.0)).id();
    commands.spawn(labels::label(name, between, 0.3));
    commands.insert_resource(materials);
}

fn show_boxes(keys: Res<ButtonInput<KeyCode>>, mut store: ResMut<GizmoConfigStore>) {
    if keys.just_pressed(KeyCode::KeyB) {
        let (_, gizmos) = store.config_mut::<HeadbuttGizmos>();
        gizmos.boxes = !gizmos.boxes;
    }
}
