//! Putting in order what was in order a moment ago.

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
    merge(keys, kept, others);
}

/// Merges the first `kept` keys, which are in order, with others in order: all that there are in the end. Fast if there are few
/// others: what lies between two of them is moved at once.
pub fn merge<T: Copy + Ord>(keys: &mut Vec<T>, mut kept: usize, others: &[T]) {
    keys.truncate(kept);
    kept = keys.len();
    keys.extend(others);
    // From the end, so that nothing is in the way.
    for (before, other) in others.iter().enumerate().rev() {
        let first = first_beyond(keys.get(..kept).unwrap_or_default(), other);
        keys.copy_within(first..kept, first + before + 1);
        if let Some(place) = keys.get_mut(first + before) {
            *place = *other;
        }
        kept = first;
    }
}

/// Of keys in order, the first that is greater than another one. Sought from the end, in steps that grow.
fn first_beyond<T: Ord>(keys: &[T], other: &T) -> usize {
    let mut start = keys.len();
    let mut step = 1;
    while start > 0 && keys.get(start - 1).is_some_and(|key| key > other) {
        start = start.saturating_sub(step);
        step *= 2;
    }
    let rest = keys.get(start..).unwrap_or_default();
    start + rest.partition_point(|key| key <= other)
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
}
