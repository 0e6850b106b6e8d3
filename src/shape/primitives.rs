//! Bevy's primitives as shapes. Frames and conventions are Bevy's: centred on the origin, a capsule along y.

use super::{Support, points::farthest};
use crate::{
    math::{
        Capsule2d, Capsule3d, Circle, Cuboid, DVec2, DVec3, Rectangle, Segment2d, Segment3d,
        Sphere, Triangle2d, Triangle3d, Vec2, Vec3,
    },
    space::{Space, Wide},
};

/// The segment from (0, -half_length) to (0, half_length) along y; the upper end where both are as far.
pub(super) fn segment_along_y<W: Wide>(half_length: f32, direction: W) -> W {
    let half_length = f64::from(half_length).abs();
    let upward = direction.component(1) >= 0.0;
    W::axis(1) * if upward { half_length } else { -half_length }
}

/// The box from -half_size to half_size.
pub(super) fn corner<V: Space>(half_size: V, direction: V::Wide) -> V::Wide {
    half_size.widen().copysign(direction)
}

impl Support for Circle {
    type Vector = Vec2;

    fn support(&self, _: DVec2) -> DVec2 {
        DVec2::ZERO
    }

    fn radius(&self) -> f64 {
        self.radius.into()
    }
}

impl Support for Sphere {
    type Vector = Vec3;

    fn support(&self, _: DVec3) -> DVec3 {
        DVec3::ZERO
    }

    fn radius(&self) -> f64 {
        self.radius.into()
    }
}

impl Support for Capsule2d {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        segment_along_y(self.half_length, direction)
    }

    fn radius(&self) -> f64 {
        self.radius.into()
    }
}

impl Support for Capsule3d {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        segment_along_y(self.half_length, direction)
    }

    fn radius(&self) -> f64 {
        self.radius.into()
    }
}

impl Support for Rectangle {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        corner(self.half_size, direction)
    }
}

impl Support for Cuboid {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        corner(self.half_size, direction)
    }
}

impl Support for Segment2d {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        farthest(&self.vertices, direction)
    }
}

impl Support for Segment3d {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        farthest(&self.vertices, direction)
    }
}

impl Support for Triangle2d {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        farthest(&self.vertices, direction)
    }
}

impl Support for Triangle3d {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        farthest(&self.vertices, direction)
    }
}
