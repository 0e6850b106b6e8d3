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
//! | `simplex.rs` | [`Vertex`], a support point of the difference, and simplices of vertices |
//! | `trace.rs` | the steps of the solvers, and the traces that record them |
//! | `counter.rs` | a count of support evaluations |

pub mod counter;
pub mod simplex;
pub mod trace;

use core::cmp::Ordering;

use crate::{
    query::minkowski::{
        counter::Counter,
        simplex::Vertex,
        trace::{PairFrame, Step, TraceOption, Untraced},
    },
    shape::{Core, DVecOf, MatrixOf, Support, compare_shapes, swap_if},
    space::{DVector, Pose, Space},
};

/// A pair in the form that the solvers use: the Minkowski difference A - B of the cores, in the
/// frame of A, and the radii around the cores. A is the core of the pair's first shape, and B the
/// core of its second shape.
pub trait MinkowskiDifference {
    /// The vector type in f64.
    type Vector: DVector;

    /// Returns the support point of A - B in a direction.
    fn vertex(&self, direction: Self::Vector) -> Vertex<Self::Vector>;

    /// Returns the support point of A in a direction.
    fn first_support(&self, direction: Self::Vector) -> Self::Vector;

    /// Returns the support point of B in a direction.
    fn second_support(&self, direction: Self::Vector) -> Self::Vector;

    /// Returns the pose of B in the frame of A.
    fn relative(&self) -> &Pose<Self::Vector>;

    /// Returns the sum of the radii, or NaN if a radius is invalid. The shapes begin to touch if
    /// the distance between the cores equals this sum.
    fn radius_sum(&self) -> f64;

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
    /// The translations of `a` and `b` in the world.
    pub origins: [DVecOf<A>; 2],
    /// `true` if `b` is the first shape of the canonical order.
    pub swapped: bool,
    /// The rotation of the pair's frame in the world. The origin of this frame is the first shape's
    /// translation.
    pub frame: MatrixOf<A>,
    /// The pose of the second shape in the pair's frame.
    pub relative: Pose<DVecOf<A>>,
    /// The radius around the first core.
    pub first_radius: f64,
    /// The radius around the second core.
    pub second_radius: f64,
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
        let (swapped, frame, rotation) = match [a.core().is_point(), b.core().is_point()] {
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
        let [first_radius, second_radius] = swap_if(swapped, [a.radius(), b.radius()]);
        let inverse = DVecOf::<A>::transpose(frame);
        Self {
            a,
            b,
            origins,
            swapped,
            frame,
            relative: Pose {
                rotation,
                translation: inverse * (second_origin - first_origin),
            },
            first_radius,
            second_radius,
            counter: None,
            trace: Untraced,
        }
    }

    /// Returns the same pair in other poses, given the frame, the second shape's pose in this
    /// frame, and the translations of the two shapes in the world.
    pub fn with_poses(
        &self,
        frame: MatrixOf<A>,
        relative: Pose<DVecOf<A>>,
        origins: [DVecOf<A>; 2],
    ) -> Self {
        Self {
            frame,
            relative,
            origins,
            ..*self
        }
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
            origins: self.origins,
            swapped: self.swapped,
            frame: self.frame,
            relative: self.relative,
            first_radius: self.first_radius,
            second_radius: self.second_radius,
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
    type Vector = <A::Vector as Space>::DVec;

    fn vertex(&self, direction: Self::Vector) -> Vertex<Self::Vector> {
        if let Some(counter) = self.counter {
            counter.add_one();
        }
        let opposite = Self::Vector::transpose(self.relative.rotation) * -direction;
        // The directions are swapped instead of the calls. So each support function has one call
        // site, and is inlined only once.
        let [direction_a, direction_b] = swap_if(self.swapped, [direction, opposite]);
        let points = [self.a.support(direction_a), self.b.support(direction_b)];
        let [first, second] = swap_if(self.swapped, points);
        let second = self.relative.rotation * second + self.relative.translation;
        Vertex {
            point: first - second,
            first,
            second,
            direction,
        }
    }

    fn first_support(&self, direction: Self::Vector) -> Self::Vector {
        if self.swapped {
            self.b.support(direction)
        } else {
            self.a.support(direction)
        }
    }

    fn second_support(&self, direction: Self::Vector) -> Self::Vector {
        let inner = Self::Vector::transpose(self.relative.rotation) * direction;
        let point = if self.swapped {
            self.a.support(inner)
        } else {
            self.b.support(inner)
        };
        self.relative.rotation * point + self.relative.translation
    }

    #[inline(always)]
    fn relative(&self) -> &Pose<Self::Vector> {
        &self.relative
    }

    fn radius_sum(&self) -> f64 {
        if self.first_radius >= 0.0 && self.second_radius >= 0.0 {
            self.first_radius + self.second_radius
        } else {
            f64::NAN
        }
    }

    #[inline(always)]
    fn cores(&self) -> [Core<'_, Self::Vector>; 2] {
        swap_if(self.swapped, [self.a.core(), self.b.core()])
    }

    // `core` is called instead of `cores`, so that the code for the most frequent pairs does not
    // handle other variants of `Core`.
    #[inline(always)]
    fn boxes(&self) -> Option<[Self::Vector; 2]> {
        let a = self.a.core().half_extents()?;
        let b = self.b.core().half_extents()?;
        Some(swap_if(self.swapped, [a, b]))
    }

    #[inline(always)]
    fn has_point(&self) -> bool {
        if self.swapped {
            self.a.core().is_point()
        } else {
            self.b.core().is_point()
        }
    }

    fn with_second_moved(&self, translation: Self::Vector) -> Self {
        let relative = Pose {
            translation: self.relative.translation + translation,
            ..self.relative
        };
        let trace = self.trace.moved(translation);
        Self {
            relative,
            trace,
            ..*self
        }
    }

    #[inline(always)]
    fn record(&self, step: impl FnOnce() -> Step<Self::Vector>) {
        let [origin, _] = swap_if(self.swapped, self.origins);
        self.trace.record(|moved| {
            let frame = PairFrame {
                rotation: self.frame,
                origin,
                moved,
                is_swapped: self.swapped,
            };
            frame.step(&step())
        });
    }
}
