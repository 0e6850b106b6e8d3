//! Slices of points as shapes.

use crate::{
    math::{Vec2, Vec3},
    shape::{
        ConvexHull, Shape, ShapeError, Support,
        into_shape::{ConvexShape, IntoShape, sealed},
        support::MatrixOf,
    },
    space::{DVector, Space},
};

/// A point is a shape: where it is in its own frame. A collider has it as the hull of itself.
macro_rules! points {
    ($($vector:ident),*) => { $(
        impl Support for $vector {
            type Vector = Self;

            #[inline]
            fn support(&self, _: <Self as Space>::DVec) -> <Self as Space>::DVec {
                self.to_f64()
            }
        }

        impl sealed::Sealed for $vector {}
        impl ConvexShape for $vector {}
        impl IntoShape for $vector {
            type Vector = Self;

            fn into_shape(self) -> Result<Shape<Self>, ShapeError> {
                ConvexHull::new([self]).map(Shape::Hull)
            }
        }
    )* };
}

points!(Vec2, Vec3);

impl<V: Space> Support for [V] {
    type Vector = V;

    #[inline]
    fn support(&self, direction: V::DVec) -> V::DVec {
        farthest(self, direction)
    }
}

impl<V: Space> Support for Vec<V> {
    type Vector = V;

    #[inline]
    fn support(&self, direction: V::DVec) -> V::DVec {
        farthest(self, direction)
    }
}

impl<V: Space, const N: usize> Support for [V; N] {
    type Vector = V;

    #[inline]
    fn support(&self, direction: V::DVec) -> V::DVec {
        farthest(self, direction)
    }
}

/// The point with the greatest component along `direction`: the first one among equals, and NaN if there is none.
#[inline]
pub(super) fn farthest<V: Space>(points: &[V], direction: V::DVec) -> V::DVec {
    let mut best = Highest::NONE;
    for (number, point) in points.iter().enumerate() {
        best.see(number, point.to_f64().dot(direction));
    }
    best.of(points)
}

/// The same among the points that have these numbers, in their order.
#[inline]
pub(super) fn farthest_of<V: Space>(points: &[V], numbers: &[u32], direction: V::DVec) -> V::DVec {
    let mut best = Highest::NONE;
    for number in numbers {
        let number = *number as usize;
        if let Some(point) = points.get(number) {
            best.see(number, point.to_f64().dot(direction));
        }
    }
    best.of(points)
}

/// The least and the greatest coordinates of points under a linear map.
#[inline]
pub(super) fn span<V: Space>(points: &[V], linear: MatrixOf<[V]>) -> (V::DVec, V::DVec) {
    let nowhere = V::DVec::ONE * f64::INFINITY;
    points
        .iter()
        .fold((nowhere, -nowhere), |(min, max), point| {
            let point = linear * point.to_f64();
            (min.least(point), max.most(point))
        })
}

/// The first of the highest points so far. By its number and without a branch: which one is higher cannot be foretold.
pub(super) struct Highest {
    pub number: usize,
    height: f64,
}

impl Highest {
    pub const NONE: Self = Self {
        number: usize::MAX,
        height: f64::NEG_INFINITY,
    };

    #[inline]
    pub fn see(&mut self, number: usize, height: f64) {
        let is_higher = height > self.height;
        self.number = if is_higher { number } else { self.number };
        self.height = if is_higher { height } else { self.height };
    }

    #[inline]
    fn of<V: Space>(&self, points: &[V]) -> V::DVec {
        let nowhere = V::DVec::ZERO * f64::NAN;
        points.get(self.number).map_or(nowhere, |it| it.to_f64())
    }
}
