//! Runs the cases of a law, and reports the cases that break the law.
//!
//! Among the default cases, exactly the cases in `not_yet.txt` break their law. A case that no
//! longer breaks its law must be removed from the list. The cases are the same on all machines. To
//! write the list again:
//!
//! ```text
//! cargo test --test it surface_laws -- --nocapture | sed -n 's/.*not yet: //p' |
//!     LC_ALL=C sort > list; mv list tests/it/surface_laws/not_yet.txt
//! ```

use std::{fmt::Write, ops::Range};

use rand::{SeedableRng, rngs::StdRng};

use crate::{
    support::cases::{cases, number},
    surface_laws::ask::{Answer, Question, ask},
};

/// The default cases that break a law. Each line has a law and the numbers of its cases.
const NOT_YET: &str = include_str!("not_yet.txt");

/// The number of pairs per tick.
const BATCH: usize = 1500;

/// The number of broken cases that a failure prints in full, unless `HEADBUTT_SURFACES_PRINT` sets
/// another number.
const PRINTED: usize = 4;

/// The result of checking a law for a case.
pub enum Verdict {
    /// The law does not apply: nothing touches, or more than one result is right.
    Open,
    Holds,
    Broken(String),
    /// The answers lead to more questions.
    Again,
}

/// A case for which a law is checked.
pub trait Trial {
    fn questions(&self) -> Vec<Question>;
    fn judge(&mut self, answers: &[Answer]) -> Verdict;
    /// Returns a description with which the case can be written as a test.
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

/// Returns the numbers of the cases, by default or from the environment.
pub fn numbers(usual: usize) -> Range<usize> {
    cases("HEADBUTT_SURFACES", usual)
}

/// Panics if [`check`] returns a report.
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

/// Checks that a law holds for all cases that are not listed in [`NOT_YET`]. Also checks that the
/// law applies to at least the fraction `least` of all cases. Returns a report if a check fails.
///
/// `make` returns `None` if its random numbers give no case.
pub fn check(
    law: &str,
    usual: usize,
    least: f64,
    mut make: impl FnMut(&mut StdRng) -> Option<Box<dyn Trial>>,
) -> Result<(), String> {
    let only = number("HEADBUTT_SURFACES_CASE");
    let numbers = only.map_or(numbers(usual), |only| only..only + 1);
    let is_default = numbers == (0..usual);
    // The seed of each case comes from the law's name and the case's number.
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
    tally.broken.sort();
    let Tally { open, held, broken } = &tally;
    let judged = held + broken.len();
    let mut report = format!(
        "{law}: {} of {judged} cases break the law ({open} open, {made} made, {total} tried)",
        broken.len()
    );
    println!("{report}");
    if only.is_some() {
        // The number may belong to a case of the other dimension.
        if made == 0 {
            println!("{law}: the case is none");
        }
    } else if (judged as f64) < least * total as f64 {
        return Err(format!("{report}: too few are judged"));
    }
    let line = line(law, broken.iter().map(|(case, _)| *case));
    if is_default && !broken.is_empty() {
        println!("not yet: {line}");
    }
    let listed = listed(NOT_YET, law);
    let mended = listed.iter().filter(|case| {
        let is_broken = broken.iter().any(|(broken, _)| broken == *case);
        is_default && !is_broken
    });
    let mended: Vec<_> = mended.collect();
    let is_new = |(case, _): &&(usize, String)| !is_default || !listed.contains(case);
    let new = broken.iter().filter(is_new).count();
    let allowed = match only {
        None if !is_default => most(law, judged),
        _ => 0,
    };
    if mended.is_empty() && new <= allowed {
        return Ok(());
    }
    if is_default {
        let _ = write!(
            report,
            "\n{new} are new. Mended are {mended:?}. The line of not_yet.txt would be\n\n{line}"
        );
    } else {
        let _ = write!(report, "\n{allowed} are allowed");
    }
    let mut shown: Vec<_> = broken.iter().filter(is_new).collect();
    shown.sort_by_key(|(_, text)| text.len());
    let printed = number("HEADBUTT_SURFACES_PRINT").unwrap_or(PRINTED);
    for (case, text) in shown.iter().take(printed) {
        let _ = write!(report, "\n\ncase {case}: {text}");
    }
    Err(report)
}

/// Returns the line of a law in a list like [`NOT_YET`].
fn line(law: &str, cases: impl Iterator<Item = usize>) -> String {
    let cases: Vec<String> = cases.map(|case| case.to_string()).collect();
    format!("{law}: {}", cases.join(" "))
}

/// Returns the cases of a law in a list like [`NOT_YET`].
fn listed(list: &str, law: &str) -> Vec<usize> {
    let lines = list.lines().filter_map(|line| line.split_once(": "));
    let own = lines.filter(|(name, _)| *name == law);
    own.flat_map(|(_, cases)| cases.split(' '))
        .map(|case| case.parse().expect("the number of a case"))
        .collect()
}

/// Returns the number of cases that may break a law in a long run: the fraction in [`RATES`], and
/// four standard deviations.
fn most(law: &str, judged: usize) -> usize {
    let rate = RATES.iter().find(|(name, _)| *name == law);
    let mean = rate.map_or(0.0, |(_, rate)| rate * judged as f64);
    (mean + 4.0 * mean.sqrt()) as usize
}

/// Upper limits of the fractions of cases that break a law, with 97.5 % confidence, from the first
/// 6,000 cases. Laws without a line hold in all 6,000 cases.
const RATES: [(&str, f64); 29] = [
    ("balls on surfaces far away in 2d", 5.5e-3),
    ("balls on surfaces far away in 3d", 1.4e-2),
    ("completeness in 3d", 1.7e-3),
    ("completeness of crates in 2d", 1.1e-2),
    ("completeness of crates in 3d", 2.4e-3),
    ("completeness on altered surfaces in 3d", 3.3e-3),
    ("continuity in 2d", 1.3e-3),
    ("continuity in 3d", 2.9e-3),
    ("continuity of crates in 2d", 2.7e-2),
    ("continuity of crates in 3d", 8.3e-3),
    ("continuity on altered surfaces in 2d", 1.6e-3),
    ("continuity on altered surfaces in 3d", 2.9e-3),
    ("crates of facets on flat floors", 8e-4),
    ("economy in 2d", 1.6e-3),
    ("economy in 3d", 3.1e-3),
    ("economy of crates in 2d", 4.4e-2),
    ("economy of crates in 3d", 2.2e-2),
    ("economy on altered surfaces in 2d", 1.2e-3),
    ("economy on altered surfaces in 3d", 4.2e-3),
    ("side in 3d", 1.3e-3),
    ("side of moves in 3d", 1.5e-3),
    ("side of moves of crates in 2d", 2.1e-3),
    ("side of moves on altered surfaces in 3d", 9.5e-4),
    ("side on altered surfaces in 2d", 1e-3),
    ("side on altered surfaces in 3d", 1.2e-3),
    ("tessellation in 2d", 3.7e-3),
    ("tessellation in 3d", 9.6e-3),
    ("tessellation of crates in 2d", 3.2e-2),
    ("tessellation of crates in 3d", 1.3e-2),
];

#[test]
fn the_list_of_broken_cases_has_a_line_for_each_law() {
    let list = "side in 2d: 3 17\nside in 3d: 5\n";
    assert_eq!(listed(list, "side in 2d"), [3, 17]);
    assert_eq!(listed(list, "side in 3d"), [5]);
    assert!(listed(list, "side").is_empty());
    assert_eq!(line("side in 2d", [3, 17].into_iter()), "side in 2d: 3 17");
}

/// Asks the questions of some cases in one tick. Returns the cases that have further questions.
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
