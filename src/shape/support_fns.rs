//! Shapes that are round in part, so that no radius around a core describes them: ellipsoids, frustums and caps.
//!
//! Each is written by the axis y and whatever lies across it. In space it is the solid of revolution about y; in the
//! plane, where only x is across, it is the section through the axis. A direction d splits into `along`, its component
//! on y, and the vector `across`.
//!
//! Where a direction leaves free which point of a face is the farthest, the answer is the middle of the face: it does
//! not depend on how the shape is turned about y, and it is where one expects the contact point of a cylinder that stands
//! on a floor.
//!
//! A length that is negative counts as its size, where nobody has checked it.

use core::{
    cmp::Ordering,
    f32::consts::{FRAC_PI_2, PI},
};

use crate::space::DVector;

/// The unit vector in the direction of `vector`, of whatever length; null for the null vector.
#[inline]
pub(super) fn toward<D: DVector>(vector: D) -> D {
    vector.unit().unwrap_or(D::ZERO)
}

/// A direction by its components on y and across it.
struct AboutY<D> {
    along: f64,
    /// Of unit length; null on the axis.
    side: D,
    /// The length of the part across y.
    across: f64,
}

impl<D: DVector> AboutY<D> {
    #[inline]
    fn new(direction: D) -> Self {
        let along = direction.component(1);
        let across = direction - D::axis(1) * along;
        let side = toward(across);
        Self {
            along,
            side,
            across: side.dot(across),
        }
    }
}

/// The farthest point of the ellipsoid with half axes `half_size`: the unit ball under the diagonal map H of these, so
/// that max { d · H x | |x| = 1 } is at x = H d / |H d|.
#[inline]
pub(super) fn ellipsoid<D: DVector>(half_size: D, direction: D) -> D {
    toward(direction.scaled(half_size)).scaled(half_size)
}

/// The farthest point of the hull of two discs across y: one at `half_height` with radius `top`, one at -`half_height` with
/// radius `bottom`.
///
/// A disc's farthest point lies on its rim toward d, so that with a = `along` and c = `across` the upper disc reaches
/// a `half_height` + c `top`, and the lower one -a `half_height` + c `bottom`.
#[inline]
pub(super) fn frustum<D: DVector>(half_height: f64, top: f64, bottom: f64, direction: D) -> D {
    let (half_height, top, bottom) = (half_height.abs(), top.abs(), bottom.abs());
    let AboutY {
        along,
        side,
        across,
    } = AboutY::new(direction);
    let lead = 2.0 * half_height * along + (top - bottom) * across;
    let (height, radius) = match lead.partial_cmp(&0.0) {
        Some(Ordering::Less) => (-half_height, bottom),
        Some(Ordering::Equal | Ordering::Greater) => (half_height, top),
        None => (f64::NAN, f64::NAN),
    };
    side * radius + D::axis(1) * height
}

/// Part of a ball around the origin: all of its surface that lies within an angle of y, joined to itself alone or to the
/// origin. In the plane, a circular segment or a circular sector.
#[derive(Clone, Copy, Debug)]
pub struct Cap {
    pub radius: f32,
    /// The angle between y and the rim, in radians.
    pub half_angle: f32,
    /// Whether the origin belongs to it.
    pub pointed: bool,
    sin: f64,
    cos: f64,
}

impl Cap {
    /// The functions of the angle are those of the crate `libm`, which are made of + - * / and so are the same on every
    /// platform.
    pub fn new(radius: f32, half_angle: f32, pointed: bool) -> Self {
        // The f32 next to pi is above it: there the sine would be less than 0, or as 0 leave open on which end y is.
        let angle = f64::from(half_angle.abs().clamp(0.0, PI.next_down()));
        Self {
            radius,
            half_angle,
            pointed,
            sin: libm::sin(angle),
            cos: libm::cos(angle),
        }
    }

    /// Whether its two sides make an angle at the origin that is not convex. (A half circle is convex; the f32 next to pi / 2
    /// is above it by 4e-8.)
    pub(super) fn is_concave(&self) -> bool {
        self.pointed && self.half_angle > FRAC_PI_2 && self.half_angle < PI
    }

    /// The farthest point of the hull of it.
    ///
    /// With A the angle between d and y, and h the half angle: where A < h, it is where d meets the ball; else a tip, the
    /// nearest point of the rim, or the origin if that is farther. Both angles are from 0 to pi, so that A < h where
    /// sin(A - h) < 0. (With cosines a narrow cap would end at an angle of 1e-8.)
    #[inline]
    pub(super) fn support<D: DVector>(&self, direction: D) -> D {
        let radius = f64::from(self.radius.abs());
        let AboutY {
            along,
            side,
            across,
        } = AboutY::new(direction);
        if across * self.cos < along * self.sin {
            return toward(direction) * radius;
        }
        let tip = (side * self.sin + D::axis(1) * self.cos) * radius;
        if self.pointed && tip.dot(direction) <= 0.0 {
            D::ZERO
        } else {
            tip
        }
    }
}
