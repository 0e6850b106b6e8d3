//! Tests which cells the contacts of a body name.

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::Rng;

use super::{
    for_cases, in_f64,
    oracle::{Point, Union, add},
    random_point, random_union, rounded,
};
use crate::surface_laws::ask::{Answer, Question, ask};

const SPIKES: u16 = 1;

fn answer(level: &Collider, shape: Collider, position: Vec3) -> Answer {
    let question = Question {
        surface: level.clone(),
        place: [Transform::IDENTITY; 2],
        shape,
        pose: Transform::from_translation(position),
    };
    ask(&[question]).remove(0)
}

/// Returns the axis of a normal that is parallel to an axis, and `true` if the normal points up the
/// axis.
fn side(normal: Point) -> Option<(usize, bool)> {
    let axis = (0..3).find(|axis| normal[*axis].abs() > 1.0 - 1e-9)?;
    Some((axis, normal[axis] > 0.0))
}

/// Returns the tiles with an exposed side in the plane of a tile's side, if a box overlaps the side
/// by more than `overlap` along each other axis.
fn tiles_in_plane(
    union: &Union,
    of: [i32; 3],
    (axis, is_up): (usize, bool),
    (center, half): (Point, f64),
    overlap: f64,
) -> Vec<[i32; 3]> {
    let tiles = || union.tiles.iter().map(|(at, _)| *at);
    let is_touched = |at: &[i32; 3]| {
        let mut front = *at;
        front[axis] += if is_up { 1 } else { -1 };
        let others = (0..union.dimension).filter(|other| *other != axis);
        let mut overlaps = others.map(|other| {
            let low = f64::from(at[other]) * union.size;
            let high = (low + union.size).min(center[other] + half);
            high - low.max(center[other] - half)
        });
        at[axis] == of[axis] && !tiles().any(|it| it == front) && overlaps.all(|it| it > overlap)
    };
    tiles().filter(is_touched).collect()
}

#[test]
fn each_touched_cell_in_the_plane_of_a_contact_has_a_contact() {
    for_cases(200, |rng, dimension, number| {
        let union = random_union(rng, dimension, false);
        let level = union.collider();
        let (position, center) = rounded(random_point(rng, &union));
        let half = rng.random_range(0.2..1.6) * union.size as f32;
        let shape = if dimension == 2 {
            Collider::rectangle(2.0 * half, 2.0 * half)
        } else {
            Collider::cuboid(2.0 * half, 2.0 * half, 2.0 * half)
        };
        let Some(is_inside) = union.is_inside(center) else {
            return;
        };
        let context = format!("case {number}, {dimension}D, inside: {is_inside}");
        let answer = answer(&level, shape, position);
        // A body inside also touches the faces at which it leaves.
        let moved = add(center, in_f64(answer.push_out));
        let half = f64::from(half);
        for part in &answer.parts {
            let Some(side) = side(in_f64(part.push)) else {
                continue;
            };
            let own = union.tile_of(&level, part.facet);
            let same_plane = answer.parts.iter().filter(|other| {
                let other_cell = union.tile_of(&level, other.facet);
                other.push.distance(part.push) < 1e-6 && other_cell[side.0] == own[side.0]
            });
            let named: Vec<_> = same_plane
                .map(|other| union.tile_of(&level, other.facet))
                .collect();
            let margin = 1e-3 * union.size;
            let plane = f64::from(own[side.0] + i32::from(side.1)) * union.size;
            let tiles = |overlap: f64| {
                let reaches = (plane - center[side.0]).abs() < half - overlap;
                let before = reaches.then_some(center);
                let places = before.into_iter().chain(is_inside.then_some(moved));
                let found =
                    places.flat_map(|at| tiles_in_plane(&union, own, side, (at, half), overlap));
                found.collect::<Vec<_>>()
            };
            let (surely, perhaps) = (tiles(margin), tiles(-margin));
            // A body may also leave past an edge, along a normal of its own.
            if !perhaps.contains(&own) {
                continue;
            }
            assert!(
                surely.iter().all(|tile| named.contains(tile)),
                "{context}: {named:?} are named of {surely:?}"
            );
            assert!(
                named.iter().all(|tile| perhaps.contains(tile)),
                "{context}: {named:?} are named instead of {perhaps:?}"
            );
        }
    });
}

#[test]
fn spikes_level_with_the_floor_are_found_by_every_shape() {
    let mut grid = CellGrid::new(Vec3::ONE);
    grid.fill(IVec3::new(-9, -1, -9), IVec3::new(8, -1, 8), Cell::SOLID)
        .unwrap();
    let spikes = [IVec3::new(0, -1, 0), IVec3::new(0, -1, -1)];
    grid.extend(spikes.map(|at| (at, Cell::SOLID.with_material(SPIKES))));
    let level = Collider::cells(&grid);
    let hull = [
        Vec3::new(-0.4, -0.4, -0.4),
        Vec3::new(0.4, -0.4, -0.4),
        Vec3::new(0.4, -0.4, 0.4),
        Vec3::new(-0.4, -0.4, 0.4),
        Vec3::new(0.0, 0.6, 0.0),
    ];
    let shapes = [
        Collider::cuboid(0.8, 0.8, 0.8),
        Collider::convex_hull(hull),
        Collider::cylinder(0.4, 0.8),
        Collider::sphere(0.4),
        Collider::capsule_3d(0.2, 0.4),
        Collider::compound([(Transform::IDENTITY, Collider::cuboid(0.8, 0.8, 0.8))]),
    ];
    for (index, shape) in shapes.iter().enumerate() {
        // Most of the body is above the floor beside the spikes.
        for height in [0.35, 0.01, -0.3] {
            let answer = answer(&level, shape.clone(), Vec3::new(-0.02, height, 0.03));
            let parts = answer.parts.iter();
            let found = parts.filter(|it| level.material(it.facet) == Some(SPIKES));
            assert_eq!(found.count(), 2, "shape {index} at {height}: {answer:?}");
            let event = answer.event.unwrap();
            let deepest = answer.parts.iter().map(|it| it.depth).fold(0.0, f32::max);
            assert_eq!(event.depth, deepest);
            let expected = Vec3::Y * event.depth;
            assert!(answer.push_out.distance(expected) < 1e-5, "shape {index}");
        }
    }
}

#[cfg(feature = "explain")]
#[test]
fn an_explanation_names_the_cell_and_no_remedy_for_meshes() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(Update)));
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(-9, -9), IVec2::new(8, 8), Cell::SOLID)
        .unwrap();
    grid.fill(IVec2::new(-3, -3), IVec2::new(2, 2), Cell::EMPTY)
        .unwrap();
    grid.set(IVec2::new(-4, 0), Cell::SOLID.with_material(7));
    let world = app.world_mut();
    let level = world.spawn(Collider::cells(&grid)).id();
    let mut ball_at = |x: f32| {
        let pose = Transform::from_xyz(x, 0.5, 0.0);
        world.spawn((Collider::circle(0.5), pose)).id()
    };
    let (apart, touching) = (ball_at(-2.0), ball_at(-2.6));
    app.update();
    let [apart, touching] = [apart, touching].map(|body| {
        let explanation = headbutt::explain(app.world(), body, level);
        explanation.to_string()
    });
    assert!(
        apart.contains("nearest cell of") && apart.contains("at [-4, 0], with the material 7"),
        "{apart}"
    );
    assert!(!apart.contains("interior") && !apart.contains("Reverse"));
    assert!(
        touching.contains("at [-4, 0], with the material 7"),
        "{touching}"
    );
}
