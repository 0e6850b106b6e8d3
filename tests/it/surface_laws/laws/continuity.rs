//! *Continuity*: if a shape moves a little, its depth changes only a little.

use bevy::{math::DVec3, prelude::*};
use rand::{Rng, rngs::StdRng};

use super::{USUAL, Variant, case, is_behind, placed, question};
use crate::surface_laws::{
    ask::{Answer, Question},
    bodies::Surface,
    oracle::Facet,
    shapes::{Kind, Shape, direction},
    trial::{Trial, Verdict},
};

/// The number of positions along a path.
const POSITIONS: usize = 24;

/// The length of the step over which a jump is measured, as a fraction of the size.
const STEP: f64 = 4e-6;

/// The error of a depth, as a fraction of the size.
const NOISE: f64 = 1e-6;

/// The greatest change of a depth relative to the step. A shape that slides off a rim is pushed
/// along a fixed normal, and the push grows with the shape's height above the rim.
const SLOPE: f64 = 4.0;

/// Normals that differ by less than this length belong to one feature.
const SAME: f32 = 1e-3;

struct Path {
    surface: Surface,
    facets: Vec<Facet>,
    shape: Shape,
    positions: Vec<Vec3>,
}

impl Path {
    fn size(&self) -> f64 {
        2.0 * self.shape.reach()
    }

    fn is_ball(&self) -> bool {
        matches!(self.shape.kind, Kind::Ball(_))
    }

    /// Returns `true` if the depths at the ends of a step differ by more than a limit. For a ball,
    /// the limit is the step's length, and for other shapes, [`SLOPE`] times this length.
    fn jumps(&self, places: &[Vec3], answers: &[Answer]) -> bool {
        let [from, to] = [places[0], places[1]].map(|it| it.as_dvec3());
        let change = (answers[1].depth() - answers[0].depth()).abs();
        let slope = if self.is_ball() { 1.001 } else { SLOPE };
        change > from.distance(to) * slope + NOISE * self.size()
    }

    /// Returns `true` if a step takes the center to another side: through a facet, or (for a
    /// one-sided surface) through the plane of a near facet.
    fn changes_side(&self, step: [DVec3; 2]) -> bool {
        let reach = (self.shape.reach() + self.surface.world_margin()) * 1.01;
        let heights = |it: &Facet| step.map(|at| it.height(at));
        let small = 2.0 * NOISE * self.size();
        self.facets
            .iter()
            .filter(|it| it.distance(step[0]) <= reach)
            .any(|it| {
                let [start, end] = heights(it);
                let is_through = start * end <= 0.0 || start.abs().min(end.abs()) < small;
                is_through && (self.surface.one_sided || it.inset(step[0]) > -small)
            })
    }
}

impl Trial for Path {
    fn questions(&self) -> Vec<Question> {
        let at = self.positions.iter();
        let at = at.map(|at| question(&self.surface, &self.shape.at(*at)));
        at.collect()
    }

    /// If a step has a jump, one of its halves has a jump, so bisection ends with a jump in a step
    /// of [`STEP`]. This jump breaks the law if the normal is the same on both sides, or if only
    /// one side has a contact. For a ball, every jump breaks the law. The verdict is open if the
    /// center changes sides, or is in the solid behind a one-sided surface. In this solid, a shape
    /// can reach a facet at the facet's rim. At the first touch, the shape is already deep below
    /// the facet's plane.
    fn judge(&mut self, answers: &[Answer]) -> Verdict {
        let mut steps = self.positions.windows(2).zip(answers.windows(2));
        let jump = steps.find(|(places, answers)| self.jumps(places, answers));
        let Some((places, ends)) = jump else {
            let touches = answers.iter().any(|it| it.event.is_some());
            return if touches {
                Verdict::Holds
            } else {
                Verdict::Open
            };
        };
        let (from, to) = (places[0], places[1]);
        let step = [from.as_dvec3(), to.as_dvec3()];
        let middle = from.midpoint(to);
        if step[0].distance(step[1]) > STEP * self.size() && middle != from && middle != to {
            self.positions = vec![from, middle, to];
            return Verdict::Again;
        }
        let is_inside = self.surface.one_sided && is_behind(&self.facets, step[0]);
        if is_inside || self.changes_side(step) {
            return Verdict::Open;
        }
        if let (Some(one), Some(two)) = (&ends[0].event, &ends[1].event)
            && !self.is_ball()
            && one.push.distance(two.push) > SAME
        {
            return Verdict::Open;
        }
        let (one, two) = (ends[0].line(), ends[1].line());
        let (from, to) = (from.to_array(), to.to_array());
        Verdict::Broken(format!("from {from:?} to {to:?}:\n  {one}\n  {two}\n "))
    }

    fn describe(&self) -> String {
        case(&self.surface, &self.shape)
    }
}

fn make(random: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    let mut surface = Surface::random(random, plane);
    if variant == Variant::Altered {
        surface = surface.altered(random);
    } else if random.random_range(0..3) == 0 {
        surface = surface.dirty(random);
    }
    let shape = variant.body(random, &surface)?;
    // The middle of a cone is not its origin.
    if matches!(shape.kind, Kind::Cone(..)) {
        return None;
    }
    let shape = placed(random, &surface, &shape)?;
    let length = shape.reach() * random.random_range(0.01..1.0);
    let way = (direction(random, plane) * length).as_vec3();
    let start = shape.pose.translation;
    let positions = (0..POSITIONS).map(|it| start + way * (it as f32 / (POSITIONS - 1) as f32));
    Some(Box::new(Path {
        facets: surface.world_facets(),
        surface,
        shape,
        positions: positions.collect(),
    }))
}

#[test]
fn depths_change_no_faster_than_positions() {
    Variant::Plain.hold("continuity", USUAL / 4, 0.4, make);
}

#[test]
fn depths_in_altered_surfaces_change_no_faster_than_positions() {
    Variant::Altered.hold("continuity", USUAL / 4, 0.4, make);
}

#[test]
fn depths_of_crates_change_no_faster_than_positions() {
    Variant::Crates.hold("continuity", USUAL / 4, 0.4, make);
}

/// The judge finds a contact that ends while it is deep, and a depth that jumps, but accepts a
/// depth that decreases with the translation.
#[test]
fn planted_jumps_are_found() {
    let answer = |depth: Option<f32>| Answer {
        event: depth.map(|depth| crate::surface_laws::ask::Touch {
            push: Vec3::Y,
            depth,
            facet: 0,
            other_facet: 0,
            offsets: [Vec3::ZERO; 2],
        }),
        parts: vec![],
        push_out: Vec3::ZERO,
    };
    let surface = Surface::line("floor", &[(4.0, 0.0), (-4.0, 0.0)]);
    let judge = |depths: [Option<f32>; 2]| {
        let start = Vec3::new(0.0, 0.5, 0.0);
        let mut path = Path {
            facets: surface.world_facets(),
            surface: surface.clone(),
            shape: Shape::ball(1.0, true, start),
            positions: vec![start, start + Vec3::Y * 4e-6],
        };
        path.judge(&depths.map(answer))
    };
    assert!(matches!(
        judge([Some(0.5), Some(0.499_996)]),
        Verdict::Holds
    ));
    assert!(matches!(
        judge([Some(0.5), Some(0.5001)]),
        Verdict::Broken(_)
    ));
    assert!(matches!(judge([Some(0.5), None]), Verdict::Broken(_)));
    assert!(matches!(judge([None, None]), Verdict::Open));
}
