//! The enum of all convex shapes that a collider can hold, for both dimensions.

use core::fmt;
use std::sync::Arc;

use crate::{
    math::{Vec2, Vec3},
    shape::{
        Compound, ConvexHull, ShapeError,
        chord::{self, ChordResult, NoClosedForm},
        core::{Core, VertexBounds, checked_radius},
        extrusion,
        half_space::HalfSpace,
        kind::{ExtrudedShape, NoExtrusion, ShapeKind},
        line::Line,
        points::{farthest, vertex_bounds},
        support::{MatrixOf, Support},
        support_fns::{Cap, diamond, ellipsoid, frustum},
    },
    space::{DVector, Space},
};

/// The checked shape of a collider, in either dimension.
#[derive(Clone, Debug)]
pub enum AnyColliderShape {
    D2(ColliderShape<Vec2>),
    D3(ColliderShape<Vec3>),
}

/// The checked shape of a collider.
#[derive(Clone, Debug)]
pub enum ColliderShape<V: Space> {
    Convex(Shape<V>),
    Compound(Arc<Compound<V>>),
}

impl<V: Space> ColliderShape<V> {
    /// Returns `true` for a surface, which consists of facets.
    pub fn is_surface(&self) -> bool {
        match self {
            Self::Convex(_) => false,
            Self::Compound(compound) => compound.surface().is_some(),
        }
    }

    /// Adds a margin, or returns an error if the margin is invalid.
    pub fn rounded(self, margin: f32) -> Result<Self, ShapeError> {
        Ok(match self {
            Self::Convex(shape) => Self::Convex(shape.rounded(margin)?),
            Self::Compound(compound) => Self::Compound(Arc::new(compound.rounded(margin)?)),
        })
    }

    /// Returns a surface with only its outer side colliding, and any other shape unchanged.
    pub fn one_sided(self) -> Self {
        match self {
            Self::Compound(compound) if compound.surface().is_some() => {
                Self::Compound(Arc::new(compound.one_sided()))
            }
            _ => self,
        }
    }
}

/// A space whose shapes a [`Collider`](crate::Collider) can hold: `Vec2` or `Vec3`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither `Vec2` nor `Vec3`",
    note = "pass points by value: `.iter().copied()` turns references into values"
)]
pub trait Dimension: Space {
    /// Wraps a shape of this dimension.
    #[doc(hidden)]
    fn any(body: ColliderShape<Self>) -> AnyColliderShape;

    /// Returns the shape if it is of this dimension.
    #[doc(hidden)]
    fn body_of(body: &AnyColliderShape) -> Option<&ColliderShape<Self>>;

    /// The extrusions of 2D shapes, which only 3D has.
    #[doc(hidden)]
    type Extrusion: Clone + fmt::Debug;

    /// Returns the kind of an extrusion. In 2D, returns the kind of the base.
    #[doc(hidden)]
    fn extrusion(base: &Shape<Vec2>, half_depth: f32) -> ShapeKind<Self>;
}

impl Dimension for Vec2 {
    fn any(body: ColliderShape<Self>) -> AnyColliderShape {
        AnyColliderShape::D2(body)
    }

    fn body_of(body: &AnyColliderShape) -> Option<&ColliderShape<Self>> {
        match body {
            AnyColliderShape::D2(body) => Some(body),
            AnyColliderShape::D3(_) => None,
        }
    }

    type Extrusion = NoExtrusion;

    fn extrusion(base: &Shape<Vec2>, _: f32) -> ShapeKind<Self> {
        base.kind()
    }
}

impl Dimension for Vec3 {
    fn any(body: ColliderShape<Self>) -> AnyColliderShape {
        AnyColliderShape::D3(body)
    }

    fn body_of(body: &AnyColliderShape) -> Option<&ColliderShape<Self>> {
        match body {
            AnyColliderShape::D2(_) => None,
            AnyColliderShape::D3(body) => Some(body),
        }
    }

    type Extrusion = ExtrudedShape;

    fn extrusion(base: &Shape<Vec2>, half_depth: f32) -> ShapeKind<Self> {
        ShapeKind::Extrusion(ExtrudedShape {
            base: base.clone(),
            half_depth,
        })
    }
}

/// A convex shape. Both dimensions share the variants: a circle and a sphere are a ball, a
/// rectangle and a cuboid are a box.
#[derive(Clone, Debug)]
pub enum Shape<V: Space> {
    /// All points within `radius` of the origin.
    Ball { radius: f32 },
    /// All points within `radius` of a segment along y.
    Capsule { half_length: f32, radius: f32 },
    /// The box from -`half_size` to `half_size`.
    Box { half_size: V },
    /// The hull of the points at ±`half_diagonals` on the axes: a rhombus or an octahedron.
    Diamond { half_diagonals: V },
    /// The unit ball, scaled by `half_size` along the axes.
    Ellipsoid { half_size: V },
    /// The hull of two discs normal to y, at `half_height` and -`half_height`: a cylinder, a cone
    /// or a conical frustum. In 2D, a trapezoid.
    Frustum {
        half_height: f32,
        radius_top: f32,
        radius_bottom: f32,
    },
    /// A part of a ball, symmetric around y. In 2D, a circular segment or sector.
    Cap(Cap),
    /// A segment by its ends.
    Segment([V; 2]),
    /// A triangle by its vertices.
    Triangle([V; 3]),
    /// The hull of four points.
    Tetrahedron([V; 4]),
    /// The hull of points.
    Hull(ConvexHull<V>),
    /// A 2D shape, extruded along z in both directions. In 2D, the shape itself.
    Extrusion {
        base: Arc<Shape<Vec2>>,
        half_depth: f32,
    },
    /// All points on or behind the plane through the origin with this normal.
    HalfSpace { normal: V },
    /// All points within `margin` of a shape.
    Rounded { shape: Arc<Self>, margin: f32 },
    /// A user's own shape.
    Custom(Arc<dyn Support<Vector = V> + Send + Sync>),
}

// Always inlined: the variant of a primitive is known, so only the code of that variant remains.
impl<V: Space> Support for Shape<V> {
    type Vector = V;

    #[inline(always)]
    fn support(&self, direction: V::DVec) -> V::DVec {
        match self {
            Self::Ball { .. } => V::DVec::ZERO,
            // The farther end of the segment, or the upper end if both are equally far.
            Self::Capsule { half_length, .. } => {
                let half_length = f64::from(half_length.abs());
                let upward = direction.component(1) >= 0.0;
                V::DVec::axis(1) * if upward { half_length } else { -half_length }
            }
            Self::Box { half_size } => half_size.to_f64().copysign(direction),
            Self::Diamond { half_diagonals } => diamond(half_diagonals.to_f64(), direction),
            Self::Ellipsoid { half_size } => ellipsoid(half_size.to_f64(), direction),
            Self::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => frustum(
                (*half_height).into(),
                (*radius_top).into(),
                (*radius_bottom).into(),
                direction,
            ),
            Self::Cap(cap) => cap.support(direction),
            Self::Segment(vertices) => farthest(vertices, direction),
            Self::Triangle(vertices) => farthest(vertices, direction),
            Self::Tetrahedron(vertices) => farthest(vertices, direction),
            Self::Hull(hull) => hull.support(direction),
            Self::Extrusion { base, half_depth } => {
                extrusion::support::<V>(base, *half_depth, direction)
            }
            // A half-space has no support point.
            Self::HalfSpace { .. } => V::DVec::ZERO * f64::NAN,
            Self::Rounded { shape, .. } => shape.support(direction),
            Self::Custom(shape) => shape.support(direction),
        }
    }

    #[inline(always)]
    fn radius(&self) -> f64 {
        match self {
            Self::Ball { radius } | Self::Capsule { radius, .. } => f64::from(*radius),
            Self::Rounded { shape, margin } => checked_radius(shape.radius()) + f64::from(*margin),
            Self::Custom(shape) => shape.radius(),
            Self::Box { .. }
            | Self::Diamond { .. }
            | Self::Ellipsoid { .. }
            | Self::Frustum { .. }
            | Self::Cap(_)
            | Self::Segment(_)
            | Self::Triangle(_)
            | Self::Tetrahedron(_)
            | Self::Hull(_)
            | Self::Extrusion { .. }
            | Self::HalfSpace { .. } => 0.0,
        }
    }

    #[inline(always)]
    fn core(&self) -> Core<'_, V::DVec> {
        match self {
            Self::Hull(hull) => hull.core(),
            Self::Rounded { shape, .. } => shape.core(),
            Self::Custom(shape) => shape.core(),
            _ => self.simple_core(),
        }
    }

    fn to_shape(&self) -> Option<Self> {
        Some(self.clone())
    }

    #[inline(always)]
    fn vertex_bounds(&self, linear: MatrixOf<Self>) -> Option<VertexBounds<V::DVec>> {
        match self {
            Self::Segment(points) => Some(vertex_bounds(points, linear)),
            Self::Triangle(points) => Some(vertex_bounds(points, linear)),
            Self::Tetrahedron(points) => Some(vertex_bounds(points, linear)),
            Self::Hull(hull) => hull.vertex_bounds(linear),
            Self::Rounded { shape, .. } => shape.vertex_bounds(linear),
            _ => None,
        }
    }

    fn chord(&self, line: &Line<V::DVec>, margin: f64) -> ChordResult<V::DVec> {
        match self {
            Self::Rounded {
                shape,
                margin: inner,
            } => return shape.chord(line, margin + f64::from(*inner)),
            Self::Custom(shape) => return shape.chord(line, margin),
            Self::Hull(hull) => return hull.chord(line, margin),
            // The closed form of each shape is the closed form of its core.
            Self::Ball { .. }
            | Self::Capsule { .. }
            | Self::Box { .. }
            | Self::HalfSpace { .. } => {
                return chord::of_core(self.simple_core(), self.radius() + margin, line);
            }
            _ if margin > 0.0 => return Err(NoClosedForm),
            _ => {}
        }
        match self {
            Self::Diamond { half_diagonals } => chord::of_diamond(half_diagonals.to_f64(), line),
            Self::Ellipsoid { half_size } => chord::of_ellipsoid(half_size.to_f64(), line),
            Self::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => chord::of_frustum([*half_height, *radius_top, *radius_bottom], line),
            Self::Cap(cap) => chord::of_cap(cap, line),
            Self::Segment(vertices) if V::DVec::DIMENSION == 2 => chord::of_facet(vertices, line),
            Self::Triangle(vertices) if V::DVec::DIMENSION == 3 => chord::of_facet(vertices, line),
            Self::Tetrahedron(vertices) => chord::of_tetrahedron(vertices, line),
            Self::Extrusion { base, half_depth } => {
                extrusion::chord(base, (*half_depth).into(), line)
            }
            _ => Err(NoClosedForm),
        }
    }
}

impl<V: Space> Shape<V> {
    /// Returns the core of a shape that holds no hull and no other shape. Returns [`Core::Opaque`]
    /// for all others.
    #[inline(always)]
    pub(super) fn simple_core(&self) -> Core<'static, V::DVec> {
        let half_extents = match self {
            Self::Ball { .. } => V::DVec::ZERO,
            Self::Capsule { half_length, .. } => V::DVec::axis(1) * f64::from(half_length.abs()),
            Self::Box { half_size } => half_size.to_f64().copysign(V::DVec::ONE),
            Self::HalfSpace { normal } => {
                let half_space = HalfSpace::through_origin(normal.to_f64());
                return half_space.map_or(Core::Opaque, Core::HalfSpace);
            }
            _ => return Core::Opaque,
        };
        Core::Box { half_extents }
    }

    /// Adds a margin, or returns an error if the margin is invalid.
    pub fn rounded(self, margin: f32) -> Result<Self, ShapeError> {
        ShapeError::check_length("margin", margin)?;
        match self {
            Self::Ball { radius } => Self::Ball {
                radius: radius + margin,
            },
            Self::Capsule {
                half_length,
                radius,
            } => Self::Capsule {
                half_length,
                radius: radius + margin,
            },
            // Margins are added up, so that repeated calls do not nest shapes.
            Self::Rounded {
                shape,
                margin: inner,
            } => Self::Rounded {
                shape,
                margin: inner + margin,
            },
            shape => Self::Rounded {
                shape: Arc::new(shape),
                margin,
            },
        }
        .checked()
    }

    /// Returns the shape, or an error if it is invalid.
    pub fn checked(self) -> Result<Self, ShapeError> {
        match &self {
            Self::Ball { radius } => ShapeError::check_length("radius", *radius)?,
            Self::Capsule {
                half_length,
                radius,
            } => {
                ShapeError::check_length("half length", *half_length)?;
                ShapeError::check_length("radius", *radius)?;
            }
            Self::Box { half_size } | Self::Ellipsoid { half_size } => {
                ShapeError::check_lengths("half size", *half_size)?;
            }
            Self::Diamond { half_diagonals } => {
                ShapeError::check_lengths("half diagonal", *half_diagonals)?;
            }
            Self::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => {
                ShapeError::check_length("height", *half_height)?;
                ShapeError::check_length("radius", *radius_top)?;
                ShapeError::check_length("radius", *radius_bottom)?;
            }
            Self::Cap(cap) => {
                ShapeError::check_length("radius", cap.radius)?;
                ShapeError::check_length("half angle", cap.half_angle)?;
                if cap.is_concave() {
                    return Err(ShapeError::Concave(
                        "a circular sector of more than half a circle",
                    ));
                }
            }
            Self::Segment(vertices) => ShapeError::check_points("vertex", vertices)?,
            Self::Triangle(vertices) => ShapeError::check_points("vertex", vertices)?,
            Self::Tetrahedron(vertices) => ShapeError::check_points("vertex", vertices)?,
            Self::Extrusion { base, half_depth } => {
                if base.core().half_space().is_some() {
                    return Err(ShapeError::Unbounded("a half-plane"));
                }
                ShapeError::check_length("half depth", *half_depth)?;
            }
            Self::HalfSpace { normal } => ShapeError::check_direction("normal", *normal)?,
            // The inner shape has already been checked.
            Self::Rounded { margin, .. } => ShapeError::check_length("margin", *margin)?,
            // A hull is checked when it is built, a custom shape when it is used.
            Self::Hull(_) | Self::Custom(_) => {}
        }
        Ok(self)
    }
}

impl<V: Space> fmt::Debug for dyn Support<Vector = V> + Send + Sync {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a user's shape")
    }
}
