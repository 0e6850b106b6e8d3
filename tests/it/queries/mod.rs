//! `headbutt::query` on pairs of convex shapes.

mod allocations;
mod blocks;
mod casts;
mod geometry;
mod grid;
mod invariants;
mod manifold;
mod manifold_area;
mod once_wrong;
mod seam;
mod small_cases;
