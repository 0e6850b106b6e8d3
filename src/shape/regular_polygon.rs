//! Regular polygons: the corners of one, for the hull that a collider holds, and its support function, for queries.

use core::{
    cmp::Ordering,
    f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, TAU},
};

use crate::{
    math::{DVec2, RegularPolygon, Vec2},
    shape::{
        ConvexHull, ShapeError, Support,
        convex::Shape,
        into_shape::{ConvexShape, IntoShape, sealed},
    },
    space::Space,
};

/// The most corners that are listed. `sides` may be four billions: no hull has as many points.
const MAX_CORNERS: u32 = 4096;

/// Corner `number` of so many, on the unit circle: the first one is at the top, the others follow counter-clockwise, as
/// Bevy counts them.
///
/// Bevy's own function takes sine and cosine of the platform, in f32. Here they are those of `libm`, the same everywhere,
/// and of angles from 0 to pi / 4 alone, to which the symmetry of the circle leads back in whole numbers: corners that lie on an
/// axis, or mirror each other, do so to the bit.
fn corner(number: u64, sides: u32) -> DVec2 {
    let sides = u64::from(sides);
    let (quarter, part) = (4 * number / sides, 4 * number % sides);
    let functions = |part: u64| {
        let angle = FRAC_PI_2 * (part as f64 / sides as f64);
        (libm::sin(angle), libm::cos(angle))
    };
    let (sin, cos) = match (2 * part).cmp(&sides) {
        Ordering::Less => functions(part),
        Ordering::Equal => (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
        Ordering::Greater => {
            let (sin, cos) = functions(sides - part);
            (cos, sin)
        }
    };
    // From y on, which has the angle 0 here.
    match quarter % 4 {
        0 => DVec2::new(-sin, cos),
        1 => DVec2::new(-cos, -sin),
        2 => DVec2::new(sin, -cos),
        _ => DVec2::new(cos, sin),
    }
}

/// In a query the corners are not listed: the farthest one is the one whose angle is nearest to that of the direction.
impl Support for RegularPolygon {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        let sides = f64::from(self.sides);
        let angle = libm::atan2(-direction.x, direction.y);
        let number = (angle / TAU * sides).round().rem_euclid(sides);
        if number < sides {
            corner(number as u64, self.sides) * f64::from(self.circumcircle.radius.abs())
        } else {
            // There is no corner.
            DVec2::NAN
        }
    }
}

impl sealed::Sealed for RegularPolygon {}
impl ConvexShape for RegularPolygon {}
impl IntoShape for RegularPolygon {
    type Vector = Vec2;

    fn into_shape(self) -> Result<Shape<Vec2>, ShapeError> {
        ShapeError::check_length("radius", self.circumcircle.radius)?;
        if !(3..=MAX_CORNERS).contains(&self.sides) {
            return Err(ShapeError::Sides);
        }
        let radius = f64::from(self.circumcircle.radius);
        let corners = (0..self.sides)
            .map(|number| Vec2::from_f64(corner(number.into(), self.sides) * radius));
        ConvexHull::new(corners).map(Shape::Hull)
    }
}
