//! Each kind of shape: validation, support function, bounds, contacts.

mod compounds;
mod constructors;
mod custom_shapes;
mod half_space;
mod hulls;
mod hulls_keep_few;
mod hulls_of_any_points;
mod primitives;
