//! Functions that find the support point of a list of points.

use crate::{
    shape::{boxes::bounds::Bounds, elements::core::VertexBounds},
    space::{DVector, Space},
};

/// Returns the first point with the greatest component along `direction`, or NaN if there are no
/// points.
#[inline]
pub fn farthest<V: Space>(points: &[V], direction: V::DVec) -> V::DVec {
    let mut best = RunningMax::NONE;
    for (index, point) in points.iter().enumerate() {
        best.update(index, point.to_f64().dot(direction));
    }
    best.of(points)
}

/// Returns the same as [`farthest`], but searches only the points at `indices`, in that order.
pub fn farthest_of<V: Space>(points: &[V], indices: &[u32], direction: V::DVec) -> V::DVec {
    let mut best = RunningMax::NONE;
    for index in indices {
        let index = *index as usize;
        if let Some(point) = points.get(index) {
            best.update(index, point.to_f64().dot(direction));
        }
    }
    best.of(points)
}

/// Returns the minimum and the maximum coordinates of the images of points under a linear map.
pub fn vertex_bounds<V: Space>(
    points: &[V],
    linear: <V::DVec as DVector>::Matrix,
) -> VertexBounds<V::DVec> {
    let points = points.iter().map(|point| point.to_f64());
    let Bounds { min, max } = if linear == V::DVec::IDENTITY {
        Bounds::of_points(points)
    } else {
        Bounds::of_points(points.map(|point| linear * point))
    };
    VertexBounds([min, max])
}

/// The first of the highest points so far. Updates have no branch, because the processor cannot
/// predict which point is higher.
pub struct RunningMax {
    pub index: usize,
    height: f64,
}

impl RunningMax {
    pub const NONE: Self = Self {
        index: usize::MAX,
        height: f64::NEG_INFINITY,
    };

    #[inline]
    pub fn update(&mut self, index: usize, height: f64) {
        let is_higher = height > self.height;
        self.index = if is_higher { index } else { self.index };
        self.height = if is_higher { height } else { self.height };
    }

    #[inline]
    fn of<V: Space>(&self, points: &[V]) -> V::DVec {
        let nan = V::DVec::ZERO * f64::NAN;
        points.get(self.index).map_or(nan, |point| point.to_f64())
    }
}
