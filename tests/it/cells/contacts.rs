//! Contacts of balls that overlap or touch a union.

use bevy::prelude::*;
use headbutt::{ConvexHull, prelude::*};
use rand::Rng;

use super::{
    ball, for_cases, in_f64,
    oracle::{self, add, scale, sub},
    random_point, random_union, rounded,
};

#[test]
fn the_contact_of_a_ball_is_that_of_the_closest_point_of_the_union() {
    for_cases(400, |rng, dimension, number| {
        let union = random_union(rng, dimension, true);
        let level = union.collider();
        for trial in 0..4 {
            let context = format!("case {number}, {dimension}D, ball {trial}");
            let radius = rng.random_range(0.05..1.5) * union.size as f32;
            let shape = ball(dimension, radius);
            let (position, center) = rounded(random_point(rng, &union));
            let contact = query::contact(&level, Vec3::ZERO, &shape, position);
            let touches = query::intersects(&level, Vec3::ZERO, &shape, position);
            assert_eq!(contact.is_some(), touches, "{context}");
            let gap = query::distance(&level, Vec3::ZERO, &shape, position).distance;
            assert_eq!(gap == 0.0, touches, "{context}");
            let flipped = query::contact(&shape, position, &level, Vec3::ZERO);
            let normals = [contact, flipped].map(|it| it.map(|it| it.normal));
            assert_eq!(normals[0], normals[1].map(|it| -it), "{context}");
            let is_inside = union.is_inside(center);
            if is_inside == Some(true) {
                let contact = contact.expect(&context);
                assert!(contact.depth > 0.0, "{context}: {contact:?}");
                continue;
            }
            let (distance, nearest) = union.nearest(center);
            let (radius, tolerance) = (f64::from(radius), 1e-5 * union.size);
            if distance < 10.0 * tolerance || (distance - radius).abs() < tolerance {
                continue;
            }
            assert_eq!(touches, distance < radius, "{context}: {distance} {radius}");
            let Some(contact) = contact else {
                let error = (f64::from(gap) - (distance - radius)).abs();
                assert!(error <= tolerance, "{context}: {error}");
                continue;
            };
            let error = (f64::from(contact.depth) - (radius - distance)).abs();
            assert!(
                error <= tolerance,
                "{context}: depth {}, distance {distance}",
                contact.depth
            );
            let normal = scale(sub(center, nearest), 1.0 / distance);
            if oracle::dot(normal, in_f64(contact.normal)) < 1.0 - 1e-6 {
                // Another point must be as near.
                let foot = add(center, scale(in_f64(contact.normal), -distance));
                let (left, _) = union.nearest(foot);
                assert!(
                    left <= 4.0 * tolerance,
                    "{context}: {:?}, not {normal:?}",
                    contact.normal
                );
            }
        }
    });
}

#[test]
fn points_are_inside_where_the_oracle_says() {
    for_cases(300, |rng, dimension, number| {
        let union = random_union(rng, dimension, true);
        let level = union.collider();
        for _ in 0..16 {
            let (position, point) = rounded(random_point(rng, &union));
            let contains = if dimension == 2 {
                level.contains_point(Vec2::ZERO, position.truncate())
            } else {
                level.contains_point(Vec3::ZERO, position)
            };
            if let Some(is_inside) = union.is_inside(point) {
                assert_eq!(
                    contains, is_inside,
                    "case {number}, {dimension}D: {point:?}"
                );
            }
            let closest = if dimension == 2 {
                let closest = level.closest_point(Vec2::ZERO, position.truncate());
                closest.map(|it| it.extend(0.0))
            } else {
                level.closest_point(Vec3::ZERO, position)
            };
            let (distance, _) = union.nearest(point);
            let found = oracle::length(sub(in_f64(closest.unwrap()), point));
            let error = (found - distance).abs();
            assert!(
                error <= 1e-5 * union.size,
                "case {number}, {dimension}D: {error}"
            );
        }
    });
}

/// One of the points is inside the lower face of the shape, near an edge of this face.
#[test]
fn a_point_inside_a_face_of_a_shape_leaves_no_hole() {
    let shape = ConvexHull::new([
        Vec3::new(-4.0, 6.0, -8.0),
        Vec3::new(8.0, -1.764829, 8.0),
        Vec3::new(-8.0, -8.0, -8.0),
        Vec3::new(-2.6666667, 8.0, -8.0),
        Vec3::new(8.0, 8.0, -2.6666667),
        Vec3::new(8.0, -8.0, 8.0),
        Vec3::new(-8.0, 4.0, -8.0),
    ]);
    let mut grid = CellGrid::with_shapes(Vec3::splat(16.0), [shape.unwrap()]).unwrap();
    grid.set(IVec3::ZERO, Cell::shape(0));
    // The nearest point is (3.1, 14, 0), between the edge and the point inside.
    let (cells, at) = (Collider::cells(&grid), Vec3::new(3.1, 14.0, -3.0));
    let gap = query::distance(&cells, Vec3::ZERO, &Collider::sphere(1.0), at).distance;
    assert!((gap - 2.0).abs() < 1e-5, "{gap}");
}

/// The coordinate along the short sides of the cells is large, and the coordinate along the long
/// sides is not.
#[test]
fn a_ball_beside_flat_cells_touches_nothing() {
    let mut grid = CellGrid::new(Vec2::new(100.0, 0.1));
    grid.fill(IVec2::ZERO, IVec2::new(0, 9999), Cell::SOLID)
        .unwrap();
    let (wall, ball) = (Collider::cells(&grid), Collider::circle(0.05));
    let position = Vec2::new(100.1, 999.0);
    assert!(!query::intersects(&wall, Vec2::ZERO, &ball, position));
    let gap = query::distance(&wall, Vec2::ZERO, &ball, position).distance;
    assert!((gap - 0.05).abs() < 1e-5, "{gap}");
}
