//! The support functions of ellipsoids, frustums, caps and diamonds.
//!
//! Frustums and caps are symmetric around y: in 3D they are solids of revolution, in 2D sections
//! through the axis. A direction d is split into its y component `along` and a vector orthogonal to
//! y, whose length is `across`.
//!
//! If every point of a frustum's end or of a cap's flat side is a support point, the function
//! returns the center of that disc. The center does not depend on the rotation around y. So a
//! cylinder that stands on a floor gets the expected contact point.
//!
//! Queries do not check shapes, so a negative length is treated as its absolute value.

use core::{
    cmp::Ordering,
    f32::consts::{FRAC_PI_2, PI},
};

use crate::space::DVector;

/// Returns the unit vector in the direction of `vector`, or the zero vector if `vector` has no
/// direction.
#[inline]
pub fn unit_or_zero<D: DVector>(vector: D) -> D {
    vector.unit().unwrap_or(D::ZERO)
}

/// Returns the y component of a direction, and the unit vector and the length of the component
/// orthogonal to y. If the direction is along y, the vector is zero.
#[inline]
fn split_along_y<D: DVector>(direction: D) -> (f64, D, f64) {
    let along = direction.component(1);
    let across = direction - D::axis(1) * along;
    let side = unit_or_zero(across);
    (along, side, side.dot(across))
}

/// Returns the support point of the ellipsoid with half axes `half_size`.
///
/// The ellipsoid is the image of the unit ball under the diagonal map H of the half axes. So max {
/// d · H x | |x| = 1 } is reached at x = H d / |H d|.
#[inline]
pub fn ellipsoid<D: DVector>(half_size: D, direction: D) -> D {
    unit_or_zero(direction.scaled(half_size)).scaled(half_size)
}

/// Returns the support point of the hull of the points at ±`half_diagonals` on the axes. If several
/// of these points are equally far, the result is on the first of their axes.
#[inline]
pub fn diamond<D: DVector>(half_diagonals: D, direction: D) -> D {
    let heights = half_diagonals.scaled(direction);
    let farthest = (1..D::DIMENSION).fold(0, |best, index| {
        let is_farther = heights.component(index).abs() > heights.component(best).abs();
        if is_farther { index } else { best }
    });
    let axis = D::axis(farthest);
    // The whole vector is scaled, so that NaN in any component gives a result with NaN.
    half_diagonals.copysign(direction).scaled(axis)
}

/// Returns the support point of the hull of two discs normal to y: one at `half_height` with radius
/// `top`, one at -`half_height` with radius `bottom`.
///
/// The support point of a disc is the rim point toward d. With a = `along` and c = `across`, the
/// upper support point has d · x = a `half_height` + c `top`. The lower support point has
/// d · x = -a `half_height` + c `bottom`.
#[inline]
pub fn frustum<D: DVector>(half_height: f64, top: f64, bottom: f64, direction: D) -> D {
    let (half_height, top, bottom) = (half_height.abs(), top.abs(), bottom.abs());
    let (along, side, across) = split_along_y(direction);
    let difference = 2.0 * half_height * along + (top - bottom) * across;
    let (height, radius) = match difference.partial_cmp(&0.0) {
        Some(Ordering::Less) => (-half_height, bottom),
        Some(Ordering::Equal | Ordering::Greater) => (half_height, top),
        None => (f64::NAN, f64::NAN),
    };
    side * radius + D::axis(1) * height
}

/// Returns the minimum and maximum coordinates of a [`frustum`]'s image under a linear map. The
/// lengths are those of `frustum`: the half height, and the radii of the top and the bottom.
///
/// Along a coordinate axis, the image of a disc of radius r extends from the image of its center by
/// r times the length of a row of the map, without the row's y component.
pub fn frustum_bounds<D: DVector>(lengths: [f64; 3], linear: D::Matrix) -> [D; 2] {
    let [half_height, top, bottom] = lengths.map(f64::abs);
    let up = D::column(linear, 1) * half_height;
    let columns = (0..D::DIMENSION).filter(|index| *index != 1);
    let squares = columns.map(|index| D::column(linear, index));
    let squares = squares.fold(D::ZERO, |sum, column| sum + column.scaled(column));
    let reach = D::of(squares.components().map(f64::sqrt));
    let (top, bottom) = (reach * top, reach * bottom);
    [(up - top).min(-up - bottom), (up + top).max(bottom - up)]
}

/// The convex hull of a spherical cap: the points of a sphere around the origin whose angle from
/// the y axis is at most `half_angle`. If the cap is pointed, the hull also contains the origin. In
/// 2D, a cap is a circular segment or sector.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Cap {
    /// The radius of the sphere.
    pub radius: f32,
    /// The angle between y and the rim, in radians.
    pub half_angle: f32,
    /// `true` if the hull also contains the origin.
    pub pointed: bool,
    #[cfg_attr(feature = "serialize", serde(skip))]
    sin: f64,
    #[cfg_attr(feature = "serialize", serde(skip))]
    cos: f64,
}

impl Cap {
    /// Creates a cap. The sine and cosine of the half angle come from `libm`, which returns the
    /// same values on every platform.
    pub fn new(radius: f32, half_angle: f32, pointed: bool) -> Self {
        // `PI` in f32 is larger than π, so its sine would be negative.
        let angle = f64::from(half_angle.abs().clamp(0.0, PI.next_down()));
        Self {
            radius,
            half_angle,
            pointed,
            sin: libm::sin(angle),
            cos: libm::cos(angle),
        }
    }

    /// Returns the sine and the cosine of the half angle.
    pub fn sine_and_cosine(&self) -> [f64; 2] {
        [self.sin, self.cos]
    }

    /// Returns `true` if the cap has a reflex angle at the origin. Half a circle counts as convex,
    /// although `FRAC_PI_2` in f32 is 4e-8 larger than π / 2.
    pub fn is_concave(&self) -> bool {
        self.pointed && self.half_angle > FRAC_PI_2 && self.half_angle < PI
    }

    /// Returns the support point.
    ///
    /// Let A be the angle between d and y, and h the half angle. If A < h, the result is the
    /// support point of the sphere. Otherwise, the result is the rim point that is farthest along
    /// d. If the cap is pointed, and the rim point is not farther along d than the origin, the
    /// result is the origin.
    ///
    /// Both angles are in 0..=π, so A < h means sin(A - h) < 0. A comparison of cosines would be
    /// too imprecise for angles below 1e-8.
    #[inline]
    pub fn support<D: DVector>(&self, direction: D) -> D {
        let radius = f64::from(self.radius.abs());
        let (along, side, across) = split_along_y(direction);
        if across * self.cos < along * self.sin {
            return unit_or_zero(direction) * radius;
        }
        let rim = (side * self.sin + D::axis(1) * self.cos) * radius;
        if self.pointed && rim.dot(direction) <= 0.0 {
            D::ZERO
        } else {
            rim
        }
    }
}
