//! Runs a test again in another process, because the number of threads in Bevy's task pools is
//! fixed for each process.

use std::{env, process::Command, thread};

/// The environment variable that contains the number of a run in its process.
const RUN: &str = "HEADBUTT_RUN";

/// Returns the number of the run if this process is a run, and otherwise `None`.
pub fn this_run() -> Option<usize> {
    let run = env::var(RUN).ok()?;
    Some(run.parse().expect("the number of a run"))
}

/// Runs this test again in another process. Returns the rest of the line after `run: `, which the
/// run prints.
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
