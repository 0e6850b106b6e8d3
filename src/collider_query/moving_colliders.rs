//! Two moving colliders or shapes, and the positions of their parts during the motion.

use crate::{
    placed::{BoundingRegion, DynShape, Placed, PlacedCollider},
    query::{Contact64, Motion64},
    shape::{Support, swap_if},
    space::{DVector, Pose, Space},
};

/// A collider or a shape, and its motion about its own origin.
pub type Moving<'a, V> = (Placed<'a, V>, Motion64<<V as Space>::DVec>);

/// The indices of two parts, in an order that does not depend on the order of the cast's arguments.
pub type PartPair = (u32, u32);

/// Two times of touching count as equal if, between these times, the shapes move by at most this
/// fraction of the size of the smaller collider. This fraction exceeds the error of a cast.
const SAME_TIME_MOTION: f64 = 1e-8;

/// Two heights of parts count as equal if they differ by at most this fraction of the size of the
/// smaller collider. This fraction exceeds the tolerance of touching.
const HEIGHT_TOLERANCE: f64 = 1e-5;

/// Unit normals count as equal if their scalar product is greater than this value. The angle
/// between the normals is then less than 4.5e-5 radians. The errors of contact normals on faces are
/// smaller: at most 1e-6 radians.
pub const SAME_NORMAL_COSINE: f64 = 1.0 - 1e-9;

/// Two moving colliders or shapes.
pub struct MovingColliders<'a, V: Space> {
    /// The colliders in the order of the arguments of the cast.
    pub moving: [Moving<'a, V>; 2],
    /// `true` if each [`PartPair`] has the reverse order of `moving`.
    is_swapped: bool,
    /// The regions of the colliders at the start, or `None` for an invalid collider.
    pub regions: [Option<BoundingRegion<V::DVec>>; 2],
    sizes: [f64; 2],
}

impl<'a, V: Space> MovingColliders<'a, V> {
    pub fn new(moving: [Moving<'a, V>; 2], is_swapped: bool) -> Self {
        let regions = moving.map(|(placed, _)| placed.region());
        Self {
            moving,
            is_swapped,
            sizes: regions.each_ref().map(diagonal),
            regions,
        }
    }

    /// Converts between the order of the arguments and the order of [`PartPair`].
    pub fn reordered(&self, (a, b): (u32, u32)) -> (u32, u32) {
        swap_if(self.is_swapped, [a, b]).into()
    }

    /// Returns the tolerance for equal times of touching.
    pub fn same_time(&self) -> f64 {
        let [(_, motion_a), (_, motion_b)] = self.moving;
        let [size_a, size_b] = self.sizes;
        let arc = |motion: &Motion64<V::DVec>, size: f64| match V::DVec::angle_size(motion.rotation)
        {
            0.0 => 0.0,
            angle => angle * size,
        };
        let length = (motion_b.translation - motion_a.translation).length()
            + arc(&motion_a, size_a)
            + arc(&motion_b, size_b);
        let time = SAME_TIME_MOTION * size_a.min(size_b) / length;
        if time.is_finite() { time.min(1.0) } else { 0.0 }
    }

    /// Returns the tolerance for equal heights.
    fn same_height(&self) -> f64 {
        let [size_a, size_b] = self.sizes;
        HEIGHT_TOLERANCE * size_a.min(size_b)
    }

    /// Returns `true` if, at `time`, the projections of two parts onto `normal` do not overlap.
    pub fn separates(&self, normal: V::DVec, time: f64, parts: PartPair) -> bool {
        self.depth(normal, time, parts) <= self.same_height()
    }

    /// Returns `true` if, at `time`, the projections of two parts onto `normal` touch without
    /// overlapping.
    pub fn touches(&self, normal: V::DVec, time: f64, parts: PartPair) -> bool {
        self.depth(normal, time, parts).abs() <= self.same_height()
    }

    fn depth(&self, normal: V::DVec, time: f64, parts: PartPair) -> f64 {
        let (part_a, part_b) = self.reordered(parts);
        let [a, b] = self.moving;
        self.height(a, part_a, time, normal) + self.height(b, part_b, time, -normal)
    }

    /// Returns `true` if, at `time`, the second collider's part in `pair` is higher along
    /// `direction` than the second collider's part in `other`.
    pub fn is_higher(
        &self,
        pair: PartPair,
        other: PartPair,
        direction: V::DVec,
        time: f64,
    ) -> bool {
        let height = |pair| {
            let (_, part) = self.reordered(pair);
            self.height(self.moving[1], part, time, direction)
        };
        height(pair) > height(other) + self.same_height()
    }

    /// Returns the unit normals of the facets in a pair of parts at `time`, on the same side as
    /// `toward`.
    pub fn facet_normals(
        &self,
        parts: PartPair,
        time: f64,
        toward: V::DVec,
    ) -> impl Iterator<Item = V::DVec> {
        let normals = self.outward_normals(parts, time, |_| true);
        let normals = normals.into_iter().flatten();
        normals.map(move |normal| normal.toward(toward))
    }

    /// Returns the outward unit normals of the facets of unions in a pair of parts at `time`, from
    /// the first collider to the second.
    pub fn union_normals(&self, parts: PartPair, time: f64) -> impl Iterator<Item = V::DVec> {
        let [a, b] = self.outward_normals(parts, time, PlacedCollider::is_solid_surface);
        a.into_iter().chain(b.map(|normal| -normal))
    }

    /// Returns the outward unit normal of the facet in each part of a pair at `time`, if
    /// `is_wanted` returns `true` for the surface.
    fn outward_normals(
        &self,
        parts: PartPair,
        time: f64,
        is_wanted: impl Fn(&PlacedCollider<V>) -> bool,
    ) -> [Option<V::DVec>; 2] {
        let (part_a, part_b) = self.reordered(parts);
        let [a, b] = self.moving;
        [(a, part_a), (b, part_b)].map(|((placed, motion), part)| {
            let surface = placed.surface().filter(|surface| is_wanted(surface))?;
            Some(V::DVec::rotation(motion.rotation * time) * surface.facet(part)?.normal)
        })
    }

    /// Finds the facets of unions that contain the touched point of `contact` at `time`. Calls
    /// `visit` with the pair of each such facet and the part of the other collider.
    pub fn visit_touched_facets(
        &self,
        parts: PartPair,
        contact: &Contact64<V::DVec>,
        time: f64,
        mut visit: impl FnMut(PartPair),
    ) {
        let (part_a, part_b) = self.reordered(parts);
        let distance = self.same_height();
        let mut visit_side = |(placed, motion): Moving<V>, offset, is_second| {
            let union = placed.surface().filter(|it| it.is_solid_surface());
            let Some((union, radius)) = union.and_then(|it| Some((it, it.facet_radius()?))) else {
                return;
            };
            let offset = V::DVec::transpose(V::DVec::rotation(motion.rotation * time)) * offset;
            union.parts_near_ball(placed.translation() + offset, distance, |part| {
                let facet = union.facet(part).filter(|_| placed.has_part(part));
                if facet.is_some_and(|it| it.distance(offset) <= radius + distance) {
                    let parts = if is_second {
                        (part_a, part)
                    } else {
                        (part, part_b)
                    };
                    visit(self.reordered(parts));
                }
            });
        };
        let [a, b] = self.moving;
        visit_side(a, contact.offset_a, false);
        visit_side(b, contact.offset_b, true);
    }

    /// Returns `true` if a touch only continues an overlap with a union, so that a body that has
    /// sunk into a floor slides from facet to facet. In this case,
    ///
    /// * the contact normal is not the normal of the touched facet,
    /// * the motion does not lead deeper below the plane of this facet,
    /// * another facet at the touched point already overlaps the other collider, or touches it on
    ///   both sides of the point, and
    /// * no facet at this point is ignored, unless the motion leads out of its plane.
    ///
    /// No wall is passed over, because a body enters a solid through a facet that opposes the
    /// motion. This facet is touched, too, and is not left out. If a shape rotates, it may get
    /// deeper on its way, although it does not in the end. So no touch of such a shape is left out,
    /// unless the shape is a ball.
    pub fn continues_overlap(
        &self,
        parts: PartPair,
        contact: &Contact64<V::DVec>,
        time: f64,
        ignores: impl Fn(PartPair) -> bool,
    ) -> bool {
        let turns = |(placed, motion): &Moving<V>| match placed.convex() {
            Some((shape, _)) => motion.rotates(&shape),
            None => V::DVec::angle_size(motion.rotation) != 0.0,
        };
        let mut normals = self.union_normals(parts, time);
        let is_edge = normals.any(|normal| normal.dot(contact.normal) <= SAME_NORMAL_COSINE);
        if !is_edge || self.deepens(parts, time) || self.moving.iter().any(turns) {
            return false;
        }
        let (mut overlaps, mut is_ignored) = (false, false);
        self.visit_touched_facets(parts, contact, time, |other| {
            is_ignored |= ignores(other) && self.deepens(other, time);
            overlaps |= other != parts && !self.separates(contact.normal, time, other);
        });
        overlaps && !is_ignored
    }

    /// Returns `true` if, after `time`, the motion leads deeper below the plane of a facet of a
    /// union.
    fn deepens(&self, parts: PartPair, time: f64) -> bool {
        let mut normals = self
            .union_normals(parts, time)
            .zip(self.union_normals(parts, 1.0));
        normals.any(|(now, end)| {
            self.depth(end, 1.0, parts) - self.depth(now, time, parts) > self.same_height()
        })
    }

    /// Returns `true` if, at `time`, neither the normal of a contact nor that of a facet of a union
    /// separates the facet from the part of the other collider.
    pub fn overlaps_facet(&self, parts: PartPair, normal: V::DVec, time: f64) -> bool {
        let mut normals = self.union_normals(parts, time).chain([normal]);
        !normals.any(|normal| self.separates(normal, time, parts))
    }

    /// Returns the velocity of the first collider relative to the second at a contact, whose points
    /// are relative to the translations of the colliders.
    pub fn velocity(&self, contact: &Contact64<V::DVec>) -> V::DVec {
        let [(_, motion_a), (_, motion_b)] = self.moving;
        motion_a.translation + contact.offset_a.rotated_by(motion_a.rotation)
            - motion_b.translation
            - contact.offset_b.rotated_by(motion_b.rotation)
    }

    /// Returns the largest coordinate of a moving part along a direction. The coordinate is
    /// relative to the first collider's position at the start, so that the coordinate is exact far
    /// from the origin.
    fn height(&self, (placed, motion): Moving<V>, part: u32, time: f64, direction: V::DVec) -> f64 {
        let [(first, _), _] = self.moving;
        let rotation = V::DVec::rotation(motion.rotation * time);
        let origin = placed.translation() - first.translation() + motion.translation * time;
        let of_shape = |shape: &DynShape<V>, pose: Pose<V::DVec>| {
            let local = V::DVec::transpose(rotation * pose.rotation) * direction;
            let offset = rotation * (pose.translation - placed.translation());
            direction.dot(offset) + local.dot(shape.support(local)) + shape.radius()
        };
        // `with_part` also computes the bounds of the part, which takes longer than the height. So
        // only parts of compounds use `with_part`.
        let height = if let Some((shape, pose)) = placed.convex() {
            Some(of_shape(&shape, pose))
        } else if let Some(collider) = placed.surface()
            && let Some(radius) = collider.facet_radius()
            && let Some(facet) = collider.facet(part)
        {
            Some(facet.top(V::DVec::transpose(rotation) * direction) + radius)
        } else {
            placed.with_part(part, |part| {
                of_shape(&part.scaled_shape(), part.world_pose.pose())
            })
        };
        height.map_or(0.0, |height| direction.dot(origin) + height)
    }
}

/// Returns the length of the diagonal of a collider's box. The length is infinite for a half-space.
fn diagonal<D: DVector>(region: &Option<BoundingRegion<D>>) -> f64 {
    let bounds = region.as_ref().and_then(BoundingRegion::bounds);
    bounds.map_or(f64::INFINITY, |bounds| (bounds.max - bounds.min).length())
}

/// Returns the time at which a gap is closed, if the gap shrinks by `approach` from time 0 to
/// time 1. Returns infinity if the gap stays open.
pub fn time_to_close(gap: f64, approach: f64) -> f64 {
    if gap > approach.max(0.0) {
        f64::INFINITY
    } else if gap > 0.0 {
        gap / approach
    } else {
        0.0
    }
}
