//! What can collide: shapes known by their support functions.
//!
//! A shape is a **core with a radius**: the set of all points within the radius of a convex core. A circle is a point
//! with a radius, a capsule a segment with one; a polygon has radius 0. GJK runs on the cores. As long as they are
//! apart, distance, normal and depth follow from it alone, exactly; only where the cores themselves overlap is EPA
//! needed.
//!
//! `support.rs` is the contract; `points.rs`, `hull.rs` and `primitives.rs` implement it for slices of points, convex hulls
//! and Bevy's primitives; `corners.rs` drops what a hull does not need, and `directions.rs` finds its farthest vertex;
//! `kinds.rs` gathers what a collider can hold into one type, with the check of each, and `into_shape.rs` says what can
//! become one; `image.rs` maps a shape by a scale or a linear map.

mod corners;
mod directions;
mod error;
mod hull;
mod image;
mod into_shape;
mod kinds;
mod points;
mod primitives;
mod support;

pub use error::ShapeError;
pub use hull::ConvexHull;
pub use image::{Image, Map};
pub use into_shape::IntoShape;
pub use kinds::{AnyShape, Dimension, Shape};

pub use support::Support;
