//! The number of random cases that a test judges.

use std::{env, ops::Range};

/// Returns the numbers of the cases: `0..usual`, or those of an environment variable, which is a
/// number of cases or a range such as `1000..2000`. With ranges, several processes can share a
/// million cases.
pub fn cases(variable: &str, usual: usize) -> Range<usize> {
    let Ok(text) = env::var(variable) else {
        return 0..usual;
    };
    let number = |text: &str| {
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}: `{text}`"))
    };
    match text.split_once("..") {
        Some((start, end)) => number(start)..number(end),
        None => 0..number(&text),
    }
}
