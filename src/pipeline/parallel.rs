//! How work is shared out to threads.

use bevy::tasks::ComputeTaskPool;

/// So many tasks there are for each thread, so that one with hard work does not keep the others waiting.
const TASKS_OF_A_THREAD: usize = 4;

/// How many threads share work.
pub fn threads() -> usize {
    ComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num().max(1))
}

/// The pool of threads that Bevy has for work like this, and how many items of it a task takes; `None` where it does not pay
/// to share it out. A task takes no fewer than `least`: to hand these over takes as long as to do some of them.
pub fn share(items: usize, least: usize) -> Option<(&'static ComputeTaskPool, usize)> {
    let threads = threads();
    let size = items.div_ceil(threads * TASKS_OF_A_THREAD).max(least);
    let pool = ComputeTaskPool::try_get()?;
    (threads > 1 && items > size).then_some((pool, size))
}
