//! The frame of a contact: its normal and two tangents.
//!
//! The geometry of a manifold is computed in the plane of the tangents. Each point also has a
//! height along the normal. In 2D, the second tangent and the second coordinate of every point are
//! zero.

use crate::{
    math::DVec2, query::minkowski::MinkowskiDifference, space::DVector, tolerance::LEVEL_SLOPE,
};

/// A corner of a feature.
#[derive(Clone, Copy, Debug)]
pub struct FeatureCorner {
    /// The corner's coordinates along the tangents.
    pub position: DVec2,
    /// The corner's coordinate along the normal.
    pub height: f64,
    /// The maximum distance by which the shape extends beyond the edge that starts at this corner,
    /// infinite if unknown.
    pub hidden: f64,
}

impl FeatureCorner {
    /// Returns the height difference between this corner, which must be the highest corner, and
    /// another corner. The second shape's highest corner is the corner with the least height along
    /// the normal.
    pub fn drop_to(&self, other: &Self) -> f64 {
        (self.height - other.height).abs()
    }

    /// Returns `true` if another corner can belong to the same face as this corner, which must be
    /// the highest corner.
    pub fn is_level_with(&self, other: &Self) -> bool {
        self.drop_to(other) <= LEVEL_SLOPE * self.position.distance(other.position)
    }
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

    /// Converts a point to the coordinates of this frame.
    pub fn corner(&self, point: D) -> FeatureCorner {
        let [u, v] = self.tangents;
        FeatureCorner {
            position: DVec2::new(point.dot(u), point.dot(v)),
            height: point.dot(self.normal),
            hidden: 0.0,
        }
    }

    /// Returns the support point of the first core (0) along the normal, or of the second core (1)
    /// in the opposite direction. The direction is tilted by `tilt`.
    pub fn support(
        &self,
        pair: &impl MinkowskiDifference<Vector = D>,
        shape: usize,
        tilt: DVec2,
    ) -> FeatureCorner {
        let normal = if shape == 0 {
            self.normal
        } else {
            -self.normal
        };
        self.corner(pair.core_support(shape, normal + self.across(tilt)))
    }

    fn across(&self, position: DVec2) -> D {
        self.tangents[0] * position.x + self.tangents[1] * position.y
    }

    /// Returns the points at the same position and at several heights.
    pub fn points<const N: usize>(&self, position: DVec2, heights: [f64; N]) -> [D; N] {
        let across = self.across(position);
        heights.map(|height| across + self.normal * height)
    }
}

/// Returns the distance from a point to an edge.
pub fn distance_to_edge(point: DVec2, [start, end]: [FeatureCorner; 2]) -> f64 {
    let (line, offset) = (end.position - start.position, point - start.position);
    let t = (offset.dot(line) / line.dot(line)).clamp(0.0, 1.0);
    offset.distance(line * t)
}

/// Returns the vertex of a polygon at an index, and the next vertex. Returns `None` beyond the last
/// vertex.
pub fn edge_at<T: Copy>(polygon: &[T], index: usize) -> Option<[T; 2]> {
    let start = polygon.get(index)?;
    let end = polygon.get(index + 1).or(polygon.first())?;
    Some([*start, *end])
}
