//! Compares results of the library with the oracle, within tolerances.

use std::{collections::BTreeMap, fmt::Debug};

use bevy::math::DVec3;
use headbutt::query::{Contact, Distance};

use super::{
    Bounds, Convex, SAME_WAY,
    cases::{Case, Dimension},
};

/// The tolerance of a normal's length: the rounding of three components to f32, twice.
const UNIT: f64 = 5e-7;

/// The rounding of a number of size 1 to f32, with a reserve.
pub const ROUNDING: f64 = 1.2e-7;

/// The error of a rotated point in f64, as a fraction of its distance from the center of rotation.
const TURNED: f64 = 1e-15;

/// Returns the tolerance of lengths: a few units in the last place of the shapes' sizes in f32.
/// Points have no size, but an inexact position.
pub fn tolerance<C: Convex>(a: &C, b: &C) -> f64 {
    let turned = TURNED * (a.lever() + b.lever());
    let (a, b) = (a.size(), b.size());
    1e-5 * a.min(b) + 4e-6 * a.max(b) + turned
}

/// A contact in the frame of the oracle, whose origin is the first shape's translation.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub normal: DVec3,
    pub depth: f64,
    pub point_a: DVec3,
    pub point_b: DVec3,
    /// The greatest error of the points from rounding to f32 in world space.
    pub grain: f64,
}

impl Touch {
    pub fn new<V: Dimension>(contact: &Contact<V>, origin: DVec3) -> Self {
        let (point_a, point_b) = (contact.point_a.deep(), contact.point_b.deep());
        Self {
            normal: contact.normal.deep(),
            depth: contact.depth.into(),
            point_a: point_a - origin,
            point_b: point_b - origin,
            grain: ROUNDING * point_a.length().max(point_b.length()),
        }
    }
}

/// A distance in the frame of the oracle.
#[derive(Clone, Copy, Debug)]
pub struct Apart {
    pub distance: f64,
    pub point_a: DVec3,
    pub point_b: DVec3,
    /// The greatest error of the points from rounding to f32 in world space.
    pub grain: f64,
}

impl Apart {
    pub fn new<V: Dimension>(found: &Distance<V>, origin: DVec3) -> Self {
        let (point_a, point_b) = (found.point_a.deep(), found.point_b.deep());
        Self {
            distance: found.distance.into(),
            point_a: point_a - origin,
            point_b: point_b - origin,
            grain: ROUNDING * point_a.length().max(point_b.length()),
        }
    }
}

/// Errors as fractions of their tolerances, by the name of their class.
pub type Errors = Vec<(&'static str, f64)>;

/// Checks that the answer is right, or that the shapes are so close to touching that the input does
/// not determine the answer.
pub fn check_verdict<C: Convex>(a: &C, b: &C, hit: bool) -> Result<(), String> {
    judge_verdict(&C::bounds(a, b), tolerance(a, b), hit)
}

pub fn judge_verdict(truth: &Bounds, tolerance: f64, hit: bool) -> Result<(), String> {
    if (hit && truth.low > tolerance) || (!hit && truth.high < -tolerance) {
        return Err(format!("hit is {hit}, in truth {truth:?}"));
    }
    Ok(())
}

/// Checks a contact. The normal must have length 1, and the depth must be the least depth. Moving
/// by the depth must leave the shapes touching. The points must lie where the shapes' surfaces face
/// each other.
pub fn check_contact<C: Convex>(a: &C, b: &C, touch: &Touch) -> Result<Errors, String> {
    judge_contact(a, b, &C::bounds(a, b), touch)
}

pub fn judge_contact<C: Convex>(
    a: &C,
    b: &C,
    truth: &Bounds,
    touch: &Touch,
) -> Result<Errors, String> {
    let tolerance = tolerance(a, b);
    let rounded = tolerance + touch.grain;
    let way = touch.normal * touch.depth;
    let out_of_plane = if a.is_planar() {
        touch.normal.z.abs()
    } else {
        0.0
    };
    // If several translations are equally short, every direction is right.
    let turned = truth
        .normal
        .map(|normal| ("direction", touch.normal.distance(normal), SAME_WAY));
    let errors = [
        ("unit", (touch.normal.length() - 1.0).abs(), UNIT),
        ("plane", out_of_plane, 0.0),
        ("depth", truth.depth().miss(touch.depth), tolerance),
        ("moved", C::bounds(a, &b.moved(way)).miss(0.0), tolerance),
        (
            "reach",
            (a.height(touch.normal) + b.height(-touch.normal) - touch.depth).abs(),
            tolerance,
        ),
        (
            "apart",
            (touch.point_a - touch.point_b - way).length(),
            rounded,
        ),
        (
            "surface a",
            off_surface(a, touch.point_a, touch.normal),
            rounded,
        ),
        (
            "surface b",
            off_surface(b, touch.point_b, -touch.normal),
            rounded,
        ),
    ];
    judge(errors.into_iter().chain(turned))
        .map_err(|text| format!("{text}; in truth {truth:?}, found {touch:?}"))
}

/// Checks that the distance is right, and that the points are on the surfaces and at this distance
/// from each other. The points of touching shapes are in both shapes.
pub fn check_distance<C: Convex>(a: &C, b: &C, found: &Apart) -> Result<Errors, String> {
    judge_distance(a, b, &C::bounds(a, b), found)
}

pub fn judge_distance<C: Convex>(
    a: &C,
    b: &C,
    truth: &Bounds,
    found: &Apart,
) -> Result<Errors, String> {
    let distance = truth.distance();
    let tolerance = tolerance(a, b);
    let rounded = tolerance + found.grain;
    let between = found.point_b - found.point_a;
    // The distance of touching shapes is always 0 and would lower the mean of the other distances.
    let class = if found.distance > 0.0 {
        "distance"
    } else {
        "no distance"
    };
    judge([
        (
            class,
            distance.miss(found.distance),
            tolerance + ROUNDING * distance.high,
        ),
        (
            "between",
            (between.length() - found.distance).abs(),
            rounded + ROUNDING * distance.high,
        ),
        ("in a", a.gap_to(found.point_a).max(0.0), rounded),
        ("in b", b.gap_to(found.point_b).max(0.0), rounded),
    ])
    .map_err(|text| format!("{text}; in truth {truth:?}, found {found:?}"))
}

/// Returns the distance of a point from the part of the surface with this outward normal.
fn off_surface(body: &impl Convex, point: DVec3, normal: DVec3) -> f64 {
    let below = (body.height(normal) - point.dot(normal)).abs();
    below.max(body.gap_to(point))
}

/// Returns all errors as fractions of their limits, or describes the errors beyond their limits.
fn judge(errors: impl IntoIterator<Item = (&'static str, f64, f64)>) -> Result<Errors, String> {
    let errors: Vec<_> = errors.into_iter().collect();
    let beyond: Vec<String> = errors
        .iter()
        // In this comparison, NaN exceeds every limit.
        .filter(
            |(_, error, limit)| !matches!(error.partial_cmp(limit), Some(order) if order.is_le()),
        )
        .map(|(class, error, limit)| format!("{class} is off by {error:e}, allowed {limit:e}"))
        .collect();
    if !beyond.is_empty() {
        return Err(beyond.join(", "));
    }
    let fraction = |error: f64, limit: f64| if error > 0.0 { error / limit } else { 0.0 };
    Ok(errors
        .into_iter()
        .map(|(class, error, limit)| (class, fraction(error, limit)))
        .collect())
}

/// The results of a test over many cases.
#[derive(Default)]
pub struct Report {
    cases: usize,
    hits: usize,
    worst: BTreeMap<&'static str, f64>,
    failures: Vec<(String, String)>,
}

impl Report {
    pub fn count(&mut self, hit: bool) {
        self.cases += 1;
        self.hits += usize::from(hit);
    }

    pub fn note<V: Dimension>(&mut self, case: &Case<V>, outcome: Result<Errors, String>) {
        match outcome {
            Ok(errors) => {
                for (class, error) in errors {
                    let worst = self.worst.entry(class).or_default();
                    *worst = worst.max(error);
                }
            }
            Err(text) => {
                let kinds = format!("{:?} on {:?}", case.a.kind, case.b.kind);
                self.failures.push((kinds, format!("{text}\n    {case:?}")));
            }
        }
    }

    /// Prints the worst errors, and fails if one of the cases has failed.
    pub fn finish(self, name: &str) {
        let Self {
            cases,
            hits,
            worst,
            failures,
        } = self;
        println!(
            "{name}: {cases} cases, {hits} hits, worst as fractions of the limits {worst:.3?}"
        );
        let mut by_kinds = BTreeMap::<&str, usize>::new();
        for (kinds, _) in &failures {
            *by_kinds.entry(kinds).or_default() += 1;
        }
        let first: String = failures
            .iter()
            .take(5)
            .map(|(kinds, text)| format!("\n{kinds}: {text}"))
            .collect();
        assert!(
            failures.is_empty(),
            "{} of {cases} cases fail: {by_kinds:?}{first}",
            failures.len(),
        );
        // A generator that never hits, or always hits, would test only half of the code.
        let share = hits as f64 / cases as f64;
        assert!((0.25..0.75).contains(&share), "{hits} hits of {cases}");
    }
}

/// Returns `Ok` if two answers are equal bit for bit, according to their `Debug` text, which
/// distinguishes 0 from -0.
pub fn same(what: &'static str, left: impl Debug, right: impl Debug) -> Result<Errors, String> {
    let (left, right) = (format!("{left:?}"), format!("{right:?}"));
    if left == right {
        Ok(vec![])
    } else {
        Err(format!("{what}: {left} and {right}"))
    }
}
