//! Two libraries that answer the same questions in turns.

use std::{hint::black_box, ops::Range};

use crate::{clock::Clock, stats::Summary};

/// A library with its shapes and the cases of a query.
pub trait Side<Q> {
    /// Runs a query for some of the cases. Each result is a number.
    fn ask(&mut self, query: Q, cases: Range<usize>, answers: &mut Vec<f32>);
}

/// The durations and results of both libraries. headbutt comes first.
pub struct Duel {
    /// Nanoseconds per case.
    pub spent: [Summary; 2],
    pub answers: [Vec<f32>; 2],
}

impl Duel {
    /// Returns the time of the peer, divided by the time of headbutt.
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

/// Measures a query for all cases: see [`in_turns`].
pub fn duel<Q: Copy>(
    sides: [&mut Box<dyn Side<Q>>; 2],
    query: Q,
    cases: usize,
    rounds: u32,
    clock: Clock,
) -> Duel {
    let mut answers: [Vec<f32>; 2] = Default::default();
    let mut ask = |side: usize, range: Range<usize>| {
        sides[side].ask(query, range, &mut answers[side]);
    };
    let [ours, theirs] = in_turns(cases, rounds, clock, &mut ask);
    // All rounds have the same answers.
    answers.iter_mut().for_each(|it| it.truncate(cases));
    Duel {
        spent: [ours, theirs],
        answers: black_box(answers),
    }
}

/// Measures `ask` for each side and all cases, in turns of a hundred cases (ten for slow queries),
/// for several rounds. The result of each block is its median over the rounds. Returns nanoseconds
/// per case.
pub fn in_turns<const SIDES: usize>(
    cases: usize,
    rounds: u32,
    clock: Clock,
    ask: &mut dyn FnMut(usize, Range<usize>),
) -> [Summary; SIDES] {
    let mut round = |block: usize| {
        let mut spent = [(); SIDES].map(|()| Vec::new());
        for start in (0..cases).step_by(block) {
            for (side, spent) in spent.iter_mut().enumerate() {
                let begin = clock.now();
                ask(side, start..(start + block).min(cases));
                spent.push((clock.now() - begin).as_secs_f64() * 1e9);
            }
        }
        spent
    };
    // The first round warms up, and determines the size of blocks.
    let mean = round(100).iter().flatten().sum::<f64>() / (SIDES * cases) as f64;
    let block = if mean > 500.0 { 10 } else { 100 };
    let mut all = [(); SIDES].map(|()| Vec::new());
    for _ in 0..rounds {
        for (all, blocks) in all.iter_mut().zip(round(block)) {
            all.resize(blocks.len(), Vec::new());
            all.iter_mut()
                .zip(blocks)
                .for_each(|(it, time)| it.push(time));
        }
    }
    all.map(|blocks| per_case(blocks, cases))
}

/// Adds the quartiles of each block over the rounds. So cases of different cost do not widen the
/// spread.
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
