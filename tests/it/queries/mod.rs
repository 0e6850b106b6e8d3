//! `headbutt::query` on pairs of convex shapes, and of colliders.

mod allocations;
mod blocks;
mod casts;
mod colliders;
mod forecast;
mod forecast_closed_forms;
mod geometry;
mod grid;
mod half_turns;
mod invariants;
mod limits;
mod manifold;
mod manifold_area;
mod once_wrong;
mod pairs;
mod rays;
mod resting;
mod seam;
mod small_cases;
mod tied_faces;
mod trace;
