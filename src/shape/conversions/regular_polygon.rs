//! Regular polygons. A collider holds the hull of the vertices. A query on the primitive itself
//! uses the primitive's support function.

use core::{
    cmp::Ordering,
    f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, TAU},
};

use crate::{
    math::{DVec2, RegularPolygon, Vec2},
    shape::{
        ConvexHull, ShapeError,
        conversions::into_shape::{IntoShape, sealed},
        support::{Shape, Support},
    },
    space::Space,
};

/// The maximum number of vertices of a regular polygon. Bevy's `sides` can be up to 2³² - 1.
const MAX_SIDES: u32 = 4096;

/// Returns vertex `index` on the unit circle. As in Bevy, the first vertex is at the top, and the
/// other vertices follow counter-clockwise.
///
/// Bevy's own function uses the platform's sine and cosine, in f32. This function uses `libm`,
/// which gives the same results on every platform. Integer arithmetic reduces all angles to the
/// range from 0 to π/4. So vertices on an axis are exact, and mirrored vertices have the same
/// digits.
fn vertex(index: u64, sides: u32) -> DVec2 {
    let sides = u64::from(sides);
    let (quarter, part) = (4 * index / sides, 4 * index % sides);
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
    // Angles are measured counter-clockwise from the y axis.
    match quarter % 4 {
        0 => DVec2::new(-sin, cos),
        1 => DVec2::new(-cos, -sin),
        2 => DVec2::new(sin, -cos),
        _ => DVec2::new(cos, sin),
    }
}

/// Computes the support point without a list of the vertices. The result is the vertex whose angle
/// is nearest to the angle of the direction.
impl Support for RegularPolygon {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        let sides = f64::from(self.sides);
        let angle = libm::atan2(-direction.x, direction.y);
        let index = (angle / TAU * sides).round().rem_euclid(sides);
        if index < sides {
            vertex(index as u64, self.sides) * f64::from(self.circumcircle.radius.abs())
        } else {
            // The polygon has no sides, or the direction is invalid.
            DVec2::NAN
        }
    }

    fn to_shape(&self) -> Option<Shape<Vec2>> {
        self.into_shape().ok()
    }
}

impl sealed::Sealed for RegularPolygon {}
impl IntoShape for RegularPolygon {
    type Vector = Vec2;

    fn into_shape(self) -> Result<Shape<Vec2>, ShapeError> {
        ShapeError::check_length("radius", self.circumcircle.radius)?;
        if !(3..=MAX_SIDES).contains(&self.sides) {
            return Err(ShapeError::SideCount);
        }
        let radius = f64::from(self.circumcircle.radius);
        let vertices =
            (0..self.sides).map(|index| Vec2::from_f64(vertex(index.into(), self.sides) * radius));
        ConvexHull::new(vertices).map(Shape::Hull)
    }
}
