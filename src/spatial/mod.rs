//! Queries of colliders, and of the whole world.

mod ray;
