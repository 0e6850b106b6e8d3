//! Records the warnings that the library logs.
//!
//! Tests run in parallel in one process with one logger. Each warning is logged on the thread that
//! runs the schedule, which is the thread of the test. So each thread has a list of its own.

use std::cell::RefCell;

use bevy::prelude::*;
use log::{Level, LevelFilter, Log, Metadata};

thread_local! {
    /// The warnings of this crate that were logged on this thread and not yet taken.
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Collect;

impl Log for Collect {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.level() <= Level::Warn && metadata.target().starts_with("headbutt")
    }

    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            LINES.with_borrow_mut(|lines| lines.push(record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

/// The warnings of one test since [`Warnings::listen`].
pub struct Warnings;

impl Warnings {
    pub fn listen() -> Self {
        static COLLECT: Collect = Collect;

        // Only the first test in the process can set the logger.
        log::set_logger(&COLLECT).ok();
        log::set_max_level(LevelFilter::Warn);
        LINES.take();
        Self
    }

    /// Returns the warnings since the last call.
    pub fn take(&self) -> Vec<String> {
        LINES.take()
    }

    /// Asserts that there was one warning since the last call, and that it contains the entity's
    /// id and name.
    #[track_caller]
    pub fn assert_one_naming(&self, entity: Entity, name: &str) {
        let lines = self.take();
        assert_eq!(lines.len(), 1, "{lines:#?}");
        for part in [&entity.to_string(), name] {
            assert!(lines[0].contains(part), "{part} in {}", lines[0]);
        }
    }

    #[track_caller]
    pub fn assert_none(&self) {
        assert_eq!(self.take(), [""; 0]);
    }
}
