//! A player walks with the arrow keys, and a wall stops it. The outlines of the colliders are all
//! that is drawn.
//!
//! ```text
//! cargo run --example first_game --features demo
//! ```
//!
//! To begin a game of your own, copy the file to `src/main.rs` of an empty project. The example
//! `hello` is the same game without a window.

use bevy::prelude::*;
use headbutt::prelude::*;

fn main() {
    App::new()
        .add_plugins(DefaultPlugins)
        .add_plugins((HeadbuttPlugin::default(), HeadbuttDebugPlugin))
        .add_systems(Startup, (camera, spawn))
        .add_systems(FixedUpdate, (steer, walk).chain())
        .add_systems(FixedPostUpdate, push_out.after(HeadbuttSystems::Report))
        .run();
}

fn camera(mut commands: Commands) {
    commands.spawn(Camera2d);
}

fn steer(keys: Res<ButtonInput<KeyCode>>, mut player: Single<&mut Player>) {
    let along = |less, more| f32::from(keys.pressed(more)) - f32::from(keys.pressed(less));
    player.0.x = along(KeyCode::ArrowLeft, KeyCode::ArrowRight);
    player.0.y = along(KeyCode::ArrowDown, KeyCode::ArrowUp);
}

/// The direction in which the player walks.
#[derive(Component, Default)]
struct Player(Vec3);

fn spawn(mut commands: Commands) {
    commands.spawn((Player::default(), Collider::circle(20.0)));
    let at = Transform::from_xyz(100.0, 0.0, 0.0);
    commands.spawn((Collider::rectangle(30.0, 200.0), at));
}

fn walk(time: Res<Time>, player: Single<(&Player, &mut Transform)>) {
    let (player, mut pose) = player.into_inner();
    pose.translation += player.0.normalize_or_zero() * 200.0 * time.delta_secs();
}

fn push_out(
    mut hits: MessageReader<CollisionEvent>,
    collisions: Res<Collisions>,
    player: Single<Entity, With<Player>>,
    mut mover: WorldMover,
) -> Result {
    // `seen_from` flips the event if necessary, so that `hit.entity` is the player.
    for hit in hits.read().filter_map(|hit| hit.seen_from(*player)) {
        if hit.started() {
            let (depth, normal) = (hit.depth, hit.normal);
            println!("the player hit {}, {depth} deep along {normal}", hit.other);
        }
    }
    // The shortest way out of everything solid. `WorldMover` applies it under any parent.
    let push_out = collisions.push_out(*player, |_hit| true);
    mover.translate(*player, push_out.translation())?;
    Ok(())
}
