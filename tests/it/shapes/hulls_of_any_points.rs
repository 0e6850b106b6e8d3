//! Compares convex hulls of random points with the greatest height of all points. The sets have
//! copies, near copies and both zeros, and may be flat, thin, tiny, huge or far away.

#[path = "../../support/points.rs"]
mod points;

use std::collections::HashSet;

use bevy::math::{DVec3, Vec2, Vec3};
use headbutt::{ConvexHull, Space};
use points::{points_of_kind, random_point};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The tolerance of a hull: the rounding of f32 coordinates, twice for flat points. The tolerance
/// is relative to the greatest distance from one of the points, which is at least half of the
/// hull's length.
const ROUNDING: f64 = 4.0 * f32::EPSILON as f64;

/// Asserts that a hull has some of the given points in their order, and no point twice. In every
/// direction, the hull must have the greatest height of all points.
fn assert_is_hull<V: Space>(
    name: &str,
    given: &[V],
    wide: impl Fn(&V) -> DVec3,
    random: &mut StdRng,
) {
    let hull = ConvexHull::new(given.iter().copied()).expect("finite points");
    let mut rest = given.iter();
    assert!(
        hull.points()
            .iter()
            .all(|kept| rest.any(|point| point == kept)),
        "{name}"
    );
    let key = |point: &V| (wide(point) + DVec3::ZERO).to_array().map(f64::to_bits);
    let distinct: HashSet<_> = hull.points().iter().map(key).collect();
    assert_eq!(distinct.len(), hull.points().len(), "{name}: a point twice");

    let origin = wide(&given[0]);
    let [all, kept] = [given, hull.points()]
        .map(|points| -> Vec<DVec3> { points.iter().map(|point| wide(point) - origin).collect() });
    let length = all.iter().map(|point| point.length()).fold(0.0, f64::max);
    for step in 0..30 {
        let one = |random: &mut StdRng| all[random.random_range(0..all.len())];
        let (a, b, c) = (one(random), one(random), one(random));
        let direction = match step % 3 {
            0 => random_point(random).as_dvec3(),
            // These directions are normal to a face, and to an edge.
            1 => ((b - a) / length).cross((c - a) / length),
            _ => ((b - a) / length).cross(random_point(random).as_dvec3()),
        };
        let Some(direction) = direction.try_normalize() else {
            continue;
        };
        let height = |points: &[DVec3]| {
            let heights = points.iter().map(|point| point.dot(direction));
            heights.fold(f64::NEG_INFINITY, f64::max)
        };
        let missing = height(&all) - height(&kept);
        assert!(
            missing <= ROUNDING * length,
            "{name}: {missing:e} of {length:e} along {direction}"
        );
    }
}

#[test]
fn a_hull_of_any_points_is_as_high_as_the_points() {
    let mut random = StdRng::seed_from_u64(1);
    for kind in 0..20_000 {
        let points = points_of_kind(kind, &mut random);
        assert_is_hull(
            &format!("3D {kind}"),
            &points,
            |point| point.as_dvec3(),
            &mut random,
        );
        let flat: Vec<Vec2> = points.iter().map(|point| point.truncate()).collect();
        let widen = |point: &Vec2| point.extend(0.0).as_dvec3();
        assert_is_hull(&format!("2D {kind}"), &flat, widen, &mut random);
    }
}

/// There are more than 65,536 distinct points, and most points are inside of the hull.
#[test]
fn a_scan_of_many_points_has_a_hull() {
    let mut random = StdRng::seed_from_u64(2);
    let count = 129_898;
    let scan = (0..count).map(|index| {
        let z = 1.0 - (2 * index + 1) as f32 / count as f32;
        let (sine, cosine) = (index as f32 * 2.399_963_2).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        let place = Vec3::new(radius * cosine, radius * sine, z);
        place * (1.0 + 0.1 * (9.0 * place.x).sin() * (7.0 * place.y).cos())
    });
    let points: Vec<Vec3> = scan.collect();
    assert_is_hull("scan", &points, |point| point.as_dvec3(), &mut random);
}
