//! Slices of points as shapes.

use super::Support;
use crate::{
    math::{Vec2, Vec3},
    space::{Space, Wide},
};

/// A point is a shape for queries: where it is in its own frame.
macro_rules! points {
    ($($vector:ident),*) => { $(
        impl Support for $vector {
            type Vector = Self;

            #[inline]
            fn support(&self, _: <Self as Space>::Wide) -> <Self as Space>::Wide {
                self.widen()
            }
        }
    )* };
}

points!(Vec2, Vec3);

impl<V: Space> Support for [V] {
    type Vector = V;

    #[inline]
    fn support(&self, direction: V::Wide) -> V::Wide {
        farthest(self, direction)
    }
}

impl<V: Space> Support for Vec<V> {
    type Vector = V;

    #[inline]
    fn support(&self, direction: V::Wide) -> V::Wide {
        farthest(self, direction)
    }
}

impl<V: Space, const N: usize> Support for [V; N] {
    type Vector = V;

    #[inline]
    fn support(&self, direction: V::Wide) -> V::Wide {
        farthest(self, direction)
    }
}

/// The point with the greatest component along `direction`: the first one among equals, and NaN if there is none.
#[inline]
pub(super) fn farthest<'a, V: Space>(
    points: impl IntoIterator<Item = &'a V>,
    direction: V::Wide,
) -> V::Wide {
    let mut best = V::Wide::ZERO * f64::NAN;
    let mut height = f64::NEG_INFINITY;
    for point in points {
        let candidate = point.widen();
        let along = candidate.dot(direction);
        if along > height {
            height = along;
            best = candidate;
        }
    }
    best
}
