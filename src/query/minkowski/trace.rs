//! The steps of the solvers, and the traces that record them.

use core::cell::RefCell;

use crate::{
    query::minkowski::{PairFrame, Vertex},
    shape::swap_if,
    space::{DVector, PolytopeFacet},
};

/// A consumer of the steps of a solver. `D` is `DVec2` or `DVec3`.
///
/// A `Vec<Step<D>>` collects all steps. Implement this trait to filter or print steps.
pub trait Trace<D> {
    /// Receives the next step.
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
    /// An evaluation of the support function by EPA.
    Epa(EpaStep<D>),
    /// An iteration of a cast: GJK along a ray.
    Cast {
        /// The interval of time that contains the first touch. The shapes certainly do not touch
        /// before the interval, and certainly touch at its end. The interval may end after the
        /// motion, and is unbounded at first.
        interval: [f64; 2],
        /// The state of GJK. The target of GJK is the translation of B minus the translation of A,
        /// both from time 0 to the start of the interval. The target moves along the ray. So the
        /// bounds not only converge, but also decrease while the shapes approach each other.
        gjk: GjkStep<D>,
    },
}

/// The state after an iteration of GJK.
#[derive(Clone, Debug, PartialEq)]
pub struct GjkStep<D> {
    /// The support point in the direction from the last nearest point to the target.
    pub vertex: Vertex<D>,
    /// The reduced simplex: the vertices of which the nearest point is a convex combination. If the
    /// simplex does not contain `vertex`, the loop ends.
    pub simplex: Vec<Vertex<D>>,
    /// The point whose distance from the Minkowski difference is measured. The target is the
    /// origin, with two exceptions: in casts, and when GJK improves the points of a contact after
    /// EPA.
    pub target: D,
    /// The point of the simplex nearest to the target.
    pub nearest: D,
    /// A lower bound on the distance, 0 or more: the greatest bound so far. In a cast, where the
    /// target moves, the bound follows from `vertex` alone.
    pub lower_bound: f64,
    /// The distance from the target to the nearest point: an upper bound. If this bound is below
    /// 1e-10 of the size of the pair, the cores count as touching.
    pub upper_bound: f64,
}

/// The state of EPA after an evaluation, before the polytope grows.
///
/// If the polytope reaches its capacity, EPA starts once more with a larger capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct EpaStep<D> {
    /// The support point along the unit normal of the nearest facet. After the bounds have met, EPA
    /// also evaluates normals of a curved surface, along which the depth may be slightly lower.
    pub vertex: Vertex<D>,
    /// The vertices so far, without `vertex`.
    pub vertices: Vec<Vertex<D>>,
    /// The facets of the polytope. There are no facets while the vertices span fewer dimensions
    /// than the space. In that case, `vertex` is the support point in a direction at right angles
    /// to all edges between the vertices.
    pub facets: Vec<PolytopeFacet<D>>,
    /// The facet nearest to the origin.
    pub nearest: Option<PolytopeFacet<D>>,
    /// The distance of the nearest facet from the origin: a lower bound on the depth of the cores.
    pub lower_bound: f64,
    /// The minimum depth of all evaluated directions: an upper bound on the depth.
    pub upper_bound: f64,
}

/// The trace of a pair's solvers, or the absence of a trace.
pub trait TraceOption<D>: Copy {
    /// Records a step. The closure `step` returns the step, given the translation of the second
    /// shape since the trace began.
    fn record(&self, step: impl FnOnce(D) -> Step<D>);

    /// Returns the trace for the same pair with the second shape moved.
    fn moved(self, translation: D) -> Self;
}

/// No trace: steps are ignored, and no code for them is generated.
#[derive(Clone, Copy)]
pub struct Untraced;

impl<D> TraceOption<D> for Untraced {
    #[inline(always)]
    fn record(&self, _: impl FnOnce(D) -> Step<D>) {}

    #[inline(always)]
    fn moved(self, _: D) -> Self {
        self
    }
}

/// A trace that receives steps, and the state that these steps share.
pub struct ActiveTrace<'t, D> {
    trace: &'t mut dyn Trace<D>,
    /// The smallest upper bound so far on the time of the first touch.
    touch: f64,
}

impl<'t, D> ActiveTrace<'t, D> {
    pub fn new(trace: &'t mut dyn Trace<D>) -> RefCell<Self> {
        RefCell::new(Self {
            trace,
            touch: f64::INFINITY,
        })
    }
}

/// A reference to an active trace, with the translation of the second shape since the trace began.
#[derive(Clone, Copy)]
pub struct Traced<'t, D> {
    recording: &'t RefCell<ActiveTrace<'t, D>>,
    moved: D,
}

impl<'t, D: DVector> Traced<'t, D> {
    pub fn new(recording: &'t RefCell<ActiveTrace<'t, D>>) -> Self {
        Self {
            recording,
            moved: D::ZERO,
        }
    }
}

impl<D: DVector> TraceOption<D> for Traced<'_, D> {
    fn record(&self, step: impl FnOnce(D) -> Step<D>) {
        // `Trace::record` cannot reach the pair, so it cannot call this function again, and the
        // borrow always succeeds.
        let Ok(mut recording) = self.recording.try_borrow_mut() else {
            return;
        };
        let mut step = step(self.moved);
        if let Step::Cast { interval, .. } = &mut step {
            let [_, touch] = interval;
            *touch = touch.min(recording.touch);
            recording.touch = *touch;
        }
        recording.trace.record(step);
    }

    fn moved(self, translation: D) -> Self {
        Self {
            moved: self.moved + translation,
            ..self
        }
    }
}

/// The frame of a pair, used to convert steps to world axes and the caller's order.
pub struct MovedFrame<'a, D: DVector> {
    pub frame: &'a PairFrame<D>,
    /// The translation by which the second shape has been moved.
    pub moved: D,
}

impl<D: DVector> MovedFrame<'_, D> {
    fn vector(&self, vector: D) -> D {
        let rotated = self.frame.rotation * vector;
        if self.frame.swapped {
            -rotated
        } else {
            rotated
        }
    }

    fn vertex(&self, vertex: &Vertex<D>) -> Vertex<D> {
        let (frame, swapped) = (self.frame, self.frame.swapped);
        let [origin, _] = swap_if(swapped, frame.origins);
        let points = [vertex.first, vertex.second - self.moved];
        let in_world = points.map(|point| origin + frame.rotation * point);
        let [first, second] = swap_if(swapped, in_world);
        Vertex {
            point: self.vector(vertex.point + self.moved),
            first,
            second,
            direction: self.vector(vertex.direction),
        }
    }

    fn vertices(&self, vertices: &[Vertex<D>]) -> Vec<Vertex<D>> {
        vertices.iter().map(|vertex| self.vertex(vertex)).collect()
    }

    fn facet(&self, facet: PolytopeFacet<D>) -> PolytopeFacet<D> {
        PolytopeFacet {
            normal: self.vector(facet.normal),
            ..facet
        }
    }

    fn gjk_step(&self, step: &GjkStep<D>) -> GjkStep<D> {
        GjkStep {
            vertex: self.vertex(&step.vertex),
            simplex: self.vertices(&step.simplex),
            target: self.vector(step.target + self.moved),
            nearest: self.vector(step.nearest + self.moved),
            ..*step
        }
    }

    /// Converts a step to world axes and the caller's order.
    pub fn step(&self, step: &Step<D>) -> Step<D> {
        match step {
            Step::Gjk(step) => Step::Gjk(self.gjk_step(step)),
            Step::Epa(step) => Step::Epa(EpaStep {
                vertex: self.vertex(&step.vertex),
                vertices: self.vertices(&step.vertices),
                facets: step.facets.iter().map(|facet| self.facet(*facet)).collect(),
                nearest: step.nearest.map(|facet| self.facet(facet)),
                ..*step
            }),
            Step::Cast { interval, gjk } => Step::Cast {
                interval: *interval,
                gjk: self.gjk_step(gjk),
            },
        }
    }
}
