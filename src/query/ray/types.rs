//! Rays and their hits.

use bevy::reflect::Reflect;

use crate::{
    math::{Ray2d, Ray3d, Vec2, Vec3},
    query::length_to_f32,
    shape::Line,
    space::{DVector, Space},
    tolerance::TOUCHING,
};

/// A bound on the rounding error of the vector from a ray's origin to a hit, as a fraction of the
/// vector's length. For a hit on the back, this constant also bounds the rounding of the origin.
const LINE_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// A ray or a segment: the argument of [`cast_ray`](super::cast_ray).
///
/// A ray hits nothing if its direction is zero, if its direction or origin is not finite, or if its
/// maximum distance is negative or NaN.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::query::Ray;
///
/// let downward = Ray::new(Vec3::new(0.0, 5.0, 0.0), Vec3::NEG_Y).with_max_distance(10.0);
/// let sight = Ray::between(Vec3::ZERO, Vec3::new(3.0, 4.0, 0.0));
/// assert_eq!(sight.max_distance, 5.0);
/// let picked = Ray::from(Ray3d::new(Vec3::ZERO, Dir3::X));
/// assert_eq!(picked, Ray::new(Vec3::ZERO, Vec3::X));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
pub struct Ray<V: Space> {
    /// The point at which the ray begins.
    pub origin: V,
    /// The direction, of any length greater than 0. This length does not affect distances, which
    /// are in the units of the world.
    pub direction: V,
    /// The distance at which the ray ends, infinite by default. A hit at exactly this distance is
    /// reported.
    pub max_distance: f32,
    /// `true` if the ray hits only surfaces: a ray from inside hits the far side from within. The
    /// default is `false`: shapes are solid, and a ray from inside hits at distance 0.
    pub hollow: bool,
}

impl<V: Space> Ray<V> {
    /// Returns an endless ray that hits solid shapes.
    pub fn new(origin: V, direction: V) -> Self {
        Self {
            origin,
            direction,
            max_distance: f32::INFINITY,
            hollow: false,
        }
    }

    /// Returns the ray from one point to another. If the points are equal, the ray hits nothing.
    pub fn between(start: V, end: V) -> Self {
        let direction = V::from_f64(end.to_f64() - start.to_f64());
        // The length is rounded up, so that the ray reaches a surface at its end.
        let exact = direction.to_f64().length();
        let rounded = length_to_f32(exact);
        let is_short = f64::from(rounded) < exact && rounded < f32::MAX;
        let length = if is_short { rounded.next_up() } else { rounded };
        Self::new(start, direction).with_max_distance(length)
    }

    /// Sets the distance at which the ray ends.
    #[must_use]
    pub fn with_max_distance(self, max_distance: f32) -> Self {
        Self {
            max_distance,
            ..self
        }
    }

    /// Makes the ray hit only surfaces: see [`hollow`](Self#structfield.hollow).
    #[must_use]
    pub fn hollow(self) -> Self {
        Self {
            hollow: true,
            ..self
        }
    }

    /// Returns the ray in f64, or `None` if it is invalid.
    pub(crate) fn in_f64(&self) -> Option<WorldRay<V::DVec>> {
        let is_valid = self.origin.is_finite() && self.max_distance >= 0.0;
        let direction = self.direction.to_f64().unit().filter(|_| is_valid)?;
        Some(WorldRay {
            origin: self.origin.to_f64(),
            direction,
            max: self.max_distance.into(),
            hollow: self.hollow,
        })
    }
}

/// The default is a ray without a direction, which hits nothing.
impl<V: Space> Default for Ray<V> {
    fn default() -> Self {
        Self::new(V::default(), V::default())
    }
}

impl From<Ray2d> for Ray<Vec2> {
    fn from(ray: Ray2d) -> Self {
        Self::new(ray.origin, *ray.direction)
    }
}

impl From<Ray3d> for Ray<Vec3> {
    fn from(ray: Ray3d) -> Self {
        Self::new(ray.origin, *ray.direction)
    }
}

/// The first point at which a ray hits a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit<V> {
    /// The distance from the origin of the ray, in the units of the world.
    pub distance: f32,
    /// The point that is hit, rounded to f32 toward the side from which the ray comes. So another
    /// ray can begin at this point: see [`cast_ray`](super::cast_ray).
    pub point: V,
    /// The unit normal of the surface, on the side from which the ray comes. For
    /// [`RaySide::Inside`], the normal is opposite to the ray's direction.
    pub normal: V,
    /// The side of the surface that is hit.
    pub side: RaySide,
    /// The index of the hit part of a compound or of the hit facet of a surface, or 0 for a convex
    /// shape.
    pub part: u32,
}

/// The side from which a ray hits a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RaySide {
    /// The outer side. The outer side of a mesh's triangle is the side from which its vertices run
    /// counter-clockwise. If a shape has no inside, such as a segment, both sides are outer sides.
    Front,
    /// The inner side: a [hollow](Ray#structfield.hollow) ray leaves a shape, or a ray hits a facet
    /// from behind.
    Back,
    /// No surface is hit: the ray begins inside a solid shape.
    Inside,
}

/// A valid ray in the world, in f64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorldRay<D> {
    pub origin: D,
    /// The direction, of unit length.
    pub direction: D,
    /// The maximum distance of a hit.
    pub max: f64,
    pub hollow: bool,
}

/// A hit of a [`WorldRay`], in the same frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorldRayHit<D> {
    pub distance: f64,
    /// The unit normal: see [`RayHit::normal`].
    pub normal: D,
    pub side: RaySide,
    pub part: u32,
}

/// A ray in the frame of a shape, or in another frame into which an affine map takes the ray. The
/// line begins at the origin of the ray.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalRay<D> {
    pub line: Line<D>,
    /// The maximum parameter t of a hit on the line.
    pub max: f64,
    pub hollow: bool,
}

/// A hit in the frame of a [`LocalRay`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalHit<D> {
    pub t: f64,
    /// The outward normal of the surface, of any length, or zero for [`RaySide::Inside`].
    pub normal: D,
    pub side: RaySide,
}

impl<D: DVector> WorldRay<D> {
    /// Returns the image of the ray under the affine map x -> `inverse * (x - translation)`.
    /// Distances along the ray keep their values.
    #[inline]
    pub fn mapped(&self, inverse: D::Matrix, translation: D) -> LocalRay<D> {
        LocalRay {
            line: Line {
                origin: inverse * (self.origin - translation),
                direction: inverse * self.direction,
            },
            max: self.max,
            hollow: self.hollow,
        }
    }

    /// Converts a hit of the [mapped](Self::mapped) ray to the frame of this ray. `outward` is the
    /// outward normal in this frame, of any length. If the surface has no normal, as at the tip of
    /// a cone, the normal is opposite to the ray.
    #[inline]
    pub fn hit_of_local(&self, hit: &LocalHit<D>, outward: D, part: u32) -> Option<WorldRayHit<D>> {
        let normal = outward.unit().filter(|_| hit.side != RaySide::Inside);
        hit.t.is_finite().then(|| WorldRayHit {
            distance: hit.t,
            normal: normal.map_or(-self.direction, |normal| normal.toward(-self.direction)),
            side: hit.side,
            part,
        })
    }

    /// Returns a bound on the rounding of the origin to f32 along a vector, times the length of the
    /// vector.
    pub fn rounding_along(&self, vector: D) -> f64 {
        TOUCHING * self.origin.scaled(vector).extent()
    }

    /// Converts a hit of this ray to f32.
    pub fn hit_in_world<V: Space<DVec = D>>(&self, hit: &WorldRayHit<D>) -> RayHit<V> {
        RayHit {
            distance: length_to_f32(hit.distance),
            point: self.point_of(hit),
            normal: V::from_f64(hit.normal),
            side: hit.side,
            part: hit.part,
        }
    }

    /// Returns the point of a hit, rounded to the nearest point in f32. If, as seen from the ray,
    /// that point is behind the tangent plane of the surface, the point is rounded along the normal
    /// instead. So a ray that begins at the rounded point and does not point into the plane never
    /// hits the same convex shape again.
    fn point_of<V: Space<DVec = D>>(&self, hit: &WorldRayHit<D>) -> V {
        let step = self.direction * hit.distance;
        let rounding = step.copysign(D::ONE) * LINE_ROUNDING;
        let exact = (self.origin + step).in_f32_range();
        // A sum that is only rounding error becomes 0, because rounding the sum to f32 would keep
        // the sign of the error.
        let mut point = D::of(core::array::from_fn(|index| {
            let sum = exact.component(index);
            let is_rounding = sum.abs() <= rounding.component(index);
            if is_rounding { 0.0 } else { sum }
        }));
        if hit.side == RaySide::Back {
            // Without this step, a ray that begins on the facet and points to the facet's back
            // would hit the facet again.
            let rounding = LINE_ROUNDING * (self.origin.extent() + hit.distance);
            point = point + hit.normal * rounding;
        }
        let nearest = V::from_f64(point);
        // In f64, the difference of two f32 points is exact, unless the coordinates of one point
        // are far larger than the coordinates of the other point.
        let rounded = nearest.to_f64();
        let (error, tolerance) = match hit.side {
            RaySide::Back => (rounded - point, 0.0),
            _ => (
                rounded - self.origin - step,
                rounding.scaled(hit.normal).extent(),
            ),
        };
        if hit.normal.dot(error) >= -tolerance {
            return nearest;
        }
        V::from_f64(D::of(core::array::from_fn(|index| {
            let component = rounded.component(index) as f32;
            let normal = hit.normal.component(index);
            let is_behind = error.component(index) * normal < 0.0;
            f64::from(match is_behind {
                true if normal > 0.0 => component.next_up().min(f32::MAX),
                true => component.next_down().max(f32::MIN),
                false => component,
            })
        })))
    }
}
