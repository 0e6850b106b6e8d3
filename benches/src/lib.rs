//! The code that the benchmarks share: scenes and their motion, pairs of shapes and their poses,
//! exact results, clocks, statistics and tables.

pub mod cases;
pub mod clock;
#[path = "../../tests/support/counted.rs"]
pub mod counted;
pub mod duel;
#[cfg(feature = "tick")]
pub mod engines;
pub mod exact;
pub mod form;
pub mod motion;
#[cfg(feature = "parry")]
pub mod pairs;
pub mod scene;
pub mod stats;
pub mod table;
