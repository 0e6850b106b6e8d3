//! A platformer: slopes, steps, a lift, one-way platforms, coins, and enemies to jump on.
//!
//! ```text
//! cargo run --example platformer --features demo
//! ```
//!
//! `slide` moves the player and the enemies. `meet` reacts to the player's contacts.

#[path = "../demo/mod.rs"]
mod demo;

use bevy::prelude::*;
use demo::game::{Coin, Follow, Score, at, coin, creature, direction, follow, strip};
use demo::{BLUE, EARTH, FAINT, GREEN, ORANGE, RED, fill::Fill};
use headbutt::{prelude::*, query::Ray};

const TERRAIN: u32 = 1 << 0;
const PLAYER: u32 = 1 << 1;
/// The layer of coins, enemies and the abyss, to which the player reacts.
const THINGS: u32 = 1 << 2;

const SPEED: f32 = 5.0;
const GRAVITY: f32 = 30.0;
const JUMP: f32 = 13.0;
/// Half of the width and height of the player and of the enemies.
const HALF: f32 = 0.45;
const START: [f32; 2] = [-4.5, 0.6];
const BOTTOM: f32 = -9.0;

/// The outlines of the ground, from left to right.
#[rustfmt::skip]
const GROUND: [&[[f32; 2]]; 3] = [
    &[[-9.0, BOTTOM], [-9.0, 9.0], [-7.0, 9.0], [-7.0, 0.0], [3.0, 0.0], [3.0, 0.3], [4.0, 0.3],
      [4.0, 0.6], [5.0, 0.6], [5.0, 0.9], [7.0, 0.9], [11.0, 2.9], [17.0, 2.9], [17.0, 1.2],
      [20.0, 1.2], [20.0, BOTTOM]],
    &[[23.0, BOTTOM], [23.0, 4.2], [30.0, 4.2], [35.0, 1.7], [39.0, 1.7], [39.0, BOTTOM]],
    &[[42.0, BOTTOM], [42.0, 1.7], [52.0, 1.7], [52.0, 9.0], [54.0, 9.0], [54.0, BOTTOM]],
];
const PLATFORMS: [[f32; 2]; 4] = [[-1.0, 2.2], [2.5, 4.4], [14.0, 5.2], [47.0, 4.0]];
const ENEMIES: [[f32; 2]; 3] = [[14.0, 3.4], [27.0, 4.7], [48.0, 2.2]];
#[rustfmt::skip]
const COINS: [[f32; 2]; 12] = [
    [-2.0, 2.9], [0.0, 2.9], [1.6, 5.1], [3.4, 5.1], [9.0, 2.7], [13.0, 5.9], [15.0, 5.9],
    [21.5, 5.4], [32.5, 3.8], [40.5, 4.2], [46.0, 4.7], [48.0, 4.7],
];

#[derive(Component)]
struct Player;

#[derive(Component)]
struct Enemy;

#[derive(Component)]
struct Lift;

#[derive(Component, Default)]
struct Walker {
    velocity: Vec2,
    ground: Option<Ground>,
    /// If `true`, one-way platforms are not solid.
    drops: bool,
}

/// A platform that is solid only from above: the filter in `slide` decides when the platform is
/// solid. The component `OneWay` is for colliders with which the player interacts by its layers, but
/// the player does not interact with the layer of the terrain.
#[derive(Component)]
struct Platform {
    top: f32,
}

fn main() -> AppExit {
    let keys =
        "WASD or arrows: walk    space: jump    down: drop through a platform    F1: colliders";
    demo::game::app("Platformer", keys)
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (drive, steer, patrol))
        .add_systems(FixedPostUpdate, slide.after(HeadbuttSystems::Report))
        .add_systems(Update, follow::<Player>)
        .run()
}

fn spawn(mut commands: Commands) {
    let area = Rect::new(2.0, 2.0, 43.0, 9.0);
    commands.spawn((demo::camera_2d(11.0), Follow(area)));

    // Only queries find the terrain: no other collider interacts with the layer of the terrain.
    let terrain = CollisionLayers::new(TERRAIN, !TERRAIN);
    for outline in GROUND {
        // The ground is one surface, because a body can catch on the edges of separate tiles. The
        // outer side of a polyline is to its right, so the points run from right to left.
        let points = outline.iter().rev().map(|&point| point.into());
        let surface = Collider::polyline(points).one_sided();
        let earth = strip(outline, |_| BOTTOM, EARTH);
        let grass = (strip(outline, |y| y - 0.15, GREEN), at([0.0; 2], 0.1));
        commands.spawn((surface, terrain, earth, children![grass]));
    }
    for [x, y] in PLATFORMS {
        let platform = (Collider::rectangle(3.0, 0.25), terrain);
        let look = (Fill::collider(FAINT), at([x, y], 0.0));
        commands.spawn((Platform { top: y + 0.125 }, platform, look));
    }
    let lift = (Lift, Collider::rectangle(2.8, 0.4), terrain);
    commands.spawn((lift, Fill::collider(ORANGE), at([21.5, 1.0], 0.0)));

    let things = CollisionLayers::new(THINGS, PLAYER);
    for center in COINS {
        commands.spawn((coin(center), Collider::circle(0.22), Sensor, things));
    }
    for center in ENEMIES {
        let enemy = (Enemy, Walker::default(), Collider::circle(HALF), things);
        commands.spawn((enemy, creature(RED, center)));
    }
    let abyss = Collider::half_space(Vec2::Y);
    commands.spawn((abyss, Sensor, things, at([0.0, BOTTOM], 0.0)));

    let layers = CollisionLayers::new(PLAYER, THINGS);
    let body = (Collider::rectangle(2.0 * HALF, 2.0 * HALF), layers);
    let player = (Player, Walker::default(), body);
    commands
        .spawn((player, creature(BLUE, START)))
        .observe(meet);
}

fn drive(time: Res<Time>, mut lift: Single<&mut Transform, With<Lift>>) {
    lift.translation.y = 2.5 - 1.5 * time.elapsed_secs().cos();
}

fn steer(keys: Res<ButtonInput<KeyCode>>, mut player: Single<&mut Walker, With<Player>>) {
    let direction = direction(&keys);
    player.velocity.x = SPEED * direction.x;
    player.drops = direction.y < 0.0;
    if keys.pressed(KeyCode::Space) && player.ground.is_some() {
        player.velocity.y = JUMP;
    }
}

/// Turns enemies around in front of walls and slopes, and at edges.
fn patrol(query: SpatialQuery, mut enemies: Query<(&mut Walker, &Transform), With<Enemy>>) {
    let terrain = SpatialQueryFilter::default().with_mask(TERRAIN);
    for (mut walker, pose) in &mut enemies {
        let center = pose.translation.xy();
        let ahead = Vec2::X * walker.velocity.x.signum();
        let wall = Ray::new(center, ahead).with_max_distance(HALF + 0.3);
        let floor = Ray::new(center + ahead * HALF, Vec2::NEG_Y).with_max_distance(HALF + 0.1);
        let turns = query.is_ray_blocked(wall, &terrain) || !query.is_ray_blocked(floor, &terrain);
        walker.velocity.x = 0.3 * SPEED * if turns { -ahead.x } else { ahead.x };
    }
}

/// Moves the player and the enemies. The lift has already moved in this tick, and carries both.
fn slide(
    query: SpatialQuery,
    time: Res<Time>,
    platforms: Query<&Platform>,
    mut walkers: Query<(&mut Walker, &mut Transform, &Collider)>,
) {
    for (mut walker, mut pose, body) in &mut walkers {
        let velocity = walker.velocity - GRAVITY * time.delta_secs() * Vec2::Y;
        let feet = pose.translation.y - HALF;
        let can_land = velocity.y <= 0.0 && !walker.drops;
        let carries = |platform: &Platform| can_land && feet >= platform.top;
        let is_solid = |other| platforms.get(other).map_or(true, carries);
        let terrain = SpatialQueryFilter::default().with_mask(TERRAIN);
        let filter = terrain.with_predicate(&is_solid);
        let settings = MoveAndSlideSettings {
            step_height: 0.35,
            ground: walker.ground,
            ..default()
        };
        let step = velocity * time.delta_secs();
        let slide = query.move_and_slide(body, *pose, step, &settings, &filter);
        pose.translation += slide.translation;
        walker.velocity = slide.clip_velocity(velocity);
        walker.ground = slide.ground;
    }
}

/// Observes the player, who collects coins and kills enemies from above. Every other contact kills
/// the player.
fn meet(
    hit: On<CollisionStarted>,
    coins: Query<(), With<Coin>>,
    enemies: Query<(), With<Enemy>>,
    player: Single<(&mut Walker, &mut Transform), With<Player>>,
    mut score: ResMut<Score>,
    mut commands: Commands,
) {
    let (mut walker, mut pose) = player.into_inner();
    if coins.contains(hit.other) {
        commands.entity(hit.other).despawn();
        score.coins += 1;
    } else if enemies.contains(hit.other) && hit.normal.y < -0.5 {
        // The normal points from the player down to the enemy.
        commands.entity(hit.other).despawn();
        score.kills += 1;
        walker.velocity.y = 0.8 * JUMP;
    } else {
        *walker = Walker::default();
        *pose = at(START, pose.translation.z);
        score.deaths += 1;
    }
}
