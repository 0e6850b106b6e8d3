//! The names that this crate takes from Bevy's mathematics, and nothing else.
//!
//! Primitives, isometries and the vector library move between Bevy's releases. All geometry imports them from here, and
//! what is a component or a system has `bevy::prelude`, so that a port begins, and mostly ends, in this file.

pub use bevy::{
    math::{DMat2, DMat3, DQuat, DVec2, DVec3, Isometry2d, Isometry3d, Vec2, Vec3, Vec3Swizzles},
    prelude::{
        Capsule2d, Capsule3d, Circle, CircularSector, CircularSegment, Cone, ConicalFrustum,
        ConvexPolygon, Cuboid, Cylinder, Ellipse, Extrusion, InfinitePlane3d, Plane2d, Plane3d,
        Primitive2d, Rectangle, RegularPolygon, Rhombus, Segment2d, Segment3d, Sphere, Tetrahedron,
        Triangle2d, Triangle3d,
    },
};
