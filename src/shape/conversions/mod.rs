//! The types that a collider can be made from.
//!
//! | file | contents |
//! |---|---|
//! | `into_shape.rs` | [`IntoShape`](into_shape::IntoShape), their trait |
//! | `primitives.rs`, `regular_polygon.rs` | Bevy's primitives, and lists of points |
//! | `rounded.rs` | a margin around a shape |

pub mod into_shape;
pub mod primitives;
mod regular_polygon;
pub mod rounded;
