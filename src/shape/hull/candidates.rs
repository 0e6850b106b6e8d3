//! Drops copies of points, and points that a convex hull cannot need.

use std::collections::{BTreeMap, HashSet};

use crate::{
    math::{DVec3, Vec3},
    shape::hull::affine_hull::SolidFrame,
    space::Space,
};

/// Points in normalized coordinates, by their indices in the input.
pub type IndexedPoints = BTreeMap<usize, DVec3>;

/// A point that may be outside of the hull of the kept points by more than rounding.
pub struct Outside {
    pub index: usize,
    /// In normalized coordinates.
    pub position: DVec3,
    /// Index of the face of the surface that the point is above.
    pub face: usize,
    /// The height above the plane of that face.
    pub height: f64,
}

impl Outside {
    /// Returns a point that has not been tested against a surface.
    pub fn untested((index, position): (usize, &DVec3)) -> Self {
        Self {
            index,
            position: *position,
            face: 0,
            height: 0.0,
        }
    }
}

/// Drops repeated points. 0 and -0 are equal.
pub fn without_copies<V: Space>(points: impl Iterator<Item = V>) -> impl Iterator<Item = V> {
    let mut known = HashSet::new();
    points.filter(move |point| known.insert(key(*point)))
}

/// Returns the bits of a point's coordinates. 0 and -0 are equal.
pub fn key<V: Space>(point: V) -> [u32; 3] {
    (point.to_vec3() + Vec3::ZERO).to_array().map(f32::to_bits)
}

/// Returns the highest of some points, which are given by index, position and height. Among points
/// that are equally high up to rounding, it returns the one farthest from the center.
///
/// All points of a face have the same height along its normal, and the farthest of them is a
/// corner.
pub fn outermost(
    points: impl Iterator<Item = (usize, DVec3, f64)>,
    frame: &SolidFrame,
) -> Option<(usize, DVec3)> {
    let mut greatest = f64::NEG_INFINITY;
    // The point found so far, its height, and the square of its distance from the center.
    let mut found: Option<((usize, DVec3), f64, f64)> = None;
    for (index, position, height) in points {
        if height < greatest - frame.tolerance() {
            continue;
        }
        greatest = greatest.max(height);
        let distance = frame.orthonormal(position - frame.center).length_squared();
        let is_outermost = found.is_none_or(|(_, found_height, found_distance)| {
            found_height < greatest - frame.tolerance() || found_distance < distance
        });
        if is_outermost {
            found = Some(((index, position), height, distance));
        }
    }
    found.map(|(point, ..)| point)
}
