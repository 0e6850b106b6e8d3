//! Runs the cases of a law, and reports those that break it.

use std::{env, fmt::Write};

use rand::{SeedableRng, rngs::StdRng};

use crate::surface_laws::ask::{Answer, Question, ask};

/// Pairs per tick.
const BATCH: usize = 1500;

/// The number of broken cases that a failure prints in full, unless `HEADBUTT_SURFACES_PRINT` sets
/// another one.
const PRINTED: usize = 4;

/// The verdict about a case.
pub enum Verdict {
    /// The law does not apply: nothing touches, or more than one result is right.
    Open,
    Holds,
    Broken(String),
    /// The answers lead to more questions.
    Again,
}

/// A case of a law.
pub trait Trial {
    fn questions(&self) -> Vec<Question>;
    fn judge(&mut self, answers: &[Answer]) -> Verdict;
    /// A description with which the case can be written as a test.
    fn describe(&self) -> String;
}

/// Decides about the answers of a case.
type Judge = Box<dyn Fn(&[Answer]) -> Verdict>;

/// A case with one round of questions.
pub struct Once {
    pub questions: Vec<Question>,
    pub judge: Judge,
    pub describe: Box<dyn Fn() -> String>,
}

impl Trial for Once {
    fn questions(&self) -> Vec<Question> {
        self.questions.clone()
    }

    fn judge(&mut self, answers: &[Answer]) -> Verdict {
        (self.judge)(answers)
    }

    fn describe(&self) -> String {
        (self.describe)()
    }
}

/// The verdicts of all cases.
#[derive(Default)]
struct Tally {
    open: usize,
    held: usize,
    broken: Vec<(usize, String)>,
}

/// A number in the environment.
fn number(name: &str) -> Option<usize> {
    Some(env::var(name).ok()?.parse().expect("a number"))
}

/// The number of cases from the environment, or the default.
pub fn count(usual: usize) -> usize {
    number("HEADBUTT_SURFACES").unwrap_or(usual)
}

/// Asserts what [`check`] checks.
pub fn hold(
    law: &str,
    usual: usize,
    least: f64,
    make: impl FnMut(&mut StdRng) -> Option<Box<dyn Trial>>,
) {
    if let Err(report) = check(law, usual, least, make) {
        panic!("{report}");
    }
}

/// Checks that a law holds for all cases, except for a fraction listed in [`NOT_YET`], and that it
/// applies to at least the fraction `least` of them. Returns a report if it does not.
///
/// `make` returns `None` if its random numbers give no case.
pub fn check(
    law: &str,
    usual: usize,
    least: f64,
    mut make: impl FnMut(&mut StdRng) -> Option<Box<dyn Trial>>,
) -> Result<(), String> {
    let only = number("HEADBUTT_SURFACES_CASE");
    let count = count(usual);
    let numbers = only.map_or(0..count, |only| only..only + 1);
    // The seed of each case is made of the law's name and the number.
    let salt = law
        .bytes()
        .fold(0_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    let mut tally = Tally::default();
    let mut made = 0;
    let mut pending: Vec<(usize, Box<dyn Trial>)> = Vec::new();
    let total = numbers.len();
    for case in numbers {
        let mut random = StdRng::seed_from_u64((salt << 32) ^ case as u64);
        if let Some(trial) = make(&mut random) {
            made += 1;
            pending.push((case, trial));
        }
        if pending.len() >= BATCH {
            pending = round(pending, &mut tally);
        }
    }
    while !pending.is_empty() {
        pending = round(pending, &mut tally);
    }
    let Tally { open, held, broken } = &tally;
    let judged = held + broken.len();
    let mut report = format!(
        "{law}: {} of {judged} cases break the law ({open} open, {made} made, {total} tried)",
        broken.len()
    );
    println!("{report}");
    if let Some(only) = only {
        // It may be a case of the other dimension.
        if made == 0 {
            println!("{law}: case {only} is none");
        }
    } else if (judged as f64) < least * total as f64 {
        return Err(format!("{report}: too few are judged"));
    }
    let mut shown: Vec<_> = broken.iter().collect();
    shown.sort_by_key(|(_, text)| text.len());
    let all: Vec<_> = broken.iter().take(12).map(|(case, _)| *case).collect();
    let _ = write!(report, "\ncases {all:?} ...");
    let printed = number("HEADBUTT_SURFACES_PRINT").unwrap_or(PRINTED);
    for (case, text) in shown.iter().take(printed) {
        let _ = write!(report, "\n\ncase {case}: {text}");
    }
    let most = NOT_YET.iter().find(|(name, _)| *name == law);
    let most = most.map_or(0.0, |(_, part)| (part * judged as f64).max(1.0));
    if broken.len() as f64 <= most {
        Ok(())
    } else {
        Err(report)
    }
}

/// The laws that do not hold everywhere yet, with the greatest fraction of the cases (or one case)
/// that may break each of them.
const NOT_YET: [(&str, f64); 28] = [
    ("balls on surfaces far away in 2d", 7e-3),
    ("balls on surfaces far away in 3d", 2e-2),
    ("completeness in 3d", 1e-3),
    ("completeness of crates in 2d", 2e-2),
    ("completeness of crates in 3d", 2e-3),
    ("completeness on altered surfaces in 3d", 4e-3),
    ("continuity in 2d", 4e-3),
    ("continuity in 3d", 4e-3),
    ("continuity of crates in 2d", 4e-2),
    ("continuity of crates in 3d", 3e-2),
    ("continuity on altered surfaces in 2d", 3e-3),
    ("continuity on altered surfaces in 3d", 5e-3),
    ("crates of facets on flat floors", 1e-3),
    ("economy in 2d", 1e-3),
    ("economy in 3d", 3e-3),
    ("economy of crates in 2d", 7e-2),
    ("economy of crates in 3d", 3e-2),
    ("economy on altered surfaces in 2d", 1e-3),
    ("economy on altered surfaces in 3d", 4e-3),
    ("side of moves in 3d", 2e-3),
    ("side of moves of crates in 2d", 2e-3),
    ("side of moves of crates in 3d", 2e-3),
    ("side of moves on altered surfaces in 3d", 3e-3),
    ("side on altered surfaces in 3d", 1e-3),
    ("tessellation in 2d", 3e-3),
    ("tessellation in 3d", 1e-2),
    ("tessellation of crates in 2d", 4e-2),
    ("tessellation of crates in 3d", 2e-2),
];

/// Asks the questions of some cases in one tick. Returns the cases that have more.
fn round(trials: Vec<(usize, Box<dyn Trial>)>, tally: &mut Tally) -> Vec<(usize, Box<dyn Trial>)> {
    let lists: Vec<Vec<Question>> = trials.iter().map(|(_, it)| it.questions()).collect();
    let answers = ask(&lists.concat());
    let mut rest = answers.as_slice();
    let mut pending = Vec::new();
    for ((case, mut trial), list) in trials.into_iter().zip(&lists) {
        let (own, others) = rest.split_at(list.len());
        rest = others;
        match trial.judge(own) {
            Verdict::Open => tally.open += 1,
            Verdict::Holds => tally.held += 1,
            Verdict::Broken(why) => {
                let lines: Vec<String> = own.iter().map(Answer::line).collect();
                let lines = lines.join("\n  ");
                let text = format!("{why}\n  {}\n  {lines}", trial.describe());
                tally.broken.push((case, text));
            }
            Verdict::Again => pending.push((case, trial)),
        }
    }
    pending
}
