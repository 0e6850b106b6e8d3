//! Contacts, casts and rays of bodies on floors of flush boxes.

use bevy::{math::DVec3, prelude::*};
use headbutt::{
    prelude::*,
    query::{CastHit, CastOptions, CastStatus},
};
use rand::{Rng, rngs::StdRng};

use super::{Body, Floor, for_floors, vector};
use crate::surface_laws::ask::{Question, ask};

/// Returns the positions of a slide over a floor. Every third slide follows the side of a box.
pub fn path(rng: &mut StdRng, floor: &Floor, margin: f64) -> impl Iterator<Item = DVec3> {
    let mut ends = [floor.point(rng, margin), floor.point(rng, margin)];
    if rng.random_range(0..3) == 0 {
        let [center, half] = floor.boxes[rng.random_range(0..floor.boxes.len())];
        let end = floor.half_length - margin;
        let axis = if rng.random_bool(0.5) {
            DVec3::X
        } else {
            DVec3::Z
        };
        for at in &mut ends {
            let on_side = (center + half).dot(axis).clamp(-end, end);
            *at += axis * (on_side - at.dot(axis));
            if floor.dimension == 2 {
                at.z = 0.0;
            }
        }
    }
    let [start, end] = ends;
    (0..10).map(move |step| start.lerp(end, f64::from(step) / 9.0))
}

/// Asserts that a push-out leads up, along the normal of the top.
///
/// Rounding the parts to f32 changes their heights by up to `error`. So another push-out may be as
/// short as the push-out along the normal, if the cosine of the angle between both is at least
/// 1 - error / depth.
pub fn assert_up(push: Vec3, floor: &Floor, depth: f64, context: &str) {
    let (push, up) = (push.as_dvec3(), floor.up());
    let extent = floor.translation.abs().max_element() + floor.half_length;
    let error = 4.0 * f64::from(f32::EPSILON) * extent;
    let sine = (2.0 * error / depth.max(1e-9 * floor.size)).sqrt() + 1e-4;
    let is_up = push.dot(up) > 0.0 && (push - up * push.dot(up)).length() <= sine * push.length();
    assert!(is_up, "{context}: {push}, not {up}, within {sine}");
}

#[test]
fn every_contact_of_a_body_that_slides_over_a_floor_is_up() {
    for_floors(100, |rng, floor, context| {
        let collider = floor.collider();
        let up = floor.up();
        for slide in 0..10 {
            let body = Body::new(rng, floor.dimension, floor.size);
            let low = body.reach(-up);
            let depth = rng.random_range(0.001..0.15) * floor.size;
            let mut answers = Vec::new();
            for at in path(rng, floor, floor.size) {
                let position = floor.place(at) + up * (low - depth);
                let pose = body.pose(position);
                let context = format!("{context}, slide {slide}, {at}");
                let contact = query::contact(&collider, Vec3::ZERO, &body.collider, pose);
                let contact = contact.unwrap_or_else(|| panic!("{context}: no contact"));
                assert_up(contact.normal, floor, depth, &context);
                let error = f64::from(contact.depth) - depth;
                assert!(error.abs() < 1e-4 * floor.size, "{context}: {error}");
                answers.push(Question {
                    surface: collider.clone(),
                    place: [Transform::IDENTITY; 2],
                    shape: body.collider.clone(),
                    pose,
                });
            }
            if slide > 0 {
                continue;
            }
            // A tick returns the same contacts, and all parts are up.
            for answer in ask(&answers) {
                assert_up(answer.push_out, floor, depth, context);
                let error = f64::from(answer.push_out.length()) - depth;
                assert!(error.abs() < 1e-4 * floor.size, "{context}: {error}");
                for part in &answer.parts {
                    assert_up(part.push, floor, depth, context);
                }
            }
        }
    });
}

/// Rounding moves the far ends of a long slab, so its side misses the corners of the short slabs
/// beside it.
#[test]
fn every_contact_beside_a_long_slab_is_up() {
    let mut questions = Vec::new();
    for turn in 0..20_u8 {
        let rotation = Quat::from_rotation_y(0.1 + 0.3 * f32::from(turn));
        let slab = |length: f32, x: f32, z: f32| {
            let place = rotation * Vec3::new(x, -0.5, z);
            let pose = Transform::from_translation(place).with_rotation(rotation);
            (pose, Collider::cuboid(length, 1.0, 2.0))
        };
        let short = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x| slab(1.0, x, 1.0));
        let slabs = short.into_iter().chain([slab(2000.0, 0.0, -1.0)]);
        let surface = Collider::compound(slabs).joined();
        for step in 0..40_u8 {
            let (x, z) = (
                f32::from(step) * 0.09 - 1.8,
                f32::from(step % 9) * 0.1 - 0.4,
            );
            for shape in [Collider::sphere(0.5), Collider::capsule_3d(0.5, 0.01)] {
                let reach = if questions.len() % 2 == 0 { 0.5 } else { 0.505 };
                questions.push(Question {
                    surface: surface.clone(),
                    place: [Transform::IDENTITY; 2],
                    shape,
                    pose: Transform::from_translation(rotation * Vec3::new(x, reach - 0.1, z)),
                });
            }
        }
    }
    for (answer, question) in ask(&questions).iter().zip(&questions) {
        assert!(!answer.parts.is_empty(), "{:?}", question.pose);
        for part in &answer.parts {
            let is_up = part.push.y > 0.0 && part.push.xz().length() < 1e-3;
            assert!(is_up, "{part:?} at {:?}", question.pose);
            assert!((part.depth - 0.1).abs() < 1e-3, "{part:?}");
        }
    }
}

/// Asserts that a cast along a floor hits nothing, and that a cast into the floor hits its top.
/// `cast` is called with a body, its pose, and its translation.
pub fn assert_casts(
    rng: &mut StdRng,
    floor: &Floor,
    context: &str,
    cast: impl Fn(&Collider, Transform, Vec3) -> Option<CastHit<Vec3>>,
) {
    let up = floor.up();
    for number in 0..6 {
        let context = format!("{context}, cast {number}");
        let body = Body::new(rng, floor.dimension, floor.size);
        let low = body.reach(-up);
        let [from, to] = [0, 1].map(|_| floor.point(rng, floor.size));
        let gap = 1e-3 * floor.size;
        let start = body.pose(floor.place(from) + up * (low + gap));
        let cast = |motion: DVec3| cast(&body.collider, start, motion.as_vec3());
        let along = floor.rotation * (to - from);
        assert!(cast(along).is_none(), "{context}: {:?}", cast(along));
        let fall = rng.random_range(0.01..1.0) * floor.size;
        let hit = cast(along - up * fall).unwrap_or_else(|| panic!("{context}: no hit"));
        assert_eq!(hit.status, CastStatus::Hit, "{context}");
        // If rounding leaves a step of a height h between two parts, a body of a radius r may hit
        // the step at an angle whose sine is sqrt(2 h / r).
        for normal in [hit.contact.normal, hit.face_normal] {
            assert_up(-normal, floor, 0.2 * floor.size, &context);
        }
        let error = (hit.touching * fall - gap).abs();
        let extent = floor.size + along.length();
        assert!(error < 1e-5 * extent, "{context}: {error}");
    }
}

#[test]
fn a_cast_along_a_floor_hits_nothing_and_a_cast_into_it_hits_its_top() {
    for_floors(100, |rng, floor, context| {
        let collider = floor.collider();
        assert_casts(rng, floor, context, |body, start, motion| {
            let (still, options) = (Vec3::ZERO, CastOptions::default());
            query::cast_shape(body, start, motion, &collider, still, still, options)
        });
    });
}

/// The second box is higher by the rounding of its position. The lowest corner of the body passes
/// over the end of the first box, below the top of the second box.
#[test]
fn a_corner_that_lands_at_a_joint_hits_the_top() {
    let (height, rise) = (2_f32.powi(-10), 2_f32.powi(-22));
    // At x = 0, the corner is at half the rise.
    let motion = Vec3::new(2.0, rise - 2.0 * height, 0.0);
    let tips = Vec3::AXES.map(|axis| 0.5 * axis);
    let tips = tips.into_iter().flat_map(|tip| [tip, -tip]);
    let faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4]];
    let lower = [[2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    let poses = [Vec3::new(-2.0, -2.0, 0.0), Vec3::new(2.0, -2.0 + rise, 0.0)];
    let flat = poses.map(|at| (at.truncate(), Collider::rectangle(4.0, 4.0)));
    let solid = poses.map(|at| (at, Collider::cuboid(4.0, 4.0, 4.0)));
    let [flat, solid] = [Collider::compound(flat), Collider::compound(solid)];
    let bodies = [
        (
            Collider::convex_hull(tips.clone().map(Vec3::truncate)),
            flat,
            0.0,
        ),
        (Collider::convex_hull(tips.clone()), solid.clone(), 0.1),
        (Collider::trimesh(tips, [faces, lower].concat()), solid, 0.1),
    ];
    for (body, floor, z) in bodies {
        for margin in [0.0, 0.125] {
            let floor = floor.clone().joined().rounded(margin);
            let start = Vec3::new(-1.0, 0.5 + margin + height, z);
            let (still, options) = (Vec3::ZERO, CastOptions::default());
            let hit = query::cast_shape(&body, start, motion, &floor, still, still, options);
            let swapped = query::cast_shape(&floor, still, still, &body, start, motion, options);
            // The face normal of a swapped hit is that of a face of the body.
            let normals = [hit, swapped].map(|hit| {
                let hit = hit.unwrap();
                assert!((hit.touching - 0.5).abs() < 1e-3, "{hit:?}");
                [hit.contact.normal, hit.face_normal]
            });
            let [[normal, face_normal], [swapped, _]] = normals;
            for found in [normal, face_normal, -swapped] {
                assert!(found.distance(Vec3::NEG_Y) < 1e-6, "{margin}: {normals:?}");
            }
        }
    }
}

/// Returns a body inside a floor, its pose, and the depth of its lowest point below the top.
pub fn sunk_body(rng: &mut StdRng, floor: &Floor) -> (Collider, Transform, f64) {
    let body = Body::new(rng, floor.dimension, 0.5 * floor.size);
    let low = body.reach(-floor.up());
    let depth = (low + rng.random_range(0.01..0.25) * floor.size).max(0.01 * floor.size);
    let at = floor.point(rng, 1.5 * floor.size);
    let pose = body.pose(floor.place(at) + floor.up() * (low - depth));
    (body.collider, pose, depth)
}

#[test]
fn a_body_inside_a_floor_leaves_through_its_top() {
    for_floors(60, |rng, floor, context| {
        let collider = floor.collider();
        for _ in 0..4 {
            let (body, pose, depth) = sunk_body(rng, floor);
            let contact = query::contact(&collider, Vec3::ZERO, &body, pose);
            let contact = contact.unwrap_or_else(|| panic!("{context}: no contact"));
            assert_up(contact.normal, floor, depth, context);
            let error = f64::from(contact.depth) - depth;
            assert!(error.abs() < 1e-4 * floor.size, "{context}: {error}");
        }
    });
}

/// The bumps of a bed of nails are real, and so are its sides.
#[test]
fn faces_that_no_part_covers_remain() {
    let unit = Collider::cuboid(1.0, 1.0, 1.0);
    let floor = Collider::cuboid(9.0, 1.0, 9.0);
    let parts = [
        (Vec3::new(0.0, -0.5, 0.0), floor),
        (Vec3::new(0.0, 0.25, 0.0), unit),
    ];
    let level = Collider::compound(parts).joined();
    let ball = Collider::sphere(0.25);
    // The lower part of the unit box is in the floor, so the box is a step of 0.75.
    for (at, normal, depth) in [
        (Vec3::new(0.7, 0.5, 0.0), Vec3::X, 0.05),
        (Vec3::new(-0.7, 0.5, 0.0), Vec3::NEG_X, 0.05),
        (Vec3::new(0.3, 0.9, 0.1), Vec3::Y, 0.1),
        (Vec3::new(2.0, 0.2, 0.1), Vec3::Y, 0.05),
        (Vec3::new(2.0, -1.2, 0.1), Vec3::NEG_Y, 0.05),
        (Vec3::new(2.0, -0.5, 4.7), Vec3::Z, 0.05),
    ] {
        let contact = query::contact(&level, Vec3::ZERO, &ball, at).unwrap();
        assert!(contact.normal.distance(normal) < 1e-6, "{at}: {contact:?}");
        assert!((contact.depth - depth).abs() < 1e-6, "{at}: {contact:?}");
    }
}

#[test]
fn parts_that_are_almost_flush_are_joined() {
    for_floors(40, |rng, floor, context| {
        let mut parts = floor.parts();
        // A few roundings of f32.
        for (pose, _) in &mut parts {
            let extent = pose.translation.abs().max_element() + floor.size as f32;
            let mut error = (vector(rng) * 2e-7 * f64::from(extent)).as_vec3();
            if floor.dimension == 2 {
                error.z = 0.0;
            }
            pose.translation += error;
        }
        let collider = Collider::compound(parts).joined();
        let up = floor.up();
        for _ in 0..10 {
            let body = Body::new(rng, floor.dimension, floor.size);
            let depth = rng.random_range(0.001..0.15) * floor.size;
            let at = floor.place(floor.point(rng, floor.size));
            let pose = body.pose(at + up * (body.reach(-up) - depth));
            let contact = query::contact(&collider, Vec3::ZERO, &body.collider, pose);
            let contact = contact.unwrap_or_else(|| panic!("{context}: no contact"));
            assert_up(contact.normal, floor, depth, context);
        }
    });
}
