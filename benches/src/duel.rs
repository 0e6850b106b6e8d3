//! Two libraries that answer the same questions in turns.

use std::{hint::black_box, ops::Range};

use crate::{clock::Clock, stats::Summary};

/// A library with its shapes and the cases of a query.
pub trait Side<Q> {
    /// Runs a query for some of the cases. Each result is a number.
    fn ask(&mut self, query: Q, cases: Range<usize>, answers: &mut Vec<f32>);
}

/// The durations and results of both libraries. headbutt is the first.
pub struct Duel {
    /// Nanoseconds per case.
    pub spent: [Summary; 2],
    pub answers: [Vec<f32>; 2],
}

impl Duel {
    /// The time of the peer divided by the time of headbutt.
    pub fn ratio(&self) -> f64 {
        self.spent[1].median / self.spent[0].median
    }

    /// Formats both times and their ratio.
    pub fn cell(&self) -> String {
        let [ours, theirs] = self.spent.map(spread);
        format!(
            "{ours} / {theirs} = **{}**",
            crate::table::short(self.ratio())
        )
    }
}

fn spread(time: Summary) -> String {
    format!("{:.0} ({:.0} to {:.0})", time.median, time.low, time.high)
}

/// Measures a query for all cases, in turns of a hundred (ten for slow queries), for several
/// rounds. The result of each block is its median over the rounds.
pub fn duel<Q: Copy>(
    [ours, peer]: [&mut Box<dyn Side<Q>>; 2],
    query: Q,
    cases: usize,
    rounds: u32,
    clock: Clock,
) -> Duel {
    let mut round = |block: usize| {
        let mut round = Round::default();
        for start in (0..cases).step_by(block) {
            let range = start..(start + block).min(cases);
            for (index, side) in [&mut **ours, &mut **peer].into_iter().enumerate() {
                let begin = clock.now();
                side.ask(query, range.clone(), &mut round.answers[index]);
                round.spent[index].push((clock.now() - begin).as_secs_f64() * 1e9);
            }
        }
        black_box(&round.answers);
        round
    };
    // The first round warms up, and determines the size of blocks.
    let first = round(100);
    let mean = first.spent.iter().flatten().sum::<f64>() / (2 * cases) as f64;
    let block = if mean > 500.0 { 10 } else { 100 };
    let mut spent: [Vec<Vec<f64>>; 2] = Default::default();
    for _ in 0..rounds {
        for (all, blocks) in spent.iter_mut().zip(round(block).spent) {
            all.resize(blocks.len(), Vec::new());
            all.iter_mut()
                .zip(blocks)
                .for_each(|(it, time)| it.push(time));
        }
    }
    Duel {
        spent: spent.map(|blocks| per_case(blocks, cases)),
        answers: first.answers,
    }
}

/// The durations for all cases. headbutt is the first.
#[derive(Default)]
struct Round {
    /// The duration of each block, in nanoseconds.
    spent: [Vec<f64>; 2],
    answers: [Vec<f32>; 2],
}

/// Adds the quartiles of each block over the rounds. Different costs of cases are not a spread.
fn per_case(blocks: Vec<Vec<f64>>, cases: usize) -> Summary {
    let sum = blocks
        .into_iter()
        .map(Summary::of)
        .fold(Summary::default(), |sum, block| Summary {
            low: sum.low + block.low,
            median: sum.median + block.median,
            high: sum.high + block.high,
        });
    let count = cases as f64;
    Summary {
        low: sum.low / count,
        median: sum.median / count,
        high: sum.high / count,
    }
}
