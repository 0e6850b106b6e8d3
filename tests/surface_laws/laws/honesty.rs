//! *Honesty*: every part that is reported touches, by [`headbutt::query::intersects`].

use bevy::prelude::*;
use rand::{Rng, rngs::StdRng};

use super::{USUAL, case, placed, placed_by, question, size};
use crate::{
    ask::Answer,
    bodies::Surface,
    shapes::Shape,
    trial::{Once, Trial, Verdict, hold},
};

fn make(random: &mut StdRng, plane: bool) -> Option<Box<dyn Trial>> {
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
        // Far away in its own frame: the vertices are rounded.
        0 => {
            surface.heights = None;
            for point in &mut surface.points {
                *point += far * far_scale;
            }
        }
        1 => surface.place[1] = Transform::from_translation(far * far_scale),
        2 if !plane => {
            let turn = Quat::from_axis_angle(Vec3::X, 6.0 * far_scale);
            surface.place[1] = Transform::from_translation(far * far_scale).with_rotation(turn);
        }
        _ => {}
    }
    let size = size(random);
    let shape = Shape::random(random, plane, size);
    // Half of them touch hardly, or hardly not.
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

fn judge(surface: &Surface, shape: &Shape, answer: &Answer) -> Verdict {
    if answer.event.is_none() {
        return Verdict::Open;
    }
    for part in &answer.parts {
        let Some(numbers) = surface.facets.get(part.facet as usize) else {
            return Verdict::Broken(format!("part {} is no facet", part.facet));
        };
        let corners = numbers.map(|it| surface.points[it as usize]);
        if !shape.intersects(&corners, surface.margin, surface.place[1]) {
            return Verdict::Broken(format!("part {} does not touch", part.facet));
        }
    }
    let deepest = answer.parts.iter().map(|it| it.depth).fold(0.0, f32::max);
    if answer.event.is_some_and(|it| it.depth != deepest) {
        return Verdict::Broken("the event is not the deepest part".into());
    }
    Verdict::Holds
}

#[test]
fn honesty_in_2d() {
    hold("honesty in 2d", USUAL, 0.3, |it| make(it, true));
}

#[test]
fn honesty_in_3d() {
    hold("honesty in 3d", USUAL, 0.3, |it| make(it, false));
}
