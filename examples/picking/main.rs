//! Colliders under the mouse: hover, click to select, and drag over the ground. Bevy's picking
//! sends the events, and headbutt finds the collider under the mouse.
//!
//! ```text
//! cargo run --example picking --features demo
//! ```
//!
//! The events have the names of Bevy 0.19. In Bevy 0.20, for example, `Pointer<Click>` is
//! `PointerClick`.

#[path = "../demo/mod.rs"]
mod demo;

use bevy::{
    picking::{hover::HoverMap, pointer::PointerId},
    prelude::*,
};
use demo::{
    BLUE, GREEN, INK, ORANGE, Readout, fill,
    orbit::{self, Light, Orbit},
};
use headbutt::prelude::*;

/// The shape that was clicked last.
#[derive(Resource, Default)]
struct Selected(Option<Entity>);

/// The point at which the mouse holds the dragged shape.
#[derive(Resource, Default)]
struct HeldAt(Vec3);

/// The colors of shapes.
#[derive(Resource)]
struct Materials {
    plain: Handle<StandardMaterial>,
    hovered: Handle<StandardMaterial>,
    selected: Handle<StandardMaterial>,
}

type Material = MeshMaterial3d<StandardMaterial>;

fn main() -> AppExit {
    let keys =
        "mouse: hover, click, drag    right button or arrows: turn the camera    wheel: zoom";
    demo::app("Picking", keys)
        .add_plugins(HeadbuttPickingPlugin)
        .init_resource::<Selected>()
        .init_resource::<HeldAt>()
        .add_systems(Startup, (style, spawn))
        .add_systems(Update, (orbit::orbit, describe))
        .run()
}

/// Makes the debug plugin draw only the outline of the selected shape.
fn style(mut store: ResMut<GizmoConfigStore>) {
    let (config, gizmos) = store.config_mut::<HeadbuttGizmos>();
    gizmos.require_component = true;
    gizmos.contact_points = false;
    gizmos.contact_normals = false;
    config.depth_bias = -0.01;
    let (config, _) = store.config_mut::<DefaultGizmoConfigGroup>();
    config.line.width = 4.0;
    config.depth_bias = -1.0;
}

fn shapes() -> [(&'static str, Collider, [f32; 2]); 8] {
    let hull = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| [axis, -axis]);
    let bar = |x, z| (Vec3::ZERO, Collider::cuboid(x, 0.6, z));
    [
        ("sphere", Collider::sphere(0.9), [-4.2, -2.0]),
        ("cuboid", Collider::cuboid(1.6, 1.2, 1.3), [-1.4, -1.6]),
        ("cone", Collider::cone(0.9, 2.0), [1.5, -2.2]),
        ("capsule", Collider::capsule_3d(0.5, 1.0), [4.3, -1.8]),
        ("cylinder", Collider::cylinder(0.8, 1.0), [-3.5, 1.6]),
        (
            "hull",
            Collider::convex_hull(hull.into_iter().flatten()),
            [-0.6, 1.9],
        ),
        (
            "compound",
            Collider::compound([bar(2.0, 0.6), bar(0.6, 2.0)]),
            [2.2, 1.4],
        ),
        (
            "rounded box",
            Collider::cuboid(0.8, 0.6, 0.7).rounded(0.3),
            [4.8, 2.0],
        ),
    ]
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let orbit = Orbit {
        center: Vec3::ZERO,
        distance: 13.0,
        yaw: 0.3,
        pitch: 0.6,
    };
    commands.spawn(orbit::camera(orbit, Light::Shadows));
    let mut material = |color: Color| {
        materials.add(StandardMaterial {
            base_color: color,
            perceptual_roughness: 0.8,
            ..default()
        })
    };
    let plain = material(BLUE);

    for (name, collider, [x, z]) in shapes() {
        // The shape stands on the ground: its lowest point has y = 0.
        let height = collider.aabb(Vec3::ZERO).map_or(0.0, |aabb| -aabb.min.y);
        let pose = Transform::from_xyz(x, height, z);
        let mesh = Mesh3d(meshes.add(fill::mesh_3d(&collider)));
        let fill = (mesh, MeshMaterial3d(plain.clone()));
        commands
            .spawn((collider, pose, Name::new(name), fill))
            .observe(hover)
            .observe(leave)
            .observe(select)
            .observe(grab)
            .observe(drag);
    }

    commands.insert_resource(Materials {
        plain,
        hovered: material(BLUE.mix(&INK, 0.4)),
        selected: material(ORANGE),
    });

    let ground = orbit::ground(Light::Shadows, &mut meshes, &mut materials);
    commands
        .spawn((ground, Name::new("ground")))
        .observe(deselect);
}

fn hover(
    over: On<Pointer<Over>>,
    materials: Res<Materials>,
    selected: Res<Selected>,
    mut shapes: Query<&mut Material>,
) -> Result {
    paint_unselected(over.entity, &materials.hovered, &selected, &mut shapes)
}

fn leave(
    out: On<Pointer<Out>>,
    materials: Res<Materials>,
    selected: Res<Selected>,
    mut shapes: Query<&mut Material>,
) -> Result {
    paint_unselected(out.entity, &materials.plain, &selected, &mut shapes)
}

/// Changes the material of a shape, unless it is the selected shape.
fn paint_unselected(
    entity: Entity,
    material: &Handle<StandardMaterial>,
    selected: &Selected,
    shapes: &mut Query<&mut Material>,
) -> Result {
    if selected.0 != Some(entity) {
        shapes.get_mut(entity)?.0 = material.clone();
    }
    Ok(())
}

fn select(
    click: On<Pointer<Click>>,
    materials: Res<Materials>,
    mut selected: ResMut<Selected>,
    mut shapes: Query<&mut Material>,
    mut commands: Commands,
) -> Result {
    if click.button == PointerButton::Primary {
        unmark(&mut selected, &materials, &mut shapes, &mut commands)?;
        selected.0 = Some(click.entity);
        shapes.get_mut(click.entity)?.0 = materials.selected.clone();
        let outline = ColliderGizmo::Color(INK);
        commands.entity(click.entity).insert(outline);
    }
    Ok(())
}

/// Observes a click on the ground, and deselects the selected shape.
fn deselect(
    click: On<Pointer<Click>>,
    materials: Res<Materials>,
    mut selected: ResMut<Selected>,
    mut shapes: Query<&mut Material>,
    mut commands: Commands,
) -> Result {
    if click.button == PointerButton::Primary {
        unmark(&mut selected, &materials, &mut shapes, &mut commands)?;
    }
    Ok(())
}

fn unmark(
    selected: &mut Selected,
    materials: &Materials,
    shapes: &mut Query<&mut Material>,
    commands: &mut Commands,
) -> Result {
    if let Some(entity) = selected.0.take() {
        shapes.get_mut(entity)?.0 = materials.plain.clone();
        commands.entity(entity).remove::<ColliderGizmo>();
    }
    Ok(())
}

fn grab(start: On<Pointer<DragStart>>, mut held_at: ResMut<HeldAt>) {
    held_at.0 = start.hit.position.unwrap_or_default();
}

/// Moves the shape at the same height, so that the grabbed point stays under the mouse.
fn drag(
    drag: On<Pointer<Drag>>,
    camera: Single<(&Camera, &GlobalTransform)>,
    mut held_at: ResMut<HeldAt>,
    mut poses: Query<&mut Transform>,
) -> Result {
    if drag.button != PointerButton::Primary {
        return Ok(());
    }
    let (camera, view) = *camera;
    let ray = camera.viewport_to_world(view, drag.pointer_location.position)?;
    // If the mouse is above the horizon, the ray does not meet the plane.
    if let Some(point) = ray.plane_intersection_point(held_at.0, InfinitePlane3d::new(Vec3::Y)) {
        poses.get_mut(drag.entity)?.translation += point - held_at.0;
        held_at.0 = point;
    }
    Ok(())
}

/// Draws the point and the normal under the mouse.
fn describe(
    hovered: Res<HoverMap>,
    names: Query<&Name>,
    mut readout: ResMut<Readout>,
    mut gizmos: Gizmos,
) {
    let mouse = hovered.get(&PointerId::Mouse);
    let hits = mouse.into_iter().flatten();
    let known = hits.filter_map(|(&entity, hit)| {
        let name = names.get(entity).ok()?;
        Some((name, hit.position?, hit.normal?))
    });
    readout.0 = "Point at something.".to_owned();
    for (name, point, normal) in known {
        gizmos.arrow(point, point + normal, GREEN);
        readout.0 = format!("{name}: point {point:.2}, normal {normal:.2}");
    }
}
