//! Bounding boxes, and trees of boxes.
//!
//! | file | contents |
//! |---|---|
//! | `bounds.rs`, `aabb.rs` | bounding boxes in `f64` and in `f32` |
//! | `wide_tree.rs`, `bvh.rs`, `box_path.rs` | a tree of boxes, its construction, and paths in it |

pub mod aabb;
pub mod bounds;
pub mod box_path;
mod bvh;
pub mod wide_tree;
