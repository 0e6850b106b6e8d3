//! What queries cost: support points asked for, over the grid of adversity, and no allocation.

use std::hint::black_box;

use crate::oracle::{
    adversity::{Adverse, Family, REGIMES},
    cases::Dimension,
};
use bevy::math::{Vec2, Vec3};
use headbutt::{Support, query};

/// Cases per regime.
const CASES: usize = 200;

/// How much work a kind of query was.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    queries: usize,
    sum: usize,
    worst: usize,
    /// The number of the case that it was.
    worst_case: usize,
    beyond: usize,
    /// Queries without any support point: those that have a closed form.
    closed: usize,
}

impl Work {
    fn add(&mut self, number: usize, calls: usize) {
        self.queries += 1;
        self.sum += calls;
        self.beyond += usize::from(calls >= MOST);
        self.closed += usize::from(calls == 0);
        if calls > self.worst {
            (self.worst, self.worst_case) = (calls, number);
        }
    }
}

/// So many support points no verdict and no distance may take: with them, GJK has reached its bound.
const MOST: usize = 64;

/// Support points of the pair that one query takes.
fn calls<V: Dimension>(
    case: &Adverse<V>,
    query: impl FnOnce(&dyn Support<Vector = V>, &dyn Support<Vector = V>),
) -> usize {
    let (a, b) = (case.a.support(), case.b.support());
    query(&a, &b);
    // Of a pair, both are asked each time.
    a.take_calls().max(b.take_calls())
}

/// The work of one kind of query, of polytopes (also with a radius) and of pairs with a smooth shape.
fn work<V: Dimension>(
    query: impl Fn(&Adverse<V>, &dyn Support<Vector = V>, &dyn Support<Vector = V>),
) -> [Work; 2] {
    let mut works = [Work::default(); 2];
    for number in 0..CASES * REGIMES.len() {
        let case = Adverse::<V>::numbered(number);
        let families = [&case.a, &case.b].map(|figure| figure.class.family());
        let smooth = usize::from(families.contains(&Family::Smooth));
        let calls = calls(&case, |a, b| query(&case, a, b));
        works[smooth].add(number, calls);
    }
    works
}

fn intersects<V: Dimension>() -> [Work; 2] {
    work::<V>(|case, a, b| {
        query::intersects(a, case.pose_a, b, case.pose_b);
    })
}

fn distance<V: Dimension>() -> [Work; 2] {
    work::<V>(|case, a, b| {
        query::distance(a, case.pose_a, b, case.pose_b);
    })
}

/// Holds the mean of all against a bar, and that of those alone which have no closed form.
fn keep_to(name: &str, works: &[Work], mean: f64, mean_of_general: f64) {
    let total = |count: fn(&Work) -> usize| works.iter().map(count).sum::<usize>() as f64;
    let sum = total(|work| work.sum);
    let found = sum / total(|work| work.queries);
    let general = sum / total(|work| work.queries - work.closed);
    println!("{name}: {found:.2} in the mean, {general:.2} without closed forms, {works:?}");
    assert!(found <= mean, "{name}: {found} support points in the mean");
    assert!(
        general <= mean_of_general,
        "{name}: {general} support points in the mean of those without a closed form"
    );
    for work in works {
        assert_eq!(
            work.beyond, 0,
            "{name}, the worst in case {}: {work:?}",
            work.worst_case
        );
    }
}

#[test]
fn an_intersection_test_takes_five_support_evaluations_on_average() {
    keep_to("plane", &intersects::<Vec2>(), 5.0, 5.0);
    keep_to("space", &intersects::<Vec3>(), 5.0, 5.0);
}

#[test]
fn a_distance_takes_eight_support_evaluations_and_twelve_of_smooth_shapes() {
    let [polytopes, smooth] = distance::<Vec2>();
    keep_to("polytopes in the plane", &[polytopes], 8.0, 8.0);
    keep_to("smooth shapes in the plane", &[smooth], 12.0, 12.0);
    let [polytopes, smooth] = distance::<Vec3>();
    keep_to("polytopes in space", &[polytopes], 8.0, 8.0);
    keep_to("smooth shapes in space", &[smooth], 12.0, 12.0);
}

fn allocates_nothing<V: Dimension>() {
    for number in 0..CASES * REGIMES.len() {
        let case = Adverse::<V>::numbered(number);
        let (a, b) = (case.a.support(), case.b.support());
        let (pose_a, pose_b) = (case.pose_a, case.pose_b);
        let queries: [(&str, &dyn Fn()); 5] = [
            ("intersects", &|| {
                let _ = query::intersects(&a, pose_a, &b, pose_b);
            }),
            ("distance", &|| {
                let _ = query::distance(&a, pose_a, &b, pose_b);
            }),
            ("contact", &|| {
                let _ = query::contact(&a, pose_a, &b, pose_b);
            }),
            ("manifold", &|| {
                let _ = query::manifold(&a, pose_a, &b, pose_b);
            }),
            ("test", &|| {
                let hit = query::test(&a, pose_a, &b, pose_b);
                let _ = hit.map(query::Hit::contact);
            }),
        ];
        for (name, query) in queries {
            a.take_calls();
            b.take_calls();
            let counted = allocation_counter::measure(query);
            assert_eq!(counted.count_total, 0, "{name} in case {number}: {case:?}");
        }
    }
}

#[test]
fn no_query_allocates_in_2d() {
    allocates_nothing::<Vec2>();
}

#[test]
fn no_query_allocates_in_3d() {
    allocates_nothing::<Vec3>();
}

#[test]
fn the_allocation_counter_counts() {
    let counted = allocation_counter::measure(|| drop(black_box(vec![0])));
    assert_eq!(counted.count_total, 1);
}
