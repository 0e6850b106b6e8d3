//! The axes along which a separation is measured, and bounds on its derivatives.
//!
//! The separation s(t) in `certified/` is computed from n·x for a support point x of each shape.
//! The derivatives of n·x are bounded as follows, for a point x = c(t) + r(t) of a shape that
//! rotates about the center c with the angular velocity ω:
//!
//! ```text
//! |d/dt n·x|   <= |n·c'| + |n·(ω × r)|       <= |c'| + σ |ω × n| / |ω|
//! |d²/dt² n·x|  = |n·(ω × (ω × r))|          <= σ |ω × n|
//! ```
//!
//! σ is the maximum of |ω × r| over the shape. The second line holds because n·(ω × (ω × r)) = -(ω
//! × n)·(ω × r). So the rotation of a ball, or of a shape that spins about n, adds nothing.
//!
//! A half-space has no support point. The normal m(t) of the half-space is the only axis of its
//! pair, and s(t) is the distance between the shapes. If the half-space rotates with the angular
//! velocity ω, s(t) is computed in the frame of the half-space. Let z be a point relative to the
//! center of rotation, with the velocity z' and the acceleration z'' in world axes. In the frame of
//! the half-space, this point has the acceleration z'' - 2 ω × z' + ω × (ω × z), up to a rotation
//! of the axes.

use crate::space::DVector;

/// The axis along which a separation is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeparatingAxis<D: DVector> {
    /// A unit vector in world axes, from the first shape of the pair to the second.
    Fixed(D),
    /// A unit vector that rotates at a constant angular velocity.
    Turning {
        /// The unit vector at the time `since`.
        normal: D,
        since: f64,
        angular_velocity: D::Angle,
    },
    /// The normal of the half-space in the pair.
    HalfSpace,
}

impl<D: DVector> SeparatingAxis<D> {
    /// Returns the unit vector at the given time, or `None` for the axis of a half-space.
    pub fn normal(&self, time: f64) -> Option<D> {
        match *self {
            Self::Fixed(normal) => Some(normal),
            Self::Turning {
                normal,
                since,
                angular_velocity,
            } => Some(D::rotation(angular_velocity * (time - since)) * normal),
            Self::HalfSpace => None,
        }
    }
}

/// The separation of a pair along an axis at one time.
#[derive(Clone, Copy, Debug)]
pub struct Separation {
    /// The separation s(t).
    pub gap: f64,
    /// The closing speed -s'(t), if the support points are unique.
    pub closing_speed: f64,
}

/// Bounds on the derivatives of a separation.
#[derive(Clone, Copy, Debug)]
pub struct RateBounds {
    /// A bound on |s'|.
    pub speed: f64,
    /// A bound on the second derivatives of all n·x, so that s(t) - `curvature` t² / 2 is concave.
    pub curvature: f64,
}

/// Returns bounds on the rates of n·z. The unit vector n rotates at the angular speed `turn`. The
/// other arguments bound the length and the derivatives of the vector z.
pub fn rates_along_turning_axis(
    turn: f64,
    length: f64,
    speed: f64,
    acceleration: f64,
) -> RateBounds {
    RateBounds {
        speed: speed + turn * length,
        curvature: acceleration + turn * (2.0 * speed + turn * length),
    }
}
