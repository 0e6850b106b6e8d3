//! *Economy*: while the center of a shape is outside, a closed convex mesh pushes it like the
//! mesh's hull.

use bevy::{math::DVec3, prelude::*};
use headbutt::query;
use rand::{Rng, rngs::StdRng};

use super::{
    PRECISION, TIE, USUAL, Variant, balls::assert_closest_points_hold, case, placed, question,
};
use crate::surface_laws::{
    ask::Answer,
    bodies::Surface,
    oracle::{Facet, Polytope},
    shapes::{Kind, Shape},
    trial::{Once, Trial, Verdict},
};

/// The precision of depths of cylinders that are deep inside.
const ROUND: f64 = 1e-5;

fn make(random: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    let mut surface = Surface::random_convex(random, plane);
    surface.one_sided = random.random();
    if variant == Variant::Altered {
        surface.margin = [0.0, random.random_range(0.01..0.3)][random.random_range(0..2)];
        surface = surface.mapped(random);
    }
    let clean = surface.clone();
    let surface = match random.random_range(0..3) {
        0 => surface.split(random),
        1 => surface.dirty(random),
        _ => surface,
    };
    let shape = variant.body(random, &surface)?;
    let is_rounded = surface.margin > 0.0;
    match shape.kind {
        Kind::Cone(..) => return None,
        // The query's hull has no margin.
        Kind::Cylinder(..) if is_rounded => return None,
        _ => {}
    }
    let shape = placed(random, &clean, &shape)?;
    let (told_surface, told_shape) = (surface.clone(), shape.clone());
    Some(Box::new(Once {
        questions: vec![question(&surface, &shape)],
        judge: Box::new(move |answers| judge(&clean, &shape, &answers[0])),
        describe: Box::new(move || case(&told_surface, &told_shape)),
    }))
}

/// Returns the hull of a closed convex mesh.
fn polytope(facets: &[Facet]) -> Polytope {
    let mut points = Vec::new();
    let (mut normals, mut edges) = (Vec::new(), Vec::new());
    for facet in facets {
        points.extend(facet.corners);
        normals.push(facet.normal);
        if !facet.is_segment() {
            edges.extend(facet.edges().map(|[a, b]| (b - a).normalize()));
        }
    }
    for list in [&mut normals, &mut edges] {
        let mut unique = Vec::new();
        for vector in list.iter() {
            let is_new = |old: &DVec3| old.cross(*vector).length() > 1e-9;
            if unique.iter().all(is_new) {
                unique.push(*vector);
            }
        }
        *list = unique;
    }
    points.dedup();
    Polytope {
        points,
        normals,
        edges,
    }
}

/// Returns the penetration of a shape in the hull with a margin around it, which is negative if
/// they are separated. Also returns the direction in which the shape gets out, if its core is in
/// the hull. Returns `None` for a shape without an exact penetration.
fn penetration(
    shape: &Shape,
    hull: &Polytope,
    facets: &[Facet],
    margin: f64,
) -> Option<(f64, Option<DVec3>)> {
    let (core, radius) = shape.core()?;
    let radius = radius + margin;
    if let Some((depth, push)) = core.penetration(hull) {
        return Some((depth + radius, Some(push)));
    }
    let is_round = radius > 0.0;
    let distances = facets
        .iter()
        .filter(|_| is_round)
        .map(|it| core.distance(it));
    let distance = distances.fold(f64::INFINITY, f64::min);
    Some((radius - distance, None))
}

/// Returns the contact with the convex hull of a surface's vertices, by the library's query.
fn contact_with(surface: &Surface, shape: &Shape) -> Option<query::Contact<Vec3>> {
    let map = surface.map();
    let points = surface.points.iter().map(|it| it.as_dvec3());
    let points = points.map(|it| map.transform_point3(it).as_vec3());
    shape.contact_with_hull(&points.collect::<Vec<_>>())
}

/// Judges that the depth is the penetration of the convex hulls, computed along all axes that can
/// separate them (for cylinders, by `query::contact`). A translation by this depth along the normal
/// must separate the shape from the hull. The verdict is open if the center is inside the mesh, or
/// if the shortest translation takes it through the mesh.
fn judge(surface: &Surface, shape: &Shape, answer: &Answer) -> Verdict {
    let facets = surface.world_facets();
    let hull = polytope(&facets);
    let margin = surface.world_margin();
    let center = shape.center();
    let width = hull.points.iter().map(|it| it.length()).fold(0.0, f64::max);
    let size = 2.0 * (shape.reach() + margin + width);
    let outside = facets.iter().map(|it| it.height(center));
    if outside.fold(f64::NEG_INFINITY, f64::max) < TIE * size {
        return Verdict::Open;
    }
    let (depth, small, push) = match penetration(shape, &hull, &facets, margin) {
        Some((depth, push)) => (depth, PRECISION * size, push),
        None => {
            let contact = contact_with(surface, shape);
            let depth = contact.map_or(f64::NEG_INFINITY, |it| f64::from(it.depth));
            let push = contact.map(|it| it.normal.as_dvec3());
            (depth, ROUND * size, push)
        }
    };
    if depth < small {
        return match answer.event {
            Some(_) if depth < -small && answer.depth() > small => {
                Verdict::Broken(format!("a contact, {} apart", -depth))
            }
            _ => Verdict::Open,
        };
    }
    let is_through = |push: DVec3| {
        facets.iter().any(|it| {
            it.crossed_by([center, center + push * depth], 0.0)
                .is_some()
        })
    };
    if push.is_some_and(is_through) {
        return Verdict::Open;
    }
    let Some(event) = answer.event else {
        return Verdict::Broken(format!("no contact; expected depth {depth:e}"));
    };
    if (answer.depth() - depth).abs() > small {
        return Verdict::Broken(format!("the depth; expected {depth:e}"));
    }
    let push = event.push.as_dvec3();
    let moved = shape.at((center + push * depth).as_vec3());
    let remaining = match penetration(&moved, &hull, &facets, margin) {
        Some((depth, _)) => depth,
        None => contact_with(surface, &moved).map_or(0.0, |it| f64::from(it.depth)),
    };
    if remaining > 2.0 * small {
        let push = push.to_array();
        return Verdict::Broken(format!("the normal {push:?}, which leaves {remaining:e}"));
    }
    Verdict::Holds
}

#[test]
fn a_closed_convex_mesh_pushes_as_its_hull_does() {
    Variant::Plain.hold("economy", USUAL, 0.4, make);
}

#[test]
fn a_mapped_or_rounded_convex_mesh_pushes_as_its_hull_does() {
    Variant::Altered.hold("economy", USUAL, 0.4, make);
}

#[test]
fn a_closed_convex_mesh_pushes_crates_as_its_hull_does() {
    Variant::Crates.hold("economy", USUAL, 0.3, make);
}

/// A box with its center over a cube is deep in the cube's side. The shortest translation is
/// sideways, and the judge accepts no other translation.
#[test]
fn planted_faults_are_found() {
    let outline = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    let cube = Surface::prism("cube", &outline, 1.0, &[[0, 1, 2], [0, 2, 3]]);
    let kind = Kind::Box(Vec3::new(0.5, 0.75, 0.5));
    let pose = Transform::from_xyz(1.25, 1.5, 0.0);
    let shape = Shape {
        kind,
        plane: false,
        pose,
    };
    // Along x and y, the translation is 0.25. Along z, it is 1.5.
    let answer = |push: Vec3, depth: f32| Answer {
        event: Some(crate::surface_laws::ask::Touch {
            push,
            depth,
            facet: 0,
            other_facet: 0,
            offsets: [Vec3::ZERO; 2],
        }),
        parts: vec![],
        push_out: Vec3::ZERO,
    };
    let is_broken = |answer| matches!(judge(&cube, &shape, &answer), Verdict::Broken(_));
    assert!(!is_broken(answer(Vec3::X, 0.25)));
    assert!(!is_broken(answer(Vec3::Y, 0.25)));
    assert!(is_broken(answer(Vec3::Z, 0.25)));
    assert!(is_broken(answer(Vec3::NEG_X, 0.25)));
    assert!(is_broken(answer(Vec3::X, 0.2501)));
    let none = Answer {
        event: None,
        ..answer(Vec3::X, 0.25)
    };
    assert!(is_broken(none));
}

/// The closest points of balls also satisfy this law.
#[test]
fn the_closest_points_of_balls_hold() {
    let surface = |random: &mut StdRng, plane| {
        let mut surface = Surface::random_convex(random, plane);
        surface.one_sided = random.random();
        surface
    };
    assert_closest_points_hold(surface, judge);
}
