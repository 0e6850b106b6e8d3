//! The union of convex parts, for joined compounds.
//!
//! | file | contents |
//! |---|---|
//! | `part_faces.rs` | [`PartFaces`](part_faces::PartFaces), the faces of a convex part |
//! | `union_faces.rs` | [`UnionFaces`](union_faces::UnionFaces), the exposed faces of the union |
//! | `parts.rs` | [`JoinedParts`](parts::JoinedParts), the parts, and points inside them |

pub mod part_faces;
pub mod parts;
mod union_faces;
