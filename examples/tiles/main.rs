//! A cave of tiles with slopes, one-way ledges and spikes, in which the player digs and builds.
//!
//! ```text
//! cargo run --example tiles --features demo
//! ```
//!
//! `spawn` makes the level, `slide` moves the player, `die` reacts to the spikes, and `edit`
//! changes the level.

#[path = "../demo/mod.rs"]
mod demo;

use bevy::prelude::*;
use demo::game::{Follow, at, creature, direction, follow};
use demo::{BLUE, GRAY, GREEN, INK, ORANGE, RED, Readout, YELLOW};
use demo::{cells, cells::CellColors, pointer::Pointer};
use headbutt::{prelude::*, query::Ray};

const SPEED: f32 = 6.0;
const GRAVITY: f32 = 30.0;
const JUMP: f32 = 13.0;
/// Half of the size of the player.
const HALF: Vec2 = Vec2::new(0.35, 0.45);
const START: [f32; 2] = [3.5, 8.5];
/// The distance at which the player can dig and build.
const REACH: f32 = 4.5;
/// The time from one dug or built tile to the next, in seconds.
const PAUSE: f32 = 0.12;

/// The materials of the tiles. Soil has the material 0.
const BEDROCK: u16 = 1;
const SPIKES: u16 = 2;
const BRICK: u16 = 3;
const LEDGE: u16 = 4;
const SOIL: Color = Color::srgb(0.45, 0.33, 0.25);
const WOOD: Color = Color::srgb(0.72, 0.53, 0.33);
const COLORS: [[Color; 2]; 5] = [
    [SOIL, GREEN],
    [GRAY, GRAY],
    [RED, RED],
    [ORANGE, YELLOW],
    [WOOD, WOOD],
];

/// The tiles from top to bottom. `cell` lists what the characters mean.
#[rustfmt::skip]
const LEVEL: [&str; 19] = [
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "@########F        7############F      7########@",
    "@####F                7#######F          7#####@",
    "@##F                                        7##@",
    "@#F                        ===                7@",
    "@#                 ==                ==        @",
    "@#             ==        /##\\                  @",
    "@#                      /####\\                 @",
    "@#        /##\\         /######\\     ====       @",
    "@#       /####\\        ########               /@",
    "@#      /######\\   ==  ########   /\\         /#@",
    "@#     /########       ########  /##\\  ==   /##@",
    "@###################^^^########^^####^^^^^#####@",
    "@##############################################@",
    "@########F      7#################F    7#######@",
    "@########        ################       #######@",
    "@########\\      /################\\    /########@",
    "@##############################################@",
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
];

fn cell(tile: char) -> Cell {
    match tile {
        '#' => Cell::SOLID,
        '/' => Cell::slope(0, 8),
        '\\' => Cell::slope(8, 0),
        '7' => Cell::slope(0, 8).hanging(),
        'F' => Cell::slope(8, 0).hanging(),
        '=' => Cell::one_way(CellDirection::Y).with_material(LEDGE),
        '^' => Cell::slope(0, 5).with_material(SPIKES),
        '@' => Cell::SOLID.with_material(BEDROCK),
        _ => Cell::EMPTY,
    }
}

#[derive(Component)]
struct Level;

#[derive(Component)]
struct Spikes;

#[derive(Component, Default)]
struct Player {
    velocity: Vec2,
    ground: Option<Ground>,
    blocks: u32,
    deaths: u32,
}

fn main() -> AppExit {
    let keys = "WASD or arrows: walk    space: jump    down: drop through a ledge    \
        mouse: dig, with shift: build    F1: colliders";
    demo::app("Tiles", keys)
        .add_systems(Startup, (spawn, demo::hide_gizmos))
        .add_systems(FixedUpdate, steer)
        .add_systems(FixedPostUpdate, slide.after(HeadbuttSystems::Sync))
        .add_systems(
            Update,
            (edit, cells::draw_tiles, follow::<Player>, describe),
        )
        .run()
}

fn spawn(mut commands: Commands) {
    let area = Rect::new(9.8, 5.5, 38.2, 13.5);
    commands.spawn((demo::camera_2d(11.0), Follow(area), at([9.8, 9.0], 0.0)));

    let mut grid = CellGrid::new(Vec2::ONE);
    for (y, row) in (0..).zip(LEVEL.iter().rev()) {
        for (x, tile) in (0..).zip(row.chars()) {
            grid.set(IVec2::new(x, y), cell(tile));
        }
    }
    let part = |is_included: fn(u16) -> bool| {
        let cells = Collider::cells(&grid.filtered(|cell| is_included(cell.material())));
        (cells, CellColors(&COLORS))
    };
    commands.spawn((Level, part(|material| material != SPIKES)));
    commands.spawn((Spikes, Sensor, part(|material| material == SPIKES)));

    let body = Collider::rectangle(2.0 * HALF.x, 2.0 * HALF.y);
    let player = Player {
        blocks: 5,
        ..default()
    };
    commands
        .spawn((player, body, creature(BLUE, START)))
        .observe(die);
}

fn steer(
    keys: Res<ButtonInput<KeyCode>>,
    player: Single<(Entity, &mut Player)>,
    mut commands: Commands,
) {
    let (entity, mut player) = player.into_inner();
    let direction = direction(&keys);
    player.velocity.x = SPEED * direction.x;
    if keys.pressed(KeyCode::Space) && player.ground.is_some() {
        player.velocity.y = JUMP;
    }
    if direction.y < 0.0 {
        commands.entity(entity).insert(PassThrough);
    } else {
        commands.entity(entity).remove::<PassThrough>();
    }
}

fn slide(
    query: SpatialQuery,
    time: Res<Time>,
    player: Single<(Entity, &mut Player, &mut Transform, &Collider)>,
) {
    let (entity, mut player, mut pose, body) = player.into_inner();
    player.velocity.y -= GRAVITY * time.delta_secs();
    let settings = MoveAndSlideSettings {
        ground: player.ground,
        ..default()
    };
    let filter = SpatialQueryFilter::of(entity);
    let step = player.velocity * time.delta_secs();
    let slide = query.move_and_slide(body, *pose, step, &settings, &filter);
    pose.translation += slide.translation;
    player.velocity = slide.clip_velocity(player.velocity);
    player.ground = slide.ground;
}

/// Observes the player, whom spikes send back to the start.
fn die(
    hit: On<CollisionStarted>,
    spikes: Query<(), With<Spikes>>,
    player: Single<(&mut Player, &mut Transform)>,
) {
    if spikes.contains(hit.other) {
        let (mut player, mut pose) = player.into_inner();
        *pose = at(START, pose.translation.z);
        player.velocity = Vec2::ZERO;
        player.deaths += 1;
    }
}

/// Digs the first tile from the player toward the mouse. With shift, builds a tile at the mouse.
fn edit(
    time: Res<Time>,
    (keys, pointer): (Res<ButtonInput<KeyCode>>, Pointer),
    query: SpatialQuery,
    mut level: Single<&mut Collider, With<Level>>,
    player: Single<(Entity, &Transform, &mut Player)>,
    mut pause: Local<f32>,
    mut gizmos: Gizmos,
) -> Result {
    *pause -= time.delta_secs();
    let (entity, pose, mut player) = player.into_inner();
    let (Some(grid), Some(cursor)) = (level.grid::<Vec2>(), pointer.position()) else {
        return Ok(());
    };
    let center = pose.translation.xy();
    let target = center + (cursor - center).clamp_length_max(REACH);
    let ray = Ray::between(center, target);
    let hit = query.cast_ray(ray, &SpatialQueryFilter::of(entity));

    let (position, cell) = if keys.pressed(KeyCode::ShiftLeft) {
        let position = grid.position_of(target);
        // A little smaller than a tile, which touches its neighbors.
        let tile = Collider::rectangle(0.98, 0.98);
        let all = SpatialQueryFilter::default();
        if hit.is_some() || query.is_overlapped(&tile, grid.center_of(position), &all) {
            return Ok(());
        }
        (position, Cell::SOLID.with_material(BRICK))
    } else {
        match hit.and_then(|hit| level.cell_2d(hit.part)) {
            Some((position, cell)) if cell.material() != BEDROCK => (position, Cell::EMPTY),
            _ => return Ok(()),
        }
    };
    gizmos.rect_2d(grid.center_of(position), Vec2::ONE, INK);
    let is_paid = cell.is_empty() || player.blocks > 0;
    if pointer.pressed_position().is_some() && *pause <= 0.0 && is_paid {
        *pause = PAUSE;
        level.edit_cells(|grid: &mut CellGrid<Vec2>| grid.set(position, cell))?;
        if cell.is_empty() {
            player.blocks += 1;
        } else {
            player.blocks -= 1;
        }
    }
    Ok(())
}

fn describe(player: Single<&Player>, mut readout: ResMut<Readout>) {
    let Player { blocks, deaths, .. } = **player;
    readout.0 = format!("blocks: {blocks}    deaths: {deaths}");
}
