//! Half-spaces: everything on one side of a plane, without an end.
//!
//! A half-space H = { x : n·x <= c } has a farthest point in no direction but that of n, so that a support function says
//! nothing of it. Instead, [`Support::half_space`] tells n and c, and a pair with one half-space is solved in closed form.
//! What takes it for any other shape gets NaN, and with it the answer to all that is no shape: it touches nothing.

use crate::{
    math::{InfinitePlane3d, Plane2d, Vec2, Vec3},
    shape::{
        ShapeError, Support,
        convex::Shape,
        into_shape::{ConvexShape, IntoShape, sealed},
    },
    space::{DVector, Pose, Space},
};

/// A map whose axes, made unit vectors, span no more volume than this flattens space. It is what rounding makes, in f64, of
/// the 0 of a product of some rotations and a scale that is 0 along an axis.
const FLATTENED: f64 = 1e-14;

/// All points x with `normal · x <= offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace<D> {
    /// Outward, of unit length.
    pub normal: D,
    /// The height of the plane over the origin.
    pub offset: f64,
}

impl<D: DVector> HalfSpace<D> {
    /// The one with the origin on its plane, or `None` if the normal has no direction.
    pub(super) fn through_origin(normal: D) -> Option<Self> {
        let offset = 0.0;
        normal.unit().map(|normal| Self { normal, offset })
    }

    /// How high a point is above the plane; negative for one inside.
    #[inline]
    pub fn height(&self, point: D) -> f64 {
        self.normal.dot(point) - self.offset
    }

    /// With the plane moved outward.
    #[inline]
    pub fn raised(&self, by: f64) -> Self {
        let offset = self.offset + by;
        Self { offset, ..*self }
    }

    /// Where a pose puts it.
    #[inline]
    pub fn placed(&self, pose: &Pose<D>) -> Self {
        let normal = pose.rotation * self.normal;
        let offset = self.offset + normal.dot(pose.translation);
        Self { normal, offset }
    }

    /// Its image under a uniform scale.
    #[inline]
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let offset = self.offset * factor;
        Self { offset, ..*self }
    }

    /// Its image under a linear map M, or `None` if M flattens space.
    ///
    /// With y = M x, n·x = n·(M⁻¹ y) = (M⁻ᵀ n)·y: the image has the normal M⁻ᵀ n, also where M mirrors, and M c n is a
    /// point of its plane. The columns of M⁻ᵀ are the dual basis of those of M: column i is p / (p·m_i), for any p at right
    /// angles to all columns m_j but m_i.
    pub(super) fn image(&self, matrix: D::Matrix) -> Option<Self> {
        let mut normal = D::ZERO;
        for index in 0..D::DIMENSION {
            // Of unit length, so that no scale is too large or too small for the products.
            let unit = |index| D::column(matrix, index).unit();
            let axis = unit(index)?;
            let mut others = [D::ZERO; 2];
            let rest = others.get_mut(..D::DIMENSION - 1)?;
            for (slot, step) in rest.iter_mut().zip(1..) {
                *slot = unit((index + step) % D::DIMENSION)?;
            }
            let across = D::perpendicular(rest)?;
            let volume = across.dot(axis);
            if volume.abs() <= FLATTENED {
                return None;
            }
            let stretch = D::column(matrix, index).length();
            normal = normal + across * (self.normal.component(index) / (volume * stretch));
        }
        let normal = normal.unit()?;
        let offset = normal.dot(matrix * (self.normal * self.offset));
        Some(Self { normal, offset })
    }
}

/// Bevy's planes without an end, as half-spaces: what is solid is the side opposite to the normal.
macro_rules! half_spaces {
    ($($primitive:ident in $space:ident),*) => { $(
        impl Support for $primitive {
            type Vector = $space;

            #[inline]
            fn support(&self, direction: <$space as Space>::DVec) -> <$space as Space>::DVec {
                Shape::HalfSpace { normal: *self.normal }.support(direction)
            }

            #[inline]
            fn half_space(&self) -> Option<HalfSpace<<$space as Space>::DVec>> {
                Shape::HalfSpace { normal: *self.normal }.half_space()
            }
        }

        impl sealed::Sealed for $primitive {}
        impl ConvexShape for $primitive {}
        impl IntoShape for $primitive {
            type Vector = $space;

            fn into_shape(self) -> Result<Shape<$space>, ShapeError> {
                Shape::HalfSpace { normal: *self.normal }.checked()
            }
        }
    )* };
}

half_spaces!(Plane2d in Vec2, InfinitePlane3d in Vec3);
