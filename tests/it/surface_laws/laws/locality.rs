//! *Locality*: facets farther away than the extent of a shape change nothing, to the bit.

use bevy::prelude::*;
use rand::{Rng, rngs::StdRng};

use super::{USUAL, Variant, case, placed, question};
use crate::surface_laws::{
    bodies::Surface,
    shapes::{Shape, direction},
    trial::{Once, Trial, Verdict},
};

/// Adds facets away from a shape, on one side or all around it, at least `gap` beyond its extent.
fn with_far_facets(random: &mut StdRng, surface: &Surface, shape: &Shape) -> Surface {
    let mut far = surface.clone();
    far.heights = None;
    let gap = [0.01, 1.0, 1e3, 1e5][random.random_range(0..4)];
    // The distances are in the surface's own frame, and the inverse map stretches by at most this
    // factor.
    let map = surface.map().inverse();
    let matrix = map.matrix3;
    let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let squares = columns.map(|it| it.length_squared());
    let factor = squares.iter().sum::<f64>().sqrt();
    let center = map.transform_point3(shape.center()).as_vec3();
    let reach = (shape.reach() * factor) as f32 + surface.margin + gap;
    if surface.plane {
        // The line continues from its last point, straight away from the shape.
        let end = *far.points.last().expect("a line has points");
        let out = (end - center).normalize();
        for step in 1..=random.random_range(1..4) {
            far.points.push(end + out * reach * step as f32);
            let count = far.points.len() as u32;
            far.facets.push([count - 2, count - 1, count - 1]);
        }
        return far;
    }
    for _ in 0..random.random_range(1..5) {
        let out = direction(random, false).as_vec3();
        let at = center + out * reach * 1.01;
        let mut across = || {
            let any = direction(random, false).as_vec3();
            out.cross(any).normalize_or(Vec3::ZERO)
        };
        let (u, v) = (across(), across());
        let span = reach.min(10.0);
        let first = far.points.len() as u32;
        far.points
            .extend([at, at + u * span, at + (v + out) * span]);
        far.facets.push([first, first + 1, first + 2]);
    }
    far
}

fn make(random: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    let mut surface = Surface::random(random, plane);
    match random.random_range(0..4) {
        _ if variant == Variant::Altered => surface = surface.altered(random),
        0 => surface = surface.dirty(random),
        2 => surface = surface.jittered(random),
        1 => surface.margin = random.random_range(0.01..0.2),
        _ => {}
    }
    let shape = variant.body(random, &surface)?;
    let shape = placed(random, &surface, &shape)?;
    let center = shape.center();
    if plane {
        // The shape must not be where the line continues, or where the line would be closed.
        let end = surface.points.last()?.as_dvec3();
        let end = surface.map().transform_point3(end);
        let reach = shape.reach() + surface.world_margin();
        if surface.closed || end.distance(center) < reach + 0.5 {
            return None;
        }
    }
    let far = with_far_facets(random, &surface, &shape);
    let shape_again = shape.clone();
    Some(Box::new(Once {
        questions: vec![question(&surface, &shape), question(&far, &shape)],
        judge: Box::new(|answers| match answers {
            [near, far] if near == far && near.event.is_none() => Verdict::Open,
            [near, far] if near == far => Verdict::Holds,
            _ => Verdict::Broken("facets far away change the answer".into()),
        }),
        describe: Box::new(move || case(&far, &shape_again)),
    }))
}

#[test]
fn distant_facets_change_no_contact() {
    Variant::Plain.hold("locality", USUAL, 0.4, make);
}

#[test]
fn distant_facets_change_no_contact_of_altered_surfaces() {
    Variant::Altered.hold("locality", USUAL, 0.4, make);
}

#[test]
fn distant_facets_change_no_contact_of_crates() {
    Variant::Crates.hold("locality", USUAL, 0.4, make);
}
