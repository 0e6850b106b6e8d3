//! Capsules on a terrain of 100,000 triangles, and balls on surfaces of 200,000: headbutt against
//! parry, on one thread.
//!
//! headbutt's surfaces are colliders, and not shapes for queries. So the benchmark measures a tick
//! of an app with the surface, some bodies and their candidate pairs, and subtracts a tick of the
//! same app without pairs. parry gets the same poses in queries for the contact and for the
//! manifolds, which engines use. Each manifold query starts from the previous manifolds of the same
//! body. headbutt's result is in between: the deepest contact, without contacts at seams.

mod ours;
mod peer;
mod terrain;
mod triangles;

use std::{error::Error, time::Instant};

use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use headbutt_bench::{
    clock::Clock,
    motion::Noise,
    stats::Summary,
    table::{head, row, short},
};
use lexopt::{Arg, Parser, ValueExt};
use terrain::Terrain;
use triangles::Triangles;

const HELP: &str = "\
Microseconds a capsule on a terrain, and a ball on a terrain and on a scan, of headbutt and parry;
building time and memory.

    cargo run --release --bin surface -- [options]

    --cells 224     along each edge of the terrain, of two triangles each   [224]
    --ticks 200     of 64 capsules each, or for each ten ticks one of 1,000 balls [200]
    --clock wall    or cpu: that of the processor, on a machine that others share [wall]
";

/// The number of capsules.
const CAPSULES: usize = 64;

/// The number of balls. The radius of each is a hundredth of the surface's size.
const BALLS: usize = 1000;

/// The bodies on a surface.
#[derive(Clone, Copy)]
pub enum Body {
    Ball { radius: f32 },
    Capsule { radius: f32, half_length: f32 },
}

const CAPSULE: Body = Body::Capsule {
    radius: 0.3,
    half_length: 0.5,
};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut cells, mut ticks, mut clock) = (224_usize, 200_u32, Clock::Wall);
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("cells") => cells = parser.value()?.parse::<usize>()?.max(8),
            Arg::Long("ticks") => ticks = parser.value()?.parse::<u32>()?.max(1),
            Arg::Long("clock") => clock = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let terrain = Terrain::new(cells);
    println!("{} triangles\n", terrain.triangles.numbers.len());
    build(&terrain.triangles);
    println!();
    query(&terrain, ticks, clock);
    println!();
    balls(ticks.div_ceil(10), clock);
    Ok(())
}

fn build(triangles: &Triangles) {
    head(&[
        "building",
        "ms, median (quartiles) of 5",
        "bytes a triangle, kept",
        "bytes a triangle, at most",
    ]);
    let measure = |name: &str, build: &dyn Fn() -> Box<dyn std::any::Any>| {
        let mut times = Vec::new();
        let mut built = None;
        for _ in 0..5 {
            let start = Instant::now();
            built = Some(build());
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        drop(built);
        let mut kept = None;
        let memory = allocation_counter::measure(|| kept = Some(build()));
        let each = |bytes: f64| format!("{:.0}", bytes / triangles.numbers.len() as f64);
        let times = Summary::of(times);
        row(&[
            name.to_string(),
            spread(times),
            each(memory.bytes_current as f64),
            each(memory.bytes_max as f64),
        ]);
    };
    measure("headbutt", &|| Box::new(ours::collider(triangles)));
    measure("parry, plain", &|| Box::new(peer::mesh(triangles, false)));
    measure("parry, internal edges fixed", &|| {
        Box::new(peer::mesh(triangles, true))
    });
}

fn query(terrain: &Terrain, ticks: u32, clock: Clock) {
    head(&[
        "course",
        "headbutt, µs",
        "parry contact, µs",
        "ratio",
        "parry manifolds, µs",
        "ratio",
        "triangles whose box meets the capsule's",
        "touching: both, headbutt only, parry only",
        "depths that differ by more than 0.001",
    ]);
    for coherent in [true, false] {
        let mut ours = ours::Ours::new(&terrain.triangles, CAPSULE, CAPSULES);
        let mut peer = peer::Peer::new(&terrain.triangles, CAPSULE, CAPSULES);
        let mut times: [Vec<f64>; 3] = Default::default();
        let (mut tally, mut boxes) = (Tally::default(), 0);
        for tick in 0..ticks + 5 {
            let poses = poses(terrain, tick, coherent);
            let (time_ours, depths) = ours.ask(&poses, clock);
            let (time_contact, peer_depths) = peer.contacts(&poses, clock);
            let time_manifolds = peer.manifolds(&poses, clock);
            if tick < 5 {
                continue;
            }
            let all = [time_ours, time_contact, time_manifolds];
            for (times, time) in times.iter_mut().zip(all) {
                times.push(time / CAPSULES as f64);
            }
            tally.add(&depths, &peer_depths);
            boxes += peer.boxes(&poses);
        }
        let [ours, contact, manifolds] = times.map(Summary::of);
        row(&[
            if coherent { "coherent" } else { "anywhere" }.to_string(),
            spread(ours),
            spread(contact),
            short(contact.median / ours.median),
            spread(manifolds),
            short(manifolds.median / ours.median),
            short(boxes as f64 / f64::from(ticks) / CAPSULES as f64),
            tally.touching(),
            tally.differing.to_string(),
        ]);
    }
}

fn balls(ticks: u32, clock: Clock) {
    head(&[
        "1,000 balls",
        "headbutt, µs",
        "parry contact, µs",
        "ratio",
        "parry manifolds, µs",
        "ratio",
        "triangles whose box meets the ball's",
        "that touch it",
        "touching: both, headbutt only, parry only",
        "depths that differ by more than 0.001",
    ]);
    let terrain = Terrain::new(316);
    let scan = Triangles::scan(50.0, 280);
    let grounds = [
        ("scan", &scan, 1.0),
        ("terrain", &terrain.triangles, 0.01 * terrain.edge()),
    ];
    for (name, triangles, radius) in grounds {
        for coherent in [true, false] {
            let mut ours = ours::Ours::new(triangles, Body::Ball { radius }, BALLS);
            let mut peer = peer::Peer::new(triangles, Body::Ball { radius }, BALLS);
            let mut times: [Vec<f64>; 3] = Default::default();
            let mut tally = Tally::default();
            let (mut boxes, mut touched) = (0, 0);
            for tick in 0..ticks + 2 {
                let places = triangles.places(BALLS, radius, tick, coherent);
                let poses: Vec<_> = places
                    .iter()
                    .map(|it| Transform::from_translation(*it))
                    .collect();
                let (time_ours, depths) = ours.ask(&poses, clock);
                let (time_contact, peer_depths) = peer.contacts(&poses, clock);
                let time_manifolds = peer.manifolds(&poses, clock);
                if tick < 2 {
                    continue;
                }
                let all = [time_ours, time_contact, time_manifolds];
                for (times, time) in times.iter_mut().zip(all) {
                    times.push(time / BALLS as f64);
                }
                tally.add(&depths, &peer_depths);
                boxes += peer.boxes(&poses);
                touched += peer.touched(&places, radius);
            }
            let [ours, contact, manifolds] = times.map(Summary::of);
            let each = |count: usize| short(count as f64 / f64::from(ticks) / BALLS as f64);
            let course = if coherent { "coherent" } else { "anywhere" };
            row(&[
                format!("{name} of {} triangles, {course}", triangles.numbers.len()),
                spread(ours),
                spread(contact),
                short(contact.median / ours.median),
                spread(manifolds),
                short(manifolds.median / ours.median),
                each(boxes),
                each(touched),
                tally.touching(),
                tally.differing.to_string(),
            ]);
        }
    }
}

/// The results of both libraries for the same bodies.
#[derive(Default)]
struct Tally {
    both: u32,
    ours_only: u32,
    theirs_only: u32,
    differing: u32,
}

impl Tally {
    fn add(&mut self, ours: &[Option<f32>], theirs: &[Option<f32>]) {
        for depths in ours.iter().zip(theirs) {
            match depths {
                (Some(ours), Some(theirs)) => {
                    self.both += 1;
                    self.differing += u32::from((ours - theirs).abs() > 1e-3);
                }
                (Some(_), None) => self.ours_only += 1,
                (None, Some(_)) => self.theirs_only += 1,
                (None, None) => (),
            }
        }
    }

    fn touching(&self) -> String {
        format!("{}, {}, {}", self.both, self.ours_only, self.theirs_only)
    }
}

/// The median and the quartiles.
fn spread(it: Summary) -> String {
    format!(
        "{} ({} to {})",
        short(it.median),
        short(it.low),
        short(it.high)
    )
}

/// Returns the poses of the capsules: on the ground, a little deep, tilted.
fn poses(terrain: &Terrain, tick: u32, coherent: bool) -> Vec<Transform> {
    let edge = 0.45 * terrain.edge();
    (0..CAPSULES as u32)
        .map(|capsule| {
            let mut noise = Noise::new(capsule, if coherent { 0 } else { tick + 1 });
            let start = edge * Vec2::new(noise.signed(), noise.signed());
            let mut tilt = noise.rotation(false);
            let mut place = start;
            if coherent {
                // Toward the middle and beyond by 0.05 per tick, with a rotation of one degree.
                place -= start.normalize_or(Vec2::X) * 0.05 * tick as f32;
                tilt *= Quat::from_rotation_x(0.02 * tick as f32);
            }
            let height = terrain.height(place) + 0.45;
            Transform::from_xyz(place.x, height, place.y).with_rotation(tilt)
        })
        .collect()
}
