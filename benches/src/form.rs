//! Shapes, independent of any engine.

use std::sync::Arc;

use bevy::math::{Vec2, Vec3, primitives::*};
use headbutt::{Collider, ConvexHull, Support};

/// A shape in 2D (z is ignored) or 3D.
#[derive(Clone, Debug)]
pub enum Form {
    Ball { radius: f32 },
    Block { half: Vec3 },
    Capsule { radius: f32, half_length: f32 },
    Hull { points: Arc<[Vec3]> },
}

impl Form {
    /// Returns the radius of a ball around the origin that contains the shape.
    pub fn reach(&self) -> f32 {
        match self {
            Self::Ball { radius } => *radius,
            Self::Block { half } => half.length(),
            Self::Capsule {
                radius,
                half_length,
            } => radius + half_length,
            Self::Hull { points } => points.iter().map(|it| it.length()).fold(0.0, f32::max),
        }
    }

    /// Returns the radius of a ball that touches other shapes about as often as this shape does.
    pub fn mean_radius(&self, flat: bool) -> f32 {
        match self {
            Self::Ball { radius } => *radius,
            // The ball has the volume of the block. The radius gets a tenth more for the corners.
            Self::Block { half } if flat => 1.1 * (1.273 * half.x * half.y).sqrt(),
            Self::Block { half } => 1.1 * (1.910 * half.x * half.y * half.z).cbrt(),
            Self::Capsule {
                radius,
                half_length,
            } => radius + 0.5 * half_length,
            Self::Hull { .. } => 0.93 * self.reach(),
        }
    }

    /// Returns the points of a hull in 2D.
    pub fn flat_points(points: &[Vec3]) -> Vec<Vec2> {
        points.iter().map(|point| point.truncate()).collect()
    }

    /// Returns the collider for headbutt.
    pub fn collider(&self, flat: bool) -> Collider {
        match self {
            Self::Ball { radius } if flat => Circle::new(*radius).into(),
            Self::Ball { radius } => Sphere::new(*radius).into(),
            Self::Block { half } if flat => Rectangle::new(2.0 * half.x, 2.0 * half.y).into(),
            Self::Block { half } => Cuboid::from_size(2.0 * *half).into(),
            Self::Capsule {
                radius,
                half_length,
            } if flat => Capsule2d::new(*radius, 2.0 * half_length).into(),
            Self::Capsule {
                radius,
                half_length,
            } => Capsule3d::new(*radius, 2.0 * half_length).into(),
            Self::Hull { points } if flat => Collider::try_convex_hull(Self::flat_points(points))
                .expect("the points of a scene are finite"),
            Self::Hull { points } => Collider::try_convex_hull(points.iter().copied())
                .expect("the points of a scene are finite"),
        }
    }

    /// Returns the shape for 2D queries.
    pub fn plane(&self) -> Box<dyn Support<Vector = Vec2>> {
        match self {
            Self::Ball { radius } => Box::new(Circle::new(*radius)),
            Self::Block { half } => Box::new(Rectangle::new(2.0 * half.x, 2.0 * half.y)),
            Self::Capsule {
                radius,
                half_length,
            } => Box::new(Capsule2d::new(*radius, 2.0 * half_length)),
            Self::Hull { points } => Box::new(
                ConvexHull::new(Self::flat_points(points))
                    .expect("the points of a scene are finite"),
            ),
        }
    }

    /// Returns the shape for 3D queries.
    pub fn space(&self) -> Box<dyn Support<Vector = Vec3>> {
        match self {
            Self::Ball { radius } => Box::new(Sphere::new(*radius)),
            Self::Block { half } => Box::new(Cuboid::from_size(2.0 * *half)),
            Self::Capsule {
                radius,
                half_length,
            } => Box::new(Capsule3d::new(*radius, 2.0 * half_length)),
            Self::Hull { points } => Box::new(
                ConvexHull::new(points.iter().copied()).expect("the points of a scene are finite"),
            ),
        }
    }
}
