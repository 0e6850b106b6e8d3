//! The command line that all demos share.

use std::{path::PathBuf, process::exit};

use lexopt::prelude::*;

use super::script::Script;

const USAGE: &str = "\
Options, for pictures without a window:
  --screenshot FILE  writes a picture as PNG, and ends
  --ticks N          takes it after N ticks (default: 60)
  --every K          takes one every K ticks, into FILE with the number in place of #
  --input SCRIPT     presses keys and moves the mouse, for example
                     '10 down ArrowLeft; 40 up ArrowLeft; 50 cursor 640 360; 51 press; 60 release'
";

/// The options on the command line.
pub struct Options {
    /// The file that the demo shows, if the demo takes a file.
    pub file: Option<PathBuf>,
    /// The file of the picture. Without such a file, the demo opens a window.
    pub screenshot: Option<PathBuf>,
    /// The tick of the last picture.
    pub ticks: u32,
    /// The number of ticks from one picture to the next.
    pub every: u32,
    /// The input that replaces keyboard and mouse.
    pub script: Script,
}

impl Options {
    /// Reads the command line. If the command line is invalid or asks for help, prints the usage
    /// and ends the process.
    ///
    /// For a demo that takes a file, `file_usage` describes this file.
    pub fn from_env(file_usage: Option<&str>) -> Self {
        let usage = || file_usage.map_or(USAGE.to_owned(), |own| format!("{own}\n{USAGE}"));
        match Self::parse(file_usage.is_some()) {
            Ok(Some(options)) => options,
            Ok(None) => {
                print!("{}", usage());
                exit(0);
            }
            Err(error) => {
                eprintln!("{error}\n\n{}", usage());
                exit(2);
            }
        }
    }

    /// Returns the options, or `None` if the command line asks for help.
    fn parse(takes_file: bool) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Self {
            file: None,
            screenshot: None,
            ticks: 60,
            every: u32::MAX,
            script: Script::default(),
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("screenshot") => options.screenshot = Some(parser.value()?.into()),
                Long("ticks") => options.ticks = parser.value()?.parse::<u32>()?.max(1),
                Long("every") => options.every = parser.value()?.parse::<u32>()?.max(1),
                Long("input") => {
                    options.script = parser.value()?.parse_with(str::parse)?;
                }
                Long("help") => return Ok(None),
                Value(file) if takes_file => options.file = Some(file.into()),
                other => return Err(other.unexpected()),
            }
        }
        if let Some(file) = &options.screenshot
            && file.extension().is_none_or(|extension| extension != "png")
        {
            return Err("the name of a picture ends with .png".into());
        }
        Ok(Some(options))
    }
}
