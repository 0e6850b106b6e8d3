//! One side of a query: a collider or a shape, as a list of convex parts.

use crate::{
    pipeline::proxy::{BoundingRegion, DynShape, Part, Proxy},
    query::Pair,
    shape::{Bounds, HalfSpace, ScaledShape, Shape, ShapeInfo, Support, WorldPose},
    space::{DVector, Pose, Space},
    tolerance::{ROUNDING, TOUCHING},
};

/// One side of a query.
#[derive(Clone, Copy)]
pub enum Side<'a, V: Space> {
    Collider(&'a Proxy<V>),
    Shape(&'a LoneShape<'a, V>),
}

impl<'a, V: Space> From<&'a Proxy<V>> for Side<'a, V> {
    fn from(proxy: &'a Proxy<V>) -> Self {
        Self::Collider(proxy)
    }
}

impl<'a, V: Space> From<&'a LoneShape<'a, V>> for Side<'a, V> {
    fn from(shape: &'a LoneShape<'a, V>) -> Self {
        Self::Shape(shape)
    }
}

/// A convex shape in a pose.
pub struct LoneShape<'a, V: Space> {
    shape: &'a dyn Support<Vector = V>,
    info: ShapeInfo<V>,
    world_pose: WorldPose<V::DVec>,
    region: BoundingRegion<V::DVec>,
}

impl<'a, V: Space> LoneShape<'a, V> {
    /// Returns a point: a ball of radius 0, which has closed forms.
    pub fn point(ball: &'a Shape<V>, translation: V::DVec) -> Self {
        let margin = translation.extent() * ROUNDING;
        let (min, max) = (translation, translation);
        let pose = Pose {
            rotation: V::DVec::IDENTITY,
            translation,
        };
        Self {
            shape: ball,
            info: ShapeInfo::of(ball),
            world_pose: WorldPose::from_pose(&pose),
            region: BoundingRegion::Box(Bounds { min, max }.grown(margin)),
        }
    }

    /// Returns `None` if the shape is invalid.
    pub fn new(shape: &'a dyn Support<Vector = V>, pose: Pose<V::DVec>) -> Option<Self> {
        let info = ShapeInfo::of(shape);
        if !info.radius.is_finite() {
            return None;
        }
        let region = match shape.core().half_space() {
            Some(half_space) => BoundingRegion::HalfSpace(HalfSpace {
                normal: pose.rotation * half_space.normal,
                ..half_space.raised(info.radius * (1.0 + 2.0 * TOUCHING))
            }),
            None => {
                let bounds = Bounds::around(&shape, &pose);
                if !bounds.min.is_finite() || !bounds.max.is_finite() {
                    return None;
                }
                BoundingRegion::Box(bounds)
            }
        };
        Some(Self {
            shape,
            info,
            world_pose: WorldPose::from_pose(&pose),
            region,
        })
    }

    /// Returns the shape as the type that a collider stores: see [`Support::to_shape`].
    pub fn to_shape(&self) -> Option<Shape<V>> {
        self.shape.to_shape()
    }

    pub fn world_pose(&self) -> WorldPose<V::DVec> {
        self.world_pose
    }

    /// Returns the region of the world that contains the shape.
    pub fn region(&self) -> &BoundingRegion<V::DVec> {
        &self.region
    }

    fn scaled_shape(&self) -> DynShape<'_, V> {
        ScaledShape::new(self.shape, &self.info, self.world_pose.scale())
    }
}

impl<'a, V: Space> Side<'a, V> {
    /// Returns the region of the world that contains this side.
    pub fn region(&self) -> Option<BoundingRegion<V::DVec>> {
        match self {
            Self::Collider(proxy) => proxy.region().ok(),
            Self::Shape(shape) => Some(shape.region),
        }
    }

    /// Returns the position of the origin.
    pub fn translation(&self) -> V::DVec {
        match self {
            Self::Collider(proxy) => proxy.world_pose.translation,
            Self::Shape(shape) => shape.world_pose.translation,
        }
    }

    /// Returns the scaled shape and its pose, or `None` for a compound.
    #[inline]
    pub fn convex(&self) -> Option<(DynShape<'a, V>, Pose<V::DVec>)> {
        match self {
            Self::Collider(proxy) => Some((proxy.dyn_shape()?, proxy.world_pose.pose())),
            Self::Shape(shape) => Some((shape.scaled_shape(), shape.world_pose.pose())),
        }
    }

    /// Returns the part with an index.
    pub fn part(&self, index: u32) -> Option<SidePart<'a, V>> {
        match self {
            Self::Collider(proxy) => proxy.part(index).map(SidePart::Part),
            Self::Shape(shape) => Some(SidePart::Shape(shape)),
        }
    }

    /// See [`Proxy::search`].
    pub fn search(
        &self,
        limit: f64,
        bound: impl Fn(&Bounds<V::DVec>) -> f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        match self {
            Self::Collider(proxy) => proxy.search(limit, bound, visit),
            Self::Shape(_) => {
                visit(0);
            }
        }
    }

    /// See [`Proxy::search_nearest`].
    pub fn search_nearest(
        &self,
        region: &BoundingRegion<V::DVec>,
        origin: V::DVec,
        limit: f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        match self {
            Self::Collider(proxy) => proxy.search_nearest(region, origin, limit, visit),
            Self::Shape(_) => {
                visit(0);
            }
        }
    }
}

/// A convex part of a [`Side`].
pub enum SidePart<'a, V: Space> {
    Part(Part<'a, V>),
    Shape(&'a LoneShape<'a, V>),
}

impl<V: Space> SidePart<'_, V> {
    /// Returns the region of the world that contains the part.
    pub fn region(&self) -> &BoundingRegion<V::DVec> {
        match self {
            Self::Part(part) => &part.region,
            Self::Shape(shape) => &shape.region,
        }
    }

    pub fn pose(&self) -> Pose<V::DVec> {
        match self {
            Self::Part(part) => part.world_pose.pose(),
            Self::Shape(shape) => shape.world_pose.pose(),
        }
    }

    /// Returns the scaled shape in the frame of its pose.
    pub fn scaled_shape(&self) -> DynShape<'_, V> {
        match self {
            Self::Part(part) => part.dyn_shape(),
            Self::Shape(lone) => lone.scaled_shape(),
        }
    }
}

/// Calls `query` with the pair of two parts.
pub fn with_pair<V: Space, R>(
    [a, b]: [&SidePart<V>; 2],
    query: impl FnOnce(Pair<DynShape<V>, DynShape<V>>) -> R,
) -> R {
    let (shape_a, shape_b) = (a.scaled_shape(), b.scaled_shape());
    query(Pair::new(&shape_a, a.pose(), &shape_b, b.pose()))
}
