//! *Costs*: a vertex of n facets, and n copies of one facet, take at most n log n work.
//!
//! Work is the number of support evaluations of the solvers. A ball needs no evaluations, because
//! its contacts have a closed form. Looking up the facets around a vertex is not counted, either.

use core::f32::consts::TAU;

use bevy::prelude::*;

use crate::surface_laws::{
    ask::ask_and_count,
    bodies::Surface,
    laws::question,
    shapes::{Kind, Shape},
};

/// The numbers of facets.
const COUNTS: [u32; 4] = [500, 1000, 2000, 4000];

/// Returns a peak of n facets around the y axis. The peak is flat if `high` is 0, and a pit if
/// `high` is negative.
fn fan(count: u32, high: f32) -> Surface {
    let rim = (0..count).map(|it| {
        let (z, x) = (TAU * it as f32 / count as f32).sin_cos();
        Vec3::new(4.0 * x, -high, 4.0 * z)
    });
    let points = core::iter::once(Vec3::ZERO).chain(rim).collect();
    let facets = (1..=count).map(|it| [0, it % count + 1, it]).collect();
    Surface::new("fan", points, facets)
}

/// Returns one triangle that faces up, n times.
fn copies(count: u32) -> Surface {
    let corners = [(-4.0, -4.0), (0.0, 4.0), (4.0, -4.0)];
    let points = corners.map(|(x, z)| Vec3::new(x, 0.0, z)).to_vec();
    Surface::new("copies", points, vec![[0, 1, 2]; count as usize])
}

/// Returns shapes of height about 1 at the origin.
fn bodies() -> [Kind; 5] {
    let points = [(0.4, 0.45, 0.1), (-0.3, 0.45, 0.35), (-0.2, 0.45, -0.4)];
    let points = points.map(|(x, y, z)| Vec3::new(x, y, z));
    let hull = points.into_iter().flat_map(|it| [it, -it]).collect();
    [
        Kind::Box(Vec3::new(0.3, 0.5, 0.4)),
        Kind::Capsule(0.25, 0.25),
        Kind::Hull(hull),
        Kind::Cylinder(0.4, 0.5),
        Kind::Crate(Vec3::new(0.3, 0.5, 0.4)),
    ]
}

/// Returns the support evaluations of a tick for each shape, at the given height above the top of a
/// surface.
fn work(surface: &Surface, height: f32) -> Vec<(Kind, usize)> {
    let turn = Quat::from_euler(EulerRot::XYZ, 0.3, 0.5, 0.1);
    let count = |kind: Kind| {
        let pose = Transform::from_xyz(0.02, height, -0.03).with_rotation(turn);
        let shape = Shape {
            kind: kind.clone(),
            plane: false,
            pose,
        };
        let (answers, supports) = ask_and_count(&[question(surface, &shape)]);
        let touches = answers.iter().any(|it| it.depth() > 0.0);
        assert!(touches, "{kind:?} at {height} touches");
        (kind, supports)
    };
    bodies().into_iter().map(count).collect()
}

/// Asserts that the work on n facets is at most `most` n log2 n, for each part of a shape.
fn assert_bounded(name: &str, counts: &[u32], most: f64, surface: impl Fn(u32) -> Surface) {
    // The shape is barely sunk in, deep, or deep with its center barely above the surface.
    for height in [0.42, 0.3, 0.02] {
        for count in counts {
            let bound = most * f64::from(*count) * f64::from(*count).log2();
            for (kind, supports) in work(&surface(*count), height) {
                // A crate has 12 facets of its own.
                let parts = if matches!(kind, Kind::Crate(_)) {
                    12.0
                } else {
                    1.0
                };
                assert!(
                    supports as f64 <= bound * parts,
                    "{name} of {count}: {supports} support points of {kind:?} at {height}"
                );
                // A touching facet needs some evaluations.
                assert!(supports > 0, "{name} of {count}: {kind:?} at {height}");
            }
        }
    }
}

#[test]
fn a_vertex_shared_by_n_facets_costs_at_most_n_log_n() {
    assert_bounded("peak", &COUNTS, 4.0, |count| fan(count, 1.0));
    assert_bounded("flat fan", &COUNTS, 2.0, |count| fan(count, 0.0));
    assert_bounded("pit", &COUNTS, 12.0, |count| fan(count, -1.0));
}

#[test]
fn n_copies_of_a_facet_cost_at_most_n_log_n() {
    assert_bounded("copies", &COUNTS, 2.0, copies);
}
