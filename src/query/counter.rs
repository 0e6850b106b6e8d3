//! Counts support evaluations.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Counts the support points that pairs evaluate. Only one thread uses a counter: it is atomic
/// because a resource has to be `Sync`.
#[derive(Debug, Default)]
pub struct Counter(AtomicUsize);

impl Counter {
    /// Adds one.
    #[inline]
    pub fn add_one(&self) {
        // A load and a store, because an atomic addition takes as long as a support point.
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before + 1, Ordering::Relaxed);
    }

    /// Returns the count and resets it to 0.
    pub fn take(&mut self) -> usize {
        core::mem::take(self.0.get_mut())
    }
}
