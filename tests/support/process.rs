//! Runs a test again in a process of its own: the number of threads in Bevy's task pools is fixed
//! once per process.

use std::{env, process::Command, thread};

/// The variable by which a test's process is told that it is one of its runs, and which.
const RUN: &str = "HEADBUTT_RUN";

/// The run that this process is, if it is one.
pub fn this_run() -> Option<usize> {
    let run = env::var(RUN).ok()?;
    Some(run.parse().expect("the number of a run"))
}

/// Runs this test again as a process of its own, which the threads of Bevy's pools are given for once. Returns the line that
/// it says about the run, of which it prints `run: ` and the line.
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
