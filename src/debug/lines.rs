//! Lines in three dimensions: arrows, crosses and boxes.

use bevy::math::{Affine3A, BVec3};

use crate::math::Vec3;

/// A line from one point to another.
pub type LineSegment = [Vec3; 2];

/// Returns segments in the world, given segments in the frame of a pose.
pub fn placed(segments: &[LineSegment], pose: Affine3A) -> impl Iterator<Item = LineSegment> {
    let place = move |point| pose.transform_point3(point);
    segments.iter().map(move |segment| segment.map(place))
}

/// Returns a cross with arms of length `arm`. In 2D, the cross is in the xy plane.
pub fn cross(center: Vec3, arm: f32, is_2d: bool) -> impl Iterator<Item = LineSegment> {
    let arms = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * arm);
    let arms = arms.into_iter().take(if is_2d { 2 } else { 3 });
    arms.map(move |arm| [center - arm, center + arm])
}

/// Returns an arrow whose head is at most `head` long.
pub fn arrow(start: Vec3, end: Vec3, head: f32) -> [LineSegment; 3] {
    let along = end - start;
    let direction = along.normalize_or_zero();
    let head = head.min(0.5 * along.length());
    // If the arrow lies in the xy plane, so does its head.
    let side = Vec3::Z.cross(direction).try_normalize().unwrap_or(Vec3::X);
    let barb = |side: Vec3| [end, end - (direction + side * 0.5) * head];
    [[start, end], barb(side), barb(-side)]
}

/// Returns the edges of the box between two corners: a rectangle if the box is flat.
pub fn box_edges(min: Vec3, max: Vec3) -> Vec<LineSegment> {
    let corner = |index: usize| {
        let [x, y, z] = [0, 1, 2].map(|axis| index >> axis & 1 == 1);
        Vec3::select(BVec3::new(x, y, z), max, min)
    };
    let (low, high) = (min.to_array(), max.to_array());
    let axes = (0..3).filter(|axis| low.get(*axis) != high.get(*axis));
    let flat = (0..3).filter(|axis| low.get(*axis) == high.get(*axis));
    let flat: usize = flat.map(|axis| 1 << axis).sum();
    let edges = axes.flat_map(|axis| {
        let starts = (0..8).filter(move |index| index & (flat | 1 << axis) == 0);
        starts.map(move |index| [corner(index), corner(index | 1 << axis)])
    });
    edges.collect()
}
