//! Hills of voxels with ramps, in which the player walks, digs and places blocks.
//!
//! ```text
//! cargo run --example voxels --features demo
//! ```
//!
//! `hills` makes the grid, `slide` moves the player, `look` keeps the camera out of the ground, and
//! `edit` changes the grid with a ray under the mouse.

#[path = "../demo/mod.rs"]
mod demo;

use bevy::prelude::*;
use demo::orbit::{self, Orbit};
use demo::{BLUE, FAINT, INK, ORANGE, Readout, YELLOW};
use demo::{cells, cells::CellColors, fill, pointer::Pointer};
use headbutt::prelude::*;
use headbutt::query::{CastOptions, Ray};

const SPEED: f32 = 5.0;
const GRAVITY: f32 = 25.0;
const JUMP: f32 = 8.5;
const START: Vec3 = Vec3::new(-0.5, 6.0, -0.5);
/// The eyes, from the center of the player.
const EYES: Vec3 = Vec3::new(0.0, 0.6, 0.0);
/// The distance at which the player can dig and build.
const REACH: f32 = 5.0;

/// The world ends at this distance from the origin along x and z, and at `BOTTOM` along y.
const END: i32 = 24;
const BOTTOM: i32 = -8;

/// The materials of the voxels.
const SOIL: u16 = 0;
const ROCK: u16 = 1;
const WOOD: u16 = 2;
const LEAVES: u16 = 3;
const BRICK: u16 = 4;
const NAMES: [&str; 5] = ["soil", "rock", "wood", "leaves", "brick"];
const SKY: Color = Color::srgb(0.56, 0.71, 0.85);
const EARTH: Color = Color::srgb(0.47, 0.35, 0.25);
const GRASS: Color = Color::srgb(0.42, 0.6, 0.32);
const TRUNK: Color = Color::srgb(0.4, 0.29, 0.2);
const FOLIAGE: Color = Color::srgb(0.24, 0.46, 0.27);
const COLORS: [[Color; 2]; 5] = [
    [EARTH, GRASS],
    [FAINT, FAINT],
    [TRUNK, TRUNK],
    [FOLIAGE, FOLIAGE],
    [ORANGE, YELLOW],
];
const TREES: [[i32; 2]; 6] = [[5, 6], [-7, 9], [-11, -4], [12, -8], [16, 14], [-3, -13]];

#[derive(Component)]
struct World;

#[derive(Component, Default)]
struct Player {
    velocity: Vec3,
    ground: Option<Ground>,
}

fn main() -> AppExit {
    let keys = "WASD: walk    space: jump    mouse: dig, with shift: build    \
        right button, arrows: turn    wheel: zoom    F1: colliders";
    demo::app("Voxels", keys)
        .insert_resource(ClearColor(SKY))
        .add_systems(Startup, (spawn, demo::hide_gizmos))
        .add_systems(FixedUpdate, steer)
        .add_systems(FixedPostUpdate, slide.after(HeadbuttSystems::Sync))
        .add_systems(
            Update,
            ((orbit::orbit, look, edit).chain(), cells::draw_voxels),
        )
        .run()
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let orbit = Orbit {
        center: START,
        distance: 9.0,
        yaw: -0.15,
        pitch: 0.55,
    };
    let fog = DistanceFog {
        color: SKY,
        falloff: FogFalloff::Linear {
            start: 15.0,
            end: 45.0,
        },
        ..default()
    };
    let sun = DirectionalLight {
        illuminance: 3000.0,
        shadow_maps_enabled: true,
        ..default()
    };
    commands.spawn((orbit::lens(orbit, 700.0), fog));
    commands.spawn(orbit::sun(sun, 40.0));
    commands.spawn((World, Collider::cells(&hills()), CellColors(&COLORS)));

    let body = Collider::capsule_3d(0.35, 1.0);
    let mut part = |mesh: Mesh, color: Color, center: Vec3| {
        (
            Mesh3d(meshes.add(mesh)),
            MeshMaterial3d(materials.add(color)),
            Transform::from_translation(center),
        )
    };
    let look = part(fill::mesh_3d(&body), BLUE, START);
    let [left, right] =
        [-0.15, 0.15].map(|x| part(Sphere::new(0.08).into(), INK, Vec3::new(x, 0.55, -0.3)));
    let eyes = children![left, right];
    commands.spawn((Player::default(), body, look, eyes));
}

/// Returns the height of the highest solid voxel of a column.
fn height(x: i32, z: i32) -> i32 {
    let [x, z] = [x as f32, z as f32];
    let height = 2.4 * (0.19 * z).cos() - 2.4 * (0.23 * x).sin() - 1.2 * (0.11 * (x + z)).sin();
    height.round() as i32
}

/// Returns the ramp on top of a column, or an empty cell. A ramp leads to a column that is one
/// voxel higher, along the foot of a straight step.
fn ramp(x: i32, z: i32) -> Cell {
    let rise = |dx, dz| height(x + dx, z + dz) - height(x, z);
    match [rise(-1, 0), rise(1, 0), rise(0, -1), rise(0, 1)] {
        [..=0, 1, 0, 0] => Cell::slope(0, 8),
        [1, ..=0, 0, 0] => Cell::slope(8, 0),
        [0, 0, ..=0, 1] => Cell::slope_z(0, 8),
        [0, 0, 1, ..=0] => Cell::slope_z(8, 0),
        _ => Cell::EMPTY,
    }
}

fn hills() -> CellGrid<Vec3> {
    let mut grid = CellGrid::new(Vec3::ONE);
    let mut fill = |[x, y, z]: [i32; 3], size: [i32; 3], cell: Cell| {
        let corner = IVec3::new(x, y, z);
        let filled = grid.fill(corner, corner + IVec3::from(size) - IVec3::ONE, cell);
        filled.expect("a small grid");
    };
    for [x, z] in (-END..END).flat_map(|x| (-END..END).map(move |z| [x, z])) {
        let soil = height(x, z) - 1;
        fill(
            [x, BOTTOM, z],
            [1, soil - BOTTOM, 1],
            Cell::SOLID.with_material(ROCK),
        );
        fill([x, soil, z], [1, 2, 1], Cell::SOLID.with_material(SOIL));
        fill([x, soil + 2, z], [1, 1, 1], ramp(x, z));
    }
    for [x, z] in TREES {
        let ground = height(x, z) + 1;
        let leaves = Cell::SOLID.with_material(LEAVES);
        fill([x - 1, ground + 3, z - 1], [3, 2, 3], leaves);
        fill([x, ground + 5, z], [1, 1, 1], leaves);
        fill([x, ground, z], [1, 4, 1], Cell::SOLID.with_material(WOOD));
    }
    grid
}

/// Lets the player walk in the direction of the camera, and look ahead.
fn steer(
    keys: Res<ButtonInput<KeyCode>>,
    camera: Single<&Orbit>,
    player: Single<(&mut Player, &mut Transform)>,
) {
    let (mut player, mut pose) = player.into_inner();
    let axis = |less, more| f32::from(keys.pressed(more)) - f32::from(keys.pressed(less));
    let (right, back) = (
        axis(KeyCode::KeyA, KeyCode::KeyD),
        axis(KeyCode::KeyW, KeyCode::KeyS),
    );
    let walk = Vec3::new(right, 0.0, back).normalize_or_zero();
    let walk = Quat::from_rotation_y(camera.yaw) * (SPEED * walk);
    player.velocity = walk.with_y(player.velocity.y);
    if walk != Vec3::ZERO {
        pose.look_to(walk, Vec3::Y);
    }
    if keys.pressed(KeyCode::Space) && player.ground.is_some() {
        player.velocity.y = JUMP;
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
    // The player has fallen off the world.
    if pose.translation.y < 3.0 * BOTTOM as f32 {
        pose.translation = START;
    }
}

/// The player, whose pose is read while the pose of the camera changes.
type NotCamera = (With<Player>, Without<Orbit>);

/// Points the camera at the player. If the ground is between them, the camera is nearer.
fn look(
    query: SpatialQuery,
    player: Single<(Entity, &Transform), NotCamera>,
    camera: Single<(&mut Orbit, &mut Transform)>,
) {
    let ((player, body), (mut orbit, mut pose)) = (*player, camera.into_inner());
    orbit.center = body.translation + EYES;
    let back = orbit.pose().translation - orbit.center;
    let hit = query.cast_shape(
        &Collider::sphere(0.3),
        Motion::linear(orbit.center, back),
        CastOptions::default(),
        &SpatialQueryFilter::of(player),
    );
    let share = hit.map_or(1.0, |hit| hit.safe as f32);
    *pose = orbit.pose();
    pose.translation = orbit.center + share * back;
}

/// Digs the voxel under the mouse. With shift, places a block in front of the voxel.
fn edit(
    (keys, buttons): (Res<ButtonInput<KeyCode>>, Res<ButtonInput<MouseButton>>),
    pointer: Pointer,
    query: SpatialQuery,
    world: Single<(Entity, &mut Collider), With<World>>,
    player: Single<(Entity, &Transform), With<Player>>,
    mut readout: ResMut<Readout>,
    mut gizmos: Gizmos,
) -> Result {
    "no voxel under the mouse".clone_into(&mut readout.0);
    let ((world, mut cells), (player, pose)) = (world.into_inner(), *player);
    let (Some(grid), Some(ray)) = (cells.grid::<Vec3>(), pointer.ray()) else {
        return Ok(());
    };
    let ray = Ray::new(ray.origin, *ray.direction);
    let Some(hit) = query.cast_ray(ray, &SpatialQueryFilter::of(player)) else {
        return Ok(());
    };
    let Some((position, cell)) = cells.cell_3d(hit.part) else {
        return Ok(());
    };
    let name = NAMES[usize::from(cell.material())];
    readout.0 = format!("{name} at {position}");

    let (position, cell) = if keys.pressed(KeyCode::ShiftLeft) {
        let in_front = grid.position_of(hit.point + 0.5 * hit.normal);
        (in_front, Cell::SOLID.with_material(BRICK))
    } else {
        (position, Cell::EMPTY)
    };
    let center = grid.center_of(position);
    // A little smaller than a voxel, which touches its neighbors.
    let block = Collider::cuboid(0.98, 0.98, 0.98);
    let bodies = SpatialQueryFilter::default().excluding(world);
    let is_blocked = !cell.is_empty() && query.is_overlapped(&block, center, &bodies);
    if is_blocked || center.distance(pose.translation + EYES) > REACH {
        return Ok(());
    }
    gizmos.cube(
        Transform::from_translation(center).with_scale(Vec3::splat(1.02)),
        INK,
    );
    if buttons.just_pressed(MouseButton::Left) {
        cells.edit_cells(|grid: &mut CellGrid<Vec3>| grid.set(position, cell))?;
    }
    Ok(())
}
