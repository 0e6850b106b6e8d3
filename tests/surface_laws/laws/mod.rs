//! The laws, one file each.

mod balls;
mod completeness;
mod continuity;
mod economy;
mod honesty;
mod locality;
mod meshes;
mod side;
mod tessellation;
mod walks;

use bevy::{math::DVec3, prelude::*};
use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

use crate::{
    ask::Question,
    bodies::Surface,
    oracle::Facet,
    shapes::{Shape, direction, snapped},
};

/// Cases of a law and dimension, if nothing else is asked for.
const USUAL: usize = 1500;

/// How precise an answer is, as a fraction of the size of the shape.
const PRECISION: f64 = 1e-6;

/// What is nearer to each other than this fraction of the size is a tie: either is right.
const TIE: f64 = 1e-5;

pub fn question(surface: &Surface, shape: &Shape) -> Question {
    Question {
        surface: surface.collider(),
        place: surface.place,
        shape: shape.collider(),
        pose: shape.pose,
    }
}

fn case(surface: &Surface, shape: &Shape) -> String {
    format!("{}\n  {}", shape.describe(), surface.describe())
}

/// Puts a shape on a surface, sunk in it by a random part of its own extent, on either side or the
/// outer one. Some have their centre on the grid of the surface's vertices, or in the very plane,
/// edge or vertex of a facet.
fn placed(random: &mut StdRng, surface: &Surface, shape: &Shape) -> Option<Shape> {
    let sunk = match random.random_range(0..4) {
        0 => random.random_range(0.0..0.02),
        1 => random.random_range(0.0..0.9),
        _ => random.random_range(0.0..0.3),
    };
    placed_by(random, surface, shape, sunk)
}

/// The same, sunk by this part of its extent where a facet is flat.
fn placed_by(random: &mut StdRng, surface: &Surface, shape: &Shape, sunk: f64) -> Option<Shape> {
    let facets = surface.world_facets();
    let facet = facets.choose(random)?;
    let [a, b, c] = facet.corners;
    let (mut u, mut v): (f64, f64) = (random.random(), random.random());
    if surface.plane {
        v = 0.0;
    } else if u + v > 1.0 {
        (u, v) = (1.0 - u, 1.0 - v);
    }
    match random.random_range(0..8) {
        0 => u = 0.0,
        1 => (u, v) = (0.0, 0.0),
        2 => (u, v) = (0.5, 0.0),
        _ => {}
    }
    let foot = a + (b - a) * u + (c - a) * v;
    let side = if !surface.one_sided && random.random_range(0..3) == 0 {
        -1.0
    } else {
        1.0
    };
    let mut outward = facet.normal * side;
    if random.random_range(0..4) == 0 {
        let leaning = direction(random, surface.plane);
        outward = (outward + leaning).try_normalize()?;
    }
    let margin = f64::from(surface.margin);
    let height = (shape.extent(-outward) + margin) * (1.0 - sunk);
    let mut at = (foot + outward * height).as_vec3();
    match random.random_range(0..8) {
        0 => at = at.map(|it| snapped(it, 16.0)),
        1 => at.x = snapped(at.x, 64.0),
        2 => at.y = snapped(at.y, 64.0),
        _ => {}
    }
    if surface.plane {
        at.z = 0.0;
    }
    Some(shape.at(at))
}

/// The size about which shapes are, for surfaces whose features are of a size about 1.
fn size(random: &mut StdRng) -> f32 {
    [0.125, 0.25, 0.5, 1.0, 2.0][random.random_range(0..5)]
}

/// Whether a segment goes through a facet, away from its own ends.
fn is_hidden(facets: &[Facet], [from, to]: [DVec3; 2]) -> bool {
    let inner = [from, from + (to - from) * (1.0 - 1e-6)];
    facets
        .iter()
        .any(|it| it.crossed_by(inner, -1e-9).is_some())
}
