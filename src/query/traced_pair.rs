//! A pair that records the steps of its solvers.

use core::cell::RefCell;
use std::rc::Rc;

use crate::{
    query::{
        minkowski::{MinkowskiDifference, Pair, Vertex},
        steps::{EpaStep, GjkStep, Step, Trace},
    },
    shape::{Core, DVecOf, Support},
    space::{DVector, Facet, Pose},
};

/// A pair with a trace. The solvers see the same Minkowski difference as without it.
pub struct TracedPair<'a, 't, A: Support + ?Sized, B: ?Sized, T> {
    pub pair: Pair<'a, A, B>,
    /// The translation by which the second shape has been moved.
    moved: DVecOf<A>,
    recorder: Rc<RefCell<Recorder<'t, T>>>,
}

struct Recorder<'t, T> {
    trace: &'t mut T,
    /// The least upper bound so far on the time of the first touch.
    touch: f64,
}

impl<'a, 't, A, B, T> TracedPair<'a, 't, A, B, T>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    pub fn new(pair: Pair<'a, A, B>, trace: &'t mut T) -> Self {
        let touch = f64::INFINITY;
        Self {
            pair,
            moved: DVector::ZERO,
            recorder: Rc::new(RefCell::new(Recorder { trace, touch })),
        }
    }

    /// Converts a vector of the Minkowski difference from the frame and the order of the pair to
    /// the axes of the world and the caller's order.
    fn in_world(&self, vector: DVecOf<A>) -> DVecOf<A> {
        let rotated = self.pair.frame * vector;
        if self.pair.swapped { -rotated } else { rotated }
    }

    fn vertex_in_world(&self, vertex: &Vertex<DVecOf<A>>) -> Vertex<DVecOf<A>> {
        let [origin_a, origin_b] = self.pair.origins;
        let origin = if self.pair.swapped {
            origin_b
        } else {
            origin_a
        };
        let first = origin + self.pair.frame * vertex.first;
        let second = origin + self.pair.frame * (vertex.second - self.moved);
        let (first, second) = if self.pair.swapped {
            (second, first)
        } else {
            (first, second)
        };
        Vertex {
            point: self.in_world(vertex.point + self.moved),
            first,
            second,
            direction: self.in_world(vertex.direction),
        }
    }

    fn facet_in_world(&self, facet: &Facet<DVecOf<A>>) -> Facet<DVecOf<A>> {
        Facet {
            normal: self.in_world(facet.normal),
            ..*facet
        }
    }

    fn gjk_in_world(&self, step: &GjkStep<DVecOf<A>>) -> GjkStep<DVecOf<A>> {
        let vertex = |vertex| self.vertex_in_world(vertex);
        GjkStep {
            vertex: vertex(&step.vertex),
            simplex: step.simplex.iter().map(vertex).collect(),
            target: self.in_world(step.target + self.moved),
            nearest: self.in_world(step.nearest + self.moved),
            ..*step
        }
    }

    fn epa_in_world(&self, step: &EpaStep<DVecOf<A>>) -> EpaStep<DVecOf<A>> {
        let vertex = |vertex| self.vertex_in_world(vertex);
        let facet = |facet| self.facet_in_world(facet);
        EpaStep {
            vertex: vertex(&step.vertex),
            vertices: step.vertices.iter().map(vertex).collect(),
            facets: step.facets.iter().map(facet).collect(),
            nearest: step.nearest.as_ref().map(facet),
            ..*step
        }
    }
}

impl<A, B, T> MinkowskiDifference for TracedPair<'_, '_, A, B, T>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
    T: Trace<DVecOf<A>>,
{
    type Vector = DVecOf<A>;

    fn vertex(&self, direction: Self::Vector) -> Vertex<Self::Vector> {
        self.pair.vertex(direction)
    }

    fn first_support(&self, direction: Self::Vector) -> Self::Vector {
        self.pair.first_support(direction)
    }

    fn second_support(&self, direction: Self::Vector) -> Self::Vector {
        self.pair.second_support(direction)
    }

    fn relative(&self) -> &Pose<Self::Vector> {
        self.pair.relative()
    }

    fn radius_sum(&self) -> f64 {
        self.pair.radius_sum()
    }

    fn cores(&self) -> [Core<'_, Self::Vector>; 2] {
        self.pair.cores()
    }

    fn boxes(&self) -> Option<[Self::Vector; 2]> {
        self.pair.boxes()
    }

    fn has_point(&self) -> bool {
        self.pair.has_point()
    }

    fn with_second_moved(&self, translation: Self::Vector) -> Self {
        Self {
            pair: self.pair.with_second_moved(translation),
            moved: self.moved + translation,
            recorder: Rc::clone(&self.recorder),
        }
    }

    fn record(&self, step: impl FnOnce() -> Step<Self::Vector>) {
        // Never borrowed already, because a trace has no access to the pair.
        let Ok(mut recorder) = self.recorder.try_borrow_mut() else {
            return;
        };
        let step = match step() {
            Step::Gjk(step) => Step::Gjk(self.gjk_in_world(&step)),
            Step::Epa(step) => Step::Epa(self.epa_in_world(&step)),
            Step::Cast { interval, gjk } => {
                let [free, touch] = interval;
                recorder.touch = recorder.touch.min(touch);
                Step::Cast {
                    interval: [free, recorder.touch],
                    gjk: self.gjk_in_world(&gjk),
                }
            }
        };
        recorder.trace.record(step);
    }
}
