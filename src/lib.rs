#![forbid(unsafe_code)]
mod math;
pub mod query;
mod shape;
mod space;
pub use shape::{ConvexHull, ShapeError, Support};
pub use space::Space;
