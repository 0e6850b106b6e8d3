//! The trait of all convex shapes, and the enum of the shapes that a collider can hold. Both are in
//! one file, because they refer to each other. All solvers call [`Support::support`].

use core::fmt;
use std::sync::Arc;

use crate::{
    math::Vec2,
    shape::{
        elements::{
            chord::{self, ChordResult},
            core::{Core, VertexBounds},
            line::Line,
            support_fns::Cap,
        },
        hull::ConvexHull,
    },
    space::{DVector, Space},
};

/// A convex shape, described by its support function.
///
/// Bevy's convex primitives, points (`Vec2`, `Vec3`) and [`Rounded`](crate::Rounded) shapes
/// implement this trait. A slice of points also implements the trait, and stands for the convex
/// hull of the points. Implement this trait for a shape of your own to use that shape in every
/// query. [`Collider::custom`](crate::Collider::custom) turns the shape into a collider.
///
/// A shape is a convex *core*, described by [`support`](Self::support), with a
/// [`radius`](Self::radius) around it. Most shapes have radius 0 and are their own core. Use a
/// radius for shapes that are rounded everywhere, because their contacts are then exact:
///
/// * a sphere is a point with a radius,
/// * a capsule is a segment with a radius,
/// * a rounded box is a box with a radius.
///
/// # Invalid shapes
///
/// Queries do not check their shapes. [`Collider::try_new`](crate::Collider::try_new) rejects every
/// shape in this table:
///
/// | shape | in a query |
/// |---|---|
/// | a length below 0 | counts with its absolute value |
/// | a ball or capsule with a radius below 0 | touches nothing |
/// | a `CircularSector` of more than half a circle | counts as its convex hull |
/// | the extrusion of a half-plane | touches nothing |
///
/// # Writing a support function
///
/// For each direction d, the function returns a point x of the shape with the greatest d · x. Three
/// rules give the support functions of many shapes:
///
/// * The support point of the Minkowski sum of two shapes is the sum of their support points.
/// * The support point of the convex hull of two shapes is the farther of their support points.
/// * The support point of the image of a shape under a linear map M is M x, where x is the shape's
///   support point in direction Mᵀ d. (Colliders apply this rule for you when they are scaled.)
///
/// For the intersection of two shapes there is a partial rule. If the support point of one shape
/// lies inside the other shape, this point is the support point of the intersection. If neither
/// support point lies inside the other shape, the result lies where the two boundaries intersect.
/// An example is a lens:
///
/// ```
/// use bevy::math::{DVec2, Isometry2d, Vec2};
/// use bevy::prelude::*;
/// use headbutt::{Support, query};
///
/// /// The intersection of two discs, one around the origin and one around (offset, 0).
/// struct Lens { radius: f64, offset: f64 }
///
/// // Both circles pass through the tips at x = offset / 2, where y² = radius² - x². The right arc
/// // of the lens consists of the points of the first circle with x >= offset / 2. The support
/// // point of the first disc is radius d, for a unit d. If that point is on the arc, it is the
/// // support point of the lens, because the lens is part of the disc. The left arc is symmetric.
/// // If neither support point is on its arc, the support point of the lens is a tip.
/// impl Support for Lens {
///     type Vector = Vec2;
///
///     fn support(&self, direction: DVec2) -> DVec2 {
///         let unit = direction.normalize(); // The direction may have any length.
///         let on_first = self.radius * unit;
///         let on_second = on_first + DVec2::new(self.offset, 0.0);
///         let middle = 0.5 * self.offset;
///         if on_first.x >= middle {
///             on_first
///         } else if on_second.x <= middle {
///             on_second
///         } else {
///             let height = (self.radius * self.radius - middle * middle).sqrt();
///             DVec2::new(middle, height.copysign(unit.y))
///         }
///     }
/// }
///
/// let lens = Lens { radius: 1.0, offset: 1.0 };
/// let contact = query::contact(
///     &lens, Isometry2d::IDENTITY,
///     &Circle::new(0.5), Isometry2d::from_xy(1.4, 0.0),
/// ).expect("the lens ends at x = 1, the circle begins at 0.9");
/// assert!((contact.depth - 0.1).abs() < 1e-5);
/// assert!((contact.normal - Vec2::X).length() < 1e-3);
/// ```
///
/// The example `custom_shape` uses a lens in a 3D app, and compares each contact with a formula.
///
/// The support function is all that a collider needs: bounding boxes, scale and margins are
/// computed from support points. A wrong support function gives wrong contacts only for its own
/// shape: see [`Collider::custom`](crate::Collider::custom). If the function panics during a tick
/// and the app catches the panic, that tick reports nothing, and the next tick reads all colliders
/// again.
///
/// # Further reading
///
/// Gilbert, Johnson and Keerthi introduced support functions to collision detection: "A fast
/// procedure for computing the distance between complex objects in three-dimensional space" (1988).
/// Van den Bergen lists the support functions of many shapes: "Collision Detection in Interactive
/// 3D Environments" (2003), chapter 4.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a convex shape that headbutt supports",
    label = "not a convex shape",
    note = "query a concave shape (a torus, annulus, ring, arc, polygon or polyline) part by part, \
        or as the hull of its points: a slice of points or a `ConvexHull`",
    note = "a `Collider` is not a shape, but all functions of `query` except `touch` take it",
    note = "implement `Support` for a shape of your own"
)]
pub trait Support {
    /// `Vec2` for a 2D shape, `Vec3` for a 3D shape.
    type Vector: Space;

    /// Returns a point of the core that lies farthest in `direction`, in the shape's own frame.
    ///
    /// `direction` is finite, nonzero, and of any length. The same direction must always give the
    /// same point. A shape that returns NaN or infinity touches nothing. The vectors are in f64
    /// (`DVec2`, `DVec3`) because the solver computes in f64: do not round intermediate results to
    /// f32.
    fn support(&self, direction: <Self::Vector as Space>::DVec) -> <Self::Vector as Space>::DVec;

    /// Returns the radius around the core, 0 by default. A shape whose radius is negative, infinite
    /// or NaN touches nothing.
    fn radius(&self) -> f64 {
        0.0
    }

    /// Returns the core as a variant that queries can solve in closed form, or [`Core::Opaque`].
    #[doc(hidden)]
    fn core(&self) -> Core<'_, DVecOf<Self>> {
        Core::Opaque
    }

    /// Returns the shape as the type that a collider stores, without checks. Returns `None` for a
    /// user's own shape.
    #[doc(hidden)]
    fn to_shape(&self) -> Option<Shape<Self::Vector>> {
        None
    }

    /// Returns the minimum and maximum coordinates of the core's image under a linear map. Returns
    /// `None` if support points give these coordinates as fast as vertices or discs. This method is
    /// separate from [`core`](Self::core), because a core under a non-uniform scale still has
    /// vertices, but no closed form.
    #[doc(hidden)]
    fn vertex_bounds(&self, _: MatrixOf<Self>) -> Option<VertexBounds<DVecOf<Self>>> {
        None
    }

    /// Returns the chord: the part of a line inside the shape with a margin around it. The line and
    /// the chord are in the shape's own frame.
    #[doc(hidden)]
    fn chord(&self, line: &Line<DVecOf<Self>>, margin: f64) -> ChordResult<DVecOf<Self>> {
        chord::of_core(self.core(), self.radius() + margin, line)
    }
}

/// The f64 vector type of a shape's dimension.
pub type DVecOf<S> = <<S as Support>::Vector as Space>::DVec;

/// The type of a linear map in a shape's dimension.
pub type MatrixOf<S> = <DVecOf<S> as DVector>::Matrix;

/// Implements [`Support`] for pointers to shapes.
macro_rules! forward_to_target {
    ($($pointer:ty),*) => { $(
        impl<S: Support + ?Sized> Support for $pointer {
            type Vector = S::Vector;

            fn support(&self, direction: DVecOf<S>) -> DVecOf<S> {
                (**self).support(direction)
            }

            fn radius(&self) -> f64 {
                (**self).radius()
            }

            fn core(&self) -> Core<'_, DVecOf<S>> {
                (**self).core()
            }

            fn chord(&self, line: &Line<DVecOf<S>>, margin: f64) -> ChordResult<DVecOf<S>> {
                (**self).chord(line, margin)
            }

            fn to_shape(&self) -> Option<Shape<S::Vector>> {
                (**self).to_shape()
            }
        }
    )* };
}

forward_to_target!(&S, Box<S>, Arc<S>);

/// A convex shape. Both dimensions share the variants: circles and spheres are balls, rectangles
/// and cuboids are boxes.
///
/// Balls, capsules, boxes, diamonds, ellipsoids and frustums are centered on the origin. Capsules,
/// frustums and caps have y as their axis, and the circle of a cap is centered on the origin. Saved
/// colliders use the names of these variants.
// `serialize.rs` saves the variants in the same order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Shape<V: Space> {
    /// A circle or a sphere.
    Ball {
        /// The radius.
        radius: f32,
    },
    /// A capsule.
    Capsule {
        /// Half of the distance between the centers of the ends.
        half_length: f32,
        /// The radius.
        radius: f32,
    },
    /// A rectangle or a cuboid.
    Box {
        /// Half of the length along each axis.
        half_size: V,
    },
    /// A rhombus: the hull of the points at ±`half_diagonals` on the axes.
    Diamond {
        /// Half of the diagonal along each axis.
        half_diagonals: V,
    },
    /// An ellipse.
    Ellipsoid {
        /// Half of the length along each axis.
        half_size: V,
    },
    /// A cylinder, a cone or a conical frustum: the hull of two discs normal to y.
    Frustum {
        /// Half of the height.
        half_height: f32,
        /// The radius at the top.
        radius_top: f32,
        /// The radius at the bottom.
        radius_bottom: f32,
    },
    /// A circular segment or sector.
    Cap(Cap),
    /// A segment, given by its ends.
    Segment([V; 2]),
    /// A triangle, given by its vertices.
    Triangle([V; 3]),
    /// The hull of four points.
    Tetrahedron([V; 4]),
    /// The convex hull of points or of a polygon. [`ConvexHull::points`] returns the vertices.
    Hull(ConvexHull<V>),
    /// All points on or behind a plane through the origin.
    HalfSpace {
        /// The outward normal, of any length.
        normal: V,
    },
    /// A 2D shape, extruded along z in both directions. Only 3D colliders have this variant.
    Extrusion {
        /// The 2D shape.
        base: Arc<Shape<Vec2>>,
        /// Half of the length along z.
        half_depth: f32,
    },
    /// A shape of [`Collider::custom`](crate::Collider::custom).
    Custom(Arc<dyn Support<Vector = V> + Send + Sync>),
    /// All points within a margin of a shape. A [`ConvexView`](crate::ConvexView) separates the
    /// margin from the shape.
    Rounded {
        /// The shape.
        shape: Arc<Self>,
        /// The margin.
        margin: f32,
    },
}

impl<V: Space> fmt::Debug for dyn Support<Vector = V> + Send + Sync {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a user's shape")
    }
}
