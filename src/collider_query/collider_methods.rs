//! Methods of [`Collider`] in a pose: its bounding box, its closest point, and whether it contains
//! a point. Spatial queries call [`closest_point`] and [`with_point`].

use crate::{
    Collider,
    collider_query::{
        pair::{intersects, nearest_points},
        place::place,
    },
    math::{Vec2, Vec3},
    placed::{DynPart, PlacedCollider},
    query::Distance,
    shape::{Dimension, Shape},
    space::{QueryPose, Space},
};

/// An axis-aligned box in the world: see [`Collider::aabb`].
// This type replaces Bevy's own type, which moved between the releases that this crate supports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColliderAabb {
    /// The corner with the lowest coordinates.
    pub min: Vec3,
    /// The corner with the highest coordinates.
    pub max: Vec3,
}

/// The point of a collider that is nearest to another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint<V> {
    /// The distance, which is 0 inside a solid shape.
    pub distance: f32,
    /// The nearest point of the collider.
    pub point: V,
}

/// # Geometry
///
/// A pose is a `Transform`, a `GlobalTransform`, an isometry or a translation: see [`QueryPose`].
/// In an invalid pose, a collider touches nothing.
impl Collider {
    /// Returns the bounding box in the world. In 2D, both corners of the box have z = 0. Returns
    /// `None` for a half-space, which has no bounds, and for an inert collider.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let pose = Transform::from_xyz(1.0, 0.0, 0.0).with_scale(Vec3::new(2.0, 1.0, 1.0));
    /// let aabb = Collider::circle(1.0).aabb(pose).unwrap();
    /// assert!((aabb.min.x + 1.0).abs() < 1e-5 && (aabb.max.x - 3.0).abs() < 1e-5);
    /// ```
    ///
    /// The box contains every point that counts as touching the collider. So each side of the box
    /// is outside the shape by up to 1e-6 of the shape's size.
    pub fn aabb(&self, pose: impl Into<QueryPose<Collider>>) -> Option<ColliderAabb> {
        let pose = pose.into();
        self.aabb_in::<Vec2>(&pose)
            .or_else(|| self.aabb_in::<Vec3>(&pose))
    }

    fn aabb_in<V: Dimension>(&self, pose: &QueryPose<Collider>) -> Option<ColliderAabb> {
        let shape = V::body_of(self.shape())?;
        let (_, aabb) = PlacedCollider::new(shape, pose.world_pose::<V>()?).ok()?;
        let corner = |corner: [f32; 3]| V::projected(corner.into()).to_vec3();
        (!aabb.is_empty()).then(|| ColliderAabb {
            min: corner(aabb.min),
            max: corner(aabb.max),
        })
    }

    /// Returns `true` if a point in the world is in this collider or on its surface. The point is a
    /// `Vec2` for a 2D collider and a `Vec3` for a 3D collider.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let button = Collider::rectangle(80.0, 20.0);
    /// let pose = Transform::from_xyz(100.0, 50.0, 0.0);
    /// assert!(button.contains_point(pose, Vec2::new(135.0, 45.0)));
    /// assert!(!button.contains_point(pose, Vec2::new(135.0, 65.0)));
    /// ```
    ///
    /// A surface, even if one-sided, contains only the points on its facets. However, a collider
    /// from [`cells`](Self::cells) also contains the points inside the union of its cells.
    pub fn contains_point<V: Dimension>(
        &self,
        pose: impl Into<QueryPose<Collider>>,
        point: V,
    ) -> bool {
        let touches = place::<V>(self, &pose.into()).and_then(|placed| {
            with_point(point, |point| intersects((&placed).into(), point.into()))
        });
        touches.unwrap_or(false)
    }

    /// Returns the point of this collider that is nearest to a point in the world. If the collider
    /// contains the given point, returns that point. The point is a `Vec2` for a 2D collider and a
    /// `Vec3` for a 3D collider.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let wall = Collider::cuboid(2.0, 2.0, 2.0);
    /// let closest = wall.closest_point(Vec3::ZERO, Vec3::new(5.0, 0.5, 0.0));
    /// assert_eq!(closest, Some(Vec3::new(1.0, 0.5, 0.0)));
    /// ```
    ///
    /// Returns `None` for an inert collider, a collider of the other dimension, and a point that is
    /// not finite.
    pub fn closest_point<V: Dimension>(
        &self,
        pose: impl Into<QueryPose<Collider>>,
        point: V,
    ) -> Option<V> {
        let placed = place::<V>(self, &pose.into())?;
        with_point(point, |point| Some(closest_point(&placed, point)?.point))?
    }
}

/// Returns the point of a collider that is nearest to a point in the world, and its distance.
pub fn closest_point<V: Space>(
    placed: &PlacedCollider<V>,
    point: &DynPart<V>,
) -> Option<ClosestPoint<V>> {
    let (distance, points) = nearest_points(placed.into(), point.into())?;
    let point = V::from_f64(point.world_pose.translation);
    let nearest = V::from_f64(placed.world_pose.translation + points.contact.offset_a);
    let Distance { distance, .. } = Distance::new(distance, [nearest, point]);
    Some(ClosestPoint {
        distance,
        point: if distance > 0.0 { nearest } else { point },
    })
}

/// Calls a query with a point in the world. Returns `None` if the point is not finite.
pub fn with_point<V: Space, R>(point: V, query: impl FnOnce(&DynPart<V>) -> R) -> Option<R> {
    let ball = Shape::Ball { radius: 0.0 };
    let is_finite = point.is_finite();
    is_finite.then(|| query(&DynPart::point(&ball, point.to_f64())))
}
