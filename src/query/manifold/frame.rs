//! The frame of a contact, its normal and two tangents, and the points in it.
//!
//! The geometry of a manifold is computed in the plane of the tangents, with a height along the
//! normal for each point. In 2D the second tangent is zero, and so is the second coordinate of
//! every point.

use crate::{
    math::DVec2, query::minkowski::MinkowskiDifference, space::DVector, tolerance::LEVEL_SLOPE,
};

/// A corner of a feature.
#[derive(Clone, Copy, Debug)]
pub struct FeatureCorner {
    /// The coordinates along the tangents.
    pub position: DVec2,
    /// The coordinate along the normal.
    pub height: f64,
    /// The maximum distance by which the shape extends beyond the edge that starts here: infinite
    /// if unknown.
    pub hidden: f64,
}

impl FeatureCorner {
    /// Returns the height difference between this corner, which must be the highest, and another.
    /// (Along the normal, the heights of the second shape increase downward.)
    pub fn drop_to(&self, other: &Self) -> f64 {
        (self.height - other.height).abs()
    }

    /// Returns `true` if another corner can belong to the same face as this corner, which must be
    /// the highest.
    pub fn is_level_with(&self, other: &Self) -> bool {
        self.drop_to(other) <= LEVEL_SLOPE * self.position.distance(other.position)
    }
}

/// A point that lies in both features when they are projected along the normal.
#[derive(Clone, Copy, Debug)]
pub struct CommonPoint {
    /// The coordinates along the tangents.
    pub position: DVec2,
    /// The heights of both cores.
    pub heights: [f64; 2],
}

impl CommonPoint {
    /// Creates a point from its height on the first (0) or the second (1) core, and on the other.
    pub fn new(position: DVec2, feature: usize, height: f64, other_height: f64) -> Self {
        let mut heights = [height, other_height];
        if feature == 1 {
            heights.reverse();
        }
        Self { position, heights }
    }

    /// Returns the corner at this point of the first (0) or the second (1) core.
    pub fn corner(&self, feature: usize) -> FeatureCorner {
        let [first, second] = self.heights;
        FeatureCorner {
            position: self.position,
            height: if feature == 0 { first } else { second },
            hidden: 0.0,
        }
    }

    /// Returns the points on both cores.
    pub fn on_cores<D: DVector>(&self, frame: &ContactFrame<D>) -> [D; 2] {
        let across = frame.across(self.position);
        self.heights.map(|height| across + frame.normal * height)
    }

    /// Returns the depth of the cores at this point, negative if they are separated.
    pub fn depth(&self) -> f64 {
        self.heights[0] - self.heights[1]
    }
}

/// Returns the first point with the maximum measure, with that measure.
pub fn farthest(
    points: &[CommonPoint],
    measure: impl Fn(&CommonPoint) -> f64,
) -> Option<(f64, CommonPoint)> {
    points
        .iter()
        .map(|point| (measure(point), *point))
        .reduce(|best, other| if other.0 > best.0 { other } else { best })
}

/// The known contact, and the tolerances of its pair.
pub struct KnownContact {
    /// The solver's contact: a point of the manifold, unless a common point of the features is as
    /// deep.
    pub point: CommonPoint,
    /// Cores with a lower depth do not touch.
    pub min_depth: f64,
    /// Depths that differ by at most this count as equal.
    pub depth_tolerance: f64,
    /// Points that are closer than this count as equal.
    pub near: f64,
}

/// The normal of a contact, and the tangents orthogonal to it.
pub struct ContactFrame<D> {
    pub normal: D,
    tangents: [D; 2],
}

impl<D: DVector> ContactFrame<D> {
    pub fn new(normal: D) -> Self {
        let mut tangents = [D::ZERO; 2];
        for (slot, tangent) in tangents.iter_mut().zip(normal.tangents()) {
            *slot = tangent;
        }
        Self { normal, tangents }
    }

    /// Returns a point in the coordinates of this frame, as a corner that hides nothing.
    #[inline]
    pub fn project(&self, point: D) -> FeatureCorner {
        let [u, v] = self.tangents;
        FeatureCorner {
            position: DVec2::new(point.dot(u), point.dot(v)),
            height: point.dot(self.normal),
            hidden: 0.0,
        }
    }

    /// Returns the support point of the first core (0) along the normal, or of the second core (1)
    /// against it. The direction is tilted by `tilt`.
    #[inline]
    pub fn support(
        &self,
        pair: &impl MinkowskiDifference<Vector = D>,
        shape: usize,
        tilt: DVec2,
    ) -> FeatureCorner {
        let tilt = self.across(tilt);
        self.project(match shape {
            0 => pair.first_support(self.normal + tilt),
            _ => pair.second_support(tilt - self.normal),
        })
    }

    /// Returns the vector with these coordinates along the tangents.
    fn across(&self, position: DVec2) -> D {
        self.tangents[0] * position.x + self.tangents[1] * position.y
    }
}

/// Returns the distance from a point to an edge.
pub fn distance_to_edge(point: DVec2, [start, end]: [FeatureCorner; 2]) -> f64 {
    let (line, offset) = (end.position - start.position, point - start.position);
    let t = (offset.dot(line) / line.dot(line)).clamp(0.0, 1.0);
    offset.distance(line * t)
}

/// Returns the vertex of a polygon at an index, and the next one. Returns `None` beyond the last
/// vertex.
#[inline]
pub fn edge_at<T: Copy>(polygon: &[T], index: usize) -> Option<[T; 2]> {
    let start = polygon.get(index)?;
    let end = polygon.get(index + 1).or(polygon.first())?;
    Some([*start, *end])
}
