//! The Minkowski difference of a pair of shapes.
//!
//! [`Pair::new`] is called for each pair of convex shapes or parts, by the tick and by queries.
//!
//! The Minkowski difference of two cores A and B is the convex set A - B = { a - b }. This set
//! contains the origin exactly when the cores intersect. The point of the set nearest to the origin
//! is the vector between the cores' nearest points. The support point of the set in direction d is
//! A's support point in direction d minus B's support point in direction -d.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`Pair`], two shapes in their frame, as a [`MinkowskiDifference`] |
//! | `pair_frame.rs` | [`PairFrame`], the frame, the order and the radii of a pair |
//! | `simplex.rs` | [`Vertex`], a support point of the difference, and simplices of vertices |
//! | `trace.rs` | the steps of the solvers, and the traces that record them |
//! | `counter.rs` | a count of support evaluations |

mod counter;
mod pair_frame;
mod simplex;
mod trace;

use core::cmp::Ordering;

use crate::{
    shape::{Core, DVecOf, Support, compare_shapes, swap_if},
    space::{DVector, Pose},
};
pub use counter::Counter;
pub use pair_frame::PairFrame;
pub use simplex::{Nearest, Simplex, Vertex, nearest, nearest_to};
pub use trace::{ActiveTrace, EpaStep, GjkStep, Step, Trace, Traced};
use trace::{MovedFrame, TraceOption, Untraced};

/// A pair in the form that the solvers use: the Minkowski difference A - B of the cores, in the
/// frame of A, and the radii around the cores. A is the core of the pair's first shape, and B the
/// core of its second shape.
pub trait MinkowskiDifference {
    /// The vector type in f64.
    type Vector: DVector;

    /// Returns the support point of A - B in a direction.
    fn vertex(&self, direction: Self::Vector) -> Vertex<Self::Vector>;

    /// Returns the support point of A (0) or B (1) in a direction.
    fn core_support(&self, shape: usize, direction: Self::Vector) -> Self::Vector;

    /// Returns the frame, which has the pose of B and the radii.
    fn frame(&self) -> &PairFrame<Self::Vector>;

    /// Returns the pose of B in the frame of A.
    #[inline(always)]
    fn relative(&self) -> &Pose<Self::Vector> {
        &self.frame().relative
    }

    /// See [`PairFrame::radius_sum`].
    fn radius_sum(&self) -> f64 {
        self.frame().radius_sum()
    }

    /// Returns both cores, each in its own frame.
    fn cores(&self) -> [Core<'_, Self::Vector>; 2];

    /// Returns the half extents of both cores if both are boxes, segments or points.
    fn boxes(&self) -> Option<[Self::Vector; 2]>;

    /// Returns `true` if B is a point. A is a point only if B is a point, too.
    fn has_point(&self) -> bool;

    /// Returns the same pair with B moved by a translation in the frame of A.
    fn with_second_moved(&self, translation: Self::Vector) -> Self;

    /// Passes a step of a solver to the pair's trace, if the pair has a trace.
    fn record(&self, step: impl FnOnce() -> Step<Self::Vector>);
}

/// Two shapes and their relative pose.
///
/// A pair has a canonical order, independent of the caller's order. The first shape is the shape
/// whose pose comes first in a fixed but arbitrary total order. If the poses are equal, an order of
/// the shapes decides. All computations use the canonical order, and the results are converted at
/// the end. So swapping the arguments of a query gives the mirror image bit for bit.
///
/// A rotation has no effect on a core that is a point, such as the core of a ball. So if exactly
/// one core is a point, this core is the second core of the pair, and its rotation is the identity.
/// If both cores are points, the frame has world axes. This convention saves most of the cost of a
/// pair with a ball. Two points at the same position use the frame of one of the points, because
/// the x axis of this frame is the contact normal.
pub struct Pair<'a, A: Support + ?Sized, B: ?Sized, T = Untraced> {
    /// The caller's first shape, in its own frame.
    pub a: &'a A,
    /// The caller's second shape, in its own frame.
    pub b: &'a B,
    pub frame: PairFrame<DVecOf<A>>,
    /// The counter of support points, if there is one.
    counter: Option<&'a Counter>,
    /// The trace of the solvers, if there is one.
    trace: T,
}

impl<'a, A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> Pair<'a, A, B> {
    /// Returns the pair of two shapes in the world.
    #[inline(always)]
    pub fn new(a: &'a A, pose_a: Pose<DVecOf<A>>, b: &'a B, pose_b: Pose<DVecOf<A>>) -> Self {
        let origins = [pose_a.translation, pose_b.translation];
        let identity = DVecOf::<A>::IDENTITY;
        let (swapped, rotation, turn) = match [a.core().is_point(), b.core().is_point()] {
            [true, false] => (true, pose_b.rotation, identity),
            [false, true] => (false, pose_a.rotation, identity),
            [true, true] if pose_a.translation != pose_b.translation => {
                let order = pose_a.translation.total_cmp(pose_b.translation);
                (order == Ordering::Greater, identity, identity)
            }
            _ => {
                let order = pose_a.total_cmp(&pose_b);
                let order = order.then_with(|| compare_shapes(a, b));
                let swapped = order == Ordering::Greater;
                let [frame, second] = swap_if(swapped, [pose_a.rotation, pose_b.rotation]);
                let inverse = DVecOf::<A>::transpose(frame);
                (swapped, frame, inverse * second)
            }
        };
        // The translation is relative to the first shape, so that the precision depends on the size
        // of the pair, not on the pair's position. In f64, the relative error of the difference of
        // two translations is at most 2^-53.
        let [first_origin, second_origin] = swap_if(swapped, origins);
        let inverse = DVecOf::<A>::transpose(rotation);
        let frame = PairFrame {
            origins,
            swapped,
            rotation,
            relative: Pose {
                rotation: turn,
                translation: inverse * (second_origin - first_origin),
            },
            radii: swap_if(swapped, [a.radius(), b.radius()]),
        };
        Self {
            a,
            b,
            frame,
            counter: None,
            trace: Untraced,
        }
    }

    /// Returns the same pair in another frame.
    pub fn with_frame(&self, frame: PairFrame<DVecOf<A>>) -> Self {
        Self { frame, ..*self }
    }

    /// Returns the same pair with `counter` counting its support points.
    pub fn counted_by(self, counter: &'a Counter) -> Self {
        let counter = Some(counter);
        Self { counter, ..self }
    }

    /// Returns the same pair with a trace.
    pub fn traced<T>(&self, trace: T) -> Pair<'a, A, B, T> {
        Pair {
            a: self.a,
            b: self.b,
            frame: self.frame,
            counter: self.counter,
            trace,
        }
    }
}

impl<A, B, T> MinkowskiDifference for Pair<'_, A, B, T>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
    T: TraceOption<DVecOf<A>>,
{
    type Vector = DVecOf<A>;

    fn vertex(&self, direction: Self::Vector) -> Vertex<Self::Vector> {
        if let Some(counter) = self.counter {
            counter.add_one();
        }
        let (swapped, relative) = (self.frame.swapped, &self.frame.relative);
        let opposite = Self::Vector::transpose(relative.rotation) * -direction;
        // The directions are swapped instead of the calls. So each support function has one call
        // site, and is inlined only once.
        let [direction_a, direction_b] = swap_if(swapped, [direction, opposite]);
        let points = [self.a.support(direction_a), self.b.support(direction_b)];
        let [first, second] = swap_if(swapped, points);
        let second = relative.rotation * second + relative.translation;
        Vertex {
            point: first - second,
            first,
            second,
            direction,
        }
    }

    fn core_support(&self, shape: usize, direction: Self::Vector) -> Self::Vector {
        let (is_first, relative) = (shape == 0, &self.frame.relative);
        let inner = if is_first {
            direction
        } else {
            Self::Vector::transpose(relative.rotation) * direction
        };
        let point = if is_first == self.frame.swapped {
            self.b.support(inner)
        } else {
            self.a.support(inner)
        };
        if is_first {
            point
        } else {
            relative.rotation * point + relative.translation
        }
    }

    #[inline(always)]
    fn frame(&self) -> &PairFrame<Self::Vector> {
        &self.frame
    }

    #[inline(always)]
    fn cores(&self) -> [Core<'_, Self::Vector>; 2] {
        swap_if(self.frame.swapped, [self.a.core(), self.b.core()])
    }

    // `core` is called instead of `cores`, so that the code for the most frequent pairs does not
    // handle other variants of `Core`.
    #[inline(always)]
    fn boxes(&self) -> Option<[Self::Vector; 2]> {
        let a = self.a.core().half_extents()?;
        let b = self.b.core().half_extents()?;
        Some(swap_if(self.frame.swapped, [a, b]))
    }

    #[inline(always)]
    fn has_point(&self) -> bool {
        if self.frame.swapped {
            self.a.core().is_point()
        } else {
            self.b.core().is_point()
        }
    }

    fn with_second_moved(&self, translation: Self::Vector) -> Self {
        let mut frame = self.frame;
        frame.relative.translation = frame.relative.translation + translation;
        let trace = self.trace.moved(translation);
        Self {
            frame,
            trace,
            ..*self
        }
    }

    #[inline(always)]
    fn record(&self, step: impl FnOnce() -> Step<Self::Vector>) {
        self.trace.record(|moved| {
            let frame = &self.frame;
            MovedFrame { frame, moved }.step(&step())
        });
    }
}
