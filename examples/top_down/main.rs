//! A shooter from above: enemies that chase the player when they see the player, swept bullets,
//! coins and walls.
//!
//! ```text
//! cargo run --example top_down --features demo
//! ```
//!
//! `chase` casts rays, `push_out` separates overlapping bodies, and `strike` and `meet` react to
//! events.

#[path = "../demo/mod.rs"]
mod demo;

use bevy::{prelude::*, time::common_conditions::on_timer};
use demo::game::{Coin, Score, at, coin, creature, direction, spark};
use demo::{BLUE, EARTH, GRAY, INK, ORANGE, RED, fill::Fill, pointer::Pointer};
use headbutt::{prelude::*, query::Ray};

const WALL: u32 = 1 << 0;
const PLAYER: u32 = 1 << 1;
const ENEMY: u32 = 1 << 2;
const BULLET: u32 = 1 << 3;
const COIN: u32 = 1 << 4;

const PLAYER_SPEED: f32 = 5.0;
const ENEMY_SPEED: f32 = 2.5;
const BULLET_SPEED: f32 = 40.0;
const MAX_ENEMIES: usize = 8;
const BODY_RADIUS: f32 = 0.42;

/// The center and the size of each wall.
#[rustfmt::skip]
const WALLS: [[f32; 4]; 12] = [
    [0.0, 5.8, 27.4, 0.4], [0.0, -6.8, 27.4, 0.4], [-13.5, -0.5, 0.4, 12.2],
    [13.5, -0.5, 0.4, 12.2], [-8.0, 2.2, 0.4, 4.0], [-6.3, 0.4, 3.8, 0.4], [-8.0, -4.4, 4.4, 0.4],
    [0.0, 3.2, 5.0, 0.4], [0.0, -3.6, 0.4, 3.2], [5.5, -0.5, 0.4, 4.4], [7.6, 1.5, 3.8, 0.4],
    [8.5, -4.4, 4.4, 0.4],
];
#[rustfmt::skip]
const COINS: [[f32; 2]; 10] = [
    [-11.5, 4.0], [-5.5, 2.4], [-11.5, -5.4], [-4.5, -5.4], [0.0, 4.5], [3.0, -4.5], [7.5, 3.6],
    [7.5, -0.8], [11.5, -5.4], [11.5, 4.0],
];
const DOORS: [[f32; 2]; 4] = [[12.4, 0.5], [-12.4, -2.5], [6.5, -5.8], [-3.5, 4.8]];

#[derive(Component)]
struct Player;

/// An enemy, with the position at which it last saw the player.
#[derive(Component)]
struct Enemy(Vec2);

#[derive(Component, Default)]
struct Velocity(Vec2);

fn main() -> AppExit {
    let keys = "WASD or arrows: walk    mouse or space: shoot    F1: colliders";
    let enter = enter.run_if(on_timer(std::time::Duration::from_millis(1500)));
    demo::game::app("Top down", keys)
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (enter, steer, chase, travel).chain())
        .add_systems(FixedPostUpdate, push_out.after(HeadbuttSystems::Report))
        .add_systems(Update, draw_sight)
        .run()
}

fn spawn(mut commands: Commands) {
    commands.spawn(demo::camera_2d(16.0));
    let tiles = (0..27 * 13).filter(|tile| tile % 2 == 0);
    for tile in tiles {
        let corner = Vec2::new((tile % 27) as f32 - 13.0, (tile / 27) as f32 - 6.5);
        let tile = Fill::shape(Rectangle::new(1.0, 1.0), EARTH.with_alpha(0.35));
        commands.spawn((tile, at(corner.into(), -1.0)));
    }
    let layers = CollisionLayers::new(WALL, !WALL);
    for [x, y, width, height] in WALLS {
        let wall = (Collider::rectangle(width, height), layers);
        commands.spawn((wall, Fill::collider(GRAY), at([x, y], 0.0)));
    }
    let layers = CollisionLayers::new(COIN, PLAYER);
    for center in COINS {
        commands.spawn((coin(center), Collider::circle(0.25), Sensor, layers));
    }
    let layers = CollisionLayers::new(PLAYER, WALL | ENEMY | COIN);
    let body = (Collider::circle(BODY_RADIUS), layers, Velocity::default());
    let gun = Fill::shape(Rectangle::new(0.2, 0.5), INK);
    let gun = children![(gun, at([0.0, 0.4], -0.1))];
    let look = (Fill::collider(BLUE), at([0.0; 2], 2.0), gun);
    commands.spawn((Player, body, look)).observe(meet);
}

/// Spawns an enemy at the next door that has room.
fn enter(query: SpatialQuery, enemies: Query<(), With<Enemy>>, mut commands: Commands) {
    let count = enemies.iter().len();
    let (circle, filter) = (Collider::circle(BODY_RADIUS), SpatialQueryFilter::default());
    let mut doors = DOORS.iter().cycle().skip(count).take(MAX_ENEMIES - count);
    let is_free = |door: [f32; 2]| !query.is_overlapped(&circle, Vec2::from(door), &filter);
    if let Some(&door) = doors.find(|door| is_free(**door)) {
        let layers = CollisionLayers::new(ENEMY, !COIN);
        let body = (circle, layers, Velocity::default());
        commands.spawn((Enemy(door.into()), body, creature(RED, door)));
    }
}

/// Lets the player walk, turn to the mouse or in the walking direction, and shoot. After a shot,
/// the next shot has to wait for `reload` seconds.
fn steer(
    time: Res<Time>,
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Pointer,
    player: Single<(&mut Velocity, &mut Transform), With<Player>>,
    mut reload: Local<f32>,
    mut commands: Commands,
) {
    let (mut velocity, mut pose) = player.into_inner();
    let walk = direction(&keys).normalize_or_zero();
    velocity.0 = PLAYER_SPEED * walk;
    let target = pointer.pressed_position();
    let aim = target.map_or(walk, |target| target - pose.translation.xy());
    if aim != Vec2::ZERO {
        pose.rotation = Quat::from_rotation_z(Vec2::Y.angle_to(aim));
    }
    *reload -= time.delta_secs();
    if (target.is_some() || keys.pressed(KeyCode::Space)) && *reload <= 0.0 {
        *reload = 0.15;
        let velocity = Velocity(BULLET_SPEED * pose.local_y().xy());
        let layers = CollisionLayers::new(BULLET, WALL | ENEMY);
        // `Teleported` begins the path at the gun, so that the first tick is swept.
        let body = (Collider::capsule_2d(0.07, 0.4), layers, Swept, Teleported);
        let bullet = (body, velocity, Fill::collider(ORANGE), *pose);
        commands.spawn(bullet).observe(strike);
    }
}

/// Lets enemies walk to the position at which they last saw the player. Only walls block their
/// sight.
fn chase(
    query: SpatialQuery,
    player: Single<&Transform, With<Player>>,
    mut enemies: Query<(&mut Enemy, &mut Velocity, &Transform)>,
) {
    let walls = SpatialQueryFilter::default().with_mask(WALL);
    let player = player.translation.xy();
    for (mut enemy, mut velocity, pose) in &mut enemies {
        let position = pose.translation.xy();
        if !query.is_ray_blocked(Ray::between(position, player), &walls) {
            enemy.0 = player;
        }
        velocity.0 = (10.0 * (enemy.0 - position)).clamp_length_max(ENEMY_SPEED);
    }
}

fn draw_sight(enemies: Query<(&Enemy, &Transform)>, mut gizmos: Gizmos) {
    for (enemy, pose) in &enemies {
        gizmos.line_2d(pose.translation.xy(), enemy.0, RED.with_alpha(0.4));
    }
}

fn travel(time: Res<Time>, mut bodies: Query<(&Velocity, &mut Transform)>) {
    for (velocity, mut pose) in &mut bodies {
        pose.translation += (velocity.0 * time.delta_secs()).extend(0.0);
    }
}

/// Pushes all bodies out of walls and of each other, except for bullets, which are `Swept`.
fn push_out(
    collisions: Res<Collisions>,
    walkers: Query<Entity, (With<Velocity>, Without<Swept>)>,
    mut mover: WorldMover,
) -> Result {
    for entity in &walkers {
        mover.translate(
            entity,
            collisions.push_out(entity, |_hit| true).translation(),
        )?;
    }
    Ok(())
}

/// Observes a bullet, and despawns it at its first hit, so that later hits trigger no observer.
fn strike(
    hit: On<CollisionStarted>,
    enemies: Query<(), With<Enemy>>,
    mut score: ResMut<Score>,
    mut commands: Commands,
) {
    commands.entity(hit.entity).despawn();
    commands.spawn(spark(hit.in_2d().other_point));
    if enemies.contains(hit.other) {
        commands.entity(hit.other).despawn();
        score.kills += 1;
    }
}

/// Observes the player, who collects coins. An enemy that touches the player kills the player and
/// vanishes.
fn meet(
    hit: On<CollisionStarted>,
    coins: Query<(), With<Coin>>,
    enemies: Query<(), With<Enemy>>,
    mut player: Single<&mut Transform, With<Player>>,
    mut score: ResMut<Score>,
    mut commands: Commands,
) {
    if coins.contains(hit.other) {
        commands.entity(hit.other).despawn();
        score.coins += 1;
    } else if enemies.contains(hit.other) {
        commands.entity(hit.other).despawn();
        **player = at([0.0; 2], 2.0);
        score.deaths += 1;
    }
}
