//! How long a tick takes: headbutt against avian and bevy_rapier, detection and events only.
//!
//! For fairness:
//!
//! * All engines run in one process, each in a world of its own that is otherwise alike (`contender.rs`), in turns of
//!   five ticks, so that whatever else the machine does meets all of them.
//! * A world that moves the same things and has no engine is measured along with them; its median is subtracted from all.
//!   What is left is reading the transforms, finding the contacts and sending the events.
//! * No peer solves anything: see `avian.rs` and `rapier.rs` for how, and for what else is left out in their favour.
//! * Threads: both peers are built with their `parallel` feature. `--threads N` is the size of Bevy's compute pool (avian's
//!   and headbutt's) and of rayon's (rapier's). With one thread, Bevy's schedules run single-threaded as well, for all.
//! * In the end the pairs that each says touch are held against all pairs (`exact.rs`). Whoever misses pairs that clearly
//!   touch, or has some that clearly do not, is not comparable, and the table says so.

mod avian;
mod contender;
mod headbutt;
mod options;
mod rapier;

use std::error::Error;

use bevy::tasks::{AsyncComputeTaskPool, ComputeTaskPool, IoTaskPool, TaskPoolBuilder};
use contender::{Contender, Engine, baseline};
use headbutt_bench::{
    exact::Exact,
    scene::{Kind, Scene},
    stats::Summary,
    table::{head, row, short},
};
use options::{HELP, Options};

/// How many ticks an engine has in a row.
const BLOCK: u32 = 5;
/// Ticks before the first that counts.
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
        .map(|engine| Contender::new(engine, &scene, options))
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
