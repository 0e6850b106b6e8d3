//! The Minkowski difference of a pair of shapes.
//!
//! For cores A and B it is the set A - B = { a - b }. It is convex; it contains the origin exactly when the cores have a
//! point in common; its point nearest to the origin is the vector between the cores' nearest points. Its support point
//! in direction d is A's in direction d minus B's in direction -d.

use core::cmp::Ordering;

use crate::{
    query::counter::Counter,
    shape::{HalfSpace, Outline, Support},
    space::{DVector, Pose, Space},
    tolerance::OFFSET,
};

/// A vertex of the Minkowski difference, with the points that it is made of, in the frame of the first shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex<D> {
    /// `first - second`.
    pub point: D,
    /// The support point of the first shape's core.
    pub first: D,
    /// The support point of the second shape's core.
    pub second: D,
    /// The direction in which it was found, of any length.
    pub direction: D,
}

impl<D: DVector> Vertex<D> {
    /// The size that this vertex shows the pair to have, without its radii.
    #[inline]
    pub fn scale(&self) -> f64 {
        let offset = self.first.extent() + self.second.extent();
        self.point.length().max(OFFSET * offset)
    }
}

/// Two shapes and how they lie to each other.
///
/// A pair has one canonical order, whichever order the caller named it in: `first` is the one whose pose (and, in the
/// same pose, whose shape) comes first in an arbitrary but fixed total order. Everything is computed in that order and
/// turned round at the end, so that swapping the arguments gives the mirror image to the bit.
///
/// How a point is turned makes no difference, and the core of a ball is one. So a point comes second to what is none, and
/// counts as not turned; and two of them are seen along the world's own axes. That spares most of what a pair of balls, or
/// a ball and a box, would cost otherwise. (Two points in one place need an axis of one of them.)
pub struct Pair<'a, A: Support + ?Sized, B: ?Sized> {
    /// The shape that the caller named first, in its own frame.
    pub a: &'a A,
    /// The shape that the caller named second, in its own frame.
    pub b: &'a B,
    /// The translations of `a` and `b` in the world.
    pub origins: [<A::Vector as Space>::DVec; 2],
    /// Whether `b` is the first of the canonical order.
    pub swapped: bool,
    /// How the frame of the computation, which begins at the first shape's translation, is turned in the world.
    pub frame: <<A::Vector as Space>::DVec as DVector>::Matrix,
    /// The pose of the second shape in that frame.
    pub relative: Pose<<A::Vector as Space>::DVec>,
    /// The radius around the first shape's core.
    pub first_radius: f64,
    /// The radius around the second shape's core.
    pub second_radius: f64,
    /// What counts the support points.
    counter: Option<&'a Counter>,
}

impl<'a, A, B> Pair<'a, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    /// The pair of `a` and `b` in the poses given.
    #[inline(always)]
    pub fn new(
        a: &'a A,
        pose_a: Pose<<A::Vector as Space>::DVec>,
        b: &'a B,
        pose_b: Pose<<A::Vector as Space>::DVec>,
    ) -> Self {
        let origins = [pose_a.translation, pose_b.translation];
        let unturned = <A::Vector as Space>::DVec::IDENTITY;
        let (swapped, frame, rotation) = match [is_point(a), is_point(b)] {
            [true, false] => (true, pose_b.rotation, unturned),
            [false, true] => (false, pose_a.rotation, unturned),
            [true, true] if pose_a.translation != pose_b.translation => {
                let order = pose_a.translation.total_cmp(pose_b.translation);
                (order == Ordering::Greater, unturned, unturned)
            }
            _ => {
                let order = pose_a.total_cmp(&pose_b).then_with(|| compare_shapes(a, b));
                let swapped = order == Ordering::Greater;
                let (frame, second) = if swapped {
                    (pose_b.rotation, pose_a.rotation)
                } else {
                    (pose_a.rotation, pose_b.rotation)
                };
                let inverse = <A::Vector as Space>::DVec::transpose(frame);
                (swapped, frame, inverse * second)
            }
        };
        // Seen from the first shape, so that the precision depends on the size of the pair and not on its distance from the
        // world's origin: the difference of two f32 translations is exact in f64 for all pairs near enough to touch.
        let (way, first_radius, second_radius) = if swapped {
            (origins[0] - origins[1], b.radius(), a.radius())
        } else {
            (origins[1] - origins[0], a.radius(), b.radius())
        };
        let inverse = <A::Vector as Space>::DVec::transpose(frame);
        Self {
            a,
            b,
            origins,
            swapped,
            frame,
            relative: Pose {
                rotation,
                translation: inverse * way,
            },
            first_radius,
            second_radius,
            counter: None,
        }
    }

    /// The same pair, whose support points are counted.
    #[inline]
    pub fn counted_by(self, counter: &'a Counter) -> Self {
        let counter = Some(counter);
        Self { counter, ..self }
    }

    /// The same pair with the second shape moved, in the pair's frame.
    #[inline]
    pub fn with_second_moved(&self, way: <A::Vector as Space>::DVec) -> Self {
        let relative = Pose {
            translation: self.relative.translation + way,
            ..self.relative
        };
        Self { relative, ..*self }
    }

    /// The cores' distance at which the shapes begin to touch; NaN if a radius is none.
    #[inline]
    pub fn reach(&self) -> f64 {
        if self.first_radius >= 0.0 && self.second_radius >= 0.0 {
            self.first_radius + self.second_radius
        } else {
            f64::NAN
        }
    }

    /// Whether the core of the second shape is a point. That of the first one is only where both are.
    #[inline(always)]
    pub fn has_point(&self) -> bool {
        if self.swapped {
            is_point(self.a)
        } else {
            is_point(self.b)
        }
    }

    /// The half sizes of both, if both are blocks.
    #[inline(always)]
    pub fn blocks(&self) -> Option<[<A::Vector as Space>::DVec; 2]> {
        let (a, b) = (self.a.block()?, self.b.block()?);
        Some(if self.swapped { [b, a] } else { [a, b] })
    }

    /// The half size of each that is a block.
    #[inline]
    pub fn blocks_each(&self) -> [Option<<A::Vector as Space>::DVec>; 2] {
        if self.swapped {
            [self.b.block(), self.a.block()]
        } else {
            [self.a.block(), self.b.block()]
        }
    }

    /// The sides of each that is a polygon of few.
    #[inline]
    pub fn outlines(&self) -> [Option<Outline<'a, <A::Vector as Space>::DVec>>; 2] {
        if self.swapped {
            [self.b.outline(), self.a.outline()]
        } else {
            [self.a.outline(), self.b.outline()]
        }
    }

    /// The first core's support point, in the frame of the pair.
    #[inline]
    pub fn first_support(
        &self,
        direction: <A::Vector as Space>::DVec,
    ) -> <A::Vector as Space>::DVec {
        if self.swapped {
            self.b.support(direction)
        } else {
            self.a.support(direction)
        }
    }

    /// The second core's support point, in the frame of the pair.
    #[inline]
    pub fn second_support(
        &self,
        direction: <A::Vector as Space>::DVec,
    ) -> <A::Vector as Space>::DVec {
        let inner = <A::Vector as Space>::DVec::transpose(self.relative.rotation) * direction;
        let point = if self.swapped {
            self.a.support(inner)
        } else {
            self.b.support(inner)
        };
        self.relative.rotation * point + self.relative.translation
    }

    /// Each of the two that is a half-space.
    #[inline]
    pub fn half_spaces(&self) -> [Option<HalfSpace<<A::Vector as Space>::DVec>>; 2] {
        let (first, second) = if self.swapped {
            (self.b.half_space(), self.a.half_space())
        } else {
            (self.a.half_space(), self.b.half_space())
        };
        [first, second.map(|it| it.placed(&self.relative))]
    }

    /// The support point of the Minkowski difference of the cores.
    #[inline]
    pub fn vertex(
        &self,
        direction: <A::Vector as Space>::DVec,
    ) -> Vertex<<A::Vector as Space>::DVec> {
        if let Some(counter) = self.counter {
            counter.add_one();
        }
        let opposite = <A::Vector as Space>::DVec::transpose(self.relative.rotation) * -direction;
        // Each shape is asked in one place only, so that its support function is compiled into this one once.
        let (toward_b, toward_a) = if self.swapped {
            (direction, opposite)
        } else {
            (opposite, direction)
        };
        let (of_a, of_b) = (self.a.support(toward_a), self.b.support(toward_b));
        let (first, second) = if self.swapped {
            (of_b, of_a)
        } else {
            (of_a, of_b)
        };
        let second = self.relative.rotation * second + self.relative.translation;
        Vertex {
            point: first - second,
            first,
            second,
            direction,
        }
    }
}

/// Whether a core is the one point at the origin of its frame.
#[inline(always)]
fn is_point(shape: &(impl Support + ?Sized)) -> bool {
    shape.block().is_some_and(|half| half == DVector::ZERO)
}

/// Some total order of shapes, by what can be seen of them: their radii, whether they are half-spaces, and their support points
/// in the directions of a fixed list. It is asked only where two shapes have the very same pose. Shapes that agree in all of
/// these count as the same. (The invariants of `fuzz/` have the same list.)
#[cold]
#[inline(never)]
pub fn compare_shapes<V: Space>(
    a: &(impl Support<Vector = V> + ?Sized),
    b: &(impl Support<Vector = V> + ?Sized),
) -> Ordering {
    let along = |direction| a.support(direction).total_cmp(b.support(direction));
    // Every other place of a lattice, as on a chessboard, a little askew, so that none meets a face or an edge head on. Not
    // many, because shapes that are the same take all of them.
    let steps: usize = if V::DVec::DIMENSION == 2 { 7 } else { 3 };
    let centre = (steps / 2) as f64;
    let count = steps.pow(V::DVec::DIMENSION as u32);
    let directions = (0..count).step_by(2).map(|number| {
        (0..V::DVec::DIMENSION).fold(V::DVec::ZERO, |direction, axis| {
            let step = number / steps.pow(axis as u32) % steps;
            let askew = 0.013 * (axis + 1) as f64;
            direction + V::DVec::axis(axis) * (step as f64 - centre + askew)
        })
    });
    let differ = || directions.map(along).find(|order| order.is_ne());
    let radii = a.radius().total_cmp(&b.radius());
    let half_spaces = a.half_space().is_some().cmp(&b.half_space().is_some());
    radii
        .then(half_spaces)
        .then_with(|| differ().unwrap_or(Ordering::Equal))
}
