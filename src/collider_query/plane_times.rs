//! Bounds of a cast against the planes of a surface.
//!
//! The facets of a cluster lie in one plane, and a body touches none of them before it touches the
//! plane. So one support point bounds the times of all of them. If the body touches one facet at
//! the time at which it reaches the plane, it touches no other facet of the cluster earlier.

use arrayvec::ArrayVec;

use crate::{
    collider_query::moving_colliders::{Moving, PartPair},
    placed::{DynShape, Placed, PlacedCollider},
    shape::Support,
    space::{DVector, Pose, Space},
    tolerance::TOUCHING,
};

/// The least gap to a plane that counts, as a fraction of the scale. A smaller one may be closed by
/// the tolerance of touching or by rounding.
const LEAST_GAP: f64 = 8.0 * TOUCHING;

/// Maximum number of clusters whose bounds are kept. The bounds of others are computed again.
const MAX_KNOWN: usize = 16;

/// When a body reaches the plane of a cluster.
#[derive(Clone, Copy)]
struct PlaneTime {
    /// A lower bound on the time at which the body touches a facet, infinite if it touches none.
    bound: f64,
    /// The time at which the body reaches the plane.
    exact: f64,
}

/// The times at which a convex body that does not rotate touches the planes of a surface.
pub struct PlaneTimes<'a, V: Space> {
    surface: &'a PlacedCollider<V>,
    /// The position of the surface in the pair: 0 or 1.
    position: usize,
    body: DynShape<'a, V>,
    pose: Pose<V::DVec>,
    /// The motion of the body relative to the surface.
    translation: V::DVec,
    /// The sum of the radii of body and facets.
    radius: f64,
    size: f64,
    /// The bounds of clusters of several facets, by their numbers.
    known: ArrayVec<(u32, PlaneTime), MAX_KNOWN>,
}

impl<'a, V: Space> PlaneTimes<'a, V> {
    /// Returns `None` unless a convex body moves without rotation relative to a surface.
    pub fn new(moving: [Moving<'a, V>; 2]) -> Option<Self> {
        let rotates = |motion: &Moving<V>| V::DVec::angle_size(motion.1.rotation) != 0.0;
        let [first, second] = moving;
        let is_second = matches!(second.0, Placed::Collider(placed) if placed.is_surface());
        let [ground, other] = if is_second {
            [second, first]
        } else {
            [first, second]
        };
        let (Placed::Collider(surface), Some((body, pose))) = (ground.0, other.0.convex()) else {
            return None;
        };
        if !surface.is_surface() || moving.iter().any(rotates) {
            return None;
        }
        let bounds = *other.0.region()?.bounds()?;
        Some(Self {
            surface,
            position: usize::from(is_second),
            radius: body.radius() + surface.facet_radius()?,
            body,
            pose,
            translation: other.1.translation - ground.1.translation,
            size: (bounds.max - bounds.min).length(),
            known: ArrayVec::new(),
        })
    }

    /// Returns a lower bound on the time at which the pair's collider at `position` touches the
    /// other one with a part. It is infinite if the part does not touch, or if another facet of its
    /// cluster counts instead. It is 0 for parts of the body.
    pub fn bound(&mut self, position: usize, part: u32) -> f64 {
        let number = self.surface.cluster(part);
        let Some(cluster) = number.filter(|_| position == self.position) else {
            return 0.0;
        };
        if let Some((_, time)) = self.known.iter().find(|(other, _)| *other == cluster) {
            return time.bound;
        }
        let Some(time) = self.time_to_plane(cluster, part) else {
            return 0.0;
        };
        if self.surface.has_several_facets(cluster) {
            let _ = self.known.try_push((cluster, time));
        }
        time.bound
    }

    /// Skips the other facets of a cluster if the body touches a facet along the normal of the
    /// plane, at the time at which it reaches the plane. Times are equal within `same_time`.
    pub fn add_touch(&mut self, parts: PartPair, normal: V::DVec, time: f64, same_time: f64) {
        let facet = if self.position == 0 { parts.0 } else { parts.1 };
        let number = self.surface.cluster(facet);
        let mut known = self.known.iter_mut();
        let Some((cluster, known)) = known.find(|(other, _)| Some(*other) == number) else {
            return;
        };
        let plane = self.surface.cluster_plane(*cluster);
        let is_first = time <= known.exact + same_time;
        if is_first && plane.is_some_and(|plane| plane.has_normal(normal)) {
            known.bound = f64::INFINITY;
        }
    }

    /// Returns the time at which the body touches the plane of a cluster.
    fn time_to_plane(&self, cluster: u32, facet: u32) -> Option<PlaneTime> {
        let plane = self.surface.cluster_plane(cluster);
        let plane = plane.or_else(|| self.surface.facet(facet))?;
        let at = self.pose.translation - self.surface.world_pose.translation;
        let above = plane.height(at) >= 0.0;
        let normal = if above { plane.normal } else { -plane.normal };
        let lowest = self.body.lowest(self.pose.rotation, normal) + at;
        let gap = plane.height(lowest) * plane.normal.dot(normal) - self.radius;
        let approach = -self.translation.dot(normal);
        // A body that slides along a plane does not touch it: see `GRAZING_DEPTH`.
        let grazing = TOUCHING * self.size;
        let is_flat = plane.weld <= grazing;
        if is_flat && gap.abs() <= grazing && gap - approach >= -grazing {
            return Some(PlaneTime {
                bound: f64::INFINITY,
                exact: f64::INFINITY,
            });
        }
        let margin = LEAST_GAP * (self.size + plane.max_distance(at)) + plane.weld;
        let time = |gap: f64| match gap {
            gap if gap <= 0.0 => 0.0,
            gap if gap >= approach => f64::INFINITY,
            gap => gap / approach,
        };
        Some(PlaneTime {
            bound: time(gap - margin),
            exact: time(gap),
        })
    }
}
