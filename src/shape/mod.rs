//! What can collide: shapes known by their support functions.
//!
//! A shape is a **core with a radius**: the set of all points within the radius of a convex core. A circle is a point
//! with a radius, a capsule a segment with one; a polygon has radius 0. GJK runs on the cores. As long as they are
//! apart, distance, normal and depth follow from it alone, exactly; only where the cores themselves overlap is EPA
//! needed. The exception are half-spaces, in `half_space.rs`, which have no end.
//!
//! `support.rs` is the contract. `kinds.rs` gathers what a collider can hold into one type, with the check of each;
//! `round.rs`, `points.rs`, `hull.rs` and `extrusion.rs` have the support functions that take more than a line (of hulls,
//! `corners.rs` drops what they do not need, `lanes.rs` finds the farthest of few vertices and `directions.rs` of many, and
//! `outline.rs` has the sides of those in the plane). `primitives.rs` is the table of Bevy's primitives, `polygon.rs` the
//! regular ones among them, `rounded.rs` a margin around any shape; `into_shape.rs` says what can become a collider.
//! `image.rs` maps a shape by a scale or a linear map. `compound.rs` and `mesh.rs` are convex parts together, found by their
//! boxes: `bounds.rs`, `tree.rs`. `data.rs` is all of it as plain numbers, to save and load.

mod bounds;
mod bvh;
mod compound;
mod convex;
mod error;
mod extrusion;
mod half_space;
mod hull;
mod into_shape;
#[cfg(feature = "mesh")]
mod mesh_error;
mod points;
mod polygon_edges;
mod primitives;
mod regular_polygon;
mod rounded;
mod scaled;
#[cfg(feature = "serialize")]
pub mod serialize;
mod support;
mod support_fns;
mod surface;

pub use bounds::{Bounds, balls_in, centre_of};
pub use compound::{Compound, Parts};
pub use convex::{AnyColliderShape, ColliderShape, Dimension, Shape};
pub use error::ShapeError;
pub use half_space::HalfSpace;
pub use hull::ConvexHull;
pub use into_shape::{ConvexShape, IntoShape};
#[cfg(feature = "mesh")]
pub use mesh_error::MeshError;
pub use polygon_edges::{MAX_SIDES, Outline};
pub use rounded::Rounded;
pub use scaled::{Scale, ScaledShape, ShapeInfo};
pub use support::{DVecOf, Support};
pub use surface::{Facet, Mesh, Rim, weld};
