//! The laws, each in a file of its own.

mod balls;
mod completeness;
mod continuity;
mod economy;
mod honesty;
mod locality;
mod meshes;
mod shortest;
mod side;
mod tessellation;
mod throws;
mod walks;

use bevy::{math::DVec3, prelude::*};
use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

use crate::surface_laws::{
    ask::Question,
    bodies::Surface,
    oracle::Facet,
    shapes::{Shape, direction, snapped},
    trial::{Trial, check},
};

/// The default number of cases of a law and dimension.
const USUAL: usize = 1500;

/// The precision of a result as a fraction of the size of the shape.
const PRECISION: f64 = 1e-6;

/// Distances or depths closer than this fraction of the size are a tie, and either result is right.
const TIE: f64 = 1e-5;

/// The inputs of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    /// Unaltered surfaces, and convex shapes.
    Plain,
    /// The same shapes on surfaces with margins, dirty, mapped, or far away.
    Altered,
    /// The same surfaces with crates that are closed meshes.
    Crates,
}

impl Variant {
    /// Returns a random shape for a surface, at the origin.
    fn body(self, random: &mut StdRng, surface: &Surface) -> Option<Shape> {
        let size = size(random);
        if self == Self::Crates {
            return Shape::random_crate(random, surface.plane, size, surface.extent());
        }
        Some(Shape::random(random, surface.plane, size))
    }

    /// Asserts that a law holds in 2D and in 3D: see [`check`].
    fn hold(
        self,
        law: &str,
        usual: usize,
        least: f64,
        make: fn(&mut StdRng, bool, Self) -> Option<Box<dyn Trial>>,
    ) {
        let with = match self {
            Self::Plain => "",
            Self::Altered => " on altered surfaces",
            Self::Crates => " of crates",
        };
        let faults = [("2d", true), ("3d", false)].map(|(space, plane)| {
            let name = format!("{law}{with} in {space}");
            check(&name, usual, least, |random| make(random, plane, self))
        });
        let faults: Vec<String> = faults.into_iter().filter_map(Result::err).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    }
}

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

/// Places a shape on a surface, sunk in by a random part of its own extent, on either side or only
/// on the outer side. Some centers lie on the grid of the surface's vertices, or exactly in the
/// plane, on an edge or on a vertex of a facet.
fn placed(random: &mut StdRng, surface: &Surface, shape: &Shape) -> Option<Shape> {
    let sunk = match random.random_range(0..4) {
        0 => random.random_range(0.0..0.02),
        1 => random.random_range(0.0..0.9),
        _ => random.random_range(0.0..0.3),
    };
    placed_by(random, surface, shape, sunk)
}

/// Returns the shape on a surface. On a flat facet, the shape is sunk in by `sunk` times its
/// extent.
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
    let margin = surface.world_margin();
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

/// Returns the approximate size of shapes for surfaces with features of size 1.
fn size(random: &mut StdRng) -> f32 {
    [0.125, 0.25, 0.5, 1.0, 2.0][random.random_range(0..5)]
}

/// Returns `true` if a segment crosses a facet, away from its own ends.
fn is_hidden(facets: &[Facet], [from, to]: [DVec3; 2]) -> bool {
    let inner = [from, from + (to - from) * (1.0 - 1e-6)];
    facets
        .iter()
        .any(|it| it.crossed_by(inner, -1e-9).is_some())
}

/// Returns `true` if a point is in the solid behind a surface: at the closest point, it is behind
/// the facet whose plane is farthest.
fn is_behind(facets: &[Facet], point: DVec3) -> bool {
    let distance = |it: &Facet| it.distance(point);
    let least = facets.iter().map(distance).fold(f64::INFINITY, f64::min);
    let closest = facets
        .iter()
        .filter(|it| distance(it) <= least * (1.0 + 1e-9));
    let heights = closest.map(|it| it.height(point));
    let farthest = heights.max_by(|a, b| a.abs().total_cmp(&b.abs()));
    farthest.is_some_and(|height| height < 0.0)
}

#[test]
fn the_solid_is_behind_the_closest_facet() {
    let angle = [
        (2.0, 0.0),
        (2.0, 0.5),
        (0.5, 0.5),
        (0.5, 2.0),
        (0.0, 2.0),
        (0.0, 0.0),
        (2.0, 0.0),
    ];
    let facets = Surface::line("angle", &angle).world_facets();
    for (x, y, is_inside) in [
        (1.0, 0.25, true),
        (0.25, 0.25, true),
        (0.4, 0.4, true),
        (0.6, 0.6, false),
        (2.1, 0.75, false),
        (-0.25, 2.5, false),
    ] {
        assert_eq!(
            is_behind(&facets, DVec3::new(x, y, 0.0)),
            is_inside,
            "{x} {y}"
        );
    }
}
