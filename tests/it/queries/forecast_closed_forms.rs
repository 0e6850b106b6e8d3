//! `query::forecast` on cases with a closed form, and on invalid input.

use bevy::{
    math::{DVec3, Vec2, Vec3},
    prelude::*,
};
use headbutt::query::{self, Forecast};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// Returns an interval of x as a tall rectangle.
fn interval(from: f32, to: f32) -> (Rectangle, Vec2) {
    let middle = Vec2::X * (0.5 * (from + to));
    (Rectangle::new(to - from, 1000.0), middle)
}

fn forecast_of_intervals(a: [f32; 2], b: [f32; 2], translation: f32) -> Forecast<Vec2> {
    let [(a, pose_a), (b, pose_b)] = [a, b].map(|[from, to]| interval(from, to));
    query::forecast(&a, pose_a, &b, pose_b, Vec2::X * translation)
}

#[test]
fn a_long_body_at_rest_leaves_on_the_nearer_side() {
    let forecast = forecast_of_intervals([0.0, 10.0], [4.0, 5.0], 0.0);
    assert!(forecast.intersects && forecast.will_intersect);
    assert_eq!(forecast.minimum_translation, Vec2::X * 5.0);
}

#[test]
fn a_fast_body_ends_in_front_of_a_thin_wall() {
    let forecast = forecast_of_intervals([0.0, 1.0], [3.0, 3.1], 10.0);
    assert!(!forecast.intersects && forecast.will_intersect);
    let end = 10.0 + forecast.minimum_translation.x;
    assert!((end - 2.0).abs() < 1e-6, "{forecast:?}");
    assert_eq!(forecast.minimum_translation.y, 0.0);
}

#[test]
fn an_overlap_that_ends_needs_no_translation() {
    let forecast = forecast_of_intervals([0.0, 1.0], [0.5, 2.0], -3.0);
    assert!(forecast.intersects && forecast.will_intersect);
    assert_eq!(forecast.minimum_translation, Vec2::ZERO);
}

#[test]
fn a_body_on_a_thin_floor_stays_on_it_in_every_tick() {
    let (body, floor) = (Cuboid::new(0.3, 0.7, 0.3), Cuboid::new(50.0, 0.01, 50.0));
    let mut position = Vec3::new(-20.0, 0.355, 0.1);
    for tick in 0..1000 {
        let translation = Vec3::new(0.03, -0.4, 0.0);
        let forecast = query::forecast(&body, position, &floor, Vec3::ZERO, translation);
        let end = position + translation + forecast.minimum_translation;
        assert!(forecast.will_intersect, "{tick}: {forecast:?}");
        assert!((end.y - 0.355).abs() < 2e-6, "{tick}: {end}");
        // The motion along the floor is kept.
        assert!((end.x - position.x - 0.03).abs() < 2e-6, "{tick}: {end}");
        position = end;
    }
}

#[test]
fn a_touch_that_ends_or_goes_on_along_the_surface_is_no_hit() {
    let (body, floor) = (Circle::new(1.0), Rectangle::new(20.0, 2.0));
    for translation in [Vec2::Y, Vec2::X, Vec2::ZERO, Vec2::new(-3.0, 0.5)] {
        let forecast = query::forecast(&body, Vec2::Y * 2.0, &floor, Vec2::ZERO, translation);
        assert!(
            forecast.intersects && !forecast.will_intersect,
            "{translation}"
        );
        assert_eq!(forecast.minimum_translation, Vec2::ZERO);
    }
}

#[test]
fn balls_leave_along_the_normal_or_a_tangent_in_closed_form() {
    let random = &mut StdRng::seed_from_u64(19);
    for number in 0..1000 {
        let radius: f32 = random.random_range(0.1..1.0);
        let center = Vec3::X * random.random_range(1.1..4.0);
        // The motion passes far from the center, near it, or exactly through it.
        let aside = match number % 8 {
            0 => 0.0,
            part => random.random_range(-0.5..0.5) * radius * 10_f32.powi(1 - part),
        };
        let translation = (center + Vec3::Y * aside) * random.random_range(0.5..3.0);
        // O is a ball of this radius. The translation leads to the ball's surface if the normal
        // there separates the shapes at the start, and otherwise to the cone of tangents.
        let (r, c) = (f64::from(radius), f64::from(center.x));
        let (x, y) = (f64::from(translation.x), f64::from(translation.y).abs());
        let beyond = DVec3::new(x - c, y, 0.0);
        let sine = r / c;
        let expected = if beyond.x <= -sine * beyond.length() {
            r - beyond.length()
        } else {
            x * sine - y * (1.0 - sine * sine).sqrt()
        };
        let (half, whole) = (Sphere::new(0.5 * radius), Sphere::new(radius));
        // A point is a ball only as a primitive. The solver treats a slice like any other shape.
        let forecasts = [
            query::forecast(&half, Vec3::ZERO, &half, center, translation),
            query::forecast(&[Vec3::ZERO], Vec3::ZERO, &whole, center, translation),
        ];
        for forecast in forecasts {
            let expected = if forecast.will_intersect {
                expected
            } else {
                0.0
            };
            let error = f64::from(forecast.minimum_translation.length()) - expected;
            assert!(
                error.abs() < 1e-6 * (x + r),
                "{number}: {forecast:?} for {expected}"
            );
        }
    }
}

#[test]
fn a_half_space_pushes_along_its_normal() {
    let (ball, ground) = (Sphere::new(1.0), InfinitePlane3d::new(Vec3::Y));
    let translation = Vec3::new(5.0, -3.0, 0.0);
    for (height, expected) in [(2.0, 2.0), (1.0, 3.0), (0.5, 3.5), (7.0, 0.0)] {
        let at = Vec3::new(1.0, height, 0.0);
        let forecast = query::forecast(&ball, at, &ground, Vec3::ZERO, translation);
        assert_eq!(forecast.intersects, height <= 1.0);
        assert_eq!(forecast.will_intersect, expected > 0.0);
        let error = forecast.minimum_translation - Vec3::Y * expected;
        assert!(error.length() < 1e-6, "{height}: {forecast:?}");
        let mirrored = query::forecast(&ground, Vec3::ZERO, &ball, at, -translation);
        assert_eq!(mirrored.minimum_translation, -forecast.minimum_translation);
    }
}

#[test]
fn invalid_input_has_no_hit() {
    let (ball, at) = (Sphere::new(1.0), Vec3::X * 3.0);
    let nan = Vec3::Y * f32::NAN;
    let none = Forecast::default();
    assert_eq!(query::forecast(&ball, Vec3::ZERO, &ball, at, nan), none);
    assert_eq!(query::forecast(&ball, nan, &ball, at, at), none);
    assert_eq!(
        query::forecast(&ball, Vec3::ZERO, &Sphere::new(-1.0), at, at),
        none
    );
    assert_eq!(query::forecast(&ball, Vec3::ZERO, &[nan], at, at), none);
    let planes = [InfinitePlane3d::new(Vec3::Y); 2];
    assert_eq!(
        query::forecast(&planes[0], Vec3::ZERO, &planes[1], at, at),
        none
    );
}
