//! The shortest way out of a union, for bodies whose centers are inside.

use bevy::prelude::*;
use headbutt::{ConvexHull, prelude::*};
use rand::Rng;

use super::{
    ball, for_cases, in_f64,
    oracle::{self, Union, add, scale},
    random_direction, random_point, random_union, rounded,
};
use crate::surface_laws::ask::{Question, ask, ask_and_count};

/// Returns the push-out of a body by a tick.
pub fn push_out(union: &Union, shape: &Collider, position: Vec3) -> Vec3 {
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
            // The way out of joined parts of any shape may be longer than the shortest way.
            let is_short =
                !(union.is_compound && union.has_shapes()) && at < 0.95 * length - tolerance;
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

/// Returns a wall from x = 0 to 1, and from y = 0 to 6.
fn wall() -> Collider {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::ZERO, IVec2::new(0, 5), Cell::SOLID)
        .unwrap();
    Collider::cells(&grid)
}

/// Returns two bars along y, whose middles are this far to the left and to the right.
fn bars(left: f32, right: f32) -> Collider {
    let bar = Collider::rectangle(1.0, 4.0);
    Collider::compound([(-left, bar.clone()), (right, bar)].map(|(x, it)| (Vec2::X * x, it)))
}

#[test]
fn a_compound_whose_own_center_is_in_a_wall_leaves_the_wall() {
    // The left bar is 0.1 in the wall, and the right bar is beside the wall.
    let shape = bars(0.9, 1.3);
    let at = Vec3::new(0.5, 3.0, 0.0);
    let contact = query::contact(&wall(), Vec3::ZERO, &shape, at).unwrap();
    assert!(contact.normal.distance(Vec3::NEG_X) < 1e-6, "{contact:?}");
    assert!((contact.depth - 0.1).abs() < 1e-6, "{contact:?}");
    assert!(query::intersects(&wall(), Vec3::ZERO, &shape, at));
    let left = at - Vec3::X * 0.1;
    let touch = query::contact(&wall(), Vec3::ZERO, &shape, left).unwrap();
    assert!(touch.normal.distance(Vec3::NEG_X) < 1e-6, "{touch:?}");
    assert!(touch.depth < 1e-6, "{touch:?}");
    // Between both bars, the wall touches nothing.
    let free = at - Vec3::X * 0.2;
    assert_eq!(query::contact(&wall(), Vec3::ZERO, &shape, free), None);
    assert!(!query::intersects(&wall(), Vec3::ZERO, &shape, free));
    let gap = query::distance(&wall(), Vec3::ZERO, &shape, free).distance;
    assert!((gap - 0.1).abs() < 1e-6, "{gap}");
    for (motion, hit_at) in [(Vec3::X, 0.1), (Vec3::NEG_X, 0.1)] {
        let options = query::CastOptions::default();
        let wall = wall();
        let cast = query::cast_shape(&wall, Vec3::ZERO, Vec3::ZERO, &shape, free, motion, options);
        assert!((cast.unwrap().touching - hit_at).abs() < 1e-5, "{cast:?}");
    }
}

#[test]
fn a_compound_around_a_corner_touches_the_face_beside_its_part() {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(-9, -9), IVec2::new(-1, -1), Cell::SOLID)
        .unwrap();
    let block = Collider::cells(&grid);
    // The upper part overlaps the top of the block. Its center is above, but the center of the
    // compound is below the plane of the top.
    let upper = (Vec2::new(-1.0, 0.4), Collider::rectangle(2.0, 1.0));
    let lower = (Vec2::new(1.0, -3.0), Collider::rectangle(1.0, 6.0));
    let hook = Collider::compound([upper, lower]);
    let contact = query::contact(&block, Vec3::ZERO, &hook, Vec3::ZERO).unwrap();
    assert!(contact.normal.distance(Vec3::Y) < 1e-6, "{contact:?}");
    assert!((contact.depth - 0.1).abs() < 1e-6, "{contact:?}");
}

#[test]
fn a_compound_deep_inside_leaves_by_the_face_nearest_to_its_deepest_part() {
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(-60, -60), IVec2::new(59, -1), Cell::SOLID)
        .unwrap();
    let ground = Collider::cells(&grid);
    let ball = |y: f32, radius: f32| (Vec2::Y * y, Collider::circle(radius));
    // The center of the large ball is above the ground, and so is the center of the compound.
    let shape = Collider::compound([ball(0.0, 0.5), ball(40.0, 4.0)]);
    let at = Vec3::new(0.3, -29.0, 0.0);
    let contact = query::contact(&ground, Vec3::ZERO, &shape, at).unwrap();
    assert!(contact.normal.distance(Vec3::Y) < 1e-6, "{contact:?}");
    assert!((contact.depth - 29.5).abs() < 1e-4, "{contact:?}");
}

#[test]
fn no_body_is_between_a_face_and_the_inside() {
    let size = 0.1_f32;
    for count in 1..200 {
        let exact = f64::from(size) * f64::from(count);
        let face = exact as f32;
        let mut grid = CellGrid::new(Vec2::splat(size));
        grid.fill(IVec2::ZERO, IVec2::new(count - 1, 9), Cell::SOLID)
            .unwrap();
        let block = Collider::cells(&grid);
        // In the frame of the block, the ball is between the face and the side of the last cell.
        let shift = ((f64::from(face) - exact) / 2.0) as f32;
        let ball = Collider::circle(0.01);
        let at = Vec3::new(face, 0.55, 0.0);
        let contact = query::contact(&block, Vec3::X * shift, &ball, at).unwrap();
        assert!(
            contact.normal.distance(Vec3::X) < 1e-5,
            "{count}: {contact:?}"
        );
        assert!((contact.depth - 0.01).abs() < 1e-5, "{count}: {contact:?}");
    }
}

#[test]
fn the_margin_of_a_mesh_inside_counts_once() {
    let ground = {
        let mut grid = CellGrid::new(Vec2::ONE);
        grid.fill(IVec2::new(-20, -20), IVec2::new(19, -1), Cell::SOLID)
            .unwrap();
        Collider::cells(&grid)
    };
    let corners = [
        Vec2::new(-0.5, -0.5),
        Vec2::new(0.5, -0.5),
        Vec2::new(0.5, 0.5),
        Vec2::new(-0.5, 0.5),
        Vec2::new(-0.5, -0.5),
    ];
    let mesh = Collider::polyline(corners).rounded(0.25);
    let contact = query::contact(&ground, Vec3::ZERO, &mesh, Vec3::new(0.0, -3.0, 0.0));
    let depth = contact.unwrap().depth;
    assert!((depth - 3.75).abs() < 1e-5, "{depth}");
}

#[test]
fn the_search_for_a_way_out_ends_soon() {
    // The cells alternate between slopes, so each cell is a piece of its own.
    let mut grid = CellGrid::new(Vec2::ONE);
    for (x, y) in (-20..20).flat_map(|x| (-20..20).map(move |y| (x, y))) {
        let cell = if (x + y) % 2 == 0 {
            Cell::slope(7, 8)
        } else {
            Cell::slope(8, 7).hanging()
        };
        grid.set(IVec2::new(x, y), cell);
    }
    let parts = (0..16).map(|number| {
        let at = Vec2::new((number % 4) as f32, (number / 4) as f32) * 2.5;
        (at, Collider::capsule_2d(0.4, 1.0))
    });
    let question = Question {
        surface: Collider::cells(&grid),
        place: [Transform::IDENTITY; 2],
        shape: Collider::compound(parts),
        pose: Transform::from_xyz(-4.0, -4.0, 0.0),
    };
    let (answers, supports) = ask_and_count(&[question]);
    assert!(answers[0].event.is_some());
    assert!(supports < 500_000, "{supports}");
}

/// The shortest way out of the octahedron leads past two edges, along (1, 1, 0).
#[test]
fn a_box_leaves_a_shape_past_its_edge() {
    let tips = [Vec3::X, Vec3::Y, Vec3::Z].into_iter();
    let octahedron = ConvexHull::new(tips.flat_map(|axis| [0.5 * axis, -0.5 * axis])).unwrap();
    let mut grid = CellGrid::with_shapes(Vec3::ONE, [octahedron]).unwrap();
    grid.set(IVec3::ZERO, Cell::shape(0));
    let gem = Collider::cells(&grid);
    let offset = Vec3::new(0.002, 0.001, 0.0005);
    let shape = Collider::cuboid(0.6, 0.6, 0.6);
    let at = Vec3::splat(0.5) + offset;
    let contact = query::contact(&gem, Vec3::ZERO, &shape, at).unwrap();
    let normal = Vec3::new(1.0, 1.0, 0.0).normalize();
    let depth = normal.dot(0.5 * Vec3::X) + normal.dot(Vec3::splat(0.3)) - normal.dot(offset);
    assert!((contact.depth - depth).abs() < 1e-4, "{contact:?}, {depth}");
    assert!(contact.normal.distance(normal) < 1e-3, "{contact:?}");
}
