//! The frame of a contact: its normal, two tangents across it, and points as seen along the normal.
//!
//! All the geometry of a manifold is done in the plane of the two tangents, with a height along the
//! normal beside each point. In 2D, the second tangent is null, and so is each second coordinate.

use crate::{query::minkowski::MinkowskiDifference, space::DVector, tolerance::SLOPE};

/// A point across the normal, along two tangents, the second of which is always 0 in the plane.
pub type Across = [f64; 2];

/// A corner of a feature.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    pub at: Across,
    /// Along the normal.
    pub height: f64,
    /// The shape may extend this far beyond the edge that begins here; infinite if that is unknown.
    pub hidden: f64,
}

impl Corner {
    /// How much lower another corner is, if this one is the highest; heights may be counted up or
    /// down.
    pub fn fall(&self, other: &Self) -> f64 {
        (self.height - other.height).abs()
    }

    /// Returns `true` if another corner can be one of the same face, if this one is the highest.
    pub fn is_level_with(&self, other: &Self) -> bool {
        self.fall(other) <= SLOPE * distance(self.at, other.at)
    }
}

/// The frame of a contact: its normal, and the tangents across it.
pub struct ContactFrame<D> {
    pub normal: D,
    tangents: [D; 2],
}

impl<D: DVector> ContactFrame<D> {
    pub fn new(normal: D) -> Self {
        let tangent = |edges: &[D]| {
            D::perpendicular(edges)
                .and_then(DVector::unit)
                .unwrap_or(D::ZERO)
        };
        let first = tangent(&[normal]);
        // In the plane there is no direction at right angles to both, and this one is null.
        let second = tangent(&[normal, first]);
        Self {
            normal,
            tangents: [first, second],
        }
    }

    #[inline]
    pub fn corner(&self, point: D) -> Corner {
        let [u, v] = self.tangents;
        Corner {
            at: [point.dot(u), point.dot(v)],
            height: point.dot(self.normal),
            hidden: 0.0,
        }
    }

    /// The first core's support point along the normal, tilted towards a point.
    pub fn look_first(&self, pair: &impl MinkowskiDifference<Vector = D>, tilt: Across) -> Corner {
        self.corner(pair.first_support(self.normal + self.across(tilt)))
    }

    /// The second core's support point against the normal, tilted towards a point.
    pub fn look_second(&self, pair: &impl MinkowskiDifference<Vector = D>, tilt: Across) -> Corner {
        self.corner(pair.second_support(self.across(tilt) - self.normal))
    }

    #[inline]
    fn across(&self, [x, y]: Across) -> D {
        self.tangents[0] * x + self.tangents[1] * y
    }

    /// The points of space that are seen as one point along the normal, at several heights.
    pub fn points<const N: usize>(&self, at: Across, heights: [f64; N]) -> [D; N] {
        let across = self.across(at);
        heights.map(|height| across + self.normal * height)
    }
}

#[inline]
pub fn plus(a: Across, b: Across) -> Across {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline]
pub fn minus(a: Across, b: Across) -> Across {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline]
pub fn cross(a: Across, b: Across) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[inline]
pub fn times(a: Across, factor: f64) -> Across {
    [a[0] * factor, a[1] * factor]
}

#[inline]
pub fn dot(a: Across, b: Across) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[inline]
pub fn distance(a: Across, b: Across) -> f64 {
    let difference = minus(a, b);
    dot(difference, difference).sqrt()
}

/// How far a point is from an edge.
#[inline]
pub fn distance_to_edge(at: Across, [start, end]: [Corner; 2]) -> f64 {
    let (along, way) = (minus(end.at, start.at), minus(at, start.at));
    let t = (dot(way, along) / dot(along, along)).clamp(0.0, 1.0);
    distance(way, times(along, t))
}

/// A corner of an outline and the next one; `None` beyond the last corner.
pub fn neighbours<T: Copy>(outline: &[T], index: usize) -> Option<[T; 2]> {
    let corner = outline.get(index)?;
    let next = outline.get(index + 1).or(outline.first())?;
    Some([*corner, *next])
}
