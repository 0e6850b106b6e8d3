//! Replays recordings of headbutt, and checks that the contacts are the same bit for bit.
//!
//! ```text
//! cargo run --example replay --features demo -- examples/recordings/tumbling_3d.headbutt
//! cargo run --example replay --features record -- --check examples/recordings/*.headbutt
//! cargo run --example replay --features record -- --make examples/recordings
//! ```
//!
//! The first command shows a recording in a window. The second command plays each file forwards and
//! backwards, without a window. Both commands end with the exit code 1 if a file is damaged. The
//! second command also ends with the exit code 1 if a contact differs. The third command records
//! the sessions of `sessions.rs` again.

#[cfg(feature = "demo")]
#[path = "../demo/mod.rs"]
mod demo;
mod sessions;
#[cfg(feature = "demo")]
mod window;

#[cfg(feature = "demo")]
use std::env;
use std::{error::Error, fs, path::Path, path::PathBuf, process::ExitCode};

use bevy::prelude::*;
use headbutt::{Recording, Replay, ReplayTick, prelude::*};
use lexopt::Arg;

const USAGE: &str = "\
replay FILE             shows a recording in a window (with the feature `demo`)
replay --check FILE...  plays recordings without a window, and compares the contacts
replay --make FOLDER    records the sessions of this example
";

enum Task {
    Help,
    Check(Vec<PathBuf>),
    Make(PathBuf),
}

fn main() -> ExitCode {
    #[cfg(feature = "demo")]
    if !env::args().any(|argument| argument == "--check" || argument == "--make") {
        return window::play();
    }
    let result = Task::from_env().and_then(|task| match task {
        Task::Help => {
            print!("{USAGE}");
            Ok(())
        }
        Task::Check(files) => files.iter().try_for_each(check),
        Task::Make(folder) => sessions::record_all(&folder),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

impl Task {
    /// Reads the command line of a program without a window.
    fn from_env() -> Result<Self, Box<dyn Error>> {
        let mut parser = lexopt::Parser::from_env();
        let mut files = Vec::new();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("help") => return Ok(Self::Help),
                Arg::Long("make") => return Ok(Self::Make(parser.value()?.into())),
                Arg::Long("check") => {}
                Arg::Value(file) => files.push(file.into()),
                other => return Err(format!("{}\n\n{USAGE}", other.unexpected()).into()),
            }
        }
        if files.is_empty() {
            return Err(USAGE.into());
        }
        Ok(Self::Check(files))
    }
}

/// Reads a recording. The error names the file.
fn read(file: &Path) -> Result<Recording, Box<dyn Error>> {
    let in_file = |error: &dyn Error| format!("{}: {error}", file.display());
    let bytes = fs::read(file).map_err(|error| in_file(&error))?;
    Ok(Recording::read(bytes).map_err(|error| in_file(&error))?)
}

/// Plays a file forwards and backwards, and compares the contacts.
fn check(file: &PathBuf) -> Result<(), Box<dyn Error>> {
    let recording = read(file)?;
    let size = fs::metadata(file)?.len();
    let ticks = recording.len();
    let omitted = recording.omitted();
    let mut replay = Replay::new(recording);
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));

    let mut contacts = 0;
    for tick in (0..ticks).chain((0..ticks).rev()) {
        let played = replay.go_to(app.world_mut(), tick)?;
        if !played.is_equal() {
            return Err(format!("{}: the contacts differ: {played:?}", file.display()).into());
        }
        contacts += u64::from(played.contacts);
        // Bevy calls this function at the end of each frame.
        app.world_mut().clear_trackers();
    }
    println!(
        "{}: {ticks} ticks, {} contacts, {size} bytes: equal to the bit, forwards and back",
        file.display(),
        contacts / 2,
    );
    if omitted > 0 {
        println!("  without {omitted} colliders, whose shapes are custom");
    }
    Ok(())
}
