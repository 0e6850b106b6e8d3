//! The kinds of shape that a collider can hold, as one type for both dimensions.

use core::fmt;
use std::sync::Arc;

use crate::{
    math::{Vec2, Vec3},
    shape::{
        Compound, ConvexHull, HalfSpace, Outline, ShapeError, Support,
        extrusion::extruded,
        points::{farthest, span},
        support::{MatrixOf, Span, checked_radius},
        support_fns::{Cap, ellipsoid, frustum},
    },
    space::{DVector, Space},
};

/// What collides, checked, of either dimension.
#[derive(Clone, Debug)]
pub enum AnyColliderShape {
    /// A shape of the xy plane.
    D2(ColliderShape<Vec2>),
    /// A shape of space.
    D3(ColliderShape<Vec3>),
}

/// What collides: one convex shape, or several.
#[derive(Clone, Debug)]
pub enum ColliderShape<V: Space> {
    /// A convex shape.
    Convex(Shape<V>),
    /// Convex parts.
    Compound(Arc<Compound<V>>),
}

impl<V: Space> ColliderShape<V> {
    /// Whether it is a surface of facets.
    pub fn is_surface(&self) -> bool {
        match self {
            Self::Convex(_) => false,
            Self::Compound(compound) => compound.surface().is_some(),
        }
    }

    /// This with a margin around it, or why that is none.
    pub fn rounded(self, margin: f32) -> Result<Self, ShapeError> {
        Ok(match self {
            Self::Convex(shape) => Self::Convex(shape.rounded(margin)?),
            Self::Compound(compound) => Self::Compound(Arc::new(compound.rounded(margin)?)),
        })
    }
}

/// A space whose shapes a [`Collider`](crate::Collider) can hold: both of them, so this is `Vec2` or `Vec3`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither `Vec2` nor `Vec3`",
    note = "points are taken by value: `.iter().copied()` makes values of references"
)]
pub trait Dimension: Space {
    /// Forgets the dimension.
    #[doc(hidden)]
    fn any(body: ColliderShape<Self>) -> AnyColliderShape;

    /// The body, if it is of this dimension.
    #[doc(hidden)]
    fn body_of(body: &AnyColliderShape) -> Option<&ColliderShape<Self>>;
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
}

/// The kinds of shape. The same ones serve both dimensions: a circle and a sphere are a ball, a rectangle
/// and a cuboid are a box.
#[derive(Clone)]
pub enum Shape<V: Space> {
    /// All points within `radius` of the origin.
    Ball { radius: f32 },
    /// All points within `radius` of a segment along y.
    Capsule { half_length: f32, radius: f32 },
    /// The box from -`half_size` to `half_size`.
    Box { half_size: V },
    /// The hull of the points at `half_diagonals` on the axes and opposite: a rhombus, or an octahedron.
    Diamond { half_diagonals: V },
    /// The unit ball, stretched by `half_size` along the axes.
    Ellipsoid { half_size: V },
    /// The hull of a disc across y at `half_height` and one at -`half_height`: a cylinder, a cone or what is left of one
    /// without its tip; in the plane a trapezoid.
    Frustum {
        half_height: f32,
        radius_top: f32,
        radius_bottom: f32,
    },
    /// Part of a ball around y: in the plane a circular segment or sector.
    Cap(Cap),
    /// A segment.
    Segment([V; 2]),
    /// A triangle.
    Triangle([V; 3]),
    /// A tetrahedron; in the plane the hull of four points.
    Tetrahedron([V; 4]),
    /// The hull of points.
    Hull(ConvexHull<V>),
    /// A shape of the plane, extruded along z to both sides; in the plane itself, where there is no z, the shape as it is.
    Extrusion {
        base: Arc<Shape<Vec2>>,
        half_depth: f32,
    },
    /// All points on the plane through the origin with this normal, and on the side opposite to it.
    HalfSpace { normal: V },
    /// All points within `margin` of a shape.
    Rounded { shape: Arc<Self>, margin: f32 },
    /// A user's shape.
    Custom(Arc<dyn Support<Vector = V> + Send + Sync>),
}

// Always inline, because whoever knows the kind of shape, as the primitives do, is left with that one.
impl<V: Space> Support for Shape<V> {
    type Vector = V;

    #[inline(always)]
    fn support(&self, direction: V::DVec) -> V::DVec {
        match self {
            Self::Ball { .. } => V::DVec::ZERO,
            // The end of the segment from -y to y; the upper one where both are as far.
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
            Self::Extrusion { base, half_depth } => extruded::<V>(base, *half_depth, direction),
            // There is no farthest point.
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
    fn half_space(&self) -> Option<HalfSpace<V::DVec>> {
        match self {
            Self::HalfSpace { normal } => HalfSpace::through_origin(normal.to_f64()),
            Self::Rounded { shape, .. } => shape.half_space(),
            Self::Custom(shape) => shape.half_space(),
            _ => None,
        }
    }

    #[inline(always)]
    fn block(&self) -> Option<V::DVec> {
        match self {
            Self::Ball { .. } => Some(V::DVec::ZERO),
            Self::Capsule { half_length, .. } => {
                Some(V::DVec::axis(1) * f64::from(half_length.abs()))
            }
            // Lengths that are negative count as their sizes.
            Self::Box { half_size } => Some(half_size.to_f64().copysign(V::DVec::ONE)),
            Self::Rounded { shape, .. } => shape.block(),
            Self::Custom(shape) => shape.block(),
            _ => None,
        }
    }

    #[inline(always)]
    fn span(&self, linear: MatrixOf<Self>) -> Option<Span<Self>> {
        match self {
            Self::Segment(points) => Some(span(points, linear)),
            Self::Triangle(points) => Some(span(points, linear)),
            Self::Tetrahedron(points) => Some(span(points, linear)),
            Self::Hull(hull) => hull.span(linear),
            Self::Rounded { shape, .. } => shape.span(linear),
            Self::Custom(shape) => shape.span(linear),
            _ => None,
        }
    }

    #[inline(always)]
    fn outline(&self) -> Option<Outline<'_, V::DVec>> {
        match self {
            Self::Hull(hull) => hull.outline(),
            Self::Rounded { shape, .. } => shape.outline(),
            Self::Custom(shape) => shape.outline(),
            _ => None,
        }
    }
}

/// The farthest of the points at `half_diagonals` on the axes and opposite: on the axis where it is farther than on those
/// before.
#[inline]
fn diamond<D: DVector>(half_diagonals: D, direction: D) -> D {
    let heights = half_diagonals.scaled(direction);
    let farthest = (1..D::DIMENSION).fold(0, |best, index| {
        let farther = heights.component(index).abs() > heights.component(best).abs();
        if farther { index } else { best }
    });
    let axis = D::axis(farthest);
    // From all of them, so that what is NaN in one of them is NaN.
    half_diagonals.copysign(direction).scaled(axis)
}

impl<V: Space> Shape<V> {
    /// The hull of two discs across y.
    pub(super) fn frustum(half_height: f32, radius_top: f32, radius_bottom: f32) -> Self {
        Self::Frustum {
            half_height,
            radius_top,
            radius_bottom,
        }
    }

    /// This shape with a margin around it, or why that is none.
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
            // One margin, however many there are, so that no shape is nested without end.
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

    /// This shape, or why it is none.
    pub(super) fn checked(self) -> Result<Self, ShapeError> {
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
                if base.half_space().is_some() {
                    return Err(ShapeError::Endless("a half-plane"));
                }
                ShapeError::check_length("half depth", *half_depth)?;
            }
            Self::HalfSpace { normal } => ShapeError::check_direction("normal", *normal)?,
            // What it is around has been checked.
            Self::Rounded { margin, .. } => ShapeError::check_length("margin", *margin)?,
            // The one was checked when it was made, the other is asked when it is used.
            Self::Hull(_) | Self::Custom(_) => {}
        }
        Ok(self)
    }
}

impl<V: Space> fmt::Debug for Shape<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Ball { radius } => write!(formatter, "Ball({radius})"),
            Self::Capsule {
                half_length,
                radius,
            } => write!(formatter, "Capsule({half_length}, {radius})"),
            Self::Box { half_size } => write!(formatter, "Box({half_size:?})"),
            Self::Diamond { half_diagonals } => write!(formatter, "Diamond({half_diagonals:?})"),
            Self::Ellipsoid { half_size } => write!(formatter, "Ellipsoid({half_size:?})"),
            Self::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => write!(
                formatter,
                "Frustum({half_height}, {radius_top}, {radius_bottom})"
            ),
            Self::Cap(cap) => write!(formatter, "{cap:?}"),
            Self::Segment(vertices) => write!(formatter, "Segment({vertices:?})"),
            Self::Triangle(vertices) => write!(formatter, "Triangle({vertices:?})"),
            Self::Tetrahedron(vertices) => write!(formatter, "Tetrahedron({vertices:?})"),
            Self::Hull(hull) => write!(formatter, "Hull({} points)", hull.points().len()),
            Self::Extrusion { base, half_depth } => {
                write!(formatter, "Extrusion({base:?}, {half_depth})")
            }
            Self::HalfSpace { normal } => write!(formatter, "HalfSpace({normal:?})"),
            Self::Rounded { shape, margin } => write!(formatter, "Rounded({shape:?}, {margin})"),
            Self::Custom(_) => write!(formatter, "Custom"),
        }
    }
}
