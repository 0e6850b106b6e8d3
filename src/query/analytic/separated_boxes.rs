//! The nearest points of a box and a segment that do not touch each other, and in 2D of two boxes.
//!
//! **A box and a segment.** Let c + t w with -1 <= t <= 1 be the points of the segment, in the
//! frame of the box. Let h be the half extents of the box. Let e(t) be the vector from the nearest
//! point of the box to the point of the segment: the point minus the point clamped to ±h. The
//! squared distance e·e is a convex function of t, and half of its derivative is
//!
//! ```text
//! s(t) = w·e(t)
//! ```
//!
//! The slope s is continuous and never decreases. It is linear between the values of t at which a
//! coordinate of the point crosses ±h. So the slopes at these crossings and at both ends enclose
//! the root of s.
//!
//! **Two boxes in 2D.** One of the two nearest points is a corner of its box.

use crate::{
    query::{
        analytic::boxes::{BoxPair, dimensions, nearer},
        gjk::Penetration,
    },
    space::DVector,
    tolerance::FLAT_DEPTH,
};

/// Returns the contact of two boxes that are apart, with a negative depth. In 3D, one of the boxes
/// must be a segment. Returns `None` for other pairs, and for boxes that nearly touch.
#[inline]
pub fn nearest<D: DVector>(boxes: &BoxPair<D>) -> Option<Penetration<D>> {
    let are_segments = boxes
        .half_extents
        .map(|half_extents| dimensions(half_extents) == 1);
    let points = match are_segments {
        [_, true] => box_and_segment(boxes),
        [true, false] => boxes.with_swapped(box_and_segment),
        [false, false] if D::DIMENSION == 2 => {
            nearer(box_and_corners(boxes), boxes.with_swapped(box_and_corners))
        }
        [false, false] => return None,
    };
    boxes.apart(points)
}

/// Returns the nearest points of the first box and of the second box, which is a segment.
fn box_and_segment<D: DVector>(boxes: &BoxPair<D>) -> [D; 2] {
    let [half_extents, half] = boxes.half_extents;
    let (rotation, center) = (boxes.relative.rotation, boxes.relative.translation);
    nearest_on_segment(half_extents, center, rotation * half, boxes.scale)
}

/// Returns the nearest points of a box and of the segment from `center - along` to
/// `center + along`, in the frame of the box. `scale` is the scale of the pair.
pub fn nearest_on_segment<D: DVector>(half_extents: D, center: D, along: D, scale: f64) -> [D; 2] {
    let points_at = |t: f64| {
        let point = center + along * t;
        [point.clamped(half_extents), point]
    };
    // If the derivative of the distance is at most this value, the slope counts as zero.
    let flat = FLAT_DEPTH * scale;
    // The greatest t with a negative slope, and the least t with a positive slope.
    let (mut falling, mut rising) = ((-1.0, 0.0), (1.0, 0.0));
    // The least and the greatest t with a slope of zero.
    let (mut first_level, mut last_level) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut add = |t: f64| {
        let [inside, point] = points_at(t);
        let offset = point - inside;
        let slope = along.dot(offset);
        if slope.abs() <= flat * offset.length() {
            first_level = t.min(first_level);
            last_level = t.max(last_level);
        } else if slope < 0.0 && t >= falling.0 {
            falling = (t, slope);
        } else if slope > 0.0 && t <= rising.0 {
            rising = (t, slope);
        }
    };
    add(-1.0);
    add(1.0);
    for index in 0..D::DIMENSION {
        let (extent, speed) = (half_extents.component(index), along.component(index));
        for side in [-extent, extent] {
            let t = (side - center.component(index)) / speed;
            if t.abs() < 1.0 {
                add(t);
            }
        }
    }
    let range = rising.1 - falling.1;
    points_at(if first_level <= last_level {
        0.5 * (first_level + last_level)
    } else if range > 0.0 {
        falling.0 - (rising.0 - falling.0) * falling.1 / range
    } else {
        falling.0
    })
}

/// Returns the corner of the second box that is nearest to the first box, and the nearest point of
/// the first box.
fn box_and_corners<D: DVector>(boxes: &BoxPair<D>) -> [D; 2] {
    let [half_extents, other] = boxes.half_extents;
    let (rotation, center) = (boxes.relative.rotation, boxes.relative.translation);
    let [x, y] = [0, 1].map(|index| rotation * (D::axis(index) * other.component(index)));
    let corners = [x + y, x - y, y - x, -x - y].map(|corner| {
        let corner = center + corner;
        [corner.clamped(half_extents), corner]
    });
    let [first, others @ ..] = corners;
    others.into_iter().fold(first, nearer)
}
