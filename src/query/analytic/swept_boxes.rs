//! Two boxes, or a box and a segment, in linear motion: separating axes over time.
//!
//! In the symbols of `boxes.rs`, let v be the velocity of the second box. Let r be the sum of the
//! half lengths of the two projections onto a unit vector n. The projections overlap while |n·c + t
//! n·v| < r, that is, between the times
//!
//! ```text
//! t = (-n·c ± r) / n·v
//! ```
//!
//! The boxes overlap while their projections onto all separating axes overlap. So the boxes overlap
//! in the intersection of the intervals of all axes (Gottschalk, "Collision Queries using Oriented
//! Bounding Boxes", 2000, chapter 5). If r is reduced by a depth, the boxes overlap by more than
//! that depth in the intersection.
//!
//! If two edges are nearly parallel, their unit cross product is a quotient of small lengths. Such
//! an axis limits the intervals, but is not precise enough to be the normal.

use crate::{
    query::analytic::{
        SweptOverlap,
        boxes::{AxisSource, BoxAxis, BoxPair, cross, has_face, projected_radius},
    },
    space::DVector,
    tolerance::{FLAT_DEPTH, PARALLEL_EDGES, ROUNDING},
};

/// A cross product of edges is precise if the squared sine of their angle is at least this value.
/// The gap along such a product has an error of about 1e-12 of the size, far below `CAST_MARGIN`.
const PRECISE_EDGES: f64 = 1e-8;

/// The intersection of the intervals in which two moving boxes overlap along some axes.
pub struct SweptBoxes<D> {
    velocity: D,
    radius_sum: f64,
    /// The interval in which the projections onto all axes overlap.
    pub overlap: SweptOverlap,
    /// The last axis along which the boxes begin to overlap, if this axis is precise.
    source: Option<(AxisSource, D)>,
}

impl<D: DVector> SweptBoxes<D> {
    /// Returns the interval before an axis is added, which is infinite. Overlaps deeper than
    /// `depth` are not mere touches.
    pub fn new(velocity: D, radius_sum: f64, depth: f64) -> Self {
        Self {
            velocity,
            radius_sum,
            overlap: SweptOverlap::new(depth),
            source: None,
        }
    }

    /// Adds the face normals of both boxes.
    pub fn add_faces(&mut self, boxes: &BoxPair<D>) {
        let rotation = boxes.relative.rotation;
        let inverse = D::transpose(rotation);
        let [first, second] = boxes.half_extents;
        for index in 0..D::DIMENSION {
            if has_face(first, index) {
                let row = D::column(inverse, index);
                let radius = first.component(index) + projected_radius(second, row);
                let source = (AxisSource::FirstFace, D::axis(index));
                self.add(boxes, radius, 0.0, Some(source), D::axis(index));
            }
            if has_face(second, index) {
                let column = D::column(rotation, index);
                let radius = second.component(index) + projected_radius(first, column);
                let source = (AxisSource::SecondFace, column);
                self.add(boxes, radius, 0.0, Some(source), column);
            }
        }
    }

    /// Adds the cross products of the edges of both boxes.
    pub fn add_edges(&mut self, boxes: &BoxPair<D>) {
        if D::DIMENSION == 2 {
            return;
        }
        let rotation = boxes.relative.rotation;
        let inverse = D::transpose(rotation);
        let [first, second] = boxes.half_extents;
        for index in 0..D::DIMENSION {
            for other in 0..D::DIMENSION {
                if first.component(index) == 0.0 || second.component(other) == 0.0 {
                    continue;
                }
                let axis = cross(D::axis(index), D::column(rotation, other));
                let square = axis.length_squared();
                if square <= PARALLEL_EDGES {
                    continue;
                }
                let inner = cross(D::column(inverse, index), D::axis(other));
                let scale = 1.0 / square.sqrt();
                let radius =
                    (projected_radius(first, axis) + projected_radius(second, inner)) * scale;
                let axis = axis * scale;
                let is_precise = square >= PRECISE_EDGES;
                let source = is_precise.then_some((AxisSource::Edges(index, other), axis));
                self.add(boxes, radius, FLAT_DEPTH * boxes.scale, source, axis);
            }
        }
    }

    /// Intersects the intervals with the intervals of `axis`, a unit vector. This axis becomes the
    /// axis of `enter` only if, at the old `enter`, the gap along this axis exceeds `better_by`.
    fn add(
        &mut self,
        boxes: &BoxPair<D>,
        radius: f64,
        better_by: f64,
        source: Option<(AxisSource, D)>,
        axis: D,
    ) {
        let (offset, rate) = (
            axis.dot(boxes.relative.translation),
            axis.dot(self.velocity),
        );
        let overlap = &mut self.overlap;
        let gap = offset.abs() - radius - self.radius_sum;
        overlap.start_gap = overlap.start_gap.max(gap);
        if rate.abs() <= ROUNDING * boxes.scale {
            overlap.add_resting(gap);
            return;
        }
        let inverse = 1.0 / rate;
        let duration = inverse.abs();
        let (middle, half) = (-offset * inverse, (radius + self.radius_sum) * duration);
        if overlap.begin(middle - half, duration, better_by) {
            self.source = source;
        }
        overlap.end(middle + half, duration);
    }

    /// Returns the last axis along which the boxes begin to overlap, with its gap in the pose of
    /// `boxes`. Returns `None` if this axis is not precise.
    pub fn axis(&self, boxes: &BoxPair<D>) -> Option<BoxAxis<D>> {
        let (source, axis) = self.source?;
        let normal = axis.toward(-self.velocity);
        Some(boxes.axis_from(normal, source))
    }
}
