//! Division of work among threads. [`share`], [`for_chunks`] and [`for_each_chunk`] split a list
//! into tasks if the list is long.
//!
//! The results never depend on the number of threads. No task reads data that another task writes,
//! and callers join the results in the order of the tasks. `docs/ARCHITECTURE.md` lists the
//! callers.

use bevy::tasks::ComputeTaskPool;

/// The number of tasks per thread. With several tasks per thread, a slow task delays the result
/// only a little, because other threads take over the remaining tasks.
const TASKS_PER_THREAD: usize = 4;

/// Returns the number of threads of Bevy's pool, or 1 if there is no pool.
pub fn thread_count() -> usize {
    ComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num().max(1))
}

/// Calls `run` for chunks of two lists of the same length, on all threads if the lists are long.
/// Every chunk but the last has at least `min_items` items. If several threads run, `prepare` is
/// called once before they start.
pub fn for_chunks<T: Sync, R: Send>(
    items: &[T],
    results: &mut [R],
    min_items: usize,
    prepare: impl FnOnce(),
    run: impl Fn(&[T], &mut [R]) + Sync,
) {
    let Some((pool, size)) = share(items.len(), min_items) else {
        return run(items, results);
    };
    prepare();
    let run = &run;
    pool.scope(|scope| {
        for (items, results) in items.chunks(size).zip(results.chunks_mut(size)) {
            scope.spawn(async move { run(items, results) });
        }
    });
}

/// Returns Bevy's thread pool and the number of items per task, or `None` if one thread is faster.
///
/// A task has at least `min_items` items. Processing this number of items should take about as long
/// as starting a task.
pub fn share(items: usize, min_items: usize) -> Option<(&'static ComputeTaskPool, usize)> {
    let threads = thread_count();
    let size = items.div_ceil(threads * TASKS_PER_THREAD).max(min_items);
    let pool = ComputeTaskPool::try_get()?;
    (threads > 1 && items > size).then_some((pool, size))
}

/// Calls `run` for chunks of a list, on all threads if the list is long: see [`share`].
pub fn for_each_chunk<T: Send>(
    list: &mut [T],
    min_items: usize,
    run: impl Fn(&mut [T]) + Copy + Send + Sync,
) {
    let Some((pool, size)) = share(list.len(), min_items) else {
        return run(list);
    };
    pool.scope(|scope| {
        for chunk in list.chunks_mut(size) {
            scope.spawn(async move { run(chunk) });
        }
    });
}
