//! A tree of boxes with four children per node, for queries of many boxes that move.
//!
//! The wide tree skips every other level of a [`Tree`] with two children per node. (Dammertz,
//! Hanika and Keller, "Shallow Bounding Volume Hierarchies for Fast SIMD Ray Tracing of Incoherent
//! Rays", 2008.) The four boxes of a node are tested together by vector instructions: each [`Vec4`]
//! has one coordinate of all four. When boxes move, the tree is refitted: its nodes get new boxes
//! and keep their children.
//!
//! # Precision
//!
//! Boxes are tested in f32, and each test errs toward a hit:
//!
//! * Overlaps and the sides of an origin are exact, because they compare f32 with f32. The caller
//!   rounds its own box outward.
//! * A path enters and leaves a slab at a parameter that is rounded three times (a difference, an
//!   inverse and a product), each by at most 6e-8 of it. The parameter at which the path leaves and
//!   the limit are multiplied by [`SLACK`], which covers these errors (Ize, "Robust BVH Ray
//!   Traversal" (2013)).
//! * A squared distance has a relative error of less than [`SLACK`], too.

use core::ops::ControlFlow;

use arrayvec::ArrayVec;

use crate::{
    math::Vec4,
    shape::{
        Bounds,
        bvh::{Tree, TreeNode},
    },
    space::DVector,
};

/// A relative bound on rounding in the tests of boxes.
const SLACK: f32 = 1.0 + 16.0 * f32::EPSILON;

/// Number of children of a node.
const WIDTH: usize = 4;

/// A box of f32: its minimum and its maximum corner. In 2D, the box includes z = 0.
pub type Box3 = [[f32; 3]; 2];

/// A box that overlaps no box and that no path enters.
const EMPTY: Box3 = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

/// A tree of boxes, which are identified by indices.
#[derive(Default)]
pub struct WideTree {
    /// Each node comes before its children.
    nodes: Vec<WideNode>,
    /// Number of boxes.
    len: usize,
    /// The [`cost`](Self::cost) of the tree when it was built.
    cost_when_built: f64,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct WideNode {
    /// The minimum and the maximum corners of the children's boxes, by axis.
    corners: [[Vec4; 3]; 2],
    children: [Child; WIDTH],
}

/// A child of a node: the index of a box, marked by [`LEAF`](Self::LEAF), or the index of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Child(u32);

impl Child {
    const ROOT: Self = Self(0);
    const LEAF: u32 = 1 << 31;
    const NONE: Self = Self(u32::MAX);

    /// Returns `Ok` with the index of a box, or `Err` with the index of a node.
    fn number(self) -> Result<u32, usize> {
        if self.0 & Self::LEAF == 0 {
            Err(self.0 as usize)
        } else {
            Ok(self.0 & !Self::LEAF)
        }
    }
}

impl WideNode {
    const EMPTY: Self = Self {
        corners: [[Vec4::INFINITY; 3], [Vec4::NEG_INFINITY; 3]],
        children: [Child::NONE; WIDTH],
    };

    fn set_box(&mut self, lane: usize, new: &Box3) {
        for (corner, new) in self.corners.iter_mut().zip(new) {
            for (lanes, new) in corner.iter_mut().zip(new) {
                if let Some(value) = lanes.as_mut().get_mut(lane) {
                    *value = *new;
                }
            }
        }
    }

    /// Returns the box around all children.
    fn bounds(&self) -> Box3 {
        let [min, max] = &self.corners;
        [min.map(Vec4::min_element), max.map(Vec4::max_element)]
    }

    /// Opens the children with a bit in `mask`.
    #[inline(always)]
    fn open(&self, mask: u32, open: &mut OpenChildren) {
        for (lane, child) in self.children.iter().enumerate() {
            if mask >> lane & 1 != 0 {
                open.push((0.0, *child));
            }
        }
    }

    /// Opens the children with a bit in `mask`, those with the lowest keys last.
    #[inline(always)]
    fn open_sorted(&self, mask: u32, keys: Vec4, open: &mut OpenChildren) {
        let start = open.len();
        for ((lane, child), key) in self.children.iter().enumerate().zip(keys.to_array()) {
            if mask >> lane & 1 != 0 && *child != Child::NONE {
                let opened = open.iter().skip(start);
                let farther = opened.take_while(|(other, _)| *other > key).count();
                open.insert(start + farther, (key, *child));
            }
        }
    }
}

/// Returns half of the surface of a box.
fn half_surface([min, max]: &Box3) -> f64 {
    let ([x, y, z], [max_x, max_y, max_z]) = (min.map(f64::from), max.map(f64::from));
    let (x, y, z) = (max_x - x, max_y - y, max_z - z);
    x * y + y * z + z * x
}

impl WideTree {
    /// Builds the tree of numbered boxes, all of them finite. Numbers are less than 2^31.
    pub fn new(boxes: impl Iterator<Item = (u32, Box3)>) -> Self {
        let bounds = |[min, max]: Box3| Bounds::<crate::math::DVec3>::of_f32(min, max);
        let binary = Tree::new(boxes.map(|(number, aabb)| (number, bounds(aabb))));
        let mut tree = Self::default();
        let Some(root) = binary.root() else {
            return tree;
        };
        tree.nodes.push(WideNode::EMPTY);
        let mut open = vec![(root, 0)];
        while let Some((parent, index)) = open.pop() {
            let mut wide = WideNode::EMPTY;
            for (lane, node) in members(&binary, parent).into_iter().enumerate() {
                wide.set_box(lane, &node.bounds());
                let child = match node.leaf() {
                    Some(number) => {
                        tree.len += 1;
                        Child(number | Child::LEAF)
                    }
                    None => {
                        open.push((node, tree.nodes.len()));
                        tree.nodes.push(WideNode::EMPTY);
                        Child(tree.nodes.len() as u32 - 1)
                    }
                };
                if let Some(slot) = wide.children.get_mut(lane) {
                    *slot = child;
                }
            }
            if let Some(node) = tree.nodes.get_mut(index) {
                *node = wide;
            }
        }
        tree.cost_when_built = tree.cost();
        tree
    }

    /// Returns the number of boxes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Gives all boxes new corners. A number without a box has an empty one.
    pub fn refit(&mut self, box_of: impl Fn(u32) -> Option<Box3>) {
        for index in (0..self.nodes.len()).rev() {
            let Some(mut node) = self.nodes.get(index).copied() else {
                return;
            };
            for (lane, child) in node.children.into_iter().enumerate() {
                let bounds = match child {
                    Child::NONE => continue,
                    child => match child.number() {
                        Ok(number) => box_of(number),
                        Err(index) => self.nodes.get(index).map(WideNode::bounds),
                    },
                };
                node.set_box(lane, &bounds.unwrap_or(EMPTY));
            }
            if let Some(slot) = self.nodes.get_mut(index) {
                *slot = node;
            }
        }
    }

    /// Returns `true` if refitting has made the tree much worse than a new one.
    pub fn is_degraded(&self) -> bool {
        self.cost() > 2.0 * self.cost_when_built
    }

    /// The sum of the surfaces of all nodes, which is proportional to the expected number of nodes
    /// that a random ray visits.
    fn cost(&self) -> f64 {
        let surfaces = self.nodes.iter().map(|node| half_surface(&node.bounds()));
        surfaces.filter(|surface| *surface > 0.0).sum()
    }

    /// Calls `visit` with the index of each box that overlaps a given box, until `visit` returns
    /// `Break`. Returns the number of visited nodes.
    pub fn visit_overlapping(
        &self,
        [min, max]: &Box3,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> u32 {
        let ([x, y, z], [max_x, max_y, max_z]) = (min.map(Vec4::splat), max.map(Vec4::splat));
        let mut expand = |node: &WideNode, _: f32, open: &mut OpenChildren| {
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
            node.open(overlaps.bitmask(), open);
        };
        let mut visit = |number| match visit(number) {
            ControlFlow::Continue(()) => 0.0,
            ControlFlow::Break(()) => STOP,
        };
        self.search(Child::ROOT, &mut expand, &mut 0.0, &mut visit)
    }

    /// Calls `visit` with the numbers of boxes that a path may enter, roughly in the order in which
    /// it enters them. `visit` returns the new end of the path, which is negative to stop. Returns
    /// the number of visited nodes.
    pub fn visit_along(&self, path: &BoxPath, mut visit: impl FnMut(u32) -> f64) -> u32 {
        let mut expand = |node: &WideNode, limit: f32, open: &mut OpenChildren| {
            let (enter, is_passed) = path.enter(node, limit);
            node.open_sorted(!is_passed, enter, open);
        };
        let mut visit = |number| limit(visit(number));
        self.search(Child::ROOT, &mut expand, &mut limit(path.max), &mut visit)
    }

    /// Calls `visit` with the numbers of boxes whose distance from another box may be at most
    /// `max`, roughly in the order of their distances. `visit` returns the new `max`, which is
    /// negative to stop. Returns the number of visited nodes.
    pub fn visit_nearest(
        &self,
        [min, max]: &Box3,
        max_distance: f64,
        mut visit: impl FnMut(u32) -> f64,
    ) -> u32 {
        let squared = |distance: f64| match limit(distance) {
            STOP => STOP,
            distance => distance * distance * SLACK + f32::MIN_POSITIVE,
        };
        let (min, max) = (min.map(Vec4::splat), max.map(Vec4::splat));
        let mut expand = |node: &WideNode, limit: f32, open: &mut OpenChildren| {
            let [node_min, node_max] = &node.corners;
            let mut squares = Vec4::ZERO;
            for ((node_min, node_max), (min, max)) in
                node_min.iter().zip(node_max).zip(min.iter().zip(&max))
            {
                let gap = (*node_min - *max).max(*min - *node_max).max(Vec4::ZERO);
                squares += gap * gap;
            }
            let is_near = squares.cmple(Vec4::splat(limit));
            node.open_sorted(is_near.bitmask(), squares, open);
        };
        let mut visit = |number| squared(visit(number));
        self.search(
            Child::ROOT,
            &mut expand,
            &mut squared(max_distance),
            &mut visit,
        )
    }

    /// Visits nodes below `root`, the last of the open ones first. `expand` opens children of a
    /// node, each with a key. A child with a key above the limit, which `visit` returns, is
    /// skipped. Returns the number of visited nodes.
    fn search(
        &self,
        root: Child,
        expand: &mut impl FnMut(&WideNode, f32, &mut OpenChildren),
        limit: &mut f32,
        visit: &mut impl FnMut(u32) -> f32,
    ) -> u32 {
        let mut visits = 0;
        let mut open = OpenChildren::new();
        open.push((0.0, root));
        while let Some((key, child)) = open.pop() {
            if key > *limit {
                continue;
            }
            match child.number() {
                Ok(number) => {
                    *limit = visit(number);
                }
                Err(_) if open.remaining_capacity() < WIDTH => {
                    visits += self.search(child, expand, limit, visit);
                }
                Err(index) => {
                    if let Some(node) = self.nodes.get(index) {
                        visits += 1;
                        expand(node, *limit, &mut open);
                    }
                }
            }
        }
        visits
    }
}

/// Children to visit, each with its key: a lower bound of its distance. If there are more, a part
/// of the tree is searched on its own.
type OpenChildren = ArrayVec<(f32, Child), 64>;

/// A limit below all keys, which ends a search.
const STOP: f32 = f32::NEG_INFINITY;

/// Rounds a limit up to f32. A negative limit ends the search.
fn limit(limit: f64) -> f32 {
    if limit < 0.0 {
        return STOP;
    }
    (limit as f32) * SLACK + f32::MIN_POSITIVE
}

/// A point or a box that moves along a line.
pub struct BoxPath {
    /// For each axis: the coordinates from which the planes are measured where the path enters and
    /// leaves a slab, the inverse of the direction, and `true` if it is negative.
    axes: [PathAxis; 3],
    max: f64,
}

#[derive(Clone, Copy)]
struct PathAxis {
    enter_from: f32,
    leave_from: f32,
    inverse: f32,
    is_negative: bool,
}

impl BoxPath {
    /// Creates the path of a box with half extents `half`, whose center is at `origin + direction *
    /// t` for each t from 0 to `max`.
    pub fn new<D: DVector>(origin: D, half: D, direction: D, max: f64) -> Self {
        let [origin, half, direction] = [origin, half, direction].map(|vector| vector.components());
        let axis = |index: usize| {
            let at = |components: &[f64; 3]| components.get(index).copied().unwrap_or_default();
            let (origin, half) = (at(&origin), at(&half));
            // The inverse of a component of 0 is infinite: the slab contains the path at all times,
            // or never.
            let inverse = (1.0 / at(&direction)) as f32;
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
        Self {
            axes: [axis(0), axis(1), axis(2)],
            max,
        }
    }

    /// Returns the parameter at which the path ends.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Sets the parameter at which the path ends, which is negative for no path.
    pub fn set_max(&mut self, max: f64) {
        self.max = max;
    }

    /// Returns where the path enters the boxes of a node, and a mask of those that it certainly
    /// does not enter until `limit`.
    #[inline(always)]
    fn enter(&self, node: &WideNode, limit: f32) -> (Vec4, u32) {
        let [min, max] = &node.corners;
        let (mut enter, mut leave) = (Vec4::ZERO, Vec4::INFINITY);
        for ((min, max), axis) in min.iter().zip(max).zip(&self.axes) {
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

/// Returns up to four nodes that together have all boxes of `parent`: as long as there are fewer,
/// the largest inner one is replaced by its children.
fn members(tree: &Tree, parent: TreeNode) -> ArrayVec<TreeNode, WIDTH> {
    let mut members = ArrayVec::new();
    members.push(parent);
    while members.len() < WIDTH {
        let inner = members.iter().enumerate();
        let inner = inner.filter(|(_, node)| node.leaf().is_none());
        let surface = |node: &TreeNode| half_surface(&node.bounds());
        let largest = inner.max_by(|(_, a), (_, b)| surface(a).total_cmp(&surface(b)));
        let Some((position, _)) = largest else {
            break;
        };
        let node = members.remove(position);
        members.extend(tree.children(&node));
    }
    members
}
