//! The first game of the README without a window: the right arrow key is held, and a wall stops the
//! player. It prints the contact, and ends by itself.
//!
//! ```text
//! cargo run --example hello
//! ```
//!
//! The rest below `hold_right` is the same as in `first_game.rs`.

use bevy::prelude::*;
use headbutt::prelude::*;

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (hold_right, walk).chain())
        .add_systems(FixedPostUpdate, push_out.after(HeadbuttSystems::Report));
    headbutt::run_ticks(&mut app, 120);

    let mut players = app.world_mut().query_filtered::<&Transform, With<Player>>();
    for player in players.iter(app.world()) {
        println!("it stands at {}", player.translation);
        // The left side of the wall is at 85, and the radius of the player is 20.
        assert!(player.translation.abs_diff_eq(Vec3::X * 65.0, 1e-3));
    }
}

fn hold_right(mut player: Single<&mut Player>) {
    player.0 = Vec3::X;
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
