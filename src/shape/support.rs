//! The contract of a shape.

use std::sync::Arc;

use crate::{
    shape::{HalfSpace, Outline},
    space::{DVector, Space},
};

/// A convex shape, known by its support function.
///
/// Bevy's convex primitives implement it, and so do a point (`Vec2`, `Vec3`), slices of points, which stand for their
/// convex hull, and [`Rounded`](crate::Rounded) around any shape. Implement it for a shape of your own and every query takes
/// it; [`Collider::custom`](crate::Collider::custom) makes a collider of it.
///
/// Nothing is checked on the way to a query. Of Bevy's primitives, lengths that are negative count as their sizes; only a
/// negative radius of a ball or capsule touches nothing, as any negative [`radius`](Self::radius). A `CircularSector` of more
/// than half a circle, which is concave, counts as its hull, and the extrusion of a half-plane touches nothing.
/// ([`Collider::try_new`](crate::Collider::try_new) refuses all of these.)
///
/// A shape is a convex *core*, which [`support`](Self::support) describes, with a [`radius`](Self::radius) around it.
/// Most shapes have radius 0 and are their own core. Whatever is round all over is best written with a radius, because
/// its contacts are then exact: a sphere as a point, a capsule as a segment, a rounded box as a box.
///
/// # How to find a support function
///
/// To each direction d it tells a point x of the shape for which d · x is greatest. Three rules build many shapes of simpler
/// ones: of the sum of two shapes it is the sum of both points, of the hull of two the farther one, and of the image of a shape
/// under a linear map M it is M x, with x the shape's point for Mᵀ d (what scales a collider needs no more than that rule, and
/// is not yours to write). For what two shapes have in common there is no rule but this: where the farthest point of the one
/// lies in the other, it is the farthest of both; elsewhere look at where their surfaces meet. So for a lens, which no library
/// has:
///
/// ```
/// use bevy::math::{DVec2, Isometry2d, Vec2};
/// use bevy::prelude::*;
/// use headbutt::{Support, query};
///
/// /// What two discs have in common, one around the origin and one around (offset, 0).
/// struct Lens { radius: f64, offset: f64 }
///
/// // Both circles go through the tips at x = offset / 2, where y² = radius² - x². The arc that bounds the lens on the right is
/// // that of the first circle, from tip to tip: all of that circle's points with x >= offset / 2, which are those in the
/// // second disc. Its farthest point toward a unit d is radius d. If that is on the arc, nothing of the lens is farther, as
/// // the lens is part of the disc. Likewise on the left. If it is on neither arc, the farthest point of both arcs is a tip.
/// impl Support for Lens {
///     type Vector = Vec2;
///
///     fn support(&self, direction: DVec2) -> DVec2 {
///         let unit = direction.normalize(); // it may be of any length
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
/// The example `custom_shape` does the same in 3D, in an app, and holds each contact against a formula.
///
/// If it panics in a tick, and the app catches that and goes on, the tick reports nothing, and the
/// next one reads everything anew.
///
/// That is all there is to it: a collider's bounding box is made of supports as well, along the axes of the world, and so are
/// scale and margins. A support function that is wrong makes wrong contacts of its own shape, and does no harm to others: see
/// [`Collider::custom`](crate::Collider::custom).
///
/// The notion goes back to Gilbert, Johnson and Keerthi, "A fast procedure for computing the distance between complex
/// objects in three-dimensional space" (1988); van den Bergen, "Collision Detection in Interactive 3D Environments"
/// (2003), chapter 4, lists the support functions of many shapes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no convex shape that headbutt knows",
    label = "no convex shape",
    note = "what is concave (a torus, annulus, ring, arc, polygon or polyline) is asked of part by part, or as the hull of its \
        points: a slice of them, or a `ConvexHull`",
    note = "a `Collider` is no shape of a query: ask of the shape that it was made of",
    note = "a shape of your own needs a `Support` of your own"
)]
pub trait Support {
    /// `Vec2` for a shape in the plane, `Vec3` for one in space.
    type Vector: Space;

    /// A point of the core that lies farthest in `direction`, in the shape's own frame.
    ///
    /// `direction` is finite, not null, and of any length. The same direction must always give the same point, and the
    /// point must be finite: a shape that answers NaN or infinity touches nothing. In f64 (`DVec2`, `DVec3`), because
    /// the solver computes in it: a field in f32 is widened, never an intermediate result narrowed.
    fn support(&self, direction: <Self::Vector as Space>::DVec) -> <Self::Vector as Space>::DVec;

    /// The radius around the core: finite and not negative; 0 unless said otherwise. A shape with any other radius
    /// touches nothing.
    #[inline]
    fn radius(&self) -> f64 {
        0.0
    }

    /// What the core is, if it is a half-space: the one kind of shape that no support function describes. Here, and not a
    /// trait of its own, so that every query takes half-spaces; where it is not overridden it costs nothing.
    #[doc(hidden)]
    #[inline]
    fn half_space(&self) -> Option<HalfSpace<<Self::Vector as Space>::DVec>> {
        None
    }

    /// The half size h of the core, if it is the box from -h to h: also a segment, with one component that is not 0, and a
    /// point, with none. Queries have closed forms for these; where it is not overridden it costs nothing.
    #[doc(hidden)]
    #[inline]
    fn block(&self) -> Option<<Self::Vector as Space>::DVec> {
        None
    }

    /// The least and the greatest coordinates of the core under a linear map, where its corners tell them faster than support
    /// points do.
    #[doc(hidden)]
    #[inline]
    fn span(&self, _: MatrixOf<Self>) -> Option<Span<Self>> {
        None
    }

    /// The sides of the core, if it is a polygon of few. Queries have closed forms for these; where it is not overridden it
    /// costs nothing.
    #[doc(hidden)]
    #[inline]
    fn outline(&self) -> Option<Outline<'_, <Self::Vector as Space>::DVec>> {
        None
    }
}

/// A linear map of a shape's space.
pub type MatrixOf<S> = <DVecOf<S> as DVector>::Matrix;

/// Least and greatest coordinates of a shape.
pub type Span<S> = (DVecOf<S>, DVecOf<S>);

/// The f64 vector of the space of a shape.
pub type DVecOf<S> = <<S as Support>::Vector as Space>::DVec;

/// A radius as it is, or NaN if it is none: a sum of radii must not hide one that is negative.
#[inline]
pub(super) fn checked_radius(radius: f64) -> f64 {
    if radius >= 0.0 { radius } else { f64::NAN }
}

/// What points at a shape is that shape.
macro_rules! forward {
    ($($pointer:ty),*) => { $(
        impl<S: Support + ?Sized> Support for $pointer {
            type Vector = S::Vector;

            #[inline]
            fn support(&self, direction: <S::Vector as Space>::DVec) -> <S::Vector as Space>::DVec {
                (**self).support(direction)
            }

            #[inline]
            fn radius(&self) -> f64 {
                (**self).radius()
            }

            #[inline]
            fn half_space(&self) -> Option<HalfSpace<<S::Vector as Space>::DVec>> {
                (**self).half_space()
            }

            #[inline]
            fn block(&self) -> Option<<S::Vector as Space>::DVec> {
                (**self).block()
            }

            #[inline]
            fn span(&self, linear: MatrixOf<Self>) -> Option<Span<Self>> {
                (**self).span(linear)
            }

            #[inline]
            fn outline(&self) -> Option<Outline<'_, <S::Vector as Space>::DVec>> {
                (**self).outline()
            }
        }
    )* };
}

forward!(&S, Box<S>, Arc<S>);
