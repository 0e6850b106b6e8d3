//! Lengths and coordinates at the limits of `f32`: no number in a result is infinite or NaN.

use bevy::prelude::*;
use headbutt::query::{self, Ray};

const MAX: f32 = f32::MAX;

/// The end of the motion is 2 `MAX` below the plane.
#[test]
fn a_correction_beyond_f32_is_as_long_as_f32_allows() {
    let (ball, ground) = (Sphere::new(1.0), InfinitePlane3d::new(Vec3::Y));
    let down = Vec3::NEG_Y * MAX;
    let forecast = query::forecast(&ball, down, &ground, Vec3::ZERO, down);
    assert!(forecast.intersects && forecast.will_intersect);
    assert_eq!(forecast.minimum_translation, Vec3::Y * MAX);
}

/// Both boxes end at 2 `MAX`.
#[test]
fn the_points_of_a_contact_beyond_f32_are_finite() {
    let cube = Cuboid {
        half_size: Vec3::splat(MAX),
    };
    for at in [Vec3::splat(MAX), Vec3::splat(-MAX), Vec3::X * MAX] {
        let contact = query::contact(&cube, at, &cube, at).unwrap();
        assert_eq!(contact.depth, MAX);
        assert!(contact.normal.is_normalized());
        assert!(contact.point_a.is_finite() && contact.point_b.is_finite());
        let distance = query::distance(&cube, at, &cube, at);
        assert_eq!(distance.distance, 0.0);
        assert!(distance.point_a.is_finite() && distance.point_b.is_finite());
        let manifold = query::manifold(&cube, at, &cube, at).unwrap();
        assert_eq!(manifold.points().len(), 4);
        for point in manifold.points() {
            assert_eq!(point.depth, MAX);
            assert!(point.point_a.is_finite() && point.point_b.is_finite());
        }
    }
}

/// The far side of the ball is at 1.5 `MAX`.
#[test]
fn a_ray_that_leaves_a_shape_beyond_f32_hits_a_finite_point() {
    let (ball, at) = (Sphere::new(0.5 * MAX), Vec3::X * MAX);
    let hit = query::cast_ray(&ball, at, Ray::new(at, Vec3::X).hollow()).unwrap();
    assert_eq!(hit.distance, 0.5 * MAX);
    assert_eq!(hit.point, at);
}
