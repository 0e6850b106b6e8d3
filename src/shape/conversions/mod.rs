//! The types that a collider can be made from.
//!
//! | file | contents |
//! |---|---|
//! | `into_shape.rs` | [`IntoShape`](into_shape::IntoShape), the trait of these types |
//! | `primitives.rs`, `regular_polygon.rs` | Bevy's primitives, and lists of points |
//! | `rounded.rs` | a margin around a shape |

pub mod into_shape;
pub mod primitives;
mod regular_polygon;
pub mod rounded;
