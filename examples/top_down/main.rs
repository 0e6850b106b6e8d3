//! A shooter from above: enemies that chase what they see, swept bullets, coins and walls.
//!
//! ```text
//! cargo run --example top_down --features demo
//! ```
//!
//! `chase` casts rays, `push_out` separates what overlaps, and `strike`, `hurt` and `collect` react
//! to events.

mod arena;
#[path = "../demo/mod.rs"]
mod demo;

use bevy::prelude::*;
use demo::{fill::Paint, pointer::Pointer};
use headbutt::{prelude::*, query::Ray};

const WALL: u32 = 1 << 0;
const PLAYER: u32 = 1 << 1;
const ENEMY: u32 = 1 << 2;
const BULLET: u32 = 1 << 3;
const COIN: u32 = 1 << 4;

const LEFT: [KeyCode; 2] = [KeyCode::ArrowLeft, KeyCode::KeyA];
const RIGHT: [KeyCode; 2] = [KeyCode::ArrowRight, KeyCode::KeyD];
const DOWN: [KeyCode; 2] = [KeyCode::ArrowDown, KeyCode::KeyS];
const UP: [KeyCode; 2] = [KeyCode::ArrowUp, KeyCode::KeyW];

const PLAYER_SPEED: f32 = 5.0;
const ENEMY_SPEED: f32 = 2.5;
const BULLET_SPEED: f32 = 40.0;
/// The radius of the player and of the enemies.
const RADIUS: f32 = 0.42;
const HEALTH: u32 = 5;

#[derive(Component, Default)]
struct Player {
    /// The seconds until the next shot.
    reload: f32,
}

#[derive(Component, Default)]
struct Enemy {
    sees: bool,
    /// Where it last saw the player.
    target: Option<Vec2>,
    wounds: u32,
}

/// The player and the enemies: walls and enemies push them out.
#[derive(Component)]
struct Mover;

#[derive(Component)]
struct Bullet {
    velocity: Vec2,
    is_spent: bool,
}

#[derive(Component)]
struct Coin;

#[derive(Resource, Default)]
struct Game {
    wounds: u32,
    kills: u32,
}

fn main() -> AppExit {
    let keys = "WASD or arrows: walk    mouse or space: shoot    F1: colliders";
    let response = (strike, push_out).after(HeadbuttSystems::Report);
    demo::app("Top down", keys)
        .init_resource::<Game>()
        .add_systems(Startup, (demo::hide_gizmos, arena::spawn))
        .add_systems(FixedUpdate, (arena::enter, steer, chase, fly).chain())
        .add_systems(FixedPostUpdate, response)
        .add_systems(Update, (arena::fade, arena::draw_sight, arena::describe))
        .run()
}

/// Walks, turns to the mouse or ahead, and shoots.
fn steer(
    time: Res<Time>,
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    pointer: Pointer,
    player: Single<(&mut Player, &mut Transform)>,
    mut commands: Commands,
    mut paint: Paint,
) {
    let (mut player, mut pose) = player.into_inner();
    let held = |either: [KeyCode; 2]| f32::from(keys.any_pressed(either));
    let direction = Vec2::new(held(RIGHT) - held(LEFT), held(UP) - held(DOWN));
    let walk = direction.normalize_or_zero();
    pose.translation += (PLAYER_SPEED * time.delta_secs() * walk).extend(0.0);
    let clicks = buttons.pressed(MouseButton::Left);
    let cursor = pointer.position().filter(|_| clicks);
    let aim = cursor.map_or(walk, |cursor| cursor - pose.translation.xy());
    if aim != Vec2::ZERO {
        pose.rotation = Quat::from_rotation_z(aim.to_angle());
    }
    player.reload -= time.delta_secs();
    if (clicks || keys.pressed(KeyCode::Space)) && player.reload <= 0.0 {
        player.reload = 0.15;
        let velocity = BULLET_SPEED * pose.local_x().xy();
        commands.spawn(arena::bullet(&mut paint, &pose, velocity));
    }
}

/// Enemies walk to where they last saw the player. Only walls block their sight.
fn chase(
    time: Res<Time>,
    query: SpatialQuery,
    player: Single<&Transform, With<Player>>,
    mut enemies: Query<(&mut Enemy, &mut Transform), Without<Player>>,
) {
    let walls = SpatialQueryFilter::default().with_mask(WALL);
    let player = player.translation.xy();
    for (mut enemy, mut pose) in &mut enemies {
        let position = pose.translation.xy();
        enemy.sees = !query.is_ray_blocked(Ray::between(position, player), &walls);
        if enemy.sees {
            enemy.target = Some(player);
        }
        let target = enemy.target.unwrap_or(position);
        let next = position.move_towards(target, ENEMY_SPEED * time.delta_secs());
        pose.translation = next.extend(pose.translation.z);
    }
}

fn fly(time: Res<Time>, mut bullets: Query<(&Bullet, &mut Transform)>) {
    for (bullet, mut pose) in &mut bullets {
        pose.translation += (bullet.velocity * time.delta_secs()).extend(0.0);
    }
}

/// A bullet ends at its first hit. The second bullet kills an enemy.
fn strike(
    mut hits: MessageReader<CollisionEvent>,
    mut bullets: Query<&mut Bullet>,
    mut enemies: Query<&mut Enemy>,
    mut commands: Commands,
    mut paint: Paint,
    mut game: ResMut<Game>,
) {
    for hit in hits.read().filter(|hit| hit.started()) {
        let Some(hit) = hit.seen_by(|entity| bullets.contains(entity)) else {
            continue;
        };
        // The hits of a bullet come in order of time, and go on behind the first.
        if let Ok(mut bullet) = bullets.get_mut(hit.entity)
            && !std::mem::replace(&mut bullet.is_spent, true)
        {
            commands.entity(hit.entity).despawn();
            commands.spawn(arena::spark(&mut paint, hit.in_2d().other_point));
            if let Ok(mut enemy) = enemies.get_mut(hit.other) {
                enemy.wounds += 1;
                if enemy.wounds == 2 {
                    commands.entity(hit.other).despawn();
                    game.kills += 1;
                }
            }
        }
    }
}

fn push_out(
    collisions: Res<Collisions>,
    movers: Query<Entity, With<Mover>>,
    mut mover: WorldMover,
) -> Result {
    for entity in &movers {
        mover.translate(entity, collisions.push_out(entity, |_hit| true))?;
    }
    Ok(())
}

/// Observes the player: an enemy that reaches the player costs health, and is gone.
fn hurt(
    hit: On<CollisionStarted>,
    enemies: Query<Entity, With<Enemy>>,
    mut commands: Commands,
    mut game: ResMut<Game>,
) {
    if enemies.contains(hit.other) {
        commands.entity(hit.other).try_despawn();
        game.wounds += 1;
    }
    if game.wounds == HEALTH {
        *game = Game::default();
        for enemy in &enemies {
            commands.entity(enemy).try_despawn();
        }
    }
}

/// Observes each coin, which only the player can touch.
fn collect(hit: On<CollisionStarted>, mut commands: Commands) {
    commands.entity(hit.entity).despawn();
}
