//! The results of the queries.

use smallvec::SmallVec;

use crate::space::Space;

/// The contact of two shapes that overlap or touch, in the frame and the units of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<V> {
    /// The unit vector **from the first shape to the second**. Moving the second shape by
    /// `normal * depth`, or the first shape by the opposite, leaves them just touching. No shorter
    /// translation does.
    ///
    /// If several translations are equally short, the normal is the direction of one of them, and
    /// always the same one for the same shapes in the same poses. For concentric balls, it is the x
    /// axis of one of them.
    pub normal: V,
    /// The penetration depth along the normal, 0 if the shapes only touch.
    pub depth: f32,
    /// The point of the first shape's surface that is deepest in the second shape.
    pub point_a: V,
    /// The point of the second shape's surface that is deepest in the first shape:
    /// `point_a - normal * depth`.
    pub point_b: V,
}

/// The distance of two shapes and their nearest points, in the frame and the units of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance<V> {
    /// The minimum distance between a point of one shape and a point of the other, 0 if they touch.
    pub distance: f32,
    /// The first shape's point nearest to the second shape, or a common point if they touch.
    pub point_a: V,
    /// The second shape's point nearest to the first shape, or the same common point.
    pub point_b: V,
}

/// The contact of two shapes with up to four points, in the frame and the units of the world. The
/// points are corners of the intersection of the two faces or edges that touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold<V: Space> {
    /// The normal of the [`Contact`].
    pub normal: V,
    pub(super) points: SmallVec<[ManifoldPoint<V>; 4]>,
}

impl<V: Space> Manifold<V> {
    /// Returns the manifold of a contact in a single point.
    pub(super) fn of_contact(contact: Contact<V>) -> Self {
        let mut points = SmallVec::new();
        points.push(ManifoldPoint {
            depth: contact.depth,
            point_a: contact.point_a,
            point_b: contact.point_b,
        });
        let normal = contact.normal;
        Self { normal, points }
    }

    /// Returns one to four points (in 2D, one or two): the deepest one first, and the others in
    /// order around the outline, clockwise or counter-clockwise.
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

/// A contact in f64, in world axes. Each point is relative to the translation of its own
/// shape, so that it is exact far from the origin as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalContact<D> {
    /// The unit vector from the first shape of the caller to the second.
    pub normal: D,
    /// The penetration depth along the normal, at least 0.
    pub depth: f64,
    /// The point on the first shape.
    pub offset_a: D,
    /// The point on the second shape.
    pub offset_b: D,
}

/// Rounds a length to f32. Lengths beyond the range of f32 become [`f32::MAX`], because infinity
/// times a zero component of the normal is NaN.
pub(crate) fn length_to_f32(length: f64) -> f32 {
    length.min(f64::from(f32::MAX)) as f32
}
