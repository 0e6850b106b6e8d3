//! The first game of the README without a window: the player walks to the right into a wall.
//! The program prints the contact, and ends by itself.
//!
//! ```text
//! cargo run --example hello
//! ```
//!
//! `first_game.rs` is the same game with a window, and with keys that move the player.

use bevy::prelude::*;
use headbutt::prelude::*;

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, walk)
        .add_systems(FixedPostUpdate, push_out.after(HeadbuttSystems::Report));
    headbutt::run_ticks(&mut app, 120);

    let mut players = app.world_mut().query_filtered::<&Transform, With<Player>>();
    for pose in players.iter(app.world()) {
        println!("it stands at {}", pose.translation);
        // The left side of the wall is at 85, and the radius of the player is 20.
        assert!(pose.translation.abs_diff_eq(Vec3::X * 65.0, 1e-3));
    }
}

fn walk(time: Res<Time>, mut pose: Single<&mut Transform, With<Player>>) {
    pose.translation.x += 200.0 * time.delta_secs();
}

#[derive(Component)]
struct Player;

fn spawn(mut commands: Commands) {
    commands.spawn((Player, Collider::circle(20.0)));
    let at = Transform::from_xyz(100.0, 0.0, 0.0);
    commands.spawn((Collider::rectangle(30.0, 200.0), at));
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
