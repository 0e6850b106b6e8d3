//! The items of Bevy's math library that the geometry of this crate uses, including primitive
//! shapes.
//!
//! The paths of these items change between releases of Bevy. So the geometry imports these items
//! only from this file, and a port to a new release starts here. Components and systems import
//! `bevy::prelude`.

pub use bevy::{
    math::{
        DMat2, DMat3, DQuat, DVec2, DVec3, IVec2, IVec3, Isometry2d, Isometry3d, Quat, Rot2, Vec2,
        Vec3, Vec3Swizzles, Vec4,
    },
    prelude::{
        Capsule2d, Capsule3d, Circle, CircularSector, CircularSegment, Cone, ConicalFrustum,
        ConvexPolygon, Cuboid, Cylinder, Ellipse, Extrusion, InfinitePlane3d, Plane2d, Plane3d,
        Primitive2d, Ray2d, Ray3d, Rectangle, RegularPolygon, Rhombus, Segment2d, Segment3d,
        Sphere, Tetrahedron, Triangle2d, Triangle3d,
    },
};
