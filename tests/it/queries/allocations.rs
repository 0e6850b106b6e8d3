//! No query allocates in any of the hard cases.

use std::hint::black_box;

use crate::oracle::{
    adversity::{Adverse, REGIMES},
    cases::Dimension,
};
use bevy::math::{Vec2, Vec3};
use headbutt::query;

/// The number of cases per regime.
const CASES: usize = 200;

fn allocates_nothing<V: Dimension>() {
    for number in 0..CASES * REGIMES.len() {
        let case = Adverse::<V>::numbered(number);
        let (a, b) = (case.a.support(), case.b.support());
        let (pose_a, pose_b) = (case.pose_a, case.pose_b);
        let toward = V::of((V::map(pose_b).1 - V::map(pose_a).1).as_vec3() * 2.0);
        let queries: [(&str, &dyn Fn()); 6] = [
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
            ("forecast", &|| {
                let _ = query::forecast(&a, pose_a, &b, pose_b, toward);
            }),
            ("test", &|| {
                let hit = query::touch(&a, pose_a, &b, pose_b);
                let _ = hit.map(query::Touch::contact);
            }),
        ];
        for (name, query) in queries {
            a.take_evaluations();
            b.take_evaluations();
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
