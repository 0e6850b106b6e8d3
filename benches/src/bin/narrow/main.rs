//! The duration of a query: headbutt against parry, for each pair of shapes.
//!
//! Both libraries get the same thousand poses, in turns of a hundred (ten for slow queries), for
//! several rounds. The result of each block is its median over the rounds. In a cold course, poses
//! are independent. In a coherent course, each pose follows from the previous pose. All shapes are
//! behind references that hide their values from the compiler. headbutt's shapes have their
//! concrete types, as in its public functions. parry's shapes are `dyn Shape`, as in its public
//! functions.
//!
//! The libraries differ in two respects. headbutt computes in f64, and keeps nothing between
//! queries. parry computes in f32, and reuses manifolds in a coherent course. Different results are
//! counted.

mod classes;
mod ours;
mod peer;
mod query;

use std::error::Error;

use classes::{Bout, CASES, classes};
use headbutt_bench::{
    cases::{Course, Regime},
    clock::Clock,
    duel::duel,
    pairs::REACH,
    stats::geometric_mean,
    table::{head, row, short},
};
use lexopt::{Arg, Parser, ValueExt};
use query::Query;

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
        let sides = [&mut bout.ours, &mut bout.peer];
        let duel = duel(sides, query, CASES as usize, rounds, clock);
        queries.push((query, duel.ratio(), duel.cell()));
        differences.extend(differing(query, &duel.answers));
    }
    Results {
        queries,
        supports: bout.supports.map(|it| format!("{it:.1}")).join(", "),
        differences: differences.join("; "),
    }
}

/// Counts the results that differ by more than a thousandth of the size, by sign.
fn differing(query: Query, [ours, theirs]: &[Vec<f32>; 2]) -> Option<String> {
    let slack = 1e-3 * REACH;
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
