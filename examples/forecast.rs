//! Two polygons: do they touch, will they hit, and which translation prevents the hit?
//!
//! ```text
//! cargo run --example forecast
//! ```
//!
//! A polygon moves toward another polygon. Before each step, `query::forecast` answers all three
//! questions. The example checks the answers, needs no app, and ends by itself.

use bevy::prelude::*;
use headbutt::query;

/// The corners of a quadrilateral and of a pentagon, from the article that `docs/QUERIES.md` names.
const MOVING: [Vec2; 4] = [
    Vec2::new(100.0, 0.0),
    Vec2::new(150.0, 50.0),
    Vec2::new(100.0, 150.0),
    Vec2::new(0.0, 100.0),
];
const RESTING: [Vec2; 5] = [
    Vec2::new(0.0, 50.0),
    Vec2::new(50.0, 0.0),
    Vec2::new(150.0, 80.0),
    Vec2::new(160.0, 200.0),
    Vec2::new(-10.0, 190.0),
];

fn main() {
    approach();
    long_body();
    thin_wall();
}

/// Moves the quadrilateral until it hits the pentagon and slides along it.
fn approach() {
    let (mut position, resting) = (Vec2::ZERO, Vec2::new(300.0, 100.0));
    let motion = Vec2::new(40.0, 15.0);
    let mut hits = 0;
    for step in 0..20 {
        let forecast = query::forecast(&MOVING, position, &RESTING, resting, motion);
        let translation = forecast.minimum_translation;
        println!(
            "step {step:>2}: now {:<5} soon {:<5} translation {translation}",
            forecast.intersects, forecast.will_intersect
        );
        assert_eq!(forecast.will_intersect, translation != Vec2::ZERO);
        hits += u32::from(forecast.will_intersect);
        position += motion + translation;
        // The polygons do not overlap. After a prevented hit, the polygons touch, up to the
        // rounding of the position.
        let contact = query::contact(&MOVING, position, &RESTING, resting);
        assert!(contact.is_none_or(|contact| contact.depth < 1e-3));
        let gap = query::distance(&MOVING, position, &RESTING, resting).distance;
        assert!(!forecast.will_intersect || gap < 1e-3, "{gap}");
    }
    assert!(hits > 0);
}

/// Returns a tall rectangle between two x coordinates, and its center.
fn column(from: f32, to: f32) -> (Rectangle, Vec2) {
    let middle = Vec2::new(0.5 * (from + to), 0.0);
    (Rectangle::new(to - from, 100.0), middle)
}

/// Checks that an overlapping body leaves on the nearer side.
fn long_body() {
    let ((a, at_a), (b, at_b)) = (column(0.0, 10.0), column(4.0, 5.0));
    let forecast = query::forecast(&a, at_a, &b, at_b, Vec2::ZERO);
    assert!(forecast.intersects && forecast.will_intersect);
    assert_eq!(forecast.minimum_translation, Vec2::X * 5.0);
}

/// Checks that a fast body stops in front of a thin wall, and not behind it.
fn thin_wall() {
    let ((a, at_a), (b, at_b)) = (column(0.0, 1.0), column(3.0, 3.1));
    let motion = Vec2::X * 10.0;
    let forecast = query::forecast(&a, at_a, &b, at_b, motion);
    assert!(!forecast.intersects && forecast.will_intersect);
    let end = at_a + motion + forecast.minimum_translation;
    assert!(end.distance(Vec2::X * 2.5) < 1e-5, "{end}");
}
