//! The kinds of convex shapes, for views and for files.

use std::sync::Arc;

use crate::{
    math::Vec2,
    shape::{Cap, ConvexHull, Dimension, Shape, Support},
};

/// The kinds of convex shapes. Balls, capsules, boxes, diamonds, ellipsoids and frustums are
/// centered on the origin. Capsules, frustums and caps have y as their axis, and the circle of a
/// cap is centered on the origin.
///
/// A saved collider contains these variants under these names.
// In binary formats, the order of the variants is part of the format.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound = "V: super::serialize::SerializeSpace", deny_unknown_fields)
)]
#[non_exhaustive]
pub enum ShapeKind<V: Dimension> {
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
    #[cfg_attr(feature = "serialize", serde(with = "super::serialize::hull"))]
    Hull(ConvexHull<V>),
    /// All points on the plane through the origin, and behind it.
    HalfSpace {
        /// The normal as it was given, of any length.
        normal: V,
    },
    /// An [`ExtrudedShape`], which only 3D has.
    Extrusion(V::Extrusion),
    /// A shape of [`Collider::custom`](crate::Collider::custom).
    #[cfg_attr(
        feature = "serialize",
        serde(serialize_with = "super::serialize::refuse_custom", skip_deserializing)
    )]
    Custom(Arc<dyn Support<Vector = V> + Send + Sync>),
}

/// A 2D shape, extruded along z in both directions.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct ExtrudedShape {
    pub(crate) base: Shape<Vec2>,
    /// Half of the length along z.
    pub half_depth: f32,
}

/// A type without values, because there are no extrusions in 2D.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum NoExtrusion {}

impl<V: Dimension> Shape<V> {
    /// Returns the kind of the shape without its margin.
    pub fn kind(&self) -> ShapeKind<V> {
        match *self {
            Self::Ball { radius } => ShapeKind::Ball { radius },
            Self::Capsule {
                half_length,
                radius,
            } => ShapeKind::Capsule {
                half_length,
                radius,
            },
            Self::Box { half_size } => ShapeKind::Box { half_size },
            Self::Diamond { half_diagonals } => ShapeKind::Diamond { half_diagonals },
            Self::Ellipsoid { half_size } => ShapeKind::Ellipsoid { half_size },
            Self::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => ShapeKind::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            },
            Self::Cap(Cap {
                radius,
                half_angle,
                pointed,
                ..
            }) => ShapeKind::Cap {
                radius,
                half_angle,
                pointed,
            },
            Self::Segment(vertices) => ShapeKind::Segment(vertices),
            Self::Triangle(vertices) => ShapeKind::Triangle(vertices),
            Self::Tetrahedron(vertices) => ShapeKind::Tetrahedron(vertices),
            Self::Hull(ref hull) => ShapeKind::Hull(hull.clone()),
            Self::HalfSpace { normal } => ShapeKind::HalfSpace { normal },
            Self::Extrusion {
                ref base,
                half_depth,
            } => V::extrusion(base, half_depth),
            Self::Rounded { ref shape, .. } => shape.kind(),
            Self::Custom(ref shape) => ShapeKind::Custom(shape.clone()),
        }
    }
}
