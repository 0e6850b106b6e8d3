//! A capsule on a terrain of 100,000 triangles: headbutt against parry.
//!
//! headbutt's surfaces are colliders, not shapes that a function takes. So what is timed is a tick of an app with the terrain
//! and some capsules, and the candidate pairs supplied; a tick of the same app without pairs is subtracted. parry is asked
//! for the same poses by its functions: for the contact, and for the manifolds, which is what engines ask for; these go on from
//! the last ones of the same capsule. headbutt's answer is in between: the deepest contact, free of the seams.

mod ours;
mod peer;
mod terrain;

use std::{error::Error, time::Instant};

use bevy::prelude::*;
use headbutt_bench::{
    motion::Noise,
    stats::Summary,
    table::{head, row, short},
};
use lexopt::{Arg, Parser, ValueExt};
use terrain::Terrain;

const HELP: &str = "\
Microseconds a capsule on a terrain, of headbutt and parry; building time and memory.

    cargo run --release --bin surface -- [options]

    --cells 224     along each edge of the terrain, of two triangles each   [224]
    --ticks 200     of 64 capsules each                                     [200]
";

/// How many capsules there are at once.
const CAPSULES: usize = 64;
pub const RADIUS: f32 = 0.3;
pub const HALF_LENGTH: f32 = 0.5;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut cells, mut ticks) = (224_usize, 200_u32);
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("cells") => cells = parser.value()?.parse::<usize>()?.max(8),
            Arg::Long("ticks") => ticks = parser.value()?.parse::<u32>()?.max(1),
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    let terrain = Terrain::new(cells);
    println!("{} triangles\n", terrain.triangles.len());
    build(&terrain);
    println!();
    query(&terrain, ticks);
    Ok(())
}

fn build(terrain: &Terrain) {
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
        let each = |bytes: f64| format!("{:.0}", bytes / terrain.triangles.len() as f64);
        let times = Summary::of(times);
        row(&[
            name.to_string(),
            format!(
                "{} ({} to {})",
                short(times.median),
                short(times.low),
                short(times.high)
            ),
            each(memory.bytes_current as f64),
            each(memory.bytes_max as f64),
        ]);
    };
    measure("headbutt", &|| Box::new(ours::collider(terrain)));
    measure("parry, plain", &|| Box::new(peer::mesh(terrain, false)));
    measure("parry, internal edges fixed", &|| {
        Box::new(peer::mesh(terrain, true))
    });
}

fn query(terrain: &Terrain, ticks: u32) {
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
        let mut ours = ours::Ours::new(terrain, CAPSULES);
        let mut peer = peer::Peer::new(terrain, CAPSULES);
        let mut times: [Vec<f64>; 3] = Default::default();
        let (mut touching, mut differing, mut boxes) = ([0_u32; 3], 0, 0);
        for tick in 0..ticks + 5 {
            let poses = poses(terrain, tick, coherent);
            let (time_ours, depths) = ours.ask(&poses);
            let (time_contact, peer_depths) = peer.contacts(&poses);
            let time_manifolds = peer.manifolds(&poses);
            if tick < 5 {
                continue;
            }
            let all = [time_ours, time_contact, time_manifolds];
            for (times, time) in times.iter_mut().zip(all) {
                times.push(time / CAPSULES as f64);
            }
            for (ours, theirs) in depths.iter().zip(&peer_depths) {
                match (ours, theirs) {
                    (Some(ours), Some(theirs)) => {
                        touching[0] += 1;
                        differing += u32::from((ours - theirs).abs() > 1e-3);
                    }
                    (Some(_), None) => touching[1] += 1,
                    (None, Some(_)) => touching[2] += 1,
                    (None, None) => (),
                }
            }
            boxes += peer.boxes(&poses);
        }
        let [ours, contact, manifolds] = times.map(Summary::of);
        let spread = |it: Summary| {
            format!(
                "{} ({} to {})",
                short(it.median),
                short(it.low),
                short(it.high)
            )
        };
        row(&[
            if coherent { "coherent" } else { "anywhere" }.to_string(),
            spread(ours),
            spread(contact),
            short(contact.median / ours.median),
            spread(manifolds),
            short(manifolds.median / ours.median),
            short(boxes as f64 / f64::from(ticks) / CAPSULES as f64),
            format!("{}, {}, {}", touching[0], touching[1], touching[2]),
            differing.to_string(),
        ]);
    }
}

/// Where the capsules are: on the ground, sunk in by a little, tilted.
fn poses(terrain: &Terrain, tick: u32, coherent: bool) -> Vec<Transform> {
    let edge = 0.45 * terrain.edge();
    (0..CAPSULES as u32)
        .map(|capsule| {
            let mut noise = Noise::new(capsule, if coherent { 0 } else { tick + 1 });
            let start = edge * Vec2::new(noise.signed(), noise.signed());
            let mut tilt = noise.rotation(false);
            let mut place = start;
            if coherent {
                // Towards the middle and on, 0.05 a tick, and turning by a degree.
                place -= start.normalize_or(Vec2::X) * 0.05 * tick as f32;
                tilt *= Quat::from_rotation_x(0.02 * tick as f32);
            }
            let height = terrain.height(place) + 0.45;
            Transform::from_xyz(place.x, height, place.y).with_rotation(tilt)
        })
        .collect()
}
