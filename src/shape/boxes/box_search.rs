//! The searches for boxes in a [`WideTree`](super::wide_tree::WideTree). `compounds/compound.rs`
//! searches the parts of a compound, and `pipeline/spatial_index.rs` all colliders.
//!
//! # Precision
//!
//! Boxes are tested in f32. Rounding may add a hit, but never removes a hit:
//!
//! * Tests for overlaps are exact, because they compare f32 with f32. The caller rounds its own box
//!   outward.
//! * [`BoxPath`] allows for the rounding of the parameters at which a path enters and leaves a
//!   slab.
//! * [`SLACK`] also covers the relative error of a squared distance.
//!
//! The functions of a search are inlined, because the innermost loop of each search calls them from
//! another codegen unit.

use crate::{
    math::Vec4,
    shape::{
        Box3,
        boxes::{
            box_path::{BoxPath, SLACK},
            wide_node::{Corners, WIDTH, WideNode},
        },
    },
};

/// A search for boxes. Each kind of search defines the meaning of its limit.
pub trait BoxSearch {
    /// A lower bound on the limits at which the search finds a box.
    type Key: PartialOrd + Copy;

    /// Converts a limit to a key.
    fn key(&self, limit: f64) -> Self::Key;

    /// Returns a mask of the children of a node to visit, and the key of each child.
    fn expand(&self, node: &WideNode, limit: Self::Key) -> (u32, [Self::Key; WIDTH]);

    /// If the search finds the boxes whose distance from a box is at most the limit, returns this
    /// box.
    fn near_box(&self) -> Option<Box3> {
        None
    }
}

/// A key below all keys, which ends a search.
const STOP: f32 = f32::NEG_INFINITY;

/// Rounds a limit up to f32. A negative limit ends the search.
#[inline]
fn round_up(limit: f64) -> f32 {
    if limit < 0.0 {
        return STOP;
    }
    (limit as f32) * SLACK + f32::MIN_POSITIVE
}

/// Returns a box four times, to compare it with the four boxes of a node.
fn corners([min, max]: Box3) -> Corners {
    [min.map(Vec4::splat), max.map(Vec4::splat)]
}

/// Does the inverse of [`corners`].
fn any_lane([min, max]: &Corners) -> Box3 {
    [min, max].map(|corner| corner.map(|lanes| lanes.x))
}

/// Finds the boxes that overlap a box, in any order. The limit is 0, or negative to end the search.
pub struct Overlapping(Corners);

impl Overlapping {
    pub fn new(bounds: Box3) -> Self {
        Self(corners(bounds))
    }
}

impl BoxSearch for Overlapping {
    type Key = f32;

    #[inline]
    fn key(&self, limit: f64) -> f32 {
        if limit >= 0.0 { 0.0 } else { STOP }
    }

    #[inline]
    fn expand(&self, node: &WideNode, _: f32) -> (u32, [f32; WIDTH]) {
        let [[x, y, z], [max_x, max_y, max_z]] = self.0;
        let [
            [node_x, node_y, node_z],
            [node_max_x, node_max_y, node_max_z],
        ] = node.corners;
        let overlaps = node_x.cmple(max_x)
            & x.cmple(node_max_x)
            & node_y.cmple(max_y)
            & y.cmple(node_max_y)
            & node_z.cmple(max_z)
            & z.cmple(node_max_z);
        (overlaps.bitmask(), [0.0; WIDTH])
    }

    fn near_box(&self) -> Option<Box3> {
        Some(any_lane(&self.0))
    }
}

/// Finds the boxes near a box, roughly from near to far. The limit is the distance, or negative to
/// end the search.
pub struct Nearest(Corners);

impl Nearest {
    pub fn new(bounds: Box3) -> Self {
        Self(corners(bounds))
    }
}

/// The keys are squared distances.
impl BoxSearch for Nearest {
    type Key = f32;

    #[inline]
    fn key(&self, limit: f64) -> f32 {
        match round_up(limit) {
            STOP => STOP,
            distance => distance * distance * SLACK + f32::MIN_POSITIVE,
        }
    }

    #[inline]
    fn expand(&self, node: &WideNode, limit: f32) -> (u32, [f32; WIDTH]) {
        let ([min, max], [node_min, node_max]) = (&self.0, &node.corners);
        let mut squares = Vec4::ZERO;
        for ((node_min, node_max), (min, max)) in
            node_min.iter().zip(node_max).zip(min.iter().zip(max))
        {
            let gap = (*node_min - *max).max(*min - *node_max).max(Vec4::ZERO);
            squares += gap * gap;
        }
        let is_near = squares.cmple(Vec4::splat(limit));
        (is_near.bitmask(), squares.to_array())
    }

    fn near_box(&self) -> Option<Box3> {
        Some(any_lane(&self.0))
    }
}

/// Finds the boxes that a path enters, roughly in the order of entry. The limit is the end of the
/// path, or negative to end the search.
impl BoxSearch for BoxPath {
    type Key = f32;

    #[inline]
    fn key(&self, limit: f64) -> f32 {
        round_up(limit)
    }

    #[inline]
    fn expand(&self, node: &WideNode, limit: f32) -> (u32, [f32; WIDTH]) {
        let (enter, is_passed) = self.enter(&node.corners, limit);
        (!is_passed, enter.to_array())
    }
}

/// Finds the same boxes as a [`BoxPath`], but may skip the boxes of each group for which the
/// function returns `true`. The function is called anew at each node, so its result may change
/// during the search.
pub struct GroupsAlong<F>(pub BoxPath, pub F);

impl<F: Fn(u32) -> bool> BoxSearch for GroupsAlong<F> {
    type Key = f32;

    #[inline]
    fn key(&self, limit: f64) -> f32 {
        round_up(limit)
    }

    #[inline]
    fn expand(&self, node: &WideNode, limit: f32) -> (u32, [f32; WIDTH]) {
        let Self(path, is_skipped) = self;
        let (mask, enter) = path.expand(node, limit);
        let skipped = (0..).zip(node.groups);
        let skipped = skipped.filter(|(_, group)| is_skipped(*group));
        (
            skipped.fold(mask, |mask, (lane, _)| mask & !(1 << lane)),
            enter,
        )
    }
}

/// Finds the boxes whose gap is at most the limit, roughly from near to far. The function returns
/// the gap: a lower bound on the distance to a box. The bound for a box must be no greater than the
/// bound for any box inside it.
pub struct ByGap<F>(pub F);

impl<F: Fn(Box3) -> f64> BoxSearch for ByGap<F> {
    type Key = f64;

    fn key(&self, limit: f64) -> f64 {
        limit
    }

    fn expand(&self, node: &WideNode, _: f64) -> (u32, [f64; WIDTH]) {
        let Self(gap) = self;
        (u32::MAX, [0, 1, 2, 3].map(|lane| gap(node.lane_box(lane))))
    }
}
