//! Worlds of cells: construction, edits, ticks, and queries beside parry's `Voxels`.
//!
//!     cargo run --release --bin cells
//!     cargo run --release --bin cells construction edits ticks queries

use std::hint::black_box;
use std::time::Instant;

use bevy::{
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use headbutt::{
    OngoingEvents,
    prelude::*,
    query::{CastOptions, Ray, cast_ray, cast_shape, contact},
};
use headbutt_bench::stats::Summary;
use parry3d::{
    math::{IVector, Pose, Rotation, Vector},
    query::{
        ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, Ray as ParryRay,
        RayCast, ShapeCastOptions, cast_shapes,
    },
    shape::{Ball, SharedShape, Voxels},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

/// The height of the ground at a column.
fn height(column: i32) -> i32 {
    let x = f64::from(column);
    (3.0 * (x * 0.11).sin() + 2.0 * (x * 0.043).sin()).round() as i32
}

/// Returns a ground of `width` columns, each down to y = `bottom`.
fn ground_2d(width: i32, bottom: i32) -> CellGrid<Vec2> {
    let mut grid = CellGrid::new(Vec2::ONE);
    for x in 0..width {
        let (low, high) = (IVec2::new(x, bottom), IVec2::new(x, height(x)));
        grid.fill(low, high, Cell::SOLID).expect("a small grid");
    }
    grid
}

/// Returns the outline of the same ground, as segments whose outer side is up.
fn outline(width: i32) -> Vec<Vec2> {
    let mut points = Vec::new();
    for x in (0..width).rev() {
        let y = height(x) as f32 + 1.0;
        points.push(Vec2::new(x as f32 + 1.0, y));
        points.push(Vec2::new(x as f32, y));
    }
    points.dedup();
    points
}

fn app() -> App {
    let mut app = App::new();
    let mut schedule = Schedule::new(Tick);
    schedule.set_executor(SingleThreadedExecutor::new());
    app.add_schedule(schedule);
    let plugin = HeadbuttPlugin::in_schedule(Tick).with_ongoing(OngoingEvents::Never);
    app.add_plugins((MinimalPlugins, plugin));
    app.finish();
    app.cleanup();
    app
}

/// Returns the time of a call, in microseconds.
fn time(call: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_secs_f64() * 1e6
}

/// Returns the summary of the times of `repeat` calls, in microseconds.
fn times(repeat: usize, mut call: impl FnMut()) -> Summary {
    Summary::of((0..repeat).map(|_| time(&mut call)).collect())
}

/// Shows the times of two ways to do the same, which take turns.
fn compare(name: &str, repeat: usize, mut own: impl FnMut(), mut peer: impl FnMut()) {
    let turns = (0..repeat).map(|_| (time(&mut own), time(&mut peer)));
    let (own, peer) = turns.unzip();
    show(&format!("{name}, headbutt"), Summary::of(own));
    show(&format!("{name}, parry"), Summary::of(peer));
}

fn show(name: &str, summary: Summary) {
    println!(
        "{name:60} {:12.2} us ({:.2} to {:.2})",
        summary.median, summary.low, summary.high
    );
}

fn construction() {
    let mut full = CellGrid::new(Vec2::ONE);
    full.fill(IVec2::ZERO, IVec2::splat(999), Cell::SOLID)
        .expect("a small grid");
    show(
        "build 1,000 x 1,000 cells, all solid",
        times(9, || drop(black_box(Collider::cells(&full)))),
    );
    let mut rng = StdRng::seed_from_u64(1);
    let mut caves = full.clone();
    for _ in 0..4_000 {
        let at = IVec2::new(rng.random_range(0..990), rng.random_range(0..990));
        let to = at + IVec2::new(rng.random_range(1..9), rng.random_range(1..9));
        caves.fill(at, to, Cell::EMPTY).expect("a small grid");
    }
    show(
        "build 1,000 x 1,000 cells with 4,000 caves",
        times(9, || drop(black_box(Collider::cells(&caves)))),
    );
    let mut slopes = CellGrid::new(Vec2::ONE);
    for at in (0..300).flat_map(|x| (0..300).map(move |y| IVec2::new(x, y))) {
        let heights = [rng.random_range(0..9), rng.random_range(0..9)];
        slopes.set(at, Cell::slope(heights[0], heights[1]));
    }
    show(
        "build 300 x 300 random slopes",
        times(9, || drop(black_box(Collider::cells(&slopes)))),
    );
    let fill = times(9, || {
        let mut grid = CellGrid::new(Vec2::ONE);
        let _ = grid.fill(IVec2::ZERO, IVec2::splat(999), Cell::SOLID);
        drop(black_box(Collider::cells(&grid)));
    });
    show("fill and build 1,000 x 1,000 cells", fill);
    let mut level = Collider::cells(&caves);
    let mut random = move || IVec2::new(rng.random_range(0..1000), rng.random_range(0..1000));
    show(
        "one edit, one call (1,000 x 1,000 cells with caves)",
        times(2_000, || {
            let at = random();
            let edit = |grid: &mut CellGrid<Vec2>| flip(grid, at);
            level.edit_cells(edit).expect("a valid edit");
        }),
    );
}

fn edits_in_a_tick() {
    let mut app = app();
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::ZERO, IVec2::splat(999), Cell::SOLID)
        .expect("a small grid");
    let level = app.world_mut().spawn(Collider::cells(&grid)).id();
    let mut rng = StdRng::seed_from_u64(2);
    for number in 0..1_000 {
        let place = Transform::from_xyz(number as f32 + 0.5, 1000.4, 0.0);
        app.world_mut()
            .spawn((Collider::rectangle(0.8, 1.0), place));
    }
    let idle = times(20, || app.world_mut().run_schedule(Tick));
    show("tick at rest, 1,000 bodies", idle);
    for (count, calls, repeat) in [(1, 1, 400), (100, 1, 100), (10_000, 1, 20), (1, 10_000, 20)] {
        let mut edits = 0.0;
        let samples = times(repeat, || {
            edits += time(&mut || {
                let mut collider = app.world_mut().get_mut::<Collider>(level).expect("a level");
                for _ in 0..calls {
                    let edit = |grid: &mut CellGrid<Vec2>| {
                        for _ in 0..count {
                            let at = |rng: &mut StdRng| rng.random_range(1..999);
                            flip(grid, IVec2::new(at(&mut rng), at(&mut rng)));
                        }
                    };
                    collider.edit_cells(edit).expect("a valid edit");
                }
            });
            app.world_mut().run_schedule(Tick);
        });
        let name = format!("{count} edits, {calls} times, and the tick, 1,000 bodies");
        show(&name, samples);
        println!(
            "{:60} {:12.2} us",
            "    the edits alone",
            edits / repeat as f64
        );
    }
}

/// Sets an empty cell, or empties a cell.
fn flip(grid: &mut CellGrid<Vec2>, at: IVec2) {
    let is_empty = grid.get(at).is_empty();
    grid.set(at, if is_empty { Cell::SOLID } else { Cell::EMPTY });
}

fn ticks() {
    let width = 10_000;
    let grid = Collider::cells(&ground_2d(width, -20));
    let polyline = Collider::polyline(outline(width)).one_sided();
    for (name, ground) in [("cells", grid), ("one-sided polyline", polyline)] {
        let mut app = app();
        app.world_mut().spawn(ground);
        let mut rng = StdRng::seed_from_u64(3);
        let mut bodies = Vec::new();
        for x in 0..width {
            let y = height(x) as f32 + 1.0 + rng.random_range(0.3..0.6);
            let shape = if x % 2 == 0 {
                Collider::circle(0.45)
            } else {
                Collider::rectangle(0.9, 0.9)
            };
            let body = (shape, Transform::from_xyz(x as f32 + 0.5, y, 0.0));
            bodies.push(app.world_mut().spawn(body).id());
        }
        let mut side = 0.01;
        let samples = times(30, || {
            side = -side;
            for body in &bodies {
                let mut transform = app.world_mut().get_mut::<Transform>(*body).expect("a body");
                transform.translation.x += side;
            }
            app.world_mut().run_schedule(Tick);
        });
        show(&format!("tick, 10,000 moving bodies on {name}"), samples);
    }
}

/// Rays, casts of balls, and contacts over 128 x 128 columns of voxels.
fn queries() {
    let mut grid = CellGrid::new(Vec3::ONE);
    let mut voxels = Vec::new();
    for (x, z) in (0..128).flat_map(|x| (0..128).map(move |z| (x, z))) {
        for y in -8..=height(x) + height(z) {
            grid.set(IVec3::new(x, y, z), Cell::SOLID);
            voxels.push(IVector::new(x, y, z));
        }
    }
    let level = Collider::cells(&grid);
    let voxels = Voxels::new(Vector::new(1.0, 1.0, 1.0), &voxels);
    let mut rng = StdRng::seed_from_u64(4);
    let mut random = |low: Vec3, high: Vec3| {
        let mut random = |axis: usize| rng.random_range(low[axis]..high[axis]);
        Vec3::new(random(0), random(1), random(2))
    };
    let motions: Vec<(Vec3, Vec3)> = (0..10_000)
        .map(|_| {
            let from = random(Vec3::new(0.0, 14.0, 0.0), Vec3::new(128.0, 20.0, 128.0));
            let toward = random(Vec3::new(-1.0, -0.6, -1.0), Vec3::new(1.0, -0.1, 1.0));
            (from, toward.normalize() * 100.0)
        })
        .collect();
    let (mut own_hits, mut peer_hits) = ([0; 2], [0; 2]);
    let own_rays = || {
        let cast = |(from, motion): &(Vec3, Vec3)| {
            let ray = Ray::new(*from, *motion).with_max_distance(100.0);
            cast_ray(&level, Vec3::ZERO, ray).is_some()
        };
        own_hits[0] = motions.iter().filter(|it| cast(it)).count();
    };
    let vector = |it: Vec3| Vector::new(it.x, it.y, it.z);
    let peer_rays = || {
        let cast = |(from, motion): &(Vec3, Vec3)| {
            let ray = ParryRay::new(vector(*from).into(), vector(*motion / 100.0));
            voxels.cast_local_ray(&ray, 100.0, true).is_some()
        };
        peer_hits[0] = motions.iter().filter(|it| cast(it)).count();
    };
    compare("10,000 rays at voxels", 9, own_rays, peer_rays);
    let ball = Collider::sphere(0.4);
    let own_casts = || {
        let cast = |(from, motion): &(Vec3, Vec3)| {
            let options = CastOptions::default();
            cast_shape(
                &level,
                Vec3::ZERO,
                Vec3::ZERO,
                &ball,
                *from,
                *motion,
                options,
            )
            .is_some()
        };
        own_hits[1] = motions.iter().filter(|it| cast(it)).count();
    };
    let peer_ball = Ball::new(0.4);
    let peer_casts = || {
        let cast = |(from, motion): &(Vec3, Vec3)| {
            let pose = Pose::from_translation(vector(*from));
            let options = ShapeCastOptions::with_max_time_of_impact(1.0);
            let (zero, motion) = (Vector::ZERO, vector(*motion));
            let ground = Pose::IDENTITY;
            let hit = cast_shapes(&ground, zero, &voxels, &pose, motion, &peer_ball, options);
            hit.ok().flatten().is_some()
        };
        peer_hits[1] = motions.iter().filter(|it| cast(it)).count();
    };
    compare("10,000 casts of a ball at voxels", 5, own_casts, peer_casts);
    println!("hits: {own_hits:?}, {peer_hits:?}");
    for (name, shape, peer) in [
        ("balls", Collider::sphere(0.4), SharedShape::ball(0.4)),
        (
            "boxes",
            Collider::cuboid(0.8, 0.8, 0.8),
            SharedShape::cuboid(0.4, 0.4, 0.4),
        ),
        (
            "capsules",
            Collider::capsule_3d(0.4, 0.8),
            SharedShape::capsule_y(0.4, 0.4),
        ),
    ] {
        let turn = Quat::from_euler(EulerRot::XYZ, 0.3, 0.5, 0.2);
        // The body falls onto the ground, and then 0.05 deeper.
        let land = |(from, _): &(Vec3, Vec3)| {
            let pose = Transform::from_translation(*from).with_rotation(turn);
            let fall = Vec3::NEG_Y * 100.0;
            let options = CastOptions::default();
            let hit = cast_shape(&shape, pose, fall, &level, Vec3::ZERO, Vec3::ZERO, options)?;
            Some(*from + fall * hit.touching as f32 - Vec3::Y * 0.05)
        };
        let centers: Vec<Vec3> = motions.iter().filter_map(land).collect();
        let own = || {
            for center in &centers {
                let pose = Transform::from_translation(*center).with_rotation(turn);
                black_box(contact(&level, Vec3::ZERO, &shape, pose));
            }
        };
        let rotation = Rotation::from_array(turn.to_array());
        let mut kept: Vec<(Vec<ContactManifold<(), ()>>, _)> =
            centers.iter().map(|_| (Vec::new(), None)).collect();
        let parry = || {
            for (center, (manifolds, workspace)) in centers.iter().zip(&mut kept) {
                let pose = Pose::from_parts(vector(*center).into(), rotation);
                let done = DefaultQueryDispatcher
                    .contact_manifolds(&pose, &voxels, &*peer, 0.0, manifolds, workspace);
                black_box((done.is_ok(), &*manifolds));
            }
        };
        compare(
            &format!("10,000 contacts of {name} with voxels"),
            9,
            own,
            parry,
        );
    }
}

fn main() {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let names: Vec<String> = std::env::args().skip(1).collect();
    let parts: [(&str, fn()); 4] = [
        ("construction", construction),
        ("edits", edits_in_a_tick),
        ("ticks", ticks),
        ("queries", queries),
    ];
    for (name, measure) in parts {
        if names.is_empty() || names.iter().any(|it| it == name) {
            measure();
        }
    }
}
