//! Counts support evaluations.

use core::sync::atomic::{AtomicUsize, Ordering};

/// The number of support points that pairs have evaluated. Each counter is used by only one thread.
/// The counter is atomic only because a resource has to be `Sync`.
#[derive(Debug, Default)]
pub struct Counter(AtomicUsize);

impl Counter {
    /// Adds 1 to the count.
    #[inline]
    pub fn add_one(&self) {
        // Only one thread uses the counter, so a load and a store are enough. An atomic addition
        // would take as long as computing a support point.
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before + 1, Ordering::Relaxed);
    }

    /// Returns the count and resets it to 0.
    pub fn take(&mut self) -> usize {
        core::mem::take(self.0.get_mut())
    }
}
