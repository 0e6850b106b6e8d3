//! Compounds that cannot be joined, and parts that need no joint.

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::vector;
use crate::support::cases::cases;

fn error(parts: impl IntoIterator<Item = Collider>) -> ShapeError {
    let parts = parts.into_iter().map(|part| (Vec3::ZERO, part));
    Collider::compound(parts).try_joined().unwrap_err()
}

#[test]
fn a_part_that_is_flat_or_curved_is_an_error() {
    let unit = Collider::cuboid(1.0, 1.0, 1.0);
    for part in [
        Collider::sphere(1.0),
        Collider::capsule_3d(0.5, 1.0),
        Collider::cylinder(0.5, 1.0),
        Collider::cuboid(1.0, 0.0, 1.0),
        Collider::cuboid(1.0, 1e-7, 1.0),
        Collider::triangle(Vec3::ZERO, Vec3::X, Vec3::Y),
        Collider::convex_hull([Vec3::ZERO, Vec3::X]),
        Extrusion::new(Circle::new(1.0), 1.0).into(),
    ] {
        assert_eq!(error([unit.clone(), part]), ShapeError::PartNotPolyhedral);
    }
    // Points on a sphere, all of which are vertices of their hull.
    let points = (0..1025).map(|index| {
        let (height, angle) = (index as f32 / 512.0 - 1.0, index as f32 * 2.4);
        let radius = (1.0 - height * height).sqrt();
        Vec3::new(radius * angle.cos(), height, radius * angle.sin())
    });
    let round = Collider::convex_hull(points);
    assert_eq!(
        error([unit.clone(), round]),
        ShapeError::TooManyPoints(1024)
    );
    let rounded = [0.1, 0.2].map(|margin| unit.clone().rounded(margin));
    assert_eq!(error(rounded), ShapeError::PartMargins);
    let rejected = Collider::compound([(Vec3::ZERO, Collider::sphere(-1.0))]);
    assert!(rejected.joined().is_inert());
    // The compound itself, with a curved part, stays valid.
    let ball = Collider::compound([(Vec3::ZERO, Collider::sphere(1.0))]);
    assert!(!ball.is_inert() && ball.joined().is_inert());
}

#[test]
fn other_colliders_are_unchanged() {
    let line = Collider::polyline([Vec2::X, Vec2::ZERO]);
    let compound = Collider::compound([(Vec2::ZERO, Collider::rectangle(1.0, 1.0))]).joined();
    for collider in [Collider::default(), Collider::circle(1.0), line, compound] {
        let joined = collider.clone().joined();
        assert_eq!(format!("{joined:?}"), format!("{collider:?}"));
    }
    assert_eq!(Collider::circle(1.0).joined_part(0), None);
}

#[test]
fn a_margin_is_around_the_union() {
    let block = Collider::rectangle(2.0, 2.0).rounded(0.5);
    let parts = [-1.0, 1.0].map(|x| (Vec2::new(x, -1.0), block.clone()));
    let floor = Collider::compound(parts).joined().rounded(0.25);
    let ball = Collider::circle(1.0);
    for x in [-1.5, -0.1, 0.0, 0.4] {
        let at = Vec2::new(x, 1.5);
        let contact = query::contact(&floor, Vec2::ZERO, &ball, at).unwrap();
        assert!(contact.normal.distance(Vec3::Y) < 1e-6, "{contact:?}");
        assert!((contact.depth - 0.25).abs() < 1e-6, "{contact:?}");
    }
}

/// Copies, touching faces and parts inside others leave no face twice, and no face inside.
#[test]
fn parts_that_repeat_or_contain_others_change_nothing() {
    let unit = Collider::cuboid(2.0, 2.0, 2.0);
    let small = Collider::cuboid(1.0, 1.0, 1.0);
    let inner = Vec3::new(0.5, 0.5, 0.0);
    let parts = [
        (Vec3::ZERO, unit.clone()),
        (Vec3::ZERO, unit),
        (inner, small),
    ];
    let joined = Collider::compound(parts).joined();
    let Some(headbutt::ShapeView::Surface(surface)) = joined.shape_3d() else {
        panic!("{joined:?}");
    };
    let area = |facet: &[u32]| {
        let [a, b, c] = [0, 1, 2].map(|index| surface.vertices()[facet[index] as usize]);
        (b - a).cross(c - a).length() / 2.0
    };
    let total: f32 = surface.facets().map(area).sum();
    assert!((total - 24.0).abs() < 1e-4, "{total}");
}

#[test]
fn no_input_panics() {
    for seed in cases("HEADBUTT_JOINED", 300) {
        let mut rng = StdRng::seed_from_u64(seed as u64);
        let scale = [1.0, 1e-30, 1e30, 1e37, 1e-42][rng.random_range(0..5)];
        let flat = 10.0_f32.powf(rng.random_range(-9.0..0.0));
        let part = |rng: &mut StdRng| {
            let count = rng.random_range(1..12);
            let points = (0..count).map(|_| {
                let point = vector(rng).as_vec3() * Vec3::new(1.0, 1.0, flat);
                // On a lattice, many points are in one plane.
                (point * 2.0).round() * scale + point * [0.0, scale][count % 2]
            });
            let hull = Collider::convex_hull(points.collect::<Vec<_>>());
            (
                Transform::from_translation(vector(rng).as_vec3().round() * scale),
                hull,
            )
        };
        let count = rng.random_range(0..5);
        let parts: Vec<_> = (0..count).map(|_| part(&mut rng)).collect();
        let joined = Collider::compound(parts.clone()).joined();
        let ball = Collider::sphere(scale);
        for (pose, _) in parts {
            let _ = query::contact(&joined, Vec3::ZERO, &ball, pose);
        }
    }
}
