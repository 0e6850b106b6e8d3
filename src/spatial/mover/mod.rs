//! Kinematic movement: contacts as planes, push-outs, and characters that slide.
//!
//! | file | contents |
//! |---|---|
//! | `planes.rs` | [`ContactPlane`], [`solve_planes`] and [`clip_velocity`] |
//! | `body.rs` | the moving collider: its casts and its planes |
//! | `push_out_search.rs` | `SpatialQuery::push_out`: the shortest translation out of everything solid |
//! | `ground.rs` | [`Ground`], and platforms that carry |
//! | `slide.rs` | [`MoveAndSlideSettings`], and [`MoveAndSlideOutput`], its result |
//! | `character.rs` | the algorithm: slopes, steps, ground, ceilings |
//! | `queries.rs` | `contact_planes` and `move_and_slide` |

mod body;
mod character;
mod ground;
mod planes;
mod push_out_search;
mod queries;
mod slide;

pub use ground::Ground;
pub use planes::{ContactPlane, clip_velocity, solve_planes};
pub use slide::{MoveAndSlideOutput, MoveAndSlideSettings, SlideHit};
