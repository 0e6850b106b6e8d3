//! Constructors of colliders for common shapes.

use crate::{
    Collider,
    math::{
        Capsule2d, Capsule3d, Circle, Cone, Cuboid, Cylinder, Ellipse, Rectangle, RegularPolygon,
        Sphere,
    },
    shape::{Dimension, Shape, ShapeError},
};

/// # Common shapes
///
/// Shapes are centered on the entity's origin, unless they are defined by points. Lengths are in
/// the entity's units. If a number is invalid, such as a negative radius, the collider is inert,
/// and one warning names the entity. [`try_new`](Self::try_new) returns an error instead of an
/// inert collider.
///
/// `Collider::from` also accepts most other convex primitives of Bevy.
impl Collider {
    /// Creates a circle.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::circle(0.5).is_inert());
    /// ```
    pub fn circle(radius: f32) -> Self {
        Circle { radius }.into()
    }

    /// Creates an ellipse with the given half-lengths along x and y.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::ellipse(2.0, 1.0).is_inert());
    /// ```
    pub fn ellipse(half_width: f32, half_height: f32) -> Self {
        Ellipse::new(half_width, half_height).into()
    }

    /// Creates a rectangle with the given full lengths along x and y.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::rectangle(30.0, 20.0).is_inert());
    /// ```
    pub fn rectangle(width: f32, height: f32) -> Self {
        Rectangle::new(width, height).into()
    }

    /// Creates a 2D capsule along y. `length` is the distance between the centers of the two half
    /// circles: the full height is `length + 2 * radius`.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::capsule_2d(0.5, 1.0).is_inert());
    /// ```
    pub fn capsule_2d(radius: f32, length: f32) -> Self {
        Capsule2d::new(radius, length).into()
    }

    /// Creates a regular polygon with 3 to 4096 sides and a corner at the top. `circumradius` is
    /// the distance from the center to each corner.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::regular_polygon(1.0, 6).is_inert());
    /// assert!(Collider::regular_polygon(1.0, 2).is_inert());
    /// ```
    pub fn regular_polygon(circumradius: f32, sides: u32) -> Self {
        // The polygon is a struct literal, because `RegularPolygon::new` panics if an argument is
        // invalid.
        let circumcircle = Circle {
            radius: circumradius,
        };
        let polygon = RegularPolygon {
            circumcircle,
            sides,
        };
        polygon.into()
    }

    /// Creates a sphere.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::sphere(0.5).is_inert());
    /// ```
    pub fn sphere(radius: f32) -> Self {
        Sphere { radius }.into()
    }

    /// Creates a box with the given full lengths along x, y and z.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::cuboid(1.0, 2.0, 1.0).is_inert());
    /// ```
    pub fn cuboid(x_length: f32, y_length: f32, z_length: f32) -> Self {
        Cuboid::new(x_length, y_length, z_length).into()
    }

    /// Creates a 3D capsule along y. `length` is the distance between the centers of the two
    /// hemispheres: the full height is `length + 2 * radius`.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::capsule_3d(0.5, 1.0).is_inert());
    /// ```
    pub fn capsule_3d(radius: f32, length: f32) -> Self {
        Capsule3d::new(radius, length).into()
    }

    /// Creates a cylinder along y. `height` is the full height.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::cylinder(0.5, 2.0).is_inert());
    /// ```
    pub fn cylinder(radius: f32, height: f32) -> Self {
        Cylinder::new(radius, height).into()
    }

    /// Creates a cone along y, with its tip up. `radius` is the radius of the base, and `height` is
    /// the full height.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// assert!(!Collider::cone(0.5, 2.0).is_inert());
    /// ```
    pub fn cone(radius: f32, height: f32) -> Self {
        Cone::new(radius, height).into()
    }

    /// Creates a segment between two points, which are `Vec2` in 2D and `Vec3` in 3D.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// use bevy::math::Vec2;
    ///
    /// assert!(!Collider::segment(Vec2::ZERO, Vec2::new(3.0, 1.0)).is_inert());
    /// ```
    pub fn segment<V: Dimension>(start: V, end: V) -> Self {
        Self::of_checked(Shape::Segment([start, end]).checked())
    }

    /// Creates a solid triangle. The corners are `Vec2` in 2D and `Vec3` in 3D, in any order.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// use bevy::math::Vec3;
    ///
    /// assert!(!Collider::triangle(Vec3::X, Vec3::Y, Vec3::Z).is_inert());
    /// ```
    pub fn triangle<V: Dimension>(a: V, b: V, c: V) -> Self {
        Self::of_checked(Shape::Triangle([a, b, c]).checked())
    }

    /// Creates a half-space: the plane through the origin with the given normal, and all points on
    /// the side opposite to the normal. The normal is a `Vec2` in 2D and a `Vec3` in 3D. The normal
    /// may have any length except 0.
    ///
    /// ```
    /// # use headbutt::Collider;
    /// use bevy::math::Vec3;
    ///
    /// let ground = Collider::half_space(Vec3::Y);
    /// assert!(!ground.is_inert());
    /// ```
    pub fn half_space<V: Dimension>(normal: V) -> Self {
        Self::of_checked(Shape::HalfSpace { normal }.checked())
    }

    fn of_checked<V: Dimension>(shape: Result<Shape<V>, ShapeError>) -> Self {
        shape.map_or_else(Self::rejected, Self::of)
    }
}
