//! *Balls*: the contact of a ball is at the closest point of the surface.

use bevy::{math::DVec3, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{PRECISION, TIE, USUAL, case, is_hidden, placed, question, size};
use crate::surface_laws::{
    ask::{Answer, Touch},
    bodies::Surface,
    oracle::Facet,
    shapes::{Kind, Shape, snapped},
    trial::{Once, Trial, Verdict, hold, numbers},
};

/// Two points coincide if their distance is at most this value. This distance covers the rounding
/// of f64.
const ONE_PLACE: f64 = 1e-10;

/// The pose of the surface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Origin,
    /// The surface is rotated, scaled, mirrored or sheared.
    Mapped,
    Far,
}

fn make(random: &mut StdRng, plane: bool, place: Place) -> Option<Box<dyn Trial>> {
    let (surface, ball) = random_case(random, plane, place)?;
    let (told_surface, told_ball) = (surface.clone(), ball.clone());
    Some(Box::new(Once {
        questions: vec![question(&surface, &ball)],
        judge: Box::new(move |answers| judge(&surface, &ball, &answers[0])),
        describe: Box::new(move || case(&told_surface, &told_ball)),
    }))
}

fn random_case(random: &mut StdRng, plane: bool, place: Place) -> Option<(Surface, Shape)> {
    let mut surface = Surface::random(random, plane);
    if random.random_range(0..5) == 0 {
        surface.margin = random.random_range(0.01..0.3);
    }
    if random.random_range(0..3) == 0 {
        surface = surface.dirty(random);
        if random.random_range(0..3) == 0 {
            surface = surface.jittered(random);
        }
    }
    surface = match place {
        Place::Origin => surface,
        Place::Mapped => surface.mapped(random),
        Place::Far => surface.shifted(random),
    };
    let radius = size(random) * random.random_range(0.25..1.0f32);
    let radius = if random.random() {
        snapped(radius, 64.0)
    } else {
        radius
    };
    let ball = placed(random, &surface, &Shape::ball(radius, plane, Vec3::ZERO))?;
    Some((surface, ball))
}

/// Judges the contact of a ball. Let r be its radius plus the surface's margin, and d the distance
/// of its center from the closest point of the facets that count:
///
/// * There is a contact if d < r, and none if d > r.
/// * The contact's depth is r - d, and its normal leads from the closest point to the center. If
///   two closest points tie within [`TIE`], either normal is right. A center on the surface may be
///   pushed anywhere.
/// * Each part has the depth and the normal of its own facet's closest point. No other facet with
///   this point is closer to the center, so the point is a local minimum of the distance.
/// * If the center's foot is within a facet, and no other facet is between the two points, a part
///   has this facet's normal.
///
/// On a one-sided surface, only facets whose front faces the center count. The verdict is open if
/// the closest facet does not count, because the rim of another facet may be within the solid.
/// There are two exceptions: no facet within reach counts, or the center's foot is within the
/// closest facet that counts.
fn judge(surface: &Surface, ball: &Shape, answer: &Answer) -> Verdict {
    let Kind::Ball(radius) = ball.kind else {
        return Verdict::Open;
    };
    let reach = f64::from(radius) + surface.world_margin();
    let size = 2.0 * reach;
    let (small, tie) = (PRECISION * size, TIE * size);
    let center = ball.center();
    let numbered = surface.all_facets();
    let facets: Vec<Facet> = numbered.iter().flatten().copied().collect();
    // Rounding decides on which side of a plane a center in this plane lies. Under a map of the
    // world, either side is possible.
    let is_on_plane = |it: &Facet| it.height(center).abs() < tie;
    let is_mapped = surface.place != [Transform::IDENTITY; 2];
    let counts = |it: &Facet| !surface.one_sided || it.height(center) >= 0.0;
    let near = facets.iter().filter(|it| it.distance(center) < reach + tie);
    let near: Vec<&Facet> = near.collect();
    if surface.one_sided && is_mapped && near.iter().any(|it| is_on_plane(it)) {
        return Verdict::Open;
    }
    let distance = |it: &&Facet| it.distance(center);
    let pushing: Vec<Facet> = near.iter().filter(|it| counts(it)).map(|it| **it).collect();
    let closest = pushing
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let behind = near.iter().filter(|it| !counts(it)).map(distance);
    let behind = behind.fold(f64::INFINITY, f64::min);
    let Some(closest) = closest.filter(|it| distance(it) <= reach + small) else {
        return match answer.event {
            None if near.is_empty() || near.iter().any(|it| it.distance(center) > reach) => {
                Verdict::Open
            }
            None => Verdict::Holds,
            Some(_) if near.iter().any(|it| counts(it)) => Verdict::Open,
            Some(_) => Verdict::Broken("a contact behind the surface, or with none near".into()),
        };
    };
    let least = distance(&closest);
    if behind < least + tie && closest.inset(center) < tie {
        return Verdict::Open;
    }
    if least > reach - small {
        return Verdict::Open;
    }
    let (depth, toward) = (reach - least, (center - closest.closest(center)) / least);
    let expected = format!("expected push {:?} depth {depth:e}", toward.to_array());
    let Some(event) = answer.event else {
        return Verdict::Broken(format!("no contact; {expected}"));
    };
    let broken = |why: &str| Verdict::Broken(format!("{why}; {expected}"));
    if (f64::from(event.depth) - depth).abs() > small {
        return broken("the depth");
    }
    // The direction is as precise as the distance allows.
    let is_toward = |touch: &Touch, foot: DVec3| {
        let way = center - foot;
        let length = way.length();
        let allowed = 2.0 * PRECISION * (1.0 + size / length);
        length < tie || touch.push.as_dvec3().distance(way / length) <= allowed
    };
    let ties = pushing
        .iter()
        .filter(|it| it.distance(center) <= least + tie);
    let feet = ties.map(|it| it.closest(center));
    if !feet.clone().any(|foot| is_toward(&event, foot)) {
        return broken("the normal");
    }
    for part in &answer.parts {
        let Some(Some(facet)) = numbered.get(part.facet as usize) else {
            return broken(&format!("part {} is no facet", part.facet));
        };
        let foot = facet.closest(center);
        let away = foot.distance(center);
        let is_deep = (f64::from(part.depth) - (reach - away)).abs() <= small;
        if !is_deep || !is_toward(part, foot) {
            return broken(&format!("part {} is not as its closest point", part.facet));
        }
        // (Vertices separated by a rounding error may or may not coincide.)
        let is_closer =
            |it: &&Facet| it.distance(foot) <= ONE_PLACE && it.distance(center) < away - tie;
        // At the rim of a face, rounding decides if the foot is inside, and if it is a minimum.
        let is_rim = facet.inset(center) < -tie;
        if let Some(owner) = pushing.iter().find(|it| is_rim && is_closer(it)) {
            let owner = owner.closest(center).to_array();
            return broken(&format!("part {} is no minimum: {owner:?}", part.facet));
        }
    }
    for facet in &pushing {
        let height = facet.height(center).abs();
        let foot = facet.closest(center);
        let is_clear = facet.inset(center) > tie && height < reach - tie && height > tie;
        // Another facet with the same point may come closer.
        let mut others = pushing.iter().filter(|it| it.distance(foot) <= small);
        let is_owned = others.any(|it| it.distance(center) < height - small);
        if !is_clear || is_owned || is_hidden(&facets, [center, foot]) {
            continue;
        }
        let is_it = |it: &&Touch| {
            (f64::from(it.depth) - (reach - height)).abs() <= small && is_toward(it, foot)
        };
        if !answer.parts.iter().any(|it| is_it(&it)) {
            return broken(&format!("no part for the foot {:?}", foot.to_array()));
        }
    }
    Verdict::Holds
}

#[test]
fn balls_have_closed_form_contacts_in_2d() {
    hold("balls in 2d", 2 * USUAL, 0.5, |it| {
        make(it, true, Place::Origin)
    });
}

#[test]
fn balls_have_closed_form_contacts_in_3d() {
    hold("balls in 3d", 2 * USUAL, 0.5, |it| {
        make(it, false, Place::Origin)
    });
}

#[test]
fn balls_on_mapped_surfaces_have_closed_form_contacts_in_2d() {
    hold("balls on mapped surfaces in 2d", USUAL, 0.5, |it| {
        make(it, true, Place::Mapped)
    });
}

#[test]
fn balls_on_mapped_surfaces_have_closed_form_contacts_in_3d() {
    hold("balls on mapped surfaces in 3d", USUAL, 0.5, |it| {
        make(it, false, Place::Mapped)
    });
}

#[test]
fn balls_on_distant_surfaces_have_closed_form_contacts_in_2d() {
    hold("balls on surfaces far away in 2d", USUAL, 0.5, |it| {
        make(it, true, Place::Far)
    });
}

#[test]
fn balls_on_distant_surfaces_have_closed_form_contacts_in_3d() {
    hold("balls on surfaces far away in 3d", USUAL, 0.5, |it| {
        make(it, false, Place::Far)
    });
}

/// The judge finds a wrong depth, a wrong normal, a missing part and a missing contact.
#[test]
fn planted_faults_are_found() {
    let surface = Surface::line("floor", &[(4.0, 0.0), (-4.0, 0.0), (-4.0, 4.0)]);
    let ball = Shape::ball(1.0, true, Vec3::new(-3.25, 0.5, 0.0));
    let touch = |facet, push, depth| Touch {
        push,
        depth,
        facet,
        other_facet: 0,
        offsets: [Vec3::ZERO; 2],
    };
    let (floor, wall) = (touch(0, Vec3::Y, 0.5), touch(1, Vec3::X, 0.25));
    let answer = |event: Option<Touch>, parts: &[Touch]| Answer {
        event,
        parts: parts.to_vec(),
        push_out: Vec3::ZERO,
    };
    let is_broken = |answer: Answer| matches!(judge(&surface, &ball, &answer), Verdict::Broken(_));
    assert!(!is_broken(answer(Some(floor), &[floor, wall])));
    assert!(is_broken(answer(None, &[])));
    assert!(is_broken(answer(Some(floor), &[floor])));
    let deeper = touch(0, Vec3::Y, 0.50001);
    assert!(is_broken(answer(Some(deeper), &[floor, wall])));
    let leaning = touch(0, Vec3::new(1e-4, 1.0, 0.0), 0.5);
    assert!(is_broken(answer(Some(leaning), &[floor, wall])));
    let corner = touch(1, Vec3::new(0.6, 0.8, 0.0), 0.1);
    assert!(is_broken(answer(Some(floor), &[floor, wall, corner])));
}

/// Returns the result that the law requires, by brute force: the closest points of all facets that
/// count, unless an adjacent facet comes closer.
pub(super) fn model(surface: &Surface, ball: &Shape) -> Answer {
    let Kind::Ball(radius) = ball.kind else {
        unreachable!("all are balls");
    };
    let reach = f64::from(radius) + surface.world_margin();
    let center = ball.center();
    let counts = |it: &Facet| !surface.one_sided || it.height(center) >= 0.0;
    let numbered = surface.all_facets();
    let counting = || numbered.iter().flatten().filter(|it| counts(it));
    let mut parts = Vec::new();
    for (number, facet) in numbered.iter().enumerate() {
        let Some(facet) = facet.filter(counts) else {
            continue;
        };
        let foot = facet.closest(center);
        let away = foot.distance(center);
        let is_closer = |it: &Facet| {
            it.distance(foot) <= 1e-6 * reach && it.distance(center) < away - 1e-6 * reach
        };
        if away <= reach && !counting().any(is_closer) {
            let push = (center - foot).try_normalize().unwrap_or(facet.normal);
            parts.push(Touch {
                push: push.as_vec3(),
                depth: (reach - away) as f32,
                facet: number as u32,
                other_facet: 0,
                offsets: [(foot - surface.map().translation).as_vec3(), Vec3::ZERO],
            });
        }
    }
    let deepest = parts.iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
    Answer {
        event: deepest.copied(),
        parts,
        push_out: Vec3::ZERO,
    }
}

/// The local minima of the distance satisfy the law.
#[test]
fn the_closest_points_hold() {
    let mut random = StdRng::seed_from_u64(1);
    let mut held = 0;
    let numbers = numbers(8000);
    let count = numbers.len();
    for number in numbers {
        let plane = number % 2 == 0;
        let place = if number % 8 < 4 {
            Place::Mapped
        } else {
            Place::Origin
        };
        let Some((surface, ball)) = random_case(&mut random, plane, place) else {
            continue;
        };
        match judge(&surface, &ball, &model(&surface, &ball)) {
            Verdict::Broken(why) => panic!("{why}\n{}", case(&surface, &ball)),
            Verdict::Holds => held += 1,
            _ => {}
        }
    }
    assert!(held > count * 3 / 4, "{held}");
}

/// Asserts that the closest points of balls on random surfaces, mapped or not, hold by a law.
#[track_caller]
pub fn assert_closest_points_hold(
    random_surface: impl Fn(&mut StdRng, bool) -> Surface,
    judge: impl Fn(&Surface, &Shape, &Answer) -> Verdict,
) {
    let mut random = StdRng::seed_from_u64(2);
    let numbers = numbers(4000);
    let (mut held, count) = (0, numbers.len());
    for number in numbers {
        let plane = number % 2 == 0;
        let mut surface = random_surface(&mut random, plane);
        if number % 8 < 4 {
            surface = surface.mapped(&mut random);
        }
        let radius = size(&mut random) * random.random_range(0.25..1.0f32);
        let ball = Shape::ball(radius, plane, Vec3::ZERO);
        let Some(ball) = placed(&mut random, &surface, &ball) else {
            continue;
        };
        match judge(&surface, &ball, &model(&surface, &ball)) {
            Verdict::Broken(why) => panic!("{why}\n{}", case(&surface, &ball)),
            Verdict::Holds => held += 1,
            _ => {}
        }
    }
    assert!(held > count / 3, "{held}");
}
