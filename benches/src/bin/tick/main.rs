//! The duration of a tick: headbutt against avian and bevy_rapier, detection and events only.
//!
//! For a fair comparison:
//!
//! * All engines run in one process. Each engine has a world of its own, and the worlds are
//!   otherwise equal (`engines/mod.rs`). The engines take turns of five ticks, so that other
//!   programs on the machine disturb all engines equally.
//! * A world that moves the same objects without an engine is measured as well, and its median is
//!   subtracted. The rest is reading transforms, finding contacts and sending events.
//! * The other engines solve nothing: see `engines/avian.rs` and `engines/rapier.rs`.
//! * Both other engines are built with their feature `parallel`. `--threads N` sets the size of
//!   Bevy's compute pool (avian, headbutt) and of rayon's pool (rapier). With one thread, Bevy's
//!   schedules are single-threaded for all engines.
//! * At the end, the pairs of each engine are compared with the exact pairs (`exact.rs`). If an
//!   engine misses pairs that clearly touch, or reports pairs that clearly do not touch, the table
//!   says that the engine is not comparable.

mod options;

use std::error::Error;

use bevy::tasks::{AsyncComputeTaskPool, ComputeTaskPool, IoTaskPool, TaskPoolBuilder};
use headbutt_bench::{
    engines::{Contender, Engine, avian, baseline, headbutt, rapier},
    exact::Exact,
    scene::{Kind, Scene},
    stats::Summary,
    table::{head, row, short},
};
use options::{HELP, Options};

/// The number of ticks that an engine runs in a row.
const BLOCK: u32 = 5;
/// The number of ticks before the first measured tick.
const WARM_UP: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::from_args()?;
    if options.help {
        print!("{HELP}");
        return Ok(());
    }
    let pool = |threads: usize| move || TaskPoolBuilder::new().num_threads(threads).build();
    ComputeTaskPool::get_or_init(pool(options.threads));
    AsyncComputeTaskPool::get_or_init(pool(1));
    IoTaskPool::get_or_init(pool(1));
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build_global()?;

    println!(
        "{} thread(s), {} ticks in blocks of {BLOCK}; ms a tick ({:?} clock), net of motion: median (quartiles)\n",
        options.threads, options.ticks, options.clock
    );
    head(&[
        "scene",
        "dim",
        "N",
        "engine",
        "ms a tick",
        "to headbutt",
        "pairs",
        "exact",
        "missed",
        "invented",
        "",
    ]);
    for &dimension in &options.dimensions {
        for &kind in &options.scenes {
            for &count in &options.counts {
                measure(kind, dimension == 2, count, &options);
            }
        }
    }
    Ok(())
}

fn engines(kind: Kind, flat: bool, options: &Options) -> Vec<Engine> {
    let peer = |name: &str| {
        Some(match (name, flat) {
            ("headbutt-quiet", flat) => headbutt::quiet(flat),
            ("avian", true) => avian::plane::engine(options.avian_mode),
            ("avian", false) => avian::space::engine(options.avian_mode),
            ("rapier", true) => rapier::plane::contacts(),
            ("rapier", false) => rapier::space::contacts(),
            ("rapier-default", true) => rapier::plane::defaults(),
            ("rapier-default", false) => rapier::space::defaults(),
            ("rapier-sensor", true) => rapier::plane::sensors(),
            ("rapier-sensor", false) => rapier::space::sensors(),
            _ => return None,
        })
    };
    let mut engines = vec![baseline(), headbutt::engine(flat)];
    engines.extend(options.peers(kind).into_iter().filter_map(peer));
    engines
}

fn measure(kind: Kind, flat: bool, count: usize, options: &Options) {
    let scene = Scene::new(kind, flat, count);
    let mut contenders: Vec<Contender> = engines(kind, flat, options)
        .into_iter()
        .map(|engine| Contender::new(engine, &scene, options.threads))
        .collect();
    for contender in &mut contenders {
        contender.warm_up(WARM_UP);
    }
    for _ in 0..options.ticks.div_ceil(BLOCK) {
        for contender in &mut contenders {
            contender.run_block(BLOCK, options.clock);
        }
    }

    let poses = contenders[0].poses();
    let exact = options.check.then(|| Exact::new(&scene, &poses));
    let motion = Summary::of(contenders[0].samples.clone());
    let mut ours = f64::NAN;
    for contender in &mut contenders {
        let whole = Summary::of(contender.samples.clone());
        let name = contender.engine.name;
        let is_motion = name == "motion only";
        let net = if is_motion {
            whole
        } else {
            whole.minus(motion.median)
        };
        if name == "headbutt" {
            ours = net.median;
        }
        let mut cells = vec![
            kind.to_string(),
            if flat { "2" } else { "3" }.to_string(),
            count.to_string(),
            name.to_string(),
            format!(
                "{} ({} to {})",
                short(net.median),
                short(net.low),
                short(net.high)
            ),
        ];
        if is_motion {
            cells.extend(["", "", "", "", "", "subtracted"].map(String::from));
            row(&cells);
            continue;
        }
        assert!(contender.poses() == poses, "{name} has moved something");
        let found = contender.pairs();
        cells.extend([format!("{:.2}", net.median / ours), found.len().to_string()]);
        let Some(exact) = &exact else {
            cells.extend(["", "", "", ""].map(String::from));
            row(&cells);
            continue;
        };
        let (missed, invented) = exact.compare(&found);
        let verdict = match (missed + invented, contender.engine.contacts) {
            (0, true) => "",
            (0, false) => "no contacts",
            _ => "not comparable",
        };
        cells.extend([
            exact.touching.len().to_string(),
            missed.to_string(),
            invented.to_string(),
            verdict.to_string(),
        ]);
        row(&cells);
    }
}
