//! Tests pairs of shapes in 3D.
#![no_main]

use bevy::math::Vec3;
use headbutt_fuzz::{Input, invariants};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input<Vec3>| {
    invariants::check(&input.0);
});
