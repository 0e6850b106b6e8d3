//! The convex hull of points.

use std::sync::Arc;

use super::{ShapeError, Support};
use crate::{
    math::{Vec2, Vec3},
    space::{Space, Wide},
};

/// The convex hull of one or more points, checked when it is made and cheap to clone.
///
/// The points may be in any order, doubled, collinear, coplanar or inside the hull; they need not be its vertices. A
/// plain slice of points is a [`Support`] as well and means the same, unchecked: with no points it touches nothing, and
/// points that are NaN are passed over.
///
/// ```
/// use bevy::math::Vec2;
/// use headbutt::{ConvexHull, ShapeError};
///
/// let triangle = ConvexHull::new([Vec2::ZERO, Vec2::X, Vec2::Y]).unwrap();
/// assert_eq!(triangle.points().len(), 3);
/// assert_eq!(ConvexHull::<Vec2>::new([]), Err(ShapeError::NoPoints));
/// assert_eq!(ConvexHull::new([Vec2::NAN]), Err(ShapeError::NotFinite("point of a convex hull")));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexHull<V> {
    points: Arc<[V]>,
}

impl<V: Space> ConvexHull<V> {
    /// The hull of `points`.
    ///
    /// # Errors
    ///
    /// [`ShapeError::NoPoints`] if there are none, [`ShapeError::NotFinite`] if a coordinate is NaN or infinite.
    pub fn new(points: impl IntoIterator<Item = V>) -> Result<Self, ShapeError> {
        let points: Arc<[V]> = points.into_iter().collect();
        if points.is_empty() {
            return Err(ShapeError::NoPoints);
        }
        ShapeError::check_points("point of a convex hull", &points)?;
        Ok(Self { points })
    }

    /// The points as they were given.
    pub fn points(&self) -> &[V] {
        &self.points
    }
}

impl<V: Space> Support for ConvexHull<V> {
    type Vector = V;

    fn support(&self, direction: V::Wide) -> V::Wide {
        farthest(&self.points, direction)
    }
}

/// A point is a shape for queries: where it is in its own frame.
macro_rules! points {
    ($($vector:ident),*) => { $(
        impl Support for $vector {
            type Vector = Self;

            fn support(&self, _: <Self as Space>::Wide) -> <Self as Space>::Wide {
                self.widen()
            }
        }
    )* };
}

points!(Vec2, Vec3);

impl<V: Space> Support for [V] {
    type Vector = V;

    fn support(&self, direction: V::Wide) -> V::Wide {
        farthest(self, direction)
    }
}

impl<V: Space> Support for Vec<V> {
    type Vector = V;

    fn support(&self, direction: V::Wide) -> V::Wide {
        farthest(self, direction)
    }
}

impl<V: Space, const N: usize> Support for [V; N] {
    type Vector = V;

    fn support(&self, direction: V::Wide) -> V::Wide {
        farthest(self, direction)
    }
}

/// The point with the greatest component along `direction`: the first one among equals, and NaN if there is none.
pub(super) fn farthest<V: Space>(points: &[V], direction: V::Wide) -> V::Wide {
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
