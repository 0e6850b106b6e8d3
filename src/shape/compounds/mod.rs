//! Shapes of several parts.
//!
//! | file | contents |
//! |---|---|
//! | `compound.rs` | [`Compound`](compound::Compound), parts or a surface with a tree of boxes |
//! | `surface.rs`, `clusters.rs` | surfaces of facets, and clusters of facets in one plane |

mod clusters;
pub mod compound;
pub mod surface;
