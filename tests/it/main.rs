//! The integration tests, in one binary, so that Bevy is linked once. Tests of optional features
//! are in `tests/features`. `tests/memory.rs` needs a process of its own: its counts are right only
//! while nothing has started Bevy's task pool.
//!
//! | module | what it tests |
//! |---|---|
//! | [`events`] | the contents of events, `push_out` and the diagnostics |
//! | [`environment`] | the environment variables of long runs |
//! | [`cells`] | worlds of cells, against an oracle of their own |
//! | [`grounds`] | colliders that are one ground, against closed forms and the oracle of `cells` |
//! | [`joined`] | joined compounds: floors of flush boxes, against closed forms |
//! | [`explain`] | each reason of `explain`, and random pairs (feature `explain`) |
//! | [`life_cycle`] | when contacts start, continue and end, and when ticks run |
//! | [`meeting`] | the rules that decide who meets whom |
//! | [`model`] | random operations on a world, against a model of the plugin |
//! | [`determinism`] | the same bits on any number of threads, and after a rollback |
//! | [`shapes`] | each kind of shape: validation, support function, bounds, contacts |
//! | [`queries`] | `headbutt::query` on pairs of convex shapes, against the [`oracle`] |
//! | [`spatial`] | `SpatialQuery` against each collider by itself, sensors, `sync_now` |
//! | [`one_way`] | one-way colliders in ticks, on swept paths and in queries |
//! | [`mover`] | planes, push-outs and `move_and_slide`, against closed forms and brute force |
//! | [`swept`] | the paths of swept colliders |
//! | [`surfaces`] | meshes, polylines and height fields in a tick |
//! | [`surface_laws`] | the laws of contacts with surfaces, against an oracle of their own |
//! | [`rustdoc`] | the pictures in the pages of rustdoc |

mod cells;
mod determinism;
mod environment;
mod events;
#[cfg(feature = "explain")]
mod explain;
mod grounds;
#[path = "../../fuzz/src/invariants/mod.rs"]
mod invariants;
mod joined;
mod life_cycle;
mod meeting;
mod model;
mod mover;
mod one_way;
mod oracle;
mod queries;
mod rustdoc;
mod shapes;
mod spatial;
#[path = "../support/mod.rs"]
mod support;
mod surface_laws;
mod surfaces;
mod swept;
