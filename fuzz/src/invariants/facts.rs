//! The properties of a test shape, computed from its numbers.

use bevy::math::DVec3;

use super::dimension::Dimension;

/// The degree to which a shape fulfills the contract of [`Support`](headbutt::Support).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// The shape fulfills the contract.
    #[default]
    Valid,
    /// Some support points are not finite, or not the farthest point.
    Invalid,
    /// Like `Invalid`. In addition, the support point in a direction changes from call to call.
    Nondeterministic,
    /// No support point is finite, or the radius is invalid: the shape touches nothing.
    Empty,
}

/// The properties of a primitive, computed without the library.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The lengths and coordinates.
    pub numbers: Vec<f64>,
    /// The angles, in radians, and the counts.
    pub others: Vec<f64>,
    /// `true` if a collider must accept the primitive.
    pub is_shape: bool,
    pub validity: Validity,
    pub extent: Extent,
}

/// The extent of a shape.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// The radius of a ball that contains the shape.
    pub size: f64,
    /// The radius of a ball around the shape's own origin that contains the shape.
    pub origin_radius: f64,
}

impl Extent {
    pub fn of<V: Dimension>(points: &[V], radius: f64) -> Self {
        let points = points.iter().map(|point| point.to_dvec3());
        let low = points.clone().reduce(DVec3::min).unwrap_or_default();
        let high = points.clone().reduce(DVec3::max).unwrap_or_default();
        let center = (low + high) * 0.5;
        let radius_around = |from: DVec3| {
            let lengths = points.clone().map(|point| point.distance(from));
            radius + lengths.fold(0.0, f64::max)
        };
        Self {
            size: radius_around(center),
            origin_radius: radius_around(DVec3::ZERO),
        }
    }
}

pub fn all_finite<V: Dimension>(points: &[V]) -> bool {
    points.iter().all(|point| point.to_dvec3().is_finite())
}

pub fn finite_or_empty(finite: bool) -> Validity {
    if finite {
        Validity::Valid
    } else {
        Validity::Empty
    }
}

pub fn radius_validity(radius: f64) -> Validity {
    finite_or_empty(radius.is_finite() && radius >= 0.0)
}

pub fn points_validity<V: Dimension>(points: &[V]) -> Validity {
    if points.is_empty() {
        Validity::Empty
    } else if all_finite(points) {
        Validity::Valid
    } else {
        Validity::Invalid
    }
}
