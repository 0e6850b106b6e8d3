//! The construction of bounding volume hierarchies, with two children per node.
//!
//! The `obvhs` crate builds the hierarchy by PLOC (Meister and Bittner, "Parallel Locally-Ordered
//! Clustering for Bounding Volume Hierarchy Construction" (2018)). Searches use the
//! [`WideTree`](super::wide_tree::WideTree) that is made from this hierarchy.

use obvhs::{
    aabb::Aabb,
    bvh2::Bvh2,
    ploc::{PlocBuilder, PlocSearchDistance, SortPrecision},
};

use crate::shape::Box3;

/// The maximum margin of a box while the tree is built: a fraction of its size, plus a fraction of
/// its largest coordinate. The second fraction exceeds the rounding of `f32`.
const MAX_MARGIN: [f32; 2] = [1.0 / 16.0, 2e-6];

/// Builds the tree of finite boxes. Each leaf holds one position in `boxes`.
///
/// PLOC merges two neighbors if each is the other's cheapest partner. If all pairs cost the same,
/// as in a row of equal balls, each round merges only one pair. Then there are as many rounds as
/// boxes. So each box gets a different margin, and the true boxes are restored afterwards.
pub fn build(boxes: &[Box3]) -> Bvh2 {
    let boxes: Vec<Aabb> = boxes
        .iter()
        .map(|[min, max]| Aabb::new((*min).into(), (*max).into()))
        .collect();
    // Coordinates are scaled to at most 1, because PLOC multiplies lengths in f32, and large
    // products would overflow.
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
    // Puts each node before its children.
    bvh.reorder_in_stack_traversal_order();
    bvh.refit_all();
    bvh
}

/// Returns a box with a margin: a fraction of [`MAX_MARGIN`] that depends on `seed`.
fn enlarged(aabb: &Aabb, seed: u32) -> Aabb {
    // The fraction is Knuth's multiplicative hash of the seed.
    let fraction = (seed.wrapping_mul(2_654_435_769) >> 8) as f32 / (1 << 24) as f32;
    let size = aabb.diagonal().length();
    let coordinate = aabb.min.abs().max(aabb.max.abs()).max_element();
    let [of_size, of_coordinate] = MAX_MARGIN;
    let mut margin = fraction * (size * of_size + coordinate * of_coordinate);
    if margin == 0.0 {
        // The box of a point at the origin has no size, so its margin can have any size.
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
