//! How much work the solvers do.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Counts the support points that pairs are asked for. Each counter is for one thread.
#[derive(Debug, Default)]
pub struct Counter(AtomicUsize);

impl Counter {
    /// Counts one more.
    #[inline]
    pub fn add_one(&self) {
        // As nobody else writes, there is no need to do it at one stroke, which takes as long as a support point.
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before + 1, Ordering::Relaxed);
    }

    /// How many they were, and begins anew.
    pub fn take(&mut self) -> usize {
        core::mem::take(self.0.get_mut())
    }
}
