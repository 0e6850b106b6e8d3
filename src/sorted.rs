//! Putting in order what was in order a moment ago.

use crate::buffer::make_room_for;

/// Adds `others` to keys and sorts all, fast if there are few others, and few keys out of place; and in no case slower than
/// sorting twice. What is in `others` afterwards is of no use.
///
/// Keys that are in order stay; of each two neighbours that are not, both are taken out. What was taken out is sorted with the
/// others, and merged again. (The idea is Dropsort, made lossless as in Ernerfeldt's "Drop-Merge sort" (2017). He takes out
/// one of the two, and has to go back where that was the wrong one; here neither can be.)
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
                if let Some(place) = keys.get_mut(kept) {
                    *place = key;
                }
                kept += 1;
            }
        }
    }
    others.sort_unstable();
    merge(keys, kept, others, |key| *key);
}

/// Merges the first `kept` items of a list, which are in order of their keys, with others in this order: all that there are in
/// the end. Fast if there are few others: what lies between two of them is moved at once.
pub fn merge<T: Copy, K: Ord>(
    list: &mut Vec<T>,
    mut kept: usize,
    others: &[T],
    key: impl Fn(&T) -> K,
) {
    list.truncate(kept);
    kept = list.len();
    make_room_for(list, others.len());
    list.extend(others);
    // From the end, so that nothing is in the way.
    for (before, other) in others.iter().enumerate().rev() {
        let first = first_beyond(list.get(..kept).unwrap_or_default(), &key(other), &key);
        list.copy_within(first..kept, first + before + 1);
        if let Some(place) = list.get_mut(first + before) {
            *place = *other;
        }
        kept = first;
    }
}

/// Of items in order, the first whose key is greater than another one. Sought from the end, in steps that grow.
fn first_beyond<T, K: Ord>(list: &[T], other: &K, key: impl Fn(&T) -> K) -> usize {
    let mut start = list.len();
    let mut step = 1;
    while start > 0 && list.get(start - 1).is_some_and(|it| key(it) > *other) {
        start = start.saturating_sub(step);
        step *= 2;
    }
    let rest = list.get(start..).unwrap_or_default();
    start + rest.partition_point(|it| key(it) <= *other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    #[test]
    fn any_keys_are_in_order_afterwards() {
        let mut random = StdRng::seed_from_u64(1);
        for round in 0..2_000 {
            let count = round % 60;
            let most = random.random_range(1..100_u128);
            let mut keys: Vec<u128> = (0..count).map(|_| random.random_range(0..most)).collect();
            if round % 3 > 0 {
                // All but a few in order.
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

    /// Of equal keys, what was there comes first, and all else as it came.
    #[test]
    fn what_is_merged_stays_in_order() {
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
