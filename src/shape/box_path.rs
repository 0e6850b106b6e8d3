//! The path of a point or a box, and the boxes of a [`WideTree`](super::WideTree) that it enters.
//!
//! A path enters and leaves a slab at a parameter that is rounded three times (a difference, an
//! inverse and a product), each by at most 6e-8 of it. The parameter at which the path leaves and
//! the limit are multiplied by [`SLACK`], which covers these errors (Ize, "Robust BVH Ray
//! Traversal" (2013)).

use crate::{math::Vec4, space::DVector};

/// A relative bound on rounding in the tests of boxes.
pub const SLACK: f32 = 1.0 + 16.0 * f32::EPSILON;

/// The minimum and the maximum corners of four boxes, by axis.
pub type Corners = [[Vec4; 3]; 2];

/// A point or a box that moves along a line.
pub struct BoxPath([PathAxis; 3]);

/// The path along one axis.
#[derive(Clone, Copy)]
struct PathAxis {
    /// The coordinates from which planes are measured where the path enters and leaves a slab.
    enter_from: f32,
    leave_from: f32,
    inverse: f32,
    is_negative: bool,
}

impl BoxPath {
    /// Creates the path of a box with half extents `half`, whose center is at `origin + direction *
    /// t` for each t from 0.
    pub fn new<D: DVector>(origin: D, half: D, direction: D) -> Self {
        let axis = |(origin, half, direction): (f64, f64, f64)| {
            // The inverse of a component of 0 is infinite: the slab contains the path at all times,
            // or never.
            let inverse = (1.0 / direction) as f32;
            let is_negative = inverse < 0.0;
            // The planes move outward by the half extent. The coordinates are rounded outward, too.
            let greatest = round_up(origin + half);
            let least = -round_up(half - origin);
            let [enter_from, leave_from] = if is_negative {
                [least, greatest]
            } else {
                [greatest, least]
            };
            PathAxis {
                enter_from,
                leave_from,
                inverse,
                is_negative,
            }
        };
        let ([x, y, z], [half_x, half_y, half_z]) = (origin.components(), half.components());
        let [to_x, to_y, to_z] = direction.components();
        Self([(x, half_x, to_x), (y, half_y, to_y), (z, half_z, to_z)].map(axis))
    }

    /// Returns where the path enters the boxes of a node, and a mask of those that it certainly
    /// does not enter until `limit`.
    #[inline(always)]
    pub fn enter(&self, [min, max]: &Corners, limit: f32) -> (Vec4, u32) {
        let (mut enter, mut leave) = (Vec4::ZERO, Vec4::INFINITY);
        for ((min, max), axis) in min.iter().zip(max).zip(&self.0) {
            let (near, far) = if axis.is_negative {
                (max, min)
            } else {
                (min, max)
            };
            // 0 times infinity is NaN, which bounds nothing: the path runs in the plane. Depending
            // on the processor, the result is the other number or NaN, and no comparison with NaN
            // excludes a box.
            enter = ((*near - axis.enter_from) * axis.inverse).max(enter);
            leave = ((*far - axis.leave_from) * axis.inverse).min(leave);
        }
        let is_passed = enter.cmpgt(leave * SLACK) | enter.cmpgt(Vec4::splat(limit));
        (enter, is_passed.bitmask())
    }
}

/// Rounds up to f32.
fn round_up(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) < value {
        rounded.next_up()
    } else {
        rounded
    }
}
