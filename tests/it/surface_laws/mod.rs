//! Tests the laws of contacts with surfaces, with a brute-force oracle in f64 that shares no code
//! with the library.
//!
//! Each law is stated at its test in [`laws`], and checked for random surfaces and shapes, in 2D
//! and in 3D. The surfaces are floors, terrains, kerbs, stairs, corners, peaks, fins, plates, boxes
//! and prisms: clean, dirty, with margins, mapped or far away. The shapes include closed meshes.
//! `cargo test` runs a small number of cases. `HEADBUTT_SURFACES` sets another number per law and
//! dimension, and the output is a table of the results:
//!
//! ```text
//! HEADBUTT_SURFACES=1000000 cargo test --release --test it surface_laws -- --nocapture
//! ```
//!
//! To run a single case, with the number that a failure names:
//!
//! ```text
//! HEADBUTT_SURFACES_CASE=1234 cargo test --test it balls_have_closed_form -- --nocapture
//! ```

pub mod ask;
mod bodies;
mod costs;
mod laws;
mod once_wrong;
mod oracle;
mod shapes;
mod trial;
