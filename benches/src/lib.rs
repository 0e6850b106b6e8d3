//! The code that the benchmarks share: scenes and their motion, exact results, clocks, statistics
//! and tables.

pub mod clock;
#[path = "../../tests/support/counted.rs"]
pub mod counted;
pub mod exact;
pub mod form;
pub mod motion;
pub mod scene;
pub mod stats;
pub mod table;
