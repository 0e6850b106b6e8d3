//! Many rays and motions at once, on one thread and on several threads. The number of threads is
//! fixed once per process, so the test runs itself again in a process for each number.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Condvar, Mutex, PoisonError},
    thread::{self, ThreadId},
    time::Duration,
};

use bevy::{
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use headbutt::{
    prelude::*,
    query::{CastOptions, Ray},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{ask, random_world::RandomWorld};
use crate::support::{
    Dimension,
    process::{run_again, this_run},
};

/// The number of rays and of motions.
const COUNT: usize = 1_000;

/// The threads that take part in one batch.
#[derive(Default)]
struct Threads {
    seen: Mutex<HashSet<ThreadId>>,
    changed: Condvar,
}

impl Threads {
    /// Notes the present thread. If there are several threads, waits for another thread. The
    /// timeout only serves to end a failing test.
    fn note(&self, number: usize) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.insert(thread::current().id()) {
            self.changed.notify_all();
            let is_alone = |seen: &mut HashSet<_>| number > 1 && seen.len() < 2;
            let waiting = self
                .changed
                .wait_timeout_while(seen, Duration::from_secs(20), is_alone);
            drop(waiting);
        }
    }

    fn count(&self) -> usize {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.len()
    }
}

/// Returns the results of batches, after comparing them with single casts. The first query of the
/// world is a batch, which builds the index.
fn batches(dimension: Dimension, starts_with_shapes: bool, threads: usize) -> String {
    let mut random = StdRng::seed_from_u64(9);
    let mut world = RandomWorld::new(dimension, 20.0);
    for _ in 0..120 {
        world.spawn(&mut random);
    }
    world.tick();
    let probe = world.probe(&mut random);
    let mut vector = |_| (world.point(&mut random), world.point(&mut random));
    let ends: Vec<(Vec3, Vec3)> = (0..COUNT).map(&mut vector).collect();
    let motions: Vec<_> = ends
        .iter()
        .map(|(start, end)| {
            let motion = Motion::linear(*start, *end - *start);
            motion.rotated(Vec3::Z * random.random_range(-1.0..1.0))
        })
        .collect();
    let rays: Vec<_> = ends.iter().map(|(a, b)| Ray::between(*a, *b)).collect();
    let flat = |(a, b): &(Vec3, Vec3)| Ray::between(a.xy(), b.xy());
    let flat: Vec<_> = ends.iter().map(flat).collect();
    let options = CastOptions::default();
    let [in_rays, in_casts] = [Threads::default(), Threads::default()];
    let note_ray = |_| {
        in_rays.note(threads);
        true
    };
    let note_cast = |_| {
        in_casts.note(threads);
        true
    };
    let result = ask(world.app.world_mut(), |query| {
        let all = SpatialQueryFilter::default();
        let noting = all.clone().with_predicate(&note_cast);
        let mut touches = Vec::new();
        if starts_with_shapes {
            query.cast_shapes(&probe, &motions, options, &noting, &mut touches);
        }
        let in_batch = all.clone().with_predicate(&note_ray);
        let (text, found) = match dimension {
            Dimension::D2 => {
                let mut hits = Vec::new();
                query.cast_rays(&flat, &in_batch, &mut hits);
                let single = flat.iter().map(|ray| query.cast_ray(*ray, &all));
                assert!(single.eq(hits.iter().copied()));
                (format!("{hits:?}"), hits.iter().flatten().count())
            }
            Dimension::D3 => {
                let mut hits = Vec::new();
                query.cast_rays(&rays, &in_batch, &mut hits);
                let single = rays.iter().map(|ray| query.cast_ray(*ray, &all));
                assert!(single.eq(hits.iter().copied()));
                (format!("{hits:?}"), hits.iter().flatten().count())
            }
        };
        assert!(found > COUNT / 10, "{found}");
        if !starts_with_shapes {
            query.cast_shapes(&probe, &motions, options, &noting, &mut touches);
        }
        let single = motions.iter();
        let single = single.map(|motion| query.cast_shape(&probe, *motion, options, &all));
        assert!(single.eq(touches.iter().copied()));
        let found = touches.iter().flatten().count();
        assert!(found > COUNT / 10, "{found}");
        format!("{text} {touches:?}")
    });
    for used in [in_rays.count(), in_casts.count()] {
        assert_eq!(used > 1, threads > 1, "{used} of {threads} threads");
    }
    result
}

#[test]
fn batches_return_the_results_of_single_casts_on_any_number_of_threads() {
    let Some(run) = this_run() else {
        let one = run_again(0);
        assert_eq!(run_again(1), one);
        assert_eq!(run_again(2), one);
        return;
    };
    let threads = [1, 2, 8][run];
    let pool = || TaskPoolBuilder::new().num_threads(threads).build();
    assert_eq!(ComputeTaskPool::get_or_init(pool).thread_num(), threads);
    let mut hasher = DefaultHasher::new();
    for dimension in Dimension::BOTH {
        let [first, second] = [true, false].map(|shapes| batches(dimension, shapes, threads));
        assert_eq!(first, second);
        first.hash(&mut hasher);
    }
    println!("run: {:016x}", hasher.finish());
}
