//! *Honesty*: every reported part touches according to [`headbutt::query::intersects`].

use bevy::prelude::*;
use rand::{Rng, rngs::StdRng};

use super::{USUAL, Variant, case, placed, placed_by, question};
use crate::surface_laws::{
    ask::Answer,
    bodies::Surface,
    oracle::Facet,
    shapes::{Shape, turned},
    trial::{Once, Trial, Verdict},
};

fn make(random: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    let mut surface = Surface::random(random, plane);
    match random.random_range(0..4) {
        0 => surface = surface.dirty(random),
        2 => surface = surface.jittered(random),
        1 => surface.margin = random.random_range(0.01..0.2),
        _ => {}
    }
    let z = if plane { 0.0 } else { 1.0 };
    let far = Vec3::new(2000.0, -300.0, 1000.0 * z);
    let far_scale = random.random_range(0.0..1.0f32);
    match random.random_range(0..4) {
        _ if variant == Variant::Altered => surface = surface.altered(random),
        // The surface is far from the origin of its own frame, where the vertices are rounded.
        0 => {
            surface.heights = None;
            for point in &mut surface.points {
                *point += far * far_scale;
            }
        }
        1 => surface.place[1] = Transform::from_translation(far * far_scale),
        2 if !plane => {
            let turn = turned(Vec3::X, 6.0 * far_scale);
            surface.place[1] = Transform::from_translation(far * far_scale).with_rotation(turn);
        }
        _ => {}
    }
    let shape = variant.body(random, &surface)?;
    // In half of the cases, the shape barely touches, or barely does not touch.
    let shape = if random.random() {
        placed(random, &surface, &shape)?
    } else {
        let sunk = random.random_range(-2e-4..2e-4) / shape.reach();
        placed_by(random, &surface, &shape, sunk)?
    };
    let (told_surface, told_shape) = (surface.clone(), shape.clone());
    Some(Box::new(Once {
        questions: vec![question(&surface, &shape)],
        judge: Box::new(move |answers| judge(&surface, &shape, &answers[0])),
        describe: Box::new(move || case(&told_surface, &told_shape)),
    }))
}

/// Returns the gap between a shape and a facet, after subtracting radius and margin, or `None` if
/// the shape has no exact distance.
fn gap(surface: &Surface, shape: &Shape, facet: &Facet) -> Option<f64> {
    let (core, radius) = shape.core()?;
    let is_in = core.points.len() > 2 && core.penetration(&facet.polytope()).is_some();
    let distance = if is_in { 0.0 } else { core.distance(facet) };
    Some(distance - radius - surface.world_margin())
}

/// Judges that each part touches, by the library's query or, under a map that the query does not
/// support, by brute force. The event must be the deepest part.
fn judge(surface: &Surface, shape: &Shape, answer: &Answer) -> Verdict {
    if answer.event.is_none() {
        return Verdict::Open;
    }
    let is_mapped = surface.place[1].scale != Vec3::ONE || surface.place[0] != Transform::IDENTITY;
    let facets = surface.all_facets();
    for part in &answer.parts {
        if is_mapped {
            let facet = facets.get(part.facet as usize).copied().flatten();
            let gap = facet.and_then(|it| gap(surface, shape, &it));
            if gap.is_some_and(|it| it > 1e-5 * shape.reach()) {
                return Verdict::Broken(format!("part {} is {gap:?} away", part.facet));
            }
            continue;
        }
        let Some(numbers) = surface.facets.get(part.facet as usize) else {
            return Verdict::Broken(format!("part {} is no facet", part.facet));
        };
        let corners = numbers.map(|it| surface.points[it as usize]);
        if !shape.intersects(&corners, surface.margin, surface.place[1]) {
            return Verdict::Broken(format!("part {} does not touch", part.facet));
        }
    }
    // Two depths may be equal up to rounding in `f64`, and still round to neighboring `f32`.
    let deepest = answer.parts.iter().map(|it| it.depth).fold(0.0, f32::max);
    let least = deepest.next_down();
    if answer.event.is_some_and(|it| it.depth < least) {
        return Verdict::Broken("the event is not the deepest part".into());
    }
    Verdict::Holds
}

#[test]
fn every_reported_part_touches() {
    Variant::Plain.hold("honesty", USUAL, 0.5, make);
}

#[test]
fn every_reported_part_of_an_altered_surface_touches() {
    Variant::Altered.hold("honesty", USUAL, 0.5, make);
}

#[test]
fn every_reported_part_touches_the_crate() {
    Variant::Crates.hold("honesty", USUAL, 0.5, make);
}

/// A ball just over a stretched floor does not touch the floor, and the judge finds a part that
/// claims a touch.
#[test]
fn planted_faults_are_found() {
    let mut floor = Surface::line("floor", &[(4.0, 0.0), (-4.0, 0.0)]);
    let touch = crate::surface_laws::ask::Touch {
        push: Vec3::Y,
        depth: 0.0,
        facet: 0,
        other_facet: 0,
        offsets: [Vec3::ZERO; 2],
    };
    let answer = Answer {
        event: Some(touch),
        parts: vec![touch],
        push_out: Vec3::ZERO,
    };
    for scale in [Vec3::ONE, Vec3::new(2.0, 0.5, 1.0)] {
        floor.place[1].scale = scale;
        for (height, touches) in [(0.9999, true), (1.0001, false)] {
            let ball = Shape::ball(1.0, true, Vec3::Y * height);
            let verdict = judge(&floor, &ball, &answer);
            assert_eq!(matches!(verdict, Verdict::Holds), touches, "at {height}");
        }
    }
}
