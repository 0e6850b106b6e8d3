//! GJK, EPA and casts step by step, to teach them, to draw them, and to debug support functions.
//!
//! The functions of this module answer the same questions as their namesakes in
//! [`query`](crate::query), and pass each step to a [`Trace`], such as a `Vec`:
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
//! shape. `first` and `second` of a [`Vertex`] are points of their *cores* in the world (a shape is
//! a core with a radius around it: see [`Support`]). All other points are points of the Minkowski
//! difference A - B = { a - b }. Its origin stands for equal positions: the cores intersect exactly
//! if it contains the origin. The solvers compute in the frame of one of the shapes, so the vectors
//! of a trace have an additional rounding error of a few units in the last place of f64.
//!
//! # Differences from the plain functions
//!
//! * The plain functions solve boxes, balls, capsules and polygons in closed form. These functions
//!   run the general algorithm for every pair. So the results agree within the precision of
//!   [`query`](crate::query#guarantees), and not bit for bit.
//! * A half-space has no support points. Its pairs have no steps, and the result is that of the
//!   plain function.
//! * A trace may allocate. The plain functions contain no code for traces.

use crate::{
    query::{
        Cast, Contact, Distance, Motion,
        analytic::half_space::HalfSpaceSolver,
        cast::trace_cast,
        gjk::{Gjk, Goal, State},
        minkowski::Pair,
        pair_queries,
        query_partner::pair,
        solver::{gjk_contact, separated},
        traced_pair::TracedPair,
    },
    shape::{DVecOf, Support},
    space::{DVector, ShapePose},
};

pub use crate::{query::minkowski::Vertex, space::Facet};

/// A consumer of the steps of a solver. `D` is `DVec2` or `DVec3`.
///
/// `Vec<Step<D>>` collects them. Implement the trait to filter or to print steps.
pub trait Trace<D> {
    /// Takes the next step.
    fn record(&mut self, step: Step<D>);
}

impl<D> Trace<D> for Vec<Step<D>> {
    fn record(&mut self, step: Step<D>) {
        self.push(step);
    }
}

/// A step of a solver: one evaluation of the support function of the Minkowski difference.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<D> {
    /// An iteration of GJK.
    Gjk(GjkStep<D>),
    /// An evaluation of EPA.
    Epa(EpaStep<D>),
    /// An iteration of a cast: GJK along a ray.
    Cast {
        /// The shapes certainly do not touch before the first time, and certainly touch at the
        /// second one, which may be after the end of the motion. It is infinite as long as no such
        /// time is known.
        interval: [f64; 2],
        /// The state of GJK. Its target moves along the ray: it is the translation of B minus that
        /// of A, both up to the first time. So the bounds do not only converge, but also decrease
        /// with the distance between the shapes.
        gjk: GjkStep<D>,
    },
}

/// The state after an iteration of GJK.
#[derive(Clone, Debug, PartialEq)]
pub struct GjkStep<D> {
    /// The support point in the direction from the last nearest point to the target.
    pub vertex: Vertex<D>,
    /// The reduced simplex: the vertices of which the nearest point is a convex combination. The
    /// loop ends if it does not contain `vertex`.
    pub simplex: Vec<Vertex<D>>,
    /// The point whose distance from the Minkowski difference is measured. This is the origin,
    /// except in casts, and after EPA, where GJK improves the points of the contact.
    pub target: D,
    /// The point of the simplex nearest to the target.
    pub nearest: D,
    /// The greatest known lower bound on the distance, 0 or more.
    pub lower_bound: f64,
    /// The distance from the target to the nearest point: an upper bound. If it is below 1e-10 of
    /// the size of the pair, the cores count as touching.
    pub upper_bound: f64,
}

/// The state of EPA after an evaluation, before the polytope grows.
///
/// If the polytope reaches its capacity, EPA starts again with a larger one.
#[derive(Clone, Debug, PartialEq)]
pub struct EpaStep<D> {
    /// The support point. Its direction is the unit normal of the nearest facet, or, after the
    /// bounds have met, one of a curved surface that may be slightly nearer.
    pub vertex: Vertex<D>,
    /// The vertices so far, without `vertex`.
    pub vertices: Vec<Vertex<D>>,
    /// The facets of the polytope. There are none while the vertices span fewer dimensions than the
    /// space: then `vertex` is the support point in a direction at right angles to them.
    pub facets: Vec<Facet<D>>,
    /// The facet nearest to the origin.
    pub nearest: Option<Facet<D>>,
    /// The distance of the nearest facet: a lower bound on the depth of the cores.
    pub lower_bound: f64,
    /// The least depth of all evaluated directions: an upper bound.
    pub upper_bound: f64,
}

/// Returns the contact of two shapes, or `None` if they do not touch: see
/// [`query::contact`](super::contact()).
///
/// GJK decides whether the shapes touch. If the cores overlap, EPA follows.
pub fn contact<A, B>(
    a: &A,
    pose_a: impl Into<ShapePose<A::Vector>>,
    b: &B,
    pose_b: impl Into<ShapePose<A::Vector>>,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Option<Contact<A::Vector>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let pair = pair(a, pose_a.into(), b, pose_b.into())?;
    if has_half_space(&pair) {
        return pair_queries::contact(pair);
    }
    let traced = TracedPair::new(pair, trace);
    let mut gjk = Gjk::solve(&traced, Goal::Verdict);
    gjk.hit().then(|| {
        let cores = gjk_contact(&mut gjk, &traced);
        let contact = traced.pair.contact(&cores);
        traced.pair.contact_in_world(&contact)
    })
}

/// Returns the distance between two shapes, and their nearest points: see
/// [`query::distance`](super::distance()).
pub fn distance<A, B>(
    a: &A,
    pose_a: impl Into<ShapePose<A::Vector>>,
    b: &B,
    pose_b: impl Into<ShapePose<A::Vector>>,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Distance<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let Some(pair) = pair(a, pose_a.into(), b, pose_b.into()) else {
        return Distance::infinite();
    };
    if has_half_space(&pair) {
        return pair_queries::distance(pair).unwrap_or_else(Distance::infinite);
    }
    let traced = TracedPair::new(pair, trace);
    let pair = &traced.pair;
    let gjk = Gjk::solve(&traced, Goal::Distance);
    if gjk.state == State::Invalid {
        return Distance::infinite();
    }
    let (distance, nearest) = pair.distance(gjk.hit(), &separated(&gjk, DVector::ZERO));
    Distance::new(distance, pair.points_in_world(&nearest))
}

/// Returns the first touch of two shapes under linear motion: see
/// [`query::cast_shape`](super::cast_shape), with the default options.
///
/// The steps of the cast are followed by those of GJK a little later in the motion, which prove
/// that the shapes overlap after the touch. If the shapes touch at the start, or if the touch may
/// only be a passing one, another algorithm continues without steps.
pub fn cast_shape<A, B>(
    a: &A,
    pose_a: impl Into<ShapePose<A::Vector>>,
    translation_a: A::Vector,
    b: &B,
    pose_b: impl Into<ShapePose<A::Vector>>,
    translation_b: A::Vector,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Cast<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let motion_a = Motion::linear(pose_a.into(), translation_a);
    let motion_b = Motion::linear(pose_b.into(), translation_b);
    trace_cast(a, motion_a, b, motion_b, trace)
}

fn has_half_space<A, B>(pair: &Pair<A, B>) -> bool
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    HalfSpaceSolver::new(pair).is_some()
}
