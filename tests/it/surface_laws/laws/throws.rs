//! *Throws*: a push-out is at most twice as long as the step that led in.

use bevy::{math::DVec3, prelude::*};
use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

use super::{USUAL, case, question, size};
use crate::surface_laws::{
    ask::Answer,
    bodies::Surface,
    shapes::{Kind, Shape, direction},
    trial::{Once, Trial, Verdict, check},
};

/// The length of a push-out, as a multiple of that of the step. The step back is a push-out itself.
const MOST: f64 = 2.0;

/// What rounding adds, as a fraction of the size.
const SLOP: f64 = 1e-5;

/// The number of places that are tried for a body that touches more than one plane.
const PLACES: usize = 20;

/// A body in a free place at a terrain, a part of a machine or a gap, and where a step leads it. The
/// step has the length `depth`, as a fraction of the radius of the largest ball in the body.
fn make(random: &mut StdRng, plane: bool, depth: f64) -> Option<Box<dyn Trial>> {
    let mut surface = match random.random_range(0..4) {
        0 => Surface::random(random, plane),
        1 => Surface::terrain(random, plane),
        _ => Surface::with_gaps(random, plane),
    };
    surface.one_sided = false;
    let facets = surface.world_facets();
    let size = size(random);
    let mut shape = Shape::random(random, plane, size);
    if random.random_range(0..4) == 0 {
        // No symmetry.
        let count = random.random_range(4..12);
        let points = (0..count).map(|_| {
            let length = f64::from(size) * random.random_range(0.25..1.0);
            (direction(random, plane) * length).as_vec3()
        });

        shape.kind = Kind::Hull(points.collect());
    }
    if shape.inner_radius() < 0.05 * shape.reach() {
        return None;
    }
    let step = depth * shape.inner_radius();
    let many = random.random_range(0..4) != 0;
    let mut found = None;
    for _ in 0..PLACES {
        let facet = facets.choose(random)?;
        let way = direction(random, plane);
        let outward = facet.normal * facet.normal.dot(way).signum();
        let sunk = step * outward.dot(way) * random.random_range(0.1..1.0);
        let weights = [0; 3].map(|_| random.random::<f64>());
        let sum: f64 = weights.iter().sum();
        let terms = facet.corners.iter().zip(weights);
        let foot: DVec3 = terms.map(|(corner, weight)| *corner * (weight / sum)).sum();
        let at = (foot + outward * (shape.extent(-outward) - sunk)).as_vec3();
        let at = if plane { at.with_z(0.0) } else { at };
        let here = shape.at(at);
        let free = shape.at(at + (way * step).as_vec3());
        let near = |it: &&crate::surface_laws::oracle::Facet| {
            it.distance(here.center()) < shape.reach() + step
        };
        let touched = |shape: &Shape| {
            let touched = facets.iter().filter(near).filter(|it| {
                let corners = it.corners.map(|it| it.as_vec3());
                shape.intersects(&corners, 0.0, Transform::IDENTITY)
            });
            touched.map(|it| it.normal).collect::<Vec<_>>()
        };
        let normals = touched(&here);
        let is_one = normals.iter().all(|it| it.dot(normals[0]).abs() > 0.999);
        if normals.is_empty() || many && is_one || !touched(&free).is_empty() {
            continue;
        }
        found = Some((free, here));
        break;
    }
    let (free, here) = found?;
    let told = (surface.clone(), here.clone(), free.pose.translation);
    Some(Box::new(Once {
        questions: vec![question(&surface, &free), question(&surface, &here)],
        judge: Box::new(move |answers| judge(&free, &here, answers)),
        describe: Box::new(move || {
            let (surface, here, free) = &told;
            format!("{} from {free:?}", case(surface, here))
        }),
    }))
}

fn judge(free: &Shape, here: &Shape, answers: &[Answer]) -> Verdict {
    let [before, after] = answers else {
        return Verdict::Open;
    };
    if before.event.is_some() || after.event.is_none() {
        return Verdict::Open;
    }
    let step = free.center().distance(here.center());
    let length = after.push_out.as_dvec3().length();
    if length > MOST * step + SLOP * here.reach() {
        return Verdict::Broken(format!(
            "{length:e} for a step of {step:e}: {:.2}",
            length / step
        ));
    }
    Verdict::Holds
}

fn hold(depth: f64) {
    let faults = [("2d", true), ("3d", false)].map(|(space, plane)| {
        let name = format!("throws at {} % in {space}", 100.0 * depth);
        check(&name, USUAL, 0.3, |random| make(random, plane, depth))
    });
    let faults: Vec<String> = faults.into_iter().filter_map(Result::err).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn a_push_out_after_a_tiny_step_is_no_throw() {
    hold(0.01);
}

#[test]
fn a_push_out_after_a_small_step_is_no_throw() {
    hold(0.1);
}

#[test]
fn a_push_out_after_a_large_step_is_no_throw() {
    hold(0.3);
}

#[test]
fn a_push_out_after_a_huge_step_is_no_throw() {
    hold(0.6);
}
