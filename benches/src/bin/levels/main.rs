//! Bodies on meshes: headbutt against parry, avian and rapier, on one thread.
//!
//! * **Contacts:** the time of a tick with the ground, the bodies and their candidate pairs, minus
//!   the time of a tick without pairs. This time is compared with parry's contact, and with parry's
//!   manifolds, which engines use. headbutt's result is between the two: the deepest contact and
//!   its parts, without contacts at seams.
//! * **Casts and rays:** `SpatialQuery` in an app with the ground, against parry's queries of the
//!   mesh. parry's queries search no world and find no entity. headbutt's rays return the distance,
//!   the point, the normal and the facet. parry's rays return either the distance, the normal and
//!   the facet, or the distance alone.
//! * **Characters:** see `moves.rs`.

mod grounds;
mod moves;
mod ours;
mod peer;

use std::{error::Error, hint::black_box, time::Instant};

use bevy::{
    ecs::schedule::ScheduleLabel,
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use grounds::Ground;
use headbutt_bench::{
    clock::Clock,
    motion::Noise,
    stats::{Summary, geometric_mean},
    table::{head, row, short},
};
use lexopt::{Arg, Parser, ValueExt};

const HELP: &str = "\
Microseconds a body on floors, hills, a part, a scan and a dungeon, of headbutt and its peers.

    cargo run --release --bin levels -- [options]

    --ticks 60      of 64 bodies each                                              [60]
    --only box      the grounds and bodies whose names contain this                 [all]
    --moves         only the characters
    --clock wall    or cpu: that of the processor, on a machine that others share   [wall]
";

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

/// The number of bodies.
const BODIES: usize = 64;

/// A body, about 1 high.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    Ball,
    Capsule,
    Box,
    Cylinder,
    Hull,
}

impl Body {
    /// Returns the points of the hull.
    pub fn hull(self) -> impl Iterator<Item = Vec3> {
        (0..32).map(|index| {
            let mut noise = Noise::new(index, 7);
            0.5 * noise.place().normalize_or(Vec3::Y)
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut ticks, mut only, mut clock) = (60_u32, String::new(), Clock::Wall);
    let mut has_contacts = true;
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("ticks") => ticks = parser.value()?.parse::<u32>()?.max(1),
            Arg::Long("only") => only = parser.value()?.string()?.to_lowercase(),
            Arg::Long("moves") => has_contacts = false,
            Arg::Long("clock") => clock = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let grounds = [
        Ground::floor(16.0),
        Ground::floor(0.25),
        Ground::floor(0.0625),
        Ground::hills(0.25, 128),
        Ground::hills(2.0, 64),
        Ground::part(),
        Ground::scan(20.0, 120),
        Ground::dungeon(),
    ];
    if has_contacts {
        if only.is_empty() {
            build(&Ground::hills(0.4, 224));
            println!();
        }
        print_contacts(&grounds, &only, ticks, clock);
        println!();
    }
    moves::print(&grounds, &only, ticks, clock);
    Ok(())
}

/// Prints the table of contacts, casts and rays.
fn print_contacts(grounds: &[Ground], only: &str, ticks: u32, clock: Clock) {
    head(&[
        "ground, body",
        "contact, µs",
        "support points",
        "parry contact, ratio",
        "parry manifolds, ratio",
        "cast, µs",
        "ratio",
        "ray, µs",
        "ratio",
        "ratio, distance only",
        "query::cast_ray, ratio",
        "touching: both, headbutt only, parry only",
    ]);
    let mut ratios: [Vec<f64>; 6] = Default::default();
    for ground in grounds {
        for body in [
            Body::Ball,
            Body::Capsule,
            Body::Box,
            Body::Cylinder,
            Body::Hull,
        ] {
            let name = format!("{}, {body:?}", ground.name).to_lowercase();
            if name.contains(only) {
                let found = compare(&name, ground, body, ticks, clock);
                for (all, ratio) in ratios.iter_mut().zip(found) {
                    all.push(ratio);
                }
            }
        }
    }
    let [contact, manifolds, cast, rays @ ..] = ratios.map(|ratios| {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        format!("{} ({})", short(geometric_mean(ratios)), short(least))
    });
    let (name, none) = ("geometric mean (least)".to_string(), String::new());
    let cells = [name, none.clone(), none.clone(), contact, manifolds];
    let cells = cells.into_iter().chain([none.clone(), cast, none.clone()]);
    row(&cells.chain(rays).chain([none]).collect::<Vec<_>>());
}

/// Prints the row of a body on a ground. Returns the times of parry's contacts, manifolds, casts,
/// rays, and rays without normals, each divided by headbutt's time. The last value is the time of
/// parry's rays, divided by the time of `query::cast_ray`.
fn compare(name: &str, ground: &Ground, body: Body, ticks: u32, clock: Clock) -> [f64; 6] {
    let mut ours = ours::Ours::new(ground, body, BODIES);
    let mut peer = peer::Peer::new(ground, body, BODIES);
    let mut times: [Vec<f64>; 9] = Default::default();
    let (mut tally, mut supports) = ([0_u32; 3], 0);
    for tick in 0..ticks + 3 {
        let poses = ground.poses(BODIES, 0.5, tick);
        let mut noise = Noise::new(tick, 3);
        // The motion leads down to the ground, and along the ground.
        let motion = Vec3::new(6.0 * noise.signed(), -4.0, 6.0 * noise.signed());
        let starts = poses.iter().map(|pose| {
            let up = pose.rotation * Vec3::Y;
            pose.with_translation(pose.translation + up * 2.0)
        });
        let starts: Vec<_> = starts.collect();
        let (contact, count, depths) = ours.contacts(&poses, clock);
        let (peer_contact, peer_depths) = peer.contacts(&poses, clock);
        let manifolds = peer.manifolds(&poses, clock);
        let (cast, _) = ours.casts(&starts, motion, clock);
        let (peer_cast, _) = peer.casts(&starts, motion, clock);
        let [ray, function] = ours.rays(&starts, motion, clock);
        let [peer_ray, peer_distance] = peer.rays(&starts, motion, clock);
        if tick < 3 {
            continue;
        }
        let contacts = [contact, peer_contact, manifolds];
        let queries = [cast, peer_cast, ray, function, peer_ray, peer_distance];
        let all = contacts.into_iter().chain(queries);
        for (times, time) in times.iter_mut().zip(all) {
            times.push(time / BODIES as f64);
        }
        supports += count;
        for depths in depths.iter().zip(&peer_depths) {
            match depths {
                (Some(_), Some(_)) => tally[0] += 1,
                (Some(_), None) => tally[1] += 1,
                (None, Some(_)) => tally[2] += 1,
                (None, None) => {}
            }
        }
    }
    let [
        contact,
        peer_contact,
        manifolds,
        cast,
        peer_cast,
        ray,
        function,
        peer_ray,
        peer_distance,
    ] = times.map(|times| Summary::of(times).median);
    let [in_world, distance, of_function] =
        [peer_ray / ray, peer_distance / ray, peer_ray / function];
    let contacts = [peer_contact / contact, manifolds / contact];
    let ratios = [
        contacts[0],
        contacts[1],
        peer_cast / cast,
        in_world,
        distance,
        of_function,
    ];
    let supports = supports as f64 / f64::from(ticks) / BODIES as f64;
    row(&[
        name.to_string(),
        short(contact),
        short(supports),
        short(ratios[0]),
        short(ratios[1]),
        short(cast),
        short(ratios[2]),
        short(ray),
        short(ratios[3]),
        short(ratios[4]),
        short(ratios[5]),
        tally.map(|count| count.to_string()).join(", "),
    ]);
    ratios
}

/// Returns the time of a query at the origins of all poses, in microseconds. Before the
/// measurement, the query runs beside these origins, so that this part of the ground is in the
/// cache.
fn warm_time(poses: &[Transform], clock: Clock, query: impl Fn(Vec3)) -> f64 {
    let run = |offset: f32| {
        let start = clock.now();
        for pose in poses {
            query(black_box(pose.translation + Vec3::splat(offset)));
        }
        (clock.now() - start).as_secs_f64() * 1e6
    };
    run(0.01);
    run(0.0)
}

fn build(ground: &Ground) {
    head(&[
        "building a mesh",
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
        let each = |bytes: f64| format!("{:.0}", bytes / ground.triangles.len() as f64);
        let Summary { low, median, high } = Summary::of(times);
        row(&[
            name.to_string(),
            format!("{} ({} to {})", short(median), short(low), short(high)),
            each(memory.bytes_current as f64),
            each(memory.bytes_max as f64),
        ]);
    };
    measure("headbutt", &|| Box::new(ours::collider(ground)));
    measure("parry, plain", &|| Box::new(peer::mesh(ground, false)));
    measure("parry, internal edges fixed", &|| {
        Box::new(peer::mesh(ground, true))
    });
}
