//! Queries of all colliders: headbutt's `SpatialQuery` against avian's, and against the queries of
//! bevy_rapier's context, on one thread.
//!
//! For a fair comparison:
//!
//! * The worlds are the worlds of `tick`. Each engine searches its own tree, after the same ticks.
//!   The engines take turns: see [`in_turns`].
//! * All engines get the same questions. Rays are solid, and a ray's first hit includes the normal.
//!   The results of the other queries are lists of entities without details. headbutt sorts the
//!   lists of overlaps and points.
//! * The results are compared with the results of headbutt. The first hits agree if they have the
//!   same entity, or distances that differ by at most a thousandth of a unit. Lists agree if they
//!   have the same entities.
//!
//! The last table shows the cost of a query in the tick, in which the index is updated.

mod avian;
mod headbutt;
mod rapier;
mod side;

use std::error::Error;

use bevy::{
    prelude::*,
    tasks::{AsyncComputeTaskPool, ComputeTaskPool, IoTaskPool, TaskPoolBuilder},
};
use headbutt_bench::{
    clock::Clock,
    duel::in_turns,
    engines::{self, Contender, baseline, number},
    motion::Noise,
    scene::{Kind, Scene},
    stats::Summary,
    table::{head, row, short},
};
use lexopt::{Arg, Parser, ValueExt};
use side::{Answers, Probe, Question, Side, Sizes};

const HELP: &str = "\
Nanoseconds a query of all colliders, of headbutt, avian and bevy_rapier.

    cargo run --release --bin spatial -- [options]

    --dim 2,3           dimensions                              [both]
    --scenes a,b        scenes of `tick`                        [mixed, sparse]
    --count 10000       things in a scene                       [10000, 100000]
    --only text         questions whose name contains this      [all]
    --rounds 15         of a thousand questions each            [15]
    --clock cpu         wall or cpu                             [wall]
";

/// The number of probes.
const PROBES: u32 = 1000;

/// The number of ticks before the queries.
const TICKS: u32 = 10;

/// The shapes of casts and overlaps.
const SIZES: Sizes = Sizes {
    radius: 0.5,
    half: Vec3::new(0.6, 0.4, 0.5),
};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut dimensions, mut only, mut rounds) = (String::from("2,3"), String::new(), 15_u32);
    let mut scenes = vec![Kind::Mixed, Kind::Sparse];
    let (mut counts, mut clock) = (vec![10_000, 100_000], Clock::Wall);
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("dim") => dimensions = parser.value()?.string()?,
            Arg::Long("scenes") => scenes = list(&parser.value()?.string()?)?,
            Arg::Long("count") => counts = list(&parser.value()?.string()?)?,
            Arg::Long("only") => only = parser.value()?.string()?,
            Arg::Long("rounds") => rounds = parser.value()?.parse::<u32>()?.max(1),
            Arg::Long("clock") => clock = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    let pool = || TaskPoolBuilder::new().num_threads(1).build();
    ComputeTaskPool::get_or_init(pool);
    AsyncComputeTaskPool::get_or_init(pool);
    IoTaskPool::get_or_init(pool);
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()?;

    println!("ns a query ({clock:?} clock), median (quartiles) of {rounds} rounds\n");
    head(&[
        "scene",
        "dim",
        "N",
        "query",
        "headbutt",
        "avian",
        "rapier",
        "avian / headbutt",
        "rapier / headbutt",
        "nodes",
        "found",
        "avian differs",
        "rapier differs",
    ]);
    let cases = || {
        let flats = [true, false].into_iter();
        let flats = flats.filter(|flat| dimensions.contains(if *flat { "2" } else { "3" }));
        let scenes = flats.flat_map(|flat| scenes.iter().map(move |kind| (flat, *kind)));
        scenes.flat_map(|(flat, kind)| counts.iter().map(move |count| (flat, kind, *count)))
    };
    for (flat, kind, count) in cases() {
        ask(&Scene::new(kind, flat, count), &only, rounds, clock);
    }
    println!("\nms a tick, net of motion, with a query in each tick and without\n");
    head(&["scene", "dim", "N", "without", "with", "difference"]);
    for (flat, kind, count) in cases() {
        tick(&Scene::new(kind, flat, count), clock);
    }
    Ok(())
}

fn list<T: std::str::FromStr<Err: Into<Box<dyn Error>>>>(
    text: &str,
) -> Result<Vec<T>, Box<dyn Error>> {
    text.split(',')
        .map(|item| item.parse().map_err(Into::into))
        .collect()
}

fn ask(scene: &Scene, only: &str, rounds: u32, clock: Clock) {
    let flat = scene.flat;
    let engines = if flat {
        [
            engines::headbutt::engine(true),
            engines::avian::plane::engine(engines::avian::AvianMode::Disabled),
            engines::rapier::plane::contacts(),
        ]
    } else {
        [
            engines::headbutt::engine(false),
            engines::avian::space::engine(engines::avian::AvianMode::Disabled),
            engines::rapier::space::contacts(),
        ]
    };
    let mut contenders = engines.map(|engine| Contender::new(engine, scene, 1));
    contenders.iter_mut().for_each(|it| it.warm_up(TICKS));
    let [a, b, c] = &mut contenders;
    let worlds = [a, b, c].map(|it| it.app.world_mut());
    let [a, b, c] = worlds;
    let mut sides: [Box<dyn Side>; 3] = if flat {
        [
            headbutt::plane::Ours::boxed(a, SIZES),
            avian::plane::Avian::boxed(b, SIZES),
            rapier::plane::Rapier::boxed(c, SIZES),
        ]
    } else {
        [
            headbutt::space::Ours::boxed(a, SIZES),
            avian::space::Avian::boxed(b, SIZES),
            rapier::space::Rapier::boxed(c, SIZES),
        ]
    };
    let worlds: [&World; 3] = [a, b, c];
    let probes = probes(scene);
    for question in Question::ALL {
        let name = format!("{question:?}");
        if !name.to_lowercase().contains(&only.to_lowercase()) {
            continue;
        }
        let mut answers: [Answers; 3] = Default::default();
        let before = sides[0].visits(worlds[0]);
        for ((side, world), answers) in sides.iter_mut().zip(worlds).zip(&mut answers) {
            side.ask(world, question, &probes, answers);
        }
        let nodes = sides[0].visits(worlds[0]) - before;
        let mut scratch: [Answers; 3] = Default::default();
        let spent: [Summary; 3] = in_turns(probes.len(), rounds, clock, &mut |side, range| {
            let scratch = &mut scratch[side];
            scratch.entities.clear();
            scratch.ends.clear();
            sides[side].ask(worlds[side], question, &probes[range], scratch);
        });
        let [ours, others @ ..] = [0, 1, 2].map(|side| numbers(worlds[side], &answers[side]));
        let differing = others.map(|theirs| {
            let pairs = ours.iter().zip(&theirs);
            let differs = pairs.filter(|((a, at), (b, bt))| {
                let is_near = a.len() == b.len() && *at > 0.0 && (at - bt).abs() <= 1e-3;
                // If several colliders contain the start, any of these colliders may be the first.
                let are_both_at_start = a.len() == 1 && b.len() == 1 && *at == 0.0 && *bt == 0.0;
                let is_equal = a == b && (at - bt).abs() <= 1e-3;
                !is_equal && !is_near && !(are_both_at_start && is_first(question))
            });
            differs.count().to_string()
        });
        let found: usize = ours.iter().map(|it| it.0.len()).sum();
        let hits = ours.iter().filter(|it| it.1 > 0.0).count();
        let [headbutt, avian, rapier] = spent;
        let count = probes.len() as f64;
        row(&[
            scene.kind.to_string(),
            if flat { "2" } else { "3" }.to_string(),
            scene.things.len().to_string(),
            name,
            spread(headbutt),
            spread(avian),
            spread(rapier),
            short(avian.median / headbutt.median),
            short(rapier.median / headbutt.median),
            short(nodes as f64 / count),
            short(if found == 0 { hits } else { found } as f64 / count),
            differing[0].clone(),
            differing[1].clone(),
        ]);
    }
}

fn is_first(question: Question) -> bool {
    use Question::*;
    matches!(question, Ray | CastBall | CastBox | Closest)
}

fn spread(time: Summary) -> String {
    format!("{:.0} ({:.0} to {:.0})", time.median, time.low, time.high)
}

/// Returns the numbers of the entities of each question, sorted, and the distance.
fn numbers(world: &World, answers: &Answers) -> Vec<(Vec<u32>, f32)> {
    let mut start = 0;
    let one = |&(end, distance): &(usize, f32)| {
        let entities = &answers.entities[start..end];
        start = end;
        let mut numbers: Vec<u32> = entities.iter().map(|it| number(world, *it)).collect();
        numbers.sort_unstable();
        (numbers, distance)
    };
    answers.ends.iter().map(one).collect()
}

/// Returns random probes in the box of the scene. Each probe ends at another random place, but its
/// length is at most a hundred.
fn probes(scene: &Scene) -> Vec<Probe> {
    let corner = |start: Vec3, fold: fn(Vec3, Vec3) -> Vec3| {
        let places = scene.things.iter().map(|it| it.start.translation);
        places.fold(start, fold)
    };
    let (min, max) = (corner(Vec3::MAX, Vec3::min), corner(Vec3::MIN, Vec3::max));
    (0..PROBES)
        .map(|number| {
            let mut noise = Noise::new(number, 12);
            let mut place = || min + (max - min) * (0.5 + 0.5 * noise.place());
            let (origin, end) = (place(), place());
            let length = origin.distance(end).min(100.0);
            let rotation = noise.rotation(scene.flat);
            let x = rotation * Vec3::X;
            let rotation_2d = Rot2::from_sin_cos(x.y, x.x);
            Probe {
                origin,
                direction: (end - origin).normalize_or(Vec3::X),
                length,
                rotation,
                angle: rotation_2d.as_radians(),
                rotation_2d,
            }
        })
        .collect()
}

/// Measures ticks of headbutt with and without a query.
fn tick(scene: &Scene, clock: Clock) {
    let flat = scene.flat;
    let engines = [
        baseline(),
        engines::headbutt::engine(flat),
        engines::headbutt::engine(flat),
    ];
    let mut contenders = engines.map(|engine| Contender::new(engine, scene, 1));
    let look = |query: ::headbutt::SpatialQuery| {
        let filter = ::headbutt::SpatialQueryFilter::default();
        let is_hit = query
            .is_ray_blocked(::headbutt::query::Ray::new(Vec2::ZERO, Vec2::X), &filter)
            || query.is_ray_blocked(::headbutt::query::Ray::new(Vec3::ZERO, Vec3::X), &filter);
        std::hint::black_box(is_hit);
    };
    contenders[2].app.add_systems(Last, look);
    contenders.iter_mut().for_each(|it| it.warm_up(TICKS));
    for _ in 0..10 {
        contenders.iter_mut().for_each(|it| it.run_block(5, clock));
    }
    let [motion, without, with] = contenders.map(|it| Summary::of(it.samples));
    let ms = |it: Summary| {
        format!(
            "{} ({} to {})",
            short(it.median),
            short(it.low),
            short(it.high)
        )
    };
    row(&[
        scene.kind.to_string(),
        if flat { "2" } else { "3" }.to_string(),
        scene.things.len().to_string(),
        ms(without.minus(motion.median)),
        ms(with.minus(motion.median)),
        short(with.median - without.median),
    ]);
}
