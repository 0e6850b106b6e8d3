//! Proxies: colliders with their poses and layers, in the form that the later stages use.

use core::{cmp::Ordering, ops::ControlFlow};
use std::{borrow::Cow, sync::Arc};

use bevy::prelude::*;

use crate::{
    collider::{ColliderError, CollisionLayers},
    shape::{
        Aabb, Bounds, ColliderShape, Compound, Facet, HalfSpace, ScaledShape, Shape, ShapeInfo,
        Support, Surface, WorldPose, compare_shapes, weld,
    },
    space::{DVector, Space},
    tolerance::{OFFSET_SCALE, TOUCHING},
};

/// A collider with its pose and layers.
#[derive(Clone, Debug)]
pub struct Proxy<V: Space> {
    pub entity: Entity,
    pub layers: CollisionLayers,
    pub markers: Markers,
    pub world_pose: WorldPose<V::DVec>,
    shape: ColliderShape<V>,
    info: ShapeInfo<V>,
}

/// The marker components of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    /// `true` if the entity has a [`Sensor`](crate::Sensor).
    pub is_sensor: bool,
    /// `true` if the entity is [`Swept`](crate::Swept).
    pub is_swept: bool,
}

/// The largest coordinate that a bounding box may have. The margin below `f32::MAX` keeps all
/// depths and distances of a pair finite.
const MAX_COORDINATE: f32 = f32::MAX / 8.0;

/// A convex part of a proxy.
pub struct Part<'a, V: Space> {
    /// The index of the part, 0 if the proxy has only one part.
    pub index: u32,
    /// The region of the world that contains the part.
    pub region: BoundingRegion<V::DVec>,
    pub world_pose: WorldPose<V::DVec>,
    shape: Cow<'a, Shape<V>>,
    /// Includes the compound's margin. (Without this field, each query would have to build a
    /// rounded copy of the shape.)
    info: ShapeInfo<V>,
}

/// A scaled shape as a trait object.
pub type DynShape<'a, V> = ScaledShape<'a, dyn Support<Vector = V> + 'a>;

impl<V: Space> Part<'_, V> {
    /// Returns the scaled shape in the frame of its pose.
    #[inline]
    pub fn scaled_shape(&self) -> ScaledShape<'_, Shape<V>> {
        ScaledShape::new(&*self.shape, &self.info, self.world_pose.scale())
    }

    /// Returns the same shape as a trait object.
    pub fn dyn_shape(&self) -> DynShape<'_, V> {
        let shape: &dyn Support<Vector = V> = &*self.shape;
        ScaledShape::new(shape, &self.info, self.world_pose.scale())
    }
}

/// A region of the world that contains a proxy or a part.
#[derive(Clone, Copy, Debug)]
pub enum BoundingRegion<D> {
    Box(Bounds<D>),
    /// In the world's axes, relative to the translation of the pose, so that the half-space stays
    /// exact far from the origin.
    HalfSpace(HalfSpace<D>),
}

impl<D: DVector> BoundingRegion<D> {
    /// Returns `true` if both regions are boxes and have no point in common.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(a), Self::Box(b)) => !a.overlaps(b),
            _ => false,
        }
    }

    /// Returns the box, if the region is one.
    #[inline]
    pub fn bounds(&self) -> Option<&Bounds<D>> {
        match self {
            Self::Box(bounds) => Some(bounds),
            Self::HalfSpace(_) => None,
        }
    }

    /// Returns a lower bound on the distance to a box, 0 if the contents of both may touch. A
    /// half-space is relative to `origin`.
    pub fn gap(&self, bounds: &Bounds<D>, origin: D) -> f64 {
        match self {
            Self::Box(own) => own.gap(bounds),
            Self::HalfSpace(half_space) => bounds.gap_to_half_space(half_space, origin),
        }
    }

    /// Returns the largest gap at which the content of a box may touch a half-space that is given
    /// relative to `origin`. The gap increases with the distance from `origin`: see
    /// [`OFFSET_SCALE`].
    fn half_space_tolerance(&self, origin: D) -> f64 {
        let distance = self.bounds().map_or(0.0, |bounds| {
            let [min, max] = [bounds.min, bounds.max].map(|corner| (corner - origin).extent());
            min.max(max)
        });
        distance * (2.0 * TOUCHING * OFFSET_SCALE)
    }
}

impl<V: Space> Proxy<V> {
    /// Creates a proxy, and computes its bounding box.
    pub fn new(
        entity: Entity,
        shape: &ColliderShape<V>,
        layers: CollisionLayers,
        world_pose: WorldPose<V::DVec>,
    ) -> Result<(Self, Aabb), ColliderError> {
        let info = match shape {
            ColliderShape::Convex(shape) => ShapeInfo::of(shape),
            ColliderShape::Compound(compound) => ShapeInfo::of(&**compound),
        };
        let shape = shape.clone();
        let proxy = Self {
            entity,
            layers,
            markers: Markers::default(),
            world_pose,
            shape,
            info,
        };
        let aabb = proxy.aabb()?;
        Ok((proxy, aabb))
    }

    /// Returns the proxy with other markers.
    pub fn with_markers(self, markers: Markers) -> Self {
        Self { markers, ..self }
    }

    /// Returns the proxy with an additional margin, which is in the shape's own units.
    pub fn grown(&self, margin: f32) -> Option<Self> {
        let mut grown = self.clone();
        grown.info = self.info.with_margin(f64::from(margin));
        if let ColliderShape::Compound(compound) = &self.shape {
            grown.shape = ColliderShape::Compound(Arc::new(compound.rounded(margin).ok()?));
        }
        Some(grown)
    }

    /// Returns the proxy in another pose.
    pub fn in_pose(&self, world_pose: WorldPose<V::DVec>) -> Self {
        Self {
            world_pose,
            ..self.clone()
        }
    }

    /// Sets the pose, the layers and the markers. Returns `true` if any changed.
    #[inline(always)]
    pub fn update(
        &mut self,
        world_pose: WorldPose<V::DVec>,
        layers: CollisionLayers,
        markers: Markers,
    ) -> bool {
        let has_same_traits = self.layers == layers && self.markers == markers;
        if self.world_pose.has_same_bits(&world_pose) && has_same_traits {
            return false;
        }
        (self.world_pose, self.layers, self.markers) = (world_pose, layers, markers);
        true
    }

    /// Computes the bounding box. It is [`Aabb::EMPTY`] for a half-space.
    #[inline]
    pub fn aabb(&self) -> Result<Aabb, ColliderError> {
        // NaN stands for a negative radius, which a user's shape or a ball of Bevy can have.
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
        let radius = self
            .world_pose
            .factor()
            .map(|factor| self.info.bounding_radius() * factor);
        let aabb = Aabb::around(&bounds, radius.unwrap_or(f64::INFINITY));
        let is_within = aabb.is_within(MAX_COORDINATE);
        is_within.then_some(aabb).ok_or(ColliderError::Unbounded)
    }

    /// Returns the bounding box of a proxy that is not a half-space.
    #[inline]
    fn bounds(&self) -> Bounds<V::DVec> {
        let (scale, pose) = (self.world_pose.scale(), self.world_pose.pose());
        match &self.shape {
            ColliderShape::Convex(shape) => {
                Bounds::around(&ScaledShape::new(shape, &self.info, scale), &pose)
            }
            ColliderShape::Compound(compound) => {
                Bounds::around(&ScaledShape::new(&**compound, &self.info, scale), &pose)
            }
        }
    }

    /// Returns the shape without its scale.
    pub fn shape(&self) -> &ColliderShape<V> {
        &self.shape
    }

    /// Returns `true` if the shape is a half-space, even one that is flattened by its scale.
    pub fn is_half_space(&self) -> bool {
        self.info.is_half_space()
    }

    /// Returns `true` for a polyline, a mesh or a height field.
    pub fn is_surface(&self) -> bool {
        self.shape.is_surface()
    }

    /// Returns the region of the world that contains the proxy.
    pub fn region(&self) -> Result<BoundingRegion<V::DVec>, ColliderError> {
        if self.is_half_space() {
            let half_space = self.half_space().ok_or(ColliderError::Flattened)?;
            return Ok(BoundingRegion::HalfSpace(half_space));
        }
        Ok(BoundingRegion::Box(self.bounds()))
    }

    /// Returns the scaled shape in the frame of its pose, or `None` for a compound.
    pub fn scaled_shape(&self) -> Option<ScaledShape<'_, Shape<V>>> {
        match &self.shape {
            ColliderShape::Convex(shape) => {
                Some(ScaledShape::new(shape, &self.info, self.world_pose.scale()))
            }
            ColliderShape::Compound(_) => None,
        }
    }

    /// Returns the same shape without its type.
    pub fn dyn_shape(&self) -> Option<DynShape<'_, V>> {
        let ColliderShape::Convex(shape) = &self.shape else {
            return None;
        };
        let shape: &dyn Support<Vector = V> = shape;
        Some(ScaledShape::new(shape, &self.info, self.world_pose.scale()))
    }

    /// Returns the radius of a ball around the origin inside of a ball, capsule or box, and the
    /// distance of the core's farthest point from the origin. `None` for all other shapes.
    pub fn core_radii(&self) -> Option<(f64, f64)> {
        let shape = self.scaled_shape()?;
        let half = shape.core().half_extents()?;
        let sides = (0..V::DVec::DIMENSION).map(|axis| half.component(axis));
        let inner = sides.fold(f64::INFINITY, f64::min) + shape.radius();
        Some((inner, half.length()))
    }

    /// Returns the half-space in the world's axes, relative to the proxy's translation.
    pub fn half_space(&self) -> Option<HalfSpace<V::DVec>> {
        let shape = self.scaled_shape()?;
        let half_space = shape.core().half_space()?;
        Some(HalfSpace {
            normal: self.world_pose.pose().rotation * half_space.normal,
            // The radius is part of the pair's scale, so it increases the touching tolerance.
            ..half_space.raised(shape.radius() * (1.0 + 2.0 * TOUCHING))
        })
    }

    /// Calls `visit` with the index of each part that may have a point in a region of the world. If
    /// the region is a half-space, it is relative to `origin`.
    pub fn parts_near(
        &self,
        region: &BoundingRegion<V::DVec>,
        origin: V::DVec,
        mut visit: impl FnMut(u32),
    ) {
        let ColliderShape::Compound(compound) = &self.shape else {
            return visit(0);
        };
        let (linear, translation) = (self.world_pose.linear(), self.world_pose.translation);
        match region {
            // With x = M y + t, n·x <= c is (Mᵀ n)·y <= c - n·t.
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

    /// Calls `visit` with the index of each part whose distance from a region of the world may be
    /// at most the current limit, near ones first. The limit starts at `limit`, and each result of
    /// `visit` replaces it. A half-space is relative to `origin`.
    pub fn search_nearest(
        &self,
        region: &BoundingRegion<V::DVec>,
        origin: V::DVec,
        limit: f64,
        visit: impl FnMut(u32) -> f64,
    ) {
        self.search(limit, |bounds| region.gap(bounds, origin), visit);
    }

    /// Like [`search_nearest`](Self::search_nearest), but `bound` takes the place of the distance
    /// from a region. It is called with boxes in the world: see [`Compound::search_nearest`].
    pub fn search(
        &self,
        limit: f64,
        bound: impl Fn(&Bounds<V::DVec>) -> f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        let ColliderShape::Compound(compound) = &self.shape else {
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
        match (&self.shape, self.world_pose.factor(), inverse) {
            (ColliderShape::Compound(compound), Some(factor), Some(inverse)) => {
                let local = inverse * (center - self.world_pose.translation);
                compound.near_ball(local, radius / factor, visit);
            }
            _ => {
                let (min, max) = (center, center);
                let bounds = Bounds { min, max }.grown(radius);
                self.parts_near(&BoundingRegion::Box(bounds), center, visit);
            }
        }
    }

    /// Returns the radius of the facets of a surface, or `None` if the scale is not uniform.
    pub fn facet_radius(&self) -> Option<f64> {
        let margin = self.surface()?.0.radius();
        match self.world_pose.factor() {
            Some(factor) => Some(margin * factor),
            None => (margin == 0.0).then_some(0.0),
        }
    }

    /// Returns a central point in the world's axes, relative to the translation. The whole proxy
    /// counts as being on the side of a surface on which this point lies.
    pub fn center(&self) -> V::DVec {
        let local = match &self.shape {
            ColliderShape::Convex(shape) => shape.center(),
            ColliderShape::Compound(compound) => compound.center(),
        };
        self.world_pose.linear() * local
    }

    /// Compares the poses of two proxies, then their shapes, but not their entities.
    pub fn compare(&self, other: &Self) -> Ordering {
        let [own_pose, other_pose] = [self, other].map(|proxy| proxy.world_pose.pose());
        let parts = || match (&self.shape, &other.shape) {
            (ColliderShape::Compound(a), ColliderShape::Compound(b)) => a.compare(b),
            _ => Ordering::Equal,
        };
        own_pose
            .total_cmp(&other_pose)
            .then_with(|| compare_shapes(&self.whole(), &other.whole()))
            .then_with(parts)
    }

    /// Returns all parts as one scaled shape.
    fn whole(&self) -> ScaledShape<'_, dyn Support<Vector = V>> {
        let whole: &dyn Support<Vector = V> = match &self.shape {
            ColliderShape::Convex(shape) => shape,
            ColliderShape::Compound(compound) => &**compound,
        };
        ScaledShape::new(whole, &self.info, self.world_pose.scale())
    }

    /// Returns the size of a surface: the longest side of its local bounding box, times the root
    /// mean square of the scale.
    pub fn surface_size(&self) -> Option<f64> {
        let (compound, _) = self.surface()?;
        let linear = self.world_pose.linear();
        let columns = (0..V::DVec::DIMENSION).map(|axis| V::DVec::column(linear, axis));
        let squared = columns.map(DVector::length_squared).sum::<f64>() / V::DVec::DIMENSION as f64;
        Some(compound.size() * squared.sqrt())
    }

    /// Returns the part at an index.
    pub fn part(&self, index: u32) -> Option<Part<'_, V>> {
        match &self.shape {
            ColliderShape::Convex(shape) => Some(Part {
                index,
                region: self.region().ok()?,
                world_pose: self.world_pose,
                shape: Cow::Borrowed(shape),
                info: self.info,
            }),
            ColliderShape::Compound(compound) => {
                let (local_pose, shape) = compound.part(index)?;
                let world_pose = self.world_pose.of_part(&local_pose);
                let info = ShapeInfo::of(&*shape).with_margin(compound.radius());
                let scaled = ScaledShape::new(&*shape, &info, world_pose.scale());
                Some(Part {
                    index,
                    region: BoundingRegion::Box(Bounds::around(&scaled, &world_pose.pose())),
                    world_pose,
                    shape,
                    info,
                })
            }
        }
    }

    /// Returns the surface and its compound, or `None` if the shape is not a surface.
    fn surface(&self) -> Option<(&Compound<V>, &Surface<V>)> {
        match &self.shape {
            ColliderShape::Convex(_) => None,
            ColliderShape::Compound(compound) => Some((&**compound, compound.surface()?)),
        }
    }

    /// Returns a facet of a surface in the world's axes, relative to the proxy's translation.
    pub fn facet(&self, index: u32) -> Option<Facet<V::DVec>> {
        let (_, surface) = self.surface()?;
        let linear = self.world_pose.linear();
        surface.mapped_facet(index, |point| linear * point, V::DVec::is_mirrored(linear))
    }

    /// Returns `true` for a surface of which only the outer side collides.
    pub fn is_one_sided(&self) -> bool {
        self.surface()
            .is_some_and(|(compound, _)| compound.is_one_sided())
    }

    /// Calls `visit` with the index of each wanted facet that contains a point, until `visit`
    /// returns `Break`. The point is the sum of the corners of facet `index` times `weights`.
    /// `is_wanted` is called with the corners of a facet in the world's axes. A facet may be
    /// visited twice.
    pub fn search_around(
        &self,
        index: u32,
        weights: [f64; 3],
        is_wanted: impl Fn(&[V::DVec]) -> bool,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) {
        let is_done = self.search_adjacent(index, weights, &is_wanted, &mut visit);
        let Some((compound, surface)) = self.surface().filter(|_| is_done.is_continue()) else {
            return;
        };
        let Some(corners) = surface.facet_vertices(index) else {
            return;
        };
        let tolerance = weld(&corners);
        let point = weighted(&corners, weights);
        compound.near_point(point, tolerance, |other| {
            let contains_point = || surface.facet_contains(other, point, tolerance);
            if self.is_wanted(other, &is_wanted) && contains_point() {
                visit(other)
            } else {
                ControlFlow::Continue(())
            }
        });
    }

    /// Like [`search_around`](Self::search_around), but visits only facets that share the vertices
    /// with positive weights. It may miss some facets, but does not search the tree.
    pub fn search_adjacent(
        &self,
        index: u32,
        weights: [f64; 3],
        is_wanted: impl Fn(&[V::DVec]) -> bool,
        visit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((_, surface)) = self.surface() else {
            return ControlFlow::Continue(());
        };
        let adjacent = surface.adjacent_facets(index, weights);
        let mut wanted = adjacent.filter(|other| self.is_wanted(*other, &is_wanted));
        wanted.try_for_each(visit)
    }

    /// Returns the result of `is_wanted` for a facet's corners in the world's axes.
    fn is_wanted(&self, index: u32, is_wanted: impl Fn(&[V::DVec]) -> bool) -> bool {
        let linear = self.world_pose.linear();
        let corners = self
            .surface()
            .and_then(|(_, surface)| surface.facet_vertices(index));
        corners.is_some_and(|mut corners| {
            corners
                .iter_mut()
                .for_each(|corner| *corner = linear * *corner);
            is_wanted(&corners)
        })
    }
}

/// Returns the sum of a facet's corners times their weights.
fn weighted<D: DVector>(corners: &[D], weights: [f64; 3]) -> D {
    let terms = corners.iter().zip(weights);
    terms.fold(D::ZERO, |sum, (corner, weight)| sum + *corner * weight)
}
