//! Lengths and coordinates at the limits of `f32`, and support functions that return NaN in some
//! directions: no number in a result is infinite or NaN.

use bevy::{math::DVec3, prelude::*};
use headbutt::{
    Support,
    query::{self, Ray},
};

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
    // Hits from within are rounded to the inside.
    assert!([MAX, MAX.next_down()].contains(&hit.point.x), "{hit:?}");
    assert_eq!(hit.point.yz(), Vec2::ZERO);
}

/// A cube from -0.5 to 0.5 whose support function returns NaN near a direction.
struct PartlyNan(DVec3);

impl Support for PartlyNan {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        if direction.normalize().dot(self.0) > 0.999 {
            DVec3::NAN
        } else {
            DVec3::splat(0.5).copysign(direction)
        }
    }
}

/// The depth of a ball in a cube along a unit vector n is h(n) - n·c + r. Here, h is the cube's
/// support function, and c and r are the ball's center and radius.
#[test]
fn a_shape_that_is_nan_in_some_directions_touches_along_another() {
    let ball = Sphere::new(0.1);
    let mut contacts = 0;
    for nan in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Z] {
        for at in [
            Vec3::new(0.3, 0.11, 0.07),
            Vec3::new(-0.3, 0.2, 0.1),
            Vec3::new(0.1, 0.4, 0.2),
            Vec3::new(0.05, 0.02, -0.35),
        ] {
            let shape = PartlyNan(nan);
            let contact = query::contact(&shape, Vec3::ZERO, &ball, at);
            assert_eq!(
                contact.is_some(),
                query::intersects(&shape, Vec3::ZERO, &ball, at)
            );
            let Some(contact) = contact else {
                continue;
            };
            contacts += 1;
            let normal = contact.normal.as_dvec3();
            assert!((normal.length() - 1.0).abs() < 1e-6, "{contact:?}");
            let expected = 0.5 * normal.abs().element_sum() - normal.dot(at.as_dvec3()) + 0.1;
            let error = (f64::from(contact.depth) - expected).abs();
            assert!(error < 1e-5, "{contact:?}: {expected}");
            assert!(contact.point_a.is_finite() && contact.point_b.is_finite());
        }
    }
    assert!(contacts >= 12, "{contacts} contacts");
}
