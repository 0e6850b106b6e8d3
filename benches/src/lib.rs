//! What the measurements have in common: scenes with their motion, the exact answer, statistics and tables.

pub mod exact;
pub mod form;
pub mod motion;
pub mod scene;
pub mod stats;
pub mod table;
