//! A recording in a window.

use std::process::ExitCode;

use bevy::{input::common_conditions::input_just_pressed, prelude::*};
use headbutt::{HeadbuttPlugin, Recording, Replay, ReplayTick, ReplayedTick, prelude::*};

use crate::{
    USAGE,
    demo::{self, BLUE, GRAY, Readout, fill, options::Options, orbit, orbit::Orbit},
    read,
};

const KEYS: &str = "space: play    comma, period: step    home, end: first and last tick    \
    arrows: turn the camera in 3D";

/// The tick that is shown.
#[derive(Resource)]
struct Position {
    tick: usize,
    plays: bool,
}

/// What the replay returned for that tick.
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
        .add_systems(Startup, (show, spawn_camera).chain())
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

/// Plays or pauses. At the end, plays from the beginning.
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

/// Brings the world to the tick.
fn show(world: &mut World) -> Result {
    let tick = world.resource::<Position>().tick;
    world.resource_scope(|world, mut replay: Mut<Replay>| {
        if replay.tick() != Some(tick) {
            let played = replay.go_to(world, tick)?;
            world.insert_resource(Played(played));
        }
        Ok(())
    })
}

/// Spawns a camera that sees all bounded colliders of the first tick.
fn spawn_camera(mut commands: Commands, colliders: Query<(&Collider, &Transform)>) {
    let mut boxes = colliders
        .iter()
        .filter_map(|(collider, pose)| collider.aabb(*pose));
    let is_flat = colliders
        .iter()
        .any(|(collider, _)| collider.shape_2d().is_some());
    let bounds = boxes.next().map(|first| {
        boxes.fold((first.min, first.max), |(min, max), next| {
            (min.min(next.min), max.max(next.max))
        })
    });
    let (min, max) = bounds.unwrap_or((Vec3::NEG_ONE, Vec3::ONE));
    let (center, size) = (min.midpoint(max), max - min);
    if is_flat {
        let height = 1.3
            * size
                .y
                .max(size.x * demo::SIZE.y as f32 / demo::SIZE.x as f32);
        let pose = Transform::from_translation(center.with_z(0.0));
        commands.spawn((demo::camera_2d(height), pose));
    } else {
        commands.spawn(orbit::camera(Orbit {
            center,
            distance: 1.2 * size.length(),
            yaw: 0.6,
            pitch: 0.4,
        }));
    }
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
