//! A bounding volume hierarchy. This tree finds the parts of a compound near a point, ball, box or
//! half-space.
//!
//! It wraps the `obvhs` crate (PLOC: Meister and Bittner, "Parallel Locally-Ordered Clustering for
//! Bounding Volume Hierarchy Construction" (2018)). No other file uses that crate.

use core::ops::ControlFlow;

use obvhs::{
    aabb::Aabb,
    bvh2::{Bvh2, node::Bvh2Node},
    ploc::{PlocBuilder, PlocSearchDistance, SortPrecision},
};
use smallvec::SmallVec;

use crate::{
    shape::{bounds::Bounds, line::Line},
    space::DVector,
};

/// The maximum margin of a box while the tree is built: a fraction of its size plus a fraction of
/// its largest coordinate. The latter is more than the rounding of `f32`.
const MAX_MARGIN: [f32; 2] = [1.0 / 16.0, 2e-6];

/// The error of a test of a line with a box in `f32`, relative to the size of the tree: twice the
/// rounding of the line's origin and direction and of three operations.
const LINE_SLACK: f64 = 8.0 * f32::EPSILON as f64;

/// The smallest component of a unit vector whose inverse is used. Smaller components are replaced
/// by this one, so that all inverses are finite.
const MIN_COMPONENT: f32 = 1e-30;

/// A tree of boxes. An index identifies each box.
pub struct Tree {
    bvh: Bvh2,
}

impl Tree {
    /// Builds the tree of boxes, given with their indices: see [`fits_in_f32`].
    ///
    /// PLOC merges two neighbors if each is the other's cheapest partner. If all pairs cost the
    /// same, as in a row of equal balls, each round merges only one pair, and there are as many
    /// rounds as boxes. So each box gets a different margin, and the true boxes are restored
    /// afterwards.
    pub fn new<D: DVector>(boxes: impl Iterator<Item = (u32, Bounds<D>)>) -> Self {
        let rounded = boxes.map(|(index, bounds)| (index, round_outward(&bounds)));
        let (indices, boxes): (Vec<u32>, Vec<Aabb>) = rounded.unzip();
        // Coordinates are scaled to at most 1, because PLOC multiplies lengths in f32.
        let ends = boxes.iter().flat_map(|aabb| [aabb.min, aabb.max]);
        let largest = ends.fold(0.0_f32, |largest, end| largest.max(end.abs().max_element()));
        let scale = (1.0 / largest).min(f32::MAX);
        let scaled = boxes
            .iter()
            .map(|aabb| Aabb::new(aabb.min * scale, aabb.max * scale));
        let distinct: Vec<Aabb> = scaled
            .zip(0..)
            .map(|(aabb, seed)| enlarged(&aabb, seed))
            .collect();
        let positions = (0..boxes.len() as u32).collect();
        let mut bvh = PlocBuilder::with_capacity(boxes.len()).build(
            PlocSearchDistance::VeryLow,
            &distinct,
            positions,
            SortPrecision::U64,
            0,
        );
        for node in bvh.nodes.iter_mut().filter(|node| node.is_leaf()) {
            let position = bvh.primitive_indices.get(node.first_index as usize);
            if let Some(aabb) = position.and_then(|position| boxes.get(*position as usize)) {
                node.set_aabb(*aabb);
            }
        }
        // Makes nodes that are close in the tree close in memory.
        bvh.reorder_in_stack_traversal_order();
        bvh.refit_all();
        // Replaces positions in the list of boxes by the caller's indices.
        for slot in &mut bvh.primitive_indices {
            if let Some(index) = indices.get(*slot as usize) {
                *slot = *index;
            }
        }
        Self { bvh }
    }

    /// Returns the node that contains all boxes, or `None` if there are no boxes.
    pub(super) fn root(&self) -> Option<TreeNode> {
        self.bvh.nodes.first().map(|node| self.node(node))
    }

    /// Returns the two children of an inner node.
    pub(super) fn children(&self, node: &TreeNode) -> impl Iterator<Item = TreeNode> {
        let children = self.bvh.nodes.iter().skip(node.first_child).take(2);
        children.map(|node| self.node(node))
    }

    fn node(&self, node: &Bvh2Node) -> TreeNode {
        let corners = [node.aabb().min, node.aabb().max];
        TreeNode {
            corners: corners.map(|corner| corner.to_array()),
            leaf: leaf_indices(&self.bvh, node).next(),
            first_child: node.first_index as usize,
        }
    }

    /// Returns the longest side of the box around all boxes.
    pub fn size(&self) -> f64 {
        let root = self.bvh.nodes.first().map(|root| root.aabb());
        // The whole diagonal may exceed the range of f32.
        let half = root.map_or(0.0, |root| (root.max * 0.5 - root.min * 0.5).max_element());
        2.0 * f64::from(half)
    }

    /// Returns the center of the box around all boxes.
    pub fn center<D: DVector>(&self) -> D {
        let root = self.bvh.nodes.first().map(|root| widened::<D>(root.aabb()));
        root.map_or(D::ZERO, |root| (root.min + root.max) * 0.5)
    }

    /// Calls `visit` with the index of each box that may overlap `bounds`, until `visit` returns
    /// `Break`.
    pub fn visit_overlapping<D: DVector>(
        &self,
        bounds: &Bounds<D>,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) {
        self.bvh.aabb_traverse(round_outward(bounds), |bvh, index| {
            let node = bvh.nodes.get(index as usize);
            node.is_none_or(|node| {
                leaf_indices(bvh, node)
                    .try_for_each(&mut visit)
                    .is_continue()
            })
        });
    }

    /// Calls `visit` with the index of each box that a line may cross at a t in a range. Each box
    /// is grown by `margin`. `visit` returns the new end of the range. The subtree that the line
    /// enters first is visited first.
    ///
    /// The boxes are tested in `f32`. The line begins at its point nearest to the center of the
    /// tree. So all errors are small parts of the size of the tree, and the tests allow for these
    /// errors.
    pub fn visit_line<D: DVector>(
        &self,
        line: &Line<D>,
        margin: f64,
        [from, to]: [f64; 2],
        mut visit: impl FnMut(u32) -> f64,
    ) {
        let nodes = &self.bvh.nodes;
        let Some(root) = nodes.first() else {
            return;
        };
        let center = self.center::<D>();
        let (shift, line) = line.centered(center);
        let speed = line.direction.length();
        let size = widened::<D>(root.aabb());
        let size = (size.max - size.min).extent() + 2.0 * margin;
        let size = size + (line.origin - center).extent() + center.extent();
        let slack = (LINE_SLACK * size) as f32 + f32::MIN_POSITIVE;
        let margin = (margin * (1.0 + LINE_SLACK)) as f32 + slack;
        let scaled = |t: f64| ((t - shift) * speed) as f32;
        let slabs = Slabs::new(&line, [margin, slack], speed);
        let first = scaled(from);
        let mut last = scaled(to);
        let mut open: SmallVec<[(f32, &Bvh2Node); 64]> = SmallVec::new();
        let mut next = slabs.enter(root, [first, last]).map(|near| (near, root));
        while let Some((near, node)) = next.take().or_else(|| open.pop()) {
            if near > last + slack {
                continue;
            }
            if node.is_leaf() {
                for index in leaf_indices(&self.bvh, node) {
                    last = scaled(visit(index));
                }
                continue;
            }
            let index = node.first_index as usize;
            let Some([left, right]) = nodes.get(index..index + 2) else {
                continue;
            };
            let range = [first, last];
            next = match (slabs.enter(left, range), slabs.enter(right, range)) {
                (Some(of_left), Some(of_right)) => {
                    let (left, right) = ((of_left, left), (of_right, right));
                    let is_left = of_left < of_right;
                    open.push(if is_left { right } else { left });
                    Some(if is_left { left } else { right })
                }
                (Some(near), None) => Some((near, left)),
                (None, Some(near)) => Some((near, right)),
                (None, None) => None,
            };
        }
    }

    /// Calls `visit` with the index of each box that may overlap a ball.
    pub fn visit_near_ball<D: DVector>(&self, center: D, radius: f64, visit: impl FnMut(u32)) {
        let (min, max) = (center, center);
        let center = round_outward(&Bounds { min, max });
        // Covers the rounding of the gap and of the squares in f32.
        let radius = (radius as f32).next_up() * (1.0 + 8.0 * f32::EPSILON);
        let max_squared = radius * radius + f32::MIN_POSITIVE;
        let is_near = |aabb: &Aabb| {
            let gap = (aabb.min - center.max).max(center.min - aabb.max);
            gap.max(Default::default()).length_squared() <= max_squared
        };
        self.visit_if(is_near, visit);
    }

    /// Calls `visit` with the index of each box for which `is_near` returns `true`, if it also
    /// returns `true` for all boxes of the tree that contain this box.
    pub fn visit_where<D: DVector>(
        &self,
        is_near: impl Fn(Bounds<D>) -> bool,
        visit: impl FnMut(u32),
    ) {
        self.visit_if(|aabb| is_near(widened(aabb)), visit);
    }

    /// Calls `visit` with the index of each box whose gap is at most the current limit, near ones
    /// first. The limit starts at `limit`, and each result of `visit` replaces it. `gap` returns a
    /// lower bound on the distance to a box, and a value no greater for any box around it.
    pub fn search_nearest<D: DVector>(
        &self,
        mut limit: f64,
        gap: impl Fn(&Bounds<D>) -> f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        let nodes = &self.bvh.nodes;
        let with_gap = |node: &'_ Bvh2Node| gap(&widened(node.aabb()));
        let mut open: SmallVec<[(f64, &Bvh2Node); 128]> = SmallVec::new();
        open.extend(nodes.first().map(|root| (with_gap(root), root)));
        while let Some((gap, node)) = open.pop() {
            if gap > limit {
                continue;
            }
            if node.is_leaf() {
                for index in leaf_indices(&self.bvh, node) {
                    limit = visit(index);
                }
                continue;
            }
            let first = open.len();
            let children = nodes.iter().skip(node.first_index as usize).take(2);
            open.extend(children.map(|child| (with_gap(child), child)));
            // The nearer child is popped first.
            if let Some(children) = open.get_mut(first..) {
                children.sort_by(|(gap, _), (other, _)| other.total_cmp(gap));
            }
        }
    }

    fn visit_if(&self, is_near: impl Fn(&Aabb) -> bool, mut visit: impl FnMut(u32)) {
        let is_near = |node: &&Bvh2Node| is_near(node.aabb());
        let nodes = &self.bvh.nodes;
        let mut open: SmallVec<[&Bvh2Node; 128]> = SmallVec::new();
        open.extend(nodes.first().filter(is_near));
        while let Some(node) = open.pop() {
            if node.is_leaf() {
                leaf_indices(&self.bvh, node).for_each(&mut visit);
            } else {
                let children = nodes.iter().skip(node.first_index as usize).take(2);
                open.extend(children.filter(is_near));
            }
        }
    }
}

/// A line, prepared for tests with many boxes.
struct Slabs {
    /// The origin of the line, moved by the margin toward positive and negative coordinates.
    origins: Aabb,
    /// The inverse of the line's unit vector, in `min` and in `max`.
    inverse: Aabb,
    /// The error of a distance.
    slack: f32,
}

impl Slabs {
    fn new<D: DVector>(line: &Line<D>, [margin, slack]: [f32; 2], speed: f64) -> Self {
        let direction = (line.direction * (1.0 / speed)).components();
        let inverse = direction.map(|component| {
            let component = component as f32;
            1.0 / component.abs().max(MIN_COMPONENT).copysign(component)
        });
        let moved = |by: f32| {
            let mut origin = line
                .origin
                .components()
                .map(|component| component as f32 + by);
            if let [.., z] = &mut origin
                && D::DIMENSION == 2
            {
                // All boxes contain z = 0, whatever the margin.
                *z = by.signum();
            }
            origin
        };
        Self {
            origins: Aabb::new(moved(margin).into(), moved(-margin).into()),
            inverse: Aabb::new(inverse.into(), inverse.into()),
            slack,
        }
    }

    /// Returns the distance along the line at which it enters the box of a node, or `None` if it
    /// does not cross the box within a range of distances.
    #[inline(always)]
    fn enter(&self, node: &Bvh2Node, [first, last]: [f32; 2]) -> Option<f32> {
        let aabb = node.aabb();
        let low = (aabb.min - self.origins.min) * self.inverse.min;
        let high = (aabb.max - self.origins.max) * self.inverse.max;
        let near = low.min(high).max_element().max(first);
        let far = low.max(high).min_element().min(last);
        (near <= far + self.slack).then_some(near)
    }
}

/// A node of a [`Tree`].
#[derive(Clone, Copy)]
pub(super) struct TreeNode {
    corners: [[f32; 3]; 2],
    leaf: Option<u32>,
    first_child: usize,
}

impl TreeNode {
    /// Returns the minimum and the maximum corner of the node's box.
    pub fn bounds(&self) -> [[f32; 3]; 2] {
        self.corners
    }

    /// Returns the index of the box in a leaf, or `None` for an inner node. (The builder puts one
    /// box in each leaf.)
    pub fn leaf(&self) -> Option<u32> {
        self.leaf
    }
}

/// Returns the indices of the boxes in a leaf.
fn leaf_indices(bvh: &Bvh2, leaf: &Bvh2Node) -> impl Iterator<Item = u32> {
    let indices = bvh.primitive_indices.iter().copied();
    indices
        .skip(leaf.first_index as usize)
        .take(leaf.prim_count as usize)
}

/// Returns a box with a margin: a fraction of [`MAX_MARGIN`] that depends on `seed`.
fn enlarged(aabb: &Aabb, seed: u32) -> Aabb {
    // Knuth's multiplicative hash.
    let fraction = (seed.wrapping_mul(2_654_435_769) >> 8) as f32 / (1 << 24) as f32;
    let size = aabb.diagonal().length();
    let coordinate = aabb.min.abs().max(aabb.max.abs()).max_element();
    let [of_size, of_coordinate] = MAX_MARGIN;
    let mut margin = fraction * (size * of_size + coordinate * of_coordinate);
    if margin == 0.0 {
        // Points at the origin have no scale of their own.
        margin = fraction;
    }
    let enlarged = Aabb {
        min: aabb.min - margin,
        max: aabb.max + margin,
    };
    if enlarged.min.is_finite() && enlarged.max.is_finite() {
        enlarged
    } else {
        *aabb
    }
}

/// Returns `true` if a box is finite, also after it is rounded outward to `f32`.
pub fn fits_in_f32<D: DVector>(bounds: &Bounds<D>) -> bool {
    let aabb = round_outward(bounds);
    aabb.min.is_finite() && aabb.max.is_finite()
}

/// Returns a box in `f32` that contains a box in `f64`. In 2D, z is 0.
fn round_outward<D: DVector>(bounds: &Bounds<D>) -> Aabb {
    let corner = |corner: D, round: fn(f32) -> f32| {
        let mut rounded = [0.0; 3];
        for (index, slot) in rounded.iter_mut().enumerate().take(D::DIMENSION) {
            *slot = round(corner.component(index) as f32);
        }
        rounded
    };
    Aabb {
        min: corner(bounds.min, f32::next_down).into(),
        max: corner(bounds.max, f32::next_up).into(),
    }
}

/// Converts a box from `f32` to `f64`, exactly.
fn widened<D: DVector>(aabb: &Aabb) -> Bounds<D> {
    Bounds::of_f32(aabb.min.to_array(), aabb.max.to_array())
}
