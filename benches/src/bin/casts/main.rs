//! The durations of casts and of rays: headbutt against parry. There is a row for a cast of each
//! pair of shapes of `narrow`, and for a ray at each of these shapes.
//!
//! Both libraries get the same thousand cases in turns: see [`duel`]. A linear cast moves the first
//! shape. A rotating cast also rotates both shapes, by up to a radian. headbutt computes in f64 and
//! returns an interval of time, both normals and the contact. parry computes in f32. Different
//! results are counted.

mod cases;
mod classes;
mod ours;
mod peer;
mod question;

use std::error::Error;

use cases::Regime;
use classes::{Bout, CASES, casts, rays};
use headbutt_bench::{
    clock::Clock,
    duel::duel,
    pairs::REACH,
    stats::geometric_mean,
    table::{head, row, short},
};
use lexopt::{Arg, Parser, ValueExt};
use question::Question;

const HELP: &str = "\
Nanoseconds a cast and a ray, of headbutt and parry.

    cargo run --release --bin casts -- [options]

    --only text     rows that begin with shapes, regime
                    and query, such as `ball-cuboid hit linear`,
                    that contain this                   [all]
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
    for (title, classes) in [("Casts", casts()), ("Rays", rays())] {
        for flat in [true, false] {
            let dimension = if flat { "2" } else { "3" };
            if !dimensions.contains(dimension) {
                continue;
            }
            println!("## {title} in {dimension}D\n");
            head(&[
                "shapes",
                "regime",
                "query",
                "ns",
                "hits",
                "support points",
                "parry misses, adds, differs (by at most)",
            ]);
            let classes = classes.iter();
            for class in classes.filter(|it| it.flat == flat) {
                for regime in Regime::ALL {
                    let label = |question: Question| {
                        format!("{} {regime:?} {question:?}", class.name).to_lowercase()
                    };
                    if !class.questions.iter().any(|it| label(*it).contains(&only)) {
                        continue;
                    }
                    let mut bout = (class.bout)(regime);
                    for &question in class.questions {
                        if !label(question).contains(&only) {
                            continue;
                        }
                        let supports = (bout.supports)(question);
                        let (ratio, [times, hits, differences]) =
                            measure(&mut bout, question, rounds, clock);
                        let mut cells: Vec<String> =
                            label(question).split(' ').map(String::from).collect();
                        cells.extend([times, hits, format!("{supports:.1}"), differences]);
                        row(&cells);
                        // Large hulls are compared only with each other, because they are unusual.
                        if !class.name.contains("500") && !class.name.contains("points") {
                            ratios.push((question, flat, regime, ratio));
                        }
                    }
                }
            }
            println!();
        }
    }

    println!("## Geometric means of the ratios over the classes\n");
    head(&["query", "dim", "hit", "pass", "short", "all"]);
    for question in Question::ALL {
        for flat in [true, false] {
            let mean = |regime: Option<Regime>| {
                let those = ratios.iter().filter(|it| {
                    (it.0, it.1) == (question, flat) && regime.is_none_or(|regime| regime == it.2)
                });
                short(geometric_mean(those.map(|it| it.3)))
            };
            let mut cells = vec![
                format!("{question:?}").to_lowercase(),
                if flat { "2" } else { "3" }.to_string(),
            ];
            cells.extend(Regime::ALL.map(|regime| mean(Some(regime))));
            cells.push(mean(None));
            row(&cells);
        }
    }
    Ok(())
}

/// Returns the ratio, and the cells of a row.
fn measure(bout: &mut Bout, question: Question, rounds: u32, clock: Clock) -> (f64, [String; 3]) {
    let sides = [&mut bout.ours, &mut bout.peer];
    let duel = duel(sides, question, CASES as usize, rounds, clock);
    let [ours, theirs] = &duel.answers;
    let is_hit = |answer: f32| answer >= 0.0;
    let pairs = || ours.iter().copied().zip(theirs.iter().copied());
    let misses = pairs().filter(|it| is_hit(it.0) && !is_hit(it.1)).count();
    let adds = pairs().filter(|it| !is_hit(it.0) && is_hit(it.1)).count();
    let errors = pairs()
        .filter(|it| is_hit(it.0) && is_hit(it.1))
        .map(|it| (it.0 - it.1).abs())
        .filter(|error| *error > 1e-3 * REACH);
    let (count, most) = errors.fold((0, 0.0_f32), |(count, most), it| (count + 1, most.max(it)));
    let cells = [
        duel.cell(),
        ours.iter().filter(|it| is_hit(**it)).count().to_string(),
        format!("{misses}, {adds}, {count} ({})", short(most.into())),
    ];
    (duel.ratio(), cells)
}
