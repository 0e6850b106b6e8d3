//! The exact image of a shape under a linear map. `placed/` calls [`ScaledShape::new`] for each
//! test of a shape in a pose.

use arrayvec::ArrayVec;

use crate::{
    shape::{
        elements::core::{Core, VertexBounds, checked_radius},
        support::{DVecOf, MatrixOf, Support},
    },
    space::{DVector, Space},
};

/// The map that scales a shape before a pose moves it.
///
/// The variants hold references, as does [`ScaledShape`]. Copied values would be read right after
/// being written, with loads of a different width. Such loads stall the processor (failed store
/// forwarding).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale<'a, D: DVector> {
    /// The same factor for all directions, at least 0. This factor scales the radius too.
    Uniform(&'a f64),
    /// Any linear map: non-uniform scale, reflection or shear, combined with the rotation.
    Linear(&'a D::Matrix),
}

/// Properties of a shape that queries read often, stored so that no query has to match on the
/// variant of the shape.
#[derive(Clone, Copy, Debug)]
pub struct ShapeInfo<V> {
    /// The radius around the core, or NaN if the radius is invalid.
    pub radius: f64,
    core: CoreInfo<V>,
}

/// The variant of a [`Core`], and the half extents of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CoreInfo<V> {
    Box { half_extents: V },
    HalfSpace,
    Polygon,
    Opaque,
}

impl<V: Space> ShapeInfo<V> {
    /// Returns the properties of a shape.
    #[inline]
    pub fn of(shape: &(impl Support<Vector = V> + ?Sized)) -> Self {
        Self {
            radius: checked_radius(shape.radius()),
            core: match shape.core() {
                // This conversion is exact, because the half extents come from a shape in f32.
                Core::Box { half_extents } => CoreInfo::Box {
                    half_extents: V::from_f64(half_extents),
                },
                Core::HalfSpace(_) => CoreInfo::HalfSpace,
                Core::Polygon(_) => CoreInfo::Polygon,
                Core::Opaque => CoreInfo::Opaque,
            },
        }
    }

    /// Returns the properties of the shape with a margin around it.
    pub fn with_margin(mut self, margin: f64) -> Self {
        self.radius += margin;
        self
    }

    /// Returns the radius of a sphere around the shape's origin that contains the shape, or
    /// infinity for shapes other than boxes, segments and points.
    pub fn bounding_radius(&self) -> f64 {
        match self.core {
            CoreInfo::Box { half_extents } => half_extents.to_f64().length() + self.radius,
            _ => f64::INFINITY,
        }
    }

    /// Returns `true` for a half-space, even if a scale of 0 makes the half-space invalid.
    pub fn is_half_space(&self) -> bool {
        matches!(self.core, CoreInfo::HalfSpace)
    }
}

/// The image of a shape under a [`Scale`]. The image is exact for every shape, because the image's
/// support function is computed from the shape's support function.
///
/// For the image M S of a set S, max { d · M x | x in S } equals max { (Mᵀ d) · x | x in S }. So
/// the support point of the image is M applied to the support point of S in direction Mᵀ d.
#[derive(Clone, Copy, Debug)]
pub struct ScaledShape<'a, S: Support + ?Sized> {
    shape: &'a S,
    info: &'a ShapeInfo<S::Vector>,
    scale: Scale<'a, DVecOf<S>>,
}

impl<'a, S: Support + ?Sized> ScaledShape<'a, S> {
    /// Returns the image of `shape`, whose properties are `info`.
    #[inline]
    pub fn new(shape: &'a S, info: &'a ShapeInfo<S::Vector>, scale: Scale<'a, DVecOf<S>>) -> Self {
        Self { shape, info, scale }
    }

    /// Returns the point of the rotated core that is lowest along `direction`. The point is
    /// relative to the shape's origin, in the same axes as `direction`.
    pub fn lowest(&self, rotation: MatrixOf<S>, direction: DVecOf<S>) -> DVecOf<S> {
        let inverse = DVecOf::<S>::transpose(rotation);
        rotation * self.support(-(inverse * direction))
    }

    /// Returns the directions of the edges of a box, or of the core of a rounded box, in the frame
    /// of the pose. The directions may have any length. A segment has one direction, and a point
    /// has none. For other shapes, and for a rounded box under [`Scale::Linear`], the list is
    /// empty.
    pub fn box_edges(&self) -> ArrayVec<DVecOf<S>, 3> {
        let is_box = matches!(self.scale, Scale::Uniform(_)) || self.info.radius <= 0.0;
        let CoreInfo::Box { half_extents } = self.info.core else {
            return ArrayVec::new();
        };
        let half_extents = half_extents.to_f64();
        let indices = (0..DVecOf::<S>::DIMENSION).filter(|_| is_box);
        let edges = indices.filter(|index| half_extents.component(*index) > 0.0);
        edges
            .map(|index| match self.scale {
                Scale::Uniform(_) => DVecOf::<S>::axis(index),
                Scale::Linear(&matrix) => DVecOf::<S>::column(matrix, index),
            })
            .collect()
    }
}

impl<S: Support + ?Sized> Support for ScaledShape<'_, S> {
    type Vector = S::Vector;

    #[inline]
    fn support(&self, direction: DVecOf<S>) -> DVecOf<S> {
        match self.scale {
            Scale::Uniform(&factor) => self.shape.support(direction) * factor,
            Scale::Linear(&matrix) => {
                // The image of a ball is an ellipsoid, so the radius becomes part of the core. If
                // Mᵀ d is 0, all points of the image are equally far, so any direction is correct.
                let inner = DVecOf::<S>::transpose(matrix) * direction;
                let unit = inner.unit().unwrap_or(DVecOf::<S>::axis(0));
                matrix * (self.shape.support(unit) + unit * self.info.radius)
            }
        }
    }

    #[inline]
    fn radius(&self) -> f64 {
        match self.scale {
            Scale::Uniform(&factor) => self.info.radius * factor,
            Scale::Linear(_) => 0.0,
        }
    }

    // This function is inlined, because a caller that needs only one variant of the core then never
    // builds the other variants.
    #[inline(always)]
    fn core(&self) -> Core<'_, DVecOf<S>> {
        match (self.info.core, self.scale) {
            (CoreInfo::Opaque, _)
            | (CoreInfo::Box { .. } | CoreInfo::Polygon, Scale::Linear(_)) => Core::Opaque,
            (CoreInfo::Box { half_extents }, Scale::Uniform(&factor)) => Core::Box {
                half_extents: half_extents.to_f64() * factor,
            },
            (CoreInfo::Polygon, Scale::Uniform(&factor)) => {
                let scaled = self.shape.core().polygon();
                let scaled = scaled.and_then(|polygon| polygon.scaled(factor));
                scaled.map_or(Core::Opaque, Core::Polygon)
            }
            (CoreInfo::HalfSpace, scale) => {
                let half_space = self.shape.core().half_space();
                let scaled = half_space.and_then(|half_space| match scale {
                    Scale::Uniform(&factor) => Some(half_space.scaled(factor)),
                    // The scale is not uniform, so the margin is added to the core before scaling.
                    // `support` adds the radius in the same way.
                    Scale::Linear(&matrix) => half_space.raised(self.info.radius).image(matrix),
                });
                scaled.map_or(Core::Opaque, Core::HalfSpace)
            }
        }
    }

    #[inline]
    fn vertex_bounds(&self, linear: MatrixOf<Self>) -> Option<VertexBounds<DVecOf<S>>> {
        match self.scale {
            Scale::Uniform(&factor) => self.shape.vertex_bounds(linear * factor),
            // A radius would be part of the core, which then has no vertices.
            Scale::Linear(&matrix) if self.info.radius <= 0.0 => {
                self.shape.vertex_bounds(linear * matrix)
            }
            Scale::Linear(_) => None,
        }
    }
}
