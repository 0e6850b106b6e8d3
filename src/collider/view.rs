//! Read-only views of a collider's shape.

use core::fmt;

use crate::{
    Collider,
    math::{Vec2, Vec3},
    shape::{
        Cap, ColliderShape, Compound, ConvexHull, Core, DVecOf, Dimension, Parts, Shape, Support,
        Surface,
    },
    space::Space,
};

/// # The shape of a collider
impl Collider {
    /// Returns the shape of a 2D collider, and `None` for a 3D or an inert one.
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

    /// Returns the shape of a 3D collider, and `None` for a 2D or an inert one.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{Collider, ShapeKind, ShapeView};
    ///
    /// let collider = Collider::cuboid(2.0, 4.0, 6.0);
    /// let Some(ShapeView::Convex(shape)) = collider.shape_3d() else {
    ///     panic!("a cuboid is a convex 3D shape");
    /// };
    /// assert!(matches!(shape.kind(), ShapeKind::Box { half_size: Vec3 { z: 3.0, .. } }));
    /// ```
    pub fn shape_3d(&self) -> Option<ShapeView<'_, Vec3>> {
        self.shape_in()
    }

    fn shape_in<V: Dimension>(&self) -> Option<ShapeView<'_, V>> {
        Some(match V::body_of(self.shape().ok()??)? {
            ColliderShape::Convex(shape) => ShapeView::Convex(ConvexView::new(shape, 0.0)),
            ColliderShape::Compound(compound) => match compound.parts() {
                (Parts::Shapes(_), _) => ShapeView::Compound(CompoundView(compound)),
                (Parts::Surface(surface), _) => {
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
    /// A polyline, a mesh or a height field.
    Surface(SurfaceView<'a, V>),
}

/// A convex shape of a [`Collider`]. It implements [`Support`], so the functions of
/// [`query`](crate::query) take it.
#[derive(Clone, Copy)]
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

    /// Returns the margin around the shape, 0 if there is none. (The margin of a ball or a capsule
    /// is part of its radius, unless it is the margin of a compound.)
    pub fn margin(&self) -> f32 {
        self.margin
    }

    /// Returns the kind of the shape, without the margin.
    pub fn kind(&self) -> ShapeKind<'a, V> {
        match *self.shape {
            Shape::Ball { radius } => ShapeKind::Ball { radius },
            Shape::Capsule {
                half_length,
                radius,
            } => ShapeKind::Capsule {
                half_length,
                radius,
            },
            Shape::Box { half_size } => ShapeKind::Box { half_size },
            Shape::Diamond { half_diagonals } => ShapeKind::Diamond { half_diagonals },
            Shape::Ellipsoid { half_size } => ShapeKind::Ellipsoid { half_size },
            Shape::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => ShapeKind::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            },
            Shape::Cap(Cap {
                radius,
                half_angle,
                pointed,
                ..
            }) => ShapeKind::Cap {
                radius,
                half_angle,
                pointed,
            },
            Shape::Segment(vertices) => ShapeKind::Segment(vertices),
            Shape::Triangle(vertices) => ShapeKind::Triangle(vertices),
            Shape::Tetrahedron(vertices) => ShapeKind::Tetrahedron(vertices),
            Shape::Hull(ref hull) => ShapeKind::Hull(hull),
            Shape::Extrusion {
                ref base,
                half_depth,
            } => ShapeKind::Extrusion {
                base: ConvexView::new(base, 0.0),
                half_depth,
            },
            Shape::HalfSpace { normal } => ShapeKind::HalfSpace { normal },
            Shape::Rounded { ref shape, .. } => ConvexView::new(shape, 0.0).kind(),
            Shape::Custom(ref shape) => ShapeKind::Custom(&**shape),
        }
    }
}

impl<V: Space> fmt::Debug for ConvexView<'_, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{:?}", self.shape)?;
        if self.margin > 0.0 {
            write!(formatter, " with a margin of {}", self.margin)?;
        }
        Ok(())
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

/// The kinds of convex shapes. Balls, capsules, boxes, diamonds, ellipsoids and frustums are
/// centered on the origin. Capsules, frustums and caps have y as their axis, and the circle of a cap
/// is centered on the origin.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum ShapeKind<'a, V: Space> {
    /// A circle or a sphere.
    Ball {
        /// The radius.
        radius: f32,
    },
    /// A capsule.
    Capsule {
        /// Half of the distance between the centers of its ends.
        half_length: f32,
        /// The radius.
        radius: f32,
    },
    /// A rectangle or a cuboid.
    Box {
        /// Half of the lengths along the axes.
        half_size: V,
    },
    /// A rhombus.
    Diamond {
        /// Half of the diagonals.
        half_diagonals: V,
    },
    /// An ellipse.
    Ellipsoid {
        /// Half of the lengths along the axes.
        half_size: V,
    },
    /// A cylinder, a cone or a conical frustum.
    Frustum {
        /// Half of the height.
        half_height: f32,
        /// The radius at the top.
        radius_top: f32,
        /// The radius at the bottom.
        radius_bottom: f32,
    },
    /// A circular sector if it is pointed, and otherwise a circular segment.
    Cap {
        /// The radius of the circle.
        radius: f32,
        /// Half of the angle of the arc.
        half_angle: f32,
        /// `true` for a sector.
        pointed: bool,
    },
    /// A segment, by its ends.
    Segment([V; 2]),
    /// A triangle, by its vertices.
    Triangle([V; 3]),
    /// The hull of four points.
    Tetrahedron([V; 4]),
    /// A convex hull, also of a polygon. [`ConvexHull::points`] returns its vertices.
    Hull(&'a ConvexHull<V>),
    /// A 2D shape, extruded along z in both directions.
    Extrusion {
        /// The 2D shape.
        base: ConvexView<'a, Vec2>,
        /// Half of the length along z.
        half_depth: f32,
    },
    /// All points on the plane through the origin, and behind it.
    HalfSpace {
        /// The normal as it was given, of any length.
        normal: V,
    },
    /// A shape of [`Collider::custom`].
    Custom(&'a dyn Support<Vector = V>),
}

/// The parts of a [`Collider::compound`].
#[derive(Clone, Copy, Debug)]
pub struct CompoundView<'a, V: Space>(&'a Compound<V>);

impl<'a, V: Space> CompoundView<'a, V> {
    /// Returns the parts in the order of their indices, each with its pose in the collider.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (V::Isometry, ConvexView<'a, V>)> {
        let (parts, margin) = self.0.parts();
        let shapes = match parts {
            Parts::Shapes(shapes) => &**shapes,
            Parts::Surface(_) => &[],
        };
        shapes
            .iter()
            .map(move |(pose, shape)| (V::nearest_isometry(pose), ConvexView::new(shape, margin)))
    }
}

/// The facets of a [`Collider::polyline`], [`Collider::trimesh`] or [`Collider::heightfield`].
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

    /// Returns the indices of the vertices of each facet: two of a segment, three of a triangle.
    pub fn facets(&self) -> impl ExactSizeIterator<Item = &'a [u32]> {
        self.surface.facet_indices()
    }

    /// Returns the margin around the surface, 0 if there is none.
    pub fn margin(&self) -> f32 {
        let (_, margin) = self.compound.parts();
        margin
    }

    /// Returns `true` if only the outer side collides: see [`Collider::one_sided`].
    pub fn is_one_sided(&self) -> bool {
        self.compound.is_one_sided()
    }
}

impl<V: Space> fmt::Debug for SurfaceView<'_, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{:?}", self.compound)
    }
}
