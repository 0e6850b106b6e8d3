//! A tree of boxes: which parts of a compound are near a place?
//!
//! The tree is obvhs's (PLOC, after Meister and Bittner, "Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy
//! Construction" (2018)); this file is all that knows it.

use core::ops::ControlFlow;

use obvhs::{
    aabb::Aabb,
    bvh2::{Bvh2, node::Bvh2Node},
    ploc::{PlocBuilder, PlocSearchDistance, SortPrecision},
};

use smallvec::SmallVec;

use crate::{
    shape::{HalfSpace, bounds::Bounds},
    space::DVector,
};

/// How far, as a part of its size, a box is spread while the tree is built, and as a part of its place, which is more than f32
/// rounds off.
const SPREAD: [f32; 2] = [1.0 / 16.0, 2e-6];

/// Boxes by their numbers.
pub struct Tree {
    bvh: Bvh2,
    is_whole: bool,
}

impl Tree {
    /// The tree of numbered boxes. What is not finite is near nothing.
    ///
    /// PLOC merges those neighbours that are each the other's cheapest. Where all cost the same, as in a row of equal balls or in
    /// copies of one box, there is one such pair in each round, and building takes as many rounds as there are boxes. So it is
    /// given boxes that are spread a little, each by a share of its own; the tree gets the true ones afterwards.
    pub fn new<D: DVector>(boxes: impl Iterator<Item = (u32, Bounds<D>)>) -> Self {
        let mut is_whole = true;
        let finite = boxes.filter_map(|(number, it)| {
            let it = outward(&it);
            let is_finite = it.min.is_finite() && it.max.is_finite();
            is_whole &= is_finite;
            is_finite.then_some((number, it))
        });
        let (numbers, boxes): (Vec<u32>, Vec<Aabb>) = finite.unzip();
        // And boxes no larger than 1, because it multiplies lengths in f32.
        let ends = boxes.iter().flat_map(|it| [it.min, it.max]);
        let largest = ends.fold(0.0_f32, |most, end| most.max(end.abs().max_element()));
        let scale = (1.0 / largest).min(f32::MAX);
        let scaled = |it: &Aabb| Aabb::new(it.min * scale, it.max * scale);
        let spread: Vec<Aabb> = boxes
            .iter()
            .zip(0..)
            .map(|(it, seed)| spread(&scaled(it), seed))
            .collect();
        let places = (0..boxes.len() as u32).collect();
        let mut bvh = PlocBuilder::with_capacity(boxes.len()).build(
            PlocSearchDistance::VeryLow,
            &spread,
            places,
            SortPrecision::U64,
            0,
        );
        for node in bvh.nodes.iter_mut().filter(|it| it.is_leaf()) {
            let place = bvh.primitive_indices.get(node.first_index as usize);
            if let Some(aabb) = place.and_then(|it| boxes.get(*it as usize)) {
                node.set_aabb(*aabb);
            }
        }
        // Nodes that are near each other in the tree come to be so in memory.
        bvh.reorder_in_stack_traversal_order();
        bvh.refit_all();
        // The tree tells places in the list; who asks wants numbers.
        for place in &mut bvh.primitive_indices {
            *place = numbers.get(*place as usize).copied().unwrap_or(u32::MAX);
        }
        Self { bvh, is_whole }
    }

    /// Whether all boxes were finite.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The longest side of the box around all boxes.
    pub fn size(&self) -> f64 {
        let root = self.bvh.nodes.first();
        root.map_or(0.0, |it| it.aabb().diagonal().max_element().into())
    }

    /// The middle of it.
    pub fn middle<D: DVector>(&self) -> D {
        let root = self.bvh.nodes.first().map(|it| inward::<D>(it.aabb()));
        root.map_or(D::ZERO, |it| (it.min + it.max) * 0.5)
    }

    /// Calls `visit` with the numbers of boxes, until none is left that reaches higher along a unit vector, by more than `slack`,
    /// than what `visit` has answered.
    pub fn climb<D: DVector>(&self, unit: D, slack: f64, mut visit: impl FnMut(u32) -> f64) {
        let mut height = f64::NEG_INFINITY;
        let top = |index: u32| {
            let node = self.bvh.nodes.get(index as usize)?;
            Some((-lowest(node.aabb(), -unit), node))
        };
        let mut open: SmallVec<[u32; 128]> = SmallVec::new();
        open.push(0);
        while let Some(index) = open.pop() {
            let Some((_, node)) = top(index).filter(|(top, _)| *top > height + slack) else {
                continue;
            };
            if node.is_leaf() {
                for number in numbers(&self.bvh, node) {
                    height = height.max(visit(number));
                }
                continue;
            }
            // The higher one first.
            let mut children = [node.first_index, node.first_index + 1];
            let [left, right] = children.map(|it| top(it).map(|(top, _)| top));
            if left > right {
                children.reverse();
            }
            open.extend(children);
        }
    }

    /// Calls `visit` with the number of each box that may have a point in common with the one
    /// given, until it returns `Break`.
    pub fn near<D: DVector>(
        &self,
        bounds: &Bounds<D>,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) {
        self.bvh.aabb_traverse(outward(bounds), |bvh, index| {
            let node = bvh.nodes.get(index as usize);
            node.is_none_or(|node| numbers(bvh, node).try_for_each(&mut visit).is_continue())
        });
    }

    /// Calls `visit` with the number of each box that may have a point in common with a ball.
    pub fn near_ball<D: DVector>(&self, centre: D, radius: f64, mut visit: impl FnMut(u32)) {
        let (min, max) = (centre, centre);
        let point = outward(&Bounds { min, max });
        // The gap, its square and the root of that are each off by a few roundings of f32.
        let reach = (radius as f32).next_up() * (1.0 + 8.0 * f32::EPSILON);
        let most = reach * reach + f32::MIN_POSITIVE;
        let is_near = |it: &Aabb| {
            let gap = (it.min - point.max).max(point.min - it.max);
            gap.max(Default::default()).length_squared() <= most
        };
        let nodes = &self.bvh.nodes;
        let is_near = |node: &Bvh2Node| is_near(node.aabb());
        let mut open: SmallVec<[&Bvh2Node; 128]> = SmallVec::new();
        open.extend(nodes.first().filter(|root| is_near(root)));
        while let Some(node) = open.pop() {
            if node.is_leaf() {
                numbers(&self.bvh, node).for_each(&mut visit);
                continue;
            }
            let children = nodes.get(node.first_index as usize..).unwrap_or_default();
            for child in children.iter().take(2) {
                if is_near(child) {
                    open.push(child);
                }
            }
        }
    }

    /// Calls `visit` with the number of each box that reaches into a half-space, whose normal may be of any length.
    pub fn within<D: DVector>(&self, half_space: &HalfSpace<D>, visit: impl FnMut(u32)) {
        // Written so that NaN ends it.
        self.descend(
            |it| lowest(it, half_space.normal) <= half_space.offset,
            visit,
        );
    }

    /// Calls `visit` with the number of each box of which, and of any box around it, `is_near` says so.
    pub fn visit<D: DVector>(&self, is_near: impl Fn(Bounds<D>) -> bool, visit: impl FnMut(u32)) {
        self.descend(|it| is_near(inward(it)), visit);
    }

    fn descend(&self, is_near: impl Fn(&Aabb) -> bool, mut visit: impl FnMut(u32)) {
        let mut open: SmallVec<[u32; 128]> = SmallVec::new();
        open.push(0);
        while let Some(index) = open.pop() {
            let node = self.bvh.nodes.get(index as usize);
            let Some(node) = node.filter(|it| is_near(it.aabb())) else {
                continue;
            };
            if node.is_leaf() {
                numbers(&self.bvh, node).for_each(&mut visit);
            } else {
                open.extend([node.first_index, node.first_index + 1]);
            }
        }
    }
}

/// The numbers of the boxes in a leaf.
fn numbers(bvh: &Bvh2, leaf: &Bvh2Node) -> impl Iterator<Item = u32> {
    let numbers = bvh.primitive_indices.iter().copied();
    numbers
        .skip(leaf.first_index as usize)
        .take(leaf.prim_count as usize)
}

/// A box spread by some share of [`SPREAD`], which the seed decides.
fn spread(aabb: &Aabb, seed: u32) -> Aabb {
    // Knuth's multiplicative hash.
    let share = (seed.wrapping_mul(2_654_435_769) >> 8) as f32 / (1 << 24) as f32;
    let size = aabb.diagonal().length();
    let place = aabb.min.abs().max(aabb.max.abs()).max_element();
    let [of_size, of_place] = SPREAD;
    let mut by = share * (size * of_size + place * of_place);
    if by == 0.0 {
        // Points at the origin are as well told apart by any other length.
        by = share;
    }
    let spread = Aabb {
        min: aabb.min - by,
        max: aabb.max + by,
    };
    // What is as large as f32 can tell stays as it is.
    if spread.min.is_finite() && spread.max.is_finite() {
        spread
    } else {
        *aabb
    }
}

/// The height of a box's lowest corner along a normal.
fn lowest<D: DVector>(aabb: &Aabb, normal: D) -> f64 {
    let [min, max] = [aabb.min, aabb.max].map(|corner| corner.to_array());
    let axes = min.into_iter().zip(max).take(D::DIMENSION).enumerate();
    axes.map(|(index, (min, max))| {
        let slope = normal.component(index);
        slope * f64::from(if slope >= 0.0 { min } else { max })
    })
    .sum()
}

/// A box in f32 that holds the one in f64; of a plane, in the plane z = 0.
fn outward<D: DVector>(bounds: &Bounds<D>) -> Aabb {
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

/// A box in f64 that is the one in f32.
fn inward<D: DVector>(aabb: &Aabb) -> Bounds<D> {
    Bounds::of_f32(aabb.min.to_array(), aabb.max.to_array())
}
