//! Read-only views of a collider's shape. `debug/` and `picking.rs` call [`Collider::shape_2d`] and
//! [`Collider::shape_3d`].

use core::fmt;

use crate::{
    Collider,
    math::{Vec2, Vec3},
    shape::{
        ColliderShape, Compound, CompoundParts, Core, DVecOf, Dimension, Shape, Support, Surface,
    },
    space::{Pose, Space},
};

/// # The shape of a collider
impl Collider {
    /// Returns the shape of a 2D collider, or `None` if the collider is 3D or inert.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{Collider, ShapeView};
    ///
    /// let walls = Collider::polyline([Vec2::ZERO, Vec2::X, Vec2::ONE]);
    /// let Some(ShapeView::Surface(surface)) = walls.shape_2d() else {
    ///     panic!("a polyline is a 2D surface");
    /// };
    /// for ends in surface.facets() {
    ///     let [start, end] = [0, 1].map(|end| surface.vertices()[ends[end] as usize]);
    ///     assert_eq!(start.distance(end), 1.0);
    /// }
    /// ```
    pub fn shape_2d(&self) -> Option<ShapeView<'_, Vec2>> {
        self.shape_in()
    }

    /// Returns the shape of a 3D collider, or `None` if the collider is 2D or inert.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{Collider, Shape, ShapeView};
    ///
    /// let collider = Collider::cuboid(2.0, 4.0, 6.0);
    /// let Some(ShapeView::Convex(shape)) = collider.shape_3d() else {
    ///     panic!("a cuboid is a convex 3D shape");
    /// };
    /// assert!(matches!(shape.shape(), Shape::Box { half_size: Vec3 { z: 3.0, .. } }));
    /// ```
    pub fn shape_3d(&self) -> Option<ShapeView<'_, Vec3>> {
        self.shape_in()
    }

    fn shape_in<V: Dimension>(&self) -> Option<ShapeView<'_, V>> {
        Some(match V::body_of(self.shape())? {
            ColliderShape::Convex(shape) => ShapeView::Convex(shape.into()),
            ColliderShape::Compound(compound) => match compound.parts() {
                (CompoundParts::Shapes(parts), margin) => {
                    ShapeView::Compound(CompoundView { parts, margin })
                }
                (CompoundParts::Surface(surface), _) => {
                    ShapeView::Surface(SurfaceView { compound, surface })
                }
            },
        })
    }
}

/// The shape of a [`Collider`], in 2D or 3D: see [`Collider::shape_2d`] and
/// [`Collider::shape_3d`].
#[derive(Clone, Copy, Debug)]
pub enum ShapeView<'a, V: Space> {
    /// One convex shape.
    Convex(ConvexView<'a, V>),
    /// Several convex shapes.
    Compound(CompoundView<'a, V>),
    /// A polyline, a mesh, a height field, or the exposed faces of [`Collider::cells`] and
    /// [`Collider::joined`].
    Surface(SurfaceView<'a, V>),
}

/// A convex shape of a [`Collider`]. The view implements [`Support`], so the functions of
/// [`query`](crate::query) accept it.
#[derive(Clone, Copy, Debug)]
pub struct ConvexView<'a, V: Space> {
    /// The shape without its margin.
    shape: &'a Shape<V>,
    margin: f32,
}

impl<'a, V: Space> ConvexView<'a, V> {
    fn new(shape: &'a Shape<V>, margin: f32) -> Self {
        match shape {
            Shape::Rounded {
                shape,
                margin: inner,
            } => Self::new(shape, inner + margin),
            _ => Self { shape, margin },
        }
    }

    /// Returns the margin around the shape, or 0 for a shape without a margin. The margin of a ball
    /// or a capsule is part of its radius, unless the margin belongs to a compound.
    pub fn margin(&self) -> f32 {
        self.margin
    }

    /// Returns the shape without its margin. The result is never [`Shape::Rounded`].
    pub fn shape(&self) -> &'a Shape<V> {
        self.shape
    }
}

impl<'a, V: Space> From<&'a Shape<V>> for ConvexView<'a, V> {
    fn from(shape: &'a Shape<V>) -> Self {
        Self::new(shape, 0.0)
    }
}

impl<V: Space> Support for ConvexView<'_, V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        self.shape.support(direction)
    }

    fn radius(&self) -> f64 {
        self.shape.radius() + f64::from(self.margin)
    }

    fn core(&self) -> Core<'_, DVecOf<Self>> {
        self.shape.core()
    }

    fn to_shape(&self) -> Option<Shape<V>> {
        let shape = self.shape.clone();
        if self.margin > 0.0 {
            shape.rounded(self.margin).ok()
        } else {
            Some(shape)
        }
    }
}

/// The parts of a [`Collider::compound`].
#[derive(Clone, Copy, Debug)]
pub struct CompoundView<'a, V: Space> {
    parts: &'a [(Pose<V::DVec>, Shape<V>)],
    margin: f32,
}

impl<'a, V: Space> CompoundView<'a, V> {
    /// Returns the parts in the order of their indices, each with its pose in the collider.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (V::Isometry, ConvexView<'a, V>)> {
        let Self { parts, margin } = *self;
        let part = move |shape| ConvexView::new(shape, margin);
        let parts = parts.iter();
        parts.map(move |(pose, shape)| (V::nearest_isometry(pose), part(shape)))
    }
}

/// The facets of a [`Collider::polyline`], [`Collider::trimesh`], [`Collider::heightfield`],
/// [`Collider::cells`] or [`Collider::joined`]. The facets of [`Collider::cells`] and
/// [`Collider::joined`] are the exposed faces.
#[derive(Clone, Copy)]
pub struct SurfaceView<'a, V: Space> {
    compound: &'a Compound<V>,
    surface: &'a Surface<V>,
}

impl<'a, V: Space> SurfaceView<'a, V> {
    /// Returns the vertices.
    pub fn vertices(&self) -> &'a [V] {
        self.surface.vertices()
    }

    /// Returns the indices of the vertices of each facet: two for a segment, three for a triangle.
    pub fn facets(&self) -> impl ExactSizeIterator<Item = &'a [u32]> {
        self.surface.facet_indices()
    }

    /// Returns the margin around the surface, or 0 if there is none.
    pub fn margin(&self) -> f32 {
        let (_, margin) = self.compound.parts();
        margin
    }

    /// Returns `true` if only the outer side collides: see [`Collider::one_sided`]. The result is
    /// always `true` for [`Collider::cells`] and [`Collider::joined`].
    pub fn is_one_sided(&self) -> bool {
        self.compound.is_one_sided()
    }
}

impl<V: Space> fmt::Debug for SurfaceView<'_, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{:?}", self.compound)
    }
}
