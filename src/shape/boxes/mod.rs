//! Bounding boxes, and trees of boxes.
//!
//! | file | contents |
//! |---|---|
//! | `bounds.rs`, `aabb.rs` | bounding boxes in `f64` and in `f32` |
//! | `wide_tree.rs`, `bvh.rs`, `wide_node.rs` | a tree of boxes, its construction, and its nodes |
//! | `box_search.rs`, `box_path.rs` | searches in a tree, and the path of a moving box |

pub mod aabb;
pub mod bounds;
pub mod box_path;
pub mod box_search;
mod bvh;
pub mod wide_node;
pub mod wide_tree;
