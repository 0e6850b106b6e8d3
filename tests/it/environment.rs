//! The environment variables of long runs: see `tests/support/cases.rs`.

use std::panic::catch_unwind;

use crate::support::cases::{number_in, range_in};

/// Returns an environment with one variable of the tests among others.
fn environment(name: &str, value: &str) -> [(std::ffi::OsString, std::ffi::OsString); 3] {
    [("PATH", "/bin"), (name, value), ("HOME", "/HEADBUTT_")].map(|(name, value)| {
        let (name, value) = (name.into(), value.into());
        (name, value)
    })
}

/// Returns the message of a panic.
fn panic_of<T>(work: impl FnOnce() -> T + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(work).err().expect("a panic");
    *panic.downcast::<String>().expect("a formatted message")
}

#[test]
fn a_variable_sets_a_number_of_cases_or_a_range() {
    let range = |text| range_in(environment("HEADBUTT_CASTS", text), "HEADBUTT_CASTS");
    assert_eq!(range("1000"), Some(0..1000));
    assert_eq!(range("1000..2000"), Some(1000..2000));
    let number = |text| number_in(environment("HEADBUTT_TICKS", text), "HEADBUTT_TICKS");
    assert_eq!(number("0"), Some(0));
    assert_eq!(number("1234"), Some(1234));
    // Other variables are ignored, and an environment without variables is valid.
    let other = environment("HEADBUTT_TICKS", "12");
    assert_eq!(range_in(other, "HEADBUTT_CASTS"), None);
    assert_eq!(number_in([], "HEADBUTT_CASTS"), None);
}

#[test]
fn a_value_that_is_no_number_fails_with_the_name_of_its_variable() {
    for text in [
        "", "1e6", "1_000", " 5", "-1", "0", "5..5", "9..3", "3..", "..3", "0..1..2",
    ] {
        let variable = environment("HEADBUTT_CASTS", text);
        let message = panic_of(move || range_in(variable, "HEADBUTT_CASTS"));
        let expected = format!("HEADBUTT_CASTS is `{text}`, not a number of cases");
        assert!(message.starts_with(&expected), "{message}");
    }
    for text in ["", "1e6", "1_000", " 5", "-1", "1..2"] {
        let variable = environment("HEADBUTT_TICKS", text);
        let message = panic_of(move || number_in(variable, "HEADBUTT_TICKS"));
        let expected = format!("HEADBUTT_TICKS is `{text}`, not a number");
        assert_eq!(message, expected);
    }
}

#[test]
fn a_misspelled_variable_fails_in_every_test_that_reads_one() {
    for name in ["HEADBUTT_CAST", "HEADBUTT_SURFACE", "HEADBUTT_"] {
        let message = panic_of(|| range_in(environment(name, "9"), "HEADBUTT_CASTS"));
        assert!(
            message.starts_with(&format!("no test reads {name}:")),
            "{message}"
        );
    }
    // The list has every variable that a test reads.
    let message = panic_of(|| number_in([], "HEADBUTT_CAST"));
    assert_eq!(message, "HEADBUTT_CAST is not listed");
}
