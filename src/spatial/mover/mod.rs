//! Kinematic movement: contacts as planes, push-outs, and characters that slide.
//!
//! | file | contents |
//! |---|---|
//! | `planes.rs` | [`ContactPlane`], [`solve_planes`] and [`clip_velocity`] |
//! | `body.rs` | the moving collider: its casts and its planes |
//! | `plane_cast.rs` | casts of a body that may touch a single plane |
//! | `push_out_search.rs` | `SpatialQuery::push_out`, a search among positions |
//! | `ground.rs` | [`Ground`], and platforms that carry |
//! | `slide.rs` | [`MoveAndSlideSettings`], and [`MoveAndSlideOutput`], its result |
//! | `ground_rules.rs`, `wished_motion.rs` | rules for ground, and planes that deflect a motion |
//! | `moving_body.rs` | a body on its path: up to a touch, out of overlaps |
//! | `character.rs` | the algorithm: slopes, steps, ground, ceilings |
//! | `queries.rs` | `contact_planes` and `move_and_slide` |

mod body;
mod character;
mod ground;
mod ground_rules;
mod moving_body;
mod plane_cast;
mod planes;
mod push_out_search;
mod queries;
mod slide;
mod wished_motion;

pub use ground::Ground;
pub use planes::{ContactPlane, clip_velocity, solve_planes};
pub use slide::{MoveAndSlideOutput, MoveAndSlideSettings, SlideHit};
