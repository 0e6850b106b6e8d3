//! *Throws*: a push-out is at most twice as long as the step that led into the surface.

use bevy::{math::DVec3, prelude::*};
use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

use super::{USUAL, case, question, size};
use crate::surface_laws::{
    ask::{Answer, Touch},
    bodies::Surface,
    oracle::Facet,
    shapes::{Kind, Shape, direction},
    trial::{Once, Trial, Verdict, check},
};

/// The maximum length of a push-out, as a multiple of the length of the step. The step back is a
/// push-out itself.
const MOST: f64 = 2.0;

/// The length that rounding adds, as a fraction of the size.
const SLOP: f64 = 1e-5;

/// The number of places that are tried for each case.
const PLACES: usize = 20;

/// Returns a case of a body and a step of this body. The body starts in a free place at a terrain,
/// a part of a machine or a gap. The length of the step is the fraction `depth` of the radius of
/// the largest ball in the body.
fn make(random: &mut StdRng, plane: bool, depth: f64) -> Option<Box<dyn Trial>> {
    let mut surface = match random.random_range(0..4) {
        0 => Surface::random(random, plane),
        1 => Surface::terrain(random, plane),
        _ => Surface::with_gaps(random, plane),
    };
    surface.one_sided = random.random_range(0..4) == 0;
    let size = size(random);
    let mut shape = Shape::random(random, plane, size);
    if random.random_range(0..4) == 0 {
        // This hull has no symmetry.
        let count = random.random_range(4..12);
        let points = (0..count).map(|_| {
            let length = f64::from(size) * random.random_range(0.25..1.0);
            (direction(random, plane) * length).as_vec3()
        });
        shape.kind = Kind::Hull(points.collect());
    } else if let Kind::Cone(radius, half) = &mut shape.kind {
        // This cone is flat or pointed.
        let thinner = random.random_range(0.1..1.0);
        *(if random.random() { radius } else { half }) *= thinner;
    }
    if shape.inner_radius() < 0.05 * shape.reach() {
        return None;
    }
    let step = depth * shape.inner_radius();
    let facets = surface.world_facets();
    let many = random.random_range(0..4) != 0;
    let mut places = (0..PLACES).filter_map(|_| {
        let facet = facets.choose(random)?;
        let [free, here] = random_step(random, facet, &shape, step);
        let normals = touched(&facets, &here);
        let first = normals.first()?;
        let is_one = normals.iter().all(|it| it.dot(*first).abs() > 0.999);
        let is_wanted = !(many && is_one) && touched(&facets, &free).is_empty();
        is_wanted.then_some([free, here])
    });
    let [free, here] = places.next()?;
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

/// Returns a random step of this length onto a facet: the shape before and after it.
fn random_step(random: &mut StdRng, facet: &Facet, shape: &Shape, step: f64) -> [Shape; 2] {
    let way = direction(random, shape.plane);
    let outward = facet.normal * facet.normal.dot(way).signum();
    let sunk = step * outward.dot(way) * random.random_range(0.1..1.0);
    let weights = [0; 3].map(|_| random.random::<f64>());
    let sum: f64 = weights.iter().sum();
    let terms = facet.corners.iter().zip(weights);
    let foot: DVec3 = terms.map(|(corner, weight)| *corner * (weight / sum)).sum();
    let here = foot + outward * (shape.extent(-outward) - sunk);
    [here + way * step, here].map(|at| shape.at(at.as_vec3()))
}

/// Returns the normals of the facets that a shape touches.
fn touched(facets: &[Facet], shape: &Shape) -> Vec<DVec3> {
    let center = shape.center();
    let is_near = |it: &&Facet| it.distance(center) < shape.reach();
    let touches = |it: &&Facet| {
        let corners = it.corners.map(|corner| corner.as_vec3());
        shape.intersects(&corners, 0.0, Transform::IDENTITY)
    };
    let touched = facets.iter().filter(is_near).filter(touches);
    touched.map(|it| it.normal).collect()
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

/// The judge finds a push-out of three times the step.
#[test]
fn planted_faults_are_found() {
    let here = Shape::ball(1.0, false, Vec3::ZERO);
    let free = here.at(Vec3::Y * 0.25);
    let touch = Touch {
        push: Vec3::Y,
        depth: 0.25,
        facet: 0,
        other_facet: 0,
        offsets: [Vec3::ZERO; 2],
    };
    let verdict = |push_out: Vec3| {
        let answer = |event, push_out| Answer {
            event,
            parts: vec![],
            push_out,
        };
        judge(
            &free,
            &here,
            &[answer(None, Vec3::ZERO), answer(Some(touch), push_out)],
        )
    };
    assert!(matches!(verdict(Vec3::Y * 0.5), Verdict::Holds));
    assert!(matches!(verdict(Vec3::X * 0.75), Verdict::Broken(_)));
}
