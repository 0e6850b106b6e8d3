//! How long a query takes: headbutt against parry, for each pair of shapes.
//!
//! The two are asked for the same thousand poses in turns, for several rounds; the median of the rounds is shown. A cold
//! course has poses that have nothing to do with each other, in a coherent one each follows from the last. The shapes of
//! both are behind a reference that the compiler cannot see through; headbutt's have their own types, as in its public
//! functions, and parry's are `dyn Shape`, as in its own.
//!
//! What is not the same: headbutt computes in f64 and keeps nothing from query to query; parry computes in f32, and its
//! manifolds go on from the last one in a coherent course. Where the answers differ is counted.

mod cases;
mod classes;
mod ours;
mod peer;
mod side;

use std::{error::Error, hint::black_box, time::Instant};

use cases::{Course, Regime};
use classes::{Bout, classes};
use headbutt_bench::{
    stats::{Summary, geometric_mean},
    table::{head, row, short},
};
use lexopt::{Arg, Parser, ValueExt};
use side::{Query, Side};

const HELP: &str = "\
Nanoseconds a query, of headbutt and parry.

    cargo run --release --bin narrow -- [options]

    --only name     classes whose name contains this    [all]
    --dim 2,3       dimensions                          [both]
    --rounds 15     of a thousand queries each          [15]
";

fn main() -> Result<(), Box<dyn Error>> {
    let (mut only, mut dimensions, mut rounds) = (String::new(), String::from("2,3"), 15_u32);
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("only") => only = parser.value()?.string()?,
            Arg::Long("dim") => dimensions = parser.value()?.string()?,
            Arg::Long("rounds") => rounds = parser.value()?.parse::<u32>()?.max(1),
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            _ => return Err(arg.unexpected().into()),
        }
    }

    println!(
        "ns a query, headbutt / parry = ratio (quartiles of the rounds' ratios); median of {rounds} rounds of 1000\n"
    );
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
                    let results = measure(&mut (class.bout)(regime, course), rounds);
                    let mut cells = vec![
                        class.name.to_string(),
                        format!("{regime:?}").to_lowercase(),
                        format!("{course:?}").to_lowercase(),
                    ];
                    for (query, ratio, cell) in results.queries {
                        ratios.push((flat, regime, course, query, ratio));
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
        "dim", "regime", "course", "intersects", "distance", "contact", "manifold",
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
        let touching = ratios.iter().filter(|it| {
            it.0 == flat && it.1 != Regime::Separated && it.3 == Query::Contact
        });
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

fn measure(bout: &mut Bout, rounds: u32) -> Results {
    let mut differences = Vec::new();
    let mut queries = Vec::new();
    for query in Query::ALL {
        let [mut ours, mut theirs] = [Vec::new(), Vec::new()];
        let mut answers: [Vec<f32>; 2] = Default::default();
        // The first round is not counted.
        for _ in 0..=rounds {
            ours.push(round(&mut *bout.ours, query, &mut answers[0]));
            theirs.push(round(&mut *bout.peer, query, &mut answers[1]));
        }
        let [ours, theirs] = [ours, theirs].map(|mut it| it.split_off(1));
        let ratios = ours.iter().zip(&theirs).map(|(a, b)| b / a).collect();
        let spread = Summary::of(ratios);
        let [a, b] = [ours, theirs].map(|it| Summary::of(it).median);
        queries.push((
            query,
            b / a,
            format!(
                "{a:.0} / {b:.0} = **{}** ({} to {})",
                short(b / a),
                short(spread.low),
                short(spread.high)
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

/// Nanoseconds a query.
fn round(side: &mut dyn Side, query: Query, answers: &mut Vec<f32>) -> f64 {
    answers.clear();
    let start = Instant::now();
    side.ask(query, answers);
    let elapsed = start.elapsed();
    black_box(&answers);
    elapsed.as_secs_f64() * 1e9 / answers.len() as f64
}

/// How many answers differ by more than a thousandth of the size, and in which direction.
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
