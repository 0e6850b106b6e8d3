//! The events that the plugin reports, and the values that can be computed from them.

mod diagnostics;
mod push_out;
mod push_play;
mod report;
mod responses;
