//! The integration tests of optional features, in one binary that needs all these features. So
//! `tests/it` is not compiled again to run these tests.
//!
//! ```text
//! cargo test --features mesh,serialize,picking,debug-plugin,overlay,record --test features
//! ```
//!
//! | module | what it tests |
//! |---|---|
//! | [`debug`] | debug drawing (feature `debug-plugin`) |
//! | [`mesh`] | colliders from Bevy's `Mesh` (feature `mesh`) |
//! | [`overlay`] | the diagnostics as text on the screen (feature `overlay`) |
//! | [`picking`] | the picking backend (feature `picking`) |
//! | [`record`] | recordings and their replay (feature `record`) |
//! | [`serialize`] | colliders as data (feature `serialize`) |

mod debug;
mod mesh;
mod overlay;
mod picking;
mod record;
mod serialize;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "`tests/it` uses the rest")]
mod support;
