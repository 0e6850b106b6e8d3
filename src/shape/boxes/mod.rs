//! Bounding boxes and trees of them.
//!
//! | file | contents |
//! |---|---|
//! | `bounds.rs`, `aabb.rs` | bounding boxes in `f64` and in `f32` |
//! | `wide_tree.rs`, `bvh.rs`, `box_path.rs` | a tree of boxes, how it is built, a path in it |

pub mod aabb;
pub mod bounds;
pub mod box_path;
mod bvh;
pub mod wide_tree;
