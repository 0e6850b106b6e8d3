//! Points, lines, facets and polygons, with their closed forms. No type in this folder implements
//! `Support`.
//!
//! | file | contents |
//! |---|---|
//! | `core.rs`, `half_space.rs` | [`Core`](core::Core), the cores with closed forms |
//! | `polygon_edges.rs` | the edges of 2D hulls |
//! | `support_fns.rs`, `points.rs` | support functions |
//! | `line.rs`, `chord.rs` | lines, and closed forms for a line in a shape |
//! | `facet.rs`, `facet_line.rs` | a facet of a surface, and the crossings of a line with facets |
//! | `part_face.rs` | the faces of convex parts, and how they cover each other |

pub mod chord;
pub mod core;
pub mod facet;
pub mod facet_line;
pub mod half_space;
pub mod line;
pub mod part_face;
pub mod points;
pub mod polygon_edges;
pub mod support_fns;
