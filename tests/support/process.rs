//! Runs a test again in a process of its own: the number of threads in Bevy's task pools is fixed
//! once per process.

use std::{env, process::Command, thread};

/// The environment variable that tells a test's process which of its runs it is.
const RUN: &str = "HEADBUTT_RUN";

/// Returns the run that this process is, if it is one.
pub fn this_run() -> Option<usize> {
    let run = env::var(RUN).ok()?;
    Some(run.parse().expect("the number of a run"))
}

/// Runs this test again in a process of its own. Returns the rest of the line that the run prints
/// after `run: `.
#[track_caller]
pub fn run_again(run: usize) -> String {
    let test = thread::current();
    let output = Command::new(env::current_exe().expect("this test is a file"))
        .args([
            test.name().expect("a test's thread has its name"),
            "--exact",
        ])
        .args(["--nocapture", "--test-threads=1"])
        .env(RUN, run.to_string())
        .output()
        .expect("it runs again");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    let line = said
        .lines()
        .find_map(|line| Some(line.split_once("run: ")?.1));
    let line = line.unwrap_or_else(|| panic!("no line of the run in {said}"));
    line.to_owned()
}
