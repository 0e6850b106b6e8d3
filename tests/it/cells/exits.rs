//! The shortest way out of a union, for bodies whose centers are inside.

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::Rng;

use super::{
    ball, for_cases, in_f64,
    oracle::{self, Union, add, scale},
    random_direction, random_point, random_union, rounded,
};
use crate::surface_laws::ask::{Question, ask};

/// Returns the push-out of a body by a tick.
fn push_out(union: &Union, shape: &Collider, position: Vec3) -> Vec3 {
    let question = Question {
        surface: union.collider(),
        place: [Transform::IDENTITY; 2],
        shape: shape.clone(),
        pose: Transform::from_translation(position),
    };
    let answer = ask(&[question]).remove(0);
    assert!(answer.event.is_some(), "a body inside touches");
    answer.push_out
}

#[test]
fn a_box_inside_leaves_by_the_shortest_way() {
    for_cases(40, |rng, dimension, number| {
        let union = random_union(rng, dimension, false);
        let (position, center) = rounded(random_point(rng, &union));
        if union.is_inside(center) != Some(true) {
            return;
        }
        let half = rng.random_range(0.1..1.2) * union.size as f32;
        let shape = if dimension == 2 {
            Collider::rectangle(2.0 * half, 2.0 * half)
        } else {
            Collider::cuboid(2.0 * half, 2.0 * half, 2.0 * half)
        };
        let context = format!("case {number}, {dimension}D");
        let pushed = push_out(&union, &shape, position);
        let tolerance = 1e-4 * union.size;
        let shortest = union.shortest_box_exit(center, f64::from(half));
        let length = oracle::length(in_f64(pushed));
        assert!(
            (length - shortest).abs() <= tolerance,
            "{context}: {length}, not {shortest}"
        );
        let moved = add(center, in_f64(pushed));
        let left = union.shortest_box_exit(moved, f64::from(half));
        assert!(left <= tolerance, "{context}: {left} is left");
    });
}

#[test]
fn a_ball_inside_leaves_by_a_short_way() {
    for_cases(60, |rng, dimension, number| {
        let union = random_union(rng, dimension, true);
        let (position, center) = rounded(random_point(rng, &union));
        if union.is_inside(center) != Some(true) {
            return;
        }
        let radius = rng.random_range(0.1..0.8) * union.size as f32;
        let shape = ball(dimension, radius);
        let context = format!("case {number}, {dimension}D");
        let pushed = push_out(&union, &shape, position);
        let (radius, tolerance) = (f64::from(radius), 1e-3 * union.size);
        let moved = add(center, in_f64(pushed));
        let (distance, _) = union.nearest(moved);
        assert!(
            distance >= radius - tolerance,
            "{context}: {distance} is left of {radius}"
        );
        // No sampled direction leads out on a shorter way.
        let length = oracle::length(in_f64(pushed));
        for _ in 0..200 {
            let direction = random_direction(rng, dimension);
            let at = rng.random_range(0.0..0.99) * length;
            let (distance, _) = union.nearest(add(center, scale(direction, at)));
            let is_short = at < 0.95 * length - tolerance;
            assert!(
                distance < radius || !is_short,
                "{context}: {at} instead of {length}"
            );
        }
    });
}

#[test]
fn a_body_deep_inside_leaves_by_the_nearest_face() {
    let mut grid = CellGrid::new(Vec3::ONE);
    grid.fill(
        IVec3::new(-20, -20, -20),
        IVec3::new(19, -1, 19),
        Cell::SOLID,
    )
    .unwrap();
    let ground = Collider::cells(&grid);
    for (shape, half) in [
        (Collider::sphere(0.5), 0.5),
        (Collider::capsule_3d(0.25, 1.5), 1.0),
        (Collider::cuboid(0.5, 0.5, 0.5), 0.25),
    ] {
        for depth in [0.1, 1.0, 7.5] {
            let at = Vec3::new(0.3, -depth, 0.2);
            let contact = query::contact(&ground, Vec3::ZERO, &shape, at).unwrap();
            assert!(contact.normal.distance(Vec3::Y) < 1e-6, "{contact:?}");
            assert!((contact.depth - depth - half).abs() < 1e-5, "{contact:?}");
            let manifold = query::manifold(&ground, Vec3::ZERO, &shape, at).unwrap();
            assert!(!manifold.points().is_empty());
        }
    }
}

#[test]
fn a_body_beyond_the_reach_of_the_search_leaves_by_the_nearest_face() {
    let mut grid = CellGrid::new(Vec2::ONE);
    let (min, max) = (IVec2::new(-60, -60), IVec2::new(59, -1));
    grid.fill(min, max, Cell::SOLID).unwrap();
    let ground = Collider::cells(&grid);
    for depth in [23.0, 25.0, 29.0] {
        let at = Vec3::new(0.3, -depth, 0.0);
        let ball = Collider::circle(0.5);
        let contact = query::contact(&ground, Vec3::ZERO, &ball, at).unwrap();
        assert!(contact.normal.distance(Vec3::Y) < 1e-6, "{contact:?}");
        assert!((contact.depth - depth - 0.5).abs() < 1e-4, "{contact:?}");
    }
}

#[test]
fn a_body_in_a_scaled_and_turned_union_leaves_along_its_faces() {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(-9, -9), IVec2::new(8, -1), Cell::SOLID)
        .unwrap();
    let ground = Collider::cells(&grid);
    let rotation = Quat::from_rotation_z(0.7);
    let scale = Vec3::new(3.0, 2.0, 1.0);
    let pose = Transform::from_xyz(5.0, -2.0, 0.0)
        .with_rotation(rotation)
        .with_scale(scale);
    let ball = Collider::circle(0.5);
    for depth in [-0.2, 0.1, 3.0] {
        let at = pose.transform_point(Vec3::new(0.4, -depth / 2.0, 0.0));
        let contact = query::contact(&ground, pose, &ball, at).unwrap();
        assert!(
            contact.normal.distance(rotation * Vec3::Y) < 1e-5,
            "{contact:?}"
        );
        assert!((contact.depth - depth - 0.5).abs() < 1e-5, "{contact:?}");
    }
}
