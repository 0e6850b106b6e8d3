//! A collider in a pose. [`PlacedCollider::new`] places the collider of a proxy or of a query. Then
//! [`PlacedCollider::parts_near`] finds the parts near a region, [`PlacedCollider::parts_along`]
//! finds the parts on a path, and [`PlacedCollider::part`] returns a part.

use core::cmp::Ordering;
use std::borrow::Cow;

use crate::{
    collider::ColliderError,
    placed::{BoundingRegion, DynShape, Part, PlacedShape, shape::half_space_of},
    shape::{
        Aabb, Bounds, ColliderShape, Compound, HalfSpace, ScaledShape, Shape, ShapeInfo, Support,
        WorldPose, compare_shapes, core_bounds,
    },
    space::{DVector, Pose, Space},
};

/// A collider in a pose in the world.
#[derive(Clone, Debug)]
pub struct PlacedCollider<V: Space> {
    /// The pose, of which only the translation may be assigned. [`set_pose`](Self::set_pose)
    /// replaces the whole pose.
    pub world_pose: WorldPose<V::DVec>,
    body: PlacedBody<V>,
    info: ShapeInfo<V>,
}

/// The shape of a placed collider.
#[derive(Clone, Debug)]
pub enum PlacedBody<V: Space> {
    Convex(Shape<V>),
    /// A compound, and the bounds of its core under the pose's rotation and scale. The bounds are
    /// stored, because queries often need them, and the bounds of a large surface take long to
    /// compute.
    Compound(Compound<V>, [V::DVec; 2]),
}

/// The largest coordinate that a bounding box may have. The margin below `f32::MAX` keeps all
/// depths and distances of a pair finite.
const MAX_COORDINATE: f32 = f32::MAX / 8.0;

/// Returns `true` if certainly no coordinate of a shape exceeds [`MAX_COORDINATE`]. `extent` is at
/// least the distance of each point from the translation. The result is `false` if a value is NaN.
fn is_near<D: DVector>(world_pose: &WorldPose<D>, extent: f64) -> bool {
    extent + world_pose.translation.extent() <= f64::from(MAX_COORDINATE / 2.0)
}

impl<V: Space> PlacedCollider<V> {
    /// Places a collider, and computes its bounding box.
    pub fn new(
        shape: &ColliderShape<V>,
        world_pose: WorldPose<V::DVec>,
    ) -> Result<(Self, Aabb), ColliderError> {
        let mut placed = Self::unplaced(shape, world_pose);
        placed.set_pose(world_pose);
        let aabb = placed.aabb()?;
        Ok((placed, aabb))
    }

    /// Places a collider. Returns `None` if the collider is invalid, and so touches nothing. The
    /// stored bounds of a surface may be larger than necessary, because computing the exact bounds
    /// takes longer than most queries.
    pub fn touching(shape: &ColliderShape<V>, world_pose: WorldPose<V::DVec>) -> Option<Self> {
        let mut placed = Self::unplaced(shape, world_pose);
        let is_valid = match &mut placed.body {
            // Other scales, other cores and NaN need the complete test.
            PlacedBody::Convex(_) => {
                let factor = world_pose.factor().unwrap_or(f64::INFINITY);
                is_near(&world_pose, placed.info.bounding_radius() * factor)
            }
            PlacedBody::Compound(compound, core) if compound.surface().is_some() => {
                let linear = world_pose.linear();
                let Bounds { min, max } = compound.bounds().mapped(linear, V::DVec::ZERO);
                *core = [min, max];
                Self::is_small(compound, &world_pose) || placed.aabb().is_ok()
            }
            PlacedBody::Compound(..) => false,
        };
        if !is_valid {
            placed.set_pose(world_pose);
            placed.aabb().ok()?;
        }
        Some(placed)
    }

    /// Returns `true` if a compound in a pose is a surface, and no coordinate of its bounding box
    /// exceeds [`MAX_COORDINATE`]. May return `false` for such a surface, because the test is
    /// conservative.
    pub fn is_small(compound: &Compound<V>, world_pose: &WorldPose<V::DVec>) -> bool {
        // The extent of a unit vector is at most the root of 3.
        let factor = world_pose.factor().map_or_else(
            || {
                let columns = V::DVec::columns(world_pose.linear());
                columns.map(DVector::extent).fold(0.0, f64::max)
            },
            |factor| 2.0 * factor,
        );
        compound.surface().is_some() && is_near(world_pose, factor * compound.extent())
    }

    /// Returns a collider whose bounds are not yet computed.
    fn unplaced(shape: &ColliderShape<V>, world_pose: WorldPose<V::DVec>) -> Self {
        let (info, body) = match shape {
            ColliderShape::Convex(shape) => {
                (ShapeInfo::of(shape), PlacedBody::Convex(shape.clone()))
            }
            ColliderShape::Compound(compound) => {
                let body = PlacedBody::Compound(compound.clone(), [V::DVec::ZERO; 2]);
                (ShapeInfo::of(compound), body)
            }
        };
        Self {
            world_pose,
            body,
            info,
        }
    }

    /// Returns the collider with an additional margin in the shape's own units, or `None` if the
    /// margin is invalid.
    pub fn grown(&self, margin: f32) -> Option<Self> {
        let mut grown = self.clone();
        grown.info = self.info.with_margin(f64::from(margin));
        if let PlacedBody::Compound(compound, _) = &mut grown.body {
            *compound = compound.rounded(margin).ok()?;
        }
        // Under a scale that is not uniform, the margin is part of the core, so the bounds of the
        // core change.
        grown.set_pose(self.world_pose);
        Some(grown)
    }

    /// Returns the collider in another pose.
    pub fn in_pose(&self, world_pose: WorldPose<V::DVec>) -> Self {
        let mut moved = self.clone();
        moved.set_pose(world_pose);
        moved
    }

    /// Sets the pose, and computes the bounds of a compound's core.
    #[inline(always)]
    pub fn set_pose(&mut self, world_pose: WorldPose<V::DVec>) {
        self.world_pose = world_pose;
        if let PlacedBody::Compound(compound, core) = &mut self.body {
            let scaled = ScaledShape::new(&*compound, &self.info, world_pose.scale());
            *core = core_bounds(&scaled, world_pose.pose().rotation);
        }
    }

    /// Computes the bounding box, or [`Aabb::EMPTY`] for a half-space.
    pub fn aabb(&self) -> Result<Aabb, ColliderError> {
        // NaN stands for an invalid radius, which the shape of a `Collider::custom` can have.
        if self.info.radius.is_nan() {
            return Err(ColliderError::InvalidRadius);
        }
        if self.is_half_space() {
            let half_space = self.half_space().ok_or(ColliderError::Flattened)?;
            let origin = self.world_pose.translation;
            let ends = [origin, origin + half_space.normal * half_space.offset];
            let are_near = ends
                .iter()
                .all(|end| end.extent() <= f64::from(MAX_COORDINATE));
            return are_near
                .then_some(Aabb::EMPTY)
                .ok_or(ColliderError::Unbounded);
        }
        let bounds = self.bounds();
        // The box has a margin for rounding, so its size is negative only if the support function
        // is wrong.
        let size = bounds.max - bounds.min;
        if (0..V::DVec::DIMENSION).any(|axis| size.component(axis) < 0.0) {
            return Err(ColliderError::InvalidSupport);
        }
        let radius = match self.world_pose.factor() {
            Some(factor) => self.info.bounding_radius() * factor,
            None => f64::INFINITY,
        };
        let aabb = Aabb::around(&bounds, radius);
        let is_within = aabb.is_within(MAX_COORDINATE);
        is_within.then_some(aabb).ok_or(ColliderError::Unbounded)
    }

    /// Returns the bounding box of a collider that is not a half-space.
    fn bounds(&self) -> Bounds<V::DVec> {
        let (scale, pose) = (self.world_pose.scale(), self.world_pose.pose());
        match &self.body {
            PlacedBody::Convex(shape) => {
                Bounds::around(&ScaledShape::new(shape, &self.info, scale), &pose)
            }
            PlacedBody::Compound(compound, core) => {
                let radius = ScaledShape::new(compound, &self.info, scale).radius();
                Bounds::around_core(*core, radius, pose.translation)
            }
        }
    }

    /// Returns the shape without its scale.
    pub fn body(&self) -> &PlacedBody<V> {
        &self.body
    }

    /// Returns the collider with another shape of the same radius.
    pub(super) fn with_body(&self, body: PlacedBody<V>) -> Self {
        Self {
            body,
            ..self.clone()
        }
    }

    /// Returns the compound without its scale, or `None` if the shape is convex.
    pub fn compound(&self) -> Option<&Compound<V>> {
        match &self.body {
            PlacedBody::Convex(_) => None,
            PlacedBody::Compound(compound, _) => Some(compound),
        }
    }

    /// Returns `true` if the shape is a half-space, even if its scale flattens the half-space.
    pub fn is_half_space(&self) -> bool {
        self.info.is_half_space()
    }

    /// Returns `true` for a polyline, a mesh or a height field.
    pub fn is_surface(&self) -> bool {
        let surface = self.compound().and_then(Compound::surface);
        surface.is_some()
    }

    /// Returns the region of the world that contains the collider.
    pub fn region(&self) -> Result<BoundingRegion<V::DVec>, ColliderError> {
        if self.is_half_space() {
            let half_space = self.half_space().ok_or(ColliderError::Flattened)?;
            return Ok(BoundingRegion::HalfSpace(half_space));
        }
        Ok(BoundingRegion::Box(self.bounds()))
    }

    /// Returns the region of the world that contains the collider, given its bounding box.
    pub fn region_in(&self, aabb: &Aabb) -> Option<BoundingRegion<V::DVec>> {
        if aabb.is_empty() {
            return self.region().ok();
        }
        Some(BoundingRegion::Box(aabb.bounds()))
    }

    /// Returns the scaled shape without its pose, or `None` for a compound.
    pub fn scaled_shape(&self) -> Option<ScaledShape<'_, Shape<V>>> {
        match &self.body {
            PlacedBody::Convex(shape) => {
                Some(ScaledShape::new(shape, &self.info, self.world_pose.scale()))
            }
            PlacedBody::Compound(..) => None,
        }
    }

    /// Loads the edges of a 2D hull into the processor's cache. The result has no meaning.
    pub fn prefetch(&self) -> f64 {
        match &self.body {
            PlacedBody::Convex(Shape::Hull(hull)) => hull.prefetch(),
            PlacedBody::Convex(_) | PlacedBody::Compound(..) => 0.0,
        }
    }

    /// Returns the type-erased scaled shape, or `None` for a compound.
    pub fn dyn_shape(&self) -> Option<DynShape<'_, V>> {
        matches!(self.body, PlacedBody::Convex(_)).then(|| self.whole())
    }

    /// Returns the radius of a ball around the origin inside the shape, and the distance from the
    /// origin to the core's farthest point. Returns `None` unless the shape is a ball, capsule or
    /// box.
    pub fn core_radii(&self) -> Option<(f64, f64)> {
        let shape = self.scaled_shape()?;
        let half = shape.core().half_extents()?;
        let sides = (0..V::DVec::DIMENSION).map(|axis| half.component(axis));
        let inner = sides.fold(f64::INFINITY, f64::min) + shape.radius();
        Some((inner, half.length()))
    }

    /// Returns the half-space in the world's axes, relative to the collider's translation.
    pub fn half_space(&self) -> Option<HalfSpace<V::DVec>> {
        half_space_of(&self.scaled_shape()?, self.world_pose.pose().rotation)
    }

    /// Calls `visit` with the index of each part that may have a point in a region of the world. If
    /// the region is a half-space, it is relative to `origin`.
    pub fn parts_near(
        &self,
        region: &BoundingRegion<V::DVec>,
        origin: V::DVec,
        mut visit: impl FnMut(u32),
    ) {
        let Some(compound) = self.compound() else {
            return visit(0);
        };
        let (linear, translation) = (self.world_pose.linear(), self.world_pose.translation);
        match region {
            // If x = M y + t, then n · x <= c means (Mᵀ n) · y <= c - n · t.
            BoundingRegion::HalfSpace(half_space) => {
                let region = self.region();
                let tolerance = region.map_or(0.0, |own| own.half_space_tolerance(origin));
                let local = HalfSpace {
                    normal: V::DVec::transpose(linear) * half_space.normal,
                    offset: tolerance - half_space.height(translation - origin),
                };
                compound.within(&local, visit);
            }
            BoundingRegion::Box(bounds) => match V::DVec::inverse(linear) {
                Some(inverse) => {
                    let local = bounds.mapped(inverse, -(inverse * translation));
                    compound.near(&local, visit);
                }
                // A flattened compound has no inverse map, so the search uses the world's axes.
                None => compound.near_image(bounds, linear, translation, visit),
            },
        }
    }

    /// Calls `visit` with the index of each part that a moving box in the world may touch. The
    /// order is roughly the order in which the box reaches the parts. The box moves by
    /// `translation` from time 0 to 1. `visit` returns the new end time. Facets of clusters for
    /// which `is_skipped` returns `true` may be skipped. Returns `None` if the scale flattens the
    /// collider.
    pub fn parts_along(
        &self,
        bounds: &Bounds<V::DVec>,
        translation: V::DVec,
        is_skipped: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32) -> f64,
    ) -> Option<()> {
        let Some(compound) = self.compound() else {
            visit(0);
            return Some(());
        };
        let inverse = self.world_pose.inverse_linear()?;
        let local = bounds.mapped(inverse, -(inverse * self.world_pose.translation));
        compound.along_box(&local, inverse * translation, 1.0, is_skipped, visit);
        Some(())
    }

    /// Calls `visit` with the index of each part whose bound may be at most the current limit,
    /// roughly in the order of the bounds. The limit starts at `limit`, and each result of `visit`
    /// replaces the limit. `bound` returns a lower bound for all shapes in a box, which is given in
    /// the world: see `Compound::search_nearest`.
    pub fn search(
        &self,
        limit: f64,
        bound: impl Fn(&Bounds<V::DVec>) -> f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        let Some(compound) = self.compound() else {
            visit(0);
            return;
        };
        let (linear, translation) = (self.world_pose.linear(), self.world_pose.translation);
        let bound = |local: &Bounds<_>| bound(&local.mapped(linear, translation));
        compound.search_nearest(limit, bound, visit);
    }

    /// Calls `visit` with the index of each part that may have a point in a ball in the world.
    pub fn parts_near_ball(&self, center: V::DVec, radius: f64, visit: impl FnMut(u32)) {
        let inverse = V::DVec::inverse(self.world_pose.linear());
        match (self.compound(), self.world_pose.factor(), inverse) {
            (Some(compound), Some(factor), Some(inverse)) => {
                let local = inverse * (center - self.world_pose.translation);
                compound.near_ball(local, radius / factor, visit);
            }
            _ => {
                let region = BoundingRegion::Box(Bounds::at(center).grown(radius));
                self.parts_near(&region, center, visit);
            }
        }
    }

    /// Returns a central point of the collider in the world's axes, relative to the translation.
    /// The side of a surface on which this point lies counts as the side of the whole collider.
    pub fn center(&self) -> V::DVec {
        let local = match &self.body {
            PlacedBody::Convex(shape) => shape.center(),
            PlacedBody::Compound(compound, _) => compound.center(),
        };
        self.world_pose.linear() * local
    }

    /// Compares the poses of two colliders, then their shapes.
    pub fn compare(&self, other: &Self) -> Ordering {
        let [own_pose, other_pose] = [self, other].map(|placed| placed.world_pose.pose());
        let parts = || match (self.compound(), other.compound()) {
            (Some(a), Some(b)) => a.compare(b),
            _ => Ordering::Equal,
        };
        own_pose
            .total_cmp(&other_pose)
            .then_with(|| compare_shapes(&self.whole(), &other.whole()))
            .then_with(parts)
    }

    /// Returns the collider as one scaled shape: for a compound, the convex hull of all parts.
    fn whole(&self) -> DynShape<'_, V> {
        let whole: &dyn Support<Vector = V> = match &self.body {
            PlacedBody::Convex(shape) => shape,
            PlacedBody::Compound(compound, _) => compound,
        };
        ScaledShape::new(whole, &self.info, self.world_pose.scale())
    }

    /// Returns the only part of a convex collider, or `None` for a compound. `region` must contain
    /// the collider.
    pub fn convex_part(&self, region: BoundingRegion<V::DVec>) -> Option<Part<'_, V>> {
        let PlacedBody::Convex(shape) = &self.body else {
            return None;
        };
        Some(PlacedShape {
            index: 0,
            region,
            world_pose: self.world_pose,
            shape: Cow::Borrowed(shape),
            info: self.info,
        })
    }

    /// Returns the part at an index.
    pub fn part(&self, index: u32) -> Option<Part<'_, V>> {
        match &self.body {
            PlacedBody::Convex(_) => self.convex_part(self.region().ok()?),
            PlacedBody::Compound(compound, _) => {
                let (local_pose, shape) = compound.part(index)?;
                Some(self.placed_shape(index, &local_pose, shape, compound.radius()))
            }
        }
    }

    /// Places a shape, with a margin around it, as a part of this compound.
    #[inline]
    pub(super) fn placed_shape<'s>(
        &self,
        index: u32,
        pose: &Pose<V::DVec>,
        shape: Cow<'s, Shape<V>>,
        margin: f64,
    ) -> Part<'s, V> {
        let world_pose = self.world_pose.of_part(pose);
        let info = ShapeInfo::of(&*shape).with_margin(margin);
        let scaled = ScaledShape::new(&*shape, &info, world_pose.scale());
        PlacedShape {
            index,
            region: BoundingRegion::Box(Bounds::around(&scaled, &world_pose.pose())),
            world_pose,
            shape,
            info,
        }
    }
}
