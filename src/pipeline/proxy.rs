//! A collider as the stages of the tick see it: what it is and where, ready for the solver.

use core::{cmp::Ordering, ops::ControlFlow};
use std::borrow::Cow;

use bevy::prelude::*;

use crate::{
    collider::CollisionLayers,
    pipeline::{aabb::Aabb, world_pose::Placement},
    shape::{
        Bounds, ColliderShape, Compound, Facet, HalfSpace, ScaledShape, Shape, ShapeInfo, Support,
        Surface, centre_of, compare_shapes, weld,
    },
    space::{DVector, Space},
    tolerance::{OFFSET_SCALE, TOUCHING},
};

/// A collider as the stages after this one see it.
#[derive(Clone, Debug)]
pub struct Proxy<V: Space> {
    pub entity: Entity,
    pub layers: CollisionLayers,
    pub place: Placement<V::DVec>,
    pub body: ColliderShape<V>,
    traits: ShapeInfo<V>,
}

/// With room for the sums that a pair of such boxes makes: no depth and no distance is beyond f32.
const FARTHEST: f32 = f32::MAX / 8.0;

/// A convex part of a proxy, where it is.
pub struct Part<'a, V: Space> {
    /// 0 for what has but one.
    pub number: u32,
    /// Where it is in the world.
    pub extent: BoundingRegion<V::DVec>,
    pub place: Placement<V::DVec>,
    shape: Cow<'a, Shape<V>>,
    /// With the margin around the shape, in its own frame. (A shape with it inside would have to be made anew each time.)
    traits: ShapeInfo<V>,
}

impl<V: Space> Part<'_, V> {
    /// The shape, scaled, in the frame of its pose.
    pub fn image(&self) -> ScaledShape<'_, Shape<V>> {
        ScaledShape::new(&*self.shape, &self.traits, self.place.map())
    }
}

/// Where in the world a proxy can be met.
#[derive(Clone, Copy, Debug)]
pub enum BoundingRegion<D> {
    /// In a box around the shape.
    Box(Bounds<D>),
    /// In a half-space, told along the world's axes, but from the translation of the pose: exact far from the origin.
    HalfSpace(HalfSpace<D>),
}

impl<D: DVector> BoundingRegion<D> {
    /// Whether two boxes have no point in common.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(a), Self::Box(b)) => !a.overlaps(b),
            _ => false,
        }
    }

    /// How far from a half-space, told from `origin`, anything in a box may still touch it, for how far it is from there: see
    /// [`OFFSET_SCALE`].
    fn slack(&self, origin: D) -> f64 {
        let away = |corner: D| (corner - origin).extent();
        let away = self
            .bounds()
            .map_or(0.0, |it| away(it.min).max(away(it.max)));
        away * (2.0 * TOUCHING * OFFSET_SCALE)
    }

    /// The box, if it is one.
    pub fn bounds(&self) -> Option<&Bounds<D>> {
        match self {
            Self::Box(bounds) => Some(bounds),
            Self::HalfSpace(_) => None,
        }
    }
}

impl<V: Space> Proxy<V> {
    /// The proxy of a body, with the box around it, or why it takes no part.
    pub fn new(
        entity: Entity,
        body: &ColliderShape<V>,
        layers: CollisionLayers,
        place: Placement<V::DVec>,
    ) -> Result<(Self, Aabb), Fault> {
        let traits = match body {
            ColliderShape::Convex(shape) => ShapeInfo::of(shape),
            ColliderShape::Compound(compound) => ShapeInfo::of(&**compound),
        };
        let proxy = Self {
            entity,
            layers,
            place,
            body: body.clone(),
            traits,
        };
        let aabb = proxy.aabb()?;
        Ok((proxy, aabb))
    }

    /// Puts it somewhere else, in other layers. Whether anything is not what it was.
    // The place comes in registers, as long as this is in line.
    #[inline(always)]
    pub fn put(&mut self, place: Placement<V::DVec>, layers: CollisionLayers) -> bool {
        if self.place.is(&place) && self.layers == layers {
            return false;
        }
        (self.place, self.layers) = (place, layers);
        true
    }

    /// The box around it where it is, or why it takes no part there.
    #[inline]
    pub fn aabb(&self) -> Result<Aabb, Fault> {
        let place = &self.place;
        // That of a ball may be negative.
        if self.traits.radius.is_nan() {
            return Err(Fault::NoShape);
        }
        if self.is_half_space() {
            let it = self.half_space().ok_or(Fault::Flattened)?;
            let foot = it.normal * it.offset;
            let ends = [place.translation, place.translation + foot];
            let is_near = |end: V::DVec| end.extent() <= f64::from(FARTHEST);
            let are_near = ends.into_iter().all(is_near);
            return are_near.then_some(Aabb::NONE).ok_or(Fault::Unbounded);
        }
        // Not by the extent, which would go through memory.
        let bounds = self.bounds();
        // It has room for rounding, so that what is inside out by more is no farthest point.
        let size = bounds.max - bounds.min;
        if (0..V::DVec::DIMENSION).any(|it| size.component(it) < 0.0) {
            return Err(Fault::InsideOut);
        }
        let reach = place.factor().map(|it| self.traits.bounding_radius() * it);
        let aabb = Aabb::around(&bounds, reach.unwrap_or(f64::INFINITY));
        let is_within = aabb.is_within(FARTHEST);
        is_within.then_some(aabb).ok_or(Fault::Unbounded)
    }

    /// The box around what is no half-space.
    #[inline]
    fn bounds(&self) -> Bounds<V::DVec> {
        let (map, pose) = (self.place.map(), self.place.pose());
        match &self.body {
            ColliderShape::Convex(shape) => {
                Bounds::around(&ScaledShape::new(shape, &self.traits, map), &pose)
            }
            ColliderShape::Compound(compound) => {
                Bounds::around(&ScaledShape::new(&**compound, &self.traits, map), &pose)
            }
        }
    }

    /// Whether it is a half-space, as long as no map flattens it.
    pub fn is_half_space(&self) -> bool {
        self.traits.is_half_space()
    }

    /// Where in the world it can be met.
    pub fn extent(&self) -> Result<BoundingRegion<V::DVec>, Fault> {
        if self.is_half_space() {
            let half_space = self.half_space().ok_or(Fault::Flattened)?;
            return Ok(BoundingRegion::HalfSpace(half_space));
        }
        Ok(BoundingRegion::Box(self.bounds()))
    }

    /// Its shape, scaled, in the frame of its pose, if it has but one.
    #[inline]
    pub fn image(&self) -> Option<ScaledShape<'_, Shape<V>>> {
        match &self.body {
            ColliderShape::Convex(shape) => {
                Some(ScaledShape::new(shape, &self.traits, self.place.map()))
            }
            ColliderShape::Compound(_) => None,
        }
    }

    /// The half-space that it is, told along the world's axes from its translation, if it is one.
    pub fn half_space(&self) -> Option<HalfSpace<V::DVec>> {
        let image = self.image()?;
        let half_space = image.core().half_space()?;
        Some(HalfSpace {
            normal: self.place.pose().rotation * half_space.normal,
            // The margin belongs to the scale of a pair.
            ..half_space.raised(image.radius() * (1.0 + 2.0 * TOUCHING))
        })
    }

    /// Calls `visit` with the number of each part that may have a point within an extent, in the world, that was told from
    /// `origin`.
    pub fn parts_near(
        &self,
        extent: &BoundingRegion<V::DVec>,
        origin: V::DVec,
        mut visit: impl FnMut(u32),
    ) {
        let ColliderShape::Compound(compound) = &self.body else {
            return visit(0);
        };
        let linear = self.place.linear();
        match extent {
            // With x = M y + t, n·x <= c is (Mᵀ n)·y <= c - n·t.
            BoundingRegion::HalfSpace(half_space) => compound.within(
                &HalfSpace {
                    normal: V::DVec::transpose(linear) * half_space.normal,
                    offset: -half_space.height(self.place.translation - origin)
                        + self.extent().map_or(0.0, |it| it.slack(origin)),
                },
                visit,
            ),
            BoundingRegion::Box(bounds) => match V::DVec::inverse(linear) {
                Some(inverse) => {
                    let local = bounds.mapped(inverse, -(inverse * self.place.translation));
                    compound.near(&local, visit);
                }
                // What is flattened has no frame to look from.
                None => compound.near_image(bounds, linear, self.place.translation, visit),
            },
        }
    }

    /// Calls `visit` with the number of each part that may have a point in a ball in the world.
    pub fn parts_near_ball(&self, centre: V::DVec, radius: f64, visit: impl FnMut(u32)) {
        let inverse = V::DVec::inverse(self.place.linear());
        match (&self.body, self.place.factor(), inverse) {
            (ColliderShape::Compound(compound), Some(factor), Some(inverse)) => {
                let local = inverse * (centre - self.place.translation);
                compound.near_ball(local, radius / factor, visit);
            }
            _ => {
                let (min, max) = (centre, centre);
                let bounds = Bounds { min, max }.grown(radius);
                self.parts_near(&BoundingRegion::Box(bounds), centre, visit);
            }
        }
    }

    /// The radius of the facets of a surface. `None` if the map turns it into something else.
    pub fn facet_radius(&self) -> Option<f64> {
        let margin = self.surface()?.0.radius();
        match self.place.factor() {
            Some(factor) => Some(margin * factor),
            None => (margin == 0.0).then_some(0.0),
        }
    }

    /// A point in the midst of it, which turns with it, in the world's axes from its translation: on which side of a surface it
    /// is. A compound is as a whole on one side, whichever of its parts touches.
    pub fn centre(&self) -> V::DVec {
        self.place.linear()
            * match &self.body {
                ColliderShape::Convex(shape) => centre_of(shape),
                ColliderShape::Compound(compound) => compound.centre(),
            }
    }

    /// An order of proxies that does not ask which entities they are: by their poses, and of those in the very same pose by what
    /// can be seen of them.
    pub fn compare(&self, other: &Self) -> Ordering {
        let [own, others] = [self, other].map(|it| it.place.pose());
        let parts = || match (&self.body, &other.body) {
            (ColliderShape::Compound(own), ColliderShape::Compound(others)) => own.compare(others),
            _ => Ordering::Equal,
        };
        own.total_cmp(&others)
            .then_with(|| compare_shapes(&self.whole(), &other.whole()))
            .then_with(parts)
    }

    /// All of it, as one shape.
    fn whole(&self) -> ScaledShape<'_, dyn Support<Vector = V>> {
        let whole: &dyn Support<Vector = V> = match &self.body {
            ColliderShape::Convex(shape) => shape,
            ColliderShape::Compound(compound) => &**compound,
        };
        ScaledShape::new(whole, &self.traits, self.place.map())
    }

    /// How large it is, if it is a surface: the longest side of the box around it in its own frame, scaled.
    pub fn surface_size(&self) -> Option<f64> {
        let (compound, _) = self.surface()?;
        let columns = (0..V::DVec::DIMENSION).map(|it| V::DVec::column(self.place.linear(), it));
        let squared = columns.map(DVector::length_squared).sum::<f64>() / V::DVec::DIMENSION as f64;
        Some(compound.size() * squared.sqrt())
    }

    /// A part by its number.
    pub fn part(&self, number: u32) -> Option<Part<'_, V>> {
        match &self.body {
            ColliderShape::Convex(shape) => Some(Part {
                number,
                extent: self.extent().ok()?,
                place: self.place,
                shape: Cow::Borrowed(shape),
                traits: self.traits,
            }),
            ColliderShape::Compound(compound) => {
                let (within, shape) = compound.part(number)?;
                let place = self.place.of_part(&within);
                let traits = ShapeInfo::of(&*shape).with_margin(compound.radius());
                let image = ScaledShape::new(&*shape, &traits, place.map());
                Some(Part {
                    number,
                    extent: BoundingRegion::Box(Bounds::around(&image, &place.pose())),
                    place,
                    shape,
                    traits,
                })
            }
        }
    }

    /// The surface, if it is one.
    fn surface(&self) -> Option<(&Compound<V>, &Surface<V>)> {
        match &self.body {
            ColliderShape::Convex(_) => None,
            ColliderShape::Compound(compound) => Some((&**compound, compound.surface()?)),
        }
    }

    /// A facet of a surface, in the world's axes, from the translation of the proxy.
    pub fn facet(&self, number: u32) -> Option<Facet<V::DVec>> {
        let (_, surface) = self.surface()?;
        let linear = self.place.linear();
        surface.mapped_facet(number, |point| linear * point, V::DVec::is_mirrored(linear))
    }

    /// Returns `true` if only the outer side of its facets collides.
    pub fn is_one_sided(&self) -> bool {
        self.surface()
            .is_some_and(|(compound, _)| compound.is_one_sided())
    }

    /// Calls `visit` with the number of each wanted facet at a point, until `visit` returns
    /// `Break`. The point is a mean of the corners of facet `number` with `weights`. `is_wanted`
    /// gets the corners of a facet in the world's axes. A facet may be visited twice.
    pub fn search_around(
        &self,
        number: u32,
        weights: [f64; 3],
        is_wanted: impl Fn(&[V::DVec]) -> bool,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) {
        let is_done = self.search_sharers(number, weights, &is_wanted, &mut visit);
        let Some((compound, surface)) = self.surface().filter(|_| is_done.is_continue()) else {
            return;
        };
        let Some(corners) = surface.facet_vertices(number) else {
            return;
        };
        let tolerance = weld(&corners);
        let point = weighted(&corners, weights);
        compound.near_point(point, tolerance, |other| {
            let is_there = || surface.facet_contains(other, point, tolerance);
            if self.is_wanted(other, &is_wanted) && is_there() {
                visit(other)
            } else {
                ControlFlow::Continue(())
            }
        });
    }

    /// Like [`search_around`](Self::search_around), but only among facets that share the vertices
    /// with positive weights. It finds some of the facets, without the tree.
    pub fn search_sharers(
        &self,
        number: u32,
        weights: [f64; 3],
        is_wanted: impl Fn(&[V::DVec]) -> bool,
        visit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((_, surface)) = self.surface() else {
            return ControlFlow::Continue(());
        };
        let sharers = surface.adjacent_facets(number, weights);
        let mut wanted = sharers.filter(|other| self.is_wanted(*other, &is_wanted));
        wanted.try_for_each(visit)
    }

    /// Calls `is_wanted` with a facet's corners in the world's axes.
    fn is_wanted(&self, number: u32, is_wanted: impl Fn(&[V::DVec]) -> bool) -> bool {
        let linear = self.place.linear();
        let corners = self
            .surface()
            .and_then(|(_, surface)| surface.facet_vertices(number));
        corners.is_some_and(|mut corners| {
            corners.iter_mut().for_each(|it| *it = linear * *it);
            is_wanted(&corners)
        })
    }
}

/// The mean of a facet's corners with some weights.
fn weighted<D: DVector>(corners: &[D], weights: [f64; 3]) -> D {
    let terms = corners.iter().zip(weights);
    terms.fold(D::ZERO, |sum, (corner, weight)| sum + *corner * weight)
}

/// Why a shape takes no part where it is.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum Fault {
    #[error("it has no Transform, or its ancestors are in a loop (or more than 4096)")]
    NoPose,
    #[error("its pose is not finite")]
    NotFinite,
    #[error("its radius is negative or no number")]
    NoShape,
    #[error("its support function answers points that are not the farthest")]
    InsideOut,
    #[error("its scale flattens the half-space")]
    Flattened,
    #[error("its bounds are not finite, or too large for f32")]
    Unbounded,
}
