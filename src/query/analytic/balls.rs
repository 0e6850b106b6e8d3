//! Two balls in the world, in closed form. Two balls need no rotation, so the rotations of their
//! poses are not converted to matrices. The results equal the results for a
//! [`Pair`](crate::query::Pair) bit for bit.

use core::cmp::Ordering;

use crate::{
    query::Contact64,
    shape::{Support, swap_if},
    space::{DVector, Pose, Space},
    tolerance::TOUCHING,
};

/// Two balls in the canonical order of a [`Pair`](crate::query::Pair), in world axes.
pub struct TwoBalls<D> {
    swapped: bool,
    radii: [f64; 2],
    radius_sum: f64,
    /// The center of the second ball, relative to the center of the first ball.
    offset: D,
    /// The distance between the centers.
    distance: f64,
    normal: D,
}

// All functions are inlined, because passing the results through memory would take up to 20 % of a
// query.
impl<D: DVector> TwoBalls<D> {
    /// Returns two shapes in their poses, or `None` if a core is not a point, if the centers
    /// coincide, or if a radius is invalid.
    #[inline(always)]
    pub fn new<A, B>(a: &A, pose_a: &Pose<D>, b: &B, pose_b: &Pose<D>) -> Option<Self>
    where
        A: Support<Vector: Space<DVec = D>> + ?Sized,
        B: Support<Vector = A::Vector> + ?Sized,
    {
        if !(a.core().is_point() && b.core().is_point()) {
            return None;
        }
        let origins = [pose_a.translation, pose_b.translation];
        let radii = [a.radius(), b.radius()];
        let radius_sum = radii[0] + radii[1];
        let are_valid = radii.iter().all(|radius| *radius >= 0.0) && radius_sum.is_finite();
        if !are_valid || origins[0] == origins[1] {
            return None;
        }
        let swapped = origins[0].total_cmp(origins[1]) == Ordering::Greater;
        let [first, second] = swap_if(swapped, origins);
        let offset = second - first;
        Some(Self {
            swapped,
            radii: swap_if(swapped, radii),
            radius_sum,
            offset,
            distance: offset.length(),
            normal: offset.unit()?,
        })
    }

    /// Returns `true` if the balls touch.
    #[inline(always)]
    pub fn hit(&self) -> bool {
        self.distance <= self.radius_sum + TOUCHING * self.radius_sum
    }

    /// Returns the contact, or `None` if the balls do not touch.
    #[inline(always)]
    pub fn contact(&self) -> Option<Contact64<D>> {
        let depth = self.radius_sum - self.distance.min(self.radius_sum);
        self.hit()
            .then(|| self.in_world(depth, self.surface_points()))
    }

    /// Returns the distance and the nearest points.
    #[inline(always)]
    pub fn nearest(&self) -> (f64, Contact64<D>) {
        if self.hit() {
            let common = self.normal * self.radii[0].min(self.distance);
            return (0.0, self.in_world(0.0, [common, common]));
        }
        let distance = (self.distance - self.radius_sum).max(f64::MIN_POSITIVE);
        (distance, self.in_world(0.0, self.surface_points()))
    }

    /// Returns the points on the line through the centers where the balls face each other, relative
    /// to the center of the first ball.
    #[inline(always)]
    fn surface_points(&self) -> [D; 2] {
        let [first, second] = self.radii.map(|radius| self.normal * radius);
        [first, self.offset - second]
    }

    #[inline(always)]
    fn in_world(&self, depth: f64, [first, second]: [D; 2]) -> Contact64<D> {
        let contact = Contact64 {
            normal: self.normal,
            depth,
            offset_a: first,
            offset_b: second - self.offset,
        };
        contact.flipped_if(self.swapped)
    }
}
