//! Two blocks: one is pushed out of the other by the minimum translation.
//!
//! ```text
//! cargo run --example blocks_2d --features demo
//! ```

#[path = "../demo/mod.rs"]
mod demo;

use bevy::prelude::*;
use demo::{BLUE, FAINT, INK, ORANGE, Readout, YELLOW, fill::Fill, pointer::Draggable};
use headbutt::prelude::*;

const SPEED: f32 = 4.0;
const TURN: f32 = 1.5;

#[derive(Component)]
struct A;

#[derive(Component)]
struct B;

/// If `false`, the blocks may overlap, and the demo draws the translation that would separate them.
#[derive(Resource)]
struct PushOut(bool);

/// B's last contact with A.
#[derive(Resource, Default)]
struct LastHit(Option<CollisionEvent>);

fn main() -> AppExit {
    let keys = "arrows: move B    I: turn B    O: turn A    mouse: drag    space: push out, or not";
    demo::app("Two blocks", keys)
        .insert_resource(PushOut(true))
        .init_resource::<LastHit>()
        .add_systems(Startup, (spawn, style))
        .add_systems(Update, (demo::pointer::drag, switch, describe, draw))
        .add_systems(FixedUpdate, steer)
        .add_systems(FixedPostUpdate, push_out.after(HeadbuttSystems::Report))
        .run()
}

fn spawn(mut commands: Commands) {
    commands.spawn(demo::camera_2d(9.0));
    let block = |size: Vec2, x: f32, name: &str, color: Color| {
        let label = (
            Text2d::new(name),
            TextFont::from_font_size(64.0),
            TextColor(INK),
            Transform::from_xyz(0.0, 0.0, 1.0).with_scale(Vec3::splat(0.012)),
        );
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        (
            Collider::rectangle(size.x, size.y),
            pose,
            Fill::collider(color.with_alpha(0.8)),
            Draggable,
            children![label],
        )
    };
    commands.spawn((A, block(Vec2::new(3.0, 2.0), -1.0, "A", BLUE)));
    commands.spawn((B, block(Vec2::new(2.0, 2.0), 4.0, "B", ORANGE)));
}

/// Hides the contact normals: the demo itself draws the minimum translation of B.
fn style(mut store: ResMut<GizmoConfigStore>) {
    store.config_mut::<HeadbuttGizmos>().1.contact_normals = false;
    let (lines, _) = store.config_mut::<DefaultGizmoConfigGroup>();
    lines.line.width = 4.0;
}

fn steer(
    time: Res<Time>,
    keys: Res<ButtonInput<KeyCode>>,
    mut a: Single<&mut Transform, With<A>>,
    mut b: Single<&mut Transform, (With<B>, Without<A>)>,
) {
    let axis = |less, more| f32::from(keys.pressed(more)) - f32::from(keys.pressed(less));
    let direction = Vec3::new(
        axis(KeyCode::ArrowLeft, KeyCode::ArrowRight),
        axis(KeyCode::ArrowDown, KeyCode::ArrowUp),
        0.0,
    );
    let seconds = time.delta_secs();
    b.translation += SPEED * seconds * direction.normalize_or_zero();
    if keys.pressed(KeyCode::KeyI) {
        b.rotate_z(TURN * seconds);
    }
    if keys.pressed(KeyCode::KeyO) {
        a.rotate_z(TURN * seconds);
    }
}

fn switch(keys: Res<ButtonInput<KeyCode>>, mut push_out: ResMut<PushOut>) {
    if keys.just_pressed(KeyCode::Space) {
        push_out.0 = !push_out.0;
    }
}

fn push_out(
    collisions: Res<Collisions>,
    b: Single<Entity, With<B>>,
    enabled: Res<PushOut>,
    mut last: ResMut<LastHit>,
    mut mover: WorldMover,
) -> Result {
    last.0 = collisions.deepest_of(*b).next();
    if enabled.0 {
        mover.translate(*b, collisions.push_out(*b, |_hit| true).translation())?;
    }
    Ok(())
}

fn describe(
    last: Res<LastHit>,
    push_out: Res<PushOut>,
    a: Single<(&Collider, &Transform), With<A>>,
    b: Single<(&Collider, &Transform), With<B>>,
    mut readout: ResMut<Readout>,
) {
    readout.0 = match last.0 {
        Some(hit) if hit.depth < 5e-4 => "B touches A".to_owned(),
        Some(hit) => {
            let (depth, normal, out) = (hit.depth, hit.normal, hit.minimum_translation());
            let then = if push_out.0 {
                "moved"
            } else {
                "would have to move"
            };
            format!(
                "B overlaps A: depth {depth:.3}, normal ({:.2}, {:.2})\n\
                 B {then} by ({:.3}, {:.3})",
                normal.x, normal.y, out.x, out.y,
            )
        }
        None => {
            let apart = query::distance(a.0, *a.1, b.0, *b.1);
            format!("B is {:.3} away from A", apart.distance)
        }
    };
}

/// Draws the shortest line between the blocks. If the blocks overlap, draws the minimum translation
/// of B instead. If B is not pushed out, also draws B after this translation.
fn draw(
    last: Res<LastHit>,
    push_out: Res<PushOut>,
    a: Single<(&Collider, &Transform), With<A>>,
    b: Single<(&Collider, &Transform), With<B>>,
    mut gizmos: Gizmos,
) {
    let Some(hit) = last.0 else {
        let apart = query::distance(a.0, *a.1, b.0, *b.1);
        gizmos.line(apart.point_a, apart.point_b, FAINT);
        return;
    };
    let hit = hit.in_2d();
    if !push_out.0 {
        let start = b.1.translation.truncate();
        let target = start + hit.minimum_translation;
        let rotation = Rot2::radians(b.1.rotation.to_euler(EulerRot::XYZ).2);
        gizmos.rect_2d(Isometry2d::new(target, rotation), Vec2::splat(2.0), YELLOW);
    }
    gizmos
        .arrow_2d(hit.point, hit.point + hit.minimum_translation, INK)
        .with_tip_length(0.2);
}
