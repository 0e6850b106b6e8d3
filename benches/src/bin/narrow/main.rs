//! The duration of a query: headbutt against parry, for each pair of shapes.
//!
//! Both libraries get the same thousand poses, in turns of a hundred (ten for slow queries), for
//! several rounds. The result of each block is its median over the rounds. In a cold course, poses
//! are independent. In a coherent course, each pose follows from the previous one. All shapes are
//! behind references that the compiler cannot see through. Those of headbutt have their own types,
//! as in its public functions. Those of parry are `dyn Shape`, as in its own.
//!
//! The libraries differ in two respects: headbutt computes in f64 and keeps nothing between
//! queries. parry computes in f32 and reuses manifolds in a coherent course. Different results are
//! counted.

mod cases;
mod classes;
mod ours;
mod peer;
mod side;

use std::{error::Error, hint::black_box};

use cases::{Course, Regime};
use classes::{Bout, CASES, classes};
use headbutt_bench::{
    clock::Clock,
    stats::{Summary, geometric_mean},
    table::{head, row, short},
};
use lexopt::{Arg, Parser, ValueExt};
use side::Query;

const HELP: &str = "\
Nanoseconds a query, of headbutt and parry.

    cargo run --release --bin narrow -- [options]

    --only name     classes whose name contains this    [all]
    --dim 2,3       dimensions                          [both]
    --rounds 15     of a thousand queries each          [15]
    --clock wall    or cpu                              [wall]
";

fn main() -> Result<(), Box<dyn Error>> {
    let (mut only, mut dimensions, mut rounds) = (String::new(), String::from("2,3"), 15_u32);
    let mut clock = Clock::Wall;
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("only") => only = parser.value()?.string()?,
            Arg::Long("dim") => dimensions = parser.value()?.string()?,
            Arg::Long("rounds") => rounds = parser.value()?.parse::<u32>()?.max(1),
            Arg::Long("clock") => clock = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            _ => return Err(arg.unexpected().into()),
        }
    }

    println!("ns a query, median (quartiles) of {rounds} rounds, headbutt / parry = ratio\n");
    let mut ratios = Vec::new();
    for flat in [true, false] {
        let dimension = if flat { "2" } else { "3" };
        if !dimensions.contains(dimension) {
            continue;
        }
        println!("## {dimension}D\n");
        head(&[
            "pair",
            "regime",
            "course",
            "intersects",
            "distance",
            "contact",
            "manifold",
            "supports: contact, distance",
            "answers that differ",
        ]);
        for class in classes() {
            if class.flat != flat || !class.name.contains(&only) {
                continue;
            }
            for regime in Regime::ALL {
                for course in Course::ALL {
                    let results = measure(&mut (class.bout)(regime, course), rounds, clock);
                    let mut cells = vec![
                        class.name.to_string(),
                        format!("{regime:?}").to_lowercase(),
                        format!("{course:?}").to_lowercase(),
                    ];
                    for (query, ratio, cell) in results.queries {
                        // Large hulls are compared only with each other, because they are unusual.
                        if !class.name.contains("500") {
                            ratios.push((flat, regime, course, query, ratio));
                        }
                        cells.push(cell);
                    }
                    cells.extend([results.supports, results.differences]);
                    row(&cells);
                }
            }
        }
        println!();
    }

    println!("## Geometric means of the ratios over the classes\n");
    head(&[
        "dim",
        "regime",
        "course",
        "intersects",
        "distance",
        "contact",
        "manifold",
    ]);
    for flat in [true, false] {
        for regime in Regime::ALL {
            for course in Course::ALL {
                let mean = |query| {
                    let those = ratios
                        .iter()
                        .filter(|it| (it.0, it.1, it.2, it.3) == (flat, regime, course, query));
                    short(geometric_mean(those.map(|it| it.4)))
                };
                let mut cells = vec![
                    if flat { "2" } else { "3" }.to_string(),
                    format!("{regime:?}").to_lowercase(),
                    format!("{course:?}").to_lowercase(),
                ];
                cells.extend(Query::ALL.map(mean));
                row(&cells);
            }
        }
        let touching = ratios
            .iter()
            .filter(|it| it.0 == flat && it.1 != Regime::Separated && it.3 == Query::Contact);
        let mean = short(geometric_mean(touching.map(|it| it.4)));
        let dimension = if flat { "2" } else { "3" };
        row(&[dimension, "shallow, deep", "both", "", "", &mean, ""]);
    }
    Ok(())
}

/// A row of the table.
struct Results {
    queries: Vec<(Query, f64, String)>,
    supports: String,
    differences: String,
}

fn measure(bout: &mut Bout, rounds: u32, clock: Clock) -> Results {
    let mut differences = Vec::new();
    let mut queries = Vec::new();
    for query in Query::ALL {
        // The first round warms up, and determines the size of blocks.
        let first = round(bout, query, 100, clock).spent;
        let mean = first.iter().flatten().sum::<f64>() / f64::from(2 * CASES);
        let block = if mean > 500.0 { 10 } else { 100 };
        let mut spent: [Vec<Vec<f64>>; 2] = Default::default();
        let mut answers: [Vec<f32>; 2] = Default::default();
        for _ in 0..rounds {
            let round = round(bout, query, block, clock);
            for (all, blocks) in spent.iter_mut().zip(round.spent) {
                all.resize(blocks.len(), Vec::new());
                all.iter_mut()
                    .zip(blocks)
                    .for_each(|(it, time)| it.push(time));
            }
            answers = round.answers;
        }
        let [ours, theirs] = spent.map(per_query);
        let ratio = theirs.median / ours.median;
        queries.push((
            query,
            ratio,
            format!(
                "{} / {} = **{}**",
                spread(ours),
                spread(theirs),
                short(ratio)
            ),
        ));
        differences.extend(differing(query, &answers, bout.reach));
    }
    Results {
        queries,
        supports: bout.supports.map(|it| format!("{it:.1}")).join(", "),
        differences: differences.join("; "),
    }
}

/// The durations for all poses. headbutt is the first.
struct Round {
    /// The duration of each block, in nanoseconds.
    spent: [Vec<f64>; 2],
    answers: [Vec<f32>; 2],
}

/// Measures both for `block` poses in turns.
fn round(bout: &mut Bout, query: Query, block: usize, clock: Clock) -> Round {
    let mut round = Round {
        spent: Default::default(),
        answers: Default::default(),
    };
    for start in (0..CASES as usize).step_by(block) {
        for (side, library) in [&mut bout.ours, &mut bout.peer].into_iter().enumerate() {
            let begin = clock.now();
            library.ask(query, start..start + block, &mut round.answers[side]);
            round.spent[side].push((clock.now() - begin).as_secs_f64() * 1e9);
        }
    }
    black_box(&round.answers);
    round
}

/// Adds the quartiles of each block over the rounds. Different costs of poses are not a spread.
fn per_query(blocks: Vec<Vec<f64>>) -> Summary {
    let sum = blocks
        .into_iter()
        .map(Summary::of)
        .fold(Summary::default(), |sum, block| Summary {
            low: sum.low + block.low,
            median: sum.median + block.median,
            high: sum.high + block.high,
        });
    let count = f64::from(CASES);
    Summary {
        low: sum.low / count,
        median: sum.median / count,
        high: sum.high / count,
    }
}

fn spread(time: Summary) -> String {
    format!("{:.0} ({:.0} to {:.0})", time.median, time.low, time.high)
}

/// Counts the results that differ by more than a thousandth of the size, by sign.
fn differing(query: Query, [ours, theirs]: &[Vec<f32>; 2], reach: f32) -> Option<String> {
    let slack = 1e-3 * reach;
    let pairs = || ours.iter().zip(theirs);
    let more = pairs().filter(|(a, b)| *b - *a > slack).count();
    let less = pairs().filter(|(a, b)| *a - *b > slack).count();
    let failed = pairs().filter(|(_, b)| b.is_nan()).count();
    let name = format!("{query:?}").to_lowercase();
    (more + less + failed > 0).then(|| {
        let mut text = format!("{name}: parry more {more}, less {less}");
        if failed > 0 {
            text += &format!(", none {failed}");
        }
        text
    })
}
