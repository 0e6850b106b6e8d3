//! Tests pairs of shapes in 2D.
#![no_main]

use bevy::math::Vec2;
use headbutt_fuzz::{Input, invariants};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input<Vec2>| {
    invariants::check(&input.0);
});
