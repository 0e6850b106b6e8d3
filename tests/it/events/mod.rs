//! What the plugin reports, and what can be computed from it.

mod diagnostics;
mod push_out;
mod push_play;
mod report;
mod responses;
