//! The support functions, radii, cores and chords of the shapes that a collider can hold. The
//! solvers call these functions through [`Support`].

use std::sync::Arc;

use crate::{
    shape::{
        ShapeError,
        elements::{
            chord::{self, ChordResult, NoClosedForm},
            core::{Core, VertexBounds, checked_radius},
            half_space::HalfSpace,
            line::Line,
            points::{farthest, vertex_bounds},
            support_fns::{diamond, ellipsoid, frustum, frustum_bounds},
        },
        extrusion,
        support::{MatrixOf, Shape, Support},
    },
    space::{DVector, Space},
};

// For a Bevy primitive, the variant is known at compile time. Because these functions are inlined,
// only the code of this variant remains.
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
            _ => 0.0,
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
            Self::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => {
                let lengths = [*half_height, *radius_top, *radius_bottom].map(f64::from);
                Some(VertexBounds(frustum_bounds(lengths, linear)))
            }
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
            // These shapes use the closed forms of their cores.
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
    /// Returns the core of a ball, a capsule, a box or a half-space. Returns [`Core::Opaque`] for
    /// all other shapes, even if [`core`](Support::core) returns a closed form, as for some hulls.
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

    /// Returns the vertices, or `None` if the shape has a curved side, or has no sides.
    pub fn vertices(&self) -> Option<Vec<V::DVec>> {
        let axes = (0..V::DVec::DIMENSION).map(V::DVec::axis);
        let in_f64 = |points: &[V]| points.iter().map(|point| point.to_f64()).collect();
        Some(match self {
            Self::Box { half_size } => axes.fold(vec![V::DVec::ZERO], |corners, axis| {
                let side = axis.scaled(half_size.to_f64());
                let both = corners.iter().flat_map(|it| [*it - side, *it + side]);
                both.collect()
            }),
            Self::Diamond { half_diagonals } => {
                let tips = axes.map(|axis| axis.scaled(half_diagonals.to_f64()));
                tips.flat_map(|tip| [tip, -tip]).collect()
            }
            Self::Triangle(points) => in_f64(points),
            Self::Tetrahedron(points) => in_f64(points),
            Self::Hull(hull) => in_f64(hull.points()),
            Self::Extrusion { base, half_depth } => {
                let half_depth = f64::from(*half_depth);
                let outline = base.vertices()?.into_iter();
                let ends =
                    outline.flat_map(|it| [-half_depth, half_depth].map(|z| [it.x, it.y, z]));
                ends.map(V::DVec::of).collect()
            }
            _ => return None,
        })
    }

    /// Returns the shape with an additional margin, or an error if the margin is invalid.
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

    /// Returns the shape inside the margin, and the margin. Margins are never nested, because
    /// [`rounded`](Self::rounded) sums them.
    pub(super) fn without_margin(&self) -> (&Self, f32) {
        match self {
            Self::Rounded { shape, margin } => (shape.as_ref(), *margin),
            _ => (self, 0.0),
        }
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
            // A hull is checked when it is built. A custom shape is checked in each pose.
            Self::Hull(_) | Self::Custom(_) => {}
        }
        Ok(self)
    }
}
