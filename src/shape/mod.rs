//! Convex shapes, described by their support functions, and compounds of convex shapes.
//!
//! A convex shape is a **core with a radius**: the set of all points within the radius of a convex
//! core. A circle is a point with a radius, a capsule is a segment with a radius, and a polygon has
//! no radius. GJK runs on the cores. If the cores are separated, GJK gives their distance and the
//! normal, and the radii are subtracted from the distance. EPA runs only if the cores overlap.
//! Half-spaces are unbounded, so their pairs are solved in closed form instead: see
//! `elements/half_space.rs`.
//!
//! | file | contents |
//! |---|---|
//! | `support.rs` | [`Support`], the trait of all shapes, and [`Shape`], the shapes of colliders |
//! | `convex.rs`, `extrusion.rs` | the functions of [`Shape`] |
//! | `collider_shape.rs` | [`ColliderShape`]: a [`Shape`] or a [`Compound`] |
//! | `conversions/`, `error.rs` | the types that a collider can be made from, and their errors |
//! | `compounds/` | compounds of parts, and surfaces of facets |
//! | `cells/` | grids of cells, and the faces of their union |
//! | `joined/` | the union of convex parts, and its exposed faces |
//! | `hull/` | convex hulls |
//! | `elements/` | points, lines, facets: support functions and closed forms |
//! | `boxes/` | bounding boxes, and trees of boxes |
//! | `scaled.rs`, `world_pose.rs` | a scaled shape, and its pose in the world |
//! | `order.rs` | a total order, so that swapped arguments give mirrored results |
//! | `center.rs` | the center of a large ball inside a shape |
//! | `serialize.rs` | shapes as plain numbers, to save and load |

mod boxes;
mod cells;
mod center;
mod collider_shape;
mod compounds;
mod conversions;
mod convex;
mod elements;
mod error;
mod extrusion;
mod hull;
mod joined;
mod order;
mod scaled;
#[cfg(feature = "serialize")]
pub mod serialize;
mod support;
mod world_pose;

pub use boxes::{
    aabb::Aabb,
    bounds::{Bounds, Box3, balls_in, core_bounds, support_points},
    box_path::BoxPath,
    box_search::{BoxSearch, Nearest, Overlapping},
    wide_tree::WideTree,
};
pub use cells::{
    cell::{Cell, CellDirection},
    cell_surface::CellSurface,
    exposed_faces::FacePlane,
    grid::{CellGrid, CellPosition, CellRanges, has_position, moved, positions_in},
    near_cells::{ExposedCell, NearCells},
    pieces::Piece,
};
pub use collider_shape::{AnyColliderShape, ColliderShape, Dimension};
pub use compounds::{
    compound::{Compound, CompoundParts, GroundMember, MemberElements},
    surface::{MeshSurface, SolidElement, Surface},
};
pub use conversions::{into_shape::IntoShape, rounded::Rounded};
pub use elements::{
    chord::ChordEnd,
    core::{Core, VertexBounds},
    facet::{
        BoundaryPoint, Facet, FacetVertices, contains as facet_contains, facet_edges, facet_normal,
        has_area, inset as facet_inset, weld,
    },
    facet_line::FacetLine,
    half_space::HalfSpace,
    line::Line,
    polygon_edges::{Polygon, PolygonEdges},
    support_fns::Cap,
};
#[cfg(feature = "mesh")]
pub use error::MeshError;
#[cfg(feature = "serialize")]
pub use error::SaveError;
pub use error::ShapeError;
pub use hull::ConvexHull;
pub use joined::parts::{PosedShapes, posed_part};
pub use order::{compare_shapes, swap_if};
pub use scaled::{Scale, ScaledShape, ShapeInfo};
pub use support::{DVecOf, MatrixOf, Shape, Support};
pub use world_pose::{Affine, WorldPose};
