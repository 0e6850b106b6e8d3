//! Tests when contacts start, continue and end, and when ticks run.

mod aborted_ticks;
mod phases;
mod rest;
mod schedules;
mod warnings;
