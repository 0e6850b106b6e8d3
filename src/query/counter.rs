//! How much work the solvers do.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Counts the support points that pairs are asked for. Each counter is for one thread; it is an atomic only because a resource
/// has to be `Sync`.
#[derive(Debug, Default)]
pub struct Counter(AtomicUsize);

impl Counter {
    /// Counts one more.
    #[inline]
    pub fn add_one(&self) {
        // Nobody else writes meanwhile: so a load and a store do, and not an addition in one, which takes as long as a support point.
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before + 1, Ordering::Relaxed);
    }

    /// How many they were, and begins anew.
    pub fn take(&mut self) -> usize {
        core::mem::take(self.0.get_mut())
    }
}
