//! What the library has warned of.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bevy::prelude::*;
use log::{Level, LevelFilter, Log, Metadata};

/// The warnings of this package since the last [`Warnings::take`].
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Collect;

impl Log for Collect {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.level() <= Level::Warn && metadata.target().starts_with("headbutt")
    }

    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            lock(&LINES).push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// A test that panicked with the lock has failed already, and need not take the others with it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// There is one logger for all tests, so that those that listen to it take turns.
pub struct Warnings {
    _turn: MutexGuard<'static, ()>,
}

impl Warnings {
    pub fn listen() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        static COLLECT: Collect = Collect;

        let turn = lock(&TURN);
        // Only the first test's call can succeed.
        log::set_logger(&COLLECT).ok();
        log::set_max_level(LevelFilter::Warn);
        lock(&LINES).clear();
        Self { _turn: turn }
    }

    pub fn take(&self) -> Vec<String> {
        core::mem::take(&mut *lock(&LINES))
    }

    /// Asserts that there was one warning since the last time, and that it names the entity in both ways.
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
