//! *Tessellation*: the division of a surface into facets changes no contact.

use bevy::prelude::*;
use rand::{Rng, rngs::StdRng};

use super::{PRECISION, TIE, USUAL, Variant, case, placed, question};
use crate::surface_laws::{
    ask::{Answer, Touch},
    bodies::Surface,
    oracle::Facet,
    shapes::{Kind, Shape},
    trial::{Once, Trial, Verdict},
};

/// The cosine of the angle between normals of different features. Two contacts of equal depth with
/// such normals are a tie, and neither is an imprecise version of the other.
const FAR: f32 = 0.9;

/// Normals that differ by less than this length count as equal. Next to an edge, a face and the
/// edge have the same depth to the last bit, though their normals differ by the square root of this
/// rounding.
const SAME_NORMAL: f32 = 1e-3;

fn make(random: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    let mut surface = Surface::random(random, plane);
    if random.random_range(0..6) == 0 {
        surface.margin = random.random_range(0.01..0.2);
    }
    if random.random_range(0..4) == 0 {
        surface = surface.mapped(random);
    }
    let shape = variant.body(random, &surface)?;
    let shape = placed(random, &surface, &shape)?;
    let split = surface.split(random);
    let others = if plane {
        let dirty = surface.dirty(random);
        vec![split.clone(), split.split(random), dirty]
    } else {
        vec![surface.dirty(random), split.clone(), split.dirty(random)]
    };
    let mut questions = vec![question(&surface, &shape)];
    questions.extend(others.iter().map(|it| question(it, &shape)));
    let mut text = case(&surface, &shape);
    for other in &others {
        text += &format!("\n  {}", other.describe());
    }
    let surfaces = [vec![surface], others].concat();
    Some(Box::new(Once {
        questions,
        judge: Box::new(move |answers| judge(&surfaces, &shape, answers)),
        describe: Box::new(move || text.clone()),
    }))
}

/// Judges that the event has the same depth and normal. Another normal is accepted if, along this
/// normal, the shape gets out of an equally deep facet by the same depth. The verdict is open if
/// the shapes just touch, or if the center is in the plane of a near facet whose two sides both
/// push. In this plane, rounding decides about the side, and for a ball, the depth is the same.
fn judge(surfaces: &[Surface], shape: &Shape, answers: &[Answer]) -> Verdict {
    let ([surface, ..], [base, others @ ..]) = (surfaces, answers) else {
        return Verdict::Open;
    };
    let margin = surface.world_margin();
    let reach = shape.reach() + margin;
    let center = shape.center();
    let facets = surface.all_facets();
    let is_near = |it: &&Facet| it.distance(center) <= reach;
    let near: Vec<&Facet> = facets.iter().flatten().filter(is_near).collect();
    // The precision of a round shape depends on the size of the pair.
    let span = near.iter().map(|it| it.span()).fold(0.0, f64::max);
    let is_round = matches!(shape.kind, Kind::Cylinder(..) | Kind::Cone(..));
    let size = 2.0 * reach + if is_round { span } else { 0.0 };
    let (small, tie) = (PRECISION * size, TIE * size);
    let on_plane = near.iter().any(|it| it.height(center).abs() < tie);
    let is_ball = matches!(shape.kind, Kind::Ball(_));
    if near.is_empty() || (on_plane && !is_ball) {
        return Verdict::Open;
    }
    if answers.iter().map(Answer::depth).fold(0.0, f64::max) <= small {
        return Verdict::Open;
    }
    // Looks for a part of the base that is as deep as the event. Returns `true` if the contact has
    // this part's normal, or leads out of this part's facet by the same depth.
    let clears = |touch: &Touch| {
        let push = touch.push.as_dvec3();
        base.parts.iter().any(|part| {
            let facet = facets.get(part.facet as usize).copied().flatten();
            let is_deep = f64::from(part.depth) >= base.depth() - tie;
            let is_same = part.push.distance(touch.push) <= SAME_NORMAL;
            let way = facet.map_or(f64::INFINITY, |it| it.polytope().reach(push));
            let way = way + margin - center.dot(push) + shape.extent(-push);
            is_deep && (is_same || way <= base.depth() + tie)
        })
    };
    for (number, other) in others.iter().enumerate() {
        let number = number + 1;
        if (other.depth() - base.depth()).abs() > small {
            return Verdict::Broken(format!("the depth of variant {number}"));
        }
        let Some(touch) = other.event else {
            return Verdict::Broken(format!("no contact with variant {number}"));
        };
        let is_tie = base.event.is_some_and(|it| it.push.dot(touch.push) < FAR);
        if !(on_plane || is_tie || clears(&touch)) {
            return Verdict::Broken(format!("the normal of variant {number}"));
        }
    }
    Verdict::Holds
}

#[test]
fn the_tessellation_of_a_surface_changes_no_contact() {
    Variant::Plain.hold("tessellation", USUAL, 0.5, make);
}

#[test]
fn the_tessellation_of_a_surface_changes_no_contact_of_crates() {
    Variant::Crates.hold("tessellation", USUAL, 0.4, make);
}

/// The judge finds another depth, another normal and a missing contact, and accepts equal contacts.
#[test]
fn planted_faults_are_found() {
    let floor = Surface::line("floor", &[(4.0, 0.0), (-4.0, 0.0)]);
    let split = Surface::line("floor", &[(4.0, 0.0), (0.5, 0.0), (-4.0, 0.0)]);
    let surfaces = [floor, split];
    let shape = Shape::ball(1.0, true, Vec3::new(0.25, 0.5, 0.0));
    let answer = |push: Vec3, depth: f32| {
        let touch = Touch {
            push: push.normalize(),
            depth,
            facet: 0,
            other_facet: 0,
            offsets: [Vec3::ZERO; 2],
        };
        Answer {
            event: Some(touch),
            parts: vec![touch],
            push_out: Vec3::ZERO,
        }
    };
    let right = answer(Vec3::Y, 0.5);
    let is_broken = |other: &Answer| {
        let answers = [right.clone(), other.clone()];
        matches!(judge(&surfaces, &shape, &answers), Verdict::Broken(_))
    };
    assert!(!is_broken(&right));
    assert!(is_broken(&answer(Vec3::Y, 0.500_01)));
    assert!(is_broken(&answer(Vec3::new(0.01, 1.0, 0.0), 0.5)));
    let none = Answer {
        event: None,
        parts: vec![],
        push_out: Vec3::ZERO,
    };
    assert!(is_broken(&none));
}
