//! *Shortest*: the push-out of a box out of a few facets is the shortest translation that clears
//! all facets. The oracle tries every combination of one way out of each facet. The contact points
//! lie on both shapes.

use bevy::{
    math::{DMat3, DVec3},
    prelude::*,
};
use rand::{Rng, rngs::StdRng};

use super::{USUAL, case, question, size};
use crate::surface_laws::{
    ask::{Answer, Touch},
    bodies::Surface,
    oracle::{Facet, Polytope},
    shapes::{Kind, Shape, direction},
    trial::{Once, Trial, Verdict, check},
};

/// The precision of a length as a fraction of the size of the shape.
const PRECISION: f64 = 2e-5;

/// A depth along a direction.
type Way = (f64, DVec3);

/// Returns a box near the origin, and up to three facets near it.
fn make(random: &mut StdRng, plane: bool) -> Option<Box<dyn Trial>> {
    let size = size(random);
    let mut shape = Shape::random(random, plane, size);
    let mut length = || size * random.random_range(0.25..1.0f32);
    let depth = if plane { 0.0 } else { length() };
    shape.kind = Kind::Box(Vec3::new(length(), length(), depth));
    let count = random.random_range(1..4);
    let corners = if plane { 2 } else { 3 };
    let points = (0..count * corners).map(|_| {
        let distance = f64::from(size) * random.random_range(0.2..2.0);
        (direction(random, plane) * distance).as_vec3()
    });
    let points: Vec<Vec3> = points.collect();
    // A polyline is connected, so consecutive segments share a point.
    let first = |facet: u32| facet * corners as u32;
    let facets = (0..count as u32).map(|facet| [0, 1, 2].map(|corner| first(facet) + corner));
    let surface = if plane {
        let points: Vec<(f32, f32)> = points.iter().map(|it| (it.x, it.y)).collect();
        Surface::line("line", points.get(..=count)?)
    } else {
        Surface::new("triangles", points.clone(), facets.collect())
    };
    let told = (surface.clone(), shape.clone());
    let questions = vec![question(&surface, &shape)];
    Some(Box::new(Once {
        questions,
        judge: Box::new(move |answers| judge(&surface.world_facets(), &shape, answers)),
        describe: Box::new(move || case(&told.0, &told.1)),
    }))
}

fn judge(facets: &[Facet], shape: &Shape, answers: &[Answer]) -> Verdict {
    let ([answer], Some((body, _))) = (answers, shape.core()) else {
        return Verdict::Open;
    };
    let size = shape.reach();
    let ways: Vec<Vec<Way>> = facets
        .iter()
        .map(|facet| body.ways_out(&facet.polytope()))
        .collect();
    let is_touched = |ways: &&Vec<Way>| ways.iter().all(|(depth, _)| *depth > PRECISION * size);
    let touched: Vec<Vec<Way>> = ways.iter().filter(is_touched).cloned().collect();
    let center = shape.center();
    let is_certain = facets
        .iter()
        .all(|it| it.height(center).abs() > PRECISION * size);
    let Some(shortest) = shortest(&touched).filter(|_| is_certain && !touched.is_empty()) else {
        return Verdict::Open;
    };
    // The center must not pass through a facet. A facet that the box did not touch must not be in
    // the way of the box.
    let is_crossed = |it: &Facet| it.crossed_by([center, center + shortest], -PRECISION * size);
    let is_clear = |by: DVec3, facet: &Facet| is_clear(&body.moved(by), facet, PRECISION * size);
    if facets
        .iter()
        .any(|it| is_crossed(it).is_some() || !is_clear(shortest, it))
    {
        return Verdict::Open;
    }
    // A push-out is at most twice as long as the greatest depth, and at most as long as the radius
    // of the shape.
    if shortest.length() > f64::min(1.99 * answer.depth(), size) {
        return Verdict::Open;
    }
    let found = answer.push_out.as_dvec3();
    if (found.length() - shortest.length()).abs() > PRECISION * size {
        return Verdict::Broken(format!("{found:?} instead of {shortest:?}"));
    }
    if let Some(facet) = facets.iter().find(|facet| !is_clear(found, facet)) {
        return Verdict::Broken(format!("{found:?} does not clear {facet:?}"));
    }
    let mut parts = answer.parts.iter();
    match parts.find(|part| !lies_on_both(part, facets, &body, center, size)) {
        Some(part) => Verdict::Broken(format!("a point of {part:?} is beside its shape")),
        None => Verdict::Holds,
    }
}

/// Returns `true` if the contact points lie on the facet and in the body. Along a facet's normal,
/// the point on the facet is the projection of the body's lowest point, so it may be anywhere on
/// the facet's plane.
fn lies_on_both(part: &Touch, facets: &[Facet], body: &Polytope, center: DVec3, size: f64) -> bool {
    let Some(facet) = facets.get(part.facet as usize) else {
        return false;
    };
    let [on_facet, on_body] = part.offsets.map(|offset| offset.as_dvec3());
    let on_body = center + on_body;
    let is_below = |normal: DVec3| on_body.dot(normal) <= body.reach(normal) + PRECISION * size;
    // Normals count as the same if they differ by at most 1e-4.
    let is_own = part.push.as_dvec3().cross(facet.normal).length() < 1.1e-4;
    let is_on_plane = is_own && facet.height(on_facet).abs() <= 2.2e-4 * size;
    let mut normals = body.normals.iter();
    (is_on_plane || facet.distance(on_facet) <= PRECISION * size)
        && normals.all(|it| is_below(*it) && is_below(-*it))
}

fn is_clear(body: &Polytope, facet: &Facet, tolerance: f64) -> bool {
    let ways = body.ways_out(&facet.polytope());
    ways.iter().any(|(depth, _)| *depth <= tolerance)
}

/// Returns the shortest translation that satisfies one way out of each facet.
fn shortest(facets: &[Vec<Way>]) -> Option<DVec3> {
    fn search(facets: &[Vec<Way>], chosen: &mut Vec<Way>, best: &mut Option<DVec3>) {
        let Some(found) = least_norm(chosen) else {
            return;
        };
        if best.is_some_and(|best| best.length() <= found.length()) {
            return;
        }
        let Some((ways, rest)) = facets.split_first() else {
            *best = Some(found);
            return;
        };
        for way in ways {
            chosen.push(*way);
            search(rest, chosen, best);
            chosen.pop();
        }
    }
    let mut best = None;
    search(facets, &mut Vec::new(), &mut best);
    best
}

/// Returns the shortest vector x with x · n >= d for each way (d, n). The candidates are the
/// shortest vectors onto one, two or three of these planes. The result is the shortest candidate
/// that clears all other planes.
fn least_norm(ways: &[Way]) -> Option<DVec3> {
    let clears = |x: &DVec3| {
        let mut ways = ways.iter();
        ways.all(|(depth, normal)| x.dot(*normal) >= depth - 1e-9 * (depth.abs() + x.length()))
    };
    let mut found = vec![DVec3::ZERO];
    for (i, (d, n)) in ways.iter().enumerate() {
        found.push(*n * *d);
        for (j, (e, m)) in ways.iter().enumerate().skip(i + 1) {
            let cosine = n.dot(*m);
            let determinant = 1.0 - cosine * cosine;
            if determinant > 1e-12 {
                let (a, b) = (d - cosine * e, e - cosine * d);
                found.push((*n * a + *m * b) / determinant);
            }
            for (f, o) in ways.iter().skip(j + 1) {
                let rows = DMat3::from_cols(*n, *m, *o).transpose();
                if rows.determinant().abs() > 1e-9 {
                    found.push(rows.inverse() * DVec3::new(*d, *e, *f));
                }
            }
        }
    }
    let clearing = found.into_iter().filter(clears);
    clearing.min_by(|a, b| a.length().total_cmp(&b.length()))
}

#[test]
fn a_box_leaves_facets_by_the_shortest_way() {
    let faults = [("2d", true), ("3d", false)].map(|(space, plane)| {
        let name = format!("shortest in {space}");
        check(&name, USUAL, 0.2, |random| make(random, plane))
    });
    let faults: Vec<String> = faults.into_iter().filter_map(Result::err).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
