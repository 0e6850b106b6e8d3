//! Plays a recording in a window.

use std::process::ExitCode;

use bevy::{ecs::system::SystemState, input::common_conditions::input_just_pressed, prelude::*};
use headbutt::{HeadbuttPlugin, Recording, Replay, ReplayTick, ReplayedTick, prelude::*};

use crate::{
    USAGE,
    demo::{
        self, BLUE, GRAY, Readout, fill,
        options::Options,
        orbit::{self, Light, Orbit},
    },
    read,
};

const KEYS: &str = "space: play    comma, period: step    home, end: first and last tick    \
    arrows: turn the camera in 3D";

/// The maximum number of ticks, spread over the recording, in which the camera must see all
/// colliders.
const MAX_FRAMED_TICKS: usize = 320;

/// The size of the picture, relative to the size of the scene.
const MARGIN: f32 = 1.25;

/// The shown tick, and `true` if the recording plays.
#[derive(Resource)]
struct Position {
    tick: usize,
    plays: bool,
}

/// The result of the replay for the shown tick.
#[derive(Resource)]
struct Played(ReplayedTick);

pub fn play() -> ExitCode {
    let options = Options::from_env(Some(USAGE));
    let recording = match &options.file {
        Some(file) => read(file).and_then(|recording| {
            if recording.is_empty() {
                return Err(format!("{}: the recording has no tick", file.display()).into());
            }
            Ok(recording)
        }),
        None => Err(USAGE.into()),
    };
    match recording {
        Ok(recording) => match app(recording, &options).run() {
            AppExit::Success => ExitCode::SUCCESS,
            AppExit::Error(code) => ExitCode::from(code.get()),
        },
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn app(recording: Recording, options: &Options) -> App {
    let mut app = demo::with_options("Replay", KEYS, options);
    app.add_plugins(HeadbuttPlugin::in_schedule(ReplayTick))
        .insert_resource(Time::<Fixed>::from_duration(recording.timestep()))
        .insert_resource(Replay::new(recording))
        .insert_resource(Position {
            tick: 0,
            plays: true,
        })
        .add_systems(Startup, (spawn_camera, show).chain())
        .add_systems(FixedUpdate, advance)
        .add_systems(
            Update,
            (
                toggle.run_if(input_just_pressed(KeyCode::Space)),
                step,
                show,
                fill_colliders,
                describe,
                orbit::orbit.run_if(any_with_component::<Orbit>),
            )
                .chain(),
        );
    app
}

/// Plays or pauses. At the end of the recording, plays from the beginning.
fn toggle(mut position: ResMut<Position>, replay: Res<Replay>) {
    if position.tick + 1 < replay.recording().len() {
        position.plays = !position.plays;
    } else {
        *position = Position {
            tick: 0,
            plays: true,
        };
    }
}

fn advance(mut position: ResMut<Position>, replay: Res<Replay>) {
    let last = replay.recording().len().saturating_sub(1);
    if position.plays && position.tick < last {
        position.tick += 1;
    }
}

fn step(keys: Res<ButtonInput<KeyCode>>, mut position: ResMut<Position>, replay: Res<Replay>) {
    let last = replay.recording().len().saturating_sub(1);
    let tick = position.tick;
    let pressed = [
        (KeyCode::Comma, tick.saturating_sub(1)),
        (KeyCode::Period, last.min(tick + 1)),
        (KeyCode::Home, 0),
        (KeyCode::End, last),
    ];
    for (key, target) in pressed {
        if keys.just_pressed(key) {
            *position = Position {
                tick: target,
                plays: false,
            };
        }
    }
}

/// Replays the shown tick, unless the world already shows it.
fn show(world: &mut World) -> Result {
    let tick = world.resource::<Position>().tick;
    world.resource_scope(|world, mut replay: Mut<Replay>| {
        if replay.tick() != Some(tick) || !world.contains_resource::<Played>() {
            let played = replay.go_to(world, tick)?;
            world.insert_resource(Played(played));
        }
        Ok(())
    })
}

/// Spawns a camera that sees the colliders of all ticks, except unbounded colliders.
fn spawn_camera(world: &mut World) -> Result {
    let mut bounds = None;
    let mut is_flat = false;
    world.resource_scope(|world, mut replay: Mut<Replay>| {
        let ticks = replay.recording().len();
        let mut state = SystemState::<(Query<(Entity, &Collider)>, SpatialQuery)>::new(world);
        for tick in (0..ticks).step_by(ticks.div_ceil(MAX_FRAMED_TICKS)) {
            replay.go_to(world, tick)?;
            let (colliders, query) = state.get(world)?;
            for (entity, collider) in &colliders {
                is_flat |= collider.shape_2d().is_some();
                let pose = query.pose(entity);
                if let Some(aabb) = pose.and_then(|pose| collider.aabb(pose)) {
                    let (min, max) = bounds.unwrap_or((aabb.min, aabb.max));
                    bounds = Some((min.min(aabb.min), max.max(aabb.max)));
                }
            }
            world.clear_trackers();
        }
        Ok::<_, BevyError>(())
    })?;
    let (min, max) = bounds.unwrap_or((Vec3::NEG_ONE, Vec3::ONE));
    let aspect = demo::SIZE.x as f32 / demo::SIZE.y as f32;
    if is_flat {
        let height = MARGIN * (max.y - min.y).max((max.x - min.x) / aspect);
        let pose = Transform::from_translation(min.midpoint(max).with_z(0.0));
        world.spawn((demo::camera_2d(height), pose));
    } else {
        let orbit = orbit_around(min, max, aspect);
        world.spawn(orbit::camera(orbit, Light::Plain));
    }
    Ok(())
}

/// Returns a camera that sees all corners of a box.
fn orbit_around(min: Vec3, max: Vec3, aspect: f32) -> Orbit {
    let mut orbit = Orbit {
        center: min.midpoint(max),
        distance: 0.0,
        yaw: 0.6,
        pitch: 0.4,
    };
    let to_camera = orbit.pose().rotation.inverse();
    let half_height = (PerspectiveProjection::default().fov / 2.0).tan();
    for corner in 0..8 {
        let side = |axis| {
            if corner >> axis & 1 == 0 {
                min[axis]
            } else {
                max[axis]
            }
        };
        let corner = to_camera * (Vec3::new(side(0), side(1), side(2)) - orbit.center);
        let half = corner.y.abs().max(corner.x.abs() / aspect);
        orbit.distance = orbit.distance.max(corner.z + MARGIN * half / half_height);
    }
    orbit
}

fn fill_colliders(
    mut commands: Commands,
    colliders: Query<(Entity, &Collider), Changed<Collider>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut flat: ResMut<Assets<ColorMaterial>>,
    mut solid: ResMut<Assets<StandardMaterial>>,
) {
    for (entity, collider) in &colliders {
        let mut entity = commands.entity(entity);
        let is_bounded = collider.aabb(Transform::IDENTITY).is_some();
        let color = if is_bounded { BLUE } else { GRAY };
        if collider.shape_2d().is_some() {
            let mesh = Mesh2d(meshes.add(fill::mesh_2d(collider)));
            entity.insert((mesh, MeshMaterial2d(flat.add(color.with_alpha(0.6)))));
        } else if collider.shape_3d().is_some() {
            let mesh = Mesh3d(meshes.add(fill::mesh_3d(collider)));
            entity.insert((mesh, MeshMaterial3d(solid.add(color))));
        }
    }
}

fn describe(played: Res<Played>, replay: Res<Replay>, mut readout: ResMut<Readout>) {
    let ReplayedTick { tick, contacts, .. } = played.0;
    let verdict = if played.0.is_equal() {
        "equal to the recording"
    } else {
        "DIFFERENT from the recording"
    };
    let ticks = replay.recording().len();
    readout.0 = format!(
        "tick {} of {ticks}: {contacts} contacts, {verdict}",
        tick + 1
    );
}
