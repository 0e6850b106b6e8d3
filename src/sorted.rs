//! Sorting and merging of nearly sorted lists. The broad phase calls [`restore`] for its
//! grids and for the order of the entities. [`merge`] adds contacts to a sorted list of contacts.

use crate::buffer::reserve_amortized;

/// Adds `others` to `keys`, and sorts the result. Takes linear time if `others` is short and few
/// keys are out of order, and O(n log n) time at worst. Leaves `others` in an unspecified state.
///
/// If two neighboring keys are out of order, both keys are moved to `others`. At the end, `others`
/// is sorted, and merged with the remaining keys. The algorithm is a variant of Ernerfeldt,
/// "Drop-Merge sort" (2017). The original algorithm removes only one of the two keys, and
/// backtracks if that key was the wrong choice.
pub fn restore(keys: &mut Vec<u128>, others: &mut Vec<u128>) {
    let mut kept = 0_usize;
    for index in 0..keys.len() {
        let Some(&key) = keys.get(index) else { break };
        let last = kept.checked_sub(1).and_then(|last| keys.get(last));
        match last {
            Some(&last) if key < last => {
                others.extend([last, key]);
                kept -= 1;
            }
            _ => {
                if let Some(slot) = keys.get_mut(kept) {
                    *slot = key;
                }
                kept += 1;
            }
        }
    }
    others.sort_unstable();
    if kept == 0 {
        // A new list takes the memory of `others`, which is hardly needed again.
        core::mem::swap(keys, others);
    } else {
        merge(keys, kept, others, |key| *key);
    }
}

/// Merges the first `kept` items of a list with `others`, and drops the remaining items of the
/// list. Both lists must be sorted by `key`. If `others` is short, the merge is fast, because all
/// items between two neighbors in `others` are moved together.
pub fn merge<T: Copy, K: Ord>(list: &mut Vec<T>, kept: usize, others: &[T], key: impl Fn(&T) -> K) {
    list.truncate(kept);
    let mut kept = list.len();
    reserve_amortized(list, others.len());
    list.extend(others);
    // The loop starts at the end, so that no item is overwritten before it is moved.
    for (before, other) in others.iter().enumerate().rev() {
        let first = first_greater(list.get(..kept).unwrap_or_default(), &key(other), &key);
        list.copy_within(first..kept, first + before + 1);
        if let Some(slot) = list.get_mut(first + before) {
            *slot = *other;
        }
        kept = first;
    }
}

/// Returns the index of the first item of a sorted list whose key is greater than `other`. The
/// search starts at the end and doubles its steps.
fn first_greater<T, K: Ord>(list: &[T], other: &K, key: impl Fn(&T) -> K) -> usize {
    let mut start = list.len();
    let mut step = 1;
    while start > 0 && list.get(start - 1).is_some_and(|item| key(item) > *other) {
        start = start.saturating_sub(step);
        step *= 2;
    }
    let rest = list.get(start..).unwrap_or_default();
    start + rest.partition_point(|item| key(item) <= *other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    #[test]
    fn any_keys_are_sorted_afterwards() {
        let mut random = StdRng::seed_from_u64(1);
        for round in 0..2_000 {
            let count = round % 60;
            let most = random.random_range(1..100_u128);
            let mut keys: Vec<u128> = (0..count).map(|_| random.random_range(0..most)).collect();
            if round % 3 > 0 {
                // Sorts the keys, and then replaces a few keys.
                keys.sort_unstable();
                for _ in 0..round % 5 {
                    let index = random.random_range(0..keys.len().max(1));
                    if let Some(key) = keys.get_mut(index) {
                        *key = random.random_range(0..most);
                    }
                }
            }
            let mut others: Vec<u128> = (0..round % 7)
                .map(|_| random.random_range(0..most))
                .collect();
            let mut sorted = keys.clone();
            sorted.extend(&others);
            sorted.sort_unstable();
            restore(&mut keys, &mut others);
            assert_eq!(keys, sorted);
        }
    }

    /// If keys are equal, the items of the list come before the items of `others`.
    #[test]
    fn a_merge_is_stable() {
        let mut random = StdRng::seed_from_u64(2);
        for round in 0..1_000 {
            let most = random.random_range(1..20_u32);
            let mut list = |count: usize| {
                let keys = (0..count).map(|_| random.random_range(0..most));
                let mut list: Vec<u32> = keys.collect();
                list.sort_unstable();
                list
            };
            let (kept, beyond) = (round % 40, round % 3);
            let (old, new) = (list(kept), list(round % 17));
            let mut merged: Vec<(u32, usize)> = old.into_iter().zip(0..).collect();
            merged.extend((0..beyond).map(|_| (0, usize::MAX)));
            let others: Vec<(u32, usize)> = new.into_iter().zip(100..).collect();
            let mut sorted: Vec<(u32, usize)> =
                merged.iter().take(kept).chain(&others).copied().collect();
            sorted.sort_unstable();
            merge(&mut merged, kept, &others, |(key, _)| *key);
            assert_eq!(merged, sorted);
        }
    }
}
