//! Breakout with a ball at 10 times the usual speed. In a tick, the ball moves by almost three of
//! its diameters, which is more than the thickness of walls and bricks. The ball never leaves the
//! arena.
//!
//! ```text
//! cargo run --example breakout
//! ```
//!
//! The example checks the position of the ball in each tick, opens no window, and ends by itself.

use bevy::prelude::*;
use headbutt::prelude::*;

const SPEED: f32 = 3_000.0;
const RADIUS: f32 = 8.0;
const ARENA: Vec2 = Vec2::new(400.0, 300.0);

#[derive(Component)]
struct Ball {
    velocity: Vec2,
    /// The fraction of the previous tick that was left after the bounce.
    carry: f32,
}

#[derive(Component)]
struct Brick;

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, fly)
        .add_systems(FixedPostUpdate, bounce.after(HeadbuttSystems::Report));
    for _ in 0..10_000 {
        headbutt::run_ticks(&mut app, 1);
        let mut balls = app.world_mut().query_filtered::<&Transform, With<Ball>>();
        for pose in balls.iter(app.world()) {
            let room = ARENA - RADIUS + 0.01 - pose.translation.truncate().abs();
            assert!(room.min_element() > 0.0, "outside: {}", pose.translation);
        }
    }
    let mut bricks = app.world_mut().query_filtered::<(), With<Brick>>();
    let left = bricks.iter(app.world()).count();
    println!("after 10,000 ticks, {left} bricks are left, and the ball is in the arena");
    assert_eq!(left, 0);
}

fn spawn(mut commands: Commands) {
    for side in [Vec2::X, Vec2::NEG_X, Vec2::Y, Vec2::NEG_Y] {
        let wall = Collider::rectangle(2.0, 2.0 * ARENA.max_element());
        let pose = Transform::from_translation((side * (ARENA + 1.0)).extend(0.0));
        commands.spawn((
            wall,
            pose.with_rotation(Quat::from_rotation_z(side.to_angle())),
        ));
    }
    for (row, column) in (0..4).flat_map(|row| (0..12).map(move |column| (row, column))) {
        let pose =
            Transform::from_xyz(60.0 * column as f32 - 330.0, 100.0 + 40.0 * row as f32, 0.0);
        commands.spawn((Brick, Collider::rectangle(50.0, 6.0), pose));
    }
    let velocity = Vec2::from_angle(1.0) * SPEED;
    let ball = Ball {
        velocity,
        carry: 0.0,
    };
    commands.spawn((ball, Collider::circle(RADIUS), Swept, Teleported));
}

fn fly(time: Res<Time>, ball: Single<(&mut Ball, &mut Transform)>) {
    let (mut ball, mut pose) = ball.into_inner();
    let step = time.delta_secs() * (1.0 + core::mem::take(&mut ball.carry));
    pose.translation += (ball.velocity * step).extend(0.0);
}

fn bounce(
    mut commands: Commands,
    mut hits: MessageReader<CollisionEvent>,
    ball: Single<(Entity, &mut Ball, &mut Transform)>,
    bricks: Query<(), With<Brick>>,
) {
    let (entity, mut ball, mut pose) = ball.into_inner();
    // Only the first hit of the path counts, because the ball flies in another direction after this
    // hit.
    let mut starts = hits.read().filter(|hit| hit.started());
    let first = starts.find_map(|hit| hit.seen_from(entity));
    hits.clear();
    let Some(hit) = first else {
        return;
    };
    ball.velocity = ball.velocity.reflect(hit.in_2d().normal);
    ball.carry = hit.remaining_time();
    pose.translation = hit.translation();
    // The next path begins at the touch.
    commands.entity(entity).insert(Teleported);
    if bricks.contains(hit.other) {
        commands.entity(hit.other).despawn();
    }
}
