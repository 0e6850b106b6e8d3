//! A player walks with the arrow keys until a wall stops it. Only the debug plugin draws: the
//! outlines of the colliders, and their contacts.
//!
//! ```text
//! cargo run --example first_game --features demo
//! ```
//!
//! To begin a game of your own, copy this file to `src/main.rs` of an empty project, and copy the
//! dependencies in the README to its `Cargo.toml`. `hello` is a version without a window.

use bevy::prelude::*;
use headbutt::prelude::*;

fn main() {
    App::new()
        .add_plugins(DefaultPlugins)
        .add_plugins((HeadbuttPlugin::default(), HeadbuttDebugPlugin))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, walk)
        .add_systems(FixedPostUpdate, push_out.after(HeadbuttSystems::Report))
        .run();
}

fn walk(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time>,
    mut pose: Single<&mut Transform, With<Player>>,
) {
    let along = |less, more| f32::from(keys.pressed(more)) - f32::from(keys.pressed(less));
    let x = along(KeyCode::ArrowLeft, KeyCode::ArrowRight);
    let y = along(KeyCode::ArrowDown, KeyCode::ArrowUp);
    pose.translation += Vec3::new(x, y, 0.0) * 200.0 * time.delta_secs();
}

#[derive(Component)]
struct Player;

fn spawn(mut commands: Commands) {
    commands.spawn((Player, Collider::circle(20.0)));
    let at = Transform::from_xyz(100.0, 0.0, 0.0);
    commands.spawn((Collider::rectangle(30.0, 200.0), at));
    commands.spawn(Camera2d);
}

fn push_out(
    mut hits: MessageReader<CollisionEvent>,
    collisions: Res<Collisions>,
    player: Single<Entity, With<Player>>,
    mut mover: WorldMover,
) -> Result {
    for hit in hits.read().filter_map(|hit| hit.seen_from(*player)) {
        if hit.started() {
            println!("hit {}, {} deep along {}", hit.other, hit.depth, hit.normal);
        }
    }
    // The shortest translation that moves the player out of all solid colliders.
    let push_out = collisions.push_out(*player, |_hit| true);
    mover.translate(*player, push_out.translation())?;
    Ok(())
}
