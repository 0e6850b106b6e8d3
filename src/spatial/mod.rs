//! Queries of colliders: of any kind, in any pose, with or without an app.
//!
//! | file | contents |
//! |---|---|
//! | `collider_pose.rs` | [`ColliderPose`], the pose argument of a collider |
//! | `collider_motion.rs` | [`ColliderMotion`], the motion of a collider in a cast |
//! | `side.rs` | a collider or a shape as one side of a pair, with its parts |
//! | `pair.rs` | contact, distance and manifold of two sides, by their parts |
//! | `collider_queries.rs` | colliders in [`query`](crate::query) |
//! | `cast.rs` | casts of two sides, by their parts |
//! | `moving_sides.rs` | two moving sides, and where their parts are |
//! | `first_touch.rs` | the first of the outcomes of several pairs of parts |
//! | `ray.rs` | rays against colliders |
//! | `collider_methods.rs` | the box of a collider, and points |
//! | `probe.rs` | the collider of a query, in its pose |
//! | `spatial_query.rs`, `filter.rs` | [`SpatialQuery`] and its filter |
//! | `ray_queries.rs`, `overlap_queries.rs`, `cast_queries.rs` | its queries |
//! | `query_log.rs` | its rays and casts, recorded for the debug drawing |
//! | `mover/` | planes, push-outs, and characters that slide |
//! | `casters.rs` | [`RayCaster`] and [`ShapeCaster`], which cast in each tick |

pub(crate) mod cast;
mod cast_queries;
pub(crate) mod casters;
mod collider_methods;
mod collider_motion;
mod collider_pose;
mod collider_queries;
mod filter;
mod first_touch;
mod mover;
mod moving_sides;
mod overlap_queries;
pub(crate) mod pair;
pub(crate) mod probe;
#[cfg(feature = "debug-plugin")]
pub(crate) mod query_log;
pub(crate) mod ray;
mod ray_queries;
pub(crate) mod side;
mod spatial_query;

pub use casters::{RayCaster, ShapeCaster};
pub use collider_methods::ColliderAabb;
pub use collider_motion::ColliderMotion;
pub use collider_pose::ColliderPose;
pub use filter::SpatialQueryFilter;
pub use mover::{
    ContactPlane, Ground, MoveAndSlideOutput, MoveAndSlideSettings, SlideHit, clip_velocity,
    solve_planes,
};
pub use overlap_queries::ClosestPoint;
pub use spatial_query::{EntityHit, QuerySpace, SpatialQuery};
