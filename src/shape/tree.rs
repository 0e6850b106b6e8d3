//! A tree of boxes: which parts of a compound are near a place?
//!
//! The tree is obvhs's (PLOC, after Meister and Bittner, "Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy
//! Construction" (2018)); this file is all that knows it.

use obvhs::{
    aabb::Aabb,
    bvh2::{Bvh2, node::Bvh2Node},
    ploc::{PlocBuilder, PlocSearchDistance, SortPrecision},
};

use smallvec::SmallVec;

use super::{HalfSpace, bounds::Bounds};
use crate::space::Wide;

/// Boxes by their numbers.
pub struct Tree {
    bvh: Bvh2,
}

impl Tree {
    /// The tree of numbered boxes. What is not finite is near nothing.
    pub fn new<W: Wide>(boxes: impl Iterator<Item = (u32, Bounds<W>)>) -> Self {
        let finite = boxes.filter(|(_, it)| it.min.is_finite() && it.max.is_finite());
        let (numbers, boxes): (Vec<u32>, Vec<Aabb>) =
            finite.map(|(number, it)| (number, outward(&it))).unzip();
        let places = (0..boxes.len() as u32).collect();
        let mut bvh = PlocBuilder::with_capacity(boxes.len()).build(
            PlocSearchDistance::VeryLow,
            &boxes,
            places,
            SortPrecision::U64,
            0,
        );
        // The tree tells places in the list; who asks wants numbers.
        for place in &mut bvh.primitive_indices {
            *place = numbers.get(*place as usize).copied().unwrap_or(u32::MAX);
        }
        Self { bvh }
    }

    /// Calls `visit` with the number of each box that may have a point in common with the one given.
    pub fn near<W: Wide>(&self, bounds: &Bounds<W>, mut visit: impl FnMut(u32)) {
        self.bvh.aabb_traverse(outward(bounds), |bvh, index| {
            if let Some(node) = bvh.nodes.get(index as usize) {
                numbers(bvh, node).for_each(&mut visit);
            }
            true
        });
    }

    /// Calls `visit` with the number of each box that reaches into a half-space, whose normal may be of any length.
    pub fn within<W: Wide>(&self, half_space: &HalfSpace<W>, mut visit: impl FnMut(u32)) {
        let mut open: SmallVec<[u32; 128]> = SmallVec::new();
        open.push(0);
        while let Some(index) = open.pop() {
            let Some(node) = self.bvh.nodes.get(index as usize) else {
                continue;
            };
            // Written so that NaN ends it.
            let reaches = lowest(node.aabb(), half_space.normal) <= half_space.offset;
            if !reaches {
                continue;
            }
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

/// The height of a box's lowest corner along a normal.
fn lowest<W: Wide>(aabb: &Aabb, normal: W) -> f64 {
    let [min, max] = [aabb.min, aabb.max].map(|corner| corner.to_array());
    let axes = min.into_iter().zip(max).take(W::DIMENSION).enumerate();
    axes.map(|(index, (min, max))| {
        let slope = normal.component(index);
        slope * f64::from(if slope >= 0.0 { min } else { max })
    })
    .sum()
}

/// A box in f32 that holds the one in f64; of a plane, in the plane z = 0.
fn outward<W: Wide>(bounds: &Bounds<W>) -> Aabb {
    let corner = |corner: W, round: fn(f32) -> f32| {
        let mut rounded = [0.0; 3];
        for (index, slot) in rounded.iter_mut().enumerate().take(W::DIMENSION) {
            *slot = round(corner.component(index) as f32);
        }
        rounded
    };
    Aabb {
        min: corner(bounds.min, f32::next_down).into(),
        max: corner(bounds.max, f32::next_up).into(),
    }
}
