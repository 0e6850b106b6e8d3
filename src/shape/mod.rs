//! Convex shapes, described by their support functions, and compounds of convex shapes.
//!
//! A convex shape is a **core with a radius**: the set of all points within the radius of a convex
//! core. A circle is a point with a radius, a capsule is a segment with a radius, and a polygon has
//! no radius. GJK runs on the cores. If the cores are separated, GJK computes the distance, normal
//! and depth exactly. EPA runs only if the cores overlap. Half-spaces are unbounded, so their pairs
//! are solved in closed form instead: see `half_space.rs`.
//!
//! | file | contents |
//! |---|---|
//! | `support.rs` | [`Support`], the trait of all shapes, and [`Shape`], those of a collider |
//! | `convex.rs` | the functions of [`Shape`] |
//! | `collider_shape.rs` | [`ColliderShape`]: a [`Shape`] or a [`Compound`] |
//! | `core.rs`, `half_space.rs` | [`Core`], the closed forms of cores |
//! | `primitives.rs`, `regular_polygon.rs` | Bevy's primitives as shapes |
//! | `support_fns.rs`, `points.rs`, `extrusion.rs`, `hull/` | support functions |
//! | `polygon_edges.rs` | the edges of 2D hulls |
//! | `into_shape.rs`, `error.rs` | the types that a collider can be made from, and their errors |
//! | `line.rs`, `chord.rs` | lines, and closed forms for a line in a shape |
//! | `rounded.rs`, `scaled.rs` | a margin around a shape; a shape under a scale |
//! | `order.rs` | a total order, so that swapped arguments give mirrored results |
//! | `compound.rs`, `surface.rs`, `facet.rs` | compounds of parts and surfaces of facets |
//! | `clusters.rs` | facets of a surface in one plane |
//! | `facet_line.rs` | where a line crosses facets |
//! | `center.rs` | a point well inside of a shape |
//! | `bounds.rs`, `aabb.rs` | bounding boxes in `f64` and in `f32` |
//! | `world_pose.rs` | poses of scaled shapes in the world |
//! | `wide_tree.rs`, `bvh.rs`, `box_path.rs` | a tree of boxes, how it is built, a path in it |
//! | `serialize.rs` | shapes as plain numbers, to save and load |

mod aabb;
mod bounds;
mod box_path;
mod bvh;
mod center;
mod chord;
mod clusters;
mod collider_shape;
mod compound;
mod convex;
mod core;
mod error;
mod extrusion;
mod facet;
mod facet_line;
mod half_space;
mod hull;
mod into_shape;
mod line;
mod order;
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
mod wide_tree;
mod world_pose;

pub use self::core::{Core, VertexBounds};
pub use aabb::Aabb;
pub use bounds::{Bounds, Box3, balls_in, core_bounds};
pub use box_path::BoxPath;
pub use chord::ChordEnd;
pub use collider_shape::{AnyColliderShape, ColliderShape, Dimension};
pub use compound::{Compound, CompoundParts};
#[cfg(feature = "mesh")]
pub use error::MeshError;
pub use error::ShapeError;
pub use facet::{
    BoundaryPoint, Facet, FacetVertices, contains as facet_contains, facet_normal, weld,
};
pub use facet_line::FacetLine;
pub use half_space::HalfSpace;
pub use hull::ConvexHull;
pub use into_shape::IntoShape;
pub use line::Line;
pub use order::compare_shapes;
pub use polygon_edges::{MAX_EDGES, Polygon};
pub use rounded::Rounded;
pub use scaled::{Scale, ScaledShape, ShapeInfo};
pub use support::{DVecOf, MatrixOf, Shape, Support};
pub use support_fns::Cap;
pub use surface::Surface;
pub use wide_tree::WideTree;
pub use world_pose::{Affine, WorldPose};
