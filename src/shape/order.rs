//! A total order of shapes, and a conditional exchange of two values. The order has no geometric
//! meaning, but makes choices repeatable. `Pair::new` and `PlacedCollider::compare` call
//! [`compare_shapes`].

use core::cmp::Ordering;

use crate::{
    shape::support::Support,
    space::{DVector, Space},
};

/// Exchanges two values if `is_swapped` is `true`.
#[inline(always)]
pub fn swap_if<T>(is_swapped: bool, [a, b]: [T; 2]) -> [T; 2] {
    if is_swapped { [b, a] } else { [a, b] }
}

/// Compares two shapes by their radii, by the presence of a half-space, and by their support points
/// in a fixed list of directions. Shapes that agree in all three properties count as equal. The
/// invariants of `fuzz/` use the same list of directions.
// This function is not inlined, because queries compare the shapes of a pair only if their poses
// are equal.
#[cold]
#[inline(never)]
pub fn compare_shapes<V: Space>(
    a: &(impl Support<Vector = V> + ?Sized),
    b: &(impl Support<Vector = V> + ?Sized),
) -> Ordering {
    // The directions are every other point of a slightly shifted lattice. Because of the shift, no
    // direction is normal to a face or an edge of a usual shape. The list is short, because equal
    // shapes are compared in all directions.
    let steps: usize = if V::DVec::DIMENSION == 2 { 7 } else { 3 };
    let center = (steps / 2) as f64;
    let count = steps.pow(V::DVec::DIMENSION as u32);
    let directions = (0..count).step_by(2).map(|number| {
        (0..V::DVec::DIMENSION).fold(V::DVec::ZERO, |direction, axis| {
            let step = number / steps.pow(axis as u32) % steps;
            let shift = 0.013 * (axis + 1) as f64;
            direction + V::DVec::axis(axis) * (step as f64 - center + shift)
        })
    });
    let compare = |direction| a.support(direction).total_cmp(b.support(direction));
    let by_support = || directions.map(compare).find(|order| order.is_ne());
    let [half_space_a, half_space_b] = [a.core(), b.core()].map(|core| core.half_space().is_some());
    a.radius()
        .total_cmp(&b.radius())
        .then(half_space_a.cmp(&half_space_b))
        .then_with(|| by_support().unwrap_or(Ordering::Equal))
}
