//! A convex shape in a pose: a part of a collider, or a single shape. `PlacedCollider::part`
//! returns a [`Part`]. [`DynPart::new`] places a shape that is passed to a query.

use core::ops::Deref;
use std::borrow::Cow;

use crate::{
    placed::BoundingRegion,
    shape::{Bounds, HalfSpace, ScaledShape, Shape, ShapeInfo, Support, WorldPose, support_points},
    space::{DVector, Pose, Space},
    tolerance::{ROUNDING, TOUCHING},
};

/// A convex shape in a pose in the world. `S` points to the shape.
pub struct PlacedShape<V: Space, S> {
    /// The index of the part in its collider, or 0 for a single shape.
    pub index: u32,
    /// The region of the world that contains the shape.
    pub region: BoundingRegion<V::DVec>,
    pub world_pose: WorldPose<V::DVec>,
    pub(super) shape: S,
    /// The properties of the shape, including the margin of a compound. Without this field, each
    /// query would have to build a rounded copy of the shape.
    pub(super) info: ShapeInfo<V>,
}

/// A part of a collider.
pub type Part<'a, V> = PlacedShape<V, Cow<'a, Shape<V>>>;

/// A type-erased part of a collider, or a type-erased single shape.
pub type DynPart<'a, V> = PlacedShape<V, &'a (dyn Support<Vector = V> + 'a)>;

/// A type-erased scaled shape.
pub type DynShape<'a, V> = ScaledShape<'a, dyn Support<Vector = V> + 'a>;

impl<V: Space, S: Deref<Target: Support<Vector = V>>> PlacedShape<V, S> {
    /// Returns the scaled shape without its pose.
    pub fn scaled_shape(&self) -> ScaledShape<'_, S::Target> {
        ScaledShape::new(&*self.shape, &self.info, self.world_pose.scale())
    }

    /// Returns the greatest component of the shape's points along a unit vector, relative to an
    /// origin.
    pub fn height(&self, direction: V::DVec, origin: V::DVec) -> f64 {
        let (shape, pose) = (self.scaled_shape(), self.world_pose.pose());
        let highest = shape.lowest(pose.rotation, -direction);
        (pose.translation - origin + highest).dot(direction) + shape.radius()
    }
}

impl<V: Space> Part<'_, V> {
    /// Returns the part with its type erased.
    pub fn as_dyn(&self) -> DynPart<'_, V> {
        PlacedShape {
            index: self.index,
            region: self.region,
            world_pose: self.world_pose,
            shape: &*self.shape,
            info: self.info,
        }
    }
}

/// Returns the half-space of a shape in the world's axes, relative to the shape's translation.
pub(super) fn half_space_of<V: Space>(
    shape: &(impl Support<Vector = V> + ?Sized),
    rotation: <V::DVec as DVector>::Matrix,
) -> Option<HalfSpace<V::DVec>> {
    let half_space = shape.core().half_space()?;
    Some(HalfSpace {
        normal: rotation * half_space.normal,
        // The radius is part of the pair's scale, so the radius increases the touching tolerance.
        ..half_space.raised(shape.radius() * (1.0 + 2.0 * TOUCHING))
    })
}

impl<'a, V: Space> DynPart<'a, V> {
    /// Places a single shape. Returns `None` if the shape is invalid.
    pub fn new(shape: &'a dyn Support<Vector = V>, pose: Pose<V::DVec>) -> Option<Self> {
        let info = ShapeInfo::of(shape);
        if !info.radius.is_finite() {
            return None;
        }
        let region = match half_space_of(shape, pose.rotation) {
            Some(half_space) => BoundingRegion::HalfSpace(half_space),
            None => BoundingRegion::Box(Bounds::around(&shape, &pose)),
        };
        let bounds = region.bounds();
        let is_finite =
            bounds.is_none_or(|bounds| bounds.min.is_finite() && bounds.max.is_finite());
        is_finite.then(|| Self {
            index: 0,
            region,
            world_pose: WorldPose::from_pose(&pose),
            shape,
            info,
        })
    }

    /// Places a point, given as a ball of radius 0, because balls have closed forms.
    pub fn point(ball: &'a Shape<V>, translation: V::DVec) -> Self {
        let margin = translation.extent() * ROUNDING;
        let pose = Pose {
            translation,
            ..Pose::IDENTITY
        };
        Self {
            index: 0,
            region: BoundingRegion::Box(Bounds::at(translation).grown(margin)),
            world_pose: WorldPose::from_pose(&pose),
            shape: ball,
            info: ShapeInfo::of(ball),
        }
    }

    /// Returns a point inside the shape, relative to the translation of its pose.
    pub fn center(&self) -> V::DVec {
        let points = support_points(self.shape);
        self.world_pose.linear() * V::DVec::mean(&points)
    }

    /// Returns the shape as the type that a collider stores: see [`Support::to_shape`].
    pub fn to_shape(&self) -> Option<Shape<V>> {
        self.shape.to_shape()
    }
}
