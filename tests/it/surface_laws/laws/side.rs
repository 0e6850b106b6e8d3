//! *Side*: if a shape's center is outside of a surface, neither a part nor the whole translation
//! pushes the shape through the surface.

use bevy::{math::DVec3, prelude::*};
use rand::{Rng, rngs::StdRng};

use super::{TIE, USUAL, Variant, balls::assert_closest_points_hold, case, placed, question};
use crate::surface_laws::{
    ask::Answer,
    bodies::Surface,
    oracle::Facet,
    shapes::{Kind, Shape},
    trial::{Once, Trial, Verdict},
};

/// The distance from the contact point at which the side is tested, as a fraction of the size.
const STEP: f64 = 1e-3;

/// Returns a case that is judged by one of the two laws here.
fn make(
    random: &mut StdRng,
    plane: bool,
    variant: Variant,
    judge: fn(&Surface, &Shape, &Answer) -> Verdict,
) -> Option<Box<dyn Trial>> {
    let mut surface = Surface::random(random, plane);
    if !plane && random.random() {
        let (count, kind) = (random.random_range(2..13), random.random_range(0..4));
        surface = Surface::around_a_vertex(count, kind, random);
    }
    if random.random_range(0..3) == 0 {
        surface = surface.dirty(random);
        if random.random_range(0..3) == 0 {
            surface = surface.jittered(random);
        }
    }
    if variant == Variant::Altered {
        surface = surface.altered(random);
    }
    let shape = variant.body(random, &surface)?;
    if matches!(shape.kind, Kind::Cone(..)) {
        return None;
    }
    let shape = placed(random, &surface, &shape)?;
    let (told_surface, told_shape) = (surface.clone(), shape.clone());
    Some(Box::new(Once {
        questions: vec![question(&surface, &shape)],
        judge: Box::new(move |answers| judge(&surface, &shape, &answers[0])),
        describe: Box::new(move || case(&told_surface, &told_shape)),
    }))
}

/// Judges the side of each part's push. A point slightly off the contact point in the direction of
/// the push must be on the same side of the surface as the shape's center. So no facet with the
/// contact point lies between these two points. In an acute corner, this point may be beyond the
/// other facet, so a point slightly off the part's own facet is also accepted. No facet of a
/// one-sided surface pushes at an inner point if the center is behind the facet. The verdict is
/// open in two cases: the contact is so deep that the center is below the contact point, or the
/// center is in the plane of a facet.
fn judge(surface: &Surface, shape: &Shape, answer: &Answer) -> Verdict {
    let size = 2.0 * shape.reach();
    let center = shape.center();
    let numbered = surface.all_facets();
    let mut judged = false;
    for part in &answer.parts {
        let Some(Some(facet)) = numbered.get(part.facet as usize) else {
            return Verdict::Broken(format!("part {} is no facet", part.facet));
        };
        let push = part.push.as_dvec3();
        let on_margin: DVec3 = surface.map().translation + part.offsets[0].as_dvec3();
        let point = on_margin - push * surface.world_margin();
        let meets = |it: &Facet| it.distance(point) < 1e-5 * size;
        let around = || numbered.iter().flatten().filter(|it| meets(it));
        if (center - point).dot(push) < TIE * size
            || around().any(|it| it.height(center).abs() < STEP * size)
        {
            continue;
        }
        judged = true;
        let inset = facet.inset(point);
        if surface.one_sided && inset > TIE * size && facet.height(center) < 0.0 {
            return Verdict::Broken(format!("the back of facet {} pushes", part.facet));
        }
        let hides = |it: &Facet, from: DVec3| {
            let beyond = -it.height(from) * it.height(center).signum();
            beyond > 1e-3 * STEP * size && it.crossed_by([from, center], 0.0).is_some()
        };
        let [a, b, c] = facet.corners;
        let middle = if surface.plane {
            (a + b) / 2.0
        } else {
            (a + b + c) / 3.0
        };
        let inward = (middle - point).normalize_or_zero() + push * 0.05;
        let seen = [push, inward].map(|way| {
            let from = point + way * STEP * size;
            !around().any(|it| hides(it, from))
        });
        if seen == [false; 2] {
            let why = format!("{:?} at {:?}", push.to_array(), point.to_array());
            return Verdict::Broken(format!(
                "part {} pushes through the surface: {why}",
                part.facet
            ));
        }
    }
    if judged {
        Verdict::Holds
    } else {
        Verdict::Open
    }
}

fn side_of_parts(it: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    make(it, plane, variant, judge)
}

fn side_of_moves(it: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    make(it, plane, variant, judge_move)
}

/// If the dot product of the normals of two parts is below this value, the parts squeeze the shape,
/// and no translation clears both parts.
const OPPOSITE: f32 = -0.95;

/// Judges that the translation out of the surface takes the center through no facet. The verdict is
/// open if the center is in the plane of a near facet, inside a closed surface or behind a
/// one-sided surface. It is also open if the shape barely moves or is squeezed.
fn judge_move(surface: &Surface, shape: &Shape, answer: &Answer) -> Verdict {
    let size = 2.0 * shape.reach();
    let center = shape.center();
    let facets = surface.world_facets();
    let way = answer.push_out.as_dvec3();
    let near = facets.iter().filter(|it| it.distance(center) < size);
    let is_on_plane = |it: &Facet| it.height(center).abs() < STEP * size;
    let is_behind = |it: &Facet| surface.one_sided && it.height(center) < 0.0;
    let is_open = |it: &Facet| is_on_plane(it) || is_behind(it);
    let is_inside = surface.closed && super::is_behind(&facets, center);
    let mut pairs = answer.parts.iter().enumerate().flat_map(|(number, one)| {
        let others = answer.parts.iter().skip(number + 1);
        others.map(|other| one.push.dot(other.push))
    });
    let is_squeezed = pairs.any(|it| it < OPPOSITE);
    if way.length() < STEP * size || is_squeezed || is_inside || near.clone().any(is_open) {
        return Verdict::Open;
    }
    let step = [center, center + way];
    let is_through = |it: &Facet| {
        it.crossed_by(step, TIE * size).is_some() && it.height(step[1]).abs() > STEP * size
    };
    match facets.iter().position(is_through) {
        Some(number) => {
            let way = way.to_array();
            Verdict::Broken(format!("the move {way:?} goes through facet {number}"))
        }
        None => Verdict::Holds,
    }
}

#[test]
fn no_translation_takes_a_center_through_a_surface() {
    Variant::Plain.hold("side of moves", USUAL, 0.5, side_of_moves);
}

#[test]
fn no_translation_takes_a_center_through_an_altered_surface() {
    Variant::Altered.hold("side of moves", USUAL, 0.5, side_of_moves);
}

#[test]
fn no_translation_takes_a_crates_center_through_a_surface() {
    Variant::Crates.hold("side of moves", USUAL, 0.5, side_of_moves);
}

#[test]
fn a_planted_translation_through_the_surface_is_found() {
    let floor = Surface::line("floor", &[(4.0, 0.0), (-4.0, 0.0)]);
    let ball = Shape::ball(1.0, true, Vec3::Y * 0.5);
    for (move_by, is_through) in [(0.5, false), (-0.4, false), (-1.5, true)] {
        let answer = Answer {
            event: None,
            parts: vec![],
            push_out: Vec3::Y * move_by,
        };
        let verdict = judge_move(&floor, &ball, &answer);
        assert_eq!(
            matches!(verdict, Verdict::Broken(_)),
            is_through,
            "{move_by}"
        );
    }
}

#[test]
fn no_shape_is_pushed_through_a_surface() {
    Variant::Plain.hold("side", USUAL, 0.6, side_of_parts);
}

#[test]
fn no_shape_is_pushed_through_an_altered_surface() {
    Variant::Altered.hold("side", USUAL, 0.6, side_of_parts);
}

#[test]
fn no_crate_is_pushed_through_a_surface() {
    Variant::Crates.hold("side", USUAL, 0.6, side_of_parts);
}

/// The judge finds a contact at the tip of a peak that pushes down, and accepts a contact that
/// pushes up.
#[test]
fn planted_faults_are_found() {
    let surface = Surface::line("peak", &[(4.0, -1.0), (0.0, 0.0), (-4.0, -6.0)]);
    // The ball is above one slope, and behind the plane of the other, steep slope.
    let shape = Shape::ball(1.0, true, Vec3::new(1.0, 0.1, 0.0));
    let is_broken = |push: Vec3, facet: u32| {
        let touch = crate::surface_laws::ask::Touch {
            push: push.normalize(),
            depth: 0.1,
            facet,
            other_facet: 0,
            offsets: [Vec3::ZERO; 2],
        };
        let answer = Answer {
            event: Some(touch),
            parts: vec![touch],
            push_out: Vec3::ZERO,
        };
        matches!(judge(&surface, &shape, &answer), Verdict::Broken(_))
    };
    assert!(!is_broken(Vec3::Y, 0));
    assert!(!is_broken(Vec3::new(1.0, 4.0, 0.0), 0));
    assert!(is_broken(Vec3::new(6.0, -4.0, 0.0), 1));
    let mut one_sided = surface.clone();
    one_sided.one_sided = true;
    let behind = Shape::ball(1.0, true, Vec3::new(2.0, -0.6, 0.0));
    let touch = crate::surface_laws::ask::Touch {
        push: Vec3::new(-1.0, -4.0, 0.0).normalize(),
        depth: 0.1,
        facet: 0,
        other_facet: 0,
        offsets: [Vec3::new(2.0, -0.5, 0.0), Vec3::ZERO],
    };
    let answer = Answer {
        event: Some(touch),
        parts: vec![touch],
        push_out: Vec3::ZERO,
    };
    assert!(matches!(
        judge(&one_sided, &behind, &answer),
        Verdict::Broken(_)
    ));
    assert!(matches!(judge(&surface, &behind, &answer), Verdict::Holds));
}

/// The closest points of balls also satisfy this law.
#[test]
fn the_closest_points_of_balls_hold() {
    assert_closest_points_hold(Surface::random, judge);
}
