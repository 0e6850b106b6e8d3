//! The path of a moving point or box through the boxes of a
//! [`WideTree`](super::wide_tree::WideTree).
//!
//! A search along a path calls [`BoxPath::new`] once, and the tree calls [`BoxPath::enter`] for
//! each node.
//!
//! A *slab* is the space between two opposite planes of a box. The parameter at which a path enters
//! or leaves a slab is a product of a difference and an inverse. The difference, the inverse and
//! the product are each rounded with a relative error of at most 6e-8. To cover these errors, the
//! limit and the parameter at which the path leaves are multiplied by [`SLACK`] (Ize, "Robust BVH
//! Ray Traversal" (2013)).

use crate::{math::Vec4, shape::boxes::wide_node::Corners, space::DVector};

/// The factor that covers the rounding errors of tests with boxes.
pub const SLACK: f32 = 1.0 + 16.0 * f32::EPSILON;

/// A point or a box that moves along a line.
pub struct BoxPath([PathAxis; 3]);

/// The path along one axis, for four boxes.
#[derive(Clone, Copy)]
struct PathAxis {
    /// The coordinates from which the distances to the near plane and the far plane of a slab are
    /// measured.
    enter_from: Vec4,
    leave_from: Vec4,
    inverse: Vec4,
    is_negative: bool,
}

impl BoxPath {
    /// Creates the path of a box with half extents `half`, whose center is at `origin + direction *
    /// t` for each t from 0.
    pub fn new<D: DVector>(origin: D, half: D, direction: D) -> Self {
        let axis = |origin: f64, half: f64, direction: f64| {
            // If a component of the direction is 0, its inverse is infinite. Then the slab contains
            // the path at all times, or never.
            let inverse = (1.0 / direction) as f32;
            let is_negative = inverse < 0.0;
            // The planes of a slab move outward by the half extent of the moving box. The
            // coordinates are rounded outward, too.
            let greatest = round_up(origin + half);
            let least = -round_up(half - origin);
            let [enter_from, leave_from] = if is_negative {
                [least, greatest]
            } else {
                [greatest, least]
            };
            PathAxis {
                enter_from: Vec4::splat(enter_from),
                leave_from: Vec4::splat(leave_from),
                inverse: Vec4::splat(inverse),
                is_negative,
            }
        };
        let ([x, y, z], [half_x, half_y, half_z]) = (origin.components(), half.components());
        let [to_x, to_y, to_z] = direction.components();
        Self([
            axis(x, half_x, to_x),
            axis(y, half_y, to_y),
            axis(z, half_z, to_z),
        ])
    }

    /// Returns the parameters at which the path enters the boxes of a node. Also returns a mask of
    /// the boxes that the path certainly does not enter before `limit`.
    #[inline(always)]
    pub fn enter(&self, [min, max]: &Corners, limit: f32) -> (Vec4, u32) {
        let (mut enter, mut leave) = (Vec4::ZERO, Vec4::INFINITY);
        for ((min, max), axis) in min.iter().zip(max).zip(&self.0) {
            let (near, far) = if axis.is_negative {
                (max, min)
            } else {
                (min, max)
            };
            // If the path runs in a bounding plane of the slab, 0 times infinity gives NaN.
            // Depending on the processor, `max` and `min` then return the other argument or NaN.
            // Neither result excludes a box, because comparisons with NaN are false.
            enter = ((*near - axis.enter_from) * axis.inverse).max(enter);
            leave = ((*far - axis.leave_from) * axis.inverse).min(leave);
        }
        let is_passed = enter.cmpgt(leave * SLACK) | enter.cmpgt(Vec4::splat(limit));
        (enter, is_passed.bitmask())
    }
}

/// Rounds a value up to f32, by a few units in the last place.
fn round_up(value: f64) -> f32 {
    (value + value.abs() * f64::from(f32::EPSILON) + f64::from(f32::MIN_POSITIVE)) as f32
}
