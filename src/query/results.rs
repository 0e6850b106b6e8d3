//! The results of the queries: contacts, distances and manifolds. The results of casts and rays are
//! in `cast/hit.rs` and `ray/types.rs`.

use smallvec::SmallVec;

use crate::{
    math::Vec3,
    space::{DVector, Space},
};

/// The contact of two shapes that overlap or touch, in the frame and the units of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<V> {
    /// The unit vector **from the first shape to the second**. Moving the second shape by `normal *
    /// depth`, or the first shape by `-normal * depth`, leaves the shapes just touching. No shorter
    /// translation separates the shapes.
    ///
    /// If several translations are equally short, the normal is the direction of one of these
    /// translations. The choice is always the same for the same shapes in the same poses. For
    /// concentric balls, the normal is the x axis of one ball.
    pub normal: V,
    /// The penetration depth along the normal, 0 if the shapes only touch.
    pub depth: f32,
    /// The point of the first shape's surface that is deepest in the second shape.
    pub point_a: V,
    /// The point of the second shape's surface that is deepest in the first shape:
    /// `point_a - normal * depth`.
    pub point_b: V,
}

impl<V: Space> Contact<V> {
    /// Returns a contact in world coordinates, given the translations of the two shapes.
    #[inline(always)]
    pub(crate) fn in_world(contact: &Contact64<V::DVec>, origins: [V::DVec; 2]) -> Self {
        let [point_a, point_b] = contact.points_in_world(origins);
        Self {
            normal: V::from_f64(contact.normal),
            depth: length_to_f32(contact.depth),
            point_a,
            point_b,
        }
    }

    /// Returns the contact with 3D vectors. The z of 2D vectors becomes 0.
    pub(crate) fn to_vec3(self) -> Contact<Vec3> {
        Contact {
            normal: self.normal.to_vec3(),
            depth: self.depth,
            point_a: self.point_a.to_vec3(),
            point_b: self.point_b.to_vec3(),
        }
    }
}

/// The distance between two shapes, and their nearest points, in the frame and the units of the
/// world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance<V> {
    /// The minimum distance between a point of one shape and a point of the other, 0 if the shapes
    /// touch.
    pub distance: f32,
    /// The first shape's point nearest to the second shape, or a common point if the shapes touch.
    pub point_a: V,
    /// The second shape's point nearest to the first shape, or `point_a` if the shapes touch.
    pub point_b: V,
}

impl<V: Space> Distance<V> {
    /// Returns the result in world coordinates, given the distance, the nearest points, and the
    /// translations of the two shapes. The result for an invalid shape is
    /// [`infinite`](Self::infinite).
    #[inline(always)]
    pub(crate) fn in_world(
        found: Option<(f64, Contact64<V::DVec>)>,
        origins: [V::DVec; 2],
    ) -> Self {
        match found {
            Some((distance, nearest)) => Self::new(distance, nearest.points_in_world(origins)),
            None => Self::infinite(),
        }
    }

    /// Returns the result for a distance in f64 and the two nearest points.
    pub(crate) fn new(distance: f64, [point_a, point_b]: [V; 2]) -> Self {
        Self {
            // A positive distance is never rounded to 0.
            distance: if distance > 0.0 {
                length_to_f32(distance).max(f32::from_bits(1))
            } else {
                0.0
            },
            point_a,
            point_b,
        }
    }

    /// Returns the distance with 3D points. The z of 2D points becomes 0.
    pub(crate) fn to_vec3(self) -> Distance<Vec3> {
        Distance {
            distance: self.distance,
            point_a: self.point_a.to_vec3(),
            point_b: self.point_b.to_vec3(),
        }
    }

    /// Returns an infinite distance with NaN points.
    pub(crate) fn infinite() -> Self {
        let nan = V::from_f64(V::default().to_f64() * f64::NAN);
        Self {
            distance: f32::INFINITY,
            point_a: nan,
            point_b: nan,
        }
    }
}

/// The contact of two shapes with up to four points, in the frame and the units of the world. The
/// points are corners of the intersection of the two faces or edges that touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold<V: Space> {
    /// The unit normal: see [`Contact::normal`].
    pub normal: V,
    points: SmallVec<[ManifoldPoint<V>; 4]>,
}

impl<V: Space> Manifold<V> {
    /// Returns a manifold in world coordinates, given its contacts and the translations of the two
    /// shapes.
    #[inline(always)]
    pub(crate) fn new(
        contacts: impl IntoIterator<Item = Contact64<V::DVec>>,
        origins: [V::DVec; 2],
    ) -> Self {
        let mut manifold = Self {
            normal: V::default(),
            points: SmallVec::new(),
        };
        for contact in contacts {
            let [point_a, point_b] = contact.points_in_world(origins);
            manifold.normal = V::from_f64(contact.normal);
            manifold.points.push(ManifoldPoint {
                depth: length_to_f32(contact.depth),
                point_a,
                point_b,
            });
        }
        manifold
    }

    /// Returns the manifold with 3D vectors. The z of 2D vectors becomes 0.
    pub(crate) fn to_vec3(&self) -> Manifold<Vec3> {
        let point = |point: &ManifoldPoint<V>| ManifoldPoint {
            depth: point.depth,
            point_a: point.point_a.to_vec3(),
            point_b: point.point_b.to_vec3(),
        };
        Manifold {
            normal: self.normal.to_vec3(),
            points: self.points.iter().map(point).collect(),
        }
    }

    /// Returns one to four points, or in 2D one or two points. The deepest point comes first. The
    /// other points follow in order around the outline, clockwise or counter-clockwise.
    pub fn points(&self) -> &[ManifoldPoint<V>] {
        &self.points
    }
}

/// A point of a [`Manifold`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManifoldPoint<V> {
    /// The penetration depth at this point along the normal, 0 or more.
    pub depth: f32,
    /// A point on the first shape's surface, or slightly below it: see
    /// [`manifold`](super::manifold()).
    pub point_a: V,
    /// The opposite point on the second shape: `point_a - normal * depth`.
    pub point_b: V,
}

/// A contact in f64, in world axes. Each point is relative to the translation of its own shape, so
/// that the point is precise even far from the origin of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact64<D> {
    /// The unit vector from the caller's first shape to the caller's second shape.
    pub normal: D,
    /// The penetration depth along the normal, at least 0.
    pub depth: f64,
    /// The contact point on the first shape, relative to the translation of this shape.
    pub offset_a: D,
    /// The contact point on the second shape, relative to the translation of this shape.
    pub offset_b: D,
}

impl<D: DVector> Contact64<D> {
    /// Returns the same contact relative to other origins, given the positions of the old origins
    /// relative to the new origins.
    pub(crate) fn moved(&self, [of_a, of_b]: [D; 2]) -> Self {
        Self {
            offset_a: self.offset_a + of_a,
            offset_b: self.offset_b + of_b,
            ..*self
        }
    }

    /// Returns the points on both shapes in world coordinates, given the translations of the
    /// shapes.
    #[inline(always)]
    pub(crate) fn points_in_world<V: Space<DVec = D>>(&self, [a, b]: [D; 2]) -> [V; 2] {
        [
            V::from_f64((a + self.offset_a).in_f32_range()),
            V::from_f64((b + self.offset_b).in_f32_range()),
        ]
    }

    /// Returns the contact, with the two shapes exchanged if `is_swapped` is `true`.
    #[inline(always)]
    pub(crate) fn flipped_if(&self, is_swapped: bool) -> Self {
        if is_swapped { self.flipped() } else { *self }
    }

    /// Returns the same contact with the two shapes exchanged.
    #[inline(always)]
    pub(crate) fn flipped(&self) -> Self {
        Self {
            normal: -self.normal,
            depth: self.depth,
            offset_a: self.offset_b,
            offset_b: self.offset_a,
        }
    }
}

/// Rounds a length to f32. Lengths beyond the range of f32 become [`f32::MAX`], because infinity
/// times a zero component of the normal is NaN.
pub(crate) fn length_to_f32(length: f64) -> f32 {
    length.min(f64::from(f32::MAX)) as f32
}
