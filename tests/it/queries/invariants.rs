//! The invariants of queries, for random shapes in random poses. The fuzz targets in `fuzz/` search
//! for more cases.

use std::{fmt::Debug, thread};

use crate::invariants::{self, Case, Source, TestSpace, Validity};
use bevy::math::{Vec2, Vec3};
use rand::{Rng, SeedableRng, rngs::StdRng};

impl Source for StdRng {
    fn byte(&mut self) -> u8 {
        self.random()
    }

    fn word(&mut self) -> u32 {
        self.random()
    }
}

/// A guard that prints the case if a check or the library panics.
struct Named<C: Debug>(C);

impl<C: Debug> Drop for Named<C> {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("in the case of {:?}", self.0);
        }
    }
}

fn hold<V: TestSpace>(seed: u64, cases: usize) {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut sound, mut hits, mut most) = (0, 0, 0);
    for _ in 0..cases {
        let case = Named(Case::<V>::choose(&mut random));
        let outcome = invariants::check(&case.0);
        if outcome.validity == Validity::Valid {
            sound += 1;
            hits += usize::from(outcome.hit);
            most = most.max(outcome.evaluations);
        }
    }
    println!("{sound} of {cases} are sound, {hits} hit, at most {most} evaluations");
    // Both hits and misses must be tested.
    assert!(sound > cases / 2, "{sound} of {cases}");
    assert!(
        (sound / 4..sound * 3 / 4).contains(&hits),
        "{hits} of {sound}"
    );
}

#[test]
fn the_invariants_hold_for_random_pairs_in_2d() {
    hold::<Vec2>(1, 10_000);
}

#[test]
fn the_invariants_hold_for_random_pairs_in_3d() {
    hold::<Vec3>(2, 10_000);
}
