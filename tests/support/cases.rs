//! The environment variables of the tests: mostly numbers of random cases, for long runs.

use std::{env, ffi::OsString, ops::Range};

/// All variables that the tests read. Any other variable that begins with `HEADBUTT_` is an error.
const VARIABLES: [&str; 25] = [
    "HEADBUTT_BOXES",
    "HEADBUTT_CASTS",
    "HEADBUTT_CAST_CASE",
    "HEADBUTT_CELLS",
    "HEADBUTT_CHAOS",
    "HEADBUTT_CORNERS",
    "HEADBUTT_EMBED",
    "HEADBUTT_EXPLAIN",
    "HEADBUTT_FORECASTS",
    "HEADBUTT_GRID",
    "HEADBUTT_GRID_CASE",
    "HEADBUTT_JOINED",
    "HEADBUTT_ONE_WAY",
    "HEADBUTT_PLAY",
    "HEADBUTT_RAYS",
    "HEADBUTT_REPLAY",
    "HEADBUTT_RESTING",
    // Set by `process.rs`.
    "HEADBUTT_RUN",
    "HEADBUTT_SHOTS",
    "HEADBUTT_SPATIAL",
    "HEADBUTT_SURFACES",
    "HEADBUTT_SURFACES_CASE",
    "HEADBUTT_SURFACES_PRINT",
    "HEADBUTT_TICKS",
    "HEADBUTT_WALKS",
];

/// Returns the range of the cases: `0..usual`, or the range in an environment variable, which has a
/// number of cases or a range such as `1000..2000`. With ranges, several processes can share a
/// million cases.
///
/// Panics if the variable contains no cases, and if the environment has an unknown variable, like
/// [`number`].
pub fn cases(variable: &str, usual: usize) -> Range<usize> {
    range_in(env::vars_os(), variable).unwrap_or(0..usual)
}

/// Returns the number in an environment variable, or `None` if it is not set.
///
/// Panics if the variable is not a number, or if the environment has an unknown `HEADBUTT_`
/// variable. Otherwise a misspelled name would run the default number of cases.
pub fn number(variable: &str) -> Option<usize> {
    number_in(env::vars_os(), variable)
}

/// The name and the value of an environment variable.
type Variable = (OsString, OsString);

/// Returns the range of cases in a variable of this environment: see [`cases`].
pub fn range_in(
    environment: impl IntoIterator<Item = Variable>,
    variable: &str,
) -> Option<Range<usize>> {
    let text = value(environment, variable)?;
    let range = match text.split_once("..") {
        Some((start, end)) => start.parse().ok().zip(end.parse().ok()),
        None => text.parse().ok().map(|count| (0, count)),
    };
    let range = range.map(|(start, end)| start..end);
    let range = range.filter(|range| !range.is_empty());
    assert!(
        range.is_some(),
        "{variable} is `{text}`, not a number of cases such as 1000, nor a range such as 1000..2000"
    );
    range
}

/// Returns the number in a variable of this environment: see [`number`].
pub fn number_in(environment: impl IntoIterator<Item = Variable>, variable: &str) -> Option<usize> {
    let text = value(environment, variable)?;
    let number = text.parse().ok();
    assert!(number.is_some(), "{variable} is `{text}`, not a number");
    number
}

fn value(environment: impl IntoIterator<Item = Variable>, variable: &str) -> Option<String> {
    assert!(VARIABLES.contains(&variable), "{variable} is not listed");
    let mut value = None;
    for (name, text) in environment {
        let name = name.to_string_lossy();
        if name.starts_with("HEADBUTT_") {
            assert!(
                VARIABLES.contains(&&*name),
                "no test reads {name}: they read {VARIABLES:?}"
            );
        }
        if name == variable {
            value = Some(text.to_string_lossy().into_owned());
        }
    }
    value
}
