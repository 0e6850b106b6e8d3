//! The arena: where everything is, and what it looks like.

use std::f32::consts::FRAC_PI_2;

use bevy::prelude::*;
use headbutt::prelude::*;

use super::{
    BULLET, Bullet, COIN, Coin, ENEMY, Enemy, Game, HEALTH, Mover, PLAYER, Player, RADIUS, WALL,
};
use crate::demo::{self, BLUE, GRAY, INK, ORANGE, RED, Readout, YELLOW, fill::Paint};

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
/// Where enemies enter, in turn.
const DOORS: [[f32; 2]; 4] = [[12.4, 0.5], [-12.4, -2.5], [6.5, -5.8], [-3.5, 4.8]];

pub fn spawn(mut commands: Commands, mut paint: Paint) {
    commands.spawn(demo::camera_2d(16.0));
    for [x, y, width, height] in WALLS {
        let shape = Rectangle::new(width, height);
        let layers = CollisionLayers::new(WALL, !WALL);
        let wall = (Collider::from(shape), layers, paint.fill(shape, GRAY));
        commands.spawn((wall, at([x, y], 0.0)));
    }
    for center in COINS {
        let shape = Circle::new(0.25);
        let layers = CollisionLayers::new(COIN, PLAYER);
        let coin = (Coin, Sensor, Collider::from(shape), layers);
        let look = (paint.fill(shape, YELLOW), at(center, 1.0));
        commands.spawn((coin, look)).observe(super::collect);
    }
    let layers = CollisionLayers::new(PLAYER, WALL | ENEMY | COIN);
    let player = (Player::default(), body(&mut paint, BLUE, [0.0; 2]), layers);
    let gun = paint.fill(Rectangle::new(0.5, 0.2), INK);
    let gun = children![(gun, at([0.4, 0.0], -0.1))];
    commands.spawn((player, gun)).observe(super::hurt);
}

/// Returns the ball that the player and the enemies are.
fn body(paint: &mut Paint, color: Color, center: [f32; 2]) -> impl Bundle + use<> {
    let shape = Circle::new(RADIUS);
    let fill = paint.fill(shape, color);
    (Mover, Collider::from(shape), fill, at(center, 2.0))
}

/// Lets an enemy in every 1.5 seconds, if there is room at the next door.
pub fn enter(
    time: Res<Time>,
    query: SpatialQuery,
    enemies: Query<(), With<Enemy>>,
    mut commands: Commands,
    mut paint: Paint,
    mut wait: Local<f32>,
    mut turn: Local<usize>,
) {
    *wait += time.delta_secs();
    if *wait < 1.5 || enemies.iter().len() == 8 {
        return;
    }
    *wait = 0.0;
    *turn += 1;
    let door = DOORS[*turn % DOORS.len()];
    let (body, filter) = (Collider::circle(RADIUS), SpatialQueryFilter::default());
    if !query.is_overlapped(&body, Vec2::from(door), &filter) {
        commands.spawn(enemy(&mut paint, door));
    }
}

/// Returns an enemy, which has two eyes.
fn enemy(paint: &mut Paint, center: [f32; 2]) -> impl Bundle + use<> {
    let layers = CollisionLayers::new(ENEMY, !COIN);
    let enemy = (Enemy::default(), body(paint, RED, center), layers);
    let mut eye = |x| (paint.fill(Circle::new(0.08), INK), at([x, 0.1], 0.1));
    (enemy, children![eye(-0.14), eye(0.14)])
}

/// Returns a bullet. `Teleported` begins its path at the gun, so that its first tick is swept.
pub fn bullet(paint: &mut Paint, gun: &Transform, velocity: Vec2) -> impl Bundle + use<> {
    let shape = Capsule2d::new(0.07, 0.4);
    let pose = gun.with_rotation(Quat::from_rotation_z(velocity.to_angle() - FRAC_PI_2));
    let layers = CollisionLayers::new(BULLET, WALL | ENEMY);
    let body = (Collider::from(shape), layers, Swept, Teleported, pose);
    let fill = paint.fill(shape, ORANGE);
    let is_spent = false;
    (Bullet { velocity, is_spent }, body, fill)
}

/// The flash of a hit.
#[derive(Component)]
pub struct Spark;

pub fn spark(paint: &mut Paint, center: Vec2) -> impl Bundle + use<> {
    let fill = paint.fill(Circle::new(0.3), ORANGE);
    (Spark, fill, at(center.into(), 4.0))
}

pub fn fade(mut sparks: Query<(Entity, &mut Transform), With<Spark>>, mut commands: Commands) {
    for (entity, mut pose) in &mut sparks {
        pose.scale *= 0.85;
        if pose.scale.x < 0.1 {
            commands.entity(entity).despawn();
        }
    }
}

pub fn draw_sight(
    player: Single<&Transform, With<Player>>,
    enemies: Query<(&Enemy, &Transform)>,
    mut gizmos: Gizmos,
) {
    for (_, pose) in enemies.iter().filter(|(enemy, _)| enemy.sees) {
        let (start, end) = (pose.translation.xy(), player.translation.xy());
        gizmos.line_2d(start, end, RED.with_alpha(0.4));
    }
}

pub fn describe(coins: Query<(), With<Coin>>, game: Res<Game>, mut readout: ResMut<Readout>) {
    let (all, left) = (COINS.len(), coins.iter().len());
    let (health, kills, coins) = (HEALTH - game.wounds, game.kills, all - left);
    readout.0 = format!("health: {health}    kills: {kills}    coins: {coins} of {all}");
}

fn at([x, y]: [f32; 2], z: f32) -> Transform {
    Transform::from_xyz(x, y, z)
}
