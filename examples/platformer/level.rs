//! The level: where everything is, and what it looks like.

use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology, prelude::*};
use headbutt::prelude::*;

use super::{COIN, Coin, ENEMY, Enemy, HALF, Lift, OneWay, PLAYER, Player, TERRAIN, Walker};
use crate::demo::{self, BLUE, FAINT, GREEN, INK, ORANGE, RED, YELLOW, fill::Paint};

pub const START: Vec2 = Vec2::new(-4.5, 0.6);
/// The width and the height of one-way platforms.
pub const PLATFORM: Vec2 = Vec2::new(3.0, 0.25);
pub const BOTTOM: f32 = -9.0;
const EARTH: Color = Color::srgb(0.17, 0.185, 0.23);
/// The tops of the ground, from left to right.
#[rustfmt::skip]
const GROUND: [&[[f32; 2]]; 3] = [
    &[[-9.0, 9.0], [-7.0, 9.0], [-7.0, 0.0], [3.0, 0.0], [3.0, 0.3], [4.0, 0.3], [4.0, 0.6],
      [5.0, 0.6], [5.0, 0.9], [7.0, 0.9], [11.0, 2.9], [17.0, 2.9], [17.0, 1.2], [20.0, 1.2]],
    &[[23.0, 4.2], [30.0, 4.2], [35.0, 1.7], [39.0, 1.7]],
    &[[42.0, 1.7], [52.0, 1.7], [52.0, 9.0], [54.0, 9.0]],
];
const PLATFORMS: [[f32; 2]; 4] = [[-1.0, 2.2], [2.5, 4.4], [14.0, 5.2], [47.0, 4.0]];
const ENEMIES: [[f32; 2]; 3] = [[14.0, 3.4], [27.0, 4.7], [48.0, 2.2]];
#[rustfmt::skip]
pub const COINS: [[f32; 2]; 12] = [
    [-2.0, 2.9], [0.0, 2.9], [1.6, 5.1], [3.4, 5.1], [9.0, 2.7], [13.0, 5.9], [15.0, 5.9],
    [21.5, 5.4], [32.5, 3.8], [40.5, 4.2], [46.0, 4.7], [48.0, 4.7],
];

pub fn spawn(mut commands: Commands, mut paint: Paint) {
    commands.spawn(demo::camera_2d(11.0));
    // Only queries meet the terrain: it is on no layer with which the others interact.
    let terrain = CollisionLayers::new(TERRAIN, !TERRAIN);
    for top in GROUND {
        // One surface instead of many tiles, on whose edges a body can catch. Its outer side is to
        // the right, so it runs from right to left.
        let [first, last] = [top[0], top[top.len() - 1]].map(|[x, _]| Vec2::new(x, BOTTOM));
        let tops = top.iter().rev().map(|&point| point.into());
        let outline = [last].into_iter().chain(tops).chain([first]);
        let collider = Collider::polyline(outline).one_sided();
        let fill = paint.fill(strip(top, |_| BOTTOM), EARTH);
        let grass = paint.fill(strip(top, |y| y - 0.15), GREEN);
        let grass = children![(grass, at([0.0; 2], 0.1))];
        commands.spawn((collider, terrain, fill, grass));
    }
    let mut block = |size: Vec2, color| {
        let shape = Rectangle::from_size(size);
        (Collider::from(shape), terrain, paint.fill(shape, color))
    };
    for center in PLATFORMS {
        commands.spawn((OneWay, block(PLATFORM, FAINT), at(center, 0.0)));
    }
    let lift = block(Vec2::new(2.8, 0.4), ORANGE);
    commands.spawn((Lift, lift, at([21.5, 1.0], 0.0)));

    for center in COINS {
        let shape = Circle::new(0.22);
        let layers = CollisionLayers::new(COIN, PLAYER);
        let coin = (Coin, Sensor, Collider::from(shape), layers);
        let look = (paint.fill(shape, YELLOW), at(center, 1.0));
        commands.spawn((coin, look)).observe(super::collect);
    }
    for center in ENEMIES {
        let body = walker(&mut paint, Circle::new(HALF), RED, at(center, 2.0));
        let layers = CollisionLayers::new(ENEMY, PLAYER);
        commands.spawn((Enemy { direction: 1.0 }, body, layers));
    }
    let shape = Rectangle::from_length(2.0 * HALF);
    let body = walker(&mut paint, shape, BLUE, at(START.into(), 3.0));
    let layers = CollisionLayers::new(PLAYER, COIN | ENEMY);
    commands.spawn((Player, body, layers));
}

fn at([x, y]: [f32; 2], z: f32) -> Transform {
    Transform::from_xyz(x, y, z)
}

/// Returns a body with two eyes.
fn walker<S: Copy>(paint: &mut Paint, shape: S, color: Color, pose: Transform) -> impl Bundle
where
    Collider: From<S>,
    Mesh: From<S>,
{
    let body = (Collider::from(shape), paint.fill(shape, color), pose);
    let mut eye = |x| (paint.fill(Circle::new(0.08), INK), at([x, 0.12], 0.1));
    let eyes = children![eye(-0.16), eye(0.16)];
    (Walker::default(), body, eyes)
}

/// Returns a mesh from a line down to the given heights below its points.
fn strip(top: &[[f32; 2]], bottom: impl Fn(f32) -> f32) -> Mesh {
    let ends = |&[x, y]: &[f32; 2]| [[x, y, 0.0], [x, bottom(y), 0.0]];
    let vertices: Vec<_> = top.iter().flat_map(ends).collect();
    Mesh::new(PrimitiveTopology::TriangleStrip, RenderAssetUsages::all())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vertices)
}
