//! Queries on all colliders of an app.
//!
//! An app calls the methods of [`SpatialQuery`] at any time, in its own systems. `plugin.rs` calls
//! `build` in `casters.rs` once, to add the casters to the tick.
//!
//! | file | contents |
//! |---|---|
//! | `spatial_query.rs`, `filter.rs` | [`SpatialQuery`] and its filter |
//! | `ray_queries.rs`, `overlap_queries.rs`, `cast_queries.rs` | its queries |
//! | `one_way.rs` | one-way colliders in the queries of an entity |
//! | `query_log.rs` | its rays and casts, recorded for the debug drawing |
//! | `mover/` | planes, push-outs, and characters that slide |
//! | `casters.rs` | [`RayCaster`] and [`ShapeCaster`], which cast in each tick |

mod cast_queries;
pub(crate) mod casters;
mod filter;
mod mover;
mod one_way;
mod overlap_queries;
pub(crate) mod query_log;
mod ray_queries;
mod spatial_query;

pub use casters::{RayCaster, ShapeCaster};
pub use filter::SpatialQueryFilter;
pub use mover::{
    ContactPlane, Ground, MoveAndSlideOutput, MoveAndSlideSettings, SlideHit, clip_velocity,
    solve_planes,
};
pub use spatial_query::{EntityHit, QuerySpace, SpatialQuery};
