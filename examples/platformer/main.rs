//! A platformer: slopes, steps, a lift, one-way platforms, coins, and enemies to jump on.
//!
//! ```text
//! cargo run --example platformer --features demo
//! ```
//!
//! `slide` moves the player and the enemies. `collect` and `meet` react to events.

#[path = "../demo/mod.rs"]
mod demo;
mod level;

use std::f32::consts::TAU;

use bevy::prelude::*;
use demo::Readout;
use headbutt::{prelude::*, query::Ray};

const TERRAIN: u32 = 1 << 0;
const PLAYER: u32 = 1 << 1;
const ENEMY: u32 = 1 << 2;
const COIN: u32 = 1 << 3;

const SPEED: f32 = 5.0;
const GRAVITY: f32 = 30.0;
const JUMP: f32 = 13.0;
/// Half of the width and of the height of the player and of the enemies.
const HALF: f32 = 0.45;

#[derive(Component)]
struct Player;

/// An enemy, which walks to the right (1) or to the left (-1).
#[derive(Component)]
struct Enemy {
    direction: f32,
}

#[derive(Component, Default)]
struct Walker {
    velocity: Vec2,
    ground: Option<Ground>,
    /// If `true`, one-way platforms are not solid.
    drops: bool,
}

#[derive(Component)]
struct Lift;

/// A platform that is solid only from above.
#[derive(Component)]
struct OneWay;

#[derive(Component)]
struct Coin;

#[derive(Resource, Default)]
struct Deaths(u32);

fn main() -> AppExit {
    let keys = "arrows: walk    space: jump    down: drop through a platform    F1: colliders";
    demo::app("Platformer", keys)
        .init_resource::<Deaths>()
        .add_systems(Startup, (demo::hide_gizmos, level::spawn))
        .add_systems(FixedUpdate, (drive, steer, patrol))
        .add_systems(
            FixedPostUpdate,
            (meet, slide).chain().after(HeadbuttSystems::Report),
        )
        .add_systems(Update, (follow, describe))
        .run()
}

/// Moves the lift up and down in six seconds.
fn drive(time: Res<Time>, mut lift: Single<&mut Transform, With<Lift>>) {
    let phase = time.elapsed_secs() * TAU / 6.0;
    lift.translation.y = 2.5 - 1.5 * phase.cos();
}

fn steer(keys: Res<ButtonInput<KeyCode>>, mut player: Single<&mut Walker, With<Player>>) {
    let axis = |less, more| f32::from(keys.pressed(more)) - f32::from(keys.pressed(less));
    player.velocity.x = SPEED * axis(KeyCode::ArrowLeft, KeyCode::ArrowRight);
    player.drops = keys.pressed(KeyCode::ArrowDown);
    if keys.pressed(KeyCode::Space) && player.ground.is_some() {
        player.velocity.y = JUMP;
    }
}

/// Turns enemies around in front of walls, slopes and edges.
fn patrol(query: SpatialQuery, mut enemies: Query<(&mut Enemy, &mut Walker, &Transform)>) {
    let terrain = SpatialQueryFilter::default().with_mask(TERRAIN);
    for (mut enemy, mut walker, pose) in &mut enemies {
        let (center, ahead) = (pose.translation.xy(), Vec2::X * enemy.direction);
        let wall = Ray::new(center, ahead).with_max_distance(HALF + 0.3);
        let floor = Ray::new(center + ahead * HALF, Vec2::NEG_Y).with_max_distance(HALF + 0.1);
        if query.is_ray_blocked(wall, &terrain) || !query.is_ray_blocked(floor, &terrain) {
            enemy.direction = -enemy.direction;
        }
        walker.velocity.x = 0.3 * SPEED * enemy.direction;
    }
}

/// Moves the player and the enemies. The lift has moved already in this tick, and carries them.
fn slide(
    query: SpatialQuery,
    time: Res<Time>,
    mut walkers: Query<(&mut Walker, &mut Transform, &Collider)>,
    platforms: Query<&Transform, (With<OneWay>, Without<Walker>)>,
) {
    for (mut walker, mut pose, body) in &mut walkers {
        walker.velocity.y -= GRAVITY * time.delta_secs();
        // A one-way platform is solid for a body that falls from above.
        let feet = pose.translation.y - HALF;
        let falls = walker.velocity.y <= 0.0 && !walker.drops;
        let is_solid = |other: Entity| {
            platforms.get(other).map_or(true, |platform| {
                falls && feet >= platform.translation.y + 0.5 * level::PLATFORM.y
            })
        };
        let filter = SpatialQueryFilter::default()
            .with_mask(TERRAIN)
            .with_predicate(&is_solid);
        let settings = MoveAndSlide {
            step_height: 0.35,
            ground: walker.ground,
            ..default()
        };
        let step = walker.velocity * time.delta_secs();
        let slide = query.move_and_slide(body, *pose, step, &settings, &filter);
        pose.translation += slide.translation;
        walker.velocity = slide.clip_velocity(walker.velocity);
        walker.ground = slide.ground;
    }
}

/// Observes each coin, which only the player can touch.
fn collect(hit: On<CollisionStarted>, mut commands: Commands) {
    commands.entity(hit.entity).despawn();
}

/// An enemy dies if the player lands on it. Otherwise, the player dies.
fn meet(
    mut hits: MessageReader<CollisionEvent>,
    mut commands: Commands,
    enemies: Query<(), With<Enemy>>,
    player: Single<(Entity, &mut Walker, &mut Transform), With<Player>>,
    mut deaths: ResMut<Deaths>,
) {
    let (entity, mut walker, mut pose) = player.into_inner();
    let mut dies = pose.translation.y < level::BOTTOM;
    for hit in hits.read().filter_map(|hit| hit.seen_from(entity)) {
        if !hit.started() || !enemies.contains(hit.other) {
            continue;
        }
        // The normal points from the player to the enemy.
        if hit.normal.y < -0.5 {
            commands.entity(hit.other).despawn();
            walker.velocity.y = 0.8 * JUMP;
        } else {
            dies = true;
        }
    }
    if dies {
        *walker = Walker::default();
        pose.translation = level::START.extend(pose.translation.z);
        deaths.0 += 1;
    }
}

fn follow(
    time: Res<Time>,
    player: Single<&Transform, With<Player>>,
    mut camera: Single<&mut Transform, (With<Camera2d>, Without<Player>)>,
) {
    let target = player
        .translation
        .clamp(Vec3::new(2.0, 2.0, 0.0), Vec3::new(43.0, 9.0, 0.0));
    camera
        .translation
        .smooth_nudge(&target, 5.0, time.delta_secs());
}

fn describe(coins: Query<(), With<Coin>>, deaths: Res<Deaths>, mut readout: ResMut<Readout>) {
    let (all, left) = (level::COINS.len(), coins.iter().len());
    readout.0 = format!("coins: {} of {all}    deaths: {}", all - left, deaths.0);
}
