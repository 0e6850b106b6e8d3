//! Compares climbing steps of all kinds of colliders with closed forms.

use bevy::prelude::*;
use headbutt::prelude::*;

use super::{Level, Walker, at};

/// Half of the least side of the bodies.
const RADIUS: f32 = 0.5;

const SKIN: f32 = 0.01 * RADIUS;

/// The step is at x = 0, and both levels are this long.
const LENGTH: f32 = 6.0;

/// The speeds of the walks, in units of length per move.
const SPEEDS: [f32; 4] = [0.01, 0.05, 0.1, 0.25];

/// A floor at the height 0, and a step up.
struct Step {
    name: String,
    colliders: Vec<(Collider, Transform)>,
}

/// Returns all kinds of colliders of a dimension that form the same step.
fn steps(is_flat: bool, height: f32) -> Vec<Step> {
    let low = Vec2::new(-LENGTH, 0.0);
    let high = Vec2::new(LENGTH, height);
    let profile = [
        high - Vec2::Y * 9.0,
        high,
        Vec2::new(0.0, height),
        Vec2::ZERO,
        low,
        low - Vec2::Y * 9.0,
    ];
    let boxes = [(low, 2.0), (high, 2.0 + height)].map(|(corner, side)| {
        let center = corner.midpoint(Vec2::NEG_Y * 2.0);
        let solid = if is_flat {
            Collider::rectangle(LENGTH, side)
        } else {
            Collider::cuboid(LENGTH, side, 8.0)
        };
        (solid, at(center.x, center.y))
    });
    let compound = if is_flat {
        Collider::compound(
            boxes
                .clone()
                .map(|(solid, pose)| (pose.translation.xy(), solid)),
        )
    } else {
        Collider::compound(boxes.clone().map(|(solid, pose)| (pose.translation, solid)))
    };
    let one = |name: String, collider| Step {
        name,
        colliders: vec![(collider, Transform::IDENTITY)],
    };
    let surfaces = if is_flat {
        polylines(profile)
    } else {
        meshes(&profile)
    };
    let mut all = vec![
        one("a compound".to_owned(), compound),
        Step {
            name: "boxes".to_owned(),
            colliders: boxes.to_vec(),
        },
    ];
    for (name, surface) in surfaces {
        all.push(one(
            format!("one-sided {name}"),
            surface.clone().one_sided(),
        ));
        all.push(one(name.to_owned(), surface));
    }
    all
}

/// Returns a polyline through the points from right to left, with its segments in both orders.
fn polylines(profile: [Vec2; 6]) -> Vec<(&'static str, Collider)> {
    let mut segments: Vec<_> = (0..5).map(|index| [index, index + 1]).collect();
    let forwards = Collider::polyline_with_indices(profile, segments.clone());
    segments.reverse();
    let backwards = Collider::polyline_with_indices(profile, segments);
    vec![("segments", forwards), ("segments, reversed", backwards)]
}

/// Returns the profile along z, with its triangles in both orders. A row of vertices is at z = 0,
/// where the bodies walk.
fn meshes(profile: &[Vec2]) -> Vec<(&'static str, Collider)> {
    let rows = [4.0, 0.0, -4.0];
    let vertices = rows.map(|z| profile.iter().map(move |point| point.extend(z)));
    let vertices: Vec<_> = vertices.into_iter().flatten().collect();
    let count = profile.len() as u32;
    let quads = (0..2).flat_map(|row| (1..count).map(move |index| row * count + index));
    let mut triangles: Vec<_> = quads
        .flat_map(|b| {
            let (a, c, d) = (b - 1, b - 1 + count, b + count);
            [[a, c, b], [b, c, d]]
        })
        .collect();
    let forwards = Collider::trimesh(vertices.clone(), triangles.clone());
    triangles.reverse();
    let backwards = Collider::trimesh(vertices, triangles);
    vec![("triangles", forwards), ("triangles, reversed", backwards)]
}

/// A body, and its shape for the closed forms.
struct Body {
    collider: Collider,
    half_height: f32,
    is_round: bool,
}

impl Body {
    fn all(is_flat: bool) -> [Self; 3] {
        let side = 2.0 * RADIUS;
        let [ball, capsule, cube] = if is_flat {
            [
                Collider::circle(RADIUS),
                Collider::capsule_2d(RADIUS, 0.5),
                Collider::rectangle(side, side),
            ]
        } else {
            [
                Collider::sphere(RADIUS),
                Collider::capsule_3d(RADIUS, 0.5),
                Collider::cuboid(side, side, side),
            ]
        };
        let bodies = [
            (ball, RADIUS, true),
            (capsule, RADIUS + 0.25, true),
            (cube, RADIUS, false),
        ];
        bodies.map(|(collider, half_height, is_round)| Self {
            collider,
            half_height,
            is_round,
        })
    }

    /// Returns a walker above the lower floor, in front of the step.
    fn walker(&self, step_height: f32) -> Walker {
        let start = Vec3::new(-1.0, self.half_height + 0.1, 0.0);
        let mut walker = Walker::new(self.collider.clone(), start);
        walker.settings.step_height = step_height;
        walker
    }
}

/// Calls `check` with every body and every step.
fn for_each(height: f32, mut check: impl FnMut(&SpatialQuery, &Body, &str)) {
    for is_flat in [true, false] {
        for Step { name, colliders } in steps(is_flat, height) {
            let mut level = Level::new(colliders);
            for body in Body::all(is_flat) {
                let context = format!("{:?} at {name}", body.collider);
                level.ask(|query| check(query, &body, &context));
            }
        }
    }
}

/// Walks to the right by 3 with gravity, on the ground in every move. Returns the position.
fn walk(query: &SpatialQuery, mut walker: Walker, speed: f32, context: &str) -> Vec3 {
    walker.land(query);
    for _ in 0..(3.0 / speed) as u32 {
        let slide = walker.go(query, Vec3::new(speed, -0.05, 0.0));
        let position = walker.pose.translation;
        assert!(
            slide.ground.is_some() && !slide.is_stuck,
            "{position}, by {speed}: {context}"
        );
    }
    walker.pose.translation
}

#[test]
fn every_body_climbs_every_kind_of_step() {
    let height = 0.3;
    for_each(height, |query, body, context| {
        for speed in SPEEDS {
            let position = walk(query, body.walker(0.35), speed, context);
            let expected = height + body.half_height + SKIN;
            assert!(
                position.x > 1.0 && (position.y - expected).abs() < 1e-4,
                "{position}, not {expected}, by {speed}: {context}"
            );
        }
    });
}

/// A box stops in front of the step, and a round body stops at the step's edge.
#[test]
fn a_step_that_is_too_high_is_a_wall() {
    let height = 0.3;
    for_each(height, |query, body, context| {
        for speed in SPEEDS {
            let position = walk(query, body.walker(0.25), speed, context);
            let radius = RADIUS + SKIN;
            let distance = if body.is_round {
                (radius * radius - (radius - height).powi(2)).sqrt()
            } else {
                radius
            };
            let expected = Vec3::new(-distance, body.half_height + SKIN, 0.0);
            assert!(
                position.distance(expected) < SKIN,
                "{position}, not {expected}, by {speed}: {context}"
            );
        }
    });
}

/// A round body that falls stands on an edge below it, and slides down beside an edge.
#[test]
fn an_edge_is_ground_unless_it_is_beside_the_body() {
    let height = 3.0;
    for_each(height, |query, body, context| {
        if !body.is_round {
            return;
        }
        // The body does not stand if the cosine of the contact normal is below 0.25.
        for cosine in [0.9, 0.6, 0.3, 0.2, 0.05_f32] {
            let radius = RADIUS + SKIN;
            let on_edge = height + radius * cosine + body.half_height - RADIUS;
            let mut walker = body.walker(0.0);
            walker.pose.translation.x = -radius * (1.0 - cosine * cosine).sqrt();
            walker.pose.translation.y = on_edge + 1.0;
            let mut grounds = vec![];
            for _ in 0..100 {
                let slide = walker.go(query, Vec3::NEG_Y * 0.1);
                grounds.extend(slide.ground.map(|_| walker.pose.translation.y));
            }
            let expected = if cosine > 0.25 {
                on_edge
            } else {
                body.half_height + SKIN
            };
            assert!(
                !grounds.is_empty() && grounds.iter().all(|y| (y - expected).abs() < 2.0 * SKIN),
                "{grounds:?}, not {expected}, with {cosine}: {context}"
            );
        }
    });
}
