//! *Completeness*: in a corner, after at most eight ticks of `push_out`, the shape overlaps no
//! facet.

use bevy::{math::DVec3, prelude::*};
use rand::{Rng, rngs::StdRng};

use super::{USUAL, Variant, case, question};
use crate::surface_laws::{
    ask::{Answer, Question},
    bodies::Surface,
    oracle::Facet,
    shapes::{Kind, Shape, direction, snapped},
    trial::{Trial, Verdict},
};

/// The depth that may remain, as a fraction of the size.
const SLOP: f64 = 1e-4;

/// The number of ticks in which a shape must get out of a corner.
const TICKS: usize = 8;

struct Corner {
    surface: Surface,
    facets: Vec<Facet>,
    start: Shape,
    shape: Shape,
    ticks: usize,
}

impl Corner {
    /// Returns the depth of the shape in a facet, which counts as a thin plate. Returns `None` for
    /// a shape without an exact depth.
    fn depth_in(&self, facet: &Facet) -> Option<f64> {
        let (core, radius) = self.shape.core()?;
        let radius = radius + self.surface.world_margin();
        match core.penetration(&facet.polytope()) {
            Some((depth, _)) if core.points.len() > 1 => Some(depth + radius),
            _ => Some(radius - core.distance(facet)),
        }
    }

    /// Returns `true` if the center is above the surface, which in its own frame is a graph over
    /// the xz plane (or x). A dirty surface also has facets that face down.
    fn is_above(&self) -> bool {
        let center = self.shape.center();
        let up = self.surface.map().transform_vector3(DVec3::Y);
        let down = [center, center - up * 100.0];
        let is_over = |it: &&Facet| it.height(center) * it.normal.dot(up) > 0.0;
        let mut facets = self.facets.iter().filter(is_over);
        facets.any(|it| it.crossed_by(down, -1e-6).is_some())
    }
}

impl Trial for Corner {
    fn questions(&self) -> Vec<Question> {
        vec![question(&self.surface, &self.shape)]
    }

    fn judge(&mut self, answers: &[Answer]) -> Verdict {
        let answer = &answers[0];
        let size = 2.0 * self.shape.reach();
        let at = self.shape.pose.translation.abs().max_element();
        // Far from the origin, translations in f32 are on a coarse grid.
        let slop = SLOP * size + 4.0 * f64::from(at.next_up() - at);
        let depths = self
            .facets
            .iter()
            .map(|it| self.depth_in(it).unwrap_or(-1.0));
        let deepest = depths.fold(answer.depth(), f64::max);
        if !self.is_above() {
            return Verdict::Broken("the center is through the surface, or far away".into());
        }
        if deepest <= slop {
            if self.ticks == 0 {
                return Verdict::Open;
            }
            return Verdict::Holds;
        }
        let way = answer.push_out;
        if self.ticks == TICKS {
            let why = format!("still {deepest:e} deep after {TICKS} ticks");
            return Verdict::Broken(why);
        }
        if f64::from(way.length()) <= 0.1 * slop {
            let why = format!("{deepest:e} deep, and not pushed, in tick {}", self.ticks);
            return Verdict::Broken(why);
        }
        self.shape.pose.translation += way;
        self.ticks += 1;
        Verdict::Again
    }

    fn describe(&self) -> String {
        let now = self.shape.pose.translation.to_array();
        format!("{}\n  now at {now:?}", case(&self.surface, &self.start))
    }
}

/// Returns a case of a floor and a wall, and a shape that is deep in the floor, and just touches or
/// overlaps the wall. The shape's size and position are exact.
fn in_a_room(random: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    let mut surface = if plane {
        Surface::line("room", &[(8.0, 0.0), (0.0, 0.0), (0.0, 8.0)])
    } else {
        let cell = [10.0, 1.0, 0.25][random.random_range(0..3)];
        let profile = [(0.0, 8.0), (0.0, 0.0), (8.0, 0.0)];
        Surface::sheet("room", &profile, cell, random)
    };
    surface.one_sided = random.random();
    let mut number = |range: core::ops::Range<f32>| snapped(random.random_range(range), 16.0);
    let half = Vec3::new(number(0.125..0.7), number(0.125..0.7), number(0.125..0.7));
    let into = number(0.0..0.25) * half.x;
    let at = Vec3::new(half.x - into, number(0.0625..half.y), 0.0);
    let corners = (0..8).map(|it| {
        let side = |bit: usize| if it >> bit & 1 == 0 { -1.0 } else { 1.0 };
        half * Vec3::new(side(0), side(1), if plane { 0.0 } else { side(2) })
    });
    let kind = match random.random_range(0..3) {
        _ if variant == Variant::Crates => Kind::Crate(if plane { half.with_z(0.0) } else { half }),
        0 => Kind::Box(if plane { half.with_z(0.0) } else { half }),
        1 => Kind::Capsule(half.y, half.x),
        _ => Kind::Hull(corners.collect()),
    };
    let pose = Transform::from_translation(at);
    let shape = Shape { kind, plane, pose };
    Some(Box::new(Corner {
        facets: surface.world_facets(),
        surface,
        start: shape.clone(),
        shape,
        ticks: 0,
    }))
}

/// Returns a corner of 2 to 6 facets and a shape whose center is above the corner. The corner is
/// concave, convex or a saddle, and its vertex or ridge is at the origin.
fn make(random: &mut StdRng, plane: bool, variant: Variant) -> Option<Box<dyn Trial>> {
    if random.random_range(0..3) == 0 {
        return in_a_room(random, plane, variant);
    }
    let mut surface = if plane {
        let mut height = || snapped(random.random_range(-6.0..6.0), 64.0);
        let (a, b) = (height(), height());
        Surface::line("corner", &[(8.0, a), (0.0, 0.0), (-8.0, b)])
    } else {
        let count = random.random_range(2..13);
        match random.random_range(0..4) {
            3 => {
                let mut height = || snapped(random.random_range(-4.0..4.0), 64.0);
                let mut heights = [0; 9].map(|_| height());
                heights[4] = 0.0;
                Surface::field("field", 4.0, 3, &heights, random)
            }
            kind => Surface::around_a_vertex(count, kind, random),
        }
    };
    surface.one_sided = random.random();
    let size = random.random_range(0.1..0.8);
    let shape = match variant {
        Variant::Crates => Shape::random_crate(random, plane, size, surface.extent())?,
        _ => Shape::random(random, plane, size),
    };
    if matches!(shape.kind, Kind::Cone(..)) {
        return None;
    }
    let offset = direction(random, plane) * shape.reach();
    let mut at = (offset * random.random_range(0.0..1.2)).as_vec3();
    if random.random_range(0..4) == 0 {
        at = at.map(|it| snapped(it, 16.0));
    }
    let mut shape = shape.at(at);
    if variant == Variant::Altered {
        surface = surface.altered(random);
        let here = surface.map().transform_point3(shape.center());
        shape = shape.at(here.as_vec3());
    }
    let corner = Corner {
        facets: surface.world_facets(),
        surface,
        start: shape.clone(),
        shape,
        ticks: 0,
    };
    let center = corner.shape.center();
    let margin = 0.02 * corner.shape.reach();
    let is_clear = corner.facets.iter().all(|it| it.distance(center) > margin);
    let is_near = corner.shape.reach() < 1.5;
    (is_clear && is_near && corner.is_above()).then(|| Box::new(corner) as Box<dyn Trial>)
}

#[test]
fn a_shape_pushed_out_of_a_corner_overlaps_no_facet() {
    Variant::Plain.hold("completeness", USUAL, 0.45, make);
}

#[test]
fn a_shape_pushed_out_of_an_altered_corner_overlaps_no_facet() {
    Variant::Altered.hold("completeness", USUAL, 0.45, make);
}

#[test]
fn a_crate_pushed_out_of_a_corner_overlaps_no_facet() {
    Variant::Crates.hold("completeness", USUAL, 0.45, make);
}

/// The judge finds a push that leaves the shape in the floor, a push through the floor, and a
/// missing push.
#[test]
fn planted_faults_are_found() {
    let surface = Surface::line("corner", &[(8.0, 0.0), (0.0, 0.0), (-8.0, 0.0)]);
    let shape = Shape::ball(1.0, true, Vec3::Y * 0.5);
    let verdict = |push: Vec3, ticks: usize| {
        let mut corner = Corner {
            facets: surface.world_facets(),
            surface: surface.clone(),
            start: shape.clone(),
            shape: shape.clone(),
            ticks: 0,
        };
        let answer = Answer {
            event: None,
            parts: vec![],
            push_out: push,
        };
        for _ in 0..ticks {
            let verdict = corner.judge(core::slice::from_ref(&answer));
            if !matches!(verdict, Verdict::Again) {
                return verdict;
            }
        }
        Verdict::Open
    };
    assert!(matches!(verdict(Vec3::Y * 0.5, 2), Verdict::Holds));
    assert!(matches!(verdict(Vec3::Y * 0.25, 4), Verdict::Holds));
    for push in [Vec3::ZERO, Vec3::NEG_Y, Vec3::X * 0.01, Vec3::Y * 0.01] {
        let verdict = verdict(push, TICKS + 1);
        assert!(matches!(verdict, Verdict::Broken(_)), "a push of {push}");
    }
}

/// The oracle's depth in a facet is the depth in a thin plate.
#[test]
fn depths_in_a_plate_have_the_closed_form() {
    let surface = Surface::line("line", &[(8.0, 0.0), (-8.0, 0.0)]);
    for (kind, depth) in [
        (Kind::Ball(1.0), 0.25),
        (Kind::Capsule(0.5, 0.5), 0.25),
        (Kind::Capsule(1.0, 0.5), 0.75),
        (Kind::Box(Vec3::new(2.0, 1.0, 0.0)), 0.25),
    ] {
        let pose = Transform::from_xyz(0.0, 0.75, 0.0);
        let plane = true;
        let shape = Shape { kind, plane, pose };
        let corner = Corner {
            facets: surface.world_facets(),
            surface: surface.clone(),
            start: shape.clone(),
            shape,
            ticks: 0,
        };
        let found = corner.depth_in(&corner.facets[0]).expect("it is exact");
        assert!((found - depth).abs() < 1e-12, "{found}, not {depth}");
        assert!(corner.is_above());
    }
}
