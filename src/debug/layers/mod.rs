//! The drawing systems. Each system fills one layer.
//!
//! | file | layer |
//! |---|---|
//! | `shapes.rs` | all shapes, and their boxes |
//! | `contacts.rs` | the contacts of the last tick |
//! | `paths.rs` | the paths of swept colliders |
//! | `casters.rs`, `queries.rs` | the casts of components, and the recorded queries of the app |
//! | `explanation.rs` | the explanation of a pair |
//! | `motion.rs` | no layer: the lines of rays and of moving shapes |

pub mod casters;
pub mod contacts;
pub mod explanation;
mod motion;
pub mod paths;
pub mod queries;
pub mod shapes;
