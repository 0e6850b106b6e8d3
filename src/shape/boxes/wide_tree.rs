//! A tree of boxes with four children per node, for the parts of a compound or for all colliders.
//!
//! [`WideTree::new`] builds the tree of a new compound, or of the colliders in
//! `pipeline/spatial_index.rs`, and [`WideTree::of_codes`] a tree of faces of cells, faster.
//! [`WideTree::visit_overlapping`], [`WideTree::visit_along`] and
//! [`WideTree::visit_nearest`] search the tree.
//!
//! Each node of the wide tree replaces up to three nodes of a [tree](build) with two children per
//! node. Source: Dammertz, Hanika and Keller, "Shallow Bounding Volume Hierarchies for Fast SIMD
//! Ray Tracing of Incoherent Rays" (2008).
//!
//! The four boxes of a node are tested together by vector instructions: each [`Vec4`] holds one
//! coordinate of all four boxes. When boxes move, the tree is refitted: its nodes get new boxes and
//! keep their children.
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

use core::ops::ControlFlow;

use arrayvec::ArrayVec;
use obvhs::bvh2::{Bvh2, node::Bvh2Node};
use smallvec::SmallVec;

use crate::{
    math::Vec4,
    shape::{
        Bounds, Box3,
        boxes::{
            box_path::{BoxPath, Corners, SLACK},
            bvh::build,
        },
    },
    space::DVector,
};

/// The number of children of a node.
const WIDTH: usize = 4;

/// A box that overlaps no box and that no path enters.
const EMPTY: Box3 = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

/// The value that stands for no group, or for boxes of several groups.
pub const NO_GROUP: u32 = u32::MAX;

/// A tree of boxes, which are identified by indices.
#[derive(Clone, Default)]
pub struct WideTree {
    /// Each node comes before its children.
    nodes: Vec<WideNode>,
    /// The number of boxes.
    len: usize,
    /// The [`cost`](Self::cost) of the tree when it was built.
    cost_when_built: f64,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct WideNode {
    /// The minimum and the maximum corners of the children's boxes, by axis.
    corners: Corners,
    children: [Child; WIDTH],
    /// For each child, the group that contains all boxes of the child, or [`NO_GROUP`].
    groups: [u32; WIDTH],
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
        groups: [NO_GROUP; WIDTH],
    };

    /// Returns the box of a child.
    fn lane_box(&self, lane: usize) -> Box3 {
        let corner = |corner: &[Vec4; 3]| {
            corner.map(|lanes| lanes.as_ref().get(lane).copied().unwrap_or(f32::NAN))
        };
        self.corners.each_ref().map(corner)
    }

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

    /// Returns the group that contains all boxes below the node, or [`NO_GROUP`].
    fn group(&self) -> u32 {
        let children = self.children.iter().zip(self.groups);
        let mut groups = children.filter(|(child, _)| **child != Child::NONE);
        let Some((_, first)) = groups.next() else {
            return NO_GROUP;
        };
        let is_common = groups.all(|(_, group)| group == first);
        if is_common { first } else { NO_GROUP }
    }

    /// Returns the child with the lowest key among the children whose bits in `mask` are set. Adds
    /// the other children to `open`, in descending order of their keys. Most nodes have one such
    /// child, which needs no list.
    #[inline(always)]
    fn nearest<K: PartialOrd + Copy>(
        &self,
        mut mask: u32,
        keys: [K; WIDTH],
        open: &mut OpenChildren<K>,
    ) -> Option<(K, Child)> {
        let mut nearest: Option<(K, Child)> = None;
        let start = open.len();
        // Each step clears the lowest set bit of `mask`.
        while let lane = mask.trailing_zeros() as usize
            && let (Some(child), Some(key)) = (self.children.get(lane), keys.get(lane))
        {
            mask &= mask - 1;
            if *child == Child::NONE {
                continue;
            }
            let mut new = (*key, *child);
            let Some(nearest) = &mut nearest else {
                nearest = Some(new);
                continue;
            };
            if new.0 < nearest.0 {
                core::mem::swap(nearest, &mut new);
            }
            open.push(new);
            let mut opened = open.get_mut(start..).unwrap_or_default();
            while let Some((last, before)) = opened.split_last_mut()
                && let Some(next) = before.last_mut()
                && next.0 < last.0
            {
                core::mem::swap(next, last);
                opened = before;
            }
        }
        nearest
    }
}

/// Returns half of the surface area of a box.
fn half_surface([min, max]: &Box3) -> f64 {
    let ([x, y, z], [max_x, max_y, max_z]) = (min.map(f64::from), max.map(f64::from));
    let (x, y, z) = (max_x - x, max_y - y, max_z - z);
    x * y + y * z + z * x
}

impl WideTree {
    /// Builds the tree of boxes, each of which has an index. All boxes must be finite, and all
    /// indices less than 2^31.
    pub fn new(boxes: impl Iterator<Item = (u32, Box3)>) -> Self {
        let (numbers, boxes): (Vec<u32>, Vec<Box3>) = boxes.unzip();
        let binary = build(&boxes);
        let mut tree = Self {
            len: boxes.len(),
            ..Self::default()
        };
        let Some(root) = binary.nodes.first() else {
            return tree;
        };
        tree.nodes.push(WideNode::EMPTY);
        let mut open = vec![(root, 0)];
        while let Some((parent, index)) = open.pop() {
            let mut wide = WideNode::EMPTY;
            for (lane, node) in members(&binary, parent).into_iter().enumerate() {
                wide.set_box(lane, &box_of(node));
                let child = if node.is_leaf() {
                    let position = binary.primitive_indices.get(node.first_index as usize);
                    let number = position.and_then(|position| numbers.get(*position as usize));
                    number.map_or(Child::NONE, |number| Child(number | Child::LEAF))
                } else {
                    open.push((node, tree.nodes.len()));
                    tree.nodes.push(WideNode::EMPTY);
                    Child(tree.nodes.len() as u32 - 1)
                };
                if let Some(slot) = wide.children.get_mut(lane) {
                    *slot = child;
                }
            }
            if let Some(node) = tree.nodes.get_mut(index) {
                *node = wide;
            }
        }
        tree.nodes.shrink_to_fit();
        tree.cost_when_built = tree.cost();
        tree
    }

    /// Builds the tree of boxes in a given order, each with a code, an index and a group (see
    /// [`set_groups`](Self::set_groups)). The codes must ascend. Two boxes have a common node if
    /// their codes differ only in the low bits, two bits for each level. So the part of the tree
    /// around a box does not depend on distant boxes if near boxes have near codes.
    pub fn of_codes(boxes: impl IntoIterator<Item = (u64, u32, Box3, u32)>) -> Self {
        let leaf = |(code, number, bounds, group): (u64, u32, Box3, u32)| {
            (code, Child(number | Child::LEAF), bounds, group)
        };
        let mut level: SmallVec<[_; 64]> = boxes.into_iter().map(leaf).collect();
        let len = level.len();
        let mut nodes = Vec::with_capacity(len.div_ceil(2));
        while level.len() > 1 || level.len() > nodes.len() {
            let is_root = level.len() == 1;
            let (mut start, mut parents) = (0, 0);
            while let Some((code, ..)) = level.get(start) {
                let parent = *code >> 2;
                let members = level.iter().skip(start);
                let count = members.take_while(|it| it.0 >> 2 == parent).count();
                let Some(members) = level.get(start..start + count) else {
                    break;
                };
                start += count;
                // A node with a single child is replaced by the child.
                let merged = match members {
                    [(_, child, bounds, group)] if !is_root => (parent, *child, *bounds, *group),
                    _ => {
                        let mut node = WideNode::EMPTY;
                        let lanes = node.children.iter_mut().zip(&mut node.groups);
                        for ((child, group), member) in lanes.zip(members) {
                            (*child, *group) = (member.1, member.3);
                        }
                        for (lane, (_, _, bounds, _)) in members.iter().enumerate() {
                            node.set_box(lane, bounds);
                        }
                        nodes.push(node);
                        let child = Child(nodes.len() as u32 - 1);
                        (parent, child, node.bounds(), node.group())
                    }
                };
                if let Some(slot) = level.get_mut(parents) {
                    *slot = merged;
                }
                parents += 1;
            }
            level.truncate(parents);
        }
        // Puts each node before its children.
        let last = nodes.len() as u32;
        nodes.reverse();
        for child in nodes.iter_mut().flat_map(|node| &mut node.children) {
            if child.number().is_err() {
                *child = Child(last - 1 - child.0);
            }
        }
        Self {
            nodes,
            len,
            cost_when_built: f64::INFINITY,
        }
    }

    /// Returns the common group of all boxes, or [`NO_GROUP`].
    pub fn group(&self) -> u32 {
        self.nodes.first().map_or(NO_GROUP, WideNode::group)
    }

    /// Returns the box around all boxes.
    pub fn bounding_box(&self) -> Box3 {
        self.nodes.first().map_or(EMPTY, WideNode::bounds)
    }

    /// Assigns a group to each box. `group_of` returns the group of a box, or [`NO_GROUP`].
    pub fn set_groups(&mut self, group_of: impl Fn(u32) -> u32) {
        for index in (0..self.nodes.len()).rev() {
            let Some(mut node) = self.nodes.get(index).copied() else {
                return;
            };
            for (group, child) in node.groups.iter_mut().zip(node.children) {
                *group = match child {
                    Child::NONE => NO_GROUP,
                    child => match child.number() {
                        Ok(number) => group_of(number),
                        Err(index) => self.nodes.get(index).map_or(NO_GROUP, WideNode::group),
                    },
                };
            }
            if let Some(slot) = self.nodes.get_mut(index) {
                *slot = node;
            }
        }
    }

    /// Returns the box around all boxes.
    pub fn bounds<D: DVector>(&self) -> Bounds<D> {
        let [min, max] = self.bounding_box();
        Bounds::of_f32(min, max)
    }

    /// Returns the number of boxes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Replaces each box by the result of `box_of`, or by an empty box if the result is `None`.
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

    /// Replaces a box and its group.
    pub fn replace(&mut self, index: u32, mut bounds: Box3, mut group: u32) {
        let mut child = Child(index | Child::LEAF);
        // Each node comes after its parent, so one pass also updates all nodes above.
        for (index, node) in self.nodes.iter_mut().enumerate().rev() {
            if let Some(lane) = node.children.iter().position(|it| *it == child)
                && let Some(slot) = node.groups.get_mut(lane)
            {
                *slot = group;
                node.set_box(lane, &bounds);
                (child, bounds, group) = (Child(index as u32), node.bounds(), node.group());
            }
        }
    }

    /// Returns `true` if refitting has more than doubled the cost of the tree.
    pub fn is_degraded(&self) -> bool {
        self.cost() > 2.0 * self.cost_when_built
    }

    /// Returns half the sum of the surface areas of all nodes' boxes. The expected number of nodes
    /// that a random ray visits is proportional to this sum.
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
        let expand = |node: &WideNode, _: f32| {
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
        };
        self.search(0.0, expand, |number| match visit(number) {
            ControlFlow::Continue(()) => 0.0,
            ControlFlow::Break(()) => STOP,
        })
    }

    /// Calls `visit` with the indices of boxes that a path may enter until `max`, roughly in the
    /// order of entry. `visit` returns the new `max`, or a negative number to stop. Returns the
    /// number of visited nodes.
    pub fn visit_along(&self, path: &BoxPath, max: f64, visit: impl FnMut(u32) -> f64) -> u32 {
        self.visit_groups_along(path, max, |_| false, visit)
    }

    /// Does the same as [`visit_along`](Self::visit_along), but may skip the boxes of each group
    /// for which `is_skipped` returns `true`. `is_skipped` is called anew at each node, so its
    /// result may change during the search.
    pub fn visit_groups_along(
        &self,
        path: &BoxPath,
        max: f64,
        is_skipped: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32) -> f64,
    ) -> u32 {
        let expand = |node: &WideNode, limit: f32| {
            let (enter, is_passed) = path.enter(&node.corners, limit);
            let skipped = (0..).zip(node.groups);
            let skipped = skipped.filter(|(_, group)| is_skipped(*group));
            let is_passed = skipped.fold(is_passed, |mask, (lane, _)| mask | 1 << lane);
            (!is_passed, enter.to_array())
        };
        self.search(limit(max), expand, |number| limit(visit(number)))
    }

    /// Calls `visit` with the indices of boxes whose distance from a given box may be at most
    /// `max_distance`, roughly from near to far. `visit` returns the new limit, or a negative
    /// number to stop. Returns the number of visited nodes.
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
        let expand = |node: &WideNode, limit: f32| {
            let [node_min, node_max] = &node.corners;
            let mut squares = Vec4::ZERO;
            for ((node_min, node_max), (min, max)) in
                node_min.iter().zip(node_max).zip(min.iter().zip(&max))
            {
                let gap = (*node_min - *max).max(*min - *node_max).max(Vec4::ZERO);
                squares += gap * gap;
            }
            let is_near = squares.cmple(Vec4::splat(limit));
            (is_near.bitmask(), squares.to_array())
        };
        self.search(squared(max_distance), expand, |number| {
            squared(visit(number))
        })
    }

    /// Calls `visit` with the index of each box whose gap is at most the current limit, roughly
    /// from near to far. The limit starts at `limit`, and each result of `visit` becomes the new
    /// limit. `gap` returns a lower bound on the distance to a box. The bound for a box must be no
    /// greater than the bound for any box inside it.
    pub fn visit_by_gap<D: DVector>(
        &self,
        limit: f64,
        gap: impl Fn(&Bounds<D>) -> f64,
        visit: impl FnMut(u32) -> f64,
    ) {
        let expand = |node: &WideNode, _: f64| {
            let gaps = [0, 1, 2, 3].map(|lane| {
                let [min, max] = node.lane_box(lane);
                gap(&Bounds::of_f32(min, max))
            });
            (u32::MAX, gaps)
        };
        self.search(limit, expand, visit);
    }

    /// Searches the whole tree: see [`search_below`](Self::search_below).
    fn search<K: PartialOrd + Copy>(
        &self,
        mut limit: K,
        mut expand: impl FnMut(&WideNode, K) -> (u32, [K; WIDTH]),
        mut visit: impl FnMut(u32) -> K,
    ) -> u32 {
        if self.nodes.is_empty() {
            return 0;
        }
        let root = (limit, Child::ROOT);
        self.search_below(root, &mut limit, &mut expand, &mut visit)
    }

    /// Visits the nodes below `root`. `expand` returns a mask of the children to visit, and the key
    /// of each child. After a node, its child with the lowest key is visited. If there is no such
    /// child, the last open child is visited. Children with keys above the limit are skipped, and
    /// each result of `visit` replaces the limit. Returns the number of visited nodes.
    fn search_below<K: PartialOrd + Copy>(
        &self,
        root: (K, Child),
        limit: &mut K,
        expand: &mut impl FnMut(&WideNode, K) -> (u32, [K; WIDTH]),
        visit: &mut impl FnMut(u32) -> K,
    ) -> u32 {
        let mut visits = 0;
        let mut open = OpenChildren::new();
        let mut next = Some(root);
        while let Some((key, child)) = next.take().or_else(|| open.pop()) {
            if key > *limit {
                continue;
            }
            match child.number() {
                Ok(number) => {
                    *limit = visit(number);
                }
                Err(_) if open.remaining_capacity() < WIDTH => {
                    visits += self.search_below((key, child), limit, expand, visit);
                }
                Err(index) => {
                    if let Some(node) = self.nodes.get(index) {
                        visits += 1;
                        let (mask, keys) = expand(node, *limit);
                        next = node.nearest(mask, keys, &mut open);
                    }
                }
            }
        }
        visits
    }
}

/// The children to visit, each with a key, such as a lower bound on the distance. If the list is
/// full, a recursive call searches a part of the tree.
type OpenChildren<K> = ArrayVec<(K, Child), 64>;

/// A limit below all keys, which ends a search.
const STOP: f32 = f32::NEG_INFINITY;

/// Rounds a limit up to f32. A negative limit ends the search.
fn limit(limit: f64) -> f32 {
    if limit < 0.0 {
        return STOP;
    }
    (limit as f32) * SLACK + f32::MIN_POSITIVE
}

fn box_of(node: &Bvh2Node) -> Box3 {
    [node.aabb().min.to_array(), node.aabb().max.to_array()]
}

/// Returns up to four nodes that together contain all boxes of `parent`. While there are fewer than
/// four nodes, the children of the largest inner node replace that node.
fn members<'a>(tree: &'a Bvh2, parent: &'a Bvh2Node) -> ArrayVec<&'a Bvh2Node, WIDTH> {
    let mut members = ArrayVec::new();
    members.push(parent);
    while members.len() < WIDTH {
        let inner = members.iter().enumerate();
        let inner = inner.filter(|(_, node)| !node.is_leaf());
        let surface = |node: &Bvh2Node| half_surface(&box_of(node));
        let largest = inner.max_by(|(_, a), (_, b)| surface(a).total_cmp(&surface(b)));
        let Some((position, _)) = largest else {
            break;
        };
        let node = members.remove(position);
        members.extend(tree.nodes.iter().skip(node.first_index as usize).take(2));
    }
    members
}
