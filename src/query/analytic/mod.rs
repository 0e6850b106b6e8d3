//! Closed forms, for pairs of shapes that have one.

pub mod boxes;
pub mod half_space;
pub mod polygons;
