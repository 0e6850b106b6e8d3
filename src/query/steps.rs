//! GJK, EPA and casts step by step, for teaching, drawing, and debugging support functions.
//!
//! Each function of this module computes the same result as the function of the same name in
//! [`query`](crate::query), to within the precision of `query`. In addition, the function passes
//! each step to a [`Trace`], such as a `Vec`:
//!
//! ```
//! use bevy::{math::DVec2, prelude::*};
//! use headbutt::query::steps::{self, Step};
//!
//! let (tile, circle) = (Rectangle::new(2.0, 2.0), Circle::new(0.5));
//! let mut steps: Vec<Step<DVec2>> = Vec::new();
//! let distance = steps::distance(&tile, Vec2::ZERO, &circle, Vec2::new(3.0, 0.0), &mut steps);
//! assert_eq!(distance.distance, 1.5);
//!
//! // The bounds enclose the distance between the cores: the circle's core is its center.
//! for step in &steps {
//!     let Step::Gjk(step) = step else { panic!("separated shapes need no EPA") };
//!     assert!(step.lower_bound <= 2.0 && 2.0 <= step.upper_bound);
//! }
//! ```
//!
//! # Frame
//!
//! All vectors have the axes and the units of the world. A and B are the caller's first and second
//! shape. The fields `first` and `second` of a [`Vertex`] are points of their *cores* in the world.
//! A shape is a core with a radius around it: see [`Support`]. All other points belong to the space
//! of the Minkowski difference A - B = { a - b }. The cores intersect exactly when this difference
//! contains the origin. The solvers compute in the frame of one of the shapes. So the vectors of a
//! trace have an additional rounding error of a few units in the last place of f64.
//!
//! # Differences from the plain functions
//!
//! * The plain functions solve boxes, balls, capsules and polygons in closed form. The functions of
//!   this module run GJK and EPA for these pairs, too. So the results agree within the precision of
//!   [`query`](crate::query#guarantees), but not bit for bit.
//! * A half-space has no support points. A pair with a half-space has no steps, and its result
//!   equals the result of the plain function.
//! * A trace may allocate. The plain functions contain no code for traces.

use crate::{
    query::{
        CastHit, CastOptions, Contact, Distance, Motion, Solver,
        cast::{StartingPair, Uncertain, cast_in_world},
        minkowski::{ActiveTrace, Traced},
        query_partner::pair,
    },
    shape::{DVecOf, Support},
    space::QueryPose,
};

pub use crate::{
    query::minkowski::{EpaStep, GjkStep, Step, Trace, Vertex},
    space::PolytopeFacet,
};

/// Returns the contact of two shapes, or `None` if they do not touch: see
/// [`query::contact`](super::contact()).
///
/// GJK decides whether the shapes touch. If the cores overlap, EPA follows.
pub fn contact<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &A,
    pose_a: impl Into<QueryPose<A::Vector>>,
    b: &B,
    pose_b: impl Into<QueryPose<A::Vector>>,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Option<Contact<A::Vector>> {
    let recording = ActiveTrace::new(trace);
    let pair = pair(a, pose_a.into(), b, pose_b.into())?.traced(Traced::new(&recording));
    let mut solver = Solver::without_closed_form(pair);
    solver.hit().then(|| solver.contact_in_world())
}

/// Returns the distance between two shapes, and their nearest points: see
/// [`query::distance`](super::distance()).
pub fn distance<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &A,
    pose_a: impl Into<QueryPose<A::Vector>>,
    b: &B,
    pose_b: impl Into<QueryPose<A::Vector>>,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Distance<A::Vector> {
    let recording = ActiveTrace::new(trace);
    let Some(pair) = pair(a, pose_a.into(), b, pose_b.into()) else {
        return Distance::infinite();
    };
    let traced = pair.traced(Traced::new(&recording));
    let origins = traced.frame.origins;
    Distance::in_world(Solver::without_closed_form(traced).distance(), origins)
}

/// Returns the first touch of two shapes under linear motion: see
/// [`query::cast_shape`](super::cast_shape), with the default options.
///
/// After the steps of the cast, steps of GJK at a slightly later time of the motion prove that the
/// shapes overlap after the touch. If the shapes touch at the start, or may only graze each other,
/// another algorithm continues without recording steps.
pub fn cast_shape<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &A,
    pose_a: impl Into<QueryPose<A::Vector>>,
    translation_a: A::Vector,
    b: &B,
    pose_b: impl Into<QueryPose<A::Vector>>,
    translation_b: A::Vector,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Option<CastHit<A::Vector>> {
    let motion_a = Motion::linear(pose_a, translation_a);
    let motion_b = Motion::linear(pose_b, translation_b);
    cast_in_world(&motion_a, &motion_b, |[moving_a, moving_b]| {
        let start = StartingPair::new(a, moving_a, b, moving_b);
        let traced = start.cast_traced(trace);
        traced.unwrap_or_else(|Uncertain| start.cast(CastOptions::default()))
    })
}
