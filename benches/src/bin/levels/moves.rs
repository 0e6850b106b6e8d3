//! Characters that walk on a ground: headbutt's `move_and_slide` against avian's `MoveAndSlide` and
//! rapier's controller. headbutt and rapier climb steps, and avian does not.
//!
//! The characters follow headbutt's results. Every engine gets the same poses and velocities.

use std::{f32::consts::PI, hint::black_box, time::Duration};

use avian3d::prelude::{
    Collider as AvianCollider, MoveAndSlide, MoveAndSlideConfig, MoveAndSlideHitResponse,
    PhysicsLengthUnit, RigidBody, SpatialQueryFilter as AvianFilter,
};
use bevy::{ecs::system::SystemState, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::{
    plugin::ReadRapierContext,
    prelude::{Collider as RapierCollider, QueryFilter},
    rapier::{
        control::{CharacterAutostep, CharacterLength, KinematicCharacterController},
        math::Pose,
    },
};
use headbutt::{MoveAndSlideSettings, SpatialQuery, SpatialQueryFilter, prelude::*};
use headbutt_bench::{
    clock::Clock,
    engines::{
        Engine,
        avian::{self, AvianMode},
        rapier,
    },
    motion::Noise,
    stats::{Summary, geometric_mean},
    table::{head, row, short},
};

use crate::{Body, Tick, grounds::Ground, ours};

const CHARACTERS: usize = 64;

/// The height of the steps that headbutt and rapier climb.
const STEP_HEIGHT: f32 = 0.3;

/// The time step.
const STEP: Duration = Duration::from_nanos(16_666_667);

/// The number of ticks in which the characters land, before the time is measured.
const LANDING: u32 = 40;

/// The state of a character.
#[derive(Clone, Copy)]
struct Walker {
    place: Vec3,
    velocity: Vec3,
    settings: MoveAndSlideSettings,
}

/// Prints the table of characters on grounds whose names contain `only`.
pub fn print(grounds: &[Ground], only: &str, ticks: u32, clock: Clock) {
    head(&[
        "moves on",
        "headbutt, µs (ms for 1,000)",
        "avian, ratio",
        "rapier, ratio",
    ]);
    let mut ratios: [Vec<f64>; 2] = Default::default();
    for ground in grounds {
        for body in [Body::Capsule, Body::Box] {
            let name = format!("{}, {body:?}", ground.name).to_lowercase();
            if name.contains(only) {
                let found = compare(&name, ground, body, ticks, clock);
                for (all, ratio) in ratios.iter_mut().zip(found) {
                    all.push(ratio);
                }
            }
        }
    }
    let [avian, rapier] = ratios.map(|ratios| {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        format!("{} ({})", short(geometric_mean(ratios)), short(least))
    });
    let name = "geometric mean (least)".to_string();
    row(&[name, String::new(), avian, rapier]);
}

/// Prints the row of a ground. Returns the times of avian and rapier, divided by headbutt's time.
fn compare(name: &str, ground: &Ground, body: Body, ticks: u32, clock: Clock) -> [f64; 2] {
    let mut level = App::new();
    level.add_plugins(HeadbuttPlugin::in_schedule(Tick));
    level.world_mut().spawn(ours::collider(ground));
    level.world_mut().run_schedule(Tick);
    let mut ours = SystemState::<SpatialQuery>::new(level.world_mut());
    let query = ours.get(level.world()).expect("the plugin is added");
    let collider = ours::body_collider(body);

    let (vertices, triangles) = (ground.vertices.clone(), ground.triangles.clone());
    let mesh = AvianCollider::trimesh(vertices.clone(), triangles.clone());
    let engine = avian::space::engine(AvianMode::Disabled);
    let mut avian = world(&engine, (RigidBody::Static, mesh));
    let mut state = SystemState::<MoveAndSlide>::new(avian.world_mut());
    let mover = state.get(avian.world()).expect("the plugins are added");
    let avian_body = match body {
        Body::Capsule => AvianCollider::capsule(0.25, 0.5),
        _ => AvianCollider::cuboid(1.0, 1.0, 1.0),
    };

    let mesh = RapierCollider::trimesh(vertices, triangles).expect("this is a mesh");
    let mut rapier = world(&rapier::space::contacts(), mesh);
    let mut state = SystemState::<ReadRapierContext>::new(rapier.world_mut());
    let context = state.get(rapier.world()).expect("the plugin is added");
    let context = context.single().expect("there is one context");
    let rapier_body = match body {
        Body::Capsule => RapierCollider::capsule_y(0.25, 0.25),
        _ => RapierCollider::cuboid(0.5, 0.5, 0.5),
    };
    let controller = KinematicCharacterController {
        autostep: Some(CharacterAutostep {
            max_height: CharacterLength::Absolute(STEP_HEIGHT),
            ..default()
        }),
        ..default()
    };

    let starts: Vec<_> = walkers(ground).collect();
    let mut walkers = starts.clone();
    let mut times: [Vec<f64>; 3] = Default::default();
    for tick in 0..ticks + LANDING {
        for (number, walker) in walkers.iter_mut().enumerate() {
            // The direction changes every second.
            let mut noise = Noise::new(number as u32, tick / 60);
            let way = Vec2::from_angle(PI * noise.signed()) * 4.0;
            let fall = walker.velocity.y - 9.81 * STEP.as_secs_f32();
            walker.velocity = Vec3::new(way.x, fall, way.y);
        }
        let before = walkers.clone();
        let measure = |times: &mut Vec<f64>, run: &mut dyn FnMut()| {
            let start = clock.now();
            run();
            if tick >= LANDING {
                times.push((clock.now() - start).as_secs_f64() * 1e6 / CHARACTERS as f64);
            }
        };
        measure(&mut times[0], &mut || {
            let filter = SpatialQueryFilter::default();
            for walker in &mut walkers {
                let pose = Transform::from_translation(black_box(walker.place));
                let wanted = walker.velocity * STEP.as_secs_f32();
                let moved =
                    query.move_and_slide(&collider, pose, wanted, &walker.settings, &filter);
                walker.place += moved.translation;
                walker.velocity = moved.clip_velocity(walker.velocity);
                walker.settings.ground = moved.ground;
            }
        });
        measure(&mut times[1], &mut || {
            let (config, filter) = (MoveAndSlideConfig::default(), AvianFilter::default());
            for walker in &before {
                let place = black_box(walker.place);
                black_box(mover.move_and_slide(
                    &avian_body,
                    place,
                    Quat::IDENTITY,
                    walker.velocity,
                    STEP,
                    &config,
                    &filter,
                    |_| MoveAndSlideHitResponse::Accept,
                ));
            }
        });
        measure(&mut times[2], &mut || {
            context.with_query_pipeline(QueryFilter::default(), |pipeline| {
                for walker in &before {
                    let pose = Pose::from_translation(black_box(walker.place));
                    black_box(controller.move_shape(
                        STEP.as_secs_f32(),
                        &pipeline.query_pipeline,
                        &*rapier_body.raw,
                        &pose,
                        walker.velocity * STEP.as_secs_f32(),
                        |_| {},
                    ));
                }
            });
        });
        // A character that has fallen off the ground starts again.
        for (walker, start) in walkers.iter_mut().zip(&starts) {
            if walker.place.y < start.place.y - 20.0 {
                *walker = *start;
            }
        }
    }
    let [own, avian, rapier] = times.map(|times| Summary::of(times).median);
    let ratios = [avian / own, rapier / own];
    row(&[
        name.to_string(),
        short(own),
        short(ratios[0]),
        short(ratios[1]),
    ]);
    ratios
}

/// Returns characters above triangles that are ground.
fn walkers(ground: &Ground) -> impl Iterator<Item = Walker> {
    let corners = |triangle: &[u32; 3]| triangle.map(|index| ground.vertices[index as usize]);
    let is_ground = |[a, b, c]: &[Vec3; 3]| (b - a).cross(c - a).normalize_or_zero().y > 0.8;
    let flat: Vec<_> = ground
        .triangles
        .iter()
        .map(corners)
        .filter(is_ground)
        .collect();
    (0..CHARACTERS as u32).map(move |number| {
        let choice = 0.5 + 0.5 * Noise::new(number, 5).signed();
        let [a, b, c] = flat[((choice * flat.len() as f32) as usize).min(flat.len() - 1)];
        Walker {
            place: (a + b + c) / 3.0 + Vec3::Y,
            velocity: Vec3::ZERO,
            settings: MoveAndSlideSettings {
                step_height: STEP_HEIGHT,
                ..default()
            },
        }
    })
}

/// Returns a world of an engine with a ground.
fn world(engine: &Engine, ground: impl Bundle) -> App {
    let mut app = App::new();
    app.add_plugins(MinimalPlugins)
        .insert_resource(TimeUpdateStrategy::ManualDuration(STEP))
        .init_resource::<PhysicsLengthUnit>();
    (engine.plugins)(&mut app, 1);
    app.finish();
    app.cleanup();
    app.update();
    app.world_mut().spawn((ground, Transform::IDENTITY));
    (0..3).for_each(|_| app.update());
    app
}
