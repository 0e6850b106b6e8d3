//! A tree of boxes with four children per node, for the parts of a compound or for all colliders.
//!
//! [`WideTree::new`] builds the tree of a new compound, or of the colliders in
//! `pipeline/spatial_index.rs`, and [`WideTree::of_codes`] a tree of faces of cells, faster.
//! [`WideTree::visit`] runs a search of `box_search.rs`.
//!
//! Each node of the wide tree replaces up to three nodes of a [tree](build) with two children per
//! node. Source: Dammertz, Hanika and Keller, "Shallow Bounding Volume Hierarchies for Fast SIMD
//! Ray Tracing of Incoherent Rays" (2008).
//!
//! The four boxes of a node are tested together by vector instructions: each `Vec4` holds one
//! coordinate of all four boxes. When boxes move, the tree is refitted: its nodes get new boxes and
//! keep their children.

use arrayvec::ArrayVec;
use obvhs::bvh2::{Bvh2, node::Bvh2Node};
use smallvec::SmallVec;

use crate::{
    shape::{
        Bounds, Box3,
        boxes::{
            box_search::BoxSearch,
            bvh::build,
            wide_node::{Child, EMPTY, NO_GROUP, OpenChildren, WIDTH, WideNode},
        },
    },
    space::DVector,
};

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
                let child = if node.is_leaf() {
                    let position = binary.primitive_indices.get(node.first_index as usize);
                    let number = position.and_then(|position| numbers.get(*position as usize));
                    number.map_or(Child::NONE, |number| Child(number | Child::LEAF))
                } else {
                    open.push((node, tree.nodes.len()));
                    tree.nodes.push(WideNode::EMPTY);
                    Child(tree.nodes.len() as u32 - 1)
                };
                wide.set(lane, child, &box_of(node), NO_GROUP);
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
                        for (lane, (_, child, bounds, group)) in members.iter().enumerate() {
                            node.set(lane, *child, bounds, *group);
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

    /// Returns the box around all boxes.
    pub fn bounds<D: DVector>(&self) -> Bounds<D> {
        let [min, max] = self.bounding_box();
        Bounds::of_f32(min, max)
    }

    /// Returns the number of boxes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Assigns a group to each box. `group_of` returns the group of a box, or [`NO_GROUP`].
    pub fn set_groups(&mut self, group_of: impl Fn(u32) -> u32) {
        self.update_children(|node, lane, child| {
            node.set_group(lane, child.map_or_else(WideNode::group, &group_of));
        });
    }

    /// Replaces each box by the result of `box_of`, or by an empty box if the result is `None`.
    pub fn refit(&mut self, box_of: impl Fn(u32) -> Option<Box3>) {
        let new_box = |number| box_of(number).unwrap_or(EMPTY);
        self.update_children(|node, lane, child| {
            node.set_box(lane, &child.map_or_else(WideNode::bounds, new_box));
        });
    }

    /// Calls `update` with each node, the number of a child, and the index of the child's box or
    /// the node of the child. Nodes come after the nodes below them.
    fn update_children(&mut self, update: impl Fn(&mut WideNode, usize, Result<u32, &WideNode>)) {
        for index in (0..self.nodes.len()).rev() {
            let nodes = self.nodes.get_mut(index..).unwrap_or_default();
            let Some((node, later)) = nodes.split_first_mut() else {
                return;
            };
            for (lane, child) in node.children.into_iter().enumerate() {
                match child.number() {
                    _ if child == Child::NONE => {}
                    Ok(number) => update(node, lane, Ok(number)),
                    Err(below) => {
                        if let Some(below) = later.get(below - index - 1) {
                            update(node, lane, Err(below));
                        }
                    }
                }
            }
        }
    }

    /// Replaces a box and its group.
    pub fn replace(&mut self, index: u32, mut bounds: Box3, mut group: u32) {
        let mut child = Child(index | Child::LEAF);
        // Each node comes after its parent, so one pass also updates all nodes above.
        for (index, node) in self.nodes.iter_mut().enumerate().rev() {
            if let Some(lane) = node.children.iter().position(|it| *it == child) {
                node.set(lane, child, &bounds, group);
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

    /// Calls `visit` with the indices of the boxes that a search may find within a limit. `visit`
    /// returns the new limit. Returns the number of visited nodes.
    pub fn visit<S: BoxSearch>(
        &self,
        search: &S,
        limit: f64,
        mut visit: impl FnMut(u32) -> f64,
    ) -> u32 {
        if self.nodes.is_empty() {
            return 0;
        }
        let mut limit = search.key(limit);
        self.visit_below((limit, Child::ROOT), search, &mut limit, &mut visit)
    }

    /// Visits the nodes below `root`. After a node, its child with the lowest key is visited. If
    /// there is no such child, the last open child is visited. Children with keys above the limit
    /// are skipped, and each result of `visit` replaces the limit. Returns the number of visited
    /// nodes.
    fn visit_below<S: BoxSearch>(
        &self,
        root: (S::Key, Child),
        search: &S,
        limit: &mut S::Key,
        visit: &mut impl FnMut(u32) -> f64,
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
                    *limit = search.key(visit(number));
                }
                Err(_) if open.remaining_capacity() < WIDTH => {
                    visits += self.visit_below((key, child), search, limit, visit);
                }
                Err(index) => {
                    if let Some(node) = self.nodes.get(index) {
                        visits += 1;
                        let (mask, keys) = search.expand(node, *limit);
                        next = node.nearest(mask, keys, &mut open);
                    }
                }
            }
        }
        visits
    }
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
